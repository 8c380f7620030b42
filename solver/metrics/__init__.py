"""Other measures of positions: scores, nimbers, draw levels, expected payoffs, utilities."""
