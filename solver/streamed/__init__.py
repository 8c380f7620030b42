"""Positions as sorted lists on disk, wave by wave, and what they are worth as steps."""
