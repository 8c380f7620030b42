"""Checks that a rule module keeps the contract."""
