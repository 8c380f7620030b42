"""What a game is: the contract, its boards, texts and pictures, and games that travel to other processes."""
