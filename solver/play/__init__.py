"""What is asked of a solution: values, best moves, players, games, facts and pictures."""
