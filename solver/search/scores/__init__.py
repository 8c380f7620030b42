"""Proves by search how many points the player to move can win by."""
