"""Other measures of positions: scores, nimbers, draw levels, expected payoffs, utilities.

Each metric is a module with a function `measure(explored, options, phase)` that returns a MetricResult. A solve by a
metric has three steps (`method.py`):

1. `explored_game.py` finds all positions, sorted by tier, and reads the rules in blocks (`ExploredBlock`).
2. The metric goes through the tiers backwards. A tier without cycles takes one sweep; for a tier with cycles, each
   metric has its own algorithm. The compiled loops are in `*_kernels.py`.
3. `method.py` turns the columns into records for the database writer.

`slots/` computes expectations of games that number their positions. `models/` holds models of players, and
`best_response.py` defines the game against one.
"""
