"""Expected payoffs of games that number their positions, as bounds in files, tier by tier."""
