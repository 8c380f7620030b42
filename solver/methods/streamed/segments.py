"""Segments and tiers: what the streamed solver keeps in memory about lists in scratch files."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.streamed.lists import BLOCK, LOADED, MOST_BYTES, WHERE, Arena, Buffer, unpack_lists
from retrograde.solver.methods.streamed.steps import FIRST_TIER, POSITIONS, STORED
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.tasks import room

Array = np.ndarray[Any, Any]

NONE = np.empty(0, np.int64)


class Segment(NamedTuple):
    """A sorted list, or part of one, of positions or steps: where it is stored, and what is known of it.

    `frame` is the stored frame, which has other lists as well; the list has `size` bytes at offset `at`. It has
    `length` items, from position `first` to `last`, which differ at most in the bits of `mask`. Steps have the codes
    `first_code` and `last_code` at the ends. `samples`, int64[], are some of its positions, in order.
    """

    frame: Frame
    at: int
    size: int
    length: int
    mask: int
    first: int
    last: int
    first_code: int = 0
    last_code: int = 0
    samples: Array = NONE

    @property
    def row(self) -> tuple[int, ...]:
        """All fields as ints, without the name of the frame and the samples."""
        return self.frame[1:] + self[1:9]


SEGMENT = np.dtype([
    *((f"frame_{name}", np.int64) for name in Frame._fields[1:]),
    *((name, np.int64) for name in Segment._fields[1:9]),
])  # fmt: skip
"""A `Segment.row` as a numpy type."""


def segment_of(name: str, row: Iterable[int], samples: Array = NONE) -> Segment:
    """Return the segment described by a row. *name* is that of its frame."""
    token, offset, packed, size, *about = row
    at, length, items, mask, first, last, *codes = about
    first_code, last_code = codes
    frame = Frame(name, token, offset, packed, size)
    return Segment(frame, at, length, items, mask, first, last, first_code, last_code, samples)


class Surprise(NamedTuple):
    """A wrong assumption of a task about a tier.

    The children by `move` are UNSORTED, or lead to an OTHER_TIER.
    """

    kind: Trouble
    tier: int
    move: int


@dataclass(slots=True)
class Tier:
    """The undecided positions of a tier, as ascending segments.

    `mask` has the bits that vary. `moves` are those that all positions have, and `leads` the tiers that they lead to.
    If positions have different moves, `moves` is None, and `leads` has all tiers that any move leads to (empty until
    this is known). `weights` are numbers of children, for each of `leads`. `unsorted` are moves that do not keep the
    order. Once a segment is solved, `steps` and `records` have its steps, by the segment's number.
    """

    number: int
    mask: int
    segments: list[Segment]
    moves: tuple[int, ...] | None
    leads: tuple[int, ...]
    weights: tuple[int, ...]
    unsorted: set[int] = field(default_factory=set)
    steps: dict[int, Segment] = field(default_factory=dict)
    records: dict[int, Segment] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of positions."""
        return sum(segment.length for segment in self.segments)

    @property
    def left(self) -> list[int]:
        """The numbers of the segments that are still to be solved."""
        return [k for k in range(len(self.segments)) if k not in self.steps]

    def learn(self, surprise: Surprise) -> None:
        """Drop the assumption that a task found wrong."""
        if surprise.kind == Trouble.UNSORTED:
            self.unsorted.add(surprise.move)
        elif self.moves is not None:
            self.moves, self.leads, self.weights = None, (), ()


Wave = dict[int, Tier]
"""Tiers by number, ascending."""


class Stream(NamedTuple):
    """Data shared by all tasks: the game, the scratch files, and the number of blocks between two samples of a list."""

    game: Game
    scratch: Scratch
    apart: int


class Loader:
    """Loads segments, one after another, with a table of them."""

    def __init__(self, scratch: Scratch):
        self.scratch = scratch
        self.segments: list[Segment] = []
        self.rows: list[tuple[int, ...]] = []

    def add(self, segment: Segment, move: int = -1, ascends: bool = False) -> int:
        """Add a segment and return its row in the table."""
        self.segments.append(segment)
        self.rows.append((0, segment.length, segment.mask, move, ascends, 0, -(-segment.length // BLOCK)))
        return len(self.rows) - 1

    def load(self) -> Arena:
        """Read the segments and return the arena, which must not be written to."""
        table = np.array(self.rows, np.int64).reshape(-1, LOADED)
        # If all are in one frame, use its bytes without a copy.
        if len({segment.frame for segment in self.segments}) == 1:
            content = np.frombuffer(self.scratch.read(self.segments[0].frame), np.uint8)
            table[:, WHERE] = [segment.at for segment in self.segments]
        else:
            content, table[:, WHERE] = self.copied()
        return Arena(content.view(np.int64), content, table)

    def copied(self) -> tuple[Array, list[int]]:
        """Copy segments of several frames; return the bytes, and where each segment begins.

        Frames may have much else, which is not copied.
        """
        places: dict[Frame, dict[tuple[int, int], int]] = {}
        end = 0
        for segment in self.segments:
            own = places.setdefault(segment.frame, {})
            if (segment.at, segment.size) not in own:
                own[segment.at, segment.size] = end
                end += segment.size
        content = np.empty(end, np.uint8)
        for frame, own in places.items():
            found = np.frombuffer(self.scratch.read(frame), np.uint8)
            for (at, size), begin in own.items():
                content[begin : begin + size] = found[at : at + size]
        content.flags.writeable = False  # as what is read: kernels are compiled for either kind
        return content, [places[segment.frame][segment.at, segment.size] for segment in self.segments]


def load(scratch: Scratch, segments: Iterable[Segment]) -> Array:
    """Return the positions of some segments, one after another."""
    loader = Loader(scratch)
    count = sum(loader.rows[loader.add(segment)][1] for segment in segments)
    out = np.empty(count, np.int64)
    unpack_lists(loader.load(), out)
    return out


def buffer(name: str, positions: int, lists: int) -> Buffer:
    """Return a buffer of this thread for lists with this many positions in total."""
    words = room(name, (MOST_BYTES * positions >> 3) + 4 * lists + 2)
    return Buffer(words, words.view(np.uint8))


def add_up(tally: Array, more: Array) -> None:
    """Add a tally to another (see steps.py). The first position is the one in the lower tier, or the lesser one in
    it."""
    for row in np.flatnonzero(more[:, POSITIONS]).tolist():
        is_first = tally[row, STORED] == 0 or tuple(more[row, FIRST_TIER:]) < tuple(tally[row, FIRST_TIER:])
        if is_first and more[row, STORED]:
            tally[row, FIRST_TIER:] = more[row, FIRST_TIER:]
        tally[row, :FIRST_TIER] += more[row, :FIRST_TIER]
