"""The driver of every verification: goes through what is stored, and lists what is wrong.

An *item* is a number for something stored: a record, a slot, a position or a reply. The subclasses of `Verifier` say
which items there are, how what is stored for them is looked up, and what the rules make of it.

Interpreted (`verify_interpreted`): `check` follows the rules at each item in Python and words the fault. Compiled
(`verify_compiled`): tasks find suspects, which `check` then explains. `check` tries a sample of other items as well.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from retrograde.databases import Database, LegendRow, Outcome
from retrograde.games.contract.game import DRAW, Game
from retrograde.games.contract.raised import given_start
from retrograde.solver.rules.examine import NotCompilable
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Course, Listener, Phase, announce
from retrograde.solver.verification.judge import images_of, text_of, words

INTERPRETED_SECONDS = 1.0
"""Seconds allowed for verifying few items interpreted. Compiling the rules may take longer than that."""
SMALL = 20_000
"""If there are this many items or more, the rules are compiled at once."""
SAMPLE = 1_000
"""The most items that are verified interpreted after all were verified compiled."""
BLOCK = 1 << 16
"""Items in a task."""
MOST_PROBLEMS = 10
"""Problems that are reported in full; further ones are only counted."""
COMPILED = "the rules compiled, compared with the interpreted ones at a sample"
EQUAL = " and those equal to them by symmetry"
"""Part of the sentence that says what is proven, for games that have images."""
TALLY = np.dtype([(name, np.int64) for name in ("stored", "positions", "tier", "first")])
"""Counts for a row of the legend: items, positions with all images, and the tier and number of the first item. The tier
is 0 if the items' numbers ascend through all tiers."""


class TaskResult(NamedTuple):
    """The wrong items of a task, how many items it had, and their tally, for a part of the database."""

    wrong: Array
    done: int
    tally: Array | None = None
    part: int = 0


def add_row(counts: Array, row: int, stored: int, positions: int, *first: int) -> None:
    """Add counts to a row of a tally. *first* is a first item, (tier, number); the lesser of two is kept."""
    stored_before, positions_before, *first_before = counts[row].item()
    least_first = min(first, tuple(first_before)) if stored_before else first
    counts[row] = (stored_before + stored, positions_before + positions, *least_first)


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
    """One thing that is wrong: a position with its text, and a sentence. For the file as a whole: None and ""."""

    position: int | None
    text: str
    complaint: str

    def __str__(self) -> str:
        return f"{self.text} {self.complaint}" if self.text else self.complaint


@dataclass(frozen=True)
class Verification:
    """The result of a verification: how many records and positions there are, and the problems found.

    `problems` are the first ones, `wrong` counts all. `proven` is a sentence that says what holds if nothing is wrong;
    `rests_on` says what that takes for granted.
    """

    variant: str
    stored: int
    positions: int
    wrong: int
    problems: list[Problem]
    proven: str = ""
    rests_on: str = ""

    @property
    def ok(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.wrong


class Verifier:
    """A file and what is wrong with it. Call `verify`."""

    unexplained: ClassVar[str] = "is right by the rules interpreted, wrong by the rules compiled"
    rests_on: ClassVar[tuple[str, ...]] = ()
    """What is taken for granted besides the rules, if they run compiled."""
    sample_seconds: ClassVar[float] = INTERPRETED_SECONDS
    phases: ClassVar[dict[str, float]] = {"verifying": 1.0}
    """The phases that are reported, and each one's share of the time."""
    always_compiled: ClassVar[bool] = False
    """Whether there is no `check` that derives an item from the rules: kernels verify all items."""
    always_interpreted: bool = False
    """Whether there is no kernel for these rules."""
    every_image: bool = False
    """Whether every image of each position is verified, instead of one."""
    parts: int = 1
    """Parts of the file that are counted on their own."""
    legend_rows: int = 0
    sound: bool = True
    """Whether the shape of the file allows its items to be verified at all."""

    def __init__(self, game: Game, variant: str, stored: int, positions: int) -> None:
        self.game, self.variant, self.stored, self.position_count = game, variant, stored, positions
        self.rules: Any = game
        """The game whose rules kernels call."""

    def begin(self) -> None:
        """Reset what has been found."""
        self.problems: list[Problem] = []
        self.wrong = 0
        self.tally = np.zeros((self.parts, self.legend_rows), TALLY)

    # Subclasses define these

    def __len__(self) -> int:
        """Return the number of items."""
        raise NotImplementedError

    def items(self) -> Iterable[int]:
        """Yield the items. `verify_item` is called for each one before the next."""
        return range(len(self))

    def position_at(self, item: int) -> int:
        """Return the position of an item; negative if the item stands for none."""
        raise NotImplementedError

    def check(self, item: int) -> Any:
        """Record what is wrong with an item, by the interpreted rules."""
        raise NotImplementedError

    def verify_item(self, item: int) -> None:
        """Check an item, and count it."""
        self.check(item)

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        """Verify all items with the compiled rules, and yield the results of tasks."""
        raise NotImplementedError

    def sample_items(self) -> Iterable[int]:
        """Return a sample of the items that stand for positions."""
        return ()

    def verify_whole(self) -> None:
        """Record what is wrong with the file as a whole."""

    def state_proof(self) -> str:
        """Return a sentence that says what is proven if nothing is wrong."""
        raise NotImplementedError

    def state_basis(self, compiled: bool) -> str:
        """Return what the proof takes for granted; more if *compiled* rules have run."""
        return "; ".join(["the rules as given", *([*self.rests_on, COMPILED] if compiled else [])])

    # The driver

    def is_small(self) -> bool:
        """Return whether to try interpreted rules first, because compiling takes longer than verifying."""
        return len(self) < SMALL

    def verify(self, workers: int | None, listener: Listener | None, interpreted: bool | None) -> Verification:
        """Verify all items, then the file as a whole. The parameters are those of `verify.verify`."""
        course = Course(positions_a_record=self.position_count / max(len(self), 1), exact=True)
        course.plan(**self.phases)
        phase = Phase("verifying", listener, len(self), course)
        phase.tell()
        self.begin()
        done, must_interpret = False, self.always_interpreted or bool(interpreted)
        if must_interpret or (interpreted is None and self.is_small()):
            done = self.verify_interpreted(phase, float("inf") if must_interpret else INTERPRETED_SECONDS)
        if not done:
            announce(listener, "compiling the rules")
            with ThreadPoolExecutor(workers or os.cpu_count() or 1) as executor:
                try:
                    self.verify_compiled(executor, phase)
                finally:
                    executor.shutdown(cancel_futures=True)
        if self.sound:
            self.verify_whole()
        phase.end()
        basis = self.state_basis(compiled=not done and self.rules_compile())
        return Verification(
            self.variant, self.stored, self.position_count, self.wrong, self.problems, self.state_proof(), basis
        )

    def verify_interpreted(self, phase: Phase, seconds: float) -> bool:
        """Verify all items with the interpreted rules; return whether *seconds*, anew in each call, sufficed."""
        if self.always_compiled:
            return False
        deadline = time.monotonic() + seconds
        self.begin()
        phase.restart()
        for item in self.items() if self.sound else ():
            if time.monotonic() > deadline:
                return False
            phase.advance(1)
            self.verify_item(item)
        return True

    def verify_compiled(self, executor: Executor, phase: Phase) -> None:
        """Verify all items with the compiled rules, and a sample with the interpreted rules."""
        self.begin()
        phase.restart()
        suspects: list[int] = []
        for result in self.verify_tasks(executor, phase) if self.sound else ():
            if result.tally is not None:
                add_up(self.tally[result.part], result.tally)
            suspects += result.wrong[: SAMPLE - len(suspects)].tolist()
            self.wrong += len(result.wrong)
            phase.advance(result.done)
        announce(phase.listener, "looking at a sample")
        for item in suspects[:MOST_PROBLEMS]:
            # `explain` counts the problem again.
            self.wrong -= 1
            self.explain(item)
        # Check a sample interpreted too: this is what protects against faults of the compiler.
        deadline = time.monotonic() + self.sample_seconds
        for item in self.sample_items() if self.sound and len(suspects) < SAMPLE else ():
            if time.monotonic() > deadline:
                break
            if item not in suspects:
                self.check(item)

    def rules_compile(self) -> bool:
        """Return whether no rule that a kernel called failed to compile."""
        from retrograde.solver.rules.ports import rules_for  # slow to import, and small databases do not need it

        return bool(getattr(rules_for(self.rules), "compiles", True))  # with NUMBA_DISABLE_JIT, the game itself

    def verify_block(self, run: Callable[[Array], TaskResult], items: Array) -> TaskResult:
        """Return the result of *run*, which verifies some items with a kernel. If the rules raise, which they may do
        for what is no position, the item is wrong. Halving the items finds it."""
        try:
            return run(items)
        except (NotCompilable, MemoryError):
            raise
        except Exception:
            if len(items) == 1:
                return TaskResult(items, 1)
        tally = np.zeros(self.legend_rows, TALLY)
        results = [self.verify_block(run, half) for half in np.array_split(items, 2)]
        for result in results:
            if result.tally is not None:
                add_up(tally, result.tally)
        return TaskResult(np.concatenate([result.wrong for result in results]), len(items), tally, results[0].part)

    def explain(self, item: int) -> None:
        """Record what is wrong with an item, in the words of the interpreted rules."""
        wrong_before = self.wrong
        self.check(item)
        if self.wrong == wrong_before:
            self.complain(self.position_at(item), self.unexplained)

    def complain(self, position: int | None, complaint: str) -> None:
        """Record one problem: of a position, or of the file as a whole (None)."""
        self.wrong += 1
        if len(self.problems) < MOST_PROBLEMS:
            text = "" if position is None else text_of(self.game, position)
            self.problems.append(Problem(position, text, complaint))


class DatabaseVerifier(Verifier):
    """A database and what is wrong with it. Counts are compared with those of the legend."""

    missing: ClassVar[str] = "is not stored"

    def __init__(self, database: Database) -> None:
        file = database.file
        super().__init__(database.game, file.variant, file.stored, file.positions)
        self.database, self.file, self.legend = database, file, file.legend
        self.legend_rows = len(file.legend)

    def row_of(self, position: int) -> int:
        """Return the row of the legend that is stored for a canonical position; -1 if none is."""
        raise NotImplementedError

    def verify_whole(self) -> None:
        """Verify the start, what play reaches, and the legend."""
        self.verify_start()
        self.verify_reached()
        self.verify_legend()

    def verify_start(self) -> None:
        """Record a problem if the start is not stored, or if the file's header contradicts what is stored."""
        start, file = given_start(self.game), self.file
        if start is None:  # a game without a start has no other first positions
            return
        canonical = self.game.canonical(start)
        row = self.row_of(canonical)
        if row < 0:
            self.complain(start, f"is the start, and {self.missing}")
        elif start not in images_of(self.game, canonical):
            self.complain(start, "is the start, and no image of the position stored for it")
        elif file.start != start or file.start_outcome != self.legend[row]:
            self.complain(start, "is the start, and the file's header has another start or another outcome")
        for other in self.game.starts:
            if other != start and self.row_of(self.game.canonical(other)) < 0:
                self.complain(other, f"is one of the first positions, and {self.missing}")

    def verify_reached(self) -> None:
        """Record items that are stored although play never reaches them."""

    def verify_legend(self) -> None:
        """Record rows of the legend with wrong counts or examples."""
        for number in self.rows_to_verify():
            row = self.legend[number]
            stored, positions, _, first = self.tally[0, number].item()
            name = words(outcome_of(row), row.measures)
            if stored != row.stored:
                self.complain(None, f"the legend counts {row.stored:,} records of {name}, and not {stored:,}")
            elif positions != row.positions:
                self.complain(None, f"the legend counts {row.positions:,} positions of {name}, and not {positions:,}")
            elif self.position_at(first) != row.example:
                example, other = (text_of(self.game, position) for position in (row.example, self.position_at(first)))
                self.complain(None, f"the legend's example of {name} is {example}, and the first is {other}")

    def rows_to_verify(self) -> Iterable[int]:
        """Return the rows of the legend that may be wrong."""
        return range(self.legend_rows)
