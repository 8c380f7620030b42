"""Games whose tiers follow one another are solved in a stream: sorted lists on disk, and little of them in memory.

Forward, from the start: a wave of tiers is made from the one before. Where a game codes its positions so that a move
keeps their order, the children of a sorted list by one move come out sorted, and those of a tier are merged, doubles
dropped; other children are sorted first. Positions where the game is over are counted and not kept, for the rules
recognise them. Backward, from the last wave: the positions of a list and their children by one move run along
together, so that the children's scores are found as fast as they are read.

What a list is worth is kept as *steps*: positions from which on, in ascending order, the outcome is another one.
Between the positions of a tier nothing needs to be right, so that a step may begin anywhere between two of them. A
list of steps takes a few bits for each position, and is read in order like the list itself. The database holds steps,
too; without those for positions where the player to move wins in one, which the rules recognise as well.

It works where every move leads from one wave of tiers to the next. Where it does not, Unfit is raised, and the
game is solved in memory (see `solver/listed/`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from retrograde.databases.layout import LegendRow
from retrograde.databases.write import SteppedSolved
from retrograde.games.game import DRAW, Game, Value
from retrograde.solver.estimate import QUICK, check_disk, estimate
from retrograde.solver.outcomes.score import CLASSES
from retrograde.solver.rules import compiled
from retrograde.solver.streamed import lists as list_kernels
from retrograde.solver.streamed.backward import Backward
from retrograde.solver.streamed.forward import Forward
from retrograde.solver.streamed.log import StreamLog
from retrograde.solver.streamed.segments import Arena, Segment, Tier
from retrograde.solver.work.journal import Log
from retrograde.solver.work.scratch import DamagedScratch, Scratch
from retrograde.solver.work.work import Unfit, Work

Array = np.ndarray[Any, Any]

CACHED = 1 << 28
"""Octets of scratch files kept in memory, at most, where there is so much."""
TOGETHER = 1 << 16
"""Steps that are given to the database's writer at a time, at least."""


@dataclass(frozen=True)
class Streamed:
    """Positions as sorted lists on disk, values as steps."""

    name: ClassVar[str] = "streamed"

    def solve(self, game: Game, work: Work) -> SteppedSolved:
        """Return the solved game; raise Unfit where its tiers do not follow one another, or it is small.

        Raises DiskTooSmall, or DamagedScratch where what was put aside is not there, or not as the log says.
        """
        log = work.log("stream")
        resumed = bool(log.resumed)
        try:
            return self.attempt(game, work, log)
        except DamagedScratch:
            if not resumed:  # what this very solve has put aside: the disk is at fault
                raise
            StreamLog(log).forget_all()
            log.resumed.clear()
            return self.attempt(game, work, log)

    def attempt(self, game: Game, work: Work, log: Log) -> SteppedSolved:
        """Return the solved game, going on from what the log says is there."""
        compiled.prepare(game)
        stream_log = StreamLog(log)
        cached = min(CACHED, max(work.budget.left() // 16, 0))
        scratch = work.until_written(Scratch(work.scratch, cached, fresh=not stream_log.resumed))
        stream_log.believe(scratch)
        expected = work.executor.submit(
            estimate, game, work.workers, *QUICK
        )  # while the first waves keep one worker busy

        def waves() -> list[int]:
            written = sum(file.stat().st_size for file in work.scratch.iterdir())
            check_disk(game, work.scratch.parent, expected.result(), written)
            return expected.result().waves

        forward = Forward(game, scratch, work, stream_log)
        forward.explore(work.phase("exploring"), waves)
        total = sum(tier.count for wave in forward.waves for tier in wave.values())
        if total + forward.over[:, 0].sum() <= work.sizes.in_memory:
            raise Unfit
        backward = Backward(forward, work)
        backward.solve(work.phase("solving", total))
        return stepped(game, forward, backward, scratch)


def stepped(game: Game, forward: Forward, backward: Backward, scratch: Scratch) -> SteppedSolved:
    """Return the solved game for the database's writer."""
    legend, rows = legend_of(forward.over, backward.tally)
    tiers = sorted((tier for wave in forward.waves for tier in wave.values()), key=lambda tier: tier.number)
    tiers = [tier for tier in tiers if any(records.length for records in tier.records)]
    counts = [sum(records.length for records in tier.records) - doubles(tier) for tier in tiers]
    firsts = [next(records.first for records in tier.records if records.length) for tier in tiers]
    (start,) = np.flatnonzero(backward.last_tally[:, 0]).tolist()
    return SteppedSolved(
        np.array([tier.number for tier in tiers], np.int64), np.array(counts, np.int64), np.array(firsts, np.int64),
        np.array([tier.mask for tier in tiers], np.int64), legend, steps(tiers, scratch, rows), int(rows[start]),
    )  # fmt: skip


def legend_of(over: Array, tally: Array) -> tuple[list[LegendRow], Array]:
    """Return the legend, and for each code its row; from what is known of primitive values, and of codes."""
    found: dict[tuple[Value, int], Any] = {}
    for value in np.flatnonzero(over[:, 0]).tolist():
        found[Value(value), -1 if value == DRAW else 0] = over[value]
    codes = {}
    for code in np.flatnonzero(tally[:, 0]).tolist():
        value = CLASSES[code & 3]
        codes[code] = outcome = value, -1 if value == DRAW else code >> 2
        if outcome not in found:
            found[outcome] = tally[code]
        else:
            both = np.array([found[outcome], tally[code]])
            found[outcome] = [*both[:, :2].sum(axis=0), *min(both[:, 2:].tolist())]
    outcomes = sorted(found)
    legend = [
        LegendRow(*outcome, int(row[1]), int(row[0]), int(row[3])) for outcome in outcomes for row in [found[outcome]]
    ]
    rows = np.zeros(len(tally), np.min_scalar_type(len(legend)))
    for code, outcome in codes.items():
        rows[code] = outcomes.index(outcome)
    return legend, rows


def doubles(tier: Tier) -> int:
    """Return how many segments of a tier begin with the step that the one before has ended with."""
    filled = [records for records in tier.records if records.length]
    return sum(after.ends[0] == before.ends[1] for before, after in pairwise(filled))


def steps(tiers: list[Tier], scratch: Scratch, rows: Array) -> Iterator[tuple[Array, Array]]:
    """Yield all steps of some tiers, as ranks and rows of the legend, many at a time."""
    part: list[tuple[Segment, int, int, int]] = []
    count = 0
    for tier in tiers:
        before: Segment | None = None
        for records in tier.records:
            if records.length == 0:
                continue
            joins = before is not None and before.ends[1] == records.ends[0]
            part.append((records, tier.mask, before.last if before else -1, joins))
            before = records
            count += records.length
            if count >= TOGETHER:
                yield load(part, scratch, rows)
                part, count = [], 0
    if part:
        yield load(part, scratch, rows)


def load(part: list[tuple[Segment, int, int, int]], scratch: Scratch, rows: Array) -> tuple[Array, Array]:
    """Return the steps of some segments; each with the mask of its tier, the last position before it that has a step of
    the same tier, or -1, and whether its first step goes on that."""
    arena = Arena(scratch)
    for records, *_ in part:
        arena.add(records)
    about = np.array([row[1:] for row in part], np.int64)
    count = sum(records.length for records, *_ in part)
    ranks, codes = np.empty(count, np.int64), np.empty(count, np.uint16)
    end = list_kernels.unpack_ranks(*arena.load(), about, ranks, codes)
    return ranks[:end], rows[codes[:end]]
