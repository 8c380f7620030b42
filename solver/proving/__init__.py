"""Certificates made: a strategy that keeps a value, found by search, with every answer to it followed."""
