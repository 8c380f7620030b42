"""A store of solved waves, and what it gives the database's writer: the legend, and steps as (rank, legend row).

The legend lists the outcomes of the game with their counts. The set-wise method uses this module as well.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.databases.layout import LegendRow
from retrograde.databases.write import SolvedSteps
from retrograde.games.contract.game import DRAW, Value
from retrograde.solver.methods.streamed.segments import Segment, SegmentLoader, StreamTier, Wave, add_up
from retrograde.solver.methods.streamed.steps import FIRST_TIER, POSITIONS, STORED, unpack_ranks
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.driver import StoredCounts
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.values.score import CLASSES

TOGETHER = 1 << 16
"""Steps given to the database's writer at a time, at least."""


class StepsStore:
    """A store for `drive` (see runtime/driver.py) that solves waves, last wave first. A group is the number of a wave.

    The tiers of `waves` have their steps for the database, once they are solved. `over` counts positions in which the
    game is over by primitive value, `tally` all others by code, and `start_tally` those of the first wave (see
    steps.py). `times` is the number of positions to report for each position counted here.
    """

    def __init__(self, waves: list[Wave], scratch: Scratch, over: Array, log: Log, times: float = 1.0):
        self.waves, self.scratch, self.over, self.log, self.times = waves, scratch, over, log, times
        self.tally, self.start_tally = np.zeros((2, 4 * (len(waves) + 2), over.shape[1]), np.int64)

    def check_files(self, frames: Iterable[Frame]) -> None:
        """Raise DamagedScratch if some frames are gone."""
        for frame in self.scratch.missing(frames):
            raise self.scratch.damaged(frame)

    def count(self, wave: int, records: int, tier: int | None, tally: Array) -> StoredCounts:
        """Add the tally of some solved positions of a wave, and return their counts."""
        added = tally.reshape(self.tally.shape)
        for total in (self.tally, self.start_tally) if wave == 0 else (self.tally,):
            add_up(total, added)
        return StoredCounts(records, tier, self.times * int(added[:, POSITIONS].sum()))

    def solved(self) -> SolvedSteps:
        """Return the solved game for the database's writer."""
        legend, rows = legend_of(self.over, self.tally)
        tiers = sorted((tier for wave in self.waves for tier in wave.values()), key=lambda tier: tier.number)
        by_tier = [
            (tier, records)
            for tier in tiers
            if (records := [segment for _, segment in sorted(tier.records.items()) if segment.length])
        ]
        # Of two segments that join, the second does not repeat the outcome.
        counts = [
            sum(segment.length for segment in records) - sum(joins(*pair) for pair in pairwise(records))
            for _, records in by_tier
        ]
        (start,) = np.flatnonzero(self.start_tally[:, STORED]).tolist()
        return SolvedSteps(
            np.array([tier.number for tier, _ in by_tier], np.int64), np.array(counts, np.int64),
            np.array([records[0].first for _, records in by_tier], np.int64),
            np.array([tier.mask for tier, _ in by_tier], np.int64), legend, yield_steps(by_tier, self.scratch, rows),
            int(rows[start]),
        )  # fmt: skip


def drop_incomplete_wave(log: Log, scratch: Scratch, frames_in: Callable[..., Iterable[Frame]]) -> None:
    """Drop the last wave from a log of solved waves if scratch files do not have all of it.

    Waves are synced when they are complete, so a power cut may damage the last one. Later, `check_files` checks those
    of the others. An entry has the number of its wave first, and `frames_in(wave, *arrays)` yields its frames. An entry
    with nothing but a number means that the wave was restarted.
    """
    entries = log.since_restart()
    waves: dict[int, list[int]] = {}
    # Collect the entries of each wave that was not restarted.
    for number, ((wave, *_), *arrays) in enumerate(entries):
        if arrays:
            waves.setdefault(int(wave), []).append(number)
        else:
            del waves[int(wave)]
    last = min(waves, default=0)  # waves are solved from the last to the first
    if scratch.unreadable(
        frame for number in waves.get(last, ()) for frame in frames_in(last, *entries.entry(number)[1:])
    ):
        del waves[last]
        log.add((np.array([last]),))
        log.settle()
    # Keep the entries of the waves that are left.
    entries.offsets[:] = [entries.offsets[number] for number in sorted(chain.from_iterable(waves.values()))]


def joins(before: Segment, after: Segment) -> bool:
    """Return whether a segment's first step has the same outcome as the last step before it."""
    return before.last_code == after.first_code


def first_position(tier: int, position: int) -> int:
    """Return the first position with an outcome, which is the legend's example."""
    return position


def legend_of(over: Array, tally: Array, example: Callable[..., int] = first_position) -> tuple[list[LegendRow], Array]:
    """Return the legend, and the row of each code in it.

    *over* counts the positions in which the game is over, by value; *tally* counts the others, by code. `steps.py` has
    their columns. The row of a code that no position has is 0. *example* gets the tier and the words of the first
    position with an outcome.
    """
    counts: dict[tuple[Value, int], Any] = {}
    for value in np.flatnonzero(over[:, STORED]).tolist():
        counts[Value(value), -1 if value == DRAW else 0] = over[value]
    codes = {}
    for code in np.flatnonzero(tally[:, STORED]).tolist():
        value = CLASSES[code & 3]
        codes[code] = outcome = value, -1 if value == DRAW else code >> 2
        if outcome not in counts:
            counts[outcome] = tally[code]
        else:
            # Add the counts, and keep the first example: the least position of the lowest tier.
            two_rows = np.array([counts[outcome], tally[code]])
            counts[outcome] = [*two_rows[:, :FIRST_TIER].sum(axis=0), *min(two_rows[:, FIRST_TIER:].tolist())]
    outcomes = sorted(counts)
    legend = [
        LegendRow(*outcome, int(row[POSITIONS]), int(row[STORED]), example(*map(int, row[FIRST_TIER:])))
        for outcome in outcomes
        for row in [counts[outcome]]
    ]
    rows = np.zeros(len(tally), np.min_scalar_type(len(legend)))
    for code, outcome in codes.items():
        rows[code] = outcomes.index(outcome)
    return legend, rows


class StoredSteps(NamedTuple):
    """A segment of steps, the mask of its tier, and the last position of the tier before it, or -1. `joins`: whether
    its first step only continues the outcome before."""

    segment: Segment
    mask: int
    before: int
    joins: bool


def yield_steps(
    tiers: list[tuple[StreamTier, list[Segment]]], scratch: Scratch, rows: Array
) -> Iterator[tuple[Array, Array]]:
    """Yield all steps of some tiers, as ranks and rows of the legend, TOGETHER or more at a time. *rows* has the row of
    each code."""
    group: list[StoredSteps] = []
    count = 0
    for tier, records in tiers:
        for before, segment in zip([None, *records], records, strict=False):
            last = before.last if before else -1
            group.append(StoredSteps(segment, tier.mask, last, before is not None and joins(before, segment)))
            count += segment.length
            if count >= TOGETHER:
                yield load_group(group, scratch, rows)
                group, count = [], 0
    if group:
        yield load_group(group, scratch, rows)


def load_group(group: list[StoredSteps], scratch: Scratch, rows: Array) -> tuple[Array, Array]:
    """Return the steps of some segments as ranks and rows of the legend. *rows* has the row of each code."""
    loader = SegmentLoader(scratch)
    for steps in group:
        loader.add(steps.segment)
    list_info = np.array([(steps.mask, steps.before, steps.joins) for steps in group], np.int64)
    count = sum(steps.segment.length for steps in group)
    ranks, codes = np.empty(count, np.int64), np.empty(count, np.uint16)
    end = unpack_ranks(loader.load(), list_info, ranks, codes)
    return ranks[:end], rows[codes[:end]]
