"""Finds all positions that play can reach, wave by wave, as sorted lists for each tier.

Breadth-first search. A *wave* is the set of positions found in one round:

    wave --expand--> children by tier --sort, remove known--> next wave --log--> journal
                                                                   |
                                                                   +--> known positions: a few sorted runs for each tier

1. Cut the wave into tasks; each expands its positions and returns the children by tier (`tasks.expand`).
2. Sort the children of each tier, drop duplicates and known positions (`tasks.merge`). The rest is the next wave.
3. Log the wave in the journal, so that a killed solve resumes there (`waves.py`).
4. Stop when a wave is empty. Join the runs of each tier into one list (`space.StateSpace`).

When memory runs short, the runs spill to disk (`spill/lists.py`), and step 2 happens there.
"""
