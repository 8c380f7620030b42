"""Solves 64 positions at a time where rules are provably plain."""
