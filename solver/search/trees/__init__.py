"""Search trees of small games, as textbooks draw them."""
