"""An audit: verifies all that a database stores, item by item, and lists what is wrong (see verify.py).

An *item* is a record, a slot or a position, depending on the kind of database; it is a number that the audit assigns.
The three kinds differ in which items there are and in what is stored for a position: see `records.py`, `slots.py` and
`steps.py`.

Interpreted (`verify_interpreted`): `check` derives each item's outcome in Python and words the fault. Compiled
(`verify_compiled`): `kernels.verify_items` derives outcomes and returns suspects, which `check` then explains. A sample
of other items is checked interpreted as well.
"""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from typing import Any, ClassVar, NamedTuple

import numpy as np

from retrograde.databases import DamagedDatabase, Database, LegendRow, Outcome
from retrograde.games.contract.game import DRAW, MOST_IMAGES, RuleError, Traits, is_none
from retrograde.games.contract.raised import given_start
from retrograde.solver.rules.examine import examine
from retrograde.solver.runtime.progress import Phase, announce
from retrograde.solver.verification.faults import Judge, chosen_image, images_of, words

Array = np.ndarray[Any, Any]

INTERPRETED_SECONDS = 1.0
"""Seconds allowed for verifying a small database interpreted. Compiling the rules may take longer than that."""
SAMPLE = 1_000
"""Items of a larger database that are verified interpreted as well, at most."""
BLOCK = 1 << 16
"""Items in a task."""
MOST_PROBLEMS = 10
"""Problems that are reported in full; further ones are only counted."""
COMPILED = "the rules compiled, held against the interpreted ones at a sample"

TALLY = np.dtype([(name, np.int64) for name in ("stored", "positions", "tier", "first")])
"""Counts for a row of the legend: items, positions with all images, and the tier and number of the first item.

The tier is 0 if the items' numbers ascend through all tiers.
"""

Checked = tuple[int, Array, Array, int]
"""The result of a task: the part of its items, their tally, the wrong items, and how many items there were."""


def add_row(counts: Array, row: int, stored: int, positions: int, *first: int) -> None:
    """Add to a row of a tally. Of two first items, keep the one in the lower tier, then the lesser one."""
    before = counts[row].item()
    firsts = [first, *([before[2:]] if before[0] else [])]
    counts[row] = (before[0] + stored, before[1] + positions, *min(firsts))


def add_up(counts: Array, more: Array) -> None:
    """Add all rows of a tally to those of another."""
    for row in np.flatnonzero(more["stored"]).tolist():
        add_row(counts, row, *more[row].item())


def spread_evenly(count: int) -> list[int]:
    """Return the numbers of an evenly spaced sample of *count* things."""
    return [int(k) for k in np.linspace(0, count - 1, min(SAMPLE, count))]


def outcome_of(row: LegendRow) -> Outcome:
    """Return the outcome of a row of a legend."""
    return Outcome(row.value, None if row.value == DRAW else row.remoteness)


class Problem(NamedTuple):
    """One thing that is wrong: a position with its text, and a sentence. For the database as a whole: None and ""."""

    position: int | None
    text: str
    complaint: str

    def __str__(self) -> str:
        return f"{self.text} {self.complaint}" if self.text else self.complaint


EQUAL = " and those equal to them by symmetry"
"""Part of the sentence that says what is proven, for games that have images."""


class Audit:
    """A database and what is found out about it. Subclasses adapt it to a kind of database.

    `tally`, TALLY[parts, rows], counts each part of the database on its own. Call `verify_interpreted` or
    `verify_compiled`, then `verify_whole`; `wrong` and `problems` then hold the result.
    """

    missing: ClassVar[str] = "is not stored"
    unexplained: ClassVar[str] = "is right by the rules interpreted, wrong by the rules compiled"
    covers: ClassVar[str] = "the positions are those that play reaches{equal}, no more and no less"
    rests_on: ClassVar[tuple[str, ...]] = ()
    """What is taken for granted besides the rules, if they run compiled."""
    sample_seconds: ClassVar[float] = INTERPRETED_SECONDS
    phases: ClassVar[dict[str, float]] = {"verifying": 1.0}
    """The phases that are reported, and each one's share of the time."""
    every_image: bool = False
    """Whether every image of each position is verified, instead of one."""
    parts: int = 1
    sound: bool = True
    """Whether the shape of the database allows its items to be verified at all."""

    def __init__(self, database: Database) -> None:
        self.database, self.game, self.legend = database, database.game, database.file.legend
        self.rules = self.game
        """The game that is compiled."""
        self.outcomes = [outcome_of(row) for row in self.legend]
        self.judge = Judge(self.game, self.outcome_of, self.missing, database.metric)

    def begin(self) -> None:
        """Reset what has been found."""
        self.problems: list[Problem] = []
        self.wrong = 0
        self.tally = np.zeros((self.parts, len(self.legend)), TALLY)

    # Subclasses define these for their kind of database

    def __len__(self) -> int:
        """Return the number of items."""
        raise NotImplementedError

    def items(self) -> Iterator[int]:
        """Yield the items. The caller checks each one and passes its children to `note_children` before the next."""
        raise NotImplementedError

    def note_children(self, item: int, children: list[int]) -> None:
        """Record the canonical children of an item."""

    def position_at(self, item: int) -> int:
        """Return the position of an item; negative if the item stands for none."""
        raise NotImplementedError

    def counted_in(self, item: int) -> tuple[int, int]:
        """Return the part and the tier in which an item is counted."""
        return 0, 0

    def row_of(self, position: int) -> int:
        """Return the row of the legend that is stored for a canonical position; -1 if none is."""
        raise NotImplementedError

    def row_at(self, item: int) -> int:
        """Return the row of the legend that is stored for an item; -1 if none is."""
        return self.row_of(self.position_at(item))

    def misplaced(self, item: int, position: int, canonical: int) -> str:
        """Return what is wrong with where an item is stored; "" if nothing is."""
        return ""

    def misled(self, position: int, moves: list[int], children: list[int]) -> str:
        """Return what is wrong with where children are looked up; "" if nothing is."""
        return ""

    def verify_items(self, executor: Executor, phase: Phase) -> Iterator[Checked]:
        """Verify all items with the compiled rules, and yield the results of tasks."""
        raise NotImplementedError

    def some_items(self) -> Iterable[int]:
        """Return a sample of the items."""
        return spread_evenly(len(self))

    def storage(self) -> Any:
        """Return the storage that the compiled loop reads (see `storages.py`)."""
        raise NotImplementedError

    # Interpreted

    def verify_interpreted(self, phase: Phase, seconds: float) -> bool:
        """Verify all items with the interpreted rules and return True; return False when *seconds* are over."""
        deadline = time.monotonic() + seconds
        self.begin()
        phase.begin_anew()
        for item in self.items() if self.sound else ():
            if time.monotonic() > deadline:
                return False
            phase.advance(1)
            position = self.position_at(item)
            if is_none(position):
                continue
            self.note_children(item, self.check(item))
            if (row := self.row_at(item)) >= 0:
                part, tier = self.counted_in(item)
                add_row(self.tally[part], row, 1, len(images_of(self.game, position)), tier, item)
        return True

    def check(self, item: int) -> list[int]:
        """Derive the outcome of an item, record what is wrong, and return the canonical children."""
        game, position, row = self.game, self.position_at(item), self.row_at(item)
        try:
            canonical = game.canonical(position)
            misplaced = self.misplaced(item, position, canonical)
            examined = _, moves, children = examine(game, position)
            fault = self.misled(position, moves, children)
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
        elif not fault and canonical == position and Traits.of(game).has_images:
            images = images_of(game, position)
            if Traits.of(game).has_multiplicity and (told := game.multiplicity(position)) != len(images):
                fault = f"has {told} positions equal by symmetry by multiplicity(), and {len(images)} by images()"
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

    # Compiled

    def can_compile(self) -> bool:
        """Compile the verifying loop, and return whether the rules allow that."""
        from numba.core.errors import NumbaError  # slow to import, and small databases do not need it

        from retrograde.solver.rules import compiled

        compiled.prepare(self.rules)
        try:
            self.run(self.storage(), np.empty(0, np.int64))
        except (NumbaError, RuleError):
            return False
        return True

    def run(self, storage: Any, items: Array) -> tuple[Array, Array]:
        """Verify ascending items of a storage. Return their tally and the items with which something is wrong."""
        from retrograde.solver.rules.positions import of_positions
        from retrograde.solver.rules.running_kernels import trouble_array, watch_kernel
        from retrograde.solver.verification import kernels
        from retrograde.solver.verification.storages import NEAR

        sheet = kernels.Sheet(
            np.zeros(len(self.legend), TALLY),
            np.empty(len(items), np.int64),
            of_positions(self.game, MOST_IMAGES if Traits.of(self.game).has_images else 1),
            np.full((NEAR, 3), -1, np.int64),
            trouble_array(self.game),
        )
        plies = [(value, -1 if remoteness is None else remoteness) for value, remoteness in self.outcomes]
        values, remotenesses = np.array(plies, np.int64).reshape(-1, 2).T.copy()
        legend = kernels.Legend(values, remotenesses)
        with watch_kernel(self.game, sheet.trouble):
            count = kernels.verify_items(self.rules, storage, legend, items, sheet, self.every_image)
        return sheet.tally, sheet.wrong[:count].copy()

    def verify_compiled(self, executor: Executor, phase: Phase) -> None:
        """Verify all items with the compiled rules, and a sample with the interpreted rules."""
        self.begin()
        phase.begin_anew()
        suspects: list[int] = []
        if self.sound:
            for part, tally, wrong, count in self.verify_items(executor, phase):
                add_up(self.tally[part], tally)
                suspects += wrong[: SAMPLE - len(suspects)].tolist()
                self.wrong += len(wrong)
                phase.advance(count)
        announce(phase.listener, "looking at a sample")
        for item in suspects[:MOST_PROBLEMS]:
            # `explain` counts the problem again.
            self.wrong -= 1
            self.explain(item)
        # Check a sample interpreted too: this is what protects against faults of the compiler.
        deadline = time.monotonic() + self.sample_seconds
        for item in self.some_items() if self.sound and len(suspects) < SAMPLE else ():
            if time.monotonic() > deadline:
                break
            if item not in suspects and not is_none(self.position_at(item)):
                self.check(item)

    def explain(self, item: int) -> None:
        """Record what is wrong with an item, in the words of the interpreted rules."""
        before = self.wrong
        self.check(item)
        if self.wrong == before:
            self.complain(self.position_at(item), self.unexplained)

    # What is proven, and what that rests on

    def proven(self) -> str:
        """Return a sentence that says what is proven if nothing is wrong."""
        symmetric = Traits.of(self.game).has_images
        one = "every image" if self.every_image else "one image of each (all, where it has but one)"
        images = f", there and at {one}" if symmetric else ""
        covers = self.covers.format(equal=EQUAL if symmetric else "")
        return f"every value follows by the rules from those of its children{images}; {covers}"

    def basis(self, compiled: bool) -> str:
        """Return what the proof takes for granted."""
        return "; ".join(["the rules as given", *([*self.rests_on, COMPILED] if compiled else [])])

    # The database as a whole

    def verify_whole(self) -> None:
        """Verify the start, what play reaches, and the legend."""
        if self.sound:
            self.verify_start()
            self.verify_reached()
            self.verify_legend()

    def verify_start(self) -> None:
        """Record a problem if the start is not stored, or if the file's header contradicts what is stored."""
        start, file = given_start(self.game), self.database.file
        if start is None:
            return
        canonical = self.game.canonical(start)
        row = self.row_of(canonical)
        if row < 0:
            self.complain(start, f"is the start, and {self.missing}")
        elif start not in images_of(self.game, canonical):
            self.complain(start, "is the start, and no image of the position stored for it")
        elif file.start != start or file.start_outcome != self.legend[row]:
            self.complain(start, "is the start, and the file says something else about it elsewhere")
        for other in self.game.starts:
            if other != start and self.row_of(self.game.canonical(other)) < 0:
                self.complain(other, f"is one of the first positions, and {self.missing}")

    def verify_reached(self) -> None:
        """Record items that are stored although play never reaches them."""

    def verify_legend(self) -> None:
        """Record rows of the legend with wrong counts or examples."""
        for row, outcome, counts in zip(self.legend, self.outcomes, self.tally[0].tolist(), strict=True):
            stored, positions, _, first = counts
            name = words(outcome)
            if stored != row.stored:
                self.complain(None, f"the legend counts {row.stored:,} records of {name}, and there are {stored:,}")
            elif positions != row.positions:
                self.complain(None, f"the legend counts {row.positions:,} positions of {name}, not {positions:,}")
            elif self.position_at(first) != row.example:
                example, other = self.judge.text(row.example), self.judge.text(self.position_at(first))
                self.complain(None, f"the legend's example of {name} is {example}, and the first is {other}")

    def complain(self, position: int | None, complaint: str) -> None:
        """Record one problem."""
        self.wrong += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(position, "" if position is None else self.judge.text(position), complaint))
