"""Recomputes every stored value from the rules, with loops of its own."""
