"""Proves values by search where no table can reach, in bounded memory and time.

Two searches share this package. Both answer yes/no questions about a position, and repeat them until a value is proved.

- `searcher.py` and `kernels.py`: negamax search with null windows and a transposition table (`table.py`). It proves
  values and remoteness. `bounds.py` defines the number that it compares.
- `prover.py` and `proof_kernels.py`: depth-first proof-number search (df-pn) with its own table (`proof_table.py`). It
  proves values only.

`nim_sequence.py` finds nimbers of heaps, one heap after the other. The subpackages build on the two searches: `scores/`
searches payoffs, `probing/` reads endgame tables during a search, `certificates/` turns a proof into a file, `depth/`
searches to a limited depth for play, and `trees/` draws search trees.
"""
