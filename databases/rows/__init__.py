"""Positions of several words and their outcomes, in sorted order, stored as they are.

write.py       `SolvedRows`    -> datasets `rows`, `tiers`, `blocks`
read.py        blocks -> positions and outcomes; needs no rules
database.py    position -> canonical form and tier -> block -> outcome

tier 0 | 0 5 0 win 3 |     a position's words, and its outcome; rows ascend within each tier
       | 0 5 7 lose 2 |
tier 1 | 1 0 0 tie 4 |
"""
