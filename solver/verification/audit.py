"""An audit: all that a database stores verified item by item, and a list of what is wrong (see verify.py).

An *item* is a record, a slot, or a position, by a number that the audit gives it. What differs between the three kinds
of databases is in `records.py`, `slots.py` and `steps.py`: which items there are, and what is stored for a position.
"""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from typing import Any, ClassVar, NamedTuple

import numpy as np

from retrograde.databases import DamagedDatabase, Database, LegendRow, Outcome
from retrograde.games.contract.game import DRAW, MOST_IMAGES, RuleError, defines, is_none
from retrograde.games.contract.raised import given_start
from retrograde.solver.rules.examine import examine
from retrograde.solver.runtime.progress import Phase, announce
from retrograde.solver.verification.faults import Judge, chosen_image, images_of, words

Array = np.ndarray[Any, Any]

INTERPRETED_SECONDS = 1.0
"""Databases that are verified interpreted in less are; compiling the rules may take longer."""
SAMPLE = 1_000
"""Items of a larger database that are verified interpreted as well."""
BLOCK = 1 << 16
"""Items in a task."""
MOST_PROBLEMS = 10
"""Problems that are told in full."""
COMPILED = "the rules compiled, held against the interpreted ones at a sample"

TALLY = np.dtype([(name, np.int64) for name in ("stored", "positions", "tier", "first")])
"""What is counted for a row of the legend: items, positions with all images, the tier and the number of the first item.
(The tier is 0 where the items' numbers ascend through all tiers.)"""

Checked = tuple[int, Array, Array, int]
"""What comes of a task: the part that its items are in, their tally, the wrong ones, and how many there were."""


def add_row(counts: Array, row: int, stored: int, positions: int, *first: int) -> None:
    """Add to a row of a tally; of two firsts the one in the lower tier stays, of one tier the lesser."""
    before = counts[row].item()
    firsts = [first, *([before[2:]] if before[0] else [])]
    counts[row] = (before[0] + stored, before[1] + positions, *min(firsts))


def add_up(counts: Array, more: Array) -> None:
    """Add all rows of a tally to those of another."""
    for row in np.flatnonzero(more["stored"]).tolist():
        add_row(counts, row, *more[row].item())


def spread_evenly(count: int) -> list[int]:
    """Return the numbers of a sample of so many things."""
    return [int(k) for k in np.linspace(0, count - 1, min(SAMPLE, count))]


def outcome_of(row: LegendRow) -> Outcome:
    """Return the outcome of a row of a legend."""
    return Outcome(row.value, None if row.value == DRAW else row.remoteness)


class Problem(NamedTuple):
    """One thing that is wrong: the position (its number and its text, or None and "" for the whole) and a sentence."""

    position: int | None
    text: str
    complaint: str

    def __str__(self) -> str:
        return f"{self.text} {self.complaint}" if self.text else self.complaint


EQUAL = " and those equal to them by symmetry"
"""What is counted as well, of games that have images, whether play leads to it or not."""


class Audit:
    """A database, and what is found about it. `tally`, TALLY[parts, rows], counts the parts of the database apart."""

    missing: ClassVar[str] = "is not stored"
    unexplained: ClassVar[str] = "is right by the rules interpreted, wrong by the rules compiled"
    covers: ClassVar[str] = "the positions are those that play reaches{equal}, no more and no less"
    rests_on: ClassVar[tuple[str, ...]] = ()
    """What is taken for granted beyond the rules where they run compiled."""
    sample_seconds: ClassVar[float] = INTERPRETED_SECONDS
    phases: ClassVar[dict[str, float]] = {"verifying": 1.0}
    """What is told of on the way, and what share of the time each phase takes."""
    every_image: bool = False
    """Whether every image of each position is verified, and not one of them alone."""
    parts: int = 1
    sound: bool = True
    """Whether the database is of such a shape that its items can be verified at all."""

    def __init__(self, database: Database) -> None:
        self.database, self.game, self.legend = database, database.game, database.file.legend
        self.rules = self.game
        """The game that is compiled."""
        self.outcomes = [outcome_of(row) for row in self.legend]
        self.judge = Judge(self.game, self.outcome_of, self.missing, database.metric)

    def begin(self) -> None:
        """Forget what is found."""
        self.problems: list[Problem] = []
        self.wrong = 0
        self.tally = np.zeros((self.parts, len(self.legend)), TALLY)

    # What the kinds of databases differ in

    def __len__(self) -> int:
        """Return how many items there are."""
        raise NotImplementedError

    def items(self) -> Iterator[int]:
        """Yield the items, one by one, each of which is checked, and its children noted, before the next."""
        raise NotImplementedError

    def note_children(self, item: int, children: list[int]) -> None:
        """Take note of an item's canonical children."""

    def position_at(self, item: int) -> int:
        """Return the position of an item, negative where it stands for none."""
        raise NotImplementedError

    def counted_in(self, item: int) -> tuple[int, int]:
        """Return the part and the tier in which an item is counted."""
        return 0, 0

    def row_of(self, position: int) -> int:
        """Return what is stored for a canonical position, a row of the legend; -1 where nothing is."""
        raise NotImplementedError

    def row_at(self, item: int) -> int:
        """Return what is stored for an item, a row of the legend; -1 where nothing is."""
        return self.row_of(self.position_at(item))

    def misplaced(self, item: int, position: int, canonical: int) -> str:
        """Return what is wrong with where an item is stored; nothing where all is right."""
        return ""

    def misled(self, position: int, moves: list[int], children: list[int]) -> str:
        """Return what is wrong with where children are looked up; nothing where all is right."""
        return ""

    def verify_items(self, executor: Executor, phase: Phase) -> Iterator[Checked]:
        """Verify all items by the compiled rules."""
        raise NotImplementedError

    def some_items(self) -> Iterable[int]:
        """Return a sample of the items."""
        return spread_evenly(len(self))

    def storage(self) -> Any:
        """Return the storage that the compiled loop reads (see `storages.py`)."""
        raise NotImplementedError

    # Interpreted

    def verify_interpreted(self, phase: Phase, seconds: float) -> bool:
        """Verify all items by the interpreted rules, and return True; False where it takes more than some seconds."""
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
        """Derive the outcome of an item, note what is wrong, and return the canonical children."""
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
        except Exception as error:  # whatever the rules may raise when asked about what is no position
            self.complain(position, f"is stored, and no position: {error}")
            return []
        if row < 0:
            misplaced = "can be reached, and is not found"
        elif not misplaced and self.database.get(position) != self.outcomes[row]:
            misplaced = f"is stored as {words(self.outcomes[row])}, and is not found so when it is looked up"
        elif not fault and canonical == position and defines(game, "images"):
            images = images_of(game, position)
            if defines(game, "multiplicity") and (told := game.multiplicity(position)) != len(images):
                fault = f"has {told} positions equal by symmetry by multiplicity(), and {len(images)} by images()"
            else:
                images = images[1:] if self.every_image else chosen_image(game, position)
                fault = self.judge.fault_in_images(position, self.outcomes[row], examined, images)
        for complaint in filter(None, (misplaced, fault)):
            self.complain(position, complaint)
        return children

    def outcome_of(self, position: int) -> Outcome | None:
        """Return what is stored for a canonical position; None where nothing is."""
        row = self.row_of(position)
        return None if row < 0 else self.outcomes[row]

    # Compiled

    def can_compile(self) -> bool:
        """Compile the loop that verifies, and tell whether the rules allow it."""
        from numba.core.errors import NumbaError  # numba takes a while to import: not for small databases

        from retrograde.solver.rules import compiled

        compiled.prepare(self.rules)
        try:
            self.run(self.storage(), np.empty(0, np.int64))
        except (NumbaError, RuleError):
            return False
        return True

    def run(self, storage: Any, items: Array) -> tuple[Array, Array]:
        """Verify some items of a storage, which ascend; return their tally, and those with which something is wrong."""
        from retrograde.solver.rules.active import asking, troubles
        from retrograde.solver.rules.whole import of_positions
        from retrograde.solver.verification import kernels
        from retrograde.solver.verification.storages import NEAR

        sheet = kernels.Sheet(
            np.zeros(len(self.legend), TALLY),
            np.empty(len(items), np.int64),
            of_positions(self.game, MOST_IMAGES if defines(self.game, "images") else 1),
            np.full((NEAR, 3), -1, np.int64),
            troubles(self.game),
        )
        plies = [(value, -1 if remoteness is None else remoteness) for value, remoteness in self.outcomes]
        values, remotenesses = np.array(plies, np.int64).reshape(-1, 2).T.copy()
        legend = kernels.Legend(values, remotenesses)
        with asking(self.game, sheet.trouble):
            count = kernels.verify_items(self.rules, storage, legend, items, sheet, self.every_image)
        return sheet.tally, sheet.wrong[:count].copy()

    def verify_compiled(self, executor: Executor, phase: Phase) -> None:
        """Verify all items by the compiled rules, and some by the interpreted."""
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
            self.wrong -= 1
            self.explain(item)
        deadline = time.monotonic() + self.sample_seconds
        for item in self.some_items() if self.sound and len(suspects) < SAMPLE else ():
            if time.monotonic() > deadline:
                break
            if item not in suspects and not is_none(self.position_at(item)):
                self.check(item)

    def explain(self, item: int) -> None:
        """Note what is wrong with an item by the interpreted rules, which can say it."""
        before = self.wrong
        self.check(item)
        if self.wrong == before:
            self.complain(self.position_at(item), self.unexplained)

    # What it amounts to

    def proven(self) -> str:
        """Return in a sentence what is proven where nothing is wrong."""
        symmetric = defines(self.game, "images")
        one = "every image" if self.every_image else "one image of each (all, where it has but one)"
        images = f", there and at {one}" if symmetric else ""
        covers = self.covers.format(equal=EQUAL if symmetric else "")
        return f"every value follows by the rules from those of its children{images}; {covers}"

    def basis(self, compiled: bool) -> str:
        """Return what that takes for granted."""
        return "; ".join(["the rules as given", *([*self.rests_on, COMPILED] if compiled else [])])

    # The whole

    def verify_whole(self) -> None:
        """Note what is wrong with the start, with what play reaches, and with the legend."""
        if self.sound:
            self.verify_start()
            self.verify_reached()
            self.verify_legend()

    def verify_start(self) -> None:
        """Note if the start, where there is one, is not stored, or the file says something else about it."""
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
        """Note what is stored and play never reaches."""

    def verify_legend(self) -> None:
        """Note the rows of the legend that do not say what there is."""
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
        """Note one thing that is wrong."""
        self.wrong += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(position, "" if position is None else self.judge.text(position), complaint))
