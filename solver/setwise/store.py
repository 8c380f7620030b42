"""Back: what the waves are worth, last first, and the steps of the database."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.outcomes.score import LOSE_CLASS, TIE_CLASS, WIN_CLASS
from retrograde.solver.setwise.backward_kernels import NONE, StepRoom, backward, make_steps
from retrograde.solver.setwise.forward_kernels import FROM, Sets
from retrograde.solver.setwise.rules import Program, Rules
from retrograde.solver.setwise.tier_kernels import NUMBER, WORDS
from retrograde.solver.setwise.waves import Wave, stretches
from retrograde.solver.streamed.lists import MADE
from retrograde.solver.streamed.segments import Tier, add_up, buffer, segment_of
from retrograde.solver.streamed.steps import POSITIONS, TALLIED
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.scratch import Scratch
from retrograde.solver.work.tasks import room
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

TASK_WORDS = 1 << 14
"""Words in a task, at least, where there are so many."""


def planes_for(plies: int) -> int:
    """Return how many planes there are so many plies before the last wave."""
    return max(2, ((plies + 1) // 2).bit_length() + 1)


def codes_for(count: int, plies: int) -> Array:
    """Return the codes (see streamed/steps.py) of worths in so many planes, so many plies before the last wave."""
    half = 1 << count - 1
    worths = np.arange(2 * half)
    codes = 2 * worths << 2 | LOSE_CLASS
    codes[half] = plies << 2 | TIE_CLASS
    codes[half + 1 :] = (2 * (2 * half - 1 - worths[half + 1 :]) + 1) << 2 | WIN_CLASS
    return codes.astype(np.uint16)


class Back(NamedTuple):
    """What the tasks of a wave are told: the program of images, its sets, the links out of its tiers and where those of
    each begin; the sets of the wave after, their planes, and how many these are; and the planes to be, with codes."""

    imaging: Program
    sets: Sets
    links: Array
    starts: Array
    after: Sets
    planes_after: Array
    planes: Array
    codes: Array
    scratch: Scratch
    rows: int


class Task(NamedTuple):
    """Tiers of a wave, from one row to another, to be solved."""

    back: Back
    begin: int
    end: int


class Solved(NamedTuple):
    """Which tiers are solved; for each a row of its steps and the frame they are in; a tally by code; and how many
    canonical positions there are."""

    begin: int
    end: int
    made: Array
    frame: Any
    tally: Array
    records: int


def solve_tiers(task: Task) -> Solved:
    """Solve some tiers, and put their steps aside."""
    back, begin, end = task
    sets, codes = back.sets, back.codes
    count = len(back.planes)
    worths = np.zeros((end - begin, len(codes)), np.int64)
    own = back.starts[begin : end + 1]
    backward(
        back.imaging, sets, begin, end, back.links, own, back.after, back.planes_after, len(back.planes_after),
        back.planes, count, worths,
    )  # fmt: skip
    largest, all_of = int(worths.sum(axis=1).max()), int(worths.sum())
    tally, made = np.zeros((back.rows, TALLIED), np.int64), np.zeros((end - begin, MADE), np.int64)
    of_steps = StepRoom(room("steps", largest), room("codes", largest, np.uint16))
    out = buffer("out", all_of, end - begin)
    records = make_steps(back.imaging, sets, begin, end, back.planes, count, codes, of_steps, out, made, tally, worths)
    size = int((made[:, 0] + made[:, 1]).max())
    frame = back.scratch.write("records", out.bytes[:size].data)
    return Solved(begin, end, made, frame, tally, records)


class SetwiseStore:
    """The steps of all waves in the making, and what the writer of a database asks of them.

    `over` and `tally` count positions where the game is over by primitive value, and others by code; `start_tally` is
    that of the first wave.
    """

    def __init__(self, rules: Rules, work: Work, scratch: Scratch, found: list[Wave], over: Array):
        self.rules, self.work, self.scratch, self.found, self.over = rules, work, scratch, found, over
        self.tally, self.start_tally = np.zeros((2, 4 * (len(found) + 2), TALLIED), np.int64)
        self.waves: list[dict[int, Tier]] = [{} for _ in found]

    def solve(self, phase: Phase, times: float) -> None:
        """Solve all waves, of whose positions so many are told of for each; what is no longer needed is forgotten."""
        last = len(self.found) - 1
        after = self.found.pop()
        planes = np.zeros((planes_for(0), len(after.sets.words) + 1), np.uint64)
        planes[-1, :-1] = after.sets.words  # what has not been lost is tied
        while self.found:
            wave = self.found.pop()
            number = len(self.found)
            plies = last - number
            count = planes_for(plies)
            words = len(wave.sets.words)
            self.work.budget.check(8 * words * count, "solving by words")
            own = np.empty((count, words + 1), np.uint64)  # one more to be looked at where there is none
            links, starts = links_out(wave, after)
            back = Back(
                self.rules.imaging, wave.sets, links, starts, after.sets, planes, own, codes_for(count, plies),
                self.scratch, len(self.tally),
            )  # fmt: skip
            for solved in self.work.map(solve_tiers, tasks_of(back)):
                self.keep(number, wave.sets.tiers, solved)
                phase.advance(solved.records, positions=times * int(solved.tally[:, POSITIONS].sum()))
            after, planes = wave, own
        phase.end()

    def keep(self, number: int, tiers: Array, solved: Solved) -> None:
        """Take the steps of some tiers."""
        for row, made in zip(range(solved.begin, solved.end), solved.made.tolist(), strict=True):
            name = int(tiers[row, NUMBER])
            segment = segment_of("records", (*solved.frame[1:], *made))
            self.waves[number][name] = Tier(name, segment.mask, [segment], None, (), (), records={0: segment})
        for one in (self.tally, self.start_tally)[: 1 + (number == 0)]:
            add_up(one, solved.tally)


def links_out(wave: Wave, after: Wave) -> tuple[Array, Array]:
    """Return the links out of the tiers of a wave, and where those of each begin."""
    rows = np.repeat(np.arange(len(after.starts) - 1), np.diff(after.starts))
    order = np.argsort(after.links[:, FROM], kind="stable")
    links = after.links[order].copy()
    links[:, FROM] = np.where(after.sets.tiers[rows[order], WORDS] > 0, rows[order], NONE)
    froms = after.links[order, FROM]
    return links, np.searchsorted(froms, np.arange(len(wave.sets.tiers) + 1))


def tasks_of(back: Back) -> Iterator[Task]:
    """Yield tasks that solve the tiers of a wave."""
    weights = back.sets.tiers[:, WORDS]
    for begin, end in stretches(weights, TASK_WORDS):
        if weights[begin:end].any():
            yield Task(back, begin, end)
