"""Depth-limited search for play. Its values rest on estimates and prove nothing.

- `ahead.py` repeats a search one ply deeper each time, until the depth or the time is reached (iterative deepening).
- `lookahead.py` and `kernels.py` search by value: who wins, how soon, and otherwise the game's `estimate`.
- `points.py` and `point_kernels.py` search by points: payoffs, chance, more than two players.
- `textbook.py` and `textbook_points.py` are slow and obvious versions; tests compare the fast ones with them.
- `scores.py` defines the numbers, `names.py` the players' names such as `depth:4`.
"""
