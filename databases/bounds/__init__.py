"""What each slot of a game with chance is worth, as numbers between which that is proven to be."""
