"""Expected payoffs of games that number their positions: the bounds of each slot, tier by tier in files."""
