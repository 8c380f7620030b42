"""Propagation in a tier that is cut into ranges. The solver only tracks files and counts.

Each step is a task for each range that has updates or slots that are due. It returns updates for the next step. The
order in which a range takes updates does not matter.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

from retrograde.solver.methods.listed.predecessors.sorting import PutPart
from retrograde.solver.methods.listed.ranges.files import Section, Sections, State
from retrograde.solver.methods.listed.ranges.steps import Step, Steps, Turned, do_steps
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import ReportProgress
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS, RemotenessOverflow

TOGETHER = 100_000
"""Updates in a task, at least. Fewer take less time than sending the task."""
READ = 16
"""Reading this number of slots takes as long as one update."""


@dataclass
class Passing:
    """The progress of propagation, and the files that are needed to resume."""

    states: list[State] = field(default_factory=list)
    parents: list[PutPart] = field(default_factory=list)
    decided: int = 0
    due: dict[int, set[int]] = field(default_factory=dict)
    """By remoteness, the ranges that may have slots to be decided then."""
    updates: dict[int, list[Section]] = field(default_factory=dict)
    """By range, the updates for the next step."""
    group: int = WIN_CLASS
    """The class that is propagated: WIN_CLASS for wins and losses, then TIE_CLASS."""
    remoteness: int = 0
    """The remoteness of the next step."""

    @classmethod
    def begun(cls, ranges: Iterable[Turned]) -> Self:
        """Return the start of a propagation over assembled ranges."""
        passing = cls()
        for state, parents, decided in ranges:
            passing.states.append(state)
            passing.parents.append(parents)
            passing.decided += decided
        passing.begin(WIN_CLASS)
        return passing

    def begin(self, group: int) -> None:
        """Begin to propagate wins and losses, or ties."""
        self.group, self.remoteness, self.updates = group, 0, {}
        self.due = {0: set(range(len(self.states)))}

    @property
    def over(self) -> bool:
        """Whether this class has no step left."""
        return not self.updates and not self.due

    def frames(self) -> Iterator[Frame]:
        """Yield all frames that are needed to resume."""
        for state in self.states:
            yield from (state.base, *state.deltas)
        yield from (part.frame for part in self.parents)
        yield from (each for sections in self.updates.values() for each in sections if isinstance(each, Frame))


class RangedPropagation:
    """Does the same as Propagation, with scores and counters in files of ranges of `2**shift` slots.

    *mark* is called after each step, with the names of files that no later step reads.
    """

    def __init__(
        self, work: Work, scratch: Scratch, shift: int, bits: int, passing: Passing, tell: ReportProgress,
        mark: Callable[[set[str]], None],
    ):  # fmt: skip
        self.work, self.scratch, self.shift, self.bits, self.tell = work, scratch, shift, bits, tell
        self.passing, self.mark = passing, mark
        self.total = sum(state.size for state in passing.states)

    def run(self) -> None:
        """Score all slots except draws: wins and losses first, then ties."""
        passing = self.passing
        while not passing.over or passing.group == WIN_CLASS:
            if passing.over:
                passing.begin(TIE_CLASS)
            # Without updates, skip to the next remoteness at which a slot is due.
            if not passing.updates:
                passing.remoteness = min(passing.due)
            if passing.remoteness >= (1 << self.bits) - 2:
                raise RemotenessOverflow
            self.mark(self.step())

    def step(self) -> set[str]:
        """Run a step of all ranges that have one; return the names of files that are obsolete now."""
        passing, group, remoteness = self.passing, self.passing.group, self.passing.remoteness
        updates = passing.updates
        due, name = passing.due.pop(remoteness, set()), f"updates{group}.{remoteness}"
        numbers = sorted({*updates, *due})
        steps = (
            Step(
                self.scratch, len(passing.states), self.shift, passing.states[number], passing.parents[number],
                group, remoteness, number in due, updates.get(number, []),
            )
            for number in numbers
        )  # fmt: skip
        found: dict[int, list[Section]] = defaultdict(list)
        # Files of updates become obsolete after this step.
        old = {section.name for sections in updates.values() for section in sections if isinstance(section, Frame)}
        stepped = chain.from_iterable(self.work.map(do_steps, together(name, steps)))
        for number, done in zip(numbers, stepped, strict=True):
            if done.state.name != passing.states[number].name:
                old.add(passing.states[number].name)
            # A new base has a new name; the files of the old one are obsolete.
            passing.states[number] = done.state
            passing.decided += done.decided
            for later in done.due:
                passing.due.setdefault(later, set()).add(number)
            sort_in(found, done.updates)
            self.tell(passing.decided, self.total, remoteness, None)
        passing.updates, passing.remoteness = dict(found), remoteness + 1
        return old


def together(name: str, steps: Iterable[Step]) -> Iterator[Steps]:
    """Group steps into tasks: a small step is not worth sending alone."""
    some: list[Step] = []
    items = 0
    for one in steps:
        some.append(one)
        items += one.state.size // READ + sum(map(updates_in, one.updates))
        if items >= TOGETHER:
            yield Steps(name, some)
            some, items = [], 0
    if some:
        yield Steps(name, some)


def updates_in(section: Section) -> int:
    """Return the number of updates in a section."""
    return section.size // 4 if isinstance(section, Frame) else len(section)


def sort_in(found: dict[int, list[Section]], updates: Sections) -> None:
    """Add the updates that a range has made to those of each target range."""
    for number in updates.ranges():
        found[number].append(updates.of(number))
