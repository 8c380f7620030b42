"""Solves positions kept as sorted lists, in memory or on disk, games with cycles included.

The method, in two phases:

1. Explore (`explore/`): breadth-first search from the start positions finds every canonical position that play can
   reach. Each tier becomes one sorted list.
2. Solve: tiers are solved in reverse order, so that the children in later tiers already have scores. A tier without
   moves inside itself takes one pass (`store.py`). A tier with cycles is solved by retrograde analysis (`cycles.py`).
   Outcomes are counted as they are found; in the end the counts become the legend of the file (`method.py`).

A position is known by its *index* among all positions, sorted tier by tier. All arrays use that order:

    tiers      |  tier 0        |  tier 1     |  tier 2 …
    starts     0                n0            n0 + n1
    positions  | 3 | 8 | 9 | …  | 2 | 5 | …   | …          sorted within each tier
    scores     | s | s | s | …  | s | s | …   | …          value and remoteness (see values/score.py)

Retrograde analysis of a tier with cycles (`predecessors/tier.py`):

1. Expand every position once. Children in later tiers give a first score. Children within the tier are counted in
   `children_left`, and each parent-child edge is stored.
2. Invert the edges: each position gets its list of predecessors (`predecessors/`).
3. Propagate outcomes from decided positions to their predecessors, one ply at a time (`values/propagation.py`).
4. Call everything that is still undecided a draw.

If positions have several words, `positions` has a row for each (`spill/kernels.py`); all else works on indices.
They are sorted and looked up by ints that hold the bits in which they differ (`spill/packing.py`).

When memory runs short, lists of positions spill to disk (`spill/`). When workers are other processes, large
tiers are cut into ranges, which workers solve in parallel (`ranges/`).
"""
