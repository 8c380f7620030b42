"""The outcome of each slot of a game that numbers its positions."""
