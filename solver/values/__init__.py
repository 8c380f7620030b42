"""Arrays of outcomes: scores, propagation, tallies and their encoding. It knows no game and no disk."""
