"""Verifies a database of steps: lists all positions again and verifies each one (see `verify.py`).

Such a database holds runs of equal outcomes, and no positions. So the solver's forward pass lists the positions and
writes the lists to disk; nothing else of the solver is used. The lists are not trusted: each position of a list must be
the child of one in the lists before, and each child must be in a list or be a position where the game is over. Then the
lists hold exactly what play can reach. The outcomes come from the database alone.

Compiled, for each wave of tiers:

1. `verify_segment` takes one segment of a tier's list and loads the steps and lists that its children are in.
2. The compiled loop verifies each position. It marks the children as reached.
3. In the next wave, a position without a mark is wrong: no parent leads to it.
"""

import os
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from retrograde.databases import Database, Outcome
from retrograde.databases.encoding import mask_runs, squeeze
from retrograde.games.contract.game import DRAW, WIN, Game, RuleError, Value
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification.outcomes import OutcomeVerifier
from retrograde.solver.verification.verifier import TALLY, TaskResult, add_row, add_up, spread_evenly

if TYPE_CHECKING:
    from retrograde.solver.methods.streamed.forward import ForwardSweep
    from retrograde.solver.methods.streamed.segments import Segment

POSITIONS = 1 << 18
"""Positions in a task's call of the kernel."""
MOST_TIERS = 1 << 12
"""The most tiers that the children of a list may be in."""
CACHED_BLOCKS = 256
"""Decoded blocks of steps that are cached: 200 kB each."""
RUNS_LENGTH = 32
"""Rows for the runs of a mask. A mask of 62 bits has at most 31 runs of ones."""


class ChildSpan(NamedTuple):
    """The least and the greatest undecided child, of some positions, in a tier."""

    tier: int
    low: int
    high: int


class TierSegment(NamedTuple):
    """A segment of a tier's list, with its number in the tier."""

    tier: int
    number: int
    segment: "Segment"


class StepRange(NamedTuple):
    """Some steps of a tier: ranks and rows of the legend. `mask` is the tier's mask, `first` the position at which its
    first step begins."""

    ranks: Array
    rows: Array
    mask: int
    first: int


NO_STEPS = StepRange(np.empty(0, np.int64), np.empty(0, np.int64), 0, 0)


class StepsVerifier(OutcomeVerifier):
    """A database of steps. An item is a position. Counts are by tier, then by position."""

    unexplained = "is wrong by the rules compiled, or not found where its parents lead"
    rests_on = ("the solver's forward pass for the list of positions, checked move by move, and for the count of ends",)
    sample_seconds = float("inf")
    phases: ClassVar[dict[str, float]] = {"exploring": 0.2, "verifying": 0.8}

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        file = database.file
        self.row_by_outcome = {outcome: row for row, outcome in enumerate(self.outcomes)}
        outcomes = [Outcome(value, None if value == DRAW else 0) for value in Value]
        self.end_rows = np.array([self.row_by_outcome.get(outcome, -1) for outcome in outcomes])
        """The row of the legend for finished games, by value; -1 if there is none."""
        self.win_in_one = self.row_by_outcome.get(Outcome(WIN, 1), -1)
        self.block = lru_cache(CACHED_BLOCKS)(
            lambda number: [np.asarray(part) for part in file.contents.read_block(number)]
        )
        self.lasts: list[int] = []
        """The last position of each segment."""
        self.reached: dict[int, list[Array]] = {}
        """Marks of the wave's positions that earlier waves reach, for each segment of each tier."""
        self.next_reached: dict[int, list[Array]] = {}

    def __len__(self) -> int:
        return self.stored

    def row_of(self, position: int) -> int:
        outcome = self.database.get(position)
        return -1 if outcome is None else self.row_by_outcome[outcome]

    def position_at(self, item: int) -> int:
        return item

    def part_of(self, item: int) -> tuple[int, int]:
        return 0, self.game.tier(item)

    # Interpreted

    def items(self) -> Iterator[int]:
        """Yield what play reaches, breadth-first from the start."""
        start = self.game.canonical(self.game.start)
        self.known, self.queue = {start}, deque([start])
        while self.queue:
            yield self.queue.popleft()

    def note_children(self, item: int, children: list[int]) -> None:
        self.queue += set(children) - self.known
        self.known.update(children)

    # Compiled

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        """List all positions, then verify them wave by wave, in segments of tiers."""
        from retrograde.solver.runtime.work import NotApplicable

        exploring = Phase("exploring", phase.listener, len(self), phase.course)
        try:
            with list_positions(self.game, executor, self.file.path.parent, exploring) as self.forward:
                phase.restart()
                self.count_over(phase)
                waves = self.forward.waves
                self.lasts = [segment.last for wave in waves for tier in wave.values() for segment in tier.segments]
                # The first wave is the start, which is reached.
                self.next_reached = {number: [np.ones(1, np.uint8)] for number in waves[0]}
                for wave, self.below in zip(waves, [*waves[1:], {}], strict=True):
                    self.reached = self.next_reached
                    self.next_reached = {
                        number: [np.zeros(segment.length, np.uint8) for segment in tier.segments]
                        for number, tier in self.below.items()
                    }
                    tasks = (
                        TierSegment(tier, number, segment)
                        for tier, positions in wave.items()
                        for number, segment in enumerate(positions.segments)
                    )
                    yield from self.forward.work.as_completed(self.verify_segment, tasks)
        except NotApplicable:
            self.complain(None, "the tiers do not follow one another, and yet the database holds steps")

    def count_over(self, phase: Phase) -> None:
        """Count the positions where the game is over."""
        for value, counts in enumerate(self.forward.over.tolist()):
            if counts[0] and self.end_rows[value] < 0:
                self.complain(None, f"the legend has no row for the value {value} where the game is over")
            elif counts[0]:
                add_row(self.tally[0], int(self.end_rows[value]), *counts)
        phase.advance(int(self.forward.over[:, 0].sum()))

    def sample_items(self) -> list[int]:
        return [self.lasts[k] for k in spread_evenly(len(self.lasts))]

    def verify_segment(self, task: TierSegment) -> TaskResult:
        """Verify the positions of a segment, and mark the children that it reaches in `next_reached`.

        Return the wrong positions, how many were verified, and the tally of outcomes, in which the first position of an
        outcome is (tier, position).
        """
        from retrograde.solver.methods.streamed.segments import load

        tier, positions = task.tier, load(self.forward.scratch, task.segment)
        reached = self.reached[tier][task.number]
        tally = np.zeros(self.legend_rows, TALLY)
        wrong = []
        for begin in range(0, len(positions), POSITIONS):
            block = positions[begin : begin + POSITIONS]
            # Step 1: find the tiers of the children, the least and greatest child in each, and the segments between.
            spans = self.spans(tier, block)
            segments = [
                TierSegment(span.tier, number, segment)
                for span in spans
                for number, segment in enumerate(self.below[span.tier].segments if span.tier in self.below else ())
                if segment.first <= span.high and segment.last >= span.low
            ]
            # Step 2: load those lists and steps, and verify.
            storage = self.load_storage(tier, block, reached[begin : begin + POSITIONS], spans, segments)
            result = self.run(storage, np.arange(len(block)))
            if result.tally is not None:  # replace the index of the first position by the position
                result.tally["tier"], result.tally["first"] = tier, block[result.tally["first"]]
                add_up(tally, result.tally)
            wrong.append(block[result.wrong])
            # Step 3: pass the marks of reached children on to the next wave. Threads share these arrays: marks are only
            # set. `storage.marks` holds the marks of all *segments*, one after another.
            end = 0
            for segment in segments:
                marks = self.next_reached[segment.tier][segment.number]
                end += len(marks)
                marks[storage.marks[end - len(marks) : end] != 0] = 1
        return TaskResult(np.concatenate(wrong), len(positions), tally)

    def spans(self, tier: int, positions: Array) -> list[ChildSpan]:
        """Return the spans of the undecided children of some positions, one for each tier that has any."""
        from retrograde.solver.rules.expansion import compiling
        from retrograde.solver.rules.ports import rules_for
        from retrograde.solver.verification import kernels

        spans, trouble = np.empty((MOST_TIERS, kernels.SPANS), np.int64), np.zeros(2, np.int64)
        with compiling(self.game, trouble):
            count = kernels.span_children(rules_for(self.game), positions, spans, trouble)
        if count < 0:
            raise RuleError(f"the moves of tier {tier} lead to more than {MOST_TIERS:,} tiers")
        return [ChildSpan(*row) for row in spans[:count].tolist()]

    def load_storage(
        self, tier: int, positions: Array, reached: Array, spans: list[ChildSpan], segments: list[TierSegment]
    ) -> Any:
        """Return the storage for some positions of a tier. Their children are in *spans*, and in the *segments* of the
        same tiers, in the same order."""
        from retrograde.solver.methods.streamed.segments import load
        from retrograde.solver.verification import storages

        lists = [load(self.forward.scratch, segment) for _, _, segment in segments]
        list_lengths: Counter[int] = Counter()
        """How many positions of each tier are in these lists."""
        for segment, children in zip(segments, lists, strict=True):
            list_lengths[segment.tier] += len(children)
        # A row for each tier of the children; the last row is the positions' own tier, which needs steps and no list.
        steps = [self.steps(*span) for span in spans] + [self.steps(tier, int(positions[0]), int(positions[-1]))]
        lengths = [list_lengths[span.tier] for span in spans] + [0]
        table = np.zeros((len(steps), storages.COLUMNS), np.int64)
        runs = np.zeros((len(steps), RUNS_LENGTH, 2), np.int64)
        lists_end = steps_end = 0
        for row, (tier_steps, length) in enumerate(zip(steps, lengths, strict=True)):
            mask = mask_runs(tier_steps.mask)
            runs[row, : len(mask)] = np.array(mask, np.int64).reshape(-1, 2)
            table[row, storages.LISTS], table[row, storages.STEPS] = lists_end, steps_end
            lists_end += length
            steps_end += len(tier_steps.ranks)
            table[row, storages.LISTS_END], table[row, storages.STEPS_END] = lists_end, steps_end
            table[row, storages.RUNS] = len(mask)
            table[row, storages.MASK], table[row, storages.FIRST] = tier_steps.mask, tier_steps.first
        return storages.StepStorage(
            tier, positions, reached, np.array([span.tier for span in spans], np.int64), table, runs,
            concatenate(lists), np.zeros(lists_end, np.uint8),
            concatenate([tier_steps.ranks for tier_steps in steps]),
            concatenate([tier_steps.rows for tier_steps in steps]),
            self.end_rows, self.win_in_one,
        )  # fmt: skip

    def steps(self, tier: int, low: int, high: int) -> StepRange:
        """Return the steps that hold for the positions of a tier between *low* and *high*, and possibly more."""
        contents = self.file.contents
        numbers, bounds, first_positions, masks = contents.tiers
        k = int(numbers.searchsorted(tier))
        if k == len(numbers) or numbers[k] != tier:
            return NO_STEPS
        begin, end, size = int(bounds[k]), int(bounds[k + 1]), contents.block_size
        first, mask = int(first_positions[k]), int(masks[k])
        runs = mask_runs(mask)
        # Blocks have a fixed size and ignore tiers: the first and last block may contain steps of other tiers.
        blocks = np.arange(begin // size, (end - 1) // size + 1)
        # A later block can be the one in which a position's step is, if its first rank is the position's or less.
        first_ranks = contents.ranks[blocks[1:]]
        lowest, highest = (int(first_ranks.searchsorted(squeeze(bound, runs), "right")) for bound in (low, high))
        ranks, rows = [], []
        for block in blocks[lowest : highest + 1].tolist():
            # Sums count from the block's first step. The base is the rank of the tier's first step, if that is in this
            # block, else of the block's first step.
            sums, outcomes = self.block(block)
            of_tier = slice(max(begin - block * size, 0), min(end - block * size, len(sums)))
            base = squeeze(first, runs) if begin >= block * size else int(contents.ranks[block])
            ranks.append(sums[of_tier].astype(np.int64) - int(sums[of_tier.start]) + base)
            rows.append(outcomes[of_tier])
        return StepRange(np.concatenate(ranks), np.concatenate(rows).astype(np.int64), mask, first)


@contextmanager
def list_positions(game: Game, executor: Executor, parent: Path, phase: Phase) -> Iterator["ForwardSweep"]:
    """List the positions of a game, wave by wave, with the streamed solver's forward pass; raise NotApplicable. The
    lists are in a temporary folder, which is removed afterwards. It is created in *parent*, if that is writable."""
    from retrograde.solver.methods.streamed.forward import ForwardSweep
    from retrograde.solver.runtime.memory import MemoryBudget
    from retrograde.solver.runtime.scratch import temporary_scratch
    from retrograde.solver.runtime.work import Work

    workers = getattr(executor, "_max_workers", os.cpu_count() or 1)
    with temporary_scratch(parent) as folder:
        forward = ForwardSweep(game, Work(executor, workers, MemoryBudget(), None, folder))
        try:
            forward.explore(phase)
            yield forward
        finally:
            forward.scratch.close()


def concatenate(parts: list[Array]) -> Array:
    """Return arrays of ints as one."""
    return np.concatenate([np.empty(0, np.int64), *parts])
