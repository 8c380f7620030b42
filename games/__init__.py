"""Rules, and nothing but the rules: the contract (`game`), the games, and the catalog that finds them by name."""

from retrograde.games.game import (
    DRAW,
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
