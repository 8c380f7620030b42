"""The way of solving a game whose positions are listed in memory: exploration, and then the tiers, last first."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from retrograde.databases.write import SolvedRecords
from retrograde.games.game import Game, defines
from retrograde.solver.listed.cycles import BYTES_A_POSITION
from retrograde.solver.listed.explore import Explorer, Solving
from retrograde.solver.listed.legend import solved_from
from retrograde.solver.listed.store import ListedStore
from retrograde.solver.outcomes.score import score_type, with_enough_bits
from retrograde.solver.rules.examine import is_for_a_stream, starts_of
from retrograde.solver.work.driver import drive
from retrograde.solver.work.work import Work

INDEX = 0.625
"""Bytes of an index for each position."""


def what_solving_takes(game: Game) -> Solving:
    """Return what solving takes of memory where all lists are there."""
    return Solving(INDEX + np.dtype(score_type(14)).itemsize + 2 * defines(game, "images"), BYTES_A_POSITION)


@dataclass(frozen=True)
class Listed:
    """Positions as sorted lists in memory.

    Where it is *limited*, games of many positions whose tiers follow one another are left to other ways. All tiers are
    solved as those with cycles are if *propagate*.
    """

    limited: bool = False
    propagate: bool = False
    name: ClassVar[str] = "listed"

    def solve(self, game: Game, work: Work) -> SolvedRecords:
        """Return the solved game; raise Unfit where there are too many positions."""
        limit = work.sizes.in_memory if self.limited and defines(game, "tier") and is_for_a_stream(game) else None
        work.course.plan(exploring=0.6, solving=0.35, writing=0.05)
        log = work.log("first waves" if self.limited else "waves")
        space = Explorer(game, work, limit, what_solving_takes(game)).explore(
            starts_of(game), log, work.phase("exploring")
        )

        def solve(bits: int) -> SolvedRecords:
            store = ListedStore(game, space, bits, work, self.propagate)
            drive(store, work.log(f"scores{bits}"), work.phase("solving", len(space)))
            return solved_from(store)

        return with_enough_bits(work.sizes.plies_bits, solve)
