"""Finds certificates by search: a reply to every move, which together prove a value."""
