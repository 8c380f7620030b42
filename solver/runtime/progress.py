"""Progress: what long work tells while it goes on.

A *course* is a job's phases one after another, with the time that each is expected to take of the whole. A *phase*
counts what is done of it, in records, and tells of positions, as every summary counts them: symmetric ones, too::

    course     exploring              solving                             writing
    weights    0.4                    0.55                                0.05
    done       ███████████████████    ████████████████····················       <- overall
                                      ^ began        ^ now

How long all of it will take follows from the phase at hand, and for the rest from the phases before and their weights.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

QUIET = 1.0
"""Seconds of a phase before it is foretold how long it will take, and..."""
LEAST_SHARE = 0.01
"""...the share of it that must be done by then."""


class Deciding(NamedTuple):
    """How far a tier with cycles is: how many of its positions are decided, of how many; the remoteness of those
    decided last, None while all are being looked at for the first time; and where what is undecided is looked at again
    for each ply, for want of room for links, what part of this is done."""

    decided: int
    total: int
    remoteness: int | None
    again: float | None = None


@dataclass(frozen=True)
class Progress:
    """How far a job has come: in the phase at hand, positions done, of how many (None while unknown), and seconds since
    it began; `number` says which phase that is, from 1, of how many `phases` (0 while all is being prepared).

    *tier* is the last tier worked on. *resumed* positions were done before a restart. `overall` is the share of all
    phases that is done, and `seconds_left` is for all of them; each is None while that cannot be told. Of a tier that
    is solved as a whole, `done` counts the work, and *deciding* the positions.
    """

    phase: str
    done: int
    total: int | None
    seconds: float
    tier: int | None = None
    resumed: int = 0
    number: int = 0
    phases: int = 0
    overall: float | None = None
    seconds_left: float | None = None
    deciding: Deciding | None = None
    here: float | None = None
    """Positions done a second, where it is another than that of all of the phase."""
    open: int | None = None
    """Positions met that are still to be done, where others will follow, and there is no total."""
    below: str = ""
    """The variant on which the one asked for rests, and which is being solved; and which of how many it is."""

    @property
    def rate(self) -> float:
        """Positions a second, of those that were not done before."""
        if self.here is not None:
            return self.here
        return (self.done - self.resumed) / self.seconds if self.seconds else 0.0

    @property
    def share(self) -> float | None:
        """What is done of the phase, from 0 to 1; None while that cannot be told."""
        return min(self.done / self.total, 1.0) if self.total else None


Listener = Callable[[Progress], None]


class Telling(Protocol):
    """What is told how far the work at hand has come."""

    def working(self, work: float, tier: int | None = None, deciding: Deciding | None = None) -> None:
        """Take note of records of a tier that are under way."""


@dataclass
class Course:
    """The phases of a job: what each is expected to take of the whole, by name; and what those before have taken.

    *positions_a_record* is how many positions a record stands for, as far as is known; *exact* where it is all known.
    """

    weights: dict[str, float] = field(default_factory=dict)
    positions_a_record: float = 1.0
    exact: bool = False
    seconds: float = 0.0
    """What the phases before have taken..."""
    weighed: float = 0.0
    """...and the weight of what they have done in that time."""
    at_hand: "Phase | None" = None

    def plan(self, **weights: float) -> None:
        """Begin with other phases."""
        whole = sum(weights.values())
        self.weights = {name: weight / whole for name, weight in weights.items()}
        self.seconds = self.weighed = 0.0
        self.at_hand = None

    def enter(self, phase: "Phase") -> None:
        """Note that a phase begins, and so the one before has ended."""
        before = self.at_hand
        if before and before.name != phase.name and before.name in self.weights and before.done:
            self.seconds += before.worked_seconds
            self.weighed += self.weights[before.name] * (1 - before.resumed / before.done)
        self.at_hand = phase

    def place(self, name: str) -> tuple[int, int]:
        """Return the number of a phase, from 1, and how many there are; 0 of 0 for what is none of them."""
        names = list(self.weights)
        return (names.index(name) + 1, len(names)) if name in names else (0, 0)

    def after(self, name: str) -> float:
        """Return the weight of the phases behind one."""
        number, phases = self.place(name)
        return sum(list(self.weights.values())[number:]) if phases else 0.0

    def overall(self, name: str, share: float | None) -> float | None:
        """Return what is done of the whole, where a phase has come so far."""
        if share is None or name not in self.weights:
            return share
        return round(max(0.0, 1 - self.after(name) - (1 - share) * self.weights[name]), 9)

    def seconds_left(self, phase: "Phase", share: float | None) -> float | None:
        """Return the seconds until all phases are done."""
        if share is None:
            return None
        passed, here = phase.worked_seconds, share - (phase.share_at_first or 0.0)
        weight, after = self.weights.get(phase.name, 1.0), self.after(phase.name)
        if passed >= QUIET and here >= LEAST_SHARE:
            whole = passed / here
            return (1 - share) * whole + (self.seconds + whole) / (self.weighed + weight) * after
        if self.seconds >= QUIET and self.weighed:
            return self.seconds / self.weighed * ((1 - share) * weight + after)
        return None


@dataclass
class Phase:
    """Counts what is done of one phase, in records, and tells a listener now and then."""

    name: str
    listener: Listener | None
    total: int | None = None
    course: Course = field(default_factory=Course)
    done: int = 0
    resumed: int = 0
    positions: float = 0.0
    """What is done, in positions; and of these, what was done before a restart."""
    resumed_positions: float = 0.0
    began: float = field(default_factory=time.monotonic)
    told: float = 0.0
    first: tuple[float, float, float] | None = None
    """When the first piece was done, and how many records and positions that makes: what comes before is compiling."""
    often: ClassVar[float] = 0.1
    """Seconds between two times that the listener is told."""

    def __post_init__(self) -> None:
        self.course.enter(self)

    # Counting

    def advance(self, records: int, tier: int | None = None, positions: float | None = None) -> None:
        """Count records done, and how many positions these stand for if that is known; tell of it now and then."""
        self.count(records, positions)
        self.working(0, tier)

    def begin_anew(self) -> None:
        """Count from nothing, and be the phase at hand again."""
        self.set_back((0, 0, 0.0, 0.0))
        self.began, self.first = time.monotonic(), None
        self.course.enter(self)

    def count(self, records: int, positions: float | None = None) -> None:
        """Count records done without telling of them."""
        self.done += records
        if positions is None:
            self.positions += records * self.course.positions_a_record
        else:
            self.positions += positions

    def skip(self, records: int, positions: float | None = None) -> None:
        """Count records that were done before a restart."""
        before = self.positions
        self.count(records, positions)
        self.resumed += records
        self.resumed_positions += self.positions - before

    def counts(self) -> tuple[int, int, float, float]:
        """Return all counts, for `set_back`."""
        return self.done, self.resumed, self.positions, self.resumed_positions

    def set_back(self, counts: tuple[int, int, float, float]) -> None:
        """Count as before."""
        self.done, self.resumed, self.positions, self.resumed_positions = counts

    def learn(self, positions_a_record: Callable[[], float]) -> None:
        """Ask for how many positions the next records stand, if anybody is about to be told."""
        if self.due and not self.course.exact:
            self.course.positions_a_record = positions_a_record()

    def end(self) -> None:
        """Tell that all is done, whatever was expected."""
        self.total = self.done
        if self.done and not self.course.exact:
            self.course.positions_a_record = self.positions / self.done
        self.tell()

    # Telling

    @property
    def due(self) -> bool:
        """Whether the listener is to be told now."""
        return self.listener is not None and time.monotonic() - self.told >= self.often

    @property
    def worked_seconds(self) -> float:
        """Seconds since the first piece was done."""
        return time.monotonic() - (self.first[0] if self.first else self.began)

    @property
    def share_at_first(self) -> float | None:
        """What was done of the phase when its clock began."""
        return self.first[1] / self.total if self.first and self.total else None

    def working(self, work: float, tier: int | None = None, deciding: Deciding | None = None) -> None:
        """Tell now and then of records that are under way, beside those done."""
        if self.first is None:
            self.first = time.monotonic(), self.done + work, self.positions + work * self.course.positions_a_record
        if self.due:
            self.told = time.monotonic()
            self.tell(tier, work, deciding)

    def tell(self, tier: int | None = None, work: float = 0, deciding: Deciding | None = None) -> None:
        """Tell the listener how far the phase has come."""
        if not self.listener:
            return
        now, each = time.monotonic(), self.course.positions_a_record
        share = min((self.done + work) / self.total, 1.0) if self.total else None
        done = self.positions + work * each
        total = None if self.total is None else round(self.positions + (self.total - self.done) * each)
        if deciding:
            deciding = deciding._replace(decided=round(deciding.decided * each), total=round(deciding.total * each))
        passed = self.worked_seconds
        here = (done - self.first[2]) / passed if self.first and passed > QUIET else None
        self.listener(
            Progress(
                self.name, round(done) if total is None else min(round(done), total), total, now - self.began, tier,
                round(self.resumed_positions), *self.course.place(self.name), self.course.overall(self.name, share),
                self.course.seconds_left(self, share), deciding, here,
            )
        )  # fmt: skip


def announce(listener: Listener | None, what: str) -> None:
    """Tell a listener what is being done before anything can be counted."""
    if listener:
        listener(Progress(what, 0, None, 0.0))
