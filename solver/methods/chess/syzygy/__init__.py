"""Writes chess endings as Syzygy tables, which chess engines read."""
