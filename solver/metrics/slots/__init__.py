"""Expected payoffs and scores of games that number their positions, in files, tier by tier.

It needs less memory than `metrics/expectation.py`, because positions are slots of tiers and not in lists. The modules:

- `store.py` solves tier by tier and decides which sweeps a tier with cycles needs.
- `chunks.py` has the tasks: each handles a chunk of a tier's slots.
- `scripts.py` records what the rules say about slots as a *script*; `kernels.py` has its compiled loops.
- `replay.py` computes bounds from a script, without calling the rules, and guesses in floating point from a *plan*: the
  best moves of a script.
- `files.py` keeps the numbers of all tiers in files.
- `scores.py` solves by score, with a byte for each slot; `score_kernels.py` has its compiled loops.
"""
