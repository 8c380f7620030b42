"""Solves games that number their positions: every slot of every tier.

The rules give for each tier its `size`, and two functions between positions and *slots* (the numbers below the size):
`index` and `unindex`. So a child is found by its number, without search. Slots that stand for no position, for example
two men on one square, are empty.

    tiers     |  tier 0            |  tier 1       |  …      ascending
    starts    0                    size 0          size 0 + size 1
    scores    | s | s | – | s | …  | s | – | s | … |  …      value and remoteness of each slot; – is empty

Tiers are solved in reverse order, each in one of five ways:

- By sets (`by_sets.py`): chess endgames, whole sets of positions at once (see solver/methods/chess).
- By shapes (`by_shapes.py`): games that declare their moves as `Steps` (see solver/methods/shapes).
- By orders (`by_orders.py`): puzzles that declare `orientations`, by tables of their moves.
- By slots (`by_slots.py`): any other game. Expand all slots, then propagate outcomes to parents (retrograde analysis).
- By ranges (also `by_slots.py`): the same for large tiers if workers are other processes.

Steps of a solve by slots:

1. `kernels.seed` expands each slot once. It scores primitive positions, counts undecided children within the tier, and
   takes the best score that later tiers pass up.
2. `Propagation` goes from decided slots to their parents, one ply at a time. Parents come from the rules (`parents`) or
   from predecessor lists (see listed/predecessors).
3. Slots that stay undecided are draws.
"""
