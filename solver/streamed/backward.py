"""Backward through a game in a stream: the positions of each wave solved from the steps of the next (see
`streaming.py`)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import MOST_IMAGES, RuleError
from retrograde.solver.streamed import kernels as stream_kernels
from retrograde.solver.streamed import lists as list_kernels
from retrograde.solver.streamed.forward import END, Forward, Retry, words_for
from retrograde.solver.streamed.lists import BLOCK
from retrograde.solver.streamed.log import Solved
from retrograde.solver.streamed.segments import Arena, Segment, Tier, Wave, add_up, segment_of
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

MANY_SEGMENTS = 4
"""Segments from which a tier is solved many at a time, up to as many positions as there may be children in a task of
the exploration: where children do not ascend, all steps of their tier are loaded for each task."""


class Spans:
    """The steps that a task needs: stretches of the segments of tiers of the next wave, each once."""

    def __init__(self, below: Wave):
        self.below = below
        self.rows: dict[tuple[int, int, int], int] = {}

    def add(self, number: int, first: int, last: int) -> int:
        """Return the row of the steps of a tier from a position to another."""
        low, high = 0, 0
        if tier := self.below.get(number):
            high = len(tier.segments)
            while low < high and tier.segments[low].last < first:
                low += 1
            while high > low and tier.segments[high - 1].first > last:
                high -= 1
        return self.rows.setdefault((number, low, high), len(self.rows))

    def load(self, arena: Arena) -> tuple[Array, int]:
        """Load the steps; return between which rows of the arena's table each stretch is, and how many steps there
        are."""
        table = np.empty((len(self.rows), 2), np.int64)
        count = 0
        for k, (number, low, high) in enumerate(self.rows):
            table[k, 0] = len(arena.rows)
            for steps in self.below[number].steps[low:high] if high else ():
                arena.add(steps)
                count += steps.length
            table[k, 1] = len(arena.rows)
        return table, count


class Backward:
    """The waves of a game being solved, last first."""

    def __init__(self, forward: Forward, work: Work):
        self.forward = forward
        self.game = forward.game
        self.scratch = forward.scratch
        self.rooms = forward.rooms
        self.log = forward.log
        self.waves = forward.waves
        self.run = work.as_completed
        self.least = work.sizes.stream_positions
        self.tally = np.zeros((4 * (len(self.waves) + 2), 4), np.int64)
        """For each code what is known of the positions that have it (see `segments.add_up`)."""
        self.last_tally = self.tally
        """The same of the last wave solved: in the end, of the start alone."""

    def solve(self, phase: Phase) -> None:
        """Solve all waves, last first."""
        below: Wave = {}
        for number in reversed(range(len(self.waves))):
            wave = self.waves[number]
            for tier in wave.values():
                tier.steps, tier.records = ([MISSING] * len(tier.segments) for _ in range(2))
            tally = self.log.tally(number, len(self.tally))
            resumed = self.log.solved(number)
            for one in resumed:
                self.keep(wave, one)
            phase.skip(sum(wave[tier].segments[k].length for tier, k, _, _ in resumed))
            for solved, counts in self.run(partial(self.sweep, number, wave, below), self.units(wave)):
                add_up(tally, counts)
                for one in solved:
                    self.keep(wave, one)
                self.log.add_solved(number, solved, counts)
                self.forward.save_memory()
                phase.advance(int(counts[:, 0].sum()), solved[-1][0])
                self.log.write()
            add_up(self.tally, tally)
            self.last_tally = tally
            if not self.log.is_solved(number):
                self.scratch.sync()
                self.log.add_wave_solved(number)
            self.scratch.drop(f"steps{number + 1}")
            self.scratch.drop(f"positions{number}")
            below = wave
        phase.tell()

    def keep(self, wave: Wave, solved: Solved) -> None:
        """Remember the steps of a segment."""
        number, k, steps, records = solved
        tier = wave[number]
        tier.steps[k], tier.records[k] = steps, records
        self.scratch.reserve(steps.frame)
        self.scratch.reserve(records.frame)

    def units(self, wave: Wave) -> Iterator[list[tuple[Tier, int]]]:
        """Yield the work of a wave that is not done: segments of tiers, small ones together."""
        unit: list[tuple[Tier, int]] = []
        total = 0
        for tier in wave.values():
            together = self.forward.children // 2 if len(tier.segments) >= MANY_SEGMENTS else 0
            for k, segment in enumerate(tier.segments):
                if tier.steps[k] is not MISSING:
                    continue
                unit.append((tier, k))
                total += segment.length
                if total >= max(self.least, together):
                    yield unit
                    unit, total = [], 0
        if unit:
            yield unit

    def sweep(self, number: int, wave: Wave, below: Wave, unit: list[tuple[Tier, int]]) -> tuple[list[Solved], Array]:
        """Solve some segments of a wave, and put their steps aside; return these, and what is counted by code."""
        while True:
            try:
                count, positions, scores, sizes = self.score(below, unit)
                break
            except Retry:
                continue
        about = np.array([(tier.segments[k].length, tier.number, tier.mask) for tier, k in unit], np.int64)
        longest = int(about[:, 0].max())
        steps, codes = self.rooms.get("steps", np.int64, longest), self.rooms.get("codes", np.uint16, longest)
        out, more = (self.rooms.get(name, np.int64, words_for(count, len(unit))) for name in ("out", "more"))
        tally = np.zeros_like(self.tally)
        rows = np.zeros((len(unit), 10), np.int64)
        list_kernels.make_steps(
            positions,
            scores,
            sizes,
            about,
            tally,
            steps,
            codes,
            out,
            out.view(np.uint8),
            more,
            more.view(np.uint8),
            rows,
        )
        size, more_size = (rows[:, (0, 3)] + rows[:, (1, 4)]).max(axis=0).tolist()
        frame = self.scratch.write(f"steps{number}", out.view(np.uint8)[:size].data)
        more_frame = self.scratch.write("records", more.view(np.uint8)[:more_size].data)
        solved = []
        for (tier, k), row in zip(unit, rows.tolist(), strict=True):
            segment = tier.segments[k]
            of_all = segment_of(frame, (*row[:3], tier.mask, segment.first, segment.last))
            kept = segment_of(more_frame, (*row[3:6], tier.mask, *row[6:8]), ends=row[8:])
            solved.append((tier.number, k, of_all, kept))
        return solved, tally

    def score(self, below: Wave, unit: list[tuple[Tier, int]]) -> tuple[int, Array, Array, Array]:
        """Return how many positions some segments have, the positions, their scores, and the sizes of their
        symmetries."""
        arena = Arena(self.scratch)
        spans = Spans(below)
        units = np.empty((len(unit), 3), np.int64)
        slots: list[tuple[int, int, int, int, int]] = []
        tiers: list[tuple[int, int]] = []
        for u, (tier, k) in enumerate(unit):
            segment = tier.segments[k]
            row = arena.add(segment, -1 if tier.moves is None else 0)
            if tier.moves is None:
                if not tier.leads:  # an earlier solve has found out, and has not noted it
                    self.forward.survey(tier)
                tiers += [(lead, spans.add(lead, 0, END)) for lead in tier.leads]
                units[u] = row, len(tiers) - len(tier.leads), len(tiers)
                continue
            for move, lead in zip(tier.moves, tier.leads, strict=True):
                child = below.get(lead)
                ends = self.forward.span(tier, segment, move, lead) if child and len(child.segments) > 1 else None
                ascends = ends is not None
                slots.append((move, lead, spans.add(lead, *ends or (0, END)), ascends, -ascends))
            units[u] = row, len(slots) - len(tier.moves), len(slots)
        step_rows, steps = spans.load(arena)
        words, octets, lists = arena.load()
        children = np.empty((len(step_rows), 4), np.int64)
        room = steps + 2 * len(step_rows)
        starts, passed = self.rooms.get("starts", np.int64, room), self.rooms.get("passed", np.uint16, room)
        buckets = self.rooms.get("buckets", np.int32, room)
        list_kernels.load_steps(words, octets, lists, step_rows, children, starts, passed, buckets)
        count = sum(tier.segments[k].length for tier, k in unit)
        positions, sizes = (self.rooms.get(name, np.int64, count + BLOCK) for name in ("numbers", "sizes"))
        scores = self.rooms.get("scores", np.uint16, count)
        slot_table, tier_table = (np.array(rows, np.int64).reshape(-1, n) for rows, n in ((slots, 5), (tiers, 2)))
        ended, place = stream_kernels.sweep(
            self.game, words, octets, lists, units, slot_table, tier_table, children, starts, passed, buckets,
            np.empty(MOST_IMAGES, np.int64), positions, scores, sizes,
        )  # fmt: skip
        if ended == stream_kernels.DONE:
            return count, positions, scores, sizes
        tier = unit[place][0]
        if ended == stream_kernels.BROKEN:
            self.forward.complain(self.forward.load(tier.segments[unit[place][1]]))
        if ended == stream_kernels.UNSORTED:
            tier.unsorted.update(tier.moves or ())
        elif ended == stream_kernels.OTHER_TIER and tier.moves is not None:
            self.forward.survey(tier)
            tier.moves = None
        else:
            raise RuleError(
                f"{variant(self.game)}, tier {tier.number}: the rules give moves that they did not give before; "
                "they must depend on the position alone"
            )
        raise Retry


MISSING = Segment(None, 0, 0, 0, 0, 0, 0)  # type: ignore[arg-type]  # stands for what is not solved yet
