"""Positions and outcomes in sorted order, stored as gaps between ranks.

    write.py       `SolvedRecords` -> datasets `records`, `tiers`, `blocks`
    read.py        blocks -> running sums of gaps, and outcomes; needs no rules
    database.py    position -> canonical form and tier -> block -> outcome

`databases/encoding.py` explains ranks, gaps and masks with a picture.
"""
