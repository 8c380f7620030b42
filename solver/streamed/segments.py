"""Sorted lists in scratch files, and tiers made of them: what the streamed solver keeps in memory of what it puts
aside."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.streamed.lists import BLOCK, COLUMNS
from retrograde.solver.work.scratch import Frame, Scratch

Array = np.ndarray[Any, Any]

NONE = np.empty(0, np.int64)


class Segment(NamedTuple):
    """A sorted list, or a stretch of one, of positions or of steps: where it is, and what is known of it.

    `frame` says where it was put aside, with others; `at` where in there it is, in octets, and `size` how many it
    takes. It has `length` items, from the position `first` to `last`, which differ in the bits of `mask` at most;
    `ends` are the codes of the first and the last step, and `milestones`, int64[], some positions on the way.
    """

    frame: Frame
    at: int
    size: int
    length: int
    mask: int
    first: int
    last: int
    milestones: Array = NONE
    ends: tuple[int, int] = (0, 0)


def segment_of(frame: Frame, numbers: Iterable[int], milestones: Array = NONE, ends: Iterable[int] = (0, 0)) -> Segment:
    """Return a segment whose numbers from `at` to `last` stand in a row."""
    at, size, length, mask, first, last = numbers
    first_end, last_end = ends
    return Segment(frame, at, size, length, mask, first, last, milestones, (first_end, last_end))


@dataclass(slots=True)
class Tier:
    """The undecided positions of a tier, as segments that ascend.

    `mask` has the bits that vary. `moves` are those that all positions have, and `leads` the tiers that these lead to;
    where they have not the same, `moves` is None, and `leads` are all tiers that any move leads to, none as long as it
    is not known. `weights` are numbers of children, for each of `leads`. `unsorted` are the moves that do not keep the
    order. For each segment `steps` and `records` are there once it is solved.
    """

    number: int
    mask: int
    segments: list[Segment]
    moves: tuple[int, ...] | None
    leads: tuple[int, ...]
    weights: tuple[int, ...]
    unsorted: set[int] = field(default_factory=set)
    steps: list[Segment] = field(default_factory=list)
    records: list[Segment] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many positions there are."""
        return sum(segment.length for segment in self.segments)


Wave = dict[int, Tier]
"""Tiers by number, ascending."""


class Arena:
    """Frames loaded one after another, and a table of the lists in them (see `list_kernels.py`)."""

    def __init__(self, scratch: Scratch):
        self.scratch = scratch
        self.places: dict[Frame, int] = {}
        self.end = 0
        self.rows: list[tuple[int, ...]] = []

    def add(self, segment: Segment, move: int = -1, ascends: bool = False) -> int:
        """Load a segment, and return its row in the table."""
        if segment.frame not in self.places:
            self.places[segment.frame] = self.end
            self.end += segment.frame.size
        where = self.places[segment.frame] + segment.at
        self.rows.append((where, segment.length, segment.mask, move, ascends, 0, -(-segment.length // BLOCK)))
        return len(self.rows) - 1

    def load(self) -> tuple[Array, Array, Array]:
        """Return the arena as words and as octets, which are not to be written to, and the table."""
        if len(self.places) == 1:
            (frame,) = self.places
            octets = np.frombuffer(self.scratch.read(frame), np.uint8)
        else:
            octets = np.empty(self.end, np.uint8)
            for frame, begin in self.places.items():
                octets[begin : begin + frame.size] = np.frombuffer(self.scratch.read(frame), np.uint8)
            octets.flags.writeable = False  # as above: kernels are compiled for the one or for the other
        return octets.view(np.int64), octets, np.array(self.rows, np.int64).reshape(-1, COLUMNS)


class Rooms(threading.local):
    """Arrays that each thread has for itself, and uses again and again."""

    def __init__(self) -> None:
        self.rooms: dict[str, Array] = {}

    def get(self, name: str, dtype: Any, length: int) -> Array:
        """Return an array of at least some length, with anything in it."""
        room = self.rooms.get(name)
        if room is None or len(room) < length:
            room = self.rooms[name] = np.empty(length, dtype)
        return room


def add_up(tally: Array, more: Array) -> None:
    """Add counts to a tally: its rows are how many, how many with symmetric ones, the tier and the number of the first.

    Of two firsts the one in the lower tier stays, of one tier the lesser.
    """
    for row in np.flatnonzero(more[:, 0]).tolist():
        if tally[row, 0] == 0 or tuple(more[row, 2:]) < tuple(tally[row, 2:]):
            tally[row, 2:] = more[row, 2:]
        tally[row, :2] += more[row, :2]
