"""What is known of positions, as arrays: scores, propagation, tallies, bits; it knows no game and no disk."""
