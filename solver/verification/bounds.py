"""Verifies expectations stored by slot: checks the conditions of `expectation.py` slot by slot.

Positions between slots have no slot of their own. Their bounds are computed exactly as the rules require, rounded down
for lower and up for upper bounds, which only makes the conditions harder to meet. If the players of a position can be
exchanged, both positions are checked, each by its own moves. So nothing rests on the assumption that the two have the
same value.
"""

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.games.catalog import variant
from retrograde.games.contract.game import LOSE, TIE, WIN, RuleError
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import of_positions
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification import bound_kernels as kernels
from retrograde.solver.verification.bound_kernels import BoundFaults, PositionsBetween, StoredBounds
from retrograde.solver.verification.measures import RESTS_ON
from retrograde.solver.verification.storages import image_buffer
from retrograde.solver.verification.verifier import BLOCK, TALLY, DatabaseVerifier, TaskResult, add_up

CAPACITY, MOST_CAPACITY = 64, 1 << 16
"""Positions in between that the workspace holds at first, and at most."""
LINKS = 24
"""Moves from each of these positions, on average, for which the workspace has entries."""
COMPLAINTS = {
    kernels.ROUND: "play goes round among positions without a slot",
    kernels.NO_SLOT: "a move leads to a position whose slot there is not",
    kernels.CROWDED: "play goes on and on among positions without a slot",
}


class BoundsVerifier(DatabaseVerifier):
    """Verifies the bounds of slots, always by compiled rules. An item is a slot, numbered across all tiers."""

    always_compiled = True

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        contents: Any = self.file.contents
        tiers, starts = contents.tiers
        low, high = contents.all_bounds(0, contents.length)
        scale = int(self.file.details["scale"])
        self.bounds = StoredBounds(tiers, starts, low, high, scale, np.zeros(contents.length, np.uint8))
        by_value = {row.value: number for number, row in enumerate(self.legend)}
        self.row_numbers = np.array([by_value.get(value, self.legend_rows) for value in (LOSE, TIE, WIN)])
        """The rows of the legend of LOSE, TIE and WIN; one more than the last if there is none."""
        self.capacity = CAPACITY

    def __len__(self) -> int:
        return len(self.bounds.low)

    def position_at(self, item: int) -> int:
        k = int(self.bounds.starts.searchsorted(item, "right")) - 1
        return self.game.unindex(int(self.bounds.tiers[k]), item - int(self.bounds.starts[k]))

    def check(self, item: int) -> None:
        self.complain(self.position_at(item), "is not worth what follows by the rules")

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        """Verify tier by tier, last first; yield the wrong slots of each."""
        for k in reversed(range(len(self.bounds.tiers))):
            first, end = self.bounds.starts[k : k + 2].tolist()
            blocks = [np.arange(begin, min(begin + BLOCK, end)) for begin in range(first, end, BLOCK)]
            results = [self.check_slots(k, slots) for slots in blocks]
            wrong = [np.concatenate([result.wrong for result in results])] if results else []
            # Slots could support each other in a circle if moves stay in the tier.
            if any(result.seen[kernels.STAYING] for result in results):
                wrong.append(self.find_circles(k, pays=any(result.seen[kernels.PAYING] for result in results)))
            for result in results:
                if result.tally[-1]["stored"]:
                    self.complain(None, "the legend lacks a value that slots have")
                add_up(self.tally[0], result.tally[:-1])
            yield TaskResult(first + np.flatnonzero(np.any(wrong, 0)), end - first)

    def check_slots(self, k: int, slots: Array, strictly: bool = False) -> BoundFaults:
        """Return what is wrong with some slots of tier number *k*. Raise RuleError if the rules and slots do not fit.

        *strictly*: bounds other than 0 must be nearer to 0 than what the children prove.
        """
        while True:
            faults = BoundFaults(
                np.zeros(len(slots), np.uint8), np.zeros(3, np.int64), np.zeros(self.legend_rows + 1, TALLY),
                self.row_numbers, image_buffer(self.game),
            )  # fmt: skip
            between = new_workspace(self.game, self.capacity)
            with compiling(self.game, between.trouble):
                kernels.check_slots(rules_for(self.game), k, slots, self.bounds, between, faults, strictly)
            if not (trouble := int(faults.seen[kernels.FAULT])):
                return faults
            if trouble != kernels.CROWDED or self.capacity >= MOST_CAPACITY:
                position = noted_position(self.game, between.trouble)
                raise RuleError(f"{variant(self.game)}, position {position}: {COMPLAINTS[trouble]}")
            # The workspace is too small: enlarge it and check the block again.
            self.capacity *= 8

    def find_circles(self, k: int, pays: bool) -> Array:
        """Return, as uint8, which slots of tier number *k* could support each other in a circle. From these, play can
        stay in the tier forever. Unless a move *pays*, slots whose bounds get strictly nearer to 0 are none of them."""
        first, end = self.bounds.starts[k : k + 2]
        endless, between = self.bounds.endless[first:end], new_workspace(self.game, self.capacity)
        endless[:] = 1
        with compiling(self.game, between.trouble):
            # Begin with all slots of the tier, and remove until nothing changes.
            while kernels.remove_leaving(rules_for(self.game), k, self.bounds, between) > 0:
                pass
        wrong = endless.copy()
        if not pays:
            slots = np.flatnonzero(endless)
            wrong[slots] = self.check_slots(k, first + slots, strictly=True).wrong
        endless[:] = 0
        return wrong

    def verify_start(self) -> None:
        if (start := self.file.start) is not None:
            outcome = self.file.start_outcome
            if outcome is None or outcome.measures != tuple(self.database.measures(start).values()):
                self.complain(start, "is the start, and the file says something else about it elsewhere")

    def state_proof(self) -> str:
        return (
            f"by {self.database.metric} every position that has a slot is worth what follows by the rules from its "
            "children, whether play reaches it or not"
        )

    def state_basis(self, compiled: bool) -> str:
        return RESTS_ON


def new_workspace(game: Any, size: int) -> PositionsBetween:
    """Return a workspace for *size* positions, with LINKS links each."""
    links = LINKS * size
    begins, low, high = np.zeros((3, size + 1), np.int64)
    known, stays = np.zeros((2, size + 1), np.bool_)
    targets, lows, highs, slots, odds, paid = np.zeros((6, links), np.int64)
    return PositionsBetween(
        of_positions(game, size), begins, known, low, high, stays, targets, lows, highs, slots, odds, paid,
        np.zeros(4 * size, np.int64), trouble_array(game),
    )  # fmt: skip
