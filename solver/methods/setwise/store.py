"""Back: what the waves are worth, last first, and the steps of the database."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import WIN
from retrograde.solver.methods.setwise.backward_kernels import NONE, TO, TURNED, backward
from retrograde.solver.methods.setwise.forward_kernels import FROM, PLACE, SHARED
from retrograde.solver.methods.setwise.kept import (
    NO_LINKS,
    NO_STARTS,
    Aside,
    Wave,
    planes_for,
    room_for_planes,
    rooms_to_spread,
    save_memory,
    words_together,
)
from retrograde.solver.methods.setwise.step_kernels import StepRoom, make_steps
from retrograde.solver.methods.setwise.twins import in_mirror
from retrograde.solver.methods.streamed.lists import AT, LENGTH, MADE, SIZE
from retrograde.solver.methods.streamed.segments import Tier, add_up, buffer, segment_of
from retrograde.solver.methods.streamed.steps import POSITIONS, TALLIED
from retrograde.solver.rules.plain.rules import Program, Rules
from retrograde.solver.rules.plain.tier_kernels import COUNT, NUMBER, WORD, WORDS
from retrograde.solver.runtime.cluster.sheets import is_sheet, new_sheet
from retrograde.solver.runtime.driver import Done, Kept
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import Frame, Scratch, Told
from retrograde.solver.runtime.tasks import room
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import LOSE_CLASS, TIE_CLASS, WIN_CLASS

Array = np.ndarray[Any, Any]

TASK_WORDS, LEAST_WORDS = 1 << 19, 1 << 13
"""Words in a task, at least: what several tiers need of the tiers after is made ready once where they are in one task;
and where these would be too few for all workers."""


def codes_for(count: int, plies: int, misere: bool) -> Array:
    """Return the codes (see streamed/steps.py) of worths in so many planes, so many plies before the last wave."""
    half = 1 << count - 1
    worths = np.arange(2 * half)
    low, high = (WIN_CLASS, LOSE_CLASS) if misere else (LOSE_CLASS, WIN_CLASS)
    codes = 2 * worths << 2 | low
    codes[half] = plies << 2 | TIE_CLASS
    codes[half + 1 :] = (2 * (2 * half - 1 - worths[half + 1 :]) + 1) << 2 | high
    return codes.astype(np.uint16)


class Back(NamedTuple):
    """What the tasks of a wave are told: the program of images, and whether it is misère play; where things are put
    aside, and steps; the wave, the links out of its tiers and where those of each begin; the wave after, and in how
    many planes its worths are; those to be made, and codes by worth; and how many codes are tallied."""

    imaging: Program
    misere: bool
    aside: Aside
    scratch: Scratch
    wave: Wave
    links: Array
    starts: Array
    after: Wave
    planes_after: int
    planes: int
    codes: Array
    rows: int


class Task(NamedTuple):
    """The number of a wave, and which of its chunks, from one to another, are to be solved."""

    told: Told[Back]
    wave: int
    begin: int
    end: int


class Solved(NamedTuple):
    """Which chunks are solved; for each tier a row of its steps and the frame they are in; a tally by code; how many
    canonical positions there are; and where the planes of each chunk were put, if the wave is not spread."""

    begin: int
    end: int
    made: Array
    frame: Frame
    tally: Array
    records: int
    planes: list[Any]


def solve_tiers(task: Task) -> Solved:
    """Solve the tiers of some chunks, and put their planes and their steps aside."""
    (begin, end), back = task[2:], task.told.content
    wave, after, aside, codes, count = back.wave, back.after, back.aside, back.codes, back.planes
    first, behind = wave.rows_of(begin)[0], wave.rows_of(end - 1)[1]
    starts = back.starts[first : behind + 1]
    links = back.links[starts[0] : starts[-1]].copy()
    if wave.spread and after.spread:
        sets, planes = wave.spread
        sets = sets._replace(tiers=sets.tiers[first:behind])
        sets_after, planes_after = after.spread
    else:
        sets = wave.take(aside, np.arange(first, behind), "own")
        there = links[:, TO] != NONE
        rows, links[there, TO] = np.unique(links[there, TO], return_inverse=True)
        sets_after, planes_after = after.take_worths(aside, rows, back.planes_after, "after")
        planes = room_for_planes("own", count, int(sets.tiers[:, WORDS].sum()))
    worths = np.zeros((behind - first, len(codes)), np.int64)
    backward(
        back.imaging, back.misere, after.mirror, sets, links, starts - starts[0], sets_after, planes_after, planes,
        worths,
    )  # fmt: skip
    put = []
    for chunk in range(begin, end) if not wave.spread else ():
        own = wave.rows_of(chunk)[0] - first
        put.append(wave.put_planes(aside, chunk, sets.words, planes, int(sets.tiers[own, WORD])))
    largest, all_of = int(sets.tiers[:, COUNT].max()), int(sets.tiers[:, COUNT].sum())
    tally, made = np.zeros((back.rows, TALLIED), np.int64), np.zeros((behind - first, MADE), np.int64)
    of_steps = StepRoom(room("steps", largest), room("codes", largest, np.uint16))
    out = buffer("out", all_of, behind - first)
    records = make_steps(back.imaging, back.misere, sets, planes, codes, of_steps, out, made, tally, worths)
    size = int((made[:, AT] + made[:, SIZE]).max())
    return Solved(begin, end, made, back.scratch.write("records", out.bytes[:size].data), tally, records, put)


class SetwiseStore:
    """The steps of all waves in the making, and what the writer of a database asks of them. A group is the number of a
    wave.

    `over` and `tally` count positions where the game is over by primitive value, and others by code; `start_tally` is
    that of the first wave.
    """

    def __init__(
        self, rules: Rules, work: Work, log: Log, scratch: Scratch, aside: Aside, found: list[Wave], over: Array,
        times: float,
    ):  # fmt: skip
        """Take waves that are found, and *times* how many positions are to be told of for each of theirs."""
        self.rules, self.work, self.log, self.scratch, self.aside = rules, work, log, scratch, aside
        self.found, self.over, self.times = found, over, times
        self.tally, self.start_tally = np.zeros((2, 4 * (len(found) + 2), TALLIED), np.int64)
        self.waves: list[dict[int, Tier]] = [{} for _ in found]
        self.last = len(found) - 1
        self.left: list[set[int]] = [set(np.flatnonzero(wave.words_in()).tolist()) for wave in found]
        """The chunks that are not solved, by wave."""
        self.rooms = rooms_to_spread(found) if aside.spreads and not aside.scratch else []
        for wave in found:
            wave.planes = [None] * len(wave.sets)

    def groups(self) -> Iterator[int]:
        """Yield the numbers of the waves but for the last, last first; raise DamagedScratch where files are gone that
        are needed."""
        if self.aside.scratch:
            for frame in self.scratch.missing(self.needed()):
                raise self.scratch.damaged(frame)
        last = self.found[self.last]
        if self.rooms:
            (_, _, _, words), planes = last.spread_out(self.aside, planes_for(0), self.rooms[self.last & 1])
            planes[:] = 0
            planes[-1] = words[: planes.shape[1]]  # what has not been lost is tied
            yield from reversed(range(self.last))
            self.found[0].spread = None
            self.rooms.clear()
            return
        self.find_sheet(last)
        for chunk in self.left[self.last] if self.left[self.last - 1] else ():
            rows = np.arange(*last.rows_of(chunk))
            sets = last.take(self.aside, rows, "own")
            planes = room_for_planes("own", planes_for(0), int(sets.tiers[:, WORDS].sum()))
            planes[:] = 0
            planes[-1] = sets.words[: planes.shape[1]]  # tied, as above
            last.planes[chunk] = last.put_planes(self.aside, chunk, sets.words, planes, 0)
        yield from reversed(range(self.last))

    def needed(self) -> list[Frame]:
        """Return the frames that are of use: sets and planes of waves that are not solved and those after them, and
        steps."""
        found = [frame for number in range(self.last) for frame in self.steps_of(number)]
        for wave, after in pairwise(self.found):
            if self.left[wave.number]:
                found += [*wave.sets, *after.sets, *filter(None, wave.planes + after.planes)]
        return found

    def steps_of(self, number: int) -> list[Frame]:
        """Return the frames of the steps of a wave."""
        return [records.frame for tier in self.waves[number].values() for records in tier.records.values()]

    def keep(self, done: Done) -> Kept:
        """Take the steps and planes of some chunks."""
        (number, begin, end, records), where, tally, frames = done
        wave = self.found[number]
        for chunk, row in zip(range(begin, end), frames.reshape(-1, len(Frame._fields) - 1).tolist(), strict=False):
            wave.planes[chunk] = Frame(f"planes{number}", *row)
        self.left[number].difference_update(range(begin, end))
        frame, made = where[: len(Frame._fields) - 1].tolist(), where[len(Frame._fields) - 1 :].reshape(-1, MADE)
        for tier, steps in enumerate(made.tolist(), wave.rows_of(int(begin))[0]):
            name = int(wave.tiers[tier, NUMBER])
            if not steps[LENGTH]:
                continue
            segment = segment_of("records", (*frame, *steps))
            self.waves[number][name] = Tier(name, segment.mask, [segment], None, (), (), records={0: segment})
        counted = tally.reshape(-1, TALLIED)
        for one in (self.tally, self.start_tally)[: 1 + (number == 0)]:
            add_up(one, counted)
        return Kept(int(records), None, self.times * int(counted[:, POSITIONS].sum()))

    def solve(self, number: int, phase: Phase) -> Iterator[Done]:
        """Yield the worths of chunks of a wave; then forget its sets, and all of the wave after it."""
        wave, after = self.found[number], self.found[number + 1]
        if not self.left[number]:
            return
        misere = self.rules.decided == WIN
        links, starts = links_out(wave, after, misere)
        plies = self.last - number
        count = planes_for(plies)
        if self.rooms:
            wave.spread_out(self.aside, count, self.rooms[number & 1])
        for each in (wave, after):
            self.find_sheet(each)
        back = Back(
            self.rules.imaging, misere, self.aside, self.scratch, wave.without_links(), links, starts,
            after.without_links(), planes_for(plies - 1), count, codes_for(count, plies, misere), len(self.tally),
        )  # fmt: skip
        tasks = list(self.tasks(Told(back, self.aside.scratch, f"told{number}"), wave))
        done = self.work.as_completed(solve_tiers, tasks) if len(tasks) > 1 else map(solve_tiers, tasks)
        for solved in done:
            if solved.planes:
                wave.planes[solved.begin : solved.end] = solved.planes
            save_memory(self.work, self.aside)
            frames = [planes[1:] for planes in solved.planes if isinstance(planes, Frame)]
            yield (
                np.array([number, solved.begin, solved.end, solved.records]),
                np.concatenate([np.array(solved.frame[1:]), solved.made.ravel()]),
                solved.tally.ravel(), np.array(frames, np.int64).ravel(),
            )  # fmt: skip
        if self.aside.scratch:
            self.aside.sync(filter(None, wave.planes))
            self.scratch.sync(self.steps_of(number))  # all else has been before
            self.log.settle()
        after.sets, after.planes, after.spread, after.sheet = [], [], None, None
        after.links, after.starts = NO_LINKS, NO_STARTS
        for what in (f"sets{after.number}", f"planes{after.number}", f"told{number}"):
            self.aside.drop(what)

    def find_sheet(self, wave: Wave) -> None:
        """See to it that a wave has the sheet in which its planes are, or where there are none yet and there is room
        for it, a new one."""
        if not self.aside.scratch:
            return
        there = next(filter(None, wave.planes), None)
        if is_sheet(there):
            wave.sheet = there
        elif there is None and self.aside.spreads:
            planes, words = planes_for(self.last - wave.number), int(wave.tiers[:, WORDS].sum())
            wave.sheet = new_sheet(self.aside.scratch, f"planes{wave.number}", planes, words)

    def tasks(self, told: Told[Back], wave: Wave) -> Iterator[Task]:
        """Yield tasks that solve the chunks of a wave that are left."""
        left, words = set(self.left[wave.number]), wave.words_in().tolist()
        least = max(min(TASK_WORDS, sum(words) // (4 * self.work.workers)), LEAST_WORDS)
        least = words_together(self.work, sum(words), least)
        begin = end = total = 0
        for chunk in sorted(left):
            if chunk != end or total >= least:
                if total:
                    yield Task(told, wave.number, begin, end)
                begin, total = chunk, 0
            total += words[chunk]
            end = chunk + 1
        if total:
            yield Task(told, wave.number, begin, end)


def links_out(wave: Wave, after: Wave, misere: bool) -> tuple[Array, Array]:
    """Return the links out of the tiers of a wave that are kept, to those that are, and where those of each begin.

    In misère play those to tiers where the game is over are left out: whoever has another move does not end it.
    """
    rows = np.repeat(np.arange(len(after.starts) - 1), np.diff(after.starts))
    order = np.argsort(after.links[:, FROM], kind="stable")
    order = order[wave.kept[after.links[order, FROM]] == after.links[order, FROM]]
    links = after.links[order].copy()
    kept = after.kept[rows[order]]
    links[:, FROM] = np.where(after.tiers[kept, WORDS] > 0, kept, NONE)
    turned = kept != rows[order]
    links[turned, PLACE] = TURNED
    links[turned, SHARED] = in_mirror(after.mirror, links[turned, SHARED])
    froms = after.links[order, FROM]
    if misere:
        there = links[:, TO] != NONE
        links, froms = links[there], froms[there]
    return links, np.searchsorted(froms, np.arange(len(wave.tiers) + 1))
