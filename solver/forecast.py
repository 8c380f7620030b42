"""What a solve will take, told beforehand: positions by tier, time, memory, scratch files and database.

How many positions there are is counted, sampled (`sampling.py`) or, where the game numbers them, known. What each of
them takes was measured, of the solves that are named here; so all is told as a range, from the least to the most that
was seen, and with what it rests on::

    amount    =  fixed + records · ratio · (records / 35 million) ** power          low  <=  likely  <=  high

The same forecast decides whether a solve is refused: where even the least that it takes does not fit the disk.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrograde.games.catalog import rests_on, variant
from retrograde.games.game import METRICS, Game, defines, is_numbered, metric_of, width_of
from retrograde.games.zeroing import TO_PROGRESS
from retrograde.solver.boards.fit import formation_of
from retrograde.solver.listed.explore import position_type
from retrograde.solver.numbered.numbering import Numbering, is_by_slot
from retrograde.solver.numbered.room import room_for, room_for_tiers, room_of
from retrograde.solver.rules.examine import is_for_a_stream, refuse_tuples, start_of
from retrograde.solver.sampling import Sampled, Sampler
from retrograde.solver.slotted.store import memory_of
from retrograde.solver.work.memory import DiskTooSmall, MemoryBudget, format_size
from retrograde.solver.work.progress import Listener, announce
from retrograde.solver.work.sizes import Sizes

if TYPE_CHECKING:
    from retrograde.solver.boards.formation import Formation

COUNTED, SAMPLED = 1_000_000, 300_000
"""Positions up to which a wave is counted, and positions in each of the two samples of a later one."""
QUICK = 100_000, 30_000
"""The same for a look that takes less than a second."""
SECONDS = 10.0
"""Time for counting. (Sampling Connect Four 7×6 takes as long.)"""
SLOTS, SLOT_SECONDS = 2_000, 0.5
"""Slots that are looked at of a numbering, and time for it."""
SECOND_WORKER = 0.75
"""What each further worker adds to the speed."""
INTERPRETED = 5_000
"""Records up to which games are solved interpreted, about."""
CODE_BITS = 14
"""Bits for plies that a solve begins with."""


class Range(NamedTuple):
    """An amount: the least, the likely, and the most, which is None where it is not known."""

    low: float
    likely: float
    high: float | None

    def __add__(self, other: Any) -> "Range":
        """Return the sum with a number or a range."""
        low, likely, high = other if isinstance(other, Range) else (other, other, other)
        return Range(
            self.low + low, self.likely + likely, None if self.high is None or high is None else self.high + high
        )

    def times(self, ratio: "Range | float", power: float = 0.0) -> "Range":
        """Return the product with a number or a range, which holds of 35 million and changes with a power of that."""
        ratios = ratio if isinstance(ratio, Range) else Range(ratio, ratio, ratio)
        low, likely, high = (
            None if a is None or b is None else a * b * (max(a, 1) / 35e6) ** power
            for a, b in zip(self, ratios, strict=True)
        )
        return Range(low or 0.0, likely or 0.0, high)


@dataclass(frozen=True)
class Ratios:
    """What was measured of a way of solving: seconds for each second of expanding, or for each slot; and bytes of
    memory, of scratch files and of the database for each record."""

    seconds: Range
    start: Range
    memory: Range
    fixed_memory: Range
    scratch: Range
    database: Range
    source: str
    power: float = 0.0
    """How what a record takes of the disk changes as games grow."""


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
WORDS = Ratios(
    Range(0.3, 0.6, 1.4), Range(1.5, 2.5, 12.0), Range(1.6, 2.7, 3.4), Range(240 * MB, 260 * MB, 350 * MB),
    Range(0.04, 0.11, 0.24), Range(0.085, 0.11, 0.24), "solves of Connect Four 5×5 to 6×5, word by word", -0.095,
)  # fmt: skip
WORDS_ASIDE = Ratios(
    Range(0.4, 1.0, 2.0), Range(1.5, 2.5, 12.0), Range(0, 0.02, 0.04), Range(1500 * MB, 4500 * MB, 8000 * MB),
    Range(0.10, 0.17, 0.30), Range(0.085, 0.11, 0.24), "a solve of Connect Four 8×4, word by word in scratch files",
    -0.095,
)  # fmt: skip
NUMBERED = Ratios(
    Range(0.7e-6, 1.3e-6, 2.2e-6), Range(0.8, 1.2, 20.0), Range(11.0, 12.0, 23.0), Range(165 * MB, 185 * MB, 215 * MB),
    Range(2.0, 4.0, 4.0), Range(0.08, 0.16, 0.33), "solves of chess slot by slot (KRK to KRBKR)",
)  # fmt: skip
BY_SETS = Ratios(
    Range(0.06e-6, 0.12e-6, 0.35e-6), Range(0.8, 1.2, 20.0), Range(0, 0, 0), Range(165 * MB, 180 * MB, 215 * MB),
    Range(2.0, 4.0, 4.0), Range(0.08, 0.16, 0.33), "solves of chess set by set (KRK to KRBKR)",
)  # fmt: skip
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
"""What was measured of positions listed in memory, by metric."""
CACHE = 250 * MB
"""Scratch files that a stream keeps in memory."""
TASK = 150 * MB
"""What a worker takes in a stream of many positions."""
LINK = Range(0.0, 4.5, 6.5)
"""Bytes for each child in a tier with cycles, where the rules do not give the parents: in memory while there is enough,
else in scratch."""


ASIDE = 3.0
"""Bytes for each position of a tier with cycles that are in memory where all lists lie in scratch."""
LINKED = Range(0.0, 12.0, 40.0)
"""Bytes for each child in a tier with cycles, where another metric than remoteness is computed."""


@dataclass
class Estimate:
    """What a solve will take. `records` counts symmetric positions once, `positions` each.

    `waves` are records by the plies from the start, `tiers` by tier. `counted` waves are not estimated; `complete` says
    that these are all, `open` that nothing is known beyond them, so that all is told of these alone. `ranges` has the
    least and the most of each amount, by its name, the most None where it is not known; `rests_on` says in sentences
    where all that comes from. Where play comes back, a record has so many `links`.

    `worker` and `wire` are of solves by ranges on a cluster (see forecast_ranges.py): memory of each worker, and bytes
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


def estimate(
    game: Game, workers: int = 1, counted: int = COUNTED, sampled: int = SAMPLED, in_memory: int = 4_000_000,
    listener: Listener | None = None, metric: str | None = None, against: bool = False,
    is_plain: Callable[[Game], bool] = lambda game: False,
) -> Estimate:  # fmt: skip
    """Return what a solve of a game will take with so many *workers*, by a *metric*, the game's own if None, or
    *against* a model.

    Waves of up to *counted* positions are counted, later ones estimated from *sampled* positions each; games of up to
    *in_memory* records are solved in memory. *listener* is called with Progress. Raises RuleError where the rules break
    the contract. *is_plain* tells of a game for a stream whether it will be solved word by word instead.
    """
    announce(listener, "reading the rules")
    metric = metric or metric_of(game)
    if metric not in (METRICS[0], "expectation") or against:
        refuse_tuples(game, "solved in lists")
    if metric == "expectation" and not against and is_by_slot(game, 0 if width_of(game) else Sizes().listed_slots):
        return of_slots(game, workers)
    if is_numbered(game) and metric in (METRICS[0], *TO_PROGRESS):
        return of_numbered(game, workers, metric)
    found = Sampler(game, counted, sampled, SECONDS, listener).run()
    records = Range(found.low, found.records, found.high)
    result = Estimate(0, 0, [round(wave) for wave in found.waves], {k: round(n) for k, n in found.tiers.items()})
    result.counted, result.complete, result.open = found.counted, found.complete, found.open
    listed = metric != METRICS[0]
    result.links = found.links if found.returns else 0.0
    result.streamed = not listed and found.records > in_memory and not found.returns and is_for_a_stream(game)
    result.put("records", records)
    result.put("positions", records.times(found.symmetric))
    if found.complete:
        result.positions = round(found.symmetric * result.records)
    ratios = STREAMED if result.streamed else CYCLIC if found.returns else LISTED
    words = result.streamed and is_plain(game)
    if words:
        ratios = WORDS if found.records * WORDS.memory.likely < MemoryBudget().left() else WORDS_ASIDE
    if listed:
        ratios = BY_METRIC[metric]
        records = records.times(2.0 if against else 1.0)  # a position has two seats
    work = records.times(found.expansion).times(ratios.seconds).times(1 / speed_of(workers))
    memory = records.times(ratios.memory) + ratios.fixed_memory
    if result.streamed and not words:
        memory += Range(0, 1, 1).times(workers * TASK * min(1, found.records / 150e6))
        memory += Range(0, 1, 1).times(CACHE * min(1, found.records / 500e6))
    linked = (found.returns and (listed or not defines(game, "parents"))) or metric == "utilities"
    links = records.times(LINKED if listed else LINK).times(found.links if linked else 0.0)
    memory += links
    if found.complete and found.records <= INTERPRETED and not listed:
        result.put("seconds", Range(0.1, 0.4, 1.5))
        memory = Range(50 * MB, 58 * MB, 70 * MB)
    else:
        result.put("seconds", work + ratios.start)
    result.put("memory", memory)
    item = 1 if result.streamed else np.dtype(position_type(start_of(game))).itemsize + 4
    put_disk(result, records, ratios, item, Range(0.0, 0.0, links.high))
    result.rests_on = [*how_counted(found, counted, sampled), f"ratios of {ratios.source}"]
    if found.returns and not listed:
        least = (records.times(ASIDE) + ratios.fixed_memory).low
        result.rests_on.append(
            f"solve takes the memory that is named where it is there; where there is less, but {format_size(least)} at "
            "least for so many positions, lists and links lie in scratch files"
        )
    return result


NOTHING = Range(0.0, 0.0, 0.0)


def put_disk(result: Estimate, records: Range, ratios: Ratios, scratch_item: int, beside: Range = NOTHING) -> None:
    """Note what so many records take of the disk, and what there is *beside* them in scratch."""
    result.put("scratch", records.times(ratios.scratch, ratios.power).times(float(scratch_item)) + beside)
    result.put("database", records.times(ratios.database, ratios.power) + 4_000)


def speed_of(workers: int) -> float:
    """Return how many times as fast as one some workers are."""
    return 1 + SECOND_WORKER * (workers - 1)


def how_counted(found: Sampled, counted: int, sampled: int) -> list[str]:
    """Return in sentences where the number of positions comes from."""
    last = found.counted - 1
    if found.complete:
        return ["all positions, counted"]
    if found.open:
        why = "play comes back to what it has left" if found.returns else "there was no time for more"
        growth = found.waves[-1] / found.waves[-2]
        how = "dwindle" if found.high is not None else "have not dwindled yet" if growth < 1 else "still grow"
        return [f"positions counted up to {last} plies from the start, no further, for {why}",
                f"the waves {how}, the last one being {growth:.2g} times the one before"]  # fmt: skip
    return [
        f"positions counted up to {last} plies from the start, where waves have more than {counted:,} records",
        f"from there two samples of {sampled:,} of each wave, raised by what such samples were too low by for Connect "
        "Four 5×5 to 6×6; of other games the range may be wrong",
    ]


def of_numbered(game: Game, workers: int, metric: str = METRICS[0]) -> Estimate:
    """Return what a solve of a game that numbers its positions will take, by remoteness or one of
    TO_PROGRESS."""
    numbering = Numbering.own(game)
    slots = numbering.slots
    sample = numbering.sample(game, SLOTS, SLOT_SECONDS)
    result = Estimate(0, 0, complete=sample.slots >= slots)
    chance = 3 * ((sample.slots - sample.records) / max(sample.records, 1) / sample.slots) ** 0.5
    for name, seen in (("records", sample.records), ("positions", sample.positions)):
        likely = seen / sample.slots * slots
        result.put(name, Range(likely * max(1 - chance, 0), likely, likely * (1 + chance)))
    by_sets = sum(numbering.size(row) for row, formation in formations(game, numbering) if formation)
    kinds = [(ratios, part) for ratios, part in ((NUMBERED, slots - by_sets), (BY_SETS, by_sets)) if part]
    work = sum((Range(part, part, part).times(ratios.seconds) for ratios, part in kinds), NOTHING)
    result.put("seconds", work.times(1 / speed_of(workers)) + NUMBERED.start)
    result.put("memory", memory_of_numbered(game, numbering, metric) + NUMBERED.fixed_memory)
    put_disk(result, Range(slots, slots, slots), NUMBERED, 1)
    least = room_for_tiers(game, numbering, CODE_BITS, True, metric).least + NUMBERED.fixed_memory.likely
    result.rests_on = [
        f"{slots:,} slots in the game's own numbering, {sample.slots:,} of them looked at",
        *(f"{f'{part:,} slots: ' * (len(kinds) > 1)}ratios of {ratios.source}" for ratios, part in kinds),
        f"solve asks for the most memory that is named; where there is less, but {format_size(least)} for the largest "
        "tier, scores lie in a scratch file",
    ]
    if others := rests_on(game):
        result.rests_on.append(f"the databases of {', '.join(others)}, which are solved first where they are not there")
    return result


def of_set(estimates: list[Estimate]) -> Estimate:
    """Return what it will take to solve numbered games one after another, from what each will take: sums, but for the
    memory and the scratch files, of which there is no more than one game's at a time."""
    result = Estimate(0, 0, complete=all(each.complete for each in estimates))
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


def formations(game: Game, numbering: Numbering) -> Iterator[tuple[int, "Formation | None"]]:
    """Yield for the row of each tier what stands on the board where it is solved set by set, else None."""
    for row, tier in enumerate(numbering.tiers.tolist()):
        yield row, formation_of(game, tier, CODE_BITS)


def memory_of_numbered(game: Game, numbering: Numbering, metric: str) -> Range:
    """Return the memory of a solve of a game that numbers its positions, beside what is always taken: two bytes for
    the score of each slot, and what the tier that takes most has beside."""
    beside = [NOTHING]
    for row, formation in formations(game, numbering):
        size = numbering.size(row)
        room = room_for(game, size, CODE_BITS)
        slow = Range(room.least - room.tasks, (room.least + room.most) // 2 - room.tasks, room.most)
        taken = formation and room_of(formation, metric)
        quick = taken and Range(0, max(taken - 2 * size, size // 2), taken)
        beside.append(quick or slow)
    return Range(*(max(amounts) for amounts in zip(*beside, strict=True))) + 2 * numbering.slots


def of_slots(game: Game, workers: int) -> Estimate:
    """Return what it will take to compute expectations slot by slot."""
    numbering = Numbering.of(game)
    slots = Range(numbering.slots, numbering.slots, numbering.slots)
    result = Estimate(0, 0, complete=True)
    for name in ("records", "positions"):
        result.put(name, slots)
    result.put("seconds", slots.times(BY_SLOT.seconds).times(1 / speed_of(workers)) + BY_SLOT.start)
    least = memory_of(game, numbering)
    most = int(np.diff(numbering.starts).max())
    scripts = Range(0, 60, 120).times(float(most))
    result.put("memory", Range(least, least, least) + scripts + BY_SLOT.fixed_memory)
    put_disk(result, slots, BY_SLOT, 1)
    result.rests_on = [
        f"{numbering.slots:,} slots in the game's own numbering; how long one takes is a matter of the rules",
        f"ratios of {BY_SLOT.source}; scripts of a tier with cycles are written where there is memory for them",
    ]
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
