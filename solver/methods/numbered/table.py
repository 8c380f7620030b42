"""Inputs of the tasks over the slots of a game that numbers its positions."""

from functools import lru_cache
from typing import NamedTuple

from retrograde.games.contract.game import Game
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import ArraySlice, SharedArray
from retrograde.solver.runtime.concurrent import SolvedTiers
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES


@lru_cache(8)
def family_of(game: Game) -> Game:
    """Return the game that stands for a game's family. Cached, so that the tables it has built are reused."""
    return game.family


class TierScores(NamedTuple):
    """All tiers, ascending, and where the scores of each begin, for kernels. Scores have *bits* bits for plies. Only
    scores of *solved* tiers are valid."""

    tiers: Array
    starts: Array
    scores: Array
    bits: int
    solved: Array


class NumberedTable(NamedTuple):
    """Inputs of every task: the game, its numbering, and the scores of all slots, with *bits* bits for plies. Only the
    scores of *solved* tiers are valid."""

    game: Game
    numbering: SlotNumbering
    scores: SharedArray
    bits: int
    solved: SolvedTiers

    @property
    def rules(self) -> Game:
        """The game whose rules are compiled, once for the whole family."""
        return family_of(self.game)

    @property
    def tiers(self) -> Array:
        """The tiers as the rules number them, ascending."""
        return self.numbering.tiers

    @property
    def for_kernels(self) -> TierScores:
        """The same data for kernels."""
        return TierScores(self.numbering.tiers, self.numbering.starts, self.scores.array, self.bits, self.solved.flags)

    @property
    def empty(self) -> int:
        """The score of a slot without a position."""
        return (DRAW_CLASS << self.bits) | EMPTY_PLIES

    def scores_of(self, k: int) -> ArraySlice:
        """Return the scores of tier number k."""
        slots = self.numbering.slice_of(k)
        return self.scores.slice(slots.start, slots.stop)
