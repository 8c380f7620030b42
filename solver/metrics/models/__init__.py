"""Models of players: how likely each move is, by rules, databases or a function of the user.

`model.py` defines the interface, `names.py` finds a model by its name. The models: uniform (`model.py`), `greedy.py`,
`known.py` (perfect with some probability, or a best response, by a database), `deep.py` (depth-limited search) and
`policy.py` (a function in a user's file). `seats.py` defines the game against a model.
"""
