"""Compiles or interprets a game's rules, and checks every answer against the contract."""
