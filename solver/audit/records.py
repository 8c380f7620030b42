"""An audit: a database in memory, its records verified one by one, and a list of what is wrong (see verify.py)."""

import time
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from retrograde.databases import Database, LegendRow, Outcome
from retrograde.games.game import DRAW, UNDECIDED, Game, RuleError, defines
from retrograde.solver.audit.symmetry import MOST_IMAGES, chosen_image, derive, fault_of, images_of, stray_child, words
from retrograde.solver.rules.examine import examine
from retrograde.solver.work.progress import Phase

Array = np.ndarray[Any, Any]

INTERPRETED_SECONDS = 1.0
"""Databases that are verified interpreted in less are; compiling the rules may take longer."""
SAMPLE = 1_000
"""Records of a larger database that are verified interpreted as well."""
BLOCK = 1 << 16
"""Records in a task."""
MOST_PROBLEMS = 10
"""Problems that are told in full."""


class Problem(NamedTuple):
    """One thing that is wrong: the position (its number and its text, or None and "" for the whole) and a sentence."""

    position: int | None
    text: str
    complaint: str

    def __str__(self) -> str:
        return f"{self.text} {self.complaint}" if self.text else self.complaint


@dataclass
class Tally:
    """What records are counted, by row of the legend: `stored`, `positions` and the `first` record are int64[rows]."""

    stored: Array
    positions: Array
    first: Array

    @classmethod
    def of(cls, rows: int) -> "Tally":
        """Return a tally in which nothing is counted yet."""
        return cls(np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.full(rows, np.iinfo(np.int64).max))

    def add(self, other: "Tally") -> None:
        """Count what another tally has counted."""
        self.stored += other.stored
        self.positions += other.positions
        np.minimum(self.first, other.first, out=self.first)


@dataclass
class Audit:
    """A database in memory, and what is found about it.

    `positions` int64[n] and their `rows` in the legend are sorted tier by tier: tier k, of number `tiers[k]`, has the
    records from `bounds[k]` to `bounds[k + 1]`. `reached` and `expanded`, uint8[n], mark what play is seen to reach,
    and of that, whose children are marked.
    """

    database: Database

    def __post_init__(self) -> None:
        file = self.database.file
        self.game: Game = self.database.game
        self.legend: list[LegendRow] = file.legend
        self.outcomes = [Outcome(row.value, None if row.value == DRAW else row.remoteness) for row in self.legend]
        self.positions = np.empty(file.stored, np.int64)
        self.rows = np.empty(file.stored, np.min_scalar_type(len(self.legend)))
        tiers: list[int] = []
        bounds: list[int] = []
        end = 0
        for tier, positions, rows in file.pieces():
            if not tiers or tiers[-1] != tier:
                tiers.append(tier)
                bounds.append(end)
            self.positions[end : end + len(positions)] = positions
            self.rows[end : end + len(positions)] = rows
            end += len(positions)
        self.tiers, self.bounds = np.array(tiers, np.int64), np.array([*bounds, end], np.int64)
        self.values = np.array([row.value for row in self.legend], np.int64)
        self.remotenesses = np.array([row.remoteness for row in self.legend], np.int64)
        self.start = self.find(self.game.canonical(self.game.start))
        self.begin()

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.positions)

    def begin(self) -> None:
        """Forget what is found."""
        self.problems: list[Problem] = []
        self.wrong = 0
        self.tally = Tally.of(len(self.legend))
        self.reached = np.zeros(len(self.positions), np.uint8)
        self.expanded = np.zeros(len(self.positions), np.uint8)
        if self.start >= 0:
            self.reached[self.start] = 1

    def find(self, position: int) -> int:
        """Return the record of a canonical position, or -1."""
        tier = self.game.tier(position)
        k = int(self.tiers.searchsorted(tier))
        if k == len(self.tiers) or self.tiers[k] != tier:
            return -1
        low, high = self.bounds[k : k + 2].tolist()
        record = low + int(self.positions[low:high].searchsorted(position))
        return record if record < high and self.positions[record] == position else -1

    def tier_of(self, record: int) -> int:
        """Return the number of the tier in which a record is stored."""
        return int(self.tiers[self.bounds.searchsorted(record, "right") - 1])

    # Interpreted

    def verify_interpreted(self, phase: Phase, seconds: float) -> bool:
        """Verify all records by the interpreted rules, and return True; False where it takes more than some seconds."""
        children: list[list[int]] = []
        deadline = time.monotonic() + seconds
        self.begin()
        phase.done = 0
        for record in range(len(self.positions)):
            if time.monotonic() > deadline:
                return False
            children.append(self.check_record(record))
            row = self.rows[record]
            self.tally.stored[row] += 1
            self.tally.positions[row] += len(images_of(self.game, int(self.positions[record])))
            self.tally.first[row] = min(self.tally.first[row], record)
            phase.advance(1)
        open_records = [self.start] if self.start >= 0 else []
        while open_records:
            new = {child for record in open_records for child in children[record] if not self.reached[child]}
            open_records = list(new)
            self.reached[open_records] = 1
        return True

    def check_record(self, record: int) -> list[int]:
        """Derive the outcome of a record, note what is wrong, and return the records of the children."""
        position, stored = int(self.positions[record]), self.outcomes[self.rows[record]]
        try:
            tier = self.game.tier(position)
            canonical = self.game.canonical(position)
            value, moves, children = examine(self.game, position)
        except Exception as error:  # whatever the rules may raise when asked about what is no position
            self.complain(position, f"is stored, and no position: {error}")
            return []
        if tier != self.tier_of(record):
            self.complain(position, f"is stored in tier {self.tier_of(record)} and belongs in tier {tier}")
        elif canonical != position:
            self.complain(position, f"is stored, and equals {self.text(canonical)} by symmetry")
        elif self.database.get(position) != stored:
            self.complain(position, f"is stored as {words(stored)}, and is not found so when it is looked up")
        records = [self.find(child) for child in children]
        if -1 in records:
            move, child = next((moves[i], children[i]) for i, found in enumerate(records) if found < 0)
            self.complain(position, f"has a move to {self.text(child)}, which is not stored (move {move})")
            return [found for found in records if found >= 0]
        derived = derive(value, [self.outcomes[self.rows[found]] for found in records])
        if derived != stored:
            why = "the rules make it" if value != UNDECIDED else "its children make it"
            self.complain(position, f"is stored as {words(stored)}, and {why} {words(derived)}")
        elif canonical == position:
            self.check_symmetry(position, stored, moves, children)
        return records

    def check_symmetry(self, position: int, stored: Outcome, moves: list[int], children: list[int]) -> None:
        """Note where an image of a canonical position is not worth the same, or a child stands for no image of it."""
        if defines(self.game, "images"):
            fault = stray_child(self.game, position, moves, children, self.text)
            image = chosen_image(self.game, position)
            if not fault and image is not None:
                fault = fault_of(self.game, position, stored, image, self.outcome_of, self.text)
            if fault:
                self.complain(position, fault)

    def outcome_of(self, position: int) -> Outcome | None:
        """Return what is stored for a canonical position; None where nothing is."""
        record = self.find(position)
        return None if record < 0 else self.outcomes[self.rows[record]]

    # Compiled

    def can_compile(self) -> bool:
        """Compile the loop that verifies, and tell whether the rules allow it."""
        from numba.core.errors import NumbaError  # numba takes a while to import: not for small databases

        from retrograde.solver.rules import compiled

        compiled.prepare(self.game)
        try:
            self.run(np.empty(0, np.int64))
        except (NumbaError, RuleError):
            return False
        return True

    def run_span(self, begin: int) -> tuple[Tally, Array]:
        """Verify the records of one task."""
        return self.run(np.arange(begin, min(begin + BLOCK, len(self.positions))))

    def run(self, records: Array) -> tuple[Tally, Array]:
        """Verify some records, in ascending order; return their tally, and those with which something is wrong."""
        from retrograde.solver.audit.kernels import derive_all

        tally = Tally.of(len(self.legend))
        wrong = np.empty(len(records), np.int64)
        count = derive_all(
            self.game, MOST_IMAGES if defines(self.game, "images") else 1,
            self.tiers, self.bounds, self.positions, self.rows, self.values, self.remotenesses,
            records, self.reached, self.expanded, tally.stored, tally.positions, tally.first, wrong,
        )  # fmt: skip
        return tally, wrong[:count].copy()

    def verify_compiled(self, executor: Executor, phase: Phase) -> None:
        """Verify all records by the compiled rules, and some by the interpreted."""
        self.begin()
        phase.done = 0
        count = len(self.positions)
        suspects: list[int] = []
        for tally, wrong in executor.map(self.run_span, range(0, count, BLOCK)):
            self.tally.add(tally)
            suspects += wrong.tolist()
            phase.advance(int(tally.stored.sum()))
        while len(late := np.flatnonzero(self.reached > self.expanded)):  # reached only after they had been verified
            list(executor.map(self.run, (late[begin : begin + BLOCK] for begin in range(0, len(late), BLOCK))))
        for number, record in enumerate(suspects):
            self.note_suspect(record) if number < MOST_PROBLEMS else self.count()
        known = set(suspects)
        deadline = time.monotonic() + INTERPRETED_SECONDS
        for record in np.linspace(0, count - 1, min(SAMPLE, count)).astype(np.int64).tolist():
            if time.monotonic() > deadline:
                break
            if record not in known:
                self.check_record(record)

    def note_suspect(self, record: int) -> None:
        """Note what is wrong with a record by the interpreted rules, which can say it."""
        before = self.wrong
        self.check_record(record)
        if self.wrong == before:
            self.complain(int(self.positions[record]), "is right by the rules interpreted, wrong by the rules compiled")

    # What it amounts to

    def proven(self) -> str:
        """Return in a sentence what is proven where nothing is wrong."""
        images = ", there and at one image of each (all, where it has but one)" if defines(self.game, "images") else ""
        return f"every value follows by the rules from those of its children{images}; {self.covers()}"

    def covers(self) -> str:
        return "the positions are those that play reaches, no more and no less"

    def basis(self) -> list[str]:
        """Return what that takes for granted."""
        return ["the rules as given"]

    # The whole

    def verify_start(self) -> None:
        """Note if the start is not stored, or the file says something else about it."""
        file = self.database.file
        if self.start < 0:
            self.complain(self.game.start, "is the start, and is not stored")
        elif self.game.start not in images_of(self.game, self.game.canonical(self.game.start)):
            self.complain(self.game.start, "is the start, and no image of the position stored for it")
        elif file.start != self.game.start or file.start_outcome != self.legend[self.rows[self.start]]:
            self.complain(self.game.start, "is the start, and the file says something else about it elsewhere")

    def verify_reached(self) -> None:
        """Note the records that play never reaches. (Where more is wrong, that may be why.)"""
        if not self.wrong:
            for record in np.flatnonzero(self.reached == 0).tolist():
                self.complain(int(self.positions[record]), "is stored, and play never reaches it")

    def verify_legend(self) -> None:
        """Note the rows of the legend that do not say what there is."""
        for number, row in enumerate(self.legend):
            name = words(self.outcomes[number])
            stored, positions = int(self.tally.stored[number]), int(self.tally.positions[number])
            if stored != row.stored:
                self.complain(None, f"the legend counts {row.stored:,} records of {name}, and there are {stored:,}")
            elif positions != row.positions:
                self.complain(None, f"the legend counts {row.positions:,} positions of {name}, not {positions:,}")
            elif (first := int(self.positions[self.tally.first[number]])) != row.example:
                example, other = self.text(row.example), self.text(first)
                self.complain(None, f"the legend's example of {name} is {example}, and the first is {other}")

    def complain(self, position: int | None, complaint: str) -> None:
        """Note one thing that is wrong."""
        self.wrong += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(position, "" if position is None else self.text(position), complaint))

    def count(self) -> None:
        """Count one more thing that is wrong."""
        self.wrong += 1

    def text(self, position: int) -> str:
        """Return a position's text, or its number where the rules have no text for it."""
        try:
            return self.game.write(position)
        except Exception:  # it may be no position at all
            return str(position)
