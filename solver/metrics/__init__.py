"""What else than value and remoteness is computed of positions: scores, nimbers, expected payoffs, utilities."""
