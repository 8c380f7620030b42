"""Solves a tier shape by shape in memory; the package's docstring lists the steps."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import RuleError
from retrograde.games.kinds.placements import NONE
from retrograde.solver.methods.shapes.blocks import Block, TierOutcomes, concatenate_frontiers, merge_counts
from retrograde.solver.methods.shapes.fit import steps_agree
from retrograde.solver.methods.shapes.kernels import DECIDED, NEVER, Frontier
from retrograde.solver.methods.shapes.layout import TierSections, tier_sections
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.values.score import RemotenessOverflow

Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Runs a function for several arguments, perhaps on several threads; yields the results in order."""
Report = Callable[[int, int, int | None], None]
"""Called with the number of slots looked at, of decided positions, and the remoteness."""

BLOCK = 1 << 18
"""Slots in a task, about."""
CHECKS, CHECK_SLOTS = 6, 1 << 15
"""Positions of a section whose steps are compared with the rules: CHECKS, and one for each CHECK_SLOTS slots."""


class ShapeProgress(NamedTuple):
    """The progress at a checkpoint of a tier: what has at most this remoteness is decided."""

    remoteness: int


def check_steps(game: Any, tier: int, sections: TierSections) -> None:
    """Compare the steps with the rules at some positions of each section; raise RuleError if they differ."""
    for arrays, steps in zip(sections.arrays, sections.steps, strict=True):
        slots = len(arrays.shapes) * len(arrays.masks)
        checks = min(slots, CHECKS + slots // CHECK_SLOTS)
        for slot in np.linspace(arrays.start, arrays.start + slots - 1, checks).astype(np.int64).tolist():
            position = game.unindex(tier, slot)
            if position != NONE and not steps_agree(game, position, steps):
                where = f"{variant(game)}, position {position}"
                raise RuleError(f"{where}: section_steps() differs from the other rules; correct it or leave it out")


def next_remoteness(remoteness: int, fresh: bool, due: Iterable[int], bits: int) -> int | None:
    """Return the remoteness after *remoteness* at which positions may be decided; None at the end.

    *fresh*: positions were decided at *remoteness*. *due* are remotenesses at which later tiers decide positions.
    Raises RemotenessOverflow if *bits* bits of plies are too few.

    >>> next_remoteness(3, True, [7], 8), next_remoteness(3, False, [7, 9], 8), next_remoteness(3, False, [], 8)
    (4, 7, None)
    """
    following = remoteness + 1 if fresh else min(due, default=NEVER)
    if not fresh and following == NEVER:
        return None
    if following >= (1 << bits) - 2:
        raise RemotenessOverflow
    return following


class ShapeTier:
    """Solves a tier in memory: writes its scores to *scores*. *all_scores* has the scores of all slots of the game.

    *begin_of* returns the first slot of a tier. All later tiers must be solved. Raises NotShaped if the steps that the
    game declares do not fit together, and RuleError if they differ from the rules.
    """

    def __init__(
        self, game: Any, tier: int, begin_of: Callable[[int], int], all_scores: Array, scores: Array, bits: int
    ):  # fmt: skip
        self.game, self.tier, self.all_scores = game, tier, all_scores
        self.sections = tier_sections(game, tier, begin_of, bits)
        self.outcomes = TierOutcomes(scores, np.zeros(len(scores), np.uint8), bits)
        self.blocks: list[list[Block]] = []
        for number, arrays in enumerate(self.sections.arrays):
            rows, count = max(1, BLOCK // len(arrays.masks)), len(arrays.shapes)
            begins = range(0, count, rows)
            self.blocks.append([Block(self.sections, number, begin, min(begin + rows, count)) for begin in begins])

    def solve(self, run: Run, report: Report, checkpoint: Checkpoint) -> Array:
        """Solve the tier; return the counts of its outcomes (see `legend.py` of the numbered method)."""
        check_steps(self.game, self.tier, self.sections)
        scores, children_left, _ = self.outcomes
        run = map if len(scores) <= BLOCK else run  # threads gain nothing
        if checkpoint.progress:
            checkpoint.load(scores, children_left)
        else:
            blocks = [block for section in self.blocks for block in section]
            for _ in run(lambda block: block.initialize(self.all_scores, self.outcomes), blocks):
                pass
        if self.sections.cyclic:
            self.propagate(run, report, checkpoint)
        else:
            children_left[:] = DECIDED
        return np.array(self.count(run), np.int64)

    # Ply by ply

    def propagate(self, run: Run, report: Report, checkpoint: Checkpoint) -> None:
        """Decide all positions of a tier with cycles, remoteness by remoteness."""
        scores, children_left, bits = self.outcomes
        remoteness = checkpoint.progress.remoteness if checkpoint.progress else 0
        blocks = [block for blocks in self.blocks for block in blocks]
        for _ in run(self.link, [(block, remoteness) for block in blocks]):
            pass
        while True:
            fresh = any(len(frontier.masks) for block in blocks for frontier in (block.lost, block.won))
            due = (int(block.due.min(initial=NEVER)) for block in blocks)
            if (following := next_remoteness(remoteness, fresh, due, bits)) is None:
                return
            remoteness = following
            frontiers = [
                (concatenate_frontiers([block.lost for block in section]),
                 concatenate_frontiers([block.won for block in section]))
                for section in self.blocks
            ]  # fmt: skip
            tasks = [
                (block, frontiers[after], remoteness)
                for section, after in zip(self.blocks, self.sections.after, strict=True)
                for block in section
            ]
            for _ in run(self.advance, tasks):
                pass
            undecided = int(sum(block.undecided.sum() for block in blocks))
            report(len(scores), len(scores) - undecided, remoteness)
            if checkpoint.is_due:
                checkpoint.save(ShapeProgress(remoteness), (scores, children_left))

    def link(self, task: tuple[Block, int]) -> None:
        """Task: find a block's edges, and the positions that were decided in it at a remoteness."""
        block, remoteness = task
        block.link()
        block.gather(self.outcomes, remoteness)

    def advance(self, task: tuple[Block, tuple[Frontier, Frontier], int]) -> None:
        """Task: decide the positions of a block that have this remoteness."""
        block, frontiers, remoteness = task
        block.advance(self.outcomes, frontiers, remoteness)

    # The end

    def count(self, run: Run) -> list[list[int]]:
        """Write the final scores; return the counts of the outcomes of each section (see `merge_counts`)."""
        rows = []
        for number, blocks in enumerate(self.blocks):
            counts = run(lambda block: block.finish(self.outcomes), blocks)
            starts = (block.slots.start for block in blocks)
            rows += merge_counts(number, list(zip(starts, counts, strict=True)))
        return rows
