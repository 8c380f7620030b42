"""Progress reports of long work.

A *course* is a job's phases in order, each with its expected share of the time. A *phase* counts finished records, and
reports them as positions, symmetric ones counted, as every summary does::

    course     exploring              solving                             writing
    weights    0.4                    0.55                                0.05
    done       ███████████████████    ████████████████····················       <- overall
                                      ^ began        ^ now

The estimate of the time left uses the present phase's speed. For the later phases it uses the time of the phases so
far, and the weights.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

QUIET = 1.0
"""Seconds of a phase before its duration is estimated."""
LEAST_SHARE = 0.01
"""The share of the phase that must be done by then."""


class FirstRecords(NamedTuple):
    """When the first records of a phase were done, and the records and positions done by then.

    The time before is spent compiling, so it does not count for speeds.
    """

    time: float
    records: float
    positions: float


class Deciding(NamedTuple):
    """Progress within a tier with cycles: *decided* of *total* positions, the last ones at *remoteness*, None at first.

    *again* is the finished share of a forward pass, which is made if there is no space for predecessor lists.
    """

    decided: int
    total: int
    remoteness: int | None
    again: float | None = None


@dataclass(frozen=True)
class Progress:
    """The progress of a job: in the present phase, positions *done* of *total* (None if unknown), and seconds so far.

    `number` is the phase's number, from 1, of `phases`; 0 during preparation. *resumed* positions were done before a
    restart. `overall` is the finished share of all phases, and `seconds_left` the time left for all; None if unknown.
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
    """The present speed in positions a second, if it differs from that of the whole phase."""
    open: int | None = None
    """Positions found and not yet done, if there is no total because others will follow."""
    below: str = ""
    """The variant being solved because the requested one rests on it, and its number of how many."""

    @property
    def rate(self) -> float:
        """Positions a second, without those done before a restart."""
        if self.here is not None:
            return self.here
        return (self.done - self.resumed) / self.seconds if self.seconds else 0.0

    @property
    def share(self) -> float | None:
        """The finished share of the phase, from 0 to 1; None if unknown."""
        return min(self.done / self.total, 1.0) if self.total else None


Listener = Callable[[Progress], None]


class Telling(Protocol):
    """Receives the progress of the work at hand."""

    def working(self, work: float, tier: int | None = None, deciding: Deciding | None = None) -> None:
        """Report records of a tier that are being worked on."""


@dataclass
class Course:
    """The phases of a job with their expected shares of the time, and the time taken so far.

    A record stands for *positions_a_record* positions, as far as known; *exact* if it will not change.
    """

    weights: dict[str, float] = field(default_factory=dict)
    positions_a_record: float = 1.0
    exact: bool = False
    seconds: float = 0.0
    """The time that the phases before have taken."""
    weighed: float = 0.0
    """The weight of the work that those phases did in that time."""
    at_hand: "Phase | None" = None

    def plan(self, **weights: float) -> None:
        """Set other phases, and begin with none of them done."""
        total = sum(weights.values())
        self.weights = {name: weight / total for name, weight in weights.items()}
        self.seconds = self.weighed = 0.0
        self.at_hand = None

    def enter(self, phase: "Phase") -> None:
        """Begin a phase, which ends the one before."""
        before = self.at_hand
        if before and before.name != phase.name and before.name in self.weights and before.done:
            self.seconds += before.worked_seconds
            # What was done before a restart took none of these seconds.
            self.weighed += self.weights[before.name] * (1 - before.resumed / before.done)
        self.at_hand = phase

    def number_of(self, name: str) -> tuple[int, int]:
        """Return a phase's number, from 1, and the number of phases; (0, 0) if the course has no phase of that name."""
        names = list(self.weights)
        return (names.index(name) + 1, len(names)) if name in names else (0, 0)

    def weight_after(self, name: str) -> float:
        """Return the weight of the phases that follow this one."""
        number, phases = self.number_of(name)
        return sum(list(self.weights.values())[number:]) if phases else 0.0

    def overall(self, name: str, share: float | None) -> float | None:
        """Return the finished share of the whole job when this phase has done *share* of itself. If that is None, or
        the course has no such phase, return *share*."""
        if share is None or name not in self.weights:
            return share
        return round(max(0.0, 1 - self.weight_after(name) - (1 - share) * self.weights[name]), 9)

    def estimate_seconds(self, phase: "Phase", share: float | None) -> float | None:
        """Return the seconds until all phases are done; None if unknown."""
        if share is None:
            return None
        # The share of the phase that was done when its clock began does not count.
        before = phase.first.records / phase.total if phase.first and phase.total else 0.0
        passed, share_since = phase.worked_seconds, share - before
        weight, later_weight = self.weights.get(phase.name, 1.0), self.weight_after(phase.name)
        # Case: this phase's speed is known. The later phases take time in proportion to their weights.
        if passed >= QUIET and share_since >= LEAST_SHARE:
            phase_seconds = passed / share_since
            seconds_per_weight = (self.seconds + phase_seconds) / (self.weighed + weight)
            return (1 - share) * phase_seconds + seconds_per_weight * later_weight
        # Case: only the speed of earlier phases is known.
        if self.seconds >= QUIET and self.weighed:
            return self.seconds / self.weighed * ((1 - share) * weight + later_weight)
        return None


@dataclass
class Phase:
    """Counts the finished records of one phase, and reports to a listener now and then."""

    name: str
    listener: Listener | None
    total: int | None = None
    course: Course = field(default_factory=Course)
    done: int = 0
    resumed: int = 0
    positions: float = 0.0
    """The positions done, including those done before a restart (`resumed_positions`)."""
    resumed_positions: float = 0.0
    began: float = field(default_factory=time.monotonic)
    reported: float = 0.0
    first: FirstRecords | None = None
    """None until the first records are done."""
    often: ClassVar[float] = 0.1
    """Seconds between two reports."""

    def __post_init__(self) -> None:
        self.course.enter(self)

    # Counting

    def advance(self, records: int, tier: int | None = None, positions: float | None = None) -> None:
        """Count finished records, and the positions they stand for if known; report now and then."""
        self.count(records, positions)
        self.working(0, tier)

    def restart(self) -> None:
        """Reset all counts, and become the present phase again."""
        self.set_counts((0, 0, 0.0, 0.0))
        self.began, self.first = time.monotonic(), None
        self.course.enter(self)

    def count(self, records: int, positions: float | None = None) -> None:
        """Count finished records without a report."""
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
        """Return all counts, for `set_counts`."""
        return self.done, self.resumed, self.positions, self.resumed_positions

    def set_counts(self, counts: tuple[int, int, float, float]) -> None:
        self.done, self.resumed, self.positions, self.resumed_positions = counts

    def learn(self, positions_a_record: Callable[[], float]) -> None:
        """Update the positions that a record stands for, if a report is due."""
        if self.due and not self.course.exact:
            self.course.positions_a_record = positions_a_record()

    def end(self) -> None:
        """Report that all is done, whatever was expected."""
        self.total = self.done
        if self.done and not self.course.exact:
            self.course.positions_a_record = self.positions / self.done
        self.tell()

    # Telling

    @property
    def due(self) -> bool:
        return self.listener is not None and time.monotonic() - self.reported >= self.often

    @property
    def worked_seconds(self) -> float:
        """Seconds since the first records were done."""
        return time.monotonic() - (self.first.time if self.first else self.began)

    def working(self, work: float, tier: int | None = None, deciding: Deciding | None = None) -> None:
        """Report now and then; *work* counts records that are being worked on."""
        if self.first is None:  # speeds count from here, because what comes before is compiling
            positions = self.positions + work * self.course.positions_a_record
            self.first = FirstRecords(time.monotonic(), self.done + work, positions)
        if self.due:
            self.reported = time.monotonic()
            self.tell(tier, work, deciding)

    def tell(self, tier: int | None = None, work: float = 0, deciding: Deciding | None = None) -> None:
        """Report the progress of the phase to the listener."""
        if not self.listener:
            return
        now, factor = time.monotonic(), self.course.positions_a_record
        # Listeners get positions, though the counts are of records: *factor* converts records not counted yet.
        share = min((self.done + work) / self.total, 1.0) if self.total else None
        done = self.positions + work * factor
        total = None if self.total is None else round(self.positions + (self.total - self.done) * factor)
        if deciding:
            deciding = deciding._replace(decided=round(deciding.decided * factor), total=round(deciding.total * factor))
        passed = self.worked_seconds
        # The speed without the time for compiling.
        speed = (done - self.first.positions) / passed if self.first and passed > QUIET else None
        self.listener(
            Progress(
                self.name, round(done) if total is None else min(round(done), total), total, now - self.began, tier,
                round(self.resumed_positions), *self.course.number_of(self.name), self.course.overall(self.name, share),
                self.course.estimate_seconds(self, share), deciding, speed,
            )
        )  # fmt: skip


def announce(listener: Listener | None, what: str) -> None:
    """Report an activity before anything can be counted."""
    if listener:
        listener(Progress(what, 0, None, 0.0))


FIRST_WARNING, LATER_WARNINGS = 30.0, 8
"""Seconds of exploring until the first warning, and the factor by which each later pause grows."""


class Growth:
    """Counts the waves of an exploration, and warns when it takes long: the rules may never end."""

    def __init__(self) -> None:
        self.began = 0.0
        self.due = FIRST_WARNING
        self.waves = 0

    def count_wave(self, new: int, found: int) -> None:
        """Count a wave that found *new* positions, of *found* in all; warn if exploring has taken long."""
        self.waves += 1
        if self.waves == 1:  # start the clock after it: the first wave compiles the rules
            self.began = time.monotonic()
        if not new or time.monotonic() - self.began < self.due:
            return
        self.due *= LATER_WARNINGS
        grown = f"{found:,} after {self.waves:,} waves, {new:,} of them new in the last one"
        advice = "if play goes on to ever new positions, stop the solve with Ctrl-C and give the rules a limit"
        warnings.warn(f"the number of positions is still growing: {grown}; {advice}", stacklevel=2)
