"""Solves chess endings set by set: a word is a set of 64 squares, and moves shift whole words.

The idea is L. Stiller's: retrograde analysis with sets of positions instead of single ones. With the kings and all men
but the last one fixed, the squares of the last man are the bits of one word. One shift of the word moves him in 64
positions at once, as bitboards do.

An example, KRK with White to move. For each pair of kings there is one word, with the squares of the rook::

    kings on b6 and a8, rook on    a1 b1 c1 d1 e1 …
    legal                           0  1  1  1  1 …     a rook on a1 would give check
    won in 1                        0  0  1  1  1 …     bit s: by the position with the rook on square s; Rc8 mates
    code                            0  4  2  2  2 …     a byte for each bit: one more than the plies to mate, 0 if none

A set of positions is an array of such words. From the positions *lost* in n plies follow those *won* in n + 1, the
predecessors. Predecessors of these may be lost in n + 2: they are if no move *escapes* to a position not yet won.
Captures and promotions lead to other tiers, which are solved before, so their results are known from the start. A
position in which a pawn may be captured en passant is in a separate list.

The steps of a solve (`tiers.solve_tier`):

1. `slots`: load the codes of all later tiers that captures and promotions lead to.
2. `mate.MateSide` or `zeroing.ZeroingSide`: for each side to move, find the legal positions, and the result of their
   best capture or promotion.
3. `en_passant`: list the positions in which a pawn may be captured en passant.
4. `analysis.WinSearch`: for each side that may win, find the sets of wins and losses ply by ply.
5. `slots`: translate the codes of positions into scores of slots, and count them.

`fit` says which tiers are solved so. `formation` has the men of a tier and the layout of its positions, `words` the
moves of whole words. The package `syzygy` writes Syzygy tables.
"""
