"""Probes databases of smaller games of the same family during a search."""
