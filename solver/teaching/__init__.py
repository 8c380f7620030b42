"""What searches do, shown and measured: trees as textbooks draw them, and how often a search to a depth errs."""
