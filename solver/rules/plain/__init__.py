"""Runs rules once on symbolic bits, to show that a tier can be solved 64 positions at a time."""
