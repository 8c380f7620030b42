"""Arrays of outcomes: scores, propagation, counts and their encoding. It knows no game and no disk.

An outcome is a value and a remoteness (plies to the end). In memory it is one number, a *score* (`score.py`).
`propagation.py` solves a tier whose positions lead to each other, and `edges.py` checks that predecessors and moves
agree. `encode.py` and `bits.py` encode records for the database. `sums.py` and `measures.py` compute with nimbers and
present measures.
"""
