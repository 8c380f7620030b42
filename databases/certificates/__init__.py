"""Certificates: a reply for each position in which a side may find itself that keeps a value."""
