"""Compact databases: made of others, one side to move left out, and what that is worth derived, many at once."""
