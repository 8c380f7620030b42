"""Depth-limited search for play. Its values rest on estimates and prove nothing.

- `searcher.py` repeats a search one ply deeper each time, until the depth or the time is reached (iterative deepening).
- `kernels.py` has the compiled searches: alpha-beta and max^n.
- `scoring.py` says what alpha-beta maximizes: by value, who wins, how soon, and otherwise the game's `estimate`; or by
  points, with payoffs and chance.
- `scores.py` defines the numbers, `names.py` the players' names such as `depth:4`.
"""
