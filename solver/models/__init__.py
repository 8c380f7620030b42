"""Models of players: with what weight each move is made, by rules, databases or a person's own function."""
