"""Scores by search: how much the player to move can win by, where no table can reach."""
