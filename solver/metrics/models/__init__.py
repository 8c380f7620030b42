"""Models of players: how likely each move is, by rules, databases or a function of the user."""
