"""What else than value and remoteness is computed of positions: scores, nimbers, draws, expected payoffs, utilities."""
