"""Other measures of positions: scores, nimbers, draw levels, expected payoffs, utilities.

Each metric is a module with a function `measure(explored, demand, phase)` that returns `Measured`. A solve by a metric
has three steps (`way.py`):

1. `explored.py` finds all positions, sorted by tier, and reads the rules in blocks (`Look`).
2. The metric goes through the tiers backwards. A tier without cycles takes one sweep; a tier with cycles has its own
   algorithm in each metric. `graph_kernels.py`, `score_kernels.py` and `expectation_kernels.py` hold the compiled
   loops.
3. `measured.py` turns the columns into records for the database writer.

`slots/` computes expectations of games that number their positions. `models/` holds models of players, for best
responses.
"""
