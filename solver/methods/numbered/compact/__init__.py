"""Makes compact databases, which leave out one side to move, and derives what was left out."""
