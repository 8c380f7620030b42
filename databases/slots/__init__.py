"""The outcome of every slot of a game that numbers its positions.

write.py       `SolvedSlots` or `SolvedCompact` -> datasets
read.py        blocks -> outcomes; needs no rules
compact.py     the same for compact files, which leave parts of tiers out
database.py    position -> tier and index -> slot -> outcome
derive.py      the same for compact files: outcomes left out follow from the position's children
"""
