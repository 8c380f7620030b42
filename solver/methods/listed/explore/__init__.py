"""Finds all positions that play can reach, wave by wave, as sorted lists for each tier."""
