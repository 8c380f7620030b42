"""Verifies a database with a dense numbering: each slot that stands for a position (see verify.py)."""

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games.catalog import own_tiers
from retrograde.games.contract.game import UNDECIDED, is_none
from retrograde.games.contract.zeroing import DTC, DTZ, PROGRESS_METRICS, signed_distance
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification.judge import text_of, words
from retrograde.solver.verification.outcomes import OutcomeVerifier
from retrograde.solver.verification.verifier import BLOCK, TaskResult, outcome_of

TIER_SAMPLE, QUIET_SAMPLE = 20_000, 1_000
"""The most positions in which to look for the tiers that moves lead to, and how many without a new tier end the
look."""


class SlotTask(NamedTuple):
    """A block of slots to verify: the number of its part, its first slot, and the end (exclusive)."""

    part: int
    begin: int
    end: int


class SlotsVerifier(OutcomeVerifier):
    """A database with a dense numbering in memory. An item is a slot, numbered across all tiers.

    `row_numbers` has the row of the legend for each slot. Tier k, of number `tiers[k]`, has the slots from `bounds[k]`
    to `bounds[k + 1]`. `filled` says which slots stand for a position (only if rules are compiled). `part_slots` has,
    for each part of the database, its tier, its number in the tier, and its slots.

    If the database rests on other databases, the tiers of those that moves lead to are loaded as well, behind the
    `file_slots` slots of the file. They are trusted. Their outcomes that this legend lacks are appended to `outcomes`.
    """

    missing = "has no slot"
    covers = "every slot has the position that it stands for, and every child has a slot"

    def __init__(self, database: SlotsDatabase) -> None:
        super().__init__(database)
        self.rules = self.game.family
        contents = database.file.contents
        numbers = contents.tiers.numbers.tolist()
        numbering = SlotNumbering.of(self.game)
        stored = SlotNumbering.of(self.game, [tier for tier in numbers if numbering.row(tier) >= 0])
        # Compare the file's tiers with the game's: without the right shape, no item can be verified.
        self.tiers, self.bounds = stored.tiers, stored.starts
        has_all_tiers = numbering.tiers.tolist() == numbers
        self.sound = all(map(np.array_equal, contents.tiers, (self.tiers, self.bounds)))
        self.sound &= has_all_tiers or own_tiers(self.game) == numbers
        self.file_slots = int(contents.tiers.bounds[-1])
        self.part_slots = list(stored.parts(self.game))
        self.part_ends = np.array([part.slots.stop for part in self.part_slots])
        self.parts = len(self.part_slots)
        self.missing_tiers: set[int] = set()
        """Tiers of other databases that children lie in and that are not loaded yet."""
        self.rests_on_others = self.sound and not has_all_tiers
        if not self.rests_on_others:
            self.row_numbers = database.all_slots()
            self.filled = np.zeros(len(self.row_numbers), np.bool_)
        else:
            self.load(self.child_tiers() - set(numbers))

    def child_tiers(self) -> set[int]:
        """Return the tiers of some positions' children: for most databases, all tiers that moves lead to.

        A missing tier costs only time: `verify` meets it, loads it and starts again.
        """
        game, without_new_tier = self.game, 0  # positions in a row
        found: set[int] = set()
        # Evenly spaced slots in random order, so that the end of the look does not favour some tiers.
        sample = np.linspace(0, self.file_slots - 1, TIER_SAMPLE).astype(np.int64)
        for item in np.random.default_rng(0).permutation(sample).tolist():
            if not is_none(position := self.position_at(item)) and game.primitive(position) == UNDECIDED:
                tiers = {int(game.tier(game.do_move(position, move))) for move in game.generate_moves(position)}
                without_new_tier = without_new_tier + 1 if tiers <= found else 0
                found |= tiers
            if without_new_tier == QUIET_SAMPLE:
                break
        return found

    def load(self, new_tiers: set[int]) -> None:
        """Load tiers of other databases behind the file's own: all loaded so far, and *new_tiers*.

        Append outcomes that the legend lacks to `outcomes`.
        """
        file_tiers = len(self.database.file.contents.tiers.numbers)
        numbering = SlotNumbering.of(self.game, {*self.tiers.tolist(), *new_tiers})
        self.tiers, self.bounds = numbering.tiers, numbering.starts
        # The database that holds each tier. The same row stands for different outcomes in different databases, so rows
        # are numbered anew, by outcome.
        holders: Any = [self.database.holder(tier) for tier in self.tiers.tolist()]
        row_by_outcome = {outcome: row for row, outcome in enumerate(self.outcomes)}
        for holder in holders[file_tiers:]:
            for row in holder.file.legend:
                row_by_outcome.setdefault(outcome_of(row), len(row_by_outcome))
        self.outcomes = list(row_by_outcome)
        vars(self).pop("legend_columns", None)  # they were of fewer outcomes
        self.row_numbers = np.empty(numbering.slots, np.min_scalar_type(len(row_by_outcome)))
        for k, (holder, tier) in enumerate(zip(holders, self.tiers.tolist(), strict=True)):
            new_rows = np.array([row_by_outcome[outcome_of(row)] for row in holder.file.legend])
            begin = int(self.bounds[k])
            for rows in holder.tier_rows(tier):
                self.row_numbers[begin : begin + len(rows)] = new_rows[rows]
                begin += len(rows)
        self.filled = np.zeros(len(self.row_numbers), np.bool_)
        self.filled[self.file_slots :] = True  # other databases are trusted: any slot of theirs may be looked up
        self.missing_tiers.clear()

    def verify_interpreted(self, phase: Phase, seconds: float) -> bool:
        """Verify with the interpreted rules; return whether the time sufficed. If tiers of other databases turn out to
        be missing, load them and start again, with *seconds* anew."""
        done = super().verify_interpreted(phase, seconds)
        if not self.missing_tiers:
            return done
        self.load(set(self.missing_tiers))
        return self.verify_interpreted(phase, seconds)

    def verify_compiled(self, executor: Executor, phase: Phase) -> None:
        """Verify as usual. If tiers of other databases turned out to be missing, load them and start again."""
        super().verify_compiled(executor, phase)
        if self.missing_tiers:
            self.load(set(self.missing_tiers))
            self.verify_compiled(executor, phase)

    def __len__(self) -> int:
        return self.file_slots

    def begin(self) -> None:
        super().begin()
        if not self.sound:
            self.complain(None, "the tiers of the file are not those of the game, or of another size")

    def part_of(self, item: int) -> tuple[int, int]:
        return int(self.part_ends.searchsorted(item, "right")), 0

    def find_slot(self, position: int) -> int:
        """Return the slot of a position, canonical or not, numbered across all tiers; -1 if it has none."""
        tier, slot = self.game.tier(position), self.game.index(position)
        k = int(self.tiers.searchsorted(tier))
        if k == len(self.tiers) or self.tiers[k] != tier or not 0 <= slot < self.bounds[k + 1] - self.bounds[k]:
            # The tier belongs to another database: load it, and verify again.
            if self.rests_on_others and tier not in self.tiers and self.game.elsewhere(tier):
                self.missing_tiers.add(tier)
            return -1
        return int(self.bounds[k]) + slot

    def row_of(self, position: int) -> int:
        slot = self.find_slot(position)
        return -1 if slot < 0 else self.row_at(slot)

    def row_at(self, item: int) -> int:
        return int(self.row_numbers[item])

    def position_at(self, item: int) -> int:
        k = int(self.bounds.searchsorted(item, "right")) - 1
        return self.game.unindex(int(self.tiers[k]), item - int(self.bounds[k]))

    def storage_fault(self, item: int, position: int, canonical: int) -> str:
        game, k = self.game, int(self.bounds.searchsorted(item, "right")) - 1
        tier, slot = int(self.tiers[k]), item - int(self.bounds[k])
        right_tier, right_slot = game.tier(position), game.index(position)
        if (tier, slot) != (right_tier, right_slot):
            return f"is in slot {slot} of tier {tier} and belongs in slot {right_slot} of {right_tier}"
        return f"has a slot, and equals {text_of(game, canonical)} by symmetry" if canonical != position else ""

    def lookup_fault(self, position: int, moves: list[int], children: list[int]) -> str:
        """Return that a child's slot, or its canonical position's, belongs to another position; "" if all are right."""
        game = self.game
        for move, child in zip(moves, children, strict=True):
            for reached in (child, game.do_move(position, move)):
                slot = self.find_slot(reached)
                holder = self.position_at(slot) if slot >= 0 else -1
                if is_none(holder):
                    return f"has a move to {text_of(game, reached)}, which {self.missing} (move {move})"
                if holder != child:
                    what = f"which has the slot of {text_of(game, holder)}, and equals {text_of(game, child)}"
                    return f"has a move to {text_of(game, reached)}, {what} (move {move})"
        return ""

    # Compiled

    def storage(self, tier: int = 0) -> Any:
        """Return the slots for kernels, to verify those of a tier."""
        from retrograde.solver.verification.storages import TO_CONVERSION, TO_END, TO_ZEROING, SlotStorage

        first = int(self.bounds[int(self.tiers.searchsorted(tier))])
        counted = {DTZ: TO_ZEROING, DTC: TO_CONVERSION}.get(self.database.metric, TO_END)
        return SlotStorage(counted, tier, first, self.tiers, self.bounds, self.filled, self.row_numbers)

    def tasks(self) -> list[SlotTask]:
        """Return the blocks of all parts."""
        return [
            SlotTask(number, begin, min(begin + BLOCK, int(part.slots.stop)))
            for number, part in enumerate(self.part_slots)
            for begin in range(part.slots.start, part.slots.stop, BLOCK)
        ]

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        """Verify all slots in blocks, once it is known which of them stand for positions."""
        from retrograde.solver.rules.ports import rules_for
        from retrograde.solver.rules.reason import compilable
        from retrograde.solver.verification.kernels import find_filled

        def storage_and_slots(task: SlotTask) -> tuple[Any, Any]:
            return self.storage(self.part_slots[task.part].tier), np.arange(task.begin, task.end)

        def fill(task: SlotTask) -> None:
            with compilable(self.game):
                find_filled(rules_for(self.rules), *storage_and_slots(task))

        def verify(task: SlotTask) -> TaskResult:
            return self.run(*storage_and_slots(task), task.part)

        tasks = self.tasks()
        # Find all slots that stand for positions first: a child's slot may belong to any task.
        list(executor.map(fill, tasks))
        yield from executor.map(verify, tasks)

    # What that rests on

    def state_basis(self, compiled: bool) -> str:
        # Databases that this one rests on are trusted.
        tiers = self.tiers.tolist()[::-1] if self.rests_on_others else []
        others = ", ".join(filter(None, map(self.game.elsewhere, tiers)))
        return super().state_basis(compiled) + (f"; the databases of {others} as they are" if others else "")

    # The database as a whole

    def verify_legend(self) -> None:
        """Record rows of the legend, and counts of parts, that are wrong."""
        claimed = {(row.tier, row.part, row.outcome): row for row in self.database.file.contents.counts}
        outcomes = self.outcomes[: len(self.legend)]
        for part, tally in zip(self.part_slots, self.tally, strict=True):
            name = f"tier {self.game.tier_name(part.tier)}, part {part.number}"
            for k, (outcome, counts) in enumerate(zip(outcomes, tally.tolist(), strict=True)):
                stored, positions, _, first = counts
                row = claimed.get((part.tier, part.number, k))
                claimed_counts = (row.stored, row.positions) if row else (0, 0)
                if claimed_counts != (stored, positions):
                    what = f"of {words(outcome)} the file counts others in {name}"
                    self.complain(None, f"{what} than the {stored:,} there are")
                elif row and row.example != self.position_at(first):
                    example = text_of(self.game, row.example)
                    self.complain(None, f"the example of {words(outcome)} in {name} is {example}, not the first")
        for legend, outcome, positions in zip(
            self.legend, outcomes, self.tally["positions"].sum(0).tolist(), strict=True
        ):
            if legend.positions != positions:
                self.complain(None, f"the legend counts other positions of {words(outcome)}")
            if self.database.metric in PROGRESS_METRICS and legend.measures != (signed_distance(*outcome),):
                self.complain(None, f"the legend has another {self.database.metric} for {words(outcome)}")
