"""Solves games whose positions are sorted lists: explore, solve the tiers last first, build the records.

The database gets a legend, which lists each outcome once, and for each position the number of its row in the legend.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from retrograde.databases.layout import LegendRow
from retrograde.databases.write import SolvedRecords, SolvedRows
from retrograde.games.contract.game import DRAW, Game, Traits
from retrograde.solver.methods.listed.explore.explore import Explorer
from retrograde.solver.methods.listed.store import ListedStore
from retrograde.solver.rules.examine import is_for_a_stream, starts_of
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.driver import drive
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import BLOCK, CLASSES, with_enough_bits
from retrograde.solver.values.score_kernels import write_rows


@dataclass(frozen=True)
class ListedMethod:
    """The method that keeps positions as sorted lists in memory.

    If *limited*, `solve` gives up on large games whose tiers follow one another; other methods suit them better. If
    *propagate*, all tiers are solved like tiers with cycles.
    """

    limited: bool = False
    propagate: bool = False
    name: ClassVar[str] = "listed"

    def solve(self, game: Game, work: Work) -> SolvedRecords | SolvedRows:
        """Return the solved game. Raises NotApplicable if there are too many positions."""
        limit = work.sizes.in_memory if self.limited and Traits.of(game).has_tiers and is_for_a_stream(game) else None
        work.course.plan(exploring=0.6, solving=0.35, writing=0.05)
        log = work.log("first waves" if self.limited else "waves")
        space = Explorer(game, work, limit, spills=True).explore(starts_of(game), log, work.phase("exploring"))

        def solve(bits: int) -> SolvedRecords | SolvedRows:
            store = ListedStore(game, space, bits, work, self.propagate)
            drive(store, work.log(f"scores{bits}"), work.phase("solving", len(space)))
            return solved_from(store)

        return with_enough_bits(work.sizes.plies_bits, solve)


def solved_from(store: ListedStore) -> SolvedRecords | SolvedRows:
    """Return a solved game for the database writer, made from the scores of all positions."""
    space, bits, width = store.table.space, store.table.bits, Traits.of(store.table.game).width
    # For each outcome, at index `remoteness << 2 | class`: records, positions, and the index of its first record.
    stored, positions, firsts = store.counts
    # (value, remoteness, code) of each outcome that occurs: the rows of the legend, in order. A code is such an index.
    outcomes = [(CLASSES[code & 3], code >> 2, code) for code in np.flatnonzero(stored).tolist()]
    ordered = sorted((value, -1 if value == DRAW else remoteness, code) for value, remoteness, code in outcomes)
    legend = [
        LegendRow(
            value, remoteness, int(positions[code]), int(stored[code]),
            # An example is a position or, if that has several words, the number of its row.
            int(firsts[code] if width else space.read(firsts[code], firsts[code] + 1)[0]),
        )
        for value, remoteness, code in ordered
    ]  # fmt: skip
    row_of_code = np.zeros(len(stored), np.int32)
    row_of_code[[code for *_, code in ordered]] = np.arange(len(legend))

    def records() -> Iterator[tuple[Array, Array]]:
        for begin in range(0, len(space), BLOCK):
            scores = store.scores[begin : begin + BLOCK]
            rows = np.empty(len(scores), np.int32)
            write_rows(scores, bits, row_of_code, rows)
            yield space.read(begin, min(begin + BLOCK, len(space))), rows

    if width:
        return SolvedRows(space.tiers, np.diff(space.starts), legend, records())
    greatest = max(int(space.read(end - 1, end)[0]) for end in space.starts[1:].tolist())
    return SolvedRecords(space.tiers, np.diff(space.starts), legend, records(), greatest)
