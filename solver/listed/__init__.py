"""Positions as sorted lists in memory, tier by tier."""
