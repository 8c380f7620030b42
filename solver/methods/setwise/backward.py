"""Solves backward: computes the values of the waves, last wave first, and the steps for the database.

`SetwiseStore` gives each wave's chunks to workers (`solve_tiers`), which call the kernels `compute_planes` and
`make_steps`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import WIN
from retrograde.solver.methods.setwise.backward_kernels import MIRRORED, NONE, TO, WaveValues, compute_planes
from retrograde.solver.methods.setwise.batches import NO_ROWS, Batch, plan_batches
from retrograde.solver.methods.setwise.forward import Exploration
from retrograde.solver.methods.setwise.forward_kernels import BIT_AT, FROM, OPEN, SHARED
from retrograde.solver.methods.setwise.mirror import mirror_images
from retrograde.solver.methods.setwise.step_kernels import StepBuffer, make_steps
from retrograde.solver.methods.setwise.storage import (
    NO_LINKS,
    NO_STARTS,
    Wave,
    WaveStorage,
    plane_buffer,
    planes_for,
    save_memory,
    unpacked_buffers,
    words_in_task,
)
from retrograde.solver.methods.streamed.lists import AT, LENGTH, LIST_COLUMNS, SIZE
from retrograde.solver.methods.streamed.segments import FRAME_COLUMNS, StreamTier, list_buffer, segment_of
from retrograde.solver.methods.streamed.steps import POSITIONS, STORED, TALLIED
from retrograde.solver.methods.streamed.store import StepsStore
from retrograde.solver.rules.plain.rules import Rules
from retrograde.solver.rules.plain.tier_kernels import COUNT, NUMBER, WORD, WORDS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.cluster.sheets import is_sheet, new_sheet
from retrograde.solver.runtime.driver import Done, StoredCounts
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import Frame, Scratch, TaskData
from retrograde.solver.runtime.tasks import workspace
from retrograde.solver.values.score import LOSE_CLASS, TIE_CLASS, WIN_CLASS

TASK_WORDS, LEAST_WORDS = 1 << 19, 1 << 13
"""Words in a task: the usual number, and the least if that gives too few tasks for all workers. Larger tasks prepare
less data of the wave after twice."""


def codes_for(count: int, plies: int, misere: bool) -> Array:
    """Return the code (see streamed/steps.py) of each worth in *count* planes, *plies* plies before the last wave.

    In two planes, one ply before the last wave, the worths 0 to 3 mean: lost in 0, lost in 2, a tie in 1, won in 1.
    """
    # Below a tie: 2 × worth plies to a loss. Above: an odd number of plies to a win, 1 for the greatest worth. In
    # misère play wins and losses change places. A tie ends in the last wave.
    half = 1 << (count - 1)
    worths = np.arange(2 * half)
    low, high = (WIN_CLASS, LOSE_CLASS) if misere else (LOSE_CLASS, WIN_CLASS)
    codes = ((2 * worths) << 2) | low
    codes[half] = (plies << 2) | TIE_CLASS
    codes[half + 1 :] = ((2 * (2 * half - 1 - worths[half + 1 :]) + 1) << 2) | high
    return codes.astype(np.uint16)


class BackwardPass(NamedTuple):
    """Data shared by all tasks of a wave.

    `storage` stores planes, and `scratch` steps. Links out of tier k of `wave` are `links[starts[k]:starts[k + 1]]`.
    `planes_after` and `planes` are numbers of planes: of the wave `after`, and to be made. `codes` maps worths to
    codes. `rows` is the number of rows of a tally. `loaded` are the tiers of the wave after that are loaded for all
    tasks; if None, each task loads those that it reads.
    """

    rules: Rules
    storage: WaveStorage
    scratch: Scratch
    wave: Wave
    links: Array
    starts: Array
    after: Wave
    planes_after: int
    planes: int
    codes: Array
    rows: int
    loaded: WaveValues | None


class SolveTask(NamedTuple):
    """The chunks *begin* to *end* of a wave, to be solved."""

    shared: TaskData[BackwardPass]
    begin: int
    end: int


def solve_tiers(task: SolveTask) -> tuple[Done, list[Any]]:
    """Solve the tiers of some chunks and store their planes and steps; return (entry for the log, where the planes
    are).

    The arrays of an entry are (wave, first chunk, end chunk, canonical positions), the frame of the steps and a row for
    each tier that says where they are in it, a tally by code, and the frames of the planes. If the wave is unpacked, no
    planes are stored.
    """
    begin, end, back = task.begin, task.end, task.shared.content
    wave, after, storage, codes = back.wave, back.after, back.storage, back.codes
    first, stop = wave.rows_of(begin)[0], wave.rows_of(end - 1)[1]
    starts = back.starts[first : stop + 1]
    links = back.links[starts[0] : starts[-1]].copy()
    # Step 1: Get the values of these tiers, in place if the wave is unpacked, and those of the wave after.
    if wave.unpacked:
        values = wave.unpacked._replace(sets=wave.unpacked.sets._replace(tiers=wave.unpacked.sets.tiers[first:stop]))
    else:
        sets = wave.load(storage, np.arange(first, stop), "own")
        values = WaveValues(sets, plane_buffer("own", back.planes, int(sets.tiers[:, WORDS].sum())))
    if (values_after := back.loaded) is None:
        rows = children_in(links)
        values_after = after.values_for(storage, rows, back.planes_after, "after")
        after.load_planes(storage, rows, values_after)
    # Step 2: Compute the planes.
    tiers = values.sets.tiers
    compute_planes(back.rules, values, links, starts - starts[0], values_after)
    # Step 3: Store the planes of each chunk for the wave before.
    planes = []
    for chunk in range(begin, end) if not wave.unpacked else ():
        word = int(tiers[wave.rows_of(chunk)[0] - first, WORD])
        planes.append(wave.put_planes(storage, chunk, values.sets.words, values.planes, word))
    # Step 4: Write the steps.
    largest, total = int(tiers[:, COUNT].max()), int(tiers[:, COUNT].sum())
    tally, lists = np.zeros((back.rows, TALLIED), np.int64), np.zeros((stop - first, LIST_COLUMNS), np.int64)
    steps = StepBuffer(workspace("steps", largest), workspace("codes", largest, np.uint16))
    out = list_buffer("out", total, stop - first)
    records = make_steps(back.rules, values, codes, steps, out, lists, tally)
    size = int((lists[:, AT] + lists[:, SIZE]).max())
    frame = back.scratch.write("records", out.view(np.uint8)[:size].data)
    frames = [stored[1:] for stored in planes if isinstance(stored, Frame)]
    return (
        np.array([wave.number, begin, end, records]), np.concatenate([np.array(frame[1:]), lists.ravel()]),
        tally.ravel(), np.array(frames, np.int64).ravel(),
    ), planes  # fmt: skip


def frames_in_entry(wave: int, steps: Array, _: Array, planes: Array) -> Iterator[Frame]:
    """Yield the frames of an entry of `solve_tiers`: the steps of some chunks, and their planes."""
    yield Frame("records", *steps[:FRAME_COLUMNS].tolist())
    for row in planes.reshape(-1, FRAME_COLUMNS).tolist():
        if not is_sheet(frame := Frame(f"planes{wave}", *row)):
            yield frame


class SetwiseStore(StepsStore):
    """The store of the set-wise method. `found` are the waves explored, `waves` their tiers as steps."""

    def __init__(self, exploration: Exploration, storage: WaveStorage, log: Log):
        over = exploration.over
        self.unfinished = int(over[OPEN, STORED])
        times = float(over[:, POSITIONS].sum() / over[OPEN, POSITIONS])
        over[OPEN] = 0  # these are counted by code when they are solved
        super().__init__([{} for _ in exploration.waves], exploration.scratch, over, log, times)
        self.rules, self.work, self.found = exploration.rules, exploration.work, exploration.waves
        self.storage = storage
        self.last = len(self.found) - 1
        self.unsolved: list[set[int]] = [set(np.flatnonzero(wave.words_by_chunk()).tolist()) for wave in self.found]
        """The chunks that are still to be solved, by wave."""
        self.buffers = unpacked_buffers(self.found) if storage.unpacks and not storage.scratch else []
        for wave in self.found:
            wave.planes = [None] * len(wave.sets)

    def groups(self) -> Iterator[int]:
        """Yield the numbers of the waves except the last, last first. The last wave needs no solving: positions left in
        it are ties. Raises DamagedScratch if a needed file is gone."""
        if self.storage.scratch:
            self.check_files(self.needed_frames())
        last = self.found[self.last]
        if self.buffers:
            set_ties(last.unpack(self.storage, planes_for(0), self.buffers[self.last & 1]))
        else:
            self.find_sheet(last)
            for chunk in self.unsolved[self.last] if self.unsolved[self.last - 1] else ():
                sets = last.load(self.storage, np.arange(*last.rows_of(chunk)), "own")
                planes = plane_buffer("own", planes_for(0), int(sets.tiers[:, WORDS].sum()))
                set_ties(WaveValues(sets, planes))
                last.planes[chunk] = last.put_planes(self.storage, chunk, sets.words, planes, 0)
        yield from reversed(range(self.last))
        self.found[0].unpacked = None
        self.buffers.clear()

    def needed_frames(self) -> list[Frame]:
        """Return the frames still needed: steps so far, sets and planes of waves to be solved and of those after
        them."""
        frames = [frame for number in range(self.last) for frame in self.steps_of(number)]
        for wave, after in pairwise(self.found):
            if self.unsolved[wave.number]:
                frames += [*wave.sets, *after.sets, *filter(None, wave.planes + after.planes)]
        return frames

    def steps_of(self, number: int) -> list[Frame]:
        """Return the frames with the steps of a wave."""
        return [records.frame for tier in self.waves[number].values() for records in tier.records.values()]

    def keep(self, done: Done) -> StoredCounts:
        """Add the planes, steps and counts of some solved chunks, from an entry of `solve_tiers`."""
        (number, begin, end, records), steps_entry, tally, frames = done
        wave = self.found[number]
        for chunk, row in zip(range(begin, end), frames.reshape(-1, FRAME_COLUMNS).tolist(), strict=False):
            wave.planes[chunk] = Frame(f"planes{number}", *row)
        self.unsolved[number].difference_update(range(begin, end))
        frame, lists = steps_entry[:FRAME_COLUMNS].tolist(), steps_entry[FRAME_COLUMNS:].reshape(-1, LIST_COLUMNS)
        for tier, steps in enumerate(lists.tolist(), wave.rows_of(int(begin))[0]):
            if steps[LENGTH]:
                name, segment = int(wave.tiers[tier, NUMBER]), segment_of("records", (*frame, *steps))
                self.waves[number][name] = StreamTier(name, segment.mask, [segment], None, (), (), records={0: segment})
        return self.count(int(number), int(records), None, tally)

    def solve(self, number: int, phase: Phase) -> Iterator[Done]:
        """Solve the chunks of a wave and yield their results for the log. Then free its sets, and all of the wave
        after."""
        wave, after = self.found[number], self.found[number + 1]
        if not self.unsolved[number]:
            return
        # Step 1: Find the links, and the workspace or file for the planes.
        misere = self.rules.decided == WIN
        links, starts = links_out(wave, after, misere)
        plies = self.last - number
        count = planes_for(plies)
        if self.buffers:
            wave.unpack(self.storage, count, self.buffers[number & 1])
        for needed in (wave, after):
            self.find_sheet(needed)
        back = BackwardPass(
            self.rules, self.storage, self.scratch, wave.without_links(), links, starts, after.without_links(),
            planes_for(plies - 1), count, codes_for(count, plies, misere), len(self.tally), after.unpacked,
        )  # fmt: skip
        # Step 2: Solve the chunks. A single task runs here, without a worker.
        batches, loaded = self.batches(wave, after, back)
        shared = TaskData(back._replace(loaded=loaded), self.storage.scratch, f"shared{number}")
        for ranges, rows in batches:
            if loaded and len(rows):
                after.load_planes(self.storage, rows, loaded, self.work.map_here)
            tasks = [SolveTask(shared, begin, end) for begin, end in ranges]
            done = self.work.as_completed(solve_tiers, tasks) if len(tasks) > 1 else map(solve_tiers, tasks)
            for entry, planes in done:
                if planes:
                    wave.planes[entry[0][1] : entry[0][2]] = planes
                save_memory(self.work, self.storage)
                yield entry
        # Step 3: Make this wave durable, then free the wave after.
        if self.storage.scratch:
            self.storage.sync(filter(None, wave.planes))
            self.scratch.sync(self.steps_of(number))  # all else has been synced before
            self.log.settle()
        after.sets, after.planes, after.unpacked, after.sheet = [], [], None, None
        after.links, after.starts = NO_LINKS, NO_STARTS
        for name in (f"sets{after.number}", f"planes{after.number}", f"shared{number}"):
            self.storage.drop(name)

    def find_sheet(self, wave: Wave) -> None:
        """Set `wave.sheet`: the shared file of its planes, or a new one if no planes are stored yet."""
        if not self.storage.scratch:
            return
        stored = next(filter(None, wave.planes), None)
        if is_sheet(stored):
            wave.sheet = stored
        elif stored is None and self.storage.unpacks:
            planes, words = planes_for(self.last - wave.number), int(wave.tiers[:, WORDS].sum())
            wave.sheet = new_sheet(self.storage.scratch, f"planes{wave.number}", planes, words)

    def batches(self, wave: Wave, after: Wave, back: BackwardPass) -> tuple[list[Batch], WaveValues | None]:
        """Return (the batches that solve the rest of a wave, the buffers for the tiers that they load).

        The tasks of a batch are ranges of chunks. The tiers are those of the wave after.
        """
        ranges = list(self.ranges(wave))
        one_batch = [Batch(ranges, NO_ROWS)], back.loaded
        if back.loaded or after.sheet or not self.work.shares_memory:
            return one_batch
        rows = [(wave.rows_of(begin)[0], wave.rows_of(end - 1)[1]) for begin, end in ranges]
        read = [children_in(back.links[back.starts[first] : back.starts[stop]]) for first, stop in rows]
        plan = plan_batches(ranges, read, after.tiers, back.planes_after, self.work.budget.free_bytes())
        return (plan.batches, plan.buffers(back.planes_after)) if plan else one_batch

    def ranges(self, wave: Wave) -> Iterator[tuple[int, int]]:
        """Yield the ranges of consecutive chunks of a wave that are still to be solved, each for one task."""
        remaining, words = set(self.unsolved[wave.number]), wave.words_by_chunk().tolist()
        least = max(min(TASK_WORDS, sum(words) // (4 * self.work.workers)), LEAST_WORDS)
        least = words_in_task(self.work, sum(words), least)
        begin = end = total = 0
        for chunk in sorted(remaining):
            if chunk != end or total >= least:
                if total:
                    yield begin, end
                begin, total = chunk, 0
            total += words[chunk]
            end = chunk + 1
        if total:
            yield begin, end


def children_in(links: Array) -> Array:
    """Return the rows of the child tiers that some links lead to, ascending."""
    rows: Array = np.unique(links[links[:, TO] != NONE, TO])
    return rows


def set_ties(values: WaveValues) -> None:
    """Make every position a tie: only the bits of the highest plane are 1."""
    (_, _, _, words), planes = values
    planes[:] = 0
    planes[-1] = words[: planes.shape[1]]


def links_out(wave: Wave, after: Wave, misere: bool) -> tuple[Array, Array]:
    """Return (links between the stored tiers of two waves, sorted by parent, where those of each parent begin).

    A link to a tier that is not stored leads to its mirror image and becomes MIRRORED. In misère play, links to tiers
    without live positions are left out: a player who has another move does not end the game.
    """
    rows = np.repeat(np.arange(len(after.starts) - 1), np.diff(after.starts))
    # Step 1: Sort by parent, and drop links from tiers that are not stored.
    order = np.argsort(after.links[:, FROM], kind="stable")
    order = order[wave.stored[after.links[order, FROM]] == after.links[order, FROM]]
    # Step 2: Replace the column FROM by TO: the stored child tier, or NONE if no child goes on.
    links = after.links[order].copy()
    stored = after.stored[rows[order]]
    links[:, FROM] = np.where(after.tiers[stored, WORDS] > 0, stored, NONE)
    # Step 3: If the child tier is stored as its mirror image, mirror the link.
    mirrored = stored != rows[order]
    links[mirrored, BIT_AT] = MIRRORED
    links[mirrored, SHARED] = mirror_images(after.mirror, links[mirrored, SHARED])
    # Step 4: Leave out finished games in misère play, and return where each parent's links begin.
    parents = after.links[order, FROM]
    if misere:
        goes_on = links[:, TO] != NONE
        links, parents = links[goes_on], parents[goes_on]
    return links, np.searchsorted(parents, np.arange(len(wave.tiers) + 1))
