"""Tiers solved several at once, each waiting for those that it turns out to lead to; it knows no game."""
