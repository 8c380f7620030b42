"""Outcomes of sorted positions, run-length encoded.

    rank       0  1  2  3  4  5  6  7
    outcome    a  a  a  b  b  a  c  c
    steps      0:a      3:b   5:a 6:c        run-length encoding: stored are ranks (as gaps) and outcomes

Ranks are those of `databases/encoding.py`, with one mask for each tier. Positions that the rules decide within one ply
are left out.
"""
