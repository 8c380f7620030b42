"""Sorted lists of positions in files: merged, and looked up for many positions at once."""
