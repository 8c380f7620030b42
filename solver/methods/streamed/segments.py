"""Segments and tiers: what the streamed solver keeps in memory about lists in scratch files."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.streamed.lists import (
    ARENA_COLUMNS,
    BLOCK,
    LIST_COLUMNS,
    MOST_BYTES,
    MOST_WORD_BYTES,
    WHERE,
    Arena,
    unpack_lists,
    unpack_steps,
)
from retrograde.solver.methods.streamed.steps import BEYOND, FIRST_TIER, POSITIONS, STORED, TALLIED
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.tasks import workspace

NONE = np.empty(0, np.int64)


class Segment(NamedTuple):
    """A sorted list of positions or steps in a scratch file, or part of one.

    `frame` is the stored frame, which has other lists as well; the list has `size` bytes at offset `at`. It has
    `length` items, from position `first` to `last`, which differ at most in the bits of `mask`. Steps have the codes
    `first_code` and `last_code` at the ends. `samples`, an array, are some of its positions, in order. If positions
    have several words, `first` and `last` are tuples, and `mask` is 0.
    """

    frame: Frame
    at: int
    size: int
    length: int
    mask: int
    first: Any
    last: Any
    first_code: int = 0
    last_code: int = 0
    samples: Array = NONE

    @property
    def row(self) -> tuple[Any, ...]:
        """All fields as ints and positions, without the name of the frame and the samples."""
        return self.frame[1:] + self[1:9]

    @property
    def width(self) -> int:
        """The number of words of a position, 0 for ints."""
        return len(self.first) if isinstance(self.first, tuple) else 0


FRAME_COLUMNS = len(Frame._fields) - 1
"""Columns of a `Segment.row` that describe its frame."""


@cache
def list_type(width: int) -> np.dtype[Any]:
    """Return the fields of a `Segment` that describe its list, as a numpy type: a row of a table of written lists."""
    position = np.dtype([(f"word{k}", np.int64) for k in range(width)]) if width else np.int64
    return np.dtype([(name, position if name in ("first", "last") else np.int64) for name in Segment._fields[1:9]])


@cache
def segment_type(width: int) -> np.dtype[Any]:
    """Return a `Segment.row` as a numpy type; *width* is the number of words of a position, 0 for ints."""
    fields: Any = list_type(width).fields
    return np.dtype([
        *((f"frame_{name}", np.int64) for name in Frame._fields[1:]),
        *((name, fields[name][0]) for name in Segment._fields[1:9]),
    ])  # fmt: skip


def list_columns(width: int) -> int:
    """Return the number of columns of a table of written lists."""
    return LIST_COLUMNS + 2 * max(width - 1, 0)


def tally_columns(width: int) -> int:
    """Return the number of columns of a tally (see steps.py)."""
    return TALLIED + max(width - 1, 0)


def least_and_beyond(width: int) -> tuple[Any, Any]:
    """Return the least position, and one greater than any."""
    return ((0,) * width, (BEYOND,) * width) if width else (0, BEYOND)


def words(position: Any) -> tuple[int, ...]:
    """Return the words of a position; an int is its only word."""
    return position if isinstance(position, tuple) else (position,)


def segment_of(name: str, row: Iterable[Any], samples: Array = NONE) -> Segment:
    """Return the segment that a `Segment.row` describes, in the frames called *name*."""
    fields = tuple(row)
    frame, list_fields = Frame(name, *fields[:FRAME_COLUMNS]), fields[FRAME_COLUMNS:]
    return Segment._make((frame, *list_fields, samples))


class WrongAssumption(NamedTuple):
    """A task's wrong assumption about a tier: the children by `move` are UNSORTED, or lead to an OTHER_TIER."""

    kind: Trouble
    tier: int
    move: int


@dataclass(slots=True)
class StreamTier:
    """The undecided positions of a tier, as ascending segments.

    `mask` has the bits that vary. `moves` are those that all positions have, and `next_tiers` the tiers that they lead
    to. If positions have different moves, `moves` is None, and `next_tiers` has all tiers that any move leads to (empty
    until this is known). `child_counts` are numbers of children, for each of `next_tiers`. `unsorted` are moves that do
    not keep the order. Once a segment is solved, `steps` and `records` have its steps, by the segment's number.
    """

    number: int
    mask: int
    segments: list[Segment]
    moves: tuple[int, ...] | None
    next_tiers: tuple[int, ...]
    child_counts: tuple[int, ...]
    unsorted: set[int] = field(default_factory=set)
    steps: dict[int, Segment] = field(default_factory=dict)
    records: dict[int, Segment] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of positions."""
        return sum(segment.length for segment in self.segments)

    @property
    def unsolved(self) -> list[int]:
        """The numbers of the segments that are still to be solved."""
        return [k for k in range(len(self.segments)) if k not in self.steps]

    def drop_assumption(self, wrong: WrongAssumption) -> None:
        """Drop the assumption that a task found wrong."""
        if wrong.kind == Trouble.UNSORTED:
            self.unsorted.add(wrong.move)
        elif self.moves is not None:
            self.moves, self.next_tiers, self.child_counts = None, (), ()


Wave = dict[int, StreamTier]
"""Tiers by number, ascending."""


class StreamContext(NamedTuple):
    """Data shared by all tasks: the game, the scratch files, and the blocks between two samples of a list."""

    game: Game
    scratch: Scratch
    sample_interval: int


class SegmentLoader:
    """Loads segments for kernels: `add` each, then `load` all into an Arena, with a table of the lists."""

    def __init__(self, scratch: Scratch):
        self.scratch = scratch
        self.segments: list[Segment] = []
        self.rows: list[tuple[int, ...]] = []

    def add(self, segment: Segment, move: int = -1, ascends: bool = False) -> int:
        """Add a segment and return its row in the table; *move* and *ascends* are columns of that (see lists.py)."""
        self.segments.append(segment)
        self.rows.append((0, segment.length, segment.mask, move, ascends, 0, -(-segment.length // BLOCK)))
        return len(self.rows) - 1

    def load(self) -> Arena:
        """Read the segments and return the arena, which must not be written to."""
        table = np.array(self.rows, np.int64).reshape(-1, ARENA_COLUMNS)
        # If all are in one frame, use its bytes without a copy.
        if len({segment.frame for segment in self.segments}) == 1:
            content = np.frombuffer(self.scratch.read(self.segments[0].frame), np.uint8)
            table[:, WHERE] = [segment.at for segment in self.segments]
        else:
            content, table[:, WHERE] = self.copy_segments()
        return Arena(content.view(np.int64), table)

    def copy_segments(self) -> tuple[Array, list[int]]:
        """Copy the segments out of their frames, which may have much else; return (the bytes, where each begins)."""
        offsets: dict[Frame, dict[tuple[int, int], int]] = {}
        end = 0
        for segment in self.segments:
            in_frame = offsets.setdefault(segment.frame, {})
            if (segment.at, segment.size) not in in_frame:
                in_frame[segment.at, segment.size] = end
                end += segment.size
        content = np.empty(end, np.uint8)
        for frame, in_frame in offsets.items():
            stored = np.frombuffer(self.scratch.read(frame), np.uint8)
            for (at, size), begin in in_frame.items():
                content[begin : begin + size] = stored[at : at + size]
        content.flags.writeable = False  # like content that is read: kernels are compiled for either kind
        return content, [offsets[segment.frame][segment.at, segment.size] for segment in self.segments]


def load(scratch: Scratch, segment: Segment) -> Array:
    """Return the positions of a segment."""
    loader = SegmentLoader(scratch)
    loader.add(segment)
    out = np.empty((segment.length, segment.width) if segment.width else segment.length, np.int64)
    unpack_lists(loader.load(), out)
    return out


def load_with_codes(scratch: Scratch, segments: list[Segment]) -> tuple[Array, Array]:
    """Return the positions of some lists of steps, one list after another, and their codes."""
    loader = SegmentLoader(scratch)
    for segment in segments:
        loader.add(segment)
    arena, count, width = loader.load(), sum(segment.length for segment in segments), segments[0].width
    positions, codes = np.empty((count, width) if width else count, np.int64), np.empty(count, np.uint16)
    end = 0
    for row in range(len(segments)):
        end = unpack_steps(arena, row, positions, codes, end)
    return positions, codes


def list_buffer(name: str, positions: int, lists: int, width: int = 0) -> Array:
    """Return a buffer of this thread, int64[], for lists with this many positions in total."""
    more_words = max(width - 1, 0)
    most_bytes = (MOST_BYTES + MOST_WORD_BYTES * more_words) * positions
    # Each list may have a block that is not full, and is filled up to 8 bytes.
    return workspace(name, most_bytes // 8 + (4 + more_words) * lists + 2)


def positions_workspace(name: str, count: int, width: int) -> Array:
    """Return this thread's array of a name, with space for at least *count* positions of *width* words (0: ints)."""
    array = workspace(name, count * max(width, 1))
    return array[: (len(array) // width) * width].reshape(-1, width) if width else array


def add_up(tally: Array, more: Array) -> None:
    """Add a tally to another (see steps.py). Of two first positions, (tier, position), keep the lesser."""
    for row in np.flatnonzero(more[:, POSITIONS]).tolist():
        is_first = tally[row, STORED] == 0 or tuple(more[row, FIRST_TIER:]) < tuple(tally[row, FIRST_TIER:])
        if is_first and more[row, STORED]:
            tally[row, FIRST_TIER:] = more[row, FIRST_TIER:]
        tally[row, :FIRST_TIER] += more[row, :FIRST_TIER]
