"""Larger variants of games whose positions are one int: the same rules, with positions of two words."""
