"""Which tiers of which games are solved set by set, and what stands on the board there."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrograde.solver.methods.chess.formation import Formation

CHESS = "retrograde.games.chess.rules", "Chess"
"""The module and the name of the rules that are known here; who changes any of them is solved as other games are."""
BITS = 14
"""Bits for plies in the scores of such tiers."""


def is_chess(game: Any) -> bool:
    """Tell whether a game is chess by the rules that are known here."""
    return (type(game).__module__, type(game).__qualname__) == CHESS


def formation_of(game: Any, tier: int, bits: int = BITS) -> "Formation | None":
    """Return what stands on the board in a tier of a game; None where it cannot be solved set by set, with scores of so
    many *bits* for plies, as only chess can.
    """
    if not is_chess(game) or bits != BITS:
        return None
    from retrograde.games.chess import men  # other games need nothing of it
    from retrograde.solver.methods.chess.formation import Formation

    return Formation(men.name_of_tier(tier))
