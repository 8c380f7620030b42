"""Solves chess endings set by set: a word is a set of 64 squares, and moves shift whole words.

The method is L. Stiller's: it handles sets of positions instead of single ones. Read the modules in this order:

    fit                      which tiers this package solves
    words                    bitboard operations on words
    formation                the men of a tier, and the layout of its positions
    kernels                  loops over words: legal positions, captures, predecessors, decided positions
    en_passant, …_kernels    positions in which a pawn may be captured en passant
    slots, slot_kernels      translate between slots of a database and the layout of words
    analysis                 the search for wins and losses, ply by ply
    mate                     what the search needs by distance to mate
    zeroing, …_kernels       the same by distance to zeroing, and to conversion
    tiers                    solves a tier by any metric
    elsewhere                reads the later tiers from other databases
    syzygy                   writes Syzygy tables
"""
