"""What each slot of a game with chance is worth, as numbers between which that is proven to be.

write.py       `SolvedBounds` -> datasets
read.py        blocks -> lower and upper bounds of player 0
database.py    position -> slot -> bounds for the player to move; without a slot they follow from the children
"""
