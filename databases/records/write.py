"""Writes records: sorted positions stream through, a few blocks at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.encoding import Encoded, Pair, compressor, pack, regroup
from retrograde.databases.frames import Each, FileWriter, Progress
from retrograde.databases.layout import BLOCK, BLOCKS, LEVEL, TIERS, LegendRow, gap_dtype, outcome_dtype, records_dtype
from retrograde.databases.legend import Measures, total_of
from retrograde.games import Game
from retrograde.games.contract.game import POSITION_LIMIT
from retrograde.games.contract.raised import given_start

GROUP = 8
"""Blocks in a task: about a millisecond of work."""
Encoder = Callable[..., Encoded]


@dataclass(frozen=True)
class SolvedRecords:
    """A solved game as records, tier after tier; canonical positions ascend within each tier.

    `records` is a pair of arrays (positions, rows of the legend), or an iterable of consecutive pairs. The legend
    ascends by value, then remoteness.
    """

    tiers: NDArray[np.int64]
    """The numbers of the tiers, ascending."""
    counts: NDArray[np.int64]
    """The number of records in each tier, at least 1."""
    legend: Sequence[LegendRow]
    records: Pair | Iterable[Pair]
    greatest: int = POSITION_LIMIT - 1
    """An upper bound of all positions, if known; it decides whether gaps have 32 or 64 bits."""
    measures: Measures | None = None
    """The legend's additional columns, if the metric is not remoteness."""


class RecordEncoding(NamedTuple):
    """The parameters for encoding records as blocks."""

    chunk: int
    """Records in a block."""
    outcomes: int
    """The number of rows of the legend."""
    greatest: int
    """An upper bound of all positions."""
    encode: Encoder


class RecordGroup(NamedTuple):
    """The records of a few blocks; the last may be short. Tiers begin at the indices *begins*."""

    positions: NDArray[Any]
    rows: NDArray[Any]
    begins: NDArray[np.int64]


def write_records(
    writer: FileWriter, game: Game, solved: SolvedRecords, each: Each, progress: Progress, encode: Encoder
) -> int | None:
    """Write records and their tables; return the start's row in the legend, or None."""
    tables = RecordTables(game, solved)
    form = RecordEncoding(tables.chunk, len(solved.legend), solved.greatest, encode)
    dtype = records_dtype(outcome_dtype(form.outcomes), gap_dtype(form.greatest))
    records = writer.new_dataset("records", dtype, tables.stored, form.chunk, LEVEL)
    for masks, frames in each(partial(encode_group, form), tables.groups(solved.records)):
        tables.blocks["mask"][records.done : records.done + len(masks)] = masks
        progress(records.write_all(frames))
    tables.blocks["check"] = records.checks
    writer.write_table("tiers", tables.tiers)
    writer.write_table("blocks", tables.blocks)
    return tables.start_row


class RecordTables:
    """The tables of tiers and blocks, filled in while records stream by; it also finds the start's outcome."""

    def __init__(self, game: Game, solved: SolvedRecords):
        self.bounds = np.concatenate([[0], np.cumsum(solved.counts, dtype=np.int64)])
        self.stored = int(self.bounds[-1])
        self.counted = total_of(solved.legend, "stored")
        self.chunk = min(BLOCK, self.stored)
        self.tiers = np.empty(len(solved.tiers), TIERS)
        self.tiers["tier"], self.tiers["record"] = solved.tiers, self.bounds[:-1]
        self.blocks = np.empty(-(-self.stored // self.chunk), BLOCKS)
        self.start_row: int | None = None
        # Where the start must be, so that its outcome can be noted while the records stream by.
        self.start = self.start_low = self.start_high = 0
        """The canonical start, and the range of records of its tier."""
        if (start := given_start(game)) is not None:
            self.start = game.canonical(start)
            tier = game.tier(self.start)
            i = int(np.searchsorted(solved.tiers, tier))
            if i < len(solved.tiers) and solved.tiers[i] == tier:
                self.start_low, self.start_high = int(self.bounds[i]), int(self.bounds[i + 1])

    def groups(self, records: Pair | Iterable[Pair]) -> Iterator[RecordGroup]:
        """Yield records a few blocks at a time; raise ValueError if their number is wrong."""
        record = 0
        for positions, rows in regroup(records, self.chunk * GROUP):
            end = record + len(positions)
            if len(rows) != len(positions) or end > self.stored:
                raise ValueError("records do not match the counts of their tiers")
            first_tier, end_tier = np.searchsorted(self.bounds, [record, end])  # the tiers that begin within the group
            begins = self.bounds[first_tier:end_tier] - record
            self.tiers["position"][first_tier:end_tier] = positions[begins]
            self.blocks["position"][record // self.chunk : -(-end // self.chunk)] = positions[:: self.chunk]
            self._look_for_start(record, positions, rows)
            yield RecordGroup(positions, rows, begins)
            record = end
        if record != self.stored or record != self.counted:
            raise ValueError(f"{record} records where the tiers have {self.stored}")

    def _look_for_start(self, record: int, positions: NDArray[Any], rows: NDArray[Any]) -> None:
        """Note the start's outcome if it is among these records, the first of which is number *record*."""
        low, high = max(self.start_low - record, 0), min(self.start_high - record, len(positions))
        if low < high:
            i = low + int(np.searchsorted(positions[low:high], self.start))
            if i < high and positions[i] == self.start:
                self.start_row = int(rows[i])


def encode_group(form: RecordEncoding, group: RecordGroup) -> tuple[NDArray[np.int64], list[bytes]]:
    """Return (masks, frames) of a group's blocks, one of each for a block.

    A frame is compressed: the outcomes of its records, and the gaps between their positions, as byte planes. For masks
    see `encode_blocks` in databases/encoding.py.
    """
    positions, rows, begins = group
    if int(rows.max()) >= form.outcomes:
        raise ValueError("there are records of outcomes that are not in the legend")
    if int(positions.max()) > form.greatest:
        raise ValueError(f"there are records of greater positions than {form.greatest}")
    outcome_size, gap_size = outcome_dtype(form.outcomes).itemsize, gap_dtype(form.greatest).itemsize
    masks, outcome_planes, gap_planes = form.encode(
        positions.astype(np.int64, copy=False), rows, begins, form.chunk, outcome_size, gap_size
    )
    return masks, [pack(compressor(LEVEL), *planes) for planes in zip(outcome_planes, gap_planes, strict=True)]
