"""Tiers of chess solved set by set: sets of positions as words of 64 squares, which moves carry along whole."""
