"""The methods that solve a game, each in a package of its own."""
