"""Solves chess endings set by set: a word is a set of 64 squares, and moves shift whole words.

The method is L. Stiller's: it handles sets of positions instead of single ones. Read the modules in this order:

    fit                 which tiers this package solves
    words               bitboard operations on words
    formation           the men of a tier, and the layout of its positions
    kernels             loops over words: legal positions, captures, predecessors, decided positions
    passing, …_kernels  positions in which a pawn may be captured en passant
    tiers               the analysis of a tier by distance to mate
    zeroing, …_kernels  the same by distance to zeroing; conversion: by distance to conversion
    slot_kernels        translates between slots of a database and the layout of words
    elsewhere           reads the later tiers from other databases
    syzygy              writes Syzygy tables
"""
