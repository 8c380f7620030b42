"""Amounts as ranges, estimates, and the measured ratios from which estimates are made."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game
from retrograde.solver.runtime.memory import DiskTooSmall, format_size
from retrograde.solver.runtime.sizes import Sizes

PLIES_BITS = Sizes().plies_bits[0]
"""Bits for plies that a solve begins with."""
MEASURED = 35e6
"""Records of the solves from which the ratios of Range.times come."""
SECOND_WORKER = 0.75
"""Speed that each further worker adds, with the speed of the first as 1."""


class Range(NamedTuple):
    """An amount as its least, likely and greatest number, as in Range(8, 22, 32); the greatest is None if unknown."""

    low: float
    likely: float
    high: float | None

    @classmethod
    def exactly(cls, amount: float) -> "Range":
        """Return the range that contains only *amount*."""
        return cls(amount, amount, amount)

    @classmethod
    def greatest(cls, ranges: "Iterable[Range]") -> "Range":
        """Return the maximum of some ranges, number by number; 0 if there are none."""
        return cls(*(max(amounts) for amounts in zip(NOTHING, *ranges, strict=True)))

    def __add__(self, other: Any) -> "Range":
        """Return the sum with a number or a range."""
        low, likely, high = other if isinstance(other, Range) else Range.exactly(other)
        greatest = None if self.high is None or high is None else self.high + high
        return Range(self.low + low, self.likely + likely, greatest)

    def times(self, ratio: "Range | float", power: float = 0.0) -> "Range":
        """Return the product with a number or a range. With *power*, the ratio changes with the amount: it holds for
        MEASURED, and is multiplied by (amount / MEASURED) ** power."""
        ratios = ratio if isinstance(ratio, Range) else Range.exactly(ratio)
        low, likely, high = (
            None if amount is None or each is None else amount * each * (max(amount, 1) / MEASURED) ** power
            for amount, each in zip(self, ratios, strict=True)
        )
        return Range(low or 0.0, likely or 0.0, high)


NOTHING = Range(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Ratios:
    """What was measured of one method: seconds, and bytes for each record.

    `seconds` are for each second that the rules take or, if the game numbers its positions, for each slot. `start` is
    seconds before the work begins. `memory`, `scratch` and `database` are bytes for each record, `fixed_memory` bytes
    for the process. `source` names the solves that were measured.
    """

    seconds: Range
    start: Range
    memory: Range
    fixed_memory: Range
    scratch: Range
    database: Range
    source: str
    power: float = 0.0
    """How disk bytes for each record change with the number of records (see `Range.times`)."""

    def in_words(self, words: int) -> "Ratios":
        """Return the ratios for positions of *words* words, as measured with hexapawn 5×6 in one and two words."""
        more = words - 1
        return replace(
            # The least time is that of positions which can be packed into ints.
            self, seconds=self.seconds.times(Range(1.0, 1 + 0.6 * more, 1 + 1.6 * more)),
            memory=self.memory + Range(8.0, 24.0, 48.0).times(more),
            database=self.database.times(Range(1.0, 1 + 0.3 * more, words)),
        )  # fmt: skip


MB = 1e6
LISTED = Ratios(
    Range(4.0, 8.0, 14.0), Range(0.8, 1.2, 3.0), Range(8, 22, 32), Range(150 * MB, 175 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.4, 0.52, 0.75), "solves of Connect Four 4×4 to 5×4",
)  # fmt: skip
CYCLIC = Ratios(
    Range(6.0, 12.0, 30.0), Range(0.8, 1.2, 3.0), Range(20, 26, 45), Range(150 * MB, 175 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.1, 0.7, 1.1), "solves of dodgem 3×3 and 4×4 and the L-game",
)  # fmt: skip
STREAMED = Ratios(
    Range(2.0, 2.9, 4.5), Range(1.0, 1.6, 12.0), Range(0.02, 0.035, 0.05), Range(240 * MB, 250 * MB, 330 * MB),
    Range(0.10, 0.14, 0.30), Range(0.085, 0.11, 0.24), "solves of Connect Four 5×5 to 6×6, and a plain file of 5×5",
    -0.095,
)  # fmt: skip
STREAMED_IN_WORDS = Ratios(
    Range(3.0, 5.5, 9.0), Range(1.0, 1.6, 12.0), Range(0.05, 3.0, 14.0), Range(240 * MB, 290 * MB, 350 * MB),
    Range(0.5, 1.0, 2.5), Range(0.4, 1.35, 3.0), "solves of Connect Four 5×4 and 6×4 in two words",
)  # fmt: skip
SETWISE = Ratios(
    Range(0.15, 0.28, 0.9), Range(1.0, 1.3, 12.0), Range(1.4, 1.9, 2.6), Range(170 * MB, 190 * MB, 300 * MB),
    Range(0.04, 0.11, 0.24), Range(0.085, 0.11, 0.24), "solves of Connect Four 5×5 to 6×5, word by word", -0.095,
)  # fmt: skip
SETWISE_ON_DISK = Ratios(
    Range(0.15, 0.32, 1.2), Range(1.0, 2.5, 20.0), NOTHING, Range.exactly(1500 * MB),
    Range(0.10, 0.17, 0.30), Range(0.085, 0.11, 0.24),
    "solves of Connect Four 6×6 and 8×4, word by word in scratch files", -0.095,
)  # fmt: skip
SETWISE_SHARE = 0.75
"""The share of the free memory that such a solve is likely to use, if that is more than its `fixed_memory`."""
NUMBERED = Ratios(
    Range(0.7e-6, 1.3e-6, 2.2e-6), Range(0.8, 1.2, 20.0), Range(11.0, 12.0, 23.0), Range(165 * MB, 185 * MB, 215 * MB),
    Range(2.0, 4.0, 4.0), Range(0.08, 0.16, 0.33), "solves of chess slot by slot (KRK to KRBKR)",
)  # fmt: skip
BY_SETS = Ratios(
    Range(0.06e-6, 0.12e-6, 0.35e-6), Range(0.8, 1.2, 20.0), Range(0, 0, 0), Range(165 * MB, 180 * MB, 215 * MB),
    Range(2.0, 4.0, 4.0), Range(0.08, 0.16, 0.33), "solves of chess set by set (KRK to KRBKR)",
)  # fmt: skip
BY_SHAPES = Ratios(
    Range(0.08e-6, 0.25e-6, 0.6e-6), Range(0.8, 1.2, 20.0), Range(0, 0, 0), Range(165 * MB, 180 * MB, 215 * MB),
    Range(2.0, 4.0, 4.0), Range(0.08, 0.16, 0.33), "solves of men's morris, Teeko and Quixo shape by shape",
)  # fmt: skip
BY_ORDERS = replace(
    BY_SHAPES, seconds=Range(0.2e-6, 0.4e-6, 1.0e-6), source="solves of the pocket cube and of the corners of the cube"
)
BY_SLOT = Ratios(
    Range(10e-6, 40e-6, None), Range(10, 15, 30), Range(0, 0, 0), Range(165 * MB, 235 * MB, 300 * MB),
    Range(16, 16, 16), Range(0.01, 6.5, 9), "solves of the Royal Game of Ur with two and three pieces",
)  # fmt: skip
SCORED = Ratios(
    Range(3, 15, 80), Range(1.5, 4, 15), Range(40, 95, 150), Range(165 * MB, 190 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.1, 0.7, 2.0), "solves of Connect Four 5×4 and dodgem 4×4 by score and draw level",
)  # fmt: skip
IMPARTIAL = Ratios(
    Range(3, 15, 80), Range(1.5, 5, 15), Range(40, 95, 150), Range(165 * MB, 200 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.1, 0.8, 2.0), "solves of cram 4×4 and 5×4 by nimber",
)  # fmt: skip
EXPECTED = Ratios(
    Range(10, 110, 600), Range(2, 6, 20), Range(30, 110, 260), Range(165 * MB, 200 * MB, 240 * MB),
    Range(0.5, 1.0, 3.0), Range(0.1, 4.0, 24.0),
    "solves of Can't Stop 3,2, Pig to 40 and the Royal Game of Ur with three pieces",
)  # fmt: skip
BY_METRIC = {"score": SCORED, "drawlevel": SCORED, "nimber": IMPARTIAL, "utilities": SCORED, "expectation": EXPECTED}
"""Measured ratios of solves with positions listed in memory, by metric."""
CACHE = 250 * MB
"""Bytes of scratch files that the streamed method caches in memory."""
TASK = 150 * MB
"""Bytes that a worker of the streamed method takes, in games of many positions."""
PREDECESSOR = Range(0.0, 4.5, 6.5)
"""Bytes for each child in a tier with cycles, if the rules do not give parents: in memory if it fits, else in scratch
files."""
COMPILED = 295 * MB
"""Memory without which no rules are compiled: the process and the compiler (see engine.py)."""
COMPILED_ON_DISK = 370 * MB
"""The same if all lists lie in scratch files, including tasks. (350 MB suffice for 3.5 million positions, 410 for 5.2
million.)"""
ON_DISK = 3.0
"""Bytes for each position of a tier with cycles that stay in memory if all lists lie in scratch files."""
PREDECESSOR_BY_METRIC = Range(0.0, 12.0, 40.0)
"""Bytes for each child in a tier with cycles, for other metrics than remoteness."""


def speed_of(workers: int) -> float:
    """Return the speed of *workers* workers, with the speed of one as 1."""
    return 1 + SECOND_WORKER * (workers - 1)


@dataclass
class Estimate:
    """What a solve will take: likely amounts, in bytes and seconds, and their `ranges`.

    `records` counts symmetric positions once, `positions` counts each. `waves` are records by plies from the start,
    `tiers` records by tier. The first `counted` waves are counted, further ones estimated. `complete`: the counted
    waves are all. `open`: nothing is known beyond them, so that all amounts concern these alone. `links` is the number
    of children of a record, if play can return to a tier. With less than `least_memory`, a solve is refused.

    `ranges` has (least, most) of each amount by name; most is None if unknown. `rests_on` says in sentences where the
    numbers come from. `worker` and `wire` are for solves by ranges on a cluster (`ranges.py`): bytes of memory of each
    worker, and bytes sent for each remoteness.
    """

    records: int
    positions: int
    waves: list[int] = field(default_factory=list)
    tiers: dict[int, int] = field(default_factory=dict)
    counted: int = 0
    complete: bool = False
    open: bool = False
    streamed: bool = False
    seconds: float = 0.0
    memory: int = 0
    least_memory: int = 0
    scratch: int = 0
    database: int = 0
    links: float = 0.0
    worker: int = 0
    wire: int = 0
    ranges: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    rests_on: list[str] = field(default_factory=list)

    @property
    def disk(self) -> int:
        """The bytes likely to be written."""
        return self.scratch + self.database

    @property
    def least_disk(self) -> float:
        """The least bytes that will be written."""
        return sum(self.ranges[name][0] for name in ("scratch", "database"))

    def fits(self, free: float) -> bool:
        """Return whether *free* bytes of disk hold at least the least that will be written."""
        return self.least_disk <= free

    def put(self, name: str, amount: Range) -> None:
        """Set the attribute *name*, such as "memory", and its range from *amount*."""
        kind = float if name == "seconds" else round
        setattr(self, name, kind(amount.likely))
        self.ranges[name] = kind(amount.low), (None if amount.high is None else kind(amount.high))

    def amount(self, name: str) -> Range:
        """Return the attribute *name* and its range as a Range."""
        low, high = self.ranges[name]
        return Range(low, getattr(self, name), high)


def put_disk(result: Estimate, records: Range, ratios: Ratios, scratch_item: int, more: Range = NOTHING) -> None:
    """Set what *records* take of the disk: scratch items of *scratch_item* bytes, *more* scratch bytes, the
    database."""
    result.put("scratch", records.times(ratios.scratch, ratios.power).times(float(scratch_item)) + more)
    result.put("database", records.times(ratios.database, ratios.power) + 4_000)


def add_estimates(estimates: list[Estimate]) -> Estimate:
    """Return the estimate of solving several numbered games one after another, from their estimates. Amounts are
    summed, but memory and scratch files are the maximum: one game at a time uses them."""
    result = Estimate(0, 0, complete=all(each.complete for each in estimates))
    result.least_memory = max((each.least_memory for each in estimates), default=0)
    for name in ("records", "positions", "seconds", "database"):
        result.put(name, sum((each.amount(name) for each in estimates), NOTHING))
    for name in ("memory", "scratch"):
        result.put(name, Range.greatest(each.amount(name) for each in estimates))
    starts = max(len(estimates) - 1, 0)  # the program starts once, not for each game
    result.put("seconds", result.amount("seconds") + NUMBERED.start.times(-starts))
    result.rests_on = [f"estimates of the variants that are not solved yet, {len(estimates)}, one after another"]
    return result


def streamed_estimate(records: int, words: int = 1) -> Estimate:
    """Return what the streamed method takes of the disk for *records* records, whose positions have so many words.
    Other amounts stay 0."""
    result = Estimate(records, records, streamed=True)
    put_disk(result, Range.exactly(records), STREAMED_IN_WORDS if words > 1 else STREAMED, 1)
    return result


def check_disk(game: Game, folder: Path, expected: Estimate, written: int) -> None:
    """Raise DiskTooSmall if a folder's disk, with *written* bytes written so far, cannot hold the least of a solve."""
    free = shutil.disk_usage(folder).free
    if not expected.fits(free + written):
        needed = f"about {format_size(expected.disk)}, at least {format_size(expected.least_disk)},"
        raise DiskTooSmall(
            f"solving {variant(game)} needs {needed} on the disk of {str(folder)!r}, and {format_size(free)} are free; "
            "give --database on another disk, or choose a smaller variant"
        )
