"""What a person or a program asks of a solved game: values, best moves, players, matches, pictures."""
