"""Probes a folder of chess databases and picks the ending that fits the board."""
