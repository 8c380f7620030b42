"""Rules that are plain: run once on bits that are not known, and held against a tier for all its positions at once."""
