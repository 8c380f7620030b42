"""The audit of a database of steps: all positions found once more, in a stream, and each verified (see verify.py).

The lists of positions are made as the solver makes them, and put aside; but they are not taken at their word. Every
position of a list must be the child of one in the lists before, and every child be in a list, or be one where the game
is over; so the lists hold what play can reach, no more and no less. The outcomes come from the database alone.
"""

import os
import tempfile
from collections import deque
from concurrent.futures import Executor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.databases import Outcome
from retrograde.games.game import DRAW, UNDECIDED, WIN, RuleError, defines
from retrograde.solver.audit.records import SAMPLE, Audit
from retrograde.solver.audit.symmetry import MOST_IMAGES, derive, images_of, words
from retrograde.solver.rules.examine import examine
from retrograde.solver.work.memory import MemoryBudget
from retrograde.solver.work.progress import Phase

Array = np.ndarray[Any, Any]

POSITIONS = 1 << 18
"""Positions in a task."""
MOST_TIERS = 1 << 12
"""Tiers that the children of a list may be in."""
CACHED_BLOCKS = 256
"""Blocks of steps kept decoded: 200 kB each."""


class StepAudit(Audit):
    """A database of steps, and what is found about it. Counts are by row of the legend."""

    def __post_init__(self) -> None:
        file = self.database.file
        self.game = self.database.game
        self.legend = file.legend
        self.outcomes = [Outcome(row.value, None if row.value == DRAW else row.remoteness) for row in self.legend]
        self.values = np.array([row.value for row in self.legend], np.int64)
        self.remotenesses = np.array([row.remoteness for row in self.legend], np.int64)
        self.row_of = {(int(row.value), row.remoteness): k for k, row in enumerate(self.legend)}
        self.block = lru_cache(CACHED_BLOCKS)(lambda number: [np.asarray(part) for part in file.read_steps(number)])
        self.marks: dict[int, list[Array]] = {}
        """Which positions of a wave are seen to be reached, for each segment of each tier."""
        self.next_marks: dict[int, list[Array]] = {}
        self.begin()

    def __len__(self) -> int:
        return self.database.file.stored

    def begin(self) -> None:
        """Forget what is found."""
        self.problems, self.wrong = [], 0
        self.walked = False
        """Whether all positions were found by the interpreted rules, move by move."""
        self.tally_rows = np.zeros((len(self.legend), 4), np.int64)

    # Interpreted

    def verify_interpreted(self, phase: Phase, seconds: float) -> bool:
        """Verify all positions by the interpreted rules, and return True; False where there are too many for that."""
        if seconds < float("inf"):
            return False
        self.begin()
        self.walked = True
        phase.done = 0
        start = self.game.canonical(self.game.start)
        known, found = {start}, deque([start])
        while found:
            position = found.popleft()
            children = self.check_position(position)
            new = set(children) - known
            known |= new
            found += new
            phase.advance(1)
        return True

    def check_position(self, position: int) -> list[int]:
        """Derive the outcome of a position, note what is wrong, count it, and return its children."""
        value, moves, children = examine(self.game, position)
        stored = self.database.get(position)
        derived = derive(value, [self.database.get(child) or Outcome(UNDECIDED, None) for child in children])
        if stored is None:
            self.complain(position, "can be reached, and is not found")
            return children
        if derived != stored:
            why = "the rules make it" if value != UNDECIDED else "its children make it"
            self.complain(position, f"is stored as {words(stored)}, and {why} {words(derived)}")
        else:
            self.check_symmetry(position, stored, moves, children)
        row = self.row_of[stored.value, -1 if stored.remoteness is None else stored.remoteness]
        self.count_row(row, 1, len(images_of(self.game, position)), self.game.tier(position), position)
        return children

    def outcome_of(self, position: int) -> Outcome | None:
        return self.database.get(position)

    def count_row(self, row: int, stored: int, positions: int, tier: int, first: int) -> None:
        """Count positions that have a row of the legend, the first of which is in a tier."""
        counts = self.tally_rows[row]
        if counts[0] == 0 or (tier, first) < tuple(counts[2:]):
            counts[2:] = tier, first
        counts[:2] += stored, positions

    # Compiled

    def can_compile(self) -> bool:
        """Tell whether the rules can be compiled: they were, or there would be no such database."""
        return True

    def verify_compiled(self, executor: Executor, phase: Phase) -> None:
        """Verify all positions by the compiled rules, and some by the interpreted."""
        from retrograde.solver.rules import compiled
        from retrograde.solver.streamed.forward import Forward
        from retrograde.solver.work.work import Unfit, Work

        self.begin()
        compiled.prepare(self.game)
        workers = getattr(executor, "_max_workers", os.cpu_count() or 1)
        beside = self.database.file.path.parent
        with tempfile.TemporaryDirectory(".scratch", dir=beside if os.access(beside, os.W_OK) else None) as folder:
            work = Work(executor, workers, MemoryBudget(), None, Path(folder))
            forward = Forward(self.game, work)
            try:
                forward.explore(Phase("exploring", phase.listener))
                for value, (stored, positions, tier, first) in enumerate(forward.over.tolist()):
                    if stored:
                        self.count_over(value, stored, positions, tier, first)
                phase.advance(int(forward.over[:, 0].sum()))
                self.forward = forward
                for number, wave in enumerate(forward.waves):
                    self.marks = self.next_marks if number else {k: [np.ones(1, np.uint8)] for k in wave}
                    below = forward.waves[number + 1] if number + 1 < len(forward.waves) else {}
                    self.below = below
                    self.next_marks = {
                        tier.number: [np.zeros(segment.length, np.uint8) for segment in tier.segments]
                        for tier in below.values()
                    }
                    tasks = ((tier, k) for tier in wave.values() for k in range(len(tier.segments)))
                    for tier, counts, wrong, count in work.as_completed(self.check_segment, tasks):
                        for row in np.flatnonzero(counts[:, 0]).tolist():
                            self.count_row(row, int(counts[row, 0]), int(counts[row, 1]), tier, int(counts[row, 3]))
                        for position in wrong:
                            self.note_suspect(position)
                        phase.advance(count)
                self.sample(forward.waves)
            except Unfit:
                self.complain(None, "the tiers do not follow one another, and yet the database holds steps")
            finally:
                forward.scratch.close()

    def count_over(self, value: int, stored: int, positions: int, tier: int, first: int) -> None:
        """Count positions where the game is over."""
        row = self.row_of.get((value, -1 if value == DRAW else 0))
        if row is None:
            self.complain(None, f"the legend has no row for the value {value} where the game is over")
        else:
            self.count_row(row, stored, positions, tier, first)

    def check_segment(self, task: tuple[Any, int]) -> tuple[int, Array, list[int], int]:
        """Verify a segment of a tier; return the tier, the counts by row, the wrong positions, and how many there
        were."""
        from retrograde.solver.audit import step_kernels as kernels

        tier, k = task
        positions = self.forward.load(tier.segments[k])
        most_images = MOST_IMAGES if defines(self.game, "images") else 1
        win_in_one = self.row_of.get((WIN, 1), -1)
        counts = np.zeros((len(self.legend), 4), np.int64)
        suspects: list[int] = []
        for begin in range(0, len(positions), POSITIONS):
            part = positions[begin : begin + POSITIONS]
            spans = np.empty((MOST_TIERS, kernels.SPANS), np.int64)
            found = kernels.span_children(self.game, part, spans)
            if found < 0:
                raise RuleError(f"the moves of tier {tier.number} lead to more than {MOST_TIERS:,} tiers")
            table = np.zeros((found + 1, kernels.COLUMNS), np.int64)
            lists, marks, ranks, rows = [], [], [], []
            end = steps_end = 0
            stretches = []
            for row, (number, low, high) in enumerate(
                [*spans[:found].tolist(), (tier.number, int(part[0]), int(part[-1]))]
            ):
                if row < found and number in self.below:
                    segments = self.below[number].segments
                    there = [j for j, one in enumerate(segments) if one.first <= high and one.last >= low]
                    table[row, kernels.LISTS] = end
                    for j in there:
                        lists.append(self.forward.load(segments[j]))
                        marks.append(np.zeros(len(lists[-1]), np.uint8))
                        stretches.append((number, j))
                        end += len(lists[-1])
                    table[row, kernels.LISTS_END] = end
                some_ranks, some_rows, mask, first = self.steps(number, low, high)
                ranks.append(some_ranks)
                rows.append(some_rows)
                table[row, kernels.STEPS :] = steps_end, steps_end + len(some_ranks), mask, first
                steps_end += len(some_ranks)
            all_marks = joined(marks, np.uint8)
            stored, of_all = np.zeros((2, len(self.legend)), np.int64)
            firsts = np.full(len(self.legend), -1, np.int64)
            wrong = np.empty(len(part), np.int64)
            bad = kernels.derive_steps(
                self.game, most_images, tier.number, part, self.marks[tier.number][k][begin : begin + POSITIONS],
                found, spans[:found, kernels.TIER].copy(), table, joined(lists, np.int64), all_marks,
                joined(ranks, np.int64), joined(rows, np.int64), self.values, self.remotenesses, win_in_one,
                stored, of_all, firsts, wrong,
            )  # fmt: skip
            done = 0
            for (number, j), some in zip(stretches, marks, strict=True):
                self.next_marks[number][j][all_marks[done : done + len(some)] != 0] = 1  # set, and never taken back
                done += len(some)
            new = (counts[:, 0] == 0) & (stored > 0)
            counts[new, 3] = firsts[new]
            counts[:, 0] += stored
            counts[:, 1] += of_all
            suspects += wrong[:bad].tolist()
        return tier.number, counts, suspects, len(positions)

    def steps(self, tier: int, low: int, high: int) -> tuple[Array, Array, int, int]:
        """Return the steps of a tier from a position to another: ranks, rows of the legend; the mask, where it
        begins."""
        from retrograde.databases.encoding import mask_runs, squeeze

        file = self.database.file
        numbers, bounds, positions, masks = file.step_tiers
        k = int(numbers.searchsorted(tier))
        if k == len(numbers) or numbers[k] != tier:
            return np.empty(0, np.int64), np.empty(0, np.int64), 0, 0
        first, end, size = int(bounds[k]), int(bounds[k + 1]), file.block_size
        mask, runs = int(masks[k]), mask_runs(int(masks[k]))
        blocks = np.arange(first // size, (end - 1) // size + 1)
        begins = file.step_ranks[blocks[1:]]
        blocks = blocks[
            begins.searchsorted(squeeze(low, runs), "right") : begins.searchsorted(squeeze(high, runs), "right") + 1
        ]
        ranks, rows = [], []
        for block in blocks.tolist():
            sums, outcomes = self.block(block)
            begin, stop = max(first - block * size, 0), min(end - block * size, len(sums))
            base = squeeze(int(positions[k]), runs) if first >= block * size else int(file.step_ranks[block])
            ranks.append(sums[begin:stop].astype(np.int64) - int(sums[begin]) + base)
            rows.append(outcomes[begin:stop])
        return np.concatenate(ranks), np.concatenate(rows).astype(np.int64), mask, int(positions[k])

    def note_suspect(self, position: int) -> None:
        """Note what is wrong with a position by the interpreted rules, which can say it."""
        if self.wrong >= SAMPLE:
            self.count()
            return
        before, counts = self.wrong, self.tally_rows.copy()
        self.check_position(position)
        self.tally_rows = counts
        if self.wrong == before:
            self.complain(position, "is wrong by the rules compiled, or not found where its parents lead")

    def sample(self, waves: list[Any]) -> None:
        """Verify some positions by the interpreted rules as well."""
        counts = self.tally_rows.copy()
        segments = [segment for wave in waves for tier in wave.values() for segment in tier.segments]
        for k in np.linspace(0, len(segments) - 1, min(SAMPLE, len(segments))).astype(np.int64).tolist():
            self.check_position(segments[k].last)
        self.tally_rows = counts

    # What it amounts to

    def basis(self) -> list[str]:
        forward = "the solver's forward pass for the list of positions, checked move by move, and for the count of ends"
        return [*super().basis(), *([] if self.walked else [forward])]

    # The whole

    def verify_start(self) -> None:
        """Note if the file says something else about the start elsewhere."""
        file = self.database.file
        if file.start is None or file.start != self.game.start or file.start_outcome is None:
            self.complain(self.game.start, "is the start, and the file says something else about it elsewhere")
        elif self.database.get(file.start) != self.outcomes[self.legend.index(file.start_outcome)]:
            self.complain(self.game.start, "is the start, and is not found to be worth what the file says elsewhere")

    def verify_reached(self) -> None:
        """Do nothing: positions that play does not reach are not stored."""

    def verify_legend(self) -> None:
        """Note the rows of the legend that do not say what there is."""
        for row, (stored, positions, _, first) in zip(self.legend, self.tally_rows.tolist(), strict=True):
            name = words(self.outcomes[self.row_of[row.value, row.remoteness]])
            if stored != row.stored:
                self.complain(None, f"the legend counts {row.stored:,} records of {name}, and there are {stored:,}")
            elif positions != row.positions:
                self.complain(None, f"the legend counts {row.positions:,} positions of {name}, not {positions:,}")
            elif first != row.example:
                example, other = self.text(row.example), self.text(first)
                self.complain(None, f"the legend's example of {name} is {example}, and the first is {other}")


def joined(parts: list[Array], dtype: Any) -> Array:
    """Return arrays as one."""
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype, copy=False)
