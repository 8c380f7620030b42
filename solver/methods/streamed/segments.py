"""Sorted lists in scratch files, and tiers made of them: what the streamed solver keeps in memory of what it puts
aside."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.streamed.lists import BLOCK, LOADED, MOST_BYTES, WHERE, Arena, Buffer, unpack_lists
from retrograde.solver.methods.streamed.steps import FIRST_TIER, POSITIONS, STORED
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.tasks import room

Array = np.ndarray[Any, Any]

NONE = np.empty(0, np.int64)


class Segment(NamedTuple):
    """A sorted list, or a stretch of one, of positions or of steps: where it is, and what is known of it.

    `frame` says where it was put aside, with others; `at` where in there it is, in bytes, and `size` how many it takes.
    It has `length` items, from the position `first` to `last`, which differ in the bits of `mask` at most; of steps,
    `first_code` and `last_code` are those of the first and the last. `samples`, int64[], are some positions on the way.
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
        """All that is known of it, but for the name of its frame and the samples."""
        return self.frame[1:] + self[1:9]


SEGMENT = np.dtype([
    *((f"frame_{name}", np.int64) for name in Frame._fields[1:]),
    *((name, np.int64) for name in Segment._fields[1:9]),
])  # fmt: skip
"""The same in an array."""


def segment_of(name: str, row: Iterable[int], samples: Array = NONE) -> Segment:
    """Return the segment that stands in a row."""
    token, offset, packed, size, *about = row
    at, length, items, mask, first, last, *codes = about
    first_code, last_code = codes
    frame = Frame(name, token, offset, packed, size)
    return Segment(frame, at, length, items, mask, first, last, first_code, last_code, samples)


class Surprise(NamedTuple):
    """What a task has taken for granted of a tier and found not to be so: the `tier`, and the `move` by which children
    are UNSORTED, or lead to an OTHER_TIER."""

    kind: Trouble
    tier: int
    move: int


@dataclass(slots=True)
class Tier:
    """The undecided positions of a tier, as segments that ascend.

    `mask` has the bits that vary. `moves` are those that all positions have, and `leads` the tiers that these lead to;
    where they have not the same, `moves` is None, and `leads` are all tiers that any move leads to, none as long as it
    is not known. `weights` are numbers of children, for each of `leads`. `unsorted` are the moves that do not keep the
    order. By the number of the segment `steps` and `records` are there once it is solved.
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
        """How many positions there are."""
        return sum(segment.length for segment in self.segments)

    @property
    def left(self) -> list[int]:
        """The numbers of the segments that are not solved."""
        return [k for k in range(len(self.segments)) if k not in self.steps]

    def learn(self, surprise: Surprise) -> None:
        """Take less for granted from now on."""
        if surprise.kind == Trouble.UNSORTED:
            self.unsorted.add(surprise.move)
        elif self.moves is not None:
            self.moves, self.leads, self.weights = None, (), ()


Wave = dict[int, Tier]
"""Tiers by number, ascending."""


class Stream(NamedTuple):
    """What tasks are told: the game, the scratch files, and how many blocks of a list lie between two samples."""

    game: Game
    scratch: Scratch
    apart: int


class Loader:
    """Lists loaded one after another, and a table of them."""

    def __init__(self, scratch: Scratch):
        self.scratch = scratch
        self.segments: list[Segment] = []
        self.rows: list[tuple[int, ...]] = []

    def add(self, segment: Segment, move: int = -1, ascends: bool = False) -> int:
        """Load a segment, and return its row in the table."""
        self.segments.append(segment)
        self.rows.append((0, segment.length, segment.mask, move, ascends, 0, -(-segment.length // BLOCK)))
        return len(self.rows) - 1

    def load(self) -> Arena:
        """Return the arena; its words and bytes are not to be written to."""
        table = np.array(self.rows, np.int64).reshape(-1, LOADED)
        if len({segment.frame for segment in self.segments}) == 1:
            content = np.frombuffer(self.scratch.read(self.segments[0].frame), np.uint8)
            table[:, WHERE] = [segment.at for segment in self.segments]
        else:
            content, table[:, WHERE] = self.copied()
        return Arena(content.view(np.int64), content, table)

    def copied(self) -> tuple[Array, list[int]]:
        """Return the bytes of segments in several frames, one after another, and where each begins: frames may have
        much else."""
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
        content.flags.writeable = False  # as what is read: kernels are compiled for the one or for the other
        return content, [places[segment.frame][segment.at, segment.size] for segment in self.segments]


def load(scratch: Scratch, segments: Iterable[Segment]) -> Array:
    """Return the positions of segments, one after another."""
    loader = Loader(scratch)
    count = sum(loader.rows[loader.add(segment)][1] for segment in segments)
    out = np.empty(count, np.int64)
    unpack_lists(loader.load(), out)
    return out


def buffer(name: str, positions: int, lists: int) -> Buffer:
    """Return room of this thread for lists of so many positions together."""
    words = room(name, (MOST_BYTES * positions >> 3) + 4 * lists + 2)
    return Buffer(words, words.view(np.uint8))


def add_up(tally: Array, more: Array) -> None:
    """Add a tally to another (see steps.py). Of two firsts the one in the lower tier stays, of one tier the lesser."""
    for row in np.flatnonzero(more[:, POSITIONS]).tolist():
        is_first = tally[row, STORED] == 0 or tuple(more[row, FIRST_TIER:]) < tuple(tally[row, FIRST_TIER:])
        if is_first and more[row, STORED]:
            tally[row, FIRST_TIER:] = more[row, FIRST_TIER:]
        tally[row, :FIRST_TIER] += more[row, :FIRST_TIER]
