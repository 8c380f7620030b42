"""Finds certificates by search: a reply to every move, which together prove a value.

One side *keeps* a value: it plays the certificate's reply in each position, whatever the other side answers. For a win
of the player to move at the root::

    root ──reply──> child ──every answer──> position ──reply──> child ──every answer──> …  until each line ends

1. `prover.py` finds the value by search, unless the user claims one, and decides what to prove.
2. `walk.py` starts with the root as the only *open* position. For each open position it chooses a reply that keeps the
   value. The positions after all answers become open, unless they are in the set already.
3. `kernels.py` lists what each move of a position leaves open.
4. The positions and replies become a certificate file (`databases/certificates/`).
"""
