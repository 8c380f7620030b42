"""Explores forward: finds the tiers of a wave from those of the wave before, and fills their sets.

For each wave, `next_tiers` finds its tiers and the links into them. The wave is cut into ranges of tiers, and workers
fill these (`fill_tiers`). Each range becomes a chunk, and the journal (`SetsLog`) lists it.
"""

import shutil
from collections import defaultdict
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game, InternalError
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.forward_kernels import BIT_AT, FROM, MANY, OPEN, TIED, UNLIKE, Sets, fill_sets
from retrograde.solver.methods.setwise.mirror import NotSymmetric
from retrograde.solver.methods.setwise.storage import (
    FOR_LOADED,
    NO_LINKS,
    NO_STARTS,
    Map,
    Wave,
    WaveStorage,
    bytes_loaded,
    count_groups,
    planes_for,
    save_memory,
    words_in_task,
)
from retrograde.solver.methods.setwise.tiers import NOT_PLAIN, TIES_AND_ENDS, TOO_LONG, first_tier, next_tiers
from retrograde.solver.methods.streamed.segments import add_up
from retrograde.solver.methods.streamed.steps import POSITIONS, STORED, TALLIED
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.plain.rules import Rules
from retrograde.solver.rules.plain.symbols import LANES
from retrograde.solver.rules.plain.tier_kernels import COUNT, FIRST, GROUP, GROUPS, NUMBER, VALUE, WORD, WORDS
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import Frame, Scratch, TaskData
from retrograde.solver.runtime.tasks import free_workspaces, group_by_weight, workspace
from retrograde.solver.runtime.work import NotApplicable, Outlook, Work

VALUES = 8
"""Rows of a tally by primitive value."""
PARENTS = "parents"
"""Prefix of the names of workspaces that hold parent tiers."""
FILLED_COLUMNS = [WORD, WORDS, FIRST, COUNT, VALUE]
"""Columns of a table of tiers that `fill_sets` writes."""
BYTES_A_POSITION = 1.0
"""Memory for a position that is not over, in bytes, about: a word holds some ten positions."""
BYTES_IN_WAVE = 2.5
"""Additional memory for a position of the largest wave, in bytes, about: its planes, and those of the wave after."""
STORED_SHARE = 0.55
"""Share of all positions in stored tiers if there is a mirror, about."""
ESTIMATED_AFTER = 1 << 24
"""Positions found before the total is estimated, to see whether memory suffices..."""
PLENTY = 16
"""...unless this many bytes are free for each of them."""


class TooLargeForMemory(Exception):
    """Memory does not suffice to hold all waves."""


class Exploration:
    """The exploration of one game. `waves` are the waves found. `over` counts positions by primitive value: those in
    which the game is over, and under OPEN all others."""

    def __init__(self, game: Game, rules: Rules, work: Work, outlook: Outlook, storage: WaveStorage, scratch: Scratch):
        """Begin with the start position. *storage* stores the waves; *scratch* has files in any case."""
        self.rules, self.work, self.outlook, self.storage, self.scratch = rules, work, outlook, storage, scratch
        start = Wave(0, first_tier(game, start_of(game)), NO_LINKS, NO_STARTS)
        # A chunk of one tier with three groups (two of them empty) and one word. In word 0 of group 0, rank 0 is set.
        start.begins.append(0)
        start.sets.append(storage.store("sets0", np.array([1, 0, 0, 1], np.uint64)))
        self.waves = [start]
        self.over = np.zeros((VALUES, TALLIED), np.int64)
        self.over[OPEN, [POSITIONS, STORED]] = 1
        self.is_estimated = False

    def explore(self, log: "SetsLog", phase: Phase) -> None:
        """Find all waves; raise NotApplicable if the game does not qualify, TooLargeForMemory if memory will not
        suffice."""
        try:
            visited = {int(self.waves[0].tiers[0, NUMBER])}
            while (wave := self.next_wave(self.waves[-1])) is not None:
                numbers = wave.tiers[:, NUMBER].tolist()
                if not visited.isdisjoint(numbers):
                    raise NotApplicable("play reaches a tier after different numbers of plies")
                if planes_for(wave.number) > MOST_PLANES:
                    raise NotApplicable(TOO_LONG)
                visited.update(numbers)
                self.fill(self.waves[-1], wave, log, phase)
                self.check_resources(wave, phase)
                self.waves.append(wave)
                # The last wave has only ties or nothing at all. Ties in an earlier wave are not supported.
                values = {*wave.tiers[wave.tiers[:, WORDS] > 0, VALUE].tolist()}
                if not values or values == {TIED}:
                    phase.end()
                    return
                if TIED in values:
                    raise NotApplicable(TIES_AND_ENDS)
        finally:
            free_workspaces(PARENTS)
        raise InternalError("a wave has positions that are not over, and no moves lead on from them")

    def next_wave(self, before: Wave) -> Wave | None:
        """Return the next wave, with its sets still empty; None if there are no moves."""
        found = next_tiers(self.rules, before.full_table())
        if found is None:
            return None
        wave = Wave(before.number + 1, *found)
        if len(self.rules.mirror):
            wave.drop_mirror_images(self.rules.mirror, before)
        return wave

    def fill(self, before: Wave, wave: Wave, log: "SetsLog", phase: Phase) -> None:
        """Fill the tiers of a wave, except those in the log."""
        # Step 1: Cut the wave into ranges of tiers, and give those that are not in the log to workers.
        logged = log.filled.pop(wave.number, {})
        ranges = ranges_of(before, wave, self.work.sizes.chunk_words)
        unfilled = [((begin, end), words) for begin, end, words in ranges if begin not in logged]
        parents = None
        if unfilled and self.work.shares_memory and self.can_load(before, links := wave.links_to_stored()):
            parents = load_parents(before, self.storage, links, self.work.map_here)
        forward = ForwardPass(self.rules, self.storage, before.without_links(), wave, parents)
        shared = TaskData(forward, self.storage.scratch, f"shared{wave.number}")
        least = words_in_task(self.work, sum(words for _, words in unfilled), least=1)
        tasks = ((shared, task) for task in group_by_weight(unfilled, least))
        results = chain.from_iterable(self.work.starmap(fill, tasks))
        # Step 2: Take the results in order, from the log or from workers.
        for begin, _, _ in ranges:
            filled = logged.get(begin) or next(results)
            add_chunk(wave, filled)
            add_up(self.over, filled.tally)
            done = int(filled.tally[:, STORED].sum()), int(filled.tally[:, POSITIONS].sum())
            if begin in logged:
                phase.skip(*done)
                continue
            if self.storage.scratch:
                log.add(wave.number, filled)
            phase.advance(done[0], positions=done[1])
            save_memory(self.work, self.storage)
        # Step 3: Make the wave durable.
        if self.storage.scratch and wave.number not in log.whole:
            self.storage.sync(wave.sets)
            log.add_whole(wave.number)
            log.log.settle()
        self.storage.drop(f"shared{wave.number}")
        if self.storage.scratch:
            free_workspaces(PARENTS)

    def can_load(self, before: Wave, links: Array) -> bool:
        """Return whether there is memory to load the parents of some links once for all tasks. Without scratch files,
        `check_resources` has made sure of it."""
        if not self.storage.scratch:
            return True
        rows = np.unique(links[:, FROM])
        tiers = before.tiers[before.stored[rows]]
        # Words of mirror images count twice: positions of one word may have their images in several words.
        words = int(tiers[:, WORDS].sum() + tiers[before.stored[rows] != rows, WORDS].sum())
        return bytes_loaded(count_groups(tiers), words) <= FOR_LOADED * self.work.budget.free_bytes()

    def check_resources(self, wave: Wave, phase: Phase) -> None:
        """Check that memory and disk will suffice for the rest of the exploration.

        The need of all waves is estimated once, when memory first looks short. Later waves are checked one by one.
        Raises DiskTooSmall if the estimate says that the disk is too small. Raises TooLargeForMemory if memory does not
        suffice for this wave, or will not for all. Uncompressed scratch files lie in the system's memory; if that gets
        short, further files are compressed.
        """
        # Step 1: the free memory, and what this wave needs of it.
        written = sum(self.scratch.file_lengths().values()) if self.storage.scratch else 0
        free_memory = self.work.budget.free_bytes() - (written if self.storage.uncompressed else 0)
        needed_for_wave, needed_in_all = BYTES_IN_WAVE * int(wave.tiers[:, COUNT].sum()), 0.0
        # Step 2: once memory may get short, or files are compressed, estimate what all waves need.
        scarce = (self.storage.scratch and not self.storage.uncompressed) or PLENTY * phase.positions > free_memory
        if not self.is_estimated and scarce and phase.positions > ESTIMATED_AFTER:
            self.is_estimated = True
            share = STORED_SHARE if len(self.rules.mirror) else 1
            # The estimate counts symmetric positions once; each stands for positions / done so far. Of all positions,
            # *share* are in stored tiers.
            waves = np.array(self.outlook.plain_waves(written)) * share * phase.positions / phase.done
            needed_in_all = BYTES_A_POSITION * waves.sum() + BYTES_IN_WAVE * waves.max()
        # Step 3: compress further files, or give up on solving in memory. Half of the disk is for planes and results.
        needed = needed_in_all or needed_for_wave
        if self.storage.uncompressed:
            free = min(free_memory, shutil.disk_usage(self.work.scratch).free // 2)
            self.storage = self.storage._replace(uncompressed=needed <= free)
        elif needed > free_memory and not self.storage.scratch:
            raise TooLargeForMemory


class ForwardPass(NamedTuple):
    """Data shared by all tasks of a wave. The tiers of `wave` are filled from those of the wave `before`. `parents` has
    what `load_parents` returns for all links; if None, each task loads its own."""

    rules: Rules
    storage: WaveStorage
    before: Wave
    wave: Wave
    parents: tuple[Array, Sets] | None


def load_parents(before: Wave, storage: WaveStorage, links: Array, run: Map = map) -> tuple[Array, Sets]:
    """Return the rows of the parent tiers of some links, ascending, and their sets, mirror images included. They are
    made by calls of *run*."""
    rows = np.unique(links[:, FROM])
    return rows, before.load_with_images(storage, rows, PARENTS, run)


class FilledTiers(NamedTuple):
    """The result of filling the tiers *begin* to *end*, which become a chunk. `columns` has the FILLED_COLUMNS of
    their table, `sets` says where the sets are stored, and `tally` counts positions by primitive value."""

    begin: int
    end: int
    columns: Array
    sets: Any
    tally: Array


def fill(shared: TaskData[ForwardPass], ranges: list[tuple[int, int]]) -> list[FilledTiers]:
    """Fill and store ranges of tiers, each from one row to another. Raises NotApplicable if the rules are not plain."""
    return [fill_tiers(shared.content, *rows) for rows in ranges]


def fill_tiers(forward: ForwardPass, begin: int, end: int) -> FilledTiers:
    """Fill the tiers *begin* to *end* and store them as one chunk."""
    rules, storage, before, wave, parents = forward
    # Step 1: Take the links into stored tiers, with parents numbered as in `sources`.
    is_stored = wave.is_stored[begin:end]
    counts = np.diff(wave.starts[begin : end + 1])
    links = wave.links[wave.starts[begin] : wave.starts[end]][np.repeat(is_stored, counts)].copy()
    starts = np.append(0, np.cumsum(counts * is_stored))
    rows, sources = parents or load_parents(before, storage, links)
    links[:, FROM] = np.searchsorted(rows, links[:, FROM])
    # Step 2: Reserve space. A parent's word becomes at most two words. If a move inserts several bits (MANY), each
    # position may need a word of its own.
    tiers = wave.tiers[begin:end].copy()
    tiers[:, GROUP] -= tiers[0, GROUP]
    groups = count_groups(tiers)
    parent_rows = sources.tiers[links[:, FROM]]
    most = np.where(links[:, BIT_AT] == MANY, parent_rows[:, COUNT], 2 * parent_rows[:, WORDS]).sum()
    most = min(int(most), LANES * int(tiers[:, GROUPS].sum()))
    content = workspace("content", groups + most, np.uint64)
    children = Sets(tiers, content[:groups], workspace("before", groups, np.uint32), content[groups:])
    # Step 3: Fill the tiers and store them.
    tally = np.zeros((VALUES, TALLIED), np.int64)
    count = fill_sets(rules, sources, children, links, starts, tally)
    if count == UNLIKE:
        raise NotSymmetric
    if count < 0:
        raise NotApplicable(NOT_PLAIN)
    stored = storage.store(f"sets{wave.number}", content[: groups + count])
    return FilledTiers(begin, end, tiers[:, FILLED_COLUMNS], stored, tally)


def add_chunk(wave: Wave, filled: FilledTiers) -> None:
    """Add filled tiers to their wave, as its next chunk."""
    rows = slice(filled.begin, filled.end)
    wave.tiers[rows, FILLED_COLUMNS] = filled.columns
    wave.tiers[rows, GROUP] -= wave.tiers[filled.begin, GROUP]
    wave.begins.append(filled.begin)
    wave.sets.append(filled.sets)


def ranges_of(before: Wave, wave: Wave, least: int) -> list[tuple[int, int, int]]:
    """Cut the tiers of a wave into ranges of about *least* words: (first row, end row, words read and written)."""
    read_by_link = before.tiers[before.stored[wave.links[:, FROM]], WORDS]
    # A tier that is not stored reads none, and has no groups.
    words = wave.is_stored * np.add.reduceat(read_by_link, wave.starts[:-1]) + wave.tiers[:, GROUPS]
    # Cut after each tier in which the sum passes a multiple of *least*.
    cuts = [0, *(np.flatnonzero(np.diff(np.cumsum(words) // least)) + 1).tolist(), len(words)]
    sums = np.add.reduceat(words, cuts[:-1]).tolist()
    return [(begin, end, range_words) for (begin, end), range_words in zip(pairwise(cuts), sums, strict=True)]


FILLED, WHOLE = range(2)
"""Kinds of journal entries: some tiers are filled; a whole wave is filled."""


class SetsLog:
    """The journal of filled tiers in scratch files, so that a killed solve resumes. An entry begins with its kind and
    the number of the wave. An empty entry means that the exploration was restarted."""

    def __init__(self, log: Log):
        self.log = log
        self.filled: dict[int, dict[int, FilledTiers]] = defaultdict(dict)
        """Entries of filled tiers, by wave and first tier."""
        self.whole: set[int] = set()
        for (kind, wave), *arrays in log.since_restart():
            if kind == WHOLE:
                self.whole.add(int(wave))
            else:
                (begin, end, *frame), columns, tally = arrays
                sets = Frame(f"sets{wave}", *map(int, frame))
                self.filled[int(wave)][int(begin)] = FilledTiers(
                    int(begin), int(end), columns.reshape(-1, len(FILLED_COLUMNS)), sets, tally.reshape(-1, TALLIED)
                )

    def drop_missing(self, scratch: Scratch) -> None:
        """Drop entries of unfinished waves whose scratch files are gone, or damaged by a power cut."""
        for wave in self.filled.keys() - self.whole:
            lost = {*scratch.unreadable(filled.sets for filled in self.filled[wave].values())}
            self.filled[wave] = {k: filled for k, filled in self.filled[wave].items() if filled.sets not in lost}

    def add(self, wave: int, filled: FilledTiers) -> None:
        """Log that some tiers of a wave are filled, and where their sets are."""
        location = np.array([filled.begin, filled.end, *filled.sets[1:]], np.int64)
        self.log.add((np.array([FILLED, wave], np.int64), location, filled.columns.ravel(), filled.tally.ravel()))
        self.log.write()

    def add_whole(self, wave: int) -> None:
        """Log that a wave is filled completely."""
        self.log.add((np.array([WHOLE, wave], np.int64),))
