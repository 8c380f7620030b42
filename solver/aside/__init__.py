"""Sorted lists of positions in scratch files: merged, and looked up for many positions at once, in passes."""
