"""Who leads to whom within a tier: the parents of its positions as links, in memory or in scratch; checkpoints."""
