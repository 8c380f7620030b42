"""Models of players: how likely each move is, by rules, databases or a function of the user.

`model.py` defines the interface, `names.py` finds a model by its name. The models: uniform (`model.py`), greedy and
depth-limited search (`by_search.py`), perfect with some probability or a best response (`by_database.py`), and a
function in a user's file (`policy.py`).
"""
