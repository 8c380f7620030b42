"""Outcomes passed back through a tier whose slots lie in ranges: the one who solves keeps what is where, and how many.

Each step is a task for each range that has updates, or slots that are due; the updates that these make are those of
the step behind it. The order in which a range takes them decides nothing.
"""

from collections import defaultdict
from collections.abc import Iterable

from retrograde.solver.outcomes.propagation import Tell
from retrograde.solver.outcomes.score import TIE_CLASS, WIN_CLASS, RemotenessOverflow
from retrograde.solver.ranges.files import Section, Sections
from retrograde.solver.ranges.steps import Step, Turned, step
from retrograde.solver.work.scratch import Frame, Scratch
from retrograde.solver.work.work import Work


class RangedPropagation:
    """Does what Propagation does, with scores and what is left in the files of ranges, of `2**shift` slots each."""

    def __init__(self, work: Work, scratch: Scratch, shift: int, bits: int, ranges: Iterable[Turned], tell: Tell):
        self.work, self.scratch, self.shift, self.bits, self.tell = work, scratch, shift, bits, tell
        self.states, self.parents = [], []
        self.decided = self.total = 0
        for state, parents, decided in ranges:
            self.states.append(state)
            self.parents.append(parents)
            self.decided += decided
            self.total += state.size
        self.due: dict[int, set[int]] = {}
        """By remoteness, the numbers of the ranges in which slots may be due."""

    def run(self) -> None:
        """Score all slots but draws."""
        for group in (WIN_CLASS, TIE_CLASS):
            self.propagate(group)

    def propagate(self, group: int) -> None:
        """Pass back WINs and LOSEs, or TIEs."""
        remoteness = 0
        self.due = {0: set(range(len(self.states)))}
        updates: dict[int, list[Section]] = {}
        while updates or self.due:
            if not updates:
                remoteness = min(self.due)
            if remoteness >= (1 << self.bits) - 2:
                raise RemotenessOverflow
            updates = self.step(group, remoteness, updates)
            remoteness += 1

    def step(self, group: int, remoteness: int, updates: dict[int, list[Section]]) -> dict[int, list[Section]]:
        """Do a step of all ranges that have one to do; return the updates for the next one, by range."""
        due, name = self.due.pop(remoteness, set()), f"updates{group}.{remoteness}"
        numbers = sorted({*updates, *due})
        tasks = (
            Step(
                self.scratch, name, len(self.states), self.shift, self.states[number], self.parents[number], group,
                remoteness, number in due, updates.get(number, []),
            )
            for number in numbers
        )  # fmt: skip
        found: dict[int, list[Section]] = defaultdict(list)
        names = {section.name for sections in updates.values() for section in sections if isinstance(section, Frame)}
        before = {}
        for number, done in zip(numbers, self.work.map(step, tasks), strict=True):
            before[number] = self.states[number].name
            self.states[number] = done.state
            self.decided += done.decided
            for later in done.due:
                self.due.setdefault(later, set()).add(number)
            sort_in(found, done.updates)
            self.tell(self.decided, self.total, remoteness)
        for old in names | {old for number, old in before.items() if old != self.states[number].name}:
            self.scratch.drop(old)  # now that no task can need it any more
        return found


def sort_in(found: dict[int, list[Section]], updates: Sections) -> None:
    """Add what a range has been told to what it has been told by others."""
    for number in updates.ranges():
        found[number].append(updates.of(number))
