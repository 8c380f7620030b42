"""Exploration: all positions that play can reach, canonical ones only, as sorted lists tier by tier.

It goes in waves. A wave is what has just been found; its children, less what is known already, are the next one.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from retrograde.solver.rules import kernels
from retrograde.solver.rules.expansion import Block, Expander
from retrograde.solver.work.journal import Log
from retrograde.solver.work.memory import MemoryBudget
from retrograde.solver.work.progress import Phase

Array = np.ndarray[Any, Any]
Wave = dict[int, Array]
"""Sorted distinct positions by tier."""
Result = TypeVar("Result")
Stretch = tuple[int, int, int]
"""The key of a list, and where in it something begins and ends."""

TASK = 1 << 15
"""Positions in a task, at least, where there are so many: enough to outweigh what handing it to a thread costs, and few
enough that no thread waits long for another."""
EARLY = 1 << 18
"""Positions found up to which more of each task are looked at a second time: later there are many tasks."""
EARLY_CHECKS = 4
SMALL = 64
COMPACT = 1 << 20
"""Children found by one task for one tier that are worth sorting at once, to save memory."""


@dataclass
class StateSpace:
    """The canonical positions of a game, sorted within each tier: tier k has `positions[starts[k]:starts[k + 1]]`.

    `tiers` int64[T] ascending, `starts` int64[T + 1], `positions` uint32[n] or int64[n]; `edges` are the pairs of tiers
    that a move leads from and to.
    """

    tiers: Array
    starts: Array
    positions: Array
    edges: set[tuple[int, int]]


class TooLarge(Exception):
    """There seem to be more positions than are to be explored."""


class Explorer:
    """Finds the state space of a game wave by wave, on the threads of an executor."""

    def __init__(self, expander: Expander, executor: Executor, budget: MemoryBudget, limit: int | None = None):
        """Explore so many positions, about, if there is a *limit* and no move stays in its tier."""
        self.limit = limit
        self.expander = expander
        self.executor = executor
        self.budget = budget
        self.known: dict[int, list[Array]] = {}
        self.edges: set[tuple[int, int]] = set()
        self.found = 0

    def explore(self, start: int, log: Log, phase: Phase) -> StateSpace:
        """Return the state space from *start*; go on from the waves in the *log*, and add new ones."""
        wave: Wave = {}
        for arrays in log.resumed:
            wave = self.remember(*arrays)
            phase.skip(size(wave))
        if not log.resumed:
            tier = int(self.expander.game.tier(start))
            first = np.array([tier]), np.array([1]), np.array([start], position_type(start)), np.empty(0, np.int64)
            wave = self.remember(*first)
            log.add(partial(tuple, first))
            phase.advance(1, tier)
        while wave:
            expanded = run(self.executor, partial(self.expand, wave), tasks(lengths(wave)), log.write)
            arrivals: dict[int, list[Array]] = {}
            edges: set[tuple[int, int]] = set()
            for pieces, found in expanded:
                edges |= found
                for tier, piece in pieces:
                    arrivals.setdefault(tier, []).append(piece)
            self.foresee(wave, arrivals)
            came = [(tier, sum(map(len, heap))) for tier, heap in arrivals.items()]
            merging = run(self.executor, partial(self.merge, arrivals), tasks(came, cut=False))
            merged = [(tier, new) for part in merging for tier, new in part if len(new)]
            entry = (
                np.array([tier for tier, _ in merged], np.int64),
                np.array([len(new) for _, new in merged], np.int64),
                np.concatenate([np.empty(0, np.uint32), *(new for _, new in merged)]),
                np.array(sorted(edges - self.edges), np.int64).reshape(-1),
            )
            del arrivals, merged
            wave = self.remember(*entry)
            log.add(partial(tuple, entry))
            phase.advance(len(entry[2]), next(reversed(wave), None))
            if self.limit and self.seems_larger(self.limit, len(entry[2])):
                raise TooLarge
        phase.total = phase.done
        phase.tell()
        known = sum(run.nbytes for runs in self.known.values() for run in runs)
        self.budget.check(known, f"joining {self.found:,} positions")
        return self.state_space()

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
                runs[-2:] = [np.sort(np.concatenate(runs[-2:]))]
        return wave

    def foresee(self, wave: Wave, arrivals: dict[int, list[Array]]) -> None:
        """Raise MemoryLimit before merging what has arrived, and expanding it, would exceed the budget."""
        came = sum(len(piece) for pieces in arrivals.values() for piece in pieces)
        next_wave = min(came, came * came // size(wave))  # as if it grew as this one did
        self.budget.check(8 * (came + next_wave), f"going on from {self.found:,} positions")

    def expand(self, wave: Wave, task: list[Stretch]) -> tuple[list[tuple[int, Array]], set[tuple[int, int]]]:
        """Return the children of stretches of a wave as (tier, unsorted piece), and the pairs of tiers seen."""
        found: dict[int, list[Array]] = {}
        edges = set()
        expander = self.expander
        for tier, place in spots(task, EARLY_CHECKS if self.found < EARLY else 1):
            expander.spot_check(tier, wave[tier][place : place + 1])
        for tier, first, last in task:
            for begin, end in expander.blocks(first, last):
                block = expander.expand(tier, wave[tier][begin:end])
                for child_tier, piece in pieces(block):
                    edges.add((tier, child_tier))
                    heap = found.setdefault(child_tier, [])
                    heap.append(piece)
                    if len(heap) > 1 and len(heap[0]) < COMPACT <= sum(map(len, heap[1:])):
                        found[child_tier] = [distinct(heap)]
        return [(tier, piece) for tier, heap in found.items() for piece in heap], edges

    def merge(self, arrivals: dict[int, list[Array]], task: list[Stretch]) -> list[tuple[int, Array]]:
        """Return for each tier the sorted distinct positions that have arrived and are not known."""
        merged = []
        for tier, _, _ in task:
            new = distinct(arrivals.pop(tier))
            for run in self.known.get(tier, ()):
                both = np.result_type(new, run)
                new = new.astype(both, copy=False)
                new = new[: kernels.subtract(new, run.astype(both, copy=False))]
            merged.append((tier, new))
        return merged

    def state_space(self) -> StateSpace:
        """Return what is known as one list, and forget it piece by piece, so that it is not held twice."""
        tiers = np.array(sorted(self.known), np.int64)
        counts = [sum(map(len, self.known[tier])) for tier in tiers.tolist()]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        positions = np.empty(starts[-1], np.result_type(*{run.dtype for runs in self.known.values() for run in runs}))

        def fill(task: list[Stretch]) -> None:
            for row, _, _ in task:
                tier = positions[starts[row] : starts[row + 1]]
                runs = self.known.pop(int(tiers[row]))
                np.concatenate(runs, out=tier)
                if len(runs) > 1:
                    tier.sort()

        list(run(self.executor, fill, tasks(enumerate(counts), cut=False)))
        return StateSpace(tiers, starts, positions, self.edges)


def pieces(block: Block) -> Iterator[tuple[int, Array]]:
    """Yield the children in a block by tier, each piece a copy in no particular order."""
    kernels.gather(block.columns, block.children, block.tiers, block.runs, block.out)
    begin = 0
    for slot, (end, tier, plain, greatest) in enumerate(block.runs.tolist()):
        if end > begin:
            piece = block.out[begin:end].astype(position_type(greatest))
            if plain:
                yield tier, piece
            else:
                tiers = block.tiers[slot, : block.columns][block.children[slot, : block.columns] >= 0]
                for child_tier in np.unique(tiers).tolist():
                    yield child_tier, piece[tiers == child_tier]
        begin = end


def distinct(heap: list[Array]) -> Array:
    """Return the sorted distinct numbers of some arrays. (NumPy's vectorised sort beats merging sorted pieces.)"""
    numbers = np.concatenate(heap)
    numbers.sort()
    count = kernels.unique(numbers)
    return numbers[:count].copy() if count < len(numbers) // 2 else numbers[:count]


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


def position_type(greatest: int) -> type[np.integer[Any]]:
    """Return the type for positions up to the greatest: 32 bits take half the memory, and are sorted twice as fast."""
    return np.uint32 if greatest < 1 << 32 else np.int64


def lengths(wave: Wave) -> list[tuple[int, int]]:
    """Return how many positions a wave has in each tier."""
    return [(tier, len(positions)) for tier, positions in wave.items()]


def size(wave: Wave) -> int:
    """Return how many positions a wave has."""
    return sum(map(len, wave.values()))


def run(
    executor: Executor,
    function: Callable[[list[Stretch]], Result],
    tasks: Iterable[list[Stretch]],
    meanwhile: Callable[[], object] = lambda: None,
) -> Iterator[Result]:
    """Yield the results of tasks in their order, and do something else while the executor works on them."""
    waiting = list(tasks)
    if len(waiting) == 1:  # a thread would cost more than it saves
        yield function(waiting[0])
        meanwhile()
        return
    futures = [executor.submit(function, task) for task in waiting]
    meanwhile()
    for future in futures:
        yield future.result()


def tasks(lengths: Iterable[tuple[int, int]], cut: bool = True, least: int = TASK) -> Iterator[list[Stretch]]:
    """Group lists, given by their keys and lengths, into tasks of *least* items or more, cutting long ones if allowed.

    >>> TASK
    32768
    >>> list(tasks([(7, 40_000), (8, 100)]))
    [[(7, 0, 32768)], [(7, 32768, 40000), (8, 0, 100)]]
    """
    task: list[Stretch] = []
    total = 0
    for key, length in lengths:
        step = least if cut else max(length, 1)
        for begin in range(0, length, step):
            end = min(begin + step, length)
            task.append((key, begin, end))
            total += end - begin
            if total >= least:
                yield task
                task, total = [], 0
    if task:
        yield task
