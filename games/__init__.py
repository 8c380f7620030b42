"""Rules, and nothing but the rules: the contract (`game`), the games, and the catalog that finds them by name."""

from retrograde.games.game import (
    DRAW,
    FLIPPED,
    LOSE,
    TIE,
    UNDECIDED,
    WIN,
    Game,
    MoveError,
    PositionError,
    RetrogradeError,
    RuleError,
    Value,
    VariantError,
)

__all__ = [
    "DRAW",
    "FLIPPED",
    "LOSE",
    "TIE",
    "UNDECIDED",
    "WIN",
    "Game",
    "MoveError",
    "PositionError",
    "RetrogradeError",
    "RuleError",
    "Value",
    "VariantError",
]
