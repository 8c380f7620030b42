"""The way back: computes the values of the waves, last wave first, and the steps for the database.

`SetwiseStore` gives each wave's chunks to workers (`solve_tiers`), which call the kernels `backward` and `make_steps`.
"""

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
from retrograde.solver.methods.streamed.lists import AT, LENGTH, LIST_COLUMNS, SIZE
from retrograde.solver.methods.streamed.segments import StreamTier, add_up, buffer, segment_of
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
"""Words in a task: the usual number, and the least if that gives too few tasks for all workers.

Larger tasks save time: what several tiers need of the wave after is prepared once if they are in one task.
"""


def codes_for(count: int, plies: int, misere: bool) -> Array:
    """Return the code (see streamed/steps.py) of each worth in *count* planes, *plies* before the last wave."""
    # Below a tie: 2 × worth plies to a loss. Above: an odd number of plies to a win, 1 for the greatest worth. In
    # misère play wins and losses change places. A tie ends in the last wave.
    half = 1 << count - 1
    worths = np.arange(2 * half)
    low, high = (WIN_CLASS, LOSE_CLASS) if misere else (LOSE_CLASS, WIN_CLASS)
    codes = 2 * worths << 2 | low
    codes[half] = plies << 2 | TIE_CLASS
    codes[half + 1 :] = (2 * (2 * half - 1 - worths[half + 1 :]) + 1) << 2 | high
    return codes.astype(np.uint16)


class Back(NamedTuple):
    """Data shared by all tasks of a wave.

    `imaging` is the program of images. `aside` stores planes, and `scratch` steps. Links out of tier k of the `wave`
    are `links[starts[k]:starts[k + 1]]`. `planes_after` and `planes` are numbers of planes: of the wave `after`, and
    to be made. `codes` maps worths to codes. `rows` is the number of rows of a tally.
    """

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
    """The chunks *begin* to *end* of a wave, to be solved."""

    told: Told[Back]
    wave: int
    begin: int
    end: int


class Solved(NamedTuple):
    """The result of a task: chunks *begin* to *end* of a wave, solved.

    `made` has a row for each tier: where its steps are in `frame`. `tally` counts positions by code, and `records` is
    the number of canonical ones. `planes` says where the planes of each chunk are, if the wave is not spread.
    """

    begin: int
    end: int
    made: Array
    frame: Frame
    tally: Array
    records: int
    planes: list[Any]


def solve_tiers(task: Task) -> Solved:
    """Solve the tiers of some chunks; store their planes and steps."""
    (begin, end), back = task[2:], task.told.content
    wave, after, aside, codes, count = back.wave, back.after, back.aside, back.codes, back.planes
    first, behind = wave.rows_of(begin)[0], wave.rows_of(end - 1)[1]
    starts = back.starts[first : behind + 1]
    links = back.links[starts[0] : starts[-1]].copy()
    # Step 1: Get the sets of these tiers, and sets and planes of the wave after: in place if spread, else copied.
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
    # Step 2: Compute the planes.
    worths = np.zeros((behind - first, len(codes)), np.int64)
    backward(
        back.imaging, back.misere, after.mirror, sets, links, starts - starts[0], sets_after, planes_after, planes,
        worths,
    )  # fmt: skip
    # Step 3: Store the planes of each chunk for the wave before.
    put = []
    for chunk in range(begin, end) if not wave.spread else ():
        own = wave.rows_of(chunk)[0] - first
        put.append(wave.put_planes(aside, chunk, sets.words, planes, int(sets.tiers[own, WORD])))
    # Step 4: Write the steps.
    largest, all_of = int(sets.tiers[:, COUNT].max()), int(sets.tiers[:, COUNT].sum())
    tally, made = np.zeros((back.rows, TALLIED), np.int64), np.zeros((behind - first, LIST_COLUMNS), np.int64)
    of_steps = StepRoom(room("steps", largest), room("codes", largest, np.uint16))
    out = buffer("out", all_of, behind - first)
    records = make_steps(back.imaging, back.misere, sets, planes, codes, of_steps, out, made, tally, worths)
    size = int((made[:, AT] + made[:, SIZE]).max())
    return Solved(begin, end, made, back.scratch.write("records", out.bytes[:size].data), tally, records, put)


class SetwiseStore:
    """A store for `drive` (see runtime/driver.py) that solves waves. A group is the number of a wave.

    `over` and `tally` count positions: those in which the game is over by primitive value, and others by code.
    `start_tally` is the tally of the first wave.
    """

    def __init__(
        self, rules: Rules, work: Work, log: Log, scratch: Scratch, aside: Aside, found: list[Wave], over: Array,
        times: float,
    ):  # fmt: skip
        """Take the waves *found*. *times* is the number of positions to report for each position counted here."""
        self.rules, self.work, self.log, self.scratch, self.aside = rules, work, log, scratch, aside
        self.found, self.over, self.times = found, over, times
        self.tally, self.start_tally = np.zeros((2, 4 * (len(found) + 2), TALLIED), np.int64)
        self.waves: list[dict[int, StreamTier]] = [{} for _ in found]
        self.last = len(found) - 1
        self.left: list[set[int]] = [set(np.flatnonzero(wave.words_in()).tolist()) for wave in found]
        """The chunks that are still to be solved, by wave."""
        self.rooms = rooms_to_spread(found) if aside.spreads and not aside.scratch else []
        for wave in found:
            wave.planes = [None] * len(wave.sets)

    def groups(self) -> Iterator[int]:
        """Yield the numbers of the waves except the last, last first.

        The last wave needs no solving: positions left in it are ties. Raises DamagedScratch if a file is gone that the
        rest of the solve needs.
        """
        if self.aside.scratch:
            for frame in self.scratch.missing(self.needed()):
                raise self.scratch.damaged(frame)
        # Write the planes of the last wave: only the highest plane is set, which means a tie.
        last = self.found[self.last]
        if self.rooms:
            (_, _, _, words), planes = last.spread_out(self.aside, planes_for(0), self.rooms[self.last & 1])
            planes[:] = 0
            planes[-1] = words[: planes.shape[1]]  # what is not lost is a tie
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
        """Return the frames that are still needed.

        These are the steps so far, and sets and planes of waves to be solved and of those after them.
        """
        found = [frame for number in range(self.last) for frame in self.steps_of(number)]
        for wave, after in pairwise(self.found):
            if self.left[wave.number]:
                found += [*wave.sets, *after.sets, *filter(None, wave.planes + after.planes)]
        return found

    def steps_of(self, number: int) -> list[Frame]:
        """Return the frames of a wave's steps."""
        return [records.frame for tier in self.waves[number].values() for records in tier.records.values()]

    def keep(self, done: Done) -> Kept:
        """Add the planes, steps and counts of some solved chunks."""
        (number, begin, end, records), where, tally, frames = done
        wave = self.found[number]
        for chunk, row in zip(range(begin, end), frames.reshape(-1, len(Frame._fields) - 1).tolist(), strict=False):
            wave.planes[chunk] = Frame(f"planes{number}", *row)
        self.left[number].difference_update(range(begin, end))
        frame = where[: len(Frame._fields) - 1].tolist()
        made = where[len(Frame._fields) - 1 :].reshape(-1, LIST_COLUMNS)
        for tier, steps in enumerate(made.tolist(), wave.rows_of(int(begin))[0]):
            name = int(wave.tiers[tier, NUMBER])
            if not steps[LENGTH]:
                continue
            segment = segment_of("records", (*frame, *steps))
            self.waves[number][name] = StreamTier(name, segment.mask, [segment], None, (), (), records={0: segment})
        counted = tally.reshape(-1, TALLIED)
        for one in (self.tally, self.start_tally)[: 1 + (number == 0)]:
            add_up(one, counted)
        return Kept(int(records), None, self.times * int(counted[:, POSITIONS].sum()))

    def solve(self, number: int, phase: Phase) -> Iterator[Done]:
        """Solve the chunks of a wave and yield their results for the log. Then forget its sets, and all of the wave
        after."""
        wave, after = self.found[number], self.found[number + 1]
        if not self.left[number]:
            return
        # Step 1: Find the links, and the workspace or file for the planes.
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
        # Step 2: Solve the chunks. A single task runs here, without a worker.
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
        # Step 3: Make this wave durable, then free the wave after.
        if self.aside.scratch:
            self.aside.sync(filter(None, wave.planes))
            self.scratch.sync(self.steps_of(number))  # all else has been synced before
            self.log.settle()
        after.sets, after.planes, after.spread, after.sheet = [], [], None, None
        after.links, after.starts = NO_LINKS, NO_STARTS
        for what in (f"sets{after.number}", f"planes{after.number}", f"told{number}"):
            self.aside.drop(what)

    def find_sheet(self, wave: Wave) -> None:
        """Set `wave.sheet`: the shared file of its planes, or a new one if no planes are stored yet."""
        if not self.aside.scratch:
            return
        there = next(filter(None, wave.planes), None)
        if is_sheet(there):
            wave.sheet = there
        elif there is None and self.aside.spreads:
            planes, words = planes_for(self.last - wave.number), int(wave.tiers[:, WORDS].sum())
            wave.sheet = new_sheet(self.aside.scratch, f"planes{wave.number}", planes, words)

    def tasks(self, told: Told[Back], wave: Wave) -> Iterator[Task]:
        """Yield tasks that solve the remaining chunks of a wave. A task has consecutive chunks."""
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
    """Return the links between the stored tiers of two waves, sorted by parent, and where those of each parent
    begin.

    A link to a tier that is not stored leads to its mirror image and becomes TURNED. In misère play, links to tiers
    without live positions are left out: a player who has another move does not end the game.
    """
    rows = np.repeat(np.arange(len(after.starts) - 1), np.diff(after.starts))
    # Step 1: Sort by parent, and drop links from tiers that are not stored.
    order = np.argsort(after.links[:, FROM], kind="stable")
    order = order[wave.kept[after.links[order, FROM]] == after.links[order, FROM]]
    # Step 2: Replace the column FROM by TO: the stored child tier, or NONE if no child goes on.
    links = after.links[order].copy()
    kept = after.kept[rows[order]]
    links[:, FROM] = np.where(after.tiers[kept, WORDS] > 0, kept, NONE)
    # Step 3: If the child tier is stored as its mirror image, mirror the link.
    turned = kept != rows[order]
    links[turned, PLACE] = TURNED
    links[turned, SHARED] = in_mirror(after.mirror, links[turned, SHARED])
    # Step 4: Leave out finished games in misère play, and return where each parent's links begin.
    froms = after.links[order, FROM]
    if misere:
        there = links[:, TO] != NONE
        links, froms = links[there], froms[there]
    return links, np.searchsorted(froms, np.arange(len(wave.tiers) + 1))
