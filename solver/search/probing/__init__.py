"""Probes databases of smaller games of the same family during a search.

`tables.py` loads tiers of databases into arrays. Kernels read them by one address (`search/endgame_tables.py`), and
count a position found there as an end of known worth.
"""
