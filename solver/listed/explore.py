"""Exploration: all positions that play can reach, canonical ones only, as sorted lists tier by tier.

It goes in waves. A wave is what has just been found; its children, less what is known already, are the next one.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import Game
from retrograde.solver.listed import kernels
from retrograde.solver.listed.space import StateSpace, cuts_of
from retrograde.solver.rules.expansion import Block, expander_of
from retrograde.solver.rules.images import mean_size
from retrograde.solver.work.journal import Log
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.work import Unfit, Work

Array = np.ndarray[Any, Any]
Wave = dict[int, Array]
"""Sorted distinct positions by tier."""
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


class Explorer:
    """Finds the state space of a game wave by wave."""

    def __init__(self, game: Game, work: Work, limit: int | None = None):
        """Explore so many positions, about, if there is a *limit* and no move stays in its tier."""
        self.game = game
        self.work = work
        self.limit = limit
        self.map = work.map_here if limit else work.map  # to be soon done, or left to another way
        self.known: dict[int, list[Array]] = {}
        self.edges: set[tuple[int, int]] = set()
        self.found = 0

    def explore(self, starts: list[int], log: Log, phase: Phase) -> StateSpace:
        """Return the state space from some *starts*; go on from the waves in the *log*, and add new ones."""
        wave: Wave = {}
        for arrays in log.resumed:
            wave = self.remember(*arrays)
            phase.learn(partial(mean_size, self.game, arrays[2]))
            phase.skip(size(wave))
        if not log.resumed:
            first = first_wave(self.game, starts)
            wave = self.remember(*first)
            log.add(first)
            phase.count(len(starts))  # and tell of it with the next ones, for which the rules are compiled
        while wave:
            entry = self.children_of(wave)
            log.write()
            wave = self.remember(*entry)
            log.add(entry)
            phase.learn(partial(mean_size, self.game, entry[2]))
            phase.advance(len(entry[2]), next(reversed(wave), None))
            if self.limit and self.seems_larger(self.limit, len(entry[2])):
                raise Unfit
        phase.end()
        return self.state_space()

    def children_of(self, wave: Wave) -> tuple[Array, Array, Array, Array]:
        """Return what the children of a wave are that are not known: their tiers, how many of each, the positions; and
        the pairs of tiers that moves lead from and to, if new."""
        checks = EARLY_CHECKS if self.found < EARLY else 1
        tasks = (Expand(self.game, [(k, wave[k][a:b]) for k, a, b in task], checks) for task in cut(lengths(wave)))
        arrivals: dict[int, list[Array]] = {}
        fresh: dict[int, list[Array]] = {}
        edges: set[tuple[int, int]] = set()
        came = 0
        for pieces, found in self.map(expand, tasks):
            edges |= found
            for tier, piece in pieces:
                arrivals.setdefault(tier, []).append(piece)
                came += piece.nbytes
            if came > max(LEAST_ARRIVALS, self.work.budget.left() // 8):
                self.merge(arrivals, fresh)
                came = 0
        self.merge(arrivals, fresh)
        tiers = np.array(list(fresh), np.int64)
        lists = [sorted_together(fresh.pop(tier)) for tier in tiers.tolist()]
        return (
            tiers,
            np.array([len(new) for new in lists], np.int64),
            lists[0] if len(lists) == 1 else np.concatenate([np.empty(0, np.uint32), *lists]),
            np.array(sorted(edges - self.edges), np.int64).reshape(-1),
        )

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

    def seems_larger(self, limit: int, new: int) -> bool:
        """Tell whether there are more positions than a limit, or soon will be, and no move stays in its tier."""
        growing = self.found > limit // 8 and 3 * new > self.found
        return (growing or self.found > limit) and all(tier != child for tier, child in self.edges)

    def remember(self, tiers: Array, counts: Array, positions: Array, edges: Array) -> Wave:
        """Add a wave to what is known, and return it by tier."""
        self.found += len(positions)
        self.edges.update(map(tuple, edges.reshape(-1, 2).tolist()))
        ends = np.cumsum(counts)
        stretches = zip(tiers.tolist(), (ends - counts).tolist(), ends.tolist(), strict=True)
        wave = {tier: positions[begin:end] for tier, begin, end in stretches}
        for tier, new in wave.items():
            runs = self.known.setdefault(tier, [])
            runs.append(new)
            while len(runs) > 1 and len(runs[-2]) < 2 * len(runs[-1]):  # so that there are few, each merged seldom
                runs.append(sorted_together([runs.pop(), runs.pop()]))
        return wave

    def state_space(self) -> StateSpace:
        """Return what is known as one list, and forget it piece by piece, so that it is not held twice."""
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
            known = self.known.pop(tier)
            np.concatenate(known, out=part)
            if len(known) > 1:
                part.sort()
        return StateSpace(tiers, starts, shared, self.edges, cuts_of(starts, shared.array, self.work))


def first_wave(game: Game, starts: list[int]) -> tuple[Array, Array, Array, Array]:
    """Return the wave of the first positions as a log has it: tiers, how many of each, positions, and no edges."""
    by_tier: dict[int, list[int]] = {}
    for start in sorted(starts):
        by_tier.setdefault(int(game.tier(start)), []).append(start)
    counts = [len(some) for some in by_tier.values()]
    positions = [start for some in by_tier.values() for start in some]
    kind = position_type(max(positions))
    return np.array([*by_tier]), np.array(counts), np.array(positions, kind), np.empty(0, np.int64)


# Tasks


class Expand(NamedTuple):
    """Positions of tiers to expand, of which some are looked at a second time."""

    game: Game
    parts: list[tuple[int, Array]]
    checks: int


def expand(task: Expand) -> tuple[Pieces, set[tuple[int, int]]]:
    """Return the children of some positions, and the pairs of tiers seen."""
    found: dict[int, list[Array]] = {}
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
                if len(heap) > 1 and len(heap[0]) < COMPACT <= sum(map(len, heap[1:])):
                    found[child_tier] = [distinct(heap)]
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
    """Return sorted lists that have nothing in common as one."""
    if len(lists) == 1:
        return lists[0]
    numbers = np.concatenate(lists)
    lists.clear()
    numbers.sort()
    return numbers


def distinct(heap: list[Array]) -> Array:
    """Return the sorted distinct numbers of some arrays, which are forgotten, for there may be much of them.

    (NumPy's vectorised sort beats merging sorted pieces.)
    """
    numbers = np.concatenate(heap)
    heap.clear()
    numbers.sort()
    count = kernels.unique(numbers)
    return numbers[:count].copy() if count < len(numbers) // 2 else numbers[:count]


def position_type(greatest: int) -> type[np.integer[Any]]:
    """Return the type for positions up to the greatest: 32 bits take half the memory, and are sorted twice as fast."""
    return np.uint32 if greatest < 1 << 32 else np.int64


# Cutting


def lengths(wave: Wave) -> list[tuple[int, int]]:
    """Return how many positions a wave has in each tier."""
    return [(tier, len(positions)) for tier, positions in wave.items()]


def size(wave: Wave) -> int:
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
