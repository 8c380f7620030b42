"""Where, in ascending order, the outcome of a tier's positions changes."""
