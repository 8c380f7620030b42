"""Finds certificates by search: a reply to every move, which together prove a value.

1. `prover.py` finds the value by search, unless the user claims one.
2. `walk.py` starts at the root. In each position of the side that keeps the value it chooses one move, and follows
   every answer of the other side, until no position is open.
3. `kernels.py` lists what each move of a position leaves open.
4. The positions and replies become a certificate file (`databases/certificates/`).
"""
