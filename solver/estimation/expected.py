"""Estimates: what a solve will take, or several in a row, and whether it fits the disk."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game
from retrograde.solver.estimation.amounts import NOTHING, NUMBERED, STREAMED, Range, Ratios
from retrograde.solver.runtime.memory import DiskTooSmall, format_size


@dataclass
class Estimate:
    """What a solve will take: likely amounts, in bytes and seconds, and their `ranges`.

    `records` counts symmetric positions once, `positions` counts each. `waves` are records by plies from the start,
    `tiers` records by tier. `counted` waves are counted, further ones estimated. `complete`: the counted waves are all.
    `open`: nothing is known beyond them, so that all amounts concern these alone. `links` is the number of children of
    a record, if play can return to a tier. With less than `least_memory`, a solve is refused.

    `ranges` has (least, most) of each amount by name; most is None if unknown. `rests_on` says in sentences where the
    numbers come from. `worker` and `wire` are for solves by ranges on a cluster (see ranges.py): bytes of memory of
    each worker, and bytes sent for each remoteness.
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
        """Return the bytes likely to be written."""
        return self.scratch + self.database

    @property
    def least_disk(self) -> float:
        """Return the least bytes that will be written."""
        return sum(self.ranges[name][0] for name in ("scratch", "database"))

    def fits(self, free: float) -> bool:
        """Return whether at least the least amount fits in *free* bytes."""
        return self.least_disk <= free

    def put(self, name: str, amount: Range) -> None:
        """Set an amount and its range."""
        kind = float if name == "seconds" else round
        setattr(self, name, kind(amount.likely))
        self.ranges[name] = kind(amount.low), None if amount.high is None else kind(amount.high)


def put_disk(result: Estimate, records: Range, ratios: Ratios, scratch_item: int, beside: Range = NOTHING) -> None:
    """Set what *records* take of the disk. *beside* is added to the scratch files."""
    result.put("scratch", records.times(ratios.scratch, ratios.power).times(float(scratch_item)) + beside)
    result.put("database", records.times(ratios.database, ratios.power) + 4_000)


def of_set(estimates: list[Estimate]) -> Estimate:
    """Return the estimate of solving several numbered games in a row, from their estimates.

    Amounts are summed. Memory and scratch files are the maximum instead, since one game at a time uses them.
    """
    result = Estimate(0, 0, complete=all(each.complete for each in estimates))
    result.least_memory = max((each.least_memory for each in estimates), default=0)
    for name in ("records", "positions", "seconds", "database", "memory", "scratch"):
        each = [Range(each.ranges[name][0], getattr(each, name), each.ranges[name][1]) for each in estimates]
        # These are used by one game at a time.
        if name in ("memory", "scratch"):
            result.put(name, Range(*(max(amounts) for amounts in zip(NOTHING, *each, strict=True))))
        else:
            result.put(name, sum(each, NOTHING))
    starts = max(len(estimates) - 1, 0)  # the program starts once, not for each game
    low, high = result.ranges["seconds"]
    once = Range(low, result.seconds, high) + NUMBERED.start.times(-starts)
    result.put("seconds", once)
    result.rests_on = [f"estimates of the variants that are not solved yet, {len(estimates)}, one after another"]
    return result


def streamed_estimate(records: int) -> Estimate:
    """Return what the streamed method takes of the disk for *records* records. Other amounts stay 0."""
    result = Estimate(records, records, streamed=True)
    put_disk(result, Range(records, records, records), STREAMED, 1)
    return result


def check_disk(game: Game, folder: Path, expected: Estimate, written: int) -> None:
    """Raise DiskTooSmall if a folder's disk cannot hold even the least that a solve will write.

    *written* bytes of that have been written already.
    """
    free = shutil.disk_usage(folder).free
    if not expected.fits(free + written):
        need = f"about {format_size(expected.disk)}, at least {format_size(expected.least_disk)},"
        raise DiskTooSmall(
            f"solving {variant(game)} needs {need} on the disk of {str(folder)!r}, and {format_size(free)} are free; "
            "give --database on another disk, or choose a smaller variant"
        )
