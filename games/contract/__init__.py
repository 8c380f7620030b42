"""What a game is: the contract, its board and texts, and games that travel to other processes."""
