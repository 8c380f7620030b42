"""Gives the database's writer the rows of positions of several words: the solved ones, and those in which the game is
over.

Both lie in scratch files as lists of steps, one step for each position. The lists of a tier that overlap are merged::

    solved      | 3 win 1, 7 lose 2 |             | 20 tie 4 |
    finished    | 5 lose 0          |  | 9 tie 0 |                 each list is sorted, and none overlaps its neighbours
    batches     | 3, 5, 7           |  | 9       | | 20     |
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.databases.write import SolvedRows
from retrograde.solver.methods.listed.spill.packing import order_of
from retrograde.solver.methods.streamed.segments import Segment, load_with_codes
from retrograde.solver.methods.streamed.steps import BITS, STORED, code_of
from retrograde.solver.methods.streamed.store import TOGETHER, StepsStore, legend_of
from retrograde.solver.rules.positions import to_items
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.values.score_kernels import primitive_score

ListsByTier = dict[int, list[Segment]]
"""Lists of steps by tier, one step for each position. Those of a tier are in ascending order of their first position.
"""


def solved_rows(store: StepsStore, finished: ListsByTier) -> SolvedRows:
    """Return the solved game for the database's writer. *finished* are lists of positions in which the game is over."""
    lists: ListsByTier = defaultdict(list)
    for wave in store.waves:
        for tier in wave.values():
            lists[tier.number] += tier.records.values()
    for number, over in finished.items():
        lists[number] += over
    lists = {number: sorted(lists[number], key=lambda segment: segment.first) for number in sorted(lists)}
    counts = np.array([sum(segment.length for segment in segments) for segments in lists.values()], np.int64)
    starts = dict(zip(lists, (np.cumsum(counts) - counts).tolist(), strict=True))

    def number_of(tier: int, *position: int) -> int:
        """Return the number of a position, counted through all tiers."""
        return int(starts[tier]) + sum(count_below(store.scratch, segment, position) for segment in lists[tier])

    legend, rows = legend_of(store.over, store.tally, number_of)
    # The codes of finished positions, which the store's tally does not have.
    outcomes = [(row.value, row.remoteness) for row in legend]
    for value in np.flatnonzero(store.over[:, STORED]).tolist():
        (row,) = [k for k, (outcome_value, plies) in enumerate(outcomes) if outcome_value == value and plies <= 0]
        rows[code_of(primitive_score(value, BITS))] = row
    return SolvedRows(np.array([*lists], np.int64), counts, legend, yield_rows(store.scratch, lists, rows))


def count_below(scratch: Scratch, segment: Segment, position: tuple[int, ...]) -> int:
    """Return how many positions of a list are less than a position."""
    if segment.last < position:
        return segment.length
    if segment.first >= position:
        return 0
    positions, _ = load_with_codes(scratch, [segment])
    return int(to_items(positions).searchsorted(to_items(np.array([position], np.int64)))[0])


def yield_rows(scratch: Scratch, lists: ListsByTier, rows: Array) -> Iterator[tuple[Array, Array]]:
    """Yield all positions in order, TOGETHER or more at a time, and the row of each in the legend."""
    group: list[list[Segment]] = []
    count = 0
    for segments in lists.values():
        for batch in batches(segments):
            group.append(batch)
            count += sum(segment.length for segment in batch)
            if count >= TOGETHER:
                yield merge(scratch, group, rows)
                group, count = [], 0
    if group:
        yield merge(scratch, group, rows)


def batches(lists: list[Segment]) -> Iterator[list[Segment]]:
    """Yield groups of lists that overlap, in ascending order. *lists* ascend by their first position."""
    batch: list[Segment] = []
    last: Any = None
    for segment in lists:
        if batch and segment.first > last:
            yield batch
            batch, last = [], None
        batch.append(segment)
        last = segment.last if last is None else max(last, segment.last)
    if batch:
        yield batch


def merge(scratch: Scratch, group: list[list[Segment]], rows: Array) -> tuple[Array, Array]:
    """Return the positions of some batches (see `batches`) in order, and the row of each in the legend.

    *rows* has the row of each code of an outcome.
    """
    positions, codes = load_with_codes(scratch, [segment for batch in group for segment in batch])
    begin = 0
    for batch in group:
        end = begin + sum(segment.length for segment in batch)
        if len(batch) > 1:
            order = order_of(positions[begin:end])
            positions[begin:end], codes[begin:end] = positions[begin:end][order], codes[begin:end][order]
        begin = end
    return positions, rows[codes]
