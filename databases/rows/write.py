"""Writes positions of several words and their outcomes, a few blocks at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import Pair, regroup
from retrograde.databases.frames import Each, FileWriter, Progress
from retrograde.databases.layout import BLOCK, LEVEL, LegendRow, outcome_dtype, rows_dtype, word_names
from retrograde.databases.legend import Measures
from retrograde.games import Game
from retrograde.games.contract.game import Traits
from retrograde.games.contract.raised import given_start

GROUP = 8
"""Blocks in a task."""


@dataclass(frozen=True)
class SolvedRows:
    """A solved game whose positions have several words, tier after tier; positions ascend within each tier."""

    tiers: NDArray[np.int64]
    """The numbers of the tiers, ascending."""
    counts: NDArray[np.int64]
    """The number of positions in each tier, at least 1."""
    legend: Sequence[LegendRow]
    """Ascends by value, then remoteness; an example is the number of a position, counted through all tiers."""
    records: Pair | Iterable[Pair]
    """Canonical positions int64[n, words] with rows of the legend: a pair of arrays, or consecutive pairs."""
    measures: Measures | None = None
    """The legend's additional columns, and how they were computed."""


def write_rows(writer: FileWriter, game: Game, solved: SolvedRows, each: Each, progress: Progress) -> int | None:
    """Write rows and their tables; return the start's row in the legend, or None."""
    width, stored = Traits.of(game).width, int(solved.counts.sum())
    dtype, chunk = rows_dtype(outcome_dtype(len(solved.legend)), width), min(BLOCK, stored)
    start = given_start(game)
    start = None if start is None else game.canonical(start)
    start_row: int | None = None

    def groups() -> Iterator[NDArray[Any]]:
        """Yield the rows of a few blocks at a time, and look for the start among them."""
        nonlocal start_row
        for positions, outcomes in regroup(solved.records, chunk * GROUP):
            rows = np.empty(len(outcomes), dtype)
            rows["outcome"] = outcomes
            for k, name in enumerate(word_names(width)):
                rows[name] = positions[:, k]
            if start is not None and start_row is None and (is_start := (positions == start).all(1)).any():
                start_row = int(outcomes[is_start.argmax()])
            yield rows

    frames = writer.write_items("rows", dtype, stored, chunk, LEVEL, each, groups(), progress)
    if frames.done != -(-stored // chunk):
        raise ValueError("records do not match the counts of their tiers")
    writer.write_slot_tables(solved.tiers, np.cumsum(solved.counts) - solved.counts, frames)
    return start_row
