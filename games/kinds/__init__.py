"""Ready-made kinds of games, from which a game is derived: men on cells, mills, captures, hunts, drops."""
