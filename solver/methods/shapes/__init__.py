"""Solves games of men on a board shape by shape: a table for half of the men moves all men of a shape at once.

`Placed` numbers the positions of a section so: first the *shape*, which is the set of occupied cells (shapes that are
equal by symmetry once), and then the *colouring*, which says for each man whether it is one of the player to move::

    slots of a section     shape 0: colourings 0, 1, 2, …  |  shape 1: colourings 0, 1, 2, …  |  …

A move, such as a slide from one cell to another, leads from a shape to one other shape, and only brings the men into
another order. So for each shape and move two tables, one for the lower half of the men and one for the upper half, give
the colouring after the move by two look-ups. The symmetry that makes the shape least is in these tables, too. The rank
of a colouring among those of as many men is the sum of a number for each half. No position is numbered, and all slots
of a shape are in the cache together.

A game declares its moves as `Steps` (see `games/kinds/steps.py`). The steps of a solve in memory (`tiers.ShapeTier`),
or in ranges of rows whose outcomes are in files (`ranges.ShapeRanges`):

1. Compare the declared steps with the rules at some positions (`tiers.check_steps`).
2. `initialize`: the best result of moves to later tiers, and the number of moves within the tier, for each slot.
3. If there are any: remoteness by remoteness, each shape goes through its moves, and updates its positions for those
   after the move that were decided last (`advance`). So tasks for different shapes need no locks. It must begin with
   the position before the move: of a symmetric shape, moves that are undone may lead to a position twice, or never.
4. `finish`: what is undecided is a draw. Where a shape is symmetric, only the least of equal colourings keeps its slot.

After each remoteness, a checkpoint may be saved. `layout` prepares the arrays for the loops in `kernels`, which
`blocks` calls for some rows at a time.
"""
