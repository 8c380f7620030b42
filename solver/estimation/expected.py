"""Estimates: what a solve will take, or several one after another, and whether it fits the disk."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game
from retrograde.solver.estimation.amounts import NOTHING, NUMBERED, STREAMED, Range, Ratios
from retrograde.solver.runtime.memory import DiskTooSmall, format_size


@dataclass
class Estimate:
    """What a solve will take. `records` counts symmetric positions once, `positions` each.

    `waves` are records by the plies from the start, `tiers` by tier. `counted` waves are not estimated; `complete` says
    that these are all, `open` that nothing is known beyond them, so that all is told of these alone. `ranges` has the
    least and the most of each amount, by its name, the most None where it is not known; `rests_on` says in sentences
    where all that comes from. With less than the `least_memory` a solve is refused. Where play comes back, a record has
    so many `links`.

    `worker` and `wire` are of solves by ranges on a cluster (see ranges.py): memory of each worker, and bytes
    that are sent for each step.
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
        """What is likely to be written."""
        return self.scratch + self.database

    @property
    def least_disk(self) -> float:
        """The least that will be written."""
        return sum(self.ranges[name][0] for name in ("scratch", "database"))

    def fits(self, free: float) -> bool:
        """Tell whether at least the least that will be written fits so many bytes."""
        return self.least_disk <= free

    def put(self, name: str, amount: Range) -> None:
        """Note an amount, and its range."""
        kind = float if name == "seconds" else round
        setattr(self, name, kind(amount.likely))
        self.ranges[name] = kind(amount.low), None if amount.high is None else kind(amount.high)


def put_disk(result: Estimate, records: Range, ratios: Ratios, scratch_item: int, beside: Range = NOTHING) -> None:
    """Note what so many records take of the disk, and what there is *beside* them in scratch."""
    result.put("scratch", records.times(ratios.scratch, ratios.power).times(float(scratch_item)) + beside)
    result.put("database", records.times(ratios.database, ratios.power) + 4_000)


def of_set(estimates: list[Estimate]) -> Estimate:
    """Return what it will take to solve numbered games one after another, from what each will take: sums, but for the
    memory and the scratch files, of which there is no more than one game's at a time."""
    result = Estimate(0, 0, complete=all(each.complete for each in estimates))
    result.least_memory = max((each.least_memory for each in estimates), default=0)
    for name in ("records", "positions", "seconds", "database", "memory", "scratch"):
        each = [Range(each.ranges[name][0], getattr(each, name), each.ranges[name][1]) for each in estimates]
        if name in ("memory", "scratch"):
            result.put(name, Range(*(max(amounts) for amounts in zip(NOTHING, *each, strict=True))))
        else:
            result.put(name, sum(each, NOTHING))
    starts = max(len(estimates) - 1, 0)  # of the program: there is one
    low, high = result.ranges["seconds"]
    once = Range(low, result.seconds, high) + NUMBERED.start.times(-starts)
    result.put("seconds", once)
    result.rests_on = [f"estimates of the variants that are not solved yet, {len(estimates)}, one after another"]
    return result


def streamed_estimate(records: int) -> Estimate:
    """Return what solving so many records in a stream takes of the disk; all else is left open."""
    result = Estimate(records, records, streamed=True)
    put_disk(result, Range(records, records, records), STREAMED, 1)
    return result


def check_disk(game: Game, folder: Path, expected: Estimate, written: int) -> None:
    """Raise DiskTooSmall where not even the least that a solve is expected to write fits the disk of a folder.

    So much of it is *written* already.
    """
    free = shutil.disk_usage(folder).free
    if not expected.fits(free + written):
        need = f"about {format_size(expected.disk)}, at least {format_size(expected.least_disk)},"
        raise DiskTooSmall(
            f"solving {variant(game)} needs {need} on the disk of {str(folder)!r}, and {format_size(free)} are free; "
            "give --database on another disk, or choose a smaller variant"
        )
