"""Endings of draughts (English checkers); see `rules`."""

from retrograde.games.draughts.rules import Draughts

__all__ = ["Draughts"]
