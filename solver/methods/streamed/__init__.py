"""Solves large acyclic games out of core, tier by tier, as sorted lists on disk.

The idea: nothing is looked up at random, so that little memory is needed. Positions of a tier are a sorted list. The
children of a tier are made, sorted, and freed of duplicates all at once (delayed duplicate detection; Korf, 2004). In
many games a move keeps the order: the children of a sorted list by one move come out sorted. Then a large tier is cut
into parts that read only parts of the lists, and on the way back positions and their children are read along together.

Terms:

- A *wave* is the set of tiers that play reaches after the same number of plies. Every move leads to the next wave.
- A *list* is sorted, and stored as gaps between ranks, as variable-length integers (see lists.py).
- A *segment* is a list, or a part of one, in a frame of a scratch file.
- A *step* is a position at which the outcome changes, in ascending order, and the new outcome: run-length encoding of
  values. Only positions of the game count, so a step may begin anywhere between two of them.

A tier with five positions, and its steps::

    position    8       11      20      21      30
    outcome     win 3   win 3   lose 4  win 3   win 3
    steps       8: win 3        20: lose 4      21: win 3

The steps of a solve:

1. Forward sweep (`forward.py`, its tasks and kernels): from the start, wave by wave, find all positions. Positions in
   which the game is over are counted but not stored, because the rules recognise them.
2. Backward sweep (`backward.py`, its tasks and kernels): from the last wave back, score the positions of each list by
   the steps of their children, and write their own steps (`steps.py`).
3. `store.py`: give the steps to the writer of the database. Positions that win in one ply get no step there.

If positions have several words, the database stores all of them (`rows.py`). So the forward sweep also stores positions
in which the game is over, and the backward sweep stores each position with its outcome.

`method.py` runs both sweeps. `segments.py` describes the lists in memory, `lists.py` packs and unpacks them, and
`journal.py` is the journal of the forward sweep.
"""
