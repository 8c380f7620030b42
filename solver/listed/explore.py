"""Exploration: all positions that play can reach, canonical ones only, as sorted lists tier by tier.

It goes in waves. A wave is what has just been found; its children, less what is known already, are the next one.
"""

from bisect import insort
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import Game
from retrograde.solver.aside.kernels import unique
from retrograde.solver.aside.known import KnownAside
from retrograde.solver.listed import kernels
from retrograde.solver.listed.space import SpaceAside, StateSpace, cuts_of
from retrograde.solver.rules.expansion import Block, expander_of
from retrograde.solver.rules.images import mean_size
from retrograde.solver.work.journal import Entries, Log
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.work import Unfit, Work

Array = np.ndarray[Any, Any]
Wave = dict[int, Array]
"""Sorted distinct positions by tier."""
AnyWave = dict[int, Any]
"""The same in memory, or as a SortedList in scratch."""
Edges = set[tuple[int, int]]
"""Pairs of tiers that a move leads from and to."""
Entry = tuple[Array, ...]
"""A wave as a log has it, or a piece of one."""
Stretch = tuple[int, int, int]
"""The key of a list, and where in it something begins and ends."""
Pieces = list[tuple[int, Array]]
"""Positions of tiers, in no particular order."""

TASK = 1 << 15
"""Positions in a task, at least, where there are so many: enough to outweigh what handing it over costs, and few enough
that no worker waits long for another."""
EARLY = 1 << 18
"""Positions found up to which more of each task are looked at a second time: later there are many tasks."""
EARLY_CHECKS = 4
SMALL = 64
LEAST_ARRIVALS = 1 << 26
"""Bytes of children found that are held against what is known at once, at least; more where memory allows."""
COMPACT = 1 << 20
"""Children found by one task for one tier that are worth sorting at once, to save memory."""


SCORE = 2
"""Bytes of a position's score."""
WIDE = 8
"""Bytes of a position, at most."""
LOGGED = 1 << 20
"""Positions in scratch that make an entry in a log, at least, where a wave has so many."""
IN_PIECES = 5
"""Arrays of an entry that is a piece of a wave."""


class Solving(NamedTuple):
    """How many bytes solving takes for each position, beside itself, and for each of a tier that moves stay in."""

    each: float
    within: float


class Explorer:
    """Finds the state space of a game wave by wave."""

    def __init__(self, game: Game, work: Work, limit: int | None = None, solving: Solving | None = None):
        """Explore so many positions, about, if there is a *limit* and no move stays in its tier. Where memory
        will not suffice for *solving*, lists are put aside in scratch; where that is not said, never."""
        self.game = game
        self.solving = solving
        self.aside: KnownAside | None = None
        self.work = work
        self.limit = limit
        self.map = work.map_here if limit else work.map  # to be soon done, or left to another way
        self.known: dict[int, list[Array]] = {}
        self.edges: set[tuple[int, int]] = set()
        self.found = 0

    def explore(self, starts: list[int], log: Log, phase: Phase) -> StateSpace | SpaceAside:
        """Return the state space from some *starts*; go on from the waves in the *log*, and add new ones."""
        if self.solving is not None and self.work.sizes.lists_in_scratch:
            self.go_aside()
        wave: AnyWave = {}
        for entries in waves_in(log.resumed):
            wave = self.take_up(entries)
            phase.learn(partial(self.mean_size, wave))
            phase.skip(size(wave))
        if not log.resumed:
            first = first_wave(self.game, starts)
            wave = self.take_up([first])
            log.add(first)
            phase.count(len(starts))  # and tell of it with the next ones, for which the rules are compiled
        while wave:
            found, edges = self.children_of(wave)
            log.write()
            wave = self.logged(found, edges, log)
            phase.learn(partial(self.mean_size, wave))
            phase.advance(size(wave), next(reversed(wave), None))
            if self.limit and self.seems_larger(self.limit, size(wave)):
                raise Unfit
        phase.end()
        return self.state_space()

    def children_of(self, wave: AnyWave) -> tuple[AnyWave, Edges]:
        """Return what the children of a wave are that are not known, and the pairs of tiers that moves lead from and
        to, if new."""
        checks = EARLY_CHECKS if self.found < EARLY else 1
        tasks = (Expand(self.game, [(k, wave[k][a:b]) for k, a, b in task], checks) for task in cut(lengths(wave)))
        arrivals: dict[int, list[Array]] = {}
        fresh: dict[int, list[Array]] = {}
        edges: Edges = set()
        came = 0
        for pieces, found in self.map(expand, tasks):
            edges |= found
            for tier, piece in pieces:
                arrivals.setdefault(tier, []).append(piece)
                came += piece.nbytes
            if came > max(LEAST_ARRIVALS, self.work.budget.left() // 8):
                self.settle(arrivals, fresh)
                came = 0
        self.settle(arrivals, fresh)
        edges -= self.edges
        if self.aside:
            return self.aside.wave(), edges
        return {tier: sorted_together(fresh.pop(tier)) for tier in list(fresh)}, edges

    def logged(self, found: AnyWave, edges: Edges, log: Log) -> AnyWave:
        """Add a wave to the log, and to what is known, and return it."""
        if self.aside:
            for entry in entries_aside(found, edges):
                log.add(entry)
                log.flush()
            self.remember(found, edges)
            return found
        log.add(entry := entry_of(found, edges))
        return self.take_up([entry])

    def settle(self, arrivals: dict[int, list[Array]], fresh: dict[int, list[Array]]) -> None:
        """Move what has arrived, and is not known, to what is *fresh*, or to scratch."""
        came = sum(sum(map(len, heap)) for heap in arrivals.values())
        if self.has_no_room(came):
            self.go_aside()
        if not self.aside:
            self.merge(arrivals, fresh)
            return
        self.aside.take(fresh)
        self.aside.take(arrivals)
        doing = f"going on from {self.found:,} positions, with lists in scratch files and scores in memory,"
        self.work.budget.check(self.least(), doing)

    def has_no_room(self, came: int) -> bool:
        """Tell whether so many positions that have arrived cannot be merged in memory, but in scratch."""
        return self.may_go_aside() and self.work.budget.left() < WIDE * came

    def merge(self, arrivals: dict[int, list[Array]], fresh: dict[int, list[Array]]) -> None:
        """Move what has arrived and is not known to what is *fresh*, by tier sorted lists that have nothing in common.

        Raises MemoryLimit where there is no room for it.
        """
        came = [(tier, sum(map(len, heap))) for tier, heap in arrivals.items()]
        self.work.budget.check(8 * sum(count for _, count in came), f"going on from {self.found:,} positions")
        heaps = (
            [(tier, arrivals.pop(tier), self.known.get(tier, []) + fresh.get(tier, [])) for tier, *_ in task]
            for task in whole(came)
        )
        for part in self.map(merge, heaps):
            for tier, new in part:
                if len(new):
                    fresh.setdefault(tier, []).append(new)

    def is_short(self) -> bool:
        """Tell whether there is too little memory to go on, and solve what is found, with all lists there."""
        if self.solving is None or not self.may_go_aside():
            return False
        left, each, within = self.work.budget.left(), self.solving.each, self.solving.within
        if left > max(WIDE, each + within) * self.found:
            return False
        item = max(run.itemsize for runs in self.known.values() for run in runs)
        return left < max(item * self.found, each * self.found + within * self.largest())

    def may_go_aside(self) -> bool:
        """Tell whether lists are in memory, and putting them aside would make room enough for what stays there."""
        if self.solving is None or self.aside:
            return False
        held = sum(run.nbytes for runs in self.known.values() for run in runs)
        return self.work.budget.left() + held > self.least()

    def least(self) -> int:
        """Return how many bytes the scores of what is known take, and what is left of the largest tier with cycles."""
        return SCORE * self.found + self.largest()

    def mean_size(self, wave: AnyWave) -> float:
        """Return for how many positions one of a wave stands, about."""
        return mean_size(self.game, sample_of(wave))

    def largest(self) -> int:
        """Return how many positions are known of the tier, of those that moves stay in, that has most."""
        known = self.aside.known if self.aside else self.known
        return max((sum(map(len, runs)) for tier, runs in known.items() if (tier, tier) in self.edges), default=0)

    def go_aside(self) -> None:
        """Put what is known aside, and keep it in scratch from now on."""
        self.aside = KnownAside(self.work)
        self.aside.take(self.known)
        self.aside.remember(self.aside.wave())

    def seems_larger(self, limit: int, new: int) -> bool:
        """Tell whether there are more positions than a limit, or soon will be, and no move stays in its tier."""
        growing = self.found > limit // 8 and 3 * new > self.found
        return (growing or self.found > limit) and all(tier != child for tier, child in self.edges)

    def take_up(self, entries: Iterable[Entry]) -> AnyWave:
        """Add a wave, given as a log has it, to what is known, and return it."""
        wave: dict[int, list[Array]] = {}
        edges: Edges = set()
        for tiers, counts, positions, pairs, *_ in entries:
            edges.update(map(tuple, pairs.reshape(-1, 2).tolist()))
            ends = np.cumsum(counts)
            for tier, begin, end in zip(tiers.tolist(), (ends - counts).tolist(), ends.tolist(), strict=True):
                wave.setdefault(tier, []).append(positions[begin:end])
            if self.aside:
                self.aside.take(wave)
        whole = self.aside.wave() if self.aside else {tier: as_one(parts) for tier, parts in wave.items()}
        self.remember(whole, edges)
        return whole

    def remember(self, wave: AnyWave, edges: Edges) -> None:
        """Add a wave to what is known."""
        self.found += size(wave)
        self.edges |= edges
        if self.aside:
            self.aside.remember(wave)
            return
        for tier, new in wave.items():
            runs = self.known.setdefault(tier, [])
            runs.append(new)
            while len(runs) > 1 and len(runs[-2]) < 2 * len(runs[-1]):  # so that there are few, each merged seldom
                runs.append(sorted_together([runs.pop(), runs.pop()]))
        if wave and self.is_short():
            self.go_aside()

    def state_space(self) -> StateSpace | SpaceAside:
        """Return what is known as one list, and forget it piece by piece, so that it is not held twice."""
        if self.aside:
            lists = self.aside.whole()
            starts = np.cumsum([0, *map(len, lists.values())])
            greatest = max(int(each[len(each) - 1 : len(each)][0]) for each in lists.values())
            return SpaceAside(np.array([*lists]), starts, self.edges, [*lists.values()], position_type(greatest))
        runs = [run for tier in self.known.values() for run in tier]
        self.work.budget.check(sum(run.nbytes for run in runs), f"joining {self.found:,} positions")
        dtype = np.result_type(*{run.dtype for run in runs})
        del runs
        tiers = np.array(sorted(self.known), np.int64)
        counts = [sum(map(len, self.known[tier])) for tier in tiers.tolist()]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        shared = self.work.zeros("positions", int(starts[-1]), dtype)
        for k, tier in enumerate(tiers.tolist()):
            part = shared.array[starts[k] : starts[k + 1]]
            known = sorted(self.known.pop(tier), key=len)
            longest = known.pop().astype(dtype, copy=False)
            if known:
                kernels.merge(longest, sorted_together(known).astype(dtype, copy=False), part)
            else:
                part[:] = longest
        return StateSpace(tiers, starts, self.edges, shared, cuts_of(starts, shared.array, self.work))


def first_wave(game: Game, starts: list[int]) -> tuple[Array, Array, Array, Array]:
    """Return the wave of the first positions as a log has it: tiers, how many of each, positions, and no edges."""
    by_tier: dict[int, list[int]] = {}
    for start in sorted(starts):
        by_tier.setdefault(int(game.tier(start)), []).append(start)
    counts = [len(some) for some in by_tier.values()]
    positions = [start for some in by_tier.values() for start in some]
    kind = position_type(max(positions))
    return np.array([*by_tier]), np.array(counts), np.array(positions, kind), np.empty(0, np.int64)


def entry_of(wave: AnyWave, edges: Edges) -> Entry:
    """Return a wave in memory as a log has it: tiers, how many of each, positions, and edges."""
    counts = np.array([len(new) for new in wave.values()], np.int64)
    lists = [*wave.values()]
    positions = lists[0] if len(lists) == 1 else np.concatenate([np.empty(0, np.uint32), *lists])
    return np.array([*wave], np.int64), counts, positions, np.array(sorted(edges), np.int64).reshape(-1)


def entries_aside(wave: AnyWave, edges: Edges) -> Iterator[Entry]:
    """Yield a wave in scratch as a log has it, piece by piece; a fifth array has the number of the piece, and whether
    it is the last."""
    number = 0
    for number, parts in enumerate(cut(lengths(wave), LOGGED), 1):
        piece = {tier: wave[tier][begin:end] for tier, begin, end in parts}
        greatest = max(int(positions[-1]) for positions in piece.values())
        narrow = {tier: positions.astype(position_type(greatest)) for tier, positions in piece.items()}
        yield (*entry_of(narrow, set()), np.array([number - 1, 0]))
    yield (*entry_of({}, edges), np.array([number, 1]))


def waves_in(log: Entries) -> Iterator[Iterator[Entry]]:
    """Yield the whole waves that a log has, each as entries; what a kill has left of one in pieces is passed over."""
    pieces: list[int] = []
    for number, entry in enumerate(log):
        if len(entry) < IN_PIECES:
            pieces.clear()
            yield iter([tuple(entry)])
            continue
        if entry[-1][0] == 0:
            pieces.clear()
        pieces.append(number)
        if entry[-1][1]:
            yield (tuple(log.entry(which)) for which in pieces)
            pieces.clear()


def sample_of(wave: AnyWave) -> Array:
    """Return some positions of a wave, spread evenly."""
    ends = np.cumsum([0, *map(len, wave.values())])
    places = np.linspace(0, ends[-1] - 1, min(SMALL, ends[-1])).astype(np.int64)
    lists, numbers = [*wave.values()], ends.searchsorted(places, "right") - 1
    some = [lists[k][place : place + 1] for k, place in zip(numbers, (places - ends[numbers]).tolist(), strict=True)]
    return as_one([np.empty(0, np.uint32), *some])


# Tasks


class Expand(NamedTuple):
    """Positions of tiers to expand, of which some are looked at a second time."""

    game: Game
    parts: list[tuple[int, Array]]
    checks: int


def expand(task: Expand) -> tuple[Pieces, set[tuple[int, int]]]:
    """Return the children of some positions, and the pairs of tiers seen."""
    found: dict[int, list[Array]] = {}
    loose: dict[int, int] = {}  # how many children of a tier have come since they were last sorted
    edges = set()
    expander = expander_of(task.game)
    for k, place in spots([(k, 0, len(part[1])) for k, part in enumerate(task.parts)], task.checks):
        expander.spot_check(task.parts[k][0], task.parts[k][1][place : place + 1])
    for tier, positions in task.parts:
        for begin, end in expander.blocks(0, len(positions)):
            for child_tier, piece in pieces_of(expander.expand(tier, positions[begin:end])):
                edges.add((tier, child_tier))
                heap = found.setdefault(child_tier, [])
                heap.append(piece)
                loose[child_tier] = loose.get(child_tier, 0) + len(piece)
                if loose[child_tier] >= COMPACT > len(heap[0]):
                    found[child_tier] = [distinct(heap)]
                    loose[child_tier] = 0
    return [(tier, as_one(heap)) for tier, heap in found.items()], edges


def merge(heaps: list[tuple[int, list[Array], list[Array]]]) -> Pieces:
    """Return for each tier the sorted distinct positions of those that have arrived and are not known."""
    merged = []
    for tier, heap, known in heaps:
        new = distinct(heap)
        for run in known:
            both = np.result_type(new, run)
            new = new.astype(both, copy=False)
            new = new[: kernels.subtract(new, run.astype(both, copy=False))]
        merged.append((tier, new.copy()))  # or all that has arrived would stay in memory with it
    return merged


def pieces_of(block: Block) -> Iterator[tuple[int, Array]]:
    """Yield the children in a block by tier, each piece a copy in no particular order."""
    runs = np.empty((len(block.children), 4), np.int64)
    kernels.gather(block.columns, block.children, block.tiers, runs, block.out)
    some = runs[np.diff(runs[:, 0], prepend=0) > 0]
    if len(some) and some[:, 2].all() and (some[:, 1] == some[0, 1]).all():  # mostly all are of one tier
        yield int(some[0, 1]), block.out[: some[-1, 0]].astype(position_type(int(some[:, 3].max())))
        return
    begin = 0
    for row, (end, tier, plain, greatest) in enumerate(runs.tolist()):
        if end > begin:
            piece = block.out[begin:end].astype(position_type(greatest))
            if plain:
                yield tier, piece
            else:
                tiers = block.tiers[row, : block.columns][block.children[row, : block.columns] >= 0]
                for child_tier in np.unique(tiers).tolist():
                    yield child_tier, piece[tiers == child_tier]
        begin = end


def as_one(arrays: list[Array]) -> Array:
    """Return arrays one after another, for many small ones that live long leave holes in memory when they go."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def sorted_together(lists: list[Array]) -> Array:
    """Return sorted lists that have nothing in common as one, the shortest merged first; they are forgotten."""
    both = np.result_type(*lists)
    lists.sort(key=len, reverse=True)
    while len(lists) > 1:
        left, right = (lists.pop().astype(both, copy=False) for _ in range(2))
        whole = np.empty(len(left) + len(right), both)
        kernels.merge(left, right, whole)
        insort(lists, whole, key=lambda one: -len(one))
    return lists[0]


def distinct(heap: list[Array]) -> Array:
    """Return the sorted distinct numbers of some arrays, which are forgotten, for there may be much of them.

    (NumPy's vectorised sort beats merging sorted pieces.)
    """
    numbers = np.concatenate(heap)
    heap.clear()
    numbers.sort()
    count = unique(numbers)
    return numbers[:count].copy() if count < len(numbers) // 2 else numbers[:count]


def position_type(greatest: int) -> type[np.integer[Any]]:
    """Return the type for positions up to the greatest: 32 bits take half the memory, and are sorted twice as fast."""
    return np.uint32 if greatest < 1 << 32 else np.int64


# Cutting


def lengths(wave: AnyWave) -> list[tuple[int, int]]:
    """Return how many positions a wave has in each tier."""
    return [(tier, len(positions)) for tier, positions in wave.items()]


def size(wave: AnyWave) -> int:
    """Return how many positions a wave has."""
    return sum(map(len, wave.values()))


def cut(stretches: Iterable[tuple[int, int]] | Iterable[Stretch], least: int = TASK) -> Iterator[list[Stretch]]:
    """Group lists, given by their keys and lengths or ends, into tasks of *least* items, cutting long ones.

    >>> TASK
    32768
    >>> list(cut([(7, 40_000), (8, 100)]))
    [[(7, 0, 32768)], [(7, 32768, 40000), (8, 0, 100)]]
    """
    task: list[Stretch] = []
    total = 0
    for key, *ends in stretches:
        low, high = ends if len(ends) > 1 else (0, ends[0])
        for begin in range(low, high, least):
            end = min(begin + least, high)
            task.append((key, begin, end))
            total += end - begin
            if total >= least:
                yield task
                task, total = [], 0
    if task:
        yield task


def whole(lengths: Iterable[tuple[int, int]], least: int = TASK) -> Iterator[list[tuple[int, int]]]:
    """Group lists, given by their keys and lengths, into tasks of *least* items or more, without cutting any."""
    task: list[tuple[int, int]] = []
    total = 0
    for key, length in lengths:
        task.append((key, length))
        total += length
        if total >= least:
            yield task
            task, total = [], 0
    if task:
        yield task


def spots(task: list[Stretch], most: int) -> Iterator[tuple[int, int]]:
    """Yield some items of a task, spread evenly, by their keys and places; fewer of a small task.

    >>> list(spots([(7, 0, 200), (8, 100, 900)], 4))
    [(7, 125), (8, 275), (8, 525), (8, 775)]
    """
    total = sum(end - begin for _, begin, end in task)
    count = min(most, 1 + total // SMALL)
    ahead = [(2 * k + 1) * total // (2 * count) for k in range(count)]
    before = 0
    for key, begin, end in task:
        while ahead and ahead[0] < before + end - begin:
            yield key, begin + ahead.pop(0) - before
        before += end - begin
