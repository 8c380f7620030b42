"""A state space with its scores as a solved game: the legend, and for each position a row of it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.databases.layout import LegendRow
from retrograde.databases.write import SolvedRecords
from retrograde.solver.listed.store import ListedStore
from retrograde.solver.outcomes.score import decode
from retrograde.solver.outcomes.score_kernels import add_counts
from retrograde.solver.outcomes.tally import PART, narrow, tally

Array = np.ndarray[Any, Any]


def solved_from(store: ListedStore) -> SolvedRecords:
    """Return a solved game for the database writer from the scores of all positions."""
    space, bits = store.table.space, store.table.bits
    codes, numbers = narrow(store.scores)
    counts = tally(numbers, store.sizes, len(codes), add_counts)
    there = sorted((*decode(int(codes[code]), bits), code) for code in np.flatnonzero(counts.stored).tolist())
    legend = [
        LegendRow(
            value, remoteness, int(counts.positions[code]), int(counts.stored[code]),
            int(space.read(counts.first[code], counts.first[code] + 1)[0]),
        )
        for value, remoteness, code in there
    ]  # fmt: skip
    rows = np.zeros(len(codes), np.min_scalar_type(len(legend)))
    rows[[code for *_, code in there]] = np.arange(len(legend))

    def records() -> Iterator[tuple[Array, Array]]:
        for begin in range(0, len(numbers), PART):
            yield space.read(begin, min(begin + PART, len(space))), rows[numbers[begin : begin + PART]]

    greatest = max(int(space.read(end - 1, end)[0]) for end in space.starts[1:].tolist())
    return SolvedRecords(space.tiers, np.diff(space.starts), legend, records(), greatest)
