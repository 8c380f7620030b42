"""Recomputes every stored measure of the other metrics, with loops of its own."""
