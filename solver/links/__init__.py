"""Who leads to whom within a tier: parents as links, in memory or scratch, or found by forward passes; checkpoints."""
