"""Verifies values and remotenesses, for databases of records, slots and steps (see `verify.py`)."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from retrograde.databases import DamagedDatabase, Database, Outcome
from retrograde.games.contract.game import defines, is_none
from retrograde.solver.rules.examine import examine
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.verification.judge import OutcomeJudge, chosen_image, images_of, words
from retrograde.solver.verification.verifier import (
    EQUAL,
    TALLY,
    DatabaseVerifier,
    TaskResult,
    add_row,
    outcome_of,
    spread_evenly,
)


class OutcomeVerifier(DatabaseVerifier):
    """Derives every stored outcome from those of the children. A subclass adapts it to each kind of database."""

    covers: ClassVar[str] = "the positions are those that play reaches{equal}, no more and no less"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.outcomes = [outcome_of(row) for row in self.legend]
        self.judge = OutcomeJudge(self.game, self.outcome_of, self.missing, database.metric)

    # Subclasses define these for their kind of database

    def note_children(self, item: int, children: list[int]) -> None:
        """Record the canonical children of an item."""

    def part_of(self, item: int) -> tuple[int, int]:
        """Return the number of the part (a row of `tally`) and the tier in which an item is counted."""
        return 0, 0

    def row_at(self, item: int) -> int:
        """Return the row of the legend that is stored for an item; -1 if none is."""
        return self.row_of(self.position_at(item))

    def storage_fault(self, item: int, position: int, canonical: int) -> str:
        """Return what is wrong with where an item is stored; "" if nothing is."""
        return ""

    def lookup_fault(self, position: int, moves: list[int], children: list[int]) -> str:
        """Return what is wrong with where children are looked up; "" if nothing is."""
        return ""

    def storage(self) -> Any:
        """Return the storage that the compiled loop reads (see `storages.py`)."""
        raise NotImplementedError

    # Interpreted

    def verify_item(self, item: int) -> None:
        """Check an item by the interpreted rules, note its children, and count it in the tally."""
        position = self.position_at(item)
        if is_none(position):
            return
        self.note_children(item, self.check(item))
        if (row := self.row_at(item)) >= 0:
            part, tier = self.part_of(item)
            add_row(self.tally[part], row, 1, len(images_of(self.game, position)), tier, item)

    def check(self, item: int) -> list[int]:
        """Derive the outcome of an item, record what is wrong, and return the canonical children."""
        game, position, row = self.game, self.position_at(item), self.row_at(item)
        try:
            canonical = game.canonical(position)
            misplaced = self.storage_fault(item, position, canonical)
            examined = _, moves, children = examine(game, position)
            fault = self.lookup_fault(position, moves, children)
            if not fault and row >= 0:
                fault = self.judge.fault_in_children(position, self.outcomes[row], examined)
        except DamagedDatabase:
            raise
        except Exception as error:  # rules may raise anything if called for something that is no position
            self.complain(position, f"is stored, and no position: {error}")
            return []
        # Case: play reaches the position, but the database does not hold it.
        if row < 0:
            misplaced = "can be reached, and is not found"
        # Case: a lookup, as users do it, finds something else.
        elif not misplaced and self.database.get(position) != self.outcomes[row]:
            misplaced = f"is stored as {words(self.outcomes[row])}, and is not found so when it is looked up"
        # Case: stored correctly so far. Check symmetric positions too.
        elif not fault and canonical == position and defines(game, "images"):
            images = images_of(game, position)
            if defines(game, "multiplicity") and (given := game.multiplicity(position)) != len(images):
                fault = f"has {given} positions equal by symmetry by multiplicity(), and {len(images)} by images()"
            else:
                images = images[1:] if self.every_image else chosen_image(game, position)
                fault = self.judge.fault_in_images(position, self.outcomes[row], examined, images)
        for complaint in filter(None, (misplaced, fault)):
            self.complain(position, complaint)
        return children

    def outcome_of(self, position: int) -> Outcome | None:
        """Return the outcome stored for a canonical position; None if there is none."""
        row = self.row_of(position)
        return None if row < 0 else self.outcomes[row]

    def sample_items(self) -> Iterable[int]:
        return (item for item in spread_evenly(len(self)) if not is_none(self.position_at(item)))

    # Compiled

    def run(self, storage: Any, items: Array, part: int = 0) -> TaskResult:
        """Verify ascending items of a storage, all in one part of the database, with the kernel."""
        return self.verify_block(lambda block: self.run_kernel(storage, block, part), items)

    @cached_property
    def legend_columns(self) -> Array:
        """The values and the remotenesses of the legend, int64[2, rows]; -1 for none."""
        pairs = [(value, -1 if remoteness is None else remoteness) for value, remoteness in self.outcomes]
        return np.ascontiguousarray(np.array(pairs, np.int64).reshape(-1, 2).T)

    def run_kernel(self, storage: Any, items: Array, part: int) -> TaskResult:
        """Call the kernel for ascending items of a storage."""
        from retrograde.solver.rules.ports import rules_for
        from retrograde.solver.rules.positions import of_positions
        from retrograde.solver.rules.reason import compilable
        from retrograde.solver.rules.running_kernels import trouble_array, watch_kernel
        from retrograde.solver.verification import kernels
        from retrograde.solver.verification.storages import CACHE_SIZE, image_buffer

        no_positions = of_positions(self.game, CACHE_SIZE) - 1  # negative: none
        workspace = kernels.VerifierWorkspace(
            np.zeros(self.legend_rows, TALLY), np.empty(len(items), np.int64), image_buffer(self.game),
            no_positions, np.zeros((CACHE_SIZE, 2), np.int64), trouble_array(self.game),
        )  # fmt: skip
        legend = kernels.LegendColumns(*self.legend_columns)
        with compilable(self.game), watch_kernel(self.game, workspace.trouble):
            count = kernels.verify_items(rules_for(self.rules), storage, legend, items, workspace, self.every_image)
        return TaskResult(workspace.wrong[:count].copy(), len(items), workspace.tally, part)

    # What is proven

    def state_proof(self) -> str:
        symmetric = defines(self.game, "images")
        which = "every image" if self.every_image else "one symmetric image of each"
        images = f", there and at {which}" if symmetric else ""
        covers = self.covers.format(equal=EQUAL if symmetric else "")
        return f"every value follows by the rules from the values of its children{images}; {covers}"
