"""Positions as numbers: every slot of every tier of a game that numbers its positions."""
