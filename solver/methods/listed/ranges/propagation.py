"""Propagation in a tier that is cut into ranges. The solver only tracks files and counts.

Each step is a task for each range that has updates or slots that are due. It returns updates for the next step. The
order in which a range takes updates does not matter.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

from retrograde.solver.methods.listed.predecessors.sorting import StoredParentLists
from retrograde.solver.methods.listed.ranges.files import RangeResult, RangeState
from retrograde.solver.methods.listed.ranges.steps import AssembledRange, StepsTask, StepTask, run_steps
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.propagation import ReportProgress
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS, RemotenessOverflow

TOGETHER = 100_000
"""Updates in a task, at least. Fewer take less time than sending the task."""
READ = 16
"""Reading this number of slots takes as long as one update."""


@dataclass
class RangePropagationProgress:
    """The progress of propagation, and the files that are needed to resume. Scores have *bits* bits for plies."""

    bits: int
    states: list[RangeState] = field(default_factory=list)
    parents: list[StoredParentLists] = field(default_factory=list)
    decided: int = 0
    due: dict[int, set[int]] = field(default_factory=dict)
    """By remoteness, the ranges that may have slots to be decided then."""
    updates: dict[int, list[RangeResult]] = field(default_factory=dict)
    """By range, the updates for the next step."""
    group: int = WIN_CLASS
    """The class that is propagated: WIN_CLASS for wins and losses, then TIE_CLASS."""
    remoteness: int = 0
    """The remoteness of the next step."""

    @classmethod
    def start(cls, bits: int, ranges: Iterable[AssembledRange]) -> Self:
        """Return the start of a propagation over assembled ranges."""
        progress = cls(bits)
        for state, parents, decided in ranges:
            progress.states.append(state)
            progress.parents.append(parents)
            progress.decided += decided
        progress.begin(WIN_CLASS)
        return progress

    def begin(self, group: int) -> None:
        """Begin to propagate wins and losses, or ties."""
        self.group, self.remoteness, self.updates = group, 0, {}
        self.due = {0: set(range(len(self.states)))}

    @property
    def over(self) -> bool:
        """Whether this class has no step left."""
        return not self.updates and not self.due


class RangePropagation:
    """Does the same as Propagation, with scores and counters in files of ranges of `2**shift` slots.

    *mark* is called after each step, with the names of files that no later step reads.
    """

    def __init__(
        self, work: Work, scratch: Scratch, shift: int, progress: RangePropagationProgress, tell: ReportProgress,
        mark: Callable[[set[str]], None],
    ):  # fmt: skip
        self.work, self.scratch, self.shift, self.tell = work, scratch, shift, tell
        self.progress, self.mark = progress, mark
        self.total = sum(state.size for state in progress.states)

    def run(self) -> None:
        """Score all slots except draws: wins and losses first, then ties."""
        progress = self.progress
        while not progress.over or progress.group == WIN_CLASS:
            if progress.over:
                progress.begin(TIE_CLASS)
            # Without updates, skip to the next remoteness at which a slot is due.
            if not progress.updates:
                progress.remoteness = min(progress.due)
            if progress.remoteness >= (1 << progress.bits) - 2:
                raise RemotenessOverflow
            self.mark(self.step())

    def step(self) -> set[str]:
        """Run a step of all ranges that have one; return the names of files that are obsolete now."""
        progress, group, remoteness = self.progress, self.progress.group, self.progress.remoteness
        updates = progress.updates
        due = progress.due.pop(remoteness, set())
        numbers = sorted({*updates, *due})
        steps = (
            StepTask(
                self.scratch, len(progress.states), self.shift, progress.states[number], progress.parents[number],
                group, remoteness, number in due, updates.get(number, []),
            )
            for number in numbers
        )  # fmt: skip
        found: dict[int, list[RangeResult]] = defaultdict(list)
        # Files of updates become obsolete after this step.
        old = {result.name for results in updates.values() for result in results if isinstance(result, Frame)}
        tasks = group_steps(f"updates{group}.{remoteness}", steps)
        for number, done in zip(numbers, chain.from_iterable(self.work.map(run_steps, tasks)), strict=True):
            if done.state.name != progress.states[number].name:
                old.add(progress.states[number].name)
            # A new base has a new name; the files of the old one are obsolete.
            progress.states[number] = done.state
            progress.decided += done.decided
            for later in done.due:
                progress.due.setdefault(later, set()).add(number)
            for target in done.updates.ranges():
                found[target].append(done.updates.result(target))
            self.tell(progress.decided, self.total, remoteness, None)
        progress.updates, progress.remoteness = dict(found), remoteness + 1
        return old


def group_steps(name: str, steps: Iterable[StepTask]) -> Iterator[StepsTask]:
    """Group steps into tasks: a small step is not worth sending alone."""
    together: list[StepTask] = []
    items = 0
    for step in steps:
        together.append(step)
        items += step.state.size // READ + sum(map(count_updates, step.updates))
        if items >= TOGETHER:
            yield StepsTask(name, together)
            together, items = [], 0
    if together:
        yield StepsTask(name, together)


def count_updates(result: RangeResult) -> int:
    """Return the number of updates for a range."""
    return result.size // 4 if isinstance(result, Frame) else len(result)
