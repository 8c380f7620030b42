"""Positions as words of 64 that moves carry along whole, and what they are worth as planes of bits."""
