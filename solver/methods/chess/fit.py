"""Which tiers of which games this package solves, and the men on the board there."""

from typing import TYPE_CHECKING, Any, NamedTuple

from retrograde.solver.runtime.array_type import Array

if TYPE_CHECKING:
    from retrograde.solver.methods.chess.formation import Formation

CHESS = "retrograde.games.chess.rules", "Chess"
"""The module and the class of the rules that this package knows. A subclass may change them, and is not solved so."""
BITS = 14
"""Bits for plies in the scores of these tiers."""


class TooDeep(Exception):
    """A win takes more plies than fit into a byte."""


class LaterScores(NamedTuple):
    """The scores of consecutive slots of a later tier.

    The score of slot number i is `legend[items[i]]`, or `items[i]` if there is no legend.
    """

    items: Array
    legend: Array | None = None


def is_chess(game: Any) -> bool:
    """Return whether a game is chess with the rules known here."""
    return (type(game).__module__, type(game).__qualname__) == CHESS


def formation_of(game: Any, tier: int, bits: int = BITS) -> "Formation | None":
    """Return the men of a tier; None unless the game is chess and scores have BITS *bits* for plies."""
    if not is_chess(game) or bits != BITS:
        return None
    from retrograde.games.chess import men  # other games need nothing of it
    from retrograde.solver.methods.chess.formation import Formation

    return Formation(men.name_of_tier(tier))
