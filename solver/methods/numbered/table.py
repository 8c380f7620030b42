"""What tasks over the slots of a game with a numbering are told."""

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
    """Return the game that stands for the family of one: the same each time, with the tables that it has made."""
    return game.family


class Table(NamedTuple):
    """What tasks are told: the game, its numbering, and the scores that are known, those of tiers that are *solved*,
    with so many *bits* for plies."""

    game: Game
    numbering: Numbering
    scores: Shared
    bits: int
    solved: Solved

    @property
    def rules(self) -> Game:
        """The game whose rules are compiled, for all of its family."""
        return family_of(self.game)

    @property
    def slots(self) -> "Slots":
        """The same for kernels."""
        from retrograde.solver.methods.numbered.kernels import Slots  # which is not wanted where no kernel is asked

        return Slots(self.numbering.tiers, self.numbering.starts, self.scores.array, self.bits, self.solved.flags)

    @property
    def empty(self) -> int:
        """The score of a slot that stands for no position."""
        return DRAW_CLASS << self.bits | EMPTY_PLIES


class Tier(NamedTuple):
    """A tier to be solved: its number k, the scores of its slots, what is left of them, and sums about their parents.

    `left` see values/left.py; `sums` uint8[slots], uint16[slots] or uint32[slots] (see values/edges.py), or [0]
    where the rules do not give parents.
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
