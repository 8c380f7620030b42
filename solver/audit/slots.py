"""The audit of a database with a dense numbering: each slot that stands for a position verified (see verify.py)."""

import time
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from retrograde.databases import Outcome
from retrograde.games.game import DRAW, UNDECIDED, RuleError, defines
from retrograde.solver.audit.records import (
    BLOCK,
    INTERPRETED_SECONDS,
    MOST_PROBLEMS,
    SAMPLE,
    Audit,
    Tally,
)
from retrograde.solver.audit.symmetry import MOST_IMAGES, derive, images_of, words
from retrograde.solver.numbered.numbering import Numbering
from retrograde.solver.rules.examine import examine
from retrograde.solver.work.progress import Phase

Array = np.ndarray[Any, Any]


class Stretch(NamedTuple):
    """Slots of a part of a tier, numbered in the tier; `part` counts through all tiers."""

    part: int
    tier: int
    begin: int
    end: int


class DenseAudit(Audit):
    """A database with a dense numbering in memory, and what is found about it.

    `rows` has for each slot the row of the legend; tier k, of number `tiers[k]`, has the slots from `bounds[k]` to
    `bounds[k + 1]`; `filled` tells which stand for a position, where rules are compiled. `tallies` has one for each
    part of each tier; their `first` is a slot of the tier.
    """

    def __post_init__(self) -> None:
        file = self.database.file
        self.game = self.database.game
        self.legend = file.legend
        self.outcomes = [Outcome(row.value, None if row.value == DRAW else row.remoteness) for row in self.legend]
        self.rows = file.all_slots()
        self.tiers, self.bounds = file.dense_tiers
        self.values = np.array([row.value for row in self.legend], np.int64)
        self.remotenesses = np.array([row.remoteness for row in self.legend], np.int64)
        numbering = Numbering.of(self.game)
        self.sound = np.array_equal(numbering.tiers, self.tiers) and np.array_equal(numbering.starts, self.bounds)
        self.parts = []
        for number, (tier, _, where) in enumerate(numbering.parts(self.game)):
            first = int(numbering.starts[numbering.row(tier)])
            self.parts.append(Stretch(number, tier, where.start - first, where.stop - first))
        self.begin()

    def __len__(self) -> int:
        return len(self.rows)

    def begin(self) -> None:
        """Forget what is found."""
        self.problems, self.wrong = [], 0
        self.tallies = [Tally.of(len(self.legend)) for _ in self.parts]
        if not self.sound:
            self.complain(None, "the tiers of the file are not those of the game, or of another size")

    def stretches(self) -> list[Stretch]:
        """Return all slots, a task's worth at a time."""
        return [
            part._replace(begin=begin, end=min(begin + BLOCK, part.end))
            for part in self.parts
            for begin in range(part.begin, part.end, BLOCK)
        ]

    def row_of(self, tier: int, slot: int) -> int:
        """Return the row of the legend of a slot; -1 where there is no such slot."""
        k = int(self.tiers.searchsorted(tier))
        if k == len(self.tiers) or self.tiers[k] != tier or not 0 <= slot < self.bounds[k + 1] - self.bounds[k]:
            return -1
        return int(self.rows[self.bounds[k] + slot])

    # Interpreted

    def verify_interpreted(self, phase: Phase, seconds: float) -> bool:
        """Verify all slots by the interpreted rules, and return True; False where it takes more than some seconds."""
        deadline = time.monotonic() + seconds
        self.begin()
        phase.done = 0
        for stretch in self.stretches() if self.sound else []:
            for slot in range(stretch.begin, stretch.end):
                if time.monotonic() > deadline:
                    return False
                phase.advance(1)
                position = self.game.unindex(stretch.tier, slot)
                if position < 0:
                    continue
                tally, row = self.tallies[stretch.part], self.row_of(stretch.tier, slot)
                tally.stored[row] += 1
                tally.positions[row] += len(images_of(self.game, position))
                tally.first[row] = min(tally.first[row], slot)
                self.check_slot(stretch.tier, slot)
        return True

    def check_slot(self, tier: int, slot: int) -> None:
        """Derive the outcome of a slot that stands for a position, and note what is wrong."""
        position, stored = self.game.unindex(tier, slot), self.outcomes[self.row_of(tier, slot)]
        try:
            place = self.game.tier(position), self.game.index(position)
            canonical = self.game.canonical(position)
            value, moves, children = examine(self.game, position)
            places = [(self.game.tier(child), self.game.index(child)) for child in children]
        except Exception as error:  # whatever the rules may raise
            self.complain(position, f"is no position: {error}")
            return
        if place != (tier, slot):
            self.complain(position, f"is in slot {slot} of tier {tier} and belongs in slot {place[1]} of {place[0]}")
        elif canonical != position:
            self.complain(position, f"has a slot, and equals {self.text(canonical)} by symmetry")
        elif self.database.get(position) != stored:
            self.complain(position, f"is stored as {words(stored)}, and is not found so when it is looked up")
        rows = [self.row_of(*place) for place in places]
        if -1 in rows:
            i = rows.index(-1)
            self.complain(position, f"has a move to {self.text(children[i])}, which has no slot (move {moves[i]})")
            return
        for move, child, place in zip(moves, children, places, strict=True):
            reached = self.game.do_move(position, move)
            for one in (child, reached):
                if (there := self.game.unindex(place[0], self.game.index(one))) != child:
                    what = f"which has the slot of {self.text(there)}, and equals {self.text(child)}"
                    self.complain(position, f"has a move to {self.text(one)}, {what} (move {move})")
                    return
        derived = derive(value, [self.outcomes[row] for row in rows])
        if derived != stored:
            why = "the rules make it" if value != UNDECIDED else "its children make it"
            self.complain(position, f"is stored as {words(stored)}, and {why} {words(derived)}")
        elif canonical == position:
            self.check_symmetry(position, stored, moves, children)

    def outcome_of(self, position: int) -> Outcome | None:
        row = self.row_of(self.game.tier(position), self.game.index(position))
        return None if row < 0 else self.outcomes[row]

    # Compiled

    def can_compile(self) -> bool:
        """Compile the loop that verifies, and tell whether the rules allow it."""
        from numba.core.errors import NumbaError

        from retrograde.solver.rules import compiled

        compiled.prepare(self.game.family)
        nothing = self.parts[0]._replace(end=self.parts[0].begin)
        self.filled = np.zeros(len(self.rows) if self.sound else 0, np.bool_)
        try:
            self.fill_stretch(nothing)
            self.run_stretch(nothing)
        except (NumbaError, RuleError):
            return False
        return True

    def fill_stretch(self, stretch: Stretch) -> None:
        """Note which of some slots stand for a position."""
        from retrograde.solver.audit.slot_kernels import find_filled

        first = self.bounds[self.tiers.searchsorted(stretch.tier)]
        filled = self.filled[first + stretch.begin : first + stretch.end]
        find_filled(self.game.family, stretch.tier, stretch.begin, stretch.end, filled)

    def run_stretch(self, stretch: Stretch) -> tuple[Stretch, Tally, Array]:
        """Verify some slots; return their tally, and those with which something is wrong."""
        from retrograde.solver.audit.slot_kernels import derive_slots

        tally = Tally.of(len(self.legend))
        wrong = np.empty(stretch.end - stretch.begin, np.int64)
        count = derive_slots(
            self.game.family, MOST_IMAGES if defines(self.game, "images") else 1,
            self.tiers, self.bounds, self.filled, self.rows, self.values, self.remotenesses,
            stretch.tier, stretch.begin, stretch.end, tally.stored, tally.positions, tally.first, wrong,
        )  # fmt: skip
        return stretch, tally, wrong[:count].copy()

    def verify_compiled(self, executor: Executor, phase: Phase) -> None:
        """Verify all slots by the compiled rules, and some by the interpreted."""
        self.begin()
        phase.done = 0
        stretches = self.stretches() if self.sound else []
        list(executor.map(self.fill_stretch, stretches))
        suspects: list[tuple[int, int]] = []
        for stretch, tally, wrong in executor.map(self.run_stretch, stretches):
            self.tallies[stretch.part].add(tally)
            suspects += [(stretch.tier, slot) for slot in wrong.tolist()]
            phase.advance(stretch.end - stretch.begin)
        for number, (tier, slot) in enumerate(suspects):
            before = self.wrong
            if number < MOST_PROBLEMS:
                self.check_slot(tier, slot)
            if self.wrong == before:
                self.count()
        deadline, known = time.monotonic() + INTERPRETED_SECONDS, set(suspects)
        for place in np.linspace(0, len(self.rows) - 1, min(SAMPLE, len(self.rows))).astype(np.int64).tolist():
            k = int(self.bounds.searchsorted(place, "right")) - 1
            tier, slot = int(self.tiers[k]), place - int(self.bounds[k])
            if time.monotonic() > deadline or not self.sound:
                break
            if (tier, slot) not in known and self.game.unindex(tier, slot) >= 0:
                self.check_slot(tier, slot)

    # What it amounts to

    def covers(self) -> str:
        return "every slot has the position that it stands for, and every child has a slot"

    # The whole

    def verify_start(self) -> None:
        """Note if the game has a start, and the file says something else about it."""
        start, file = getattr(self.game, "start", None), self.database.file
        if start is None or not self.sound:
            return
        row = self.row_of(self.game.tier(start), self.game.index(start))
        if file.start != start or row < 0 or file.start_outcome != self.legend[row]:
            self.complain(start, "is the start, and the file says something else about it elsewhere")

    def verify_reached(self) -> None:
        """Do nothing: every position counts, whether or not play leads there."""

    def verify_legend(self) -> None:
        """Note the rows of the counts and of the legend that do not say what there is."""
        if not self.sound:
            return
        counts = {(row.tier, row.part, row.outcome): row for row in self.database.file.counts}
        for part, tally in zip(self.parts, self.tallies, strict=True):
            number = part.part - next(other.part for other in self.parts if other.tier == part.tier)
            name = f"tier {self.game.tier_name(part.tier)}, part {number}"
            for outcome in range(len(self.legend)):
                told = counts.get((part.tier, number, outcome))
                stored, positions = int(tally.stored[outcome]), int(tally.positions[outcome])
                if (told.stored if told else 0, told.positions if told else 0) != (stored, positions):
                    what = words(self.outcomes[outcome])
                    self.complain(None, f"of {what} the file counts others in {name} than the {stored:,} there are")
                elif told and told.example != self.game.unindex(part.tier, int(tally.first[outcome])):
                    what = words(self.outcomes[outcome])
                    self.complain(None, f"the example of {what} in {name} is {self.text(told.example)}, not the first")
        for outcome, row in enumerate(self.legend):
            mine = [tally for tally in self.tallies if tally.stored[outcome]]
            if row.positions != sum(int(tally.positions[outcome]) for tally in mine):
                self.complain(None, f"the legend counts other positions of {words(self.outcomes[outcome])}")
