"""Predecessors of positions within a tier: in memory, on disk, or found by forward passes. Checkpoints."""
