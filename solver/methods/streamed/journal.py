"""The journal of the exploration: which lists are complete, and where they are, so that a killed solve resumes.

An entry begins with its kind and the number of the wave. An empty entry means that the exploration was restarted.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.streamed.segments import Segment, add_up, segment_of, segment_type, tally_columns
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Frame, Scratch

RESULT, COMPLETE, RESTART = range(3)
"""Kinds of entries: the result of a task; a wave is complete; a wave is restarted."""


class NewSegment(NamedTuple):
    """The positions of a tier that were found, or one of the `parts` of a large tier: number `part`. `segment` has
    length 0 if there is no undecided position. `moves` and `next_tiers` are as in `StreamTier`. `finished` are the
    positions in which the game is over, as steps. They are stored only if positions have several words."""

    tier: int
    segment: Segment
    moves: tuple[int, ...] | None
    next_tiers: tuple[int, ...]
    part: int = 0
    parts: int = 1
    finished: Segment | None = None


class ForwardResult(NamedTuple):
    """The result of a task: segments, and a tally of finished positions by primitive value (see steps.py)."""

    segments: list[NewSegment]
    over: Array

    @property
    def positions(self) -> int:
        """The number of positions, finished ones included."""
        return sum(new.segment.length for new in self.segments) + int(self.over[:, 0].sum())

    @property
    def frames(self) -> Iterator[Frame]:
        """The frames of all lists. Lists that are empty may have none."""
        for new in self.segments:
            yield from (segment.frame for segment in (new.segment, new.finished) if segment and segment.length)


def join_parts(parts: list[ForwardResult]) -> ForwardResult:
    """Return the results of all parts of a tier as one result; a result of other tiers as it is."""
    if len(parts) == 1:
        return parts[0]
    over = np.zeros_like(parts[0].over)
    for result in parts:
        add_up(over, result.over)
    return ForwardResult(sorted((result.segments[0] for result in parts), key=lambda new: new.part), over)


@cache
def new_segment_type(width: int) -> np.dtype[Any]:
    """Return the type of a row of an entry: a `NewSegment` without the arrays behind it. A tier made in parts has a row
    for each part."""
    return np.dtype([
        ("tier", np.int64),
        ("segment", segment_type(width)),
        ("moves", np.int64),  # how many, -1 if positions have different moves
        ("samples", np.int64),  # how many
        *([("finished", segment_type(width))] if width else []),
    ])  # fmt: skip


class ForwardJournal:
    """The journal of an exploration, and the entries read from it. *width* is the number of words of a position, 0 for
    ints."""

    def __init__(self, log: Log, width: int = 0):
        self.log, self.width = log, width
        self.waves: dict[int, list[ForwardResult]] = defaultdict(list)
        self.complete: set[int] = set()
        for (kind, wave), *arrays in log.since_restart():
            if kind == RESULT:
                self.waves[int(wave)].append(read_result(int(wave), width, *arrays))
            elif kind == COMPLETE:
                self.complete.add(int(wave))
            else:  # RESTART
                self.drop(int(wave))

    def check_files(self, scratch: Scratch) -> None:
        """Restart the first wave that scratch files do not have completely, and all later ones.

        Complete waves were synced. A power cut may have damaged one that is not, so its lists are read.
        """
        for wave in sorted(self.waves):
            lost = scratch.missing if wave in self.complete else scratch.unreadable
            if lost(frame for result in self.waves[wave] for frame in result.frames):
                for later in [number for number in self.waves if number >= wave]:
                    self.restart(later)
                return

    def add(self, kind: int, wave: int, *arrays: Array) -> None:
        """Add an entry of a kind for a wave."""
        self.log.add((np.array([kind, wave], np.int64), *arrays))

    def add_result(self, wave: int, result: ForwardResult) -> None:
        """Add an entry for the result of a task."""
        rows = [
            (
                new.tier, new.segment.row, -1 if new.moves is None else len(new.moves), len(new.segment.samples),
                *([new.finished.row] if new.finished else []),
            )
            for new in result.segments
        ]  # fmt: skip
        moves = [move for new in result.segments for move in new.moves or ()]
        next_tiers = [tier for new in result.segments for tier in new.next_tiers]
        samples = np.concatenate([new.segment.samples for new in result.segments])
        table = np.array(rows, new_segment_type(self.width)).view(np.int64)
        moves_and_tiers = np.array([moves, next_tiers], np.int64).ravel()
        self.add(RESULT, wave, table, moves_and_tiers, samples.ravel(), result.over.ravel())

    def restart(self, wave: int) -> None:
        """Restart a wave, and make that durable before its lists are dropped."""
        self.drop(wave)
        self.add(RESTART, wave)
        self.log.settle()

    def drop(self, wave: int) -> None:
        """Forget the entries of a wave."""
        self.complete.discard(wave)
        self.waves.pop(wave, None)


def read_result(
    wave: int, width: int, table: Array, moves_and_tiers: Array, samples: Array, over: Array
) -> ForwardResult:
    """Return the result of a task from an entry of `ForwardJournal.add_result`.

    *table* has a row of `new_segment_type` for each segment. *moves_and_tiers* has the moves of all segments, then as
    many next tiers. *samples*, the sampled positions of all segments, and *over*, the tally of finished positions, are
    flat.
    """
    segments = []
    moves, next_tiers = moves_and_tiers.reshape(2, -1).tolist()
    samples = samples.reshape(-1, width) if width else samples
    first_move = first_sample = 0
    for tier, row, move_count, sample_count, *finished in table.view(new_segment_type(width)).tolist():
        # A count of -1 says that the positions of the segment have different moves, so none are listed.
        end_move, end_sample = first_move + max(move_count, 0), first_sample + sample_count
        segment = segment_of(f"positions{wave}", row, samples[first_sample:end_sample])
        finished_list = segment_of(f"finished{wave}", finished[0]) if finished else None
        segment_moves = None if move_count < 0 else tuple(moves[first_move:end_move])
        to = tuple(next_tiers[first_move:end_move])
        segments.append(NewSegment(tier, segment, segment_moves, to, finished=finished_list))
        first_move, first_sample = end_move, end_sample
    return ForwardResult(segments, over.reshape(-1, tally_columns(width)))
