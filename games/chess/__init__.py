"""Chess endgames; see `rules`."""

from retrograde.games.chess.rules import Chess

__all__ = ["Chess"]
