"""Who leads to whom within a tier: the parents of its positions, kept as links, in memory or in scratch files."""
