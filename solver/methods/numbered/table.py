"""Inputs of the tasks over the slots of a game that numbers its positions."""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from retrograde.games.contract.game import Game
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.runtime.arrays import Part, Shared
from retrograde.solver.runtime.solved_tiers import Solved
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES

if TYPE_CHECKING:
    from retrograde.solver.methods.numbered.kernels import Slots


@lru_cache(8)
def family_of(game: Game) -> Game:
    """Return the game that stands for a game's family. Cached, so that the tables it has built are reused."""
    return game.family


class Table(NamedTuple):
    """Inputs of every task: the game, its numbering, and the scores of all slots.

    Only the scores of *solved* tiers are valid. Scores have *bits* bits for the plies.
    """

    game: Game
    numbering: Numbering
    scores: Shared
    bits: int
    solved: Solved

    @property
    def rules(self) -> Game:
        """The game whose rules are compiled, once for the whole family."""
        return family_of(self.game)

    @property
    def slots(self) -> "Slots":
        """The same data for kernels."""
        from retrograde.solver.methods.numbered.kernels import Slots  # loaded only if needed

        return Slots(self.numbering.tiers, self.numbering.starts, self.scores.array, self.bits, self.solved.flags)

    @property
    def empty(self) -> int:
        """The score of a slot without a position."""
        return DRAW_CLASS << self.bits | EMPTY_PLIES


class Tier(NamedTuple):
    """A tier that is to be solved: its number k, and arrays with an entry for each slot.

    `left` holds the undecided-children counters (see values/score.py). `sums` uint8, uint16 or uint32[slots] are
    checksums of the parents (see values/edges.py); empty if the rules do not give parents.
    """

    table: Table
    k: int
    scores: Part
    left: Part
    sums: Part

    @property
    def number(self) -> int:
        """The tier as the rules number it."""
        return int(self.table.numbering.tiers[self.k])
