"""Verifies scores stored by slot, tier by tier.

Every score must be the best that a move brings, by the scores of the children. In a tier where play can go round, that
proves nothing by itself: two slots could each be stored as 3 because the other one is. So each score other than 0 must
be *founded*:

- above 0: by a move that keeps the score, and leaves the tier or leads to a founded slot.
- below 0: all children within the tier are founded.

Passes over the tier mark founded slots until nothing changes. By induction over the passes, the player who is ahead can
leave the tier with no less than the score. The opponent keeps the player from more by moves that keep the score: if
play then never leaves the tier, no more is paid, which is no better for a player who is ahead. Moves within a tier must
not pay.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np

from retrograde.databases.slots.database import SlotsDatabase
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.running_kernels import trouble_array
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification import score_kernels as kernels
from retrograde.solver.verification.measures import RESTS_ON
from retrograde.solver.verification.score_kernels import StoredScores
from retrograde.solver.verification.slots import SlotsVerifier, SlotTask
from retrograde.solver.verification.storages import image_buffer
from retrograde.solver.verification.verifier import TALLY, TaskResult


class ScoresVerifier(SlotsVerifier):
    """Verifies the scores of slots, always by compiled rules."""

    always_compiled = True

    def __init__(self, database: SlotsDatabase) -> None:
        super().__init__(database)
        self.scores = np.array([row.measures[0] for row in self.legend], np.int64)

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        """Verify tier by tier, last first; yield a result for each block of slots."""
        all_tasks = self.tasks()
        for k in reversed(range(len(self.tiers))):
            first, end = self.bounds[k : k + 2].tolist()
            founded, wrong = np.zeros((2, end - first), np.uint8)
            stored = StoredScores(self.tiers, self.bounds, self.row_numbers, self.scores, founded)
            tasks = [task for task in all_tasks if self.part_slots[task.part].tier == self.tiers[k]]
            run = partial(self.check_slots, stored, k, wrong)
            # The first pass verifies all slots. Further passes mark founded slots until nothing changes.
            results = list(executor.map(partial(run, True), tasks))
            while any(list(executor.map(partial(run, False), tasks))):
                pass
            wrong |= founded == 0
            for task, (_, tally) in zip(tasks, results, strict=True):
                wrong_slots = task.begin + np.flatnonzero(wrong[task.begin - first : task.end - first])
                yield TaskResult(wrong_slots, task.end - task.begin, tally, task.part)

    def check_slots(self, stored: StoredScores, k: int, wrong: Array, first_pass: bool, task: SlotTask) -> Any:
        """Verify the slots of a task of tier number *k*; return how many became founded. In the first pass return (this
        number, the tally of the slots). *wrong* uint8[slots of the tier] becomes 1 for wrong slots."""
        counts, first = np.zeros((self.legend_rows, 3), np.int64), int(self.bounds[k])
        trouble = trouble_array(self.game)
        with compiling(self.game, trouble):
            changes = kernels.check_slots(
                rules_for(self.rules), stored, k, task.begin - first, task.end - first, first_pass, wrong, counts,
                image_buffer(self.game), trouble,
            )  # fmt: skip
        if not first_pass:
            return int(changes)
        tally = np.zeros(self.legend_rows, TALLY)
        tally["stored"], tally["positions"], tally["first"] = counts.T
        return int(changes), tally

    def check(self, item: int) -> list[int]:
        self.complain(self.position_at(item), "is not worth what follows by the rules")
        return []

    def sample_items(self) -> Iterable[int]:
        return ()

    def state_proof(self) -> str:
        return (
            "by score every position that has a slot is worth what the player to move can force, whether play reaches "
            "it or not"
        )

    def state_basis(self, compiled: bool) -> str:
        return RESTS_ON
