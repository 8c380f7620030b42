"""Proven bounds of the expected payoff of each slot, for games with chance.

write.py       `SolvedBounds` -> datasets
read.py        blocks -> lower and upper bounds of player 0
database.py    position -> slot -> bounds for the player to move; without a slot they follow from the children
"""
