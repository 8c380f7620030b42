"""Depth-limited search for play. Its values rest on estimates and prove nothing."""
