"""Positions and their outcomes, sorted, as gaps between ranks."""
