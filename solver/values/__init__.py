"""Arrays of outcomes: scores, propagation, counts and their encoding. It knows no game and no disk.

An outcome is a value and a remoteness (plies to the end). In memory it is one number, a *score* (`score.py`). How a
tier whose positions lead to each other is solved (`propagation.py`):

1. Each position has a score, so far from its children in later tiers, and a counter of undecided children.
2. Positions decided at remoteness n pass their outcome to their predecessors, which get remoteness n + 1.
3. This repeats for n = 0, 1, 2, … first for WIN and LOSE, then for TIE. What is left is a DRAW.

`edges.py` checks that predecessors and moves agree. `encode.py` and `bits.py` encode records for the database.
`sums.py` and `measures.py` compute with nimbers and present measures.
"""
