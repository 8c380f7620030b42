"""Breadth-first exploration of all canonical positions that play can reach, as sorted lists by tier."""

import math
from collections.abc import Iterable
from functools import partial
from itertools import pairwise

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.listed.explore import waves
from retrograde.solver.methods.listed.explore.cutting import TASK, cut_into_tasks
from retrograde.solver.methods.listed.explore.space import SpilledStateSpace, StateSpace, index_of_positions, keys_of
from retrograde.solver.methods.listed.explore.tasks import Edges, expand, join, merge, merge_sorted, position_type
from retrograde.solver.methods.listed.spill import kernels
from retrograde.solver.methods.listed.spill.lists import SpilledPositions
from retrograde.solver.rules.examine import to_list
from retrograde.solver.rules.images import mean_size
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.log import encode
from retrograde.solver.runtime.progress import Growth, Phase
from retrograde.solver.runtime.tasks import call
from retrograde.solver.runtime.work import NotApplicable, Work

EARLY = 1 << 18
"""Up to this number of positions found, each task checks EARLY_CHECKS positions with the interpreted rules, later 1."""
EARLY_CHECKS = 4
LEAST_ARRIVALS = 1 << 26
"""Least bytes of children that are merged with the known positions at once. More if memory allows."""
SCORE, INDEX = 2, 0.625
"""Bytes of a position's score, and of a search index for each position."""
CYCLIC = 8
"""Bytes for each position of a tier with cycles, about, without predecessor lists: counters, sizes, frontiers."""
WORD = 8
"""The most bytes of a word of a position."""


class Explorer:
    """Finds the state space of a game wave by wave."""

    def __init__(self, game: Game, work: Work, limit: int | None = None, spills: bool = False):
        """If *limit* is given, give up at about that number of positions when no move stays in its tier.

        If it *spills*, lists go to disk once memory does not suffice to solve the game.
        """
        self.game = game
        self.width = Traits.of(game).width
        self.position_bytes = WORD * max(self.width, 1)
        """The most bytes of a position."""
        self.spills = spills
        self.spilled: SpilledPositions | None = None
        self.work = work
        self.limit = limit
        self.map = work.map_here if limit else work.map  # few positions, or another strategy takes over
        self.known: dict[int, list[Array]] = {}
        self.edges: set[tuple[int, int]] = set()
        self.found = 0

    def explore(self, starts: list[int], log: Log, phase: Phase) -> StateSpace | SpilledStateSpace:
        """Return the state space that play from *starts* can reach. Resumes from the waves in *log* and adds new ones.
        Raises NotApplicable if there seem to be more positions than the limit."""
        if self.spills and self.work.sizes.lists_in_scratch:
            self.spill()
        wave: waves.AnyWave = {}
        # Step 1: load the logged waves; exploring continues from the last.
        for blocks in waves.waves_in(log.resumed):
            wave = self.add_wave(blocks)
            phase.learn(partial(self.mean_size, wave))
            phase.skip(waves.size(wave))
        # Step 2: without a log, begin with the start positions.
        if not log.resumed:
            first = waves.first_wave(self.game, starts)
            wave = self.add_wave([first])
            log.add(encode(first))
            phase.count(len(starts))  # reported with the next wave, after compiling
        growth, is_logged = Growth(), bool(log.resumed)
        # Step 3: expand wave after wave until one is empty.
        while wave:
            found, edges = self.children_of(wave)
            log.write()
            is_logged |= not log.unwritten
            wave = self.log_wave(found, edges, log)
            phase.learn(partial(self.mean_size, wave))
            phase.advance(waves.size(wave), next(reversed(wave), None))
            growth.count_wave(waves.size(wave), phase.done)
            if self.limit and self.seems_larger(self.limit, waves.size(wave)):
                what = f"more than {self.limit:,} positions, too many for lists in memory"
                raise NotApplicable(f"it seems to have {what}")
        # Step 4: if the journal has some waves, write the others, so that it says how many positions there are. A short
        # exploration writes none.
        if is_logged:
            log.flush()
        phase.end()
        return self.state_space()

    def children_of(self, wave: waves.AnyWave) -> tuple[waves.AnyWave, Edges]:
        """Return the children of a wave that are not known, and the new pairs of tiers that moves connect."""
        checks = EARLY_CHECKS if self.found < EARLY else 1
        # Expand the wave in tasks. Arrivals collect in memory, then are merged with the known positions from time to
        # time.
        tasks = (
            (self.game, [(tier, wave[tier][begin:end]) for tier, begin, end in task], checks)
            for task in cut_into_tasks(waves.lengths(wave), TASK)
        )
        arrivals: dict[int, list[Array]] = {}
        fresh: dict[int, list[Array]] = {}
        edges: Edges = set()
        arrived_bytes = 0
        for pieces, task_edges in self.map(partial(call, expand), tasks):
            edges |= task_edges
            for tier, piece in pieces:
                arrivals.setdefault(tier, []).append(piece)
                arrived_bytes += piece.nbytes
            if arrived_bytes > max(LEAST_ARRIVALS, self.work.budget.free_bytes() // 8):
                self.settle(arrivals, fresh)
                arrived_bytes = 0
        self.settle(arrivals, fresh)
        edges -= self.edges
        if self.spilled:
            return self.spilled.take_wave(), edges
        return {tier: merge_sorted(fresh.pop(tier)) for tier in list(fresh)}, edges

    def log_wave(self, wave: waves.AnyWave, edges: Edges, log: Log) -> waves.AnyWave:
        """Log a wave and its new pairs of tiers, add it to the known positions, and return it."""
        if self.spilled:
            for block in waves.blocks_on_disk(wave, edges):
                log.add(encode(block))
                log.flush()
            self.remember(wave, edges)
            return wave
        log.add(encode(block := waves.wave_block(wave, edges)))
        return self.add_wave([block])

    def settle(self, arrivals: dict[int, list[Array]], fresh: dict[int, list[Array]]) -> None:
        """Move the unknown ones among the arrived children to *fresh*; if lists have spilled, move all to disk."""
        if self.must_spill(sum(sum(map(len, heap)) for heap in arrivals.values())):
            self.spill()
        if not self.spilled:
            self.merge(arrivals, fresh)
            return
        self.spilled.add(fresh)
        self.spilled.add(arrivals)
        doing = f"going on from {self.found:,} positions, with lists in scratch files and scores in memory,"
        self.work.budget.check(self.least_memory(), doing)

    def must_spill(self, count: int) -> bool:
        """Return whether *count* arrived positions can be merged on disk, but not in memory."""
        return self.may_spill() and self.work.budget.free_bytes() < self.merge_bytes() * count

    def merge_bytes(self) -> int:
        """Return the bytes for each position that is merged: those of several words are sorted into a second array."""
        return self.position_bytes * (2 if self.width else 1)

    def merge(self, arrivals: dict[int, list[Array]], fresh: dict[int, list[Array]]) -> None:
        """Move the unknown ones among the arrived children to *fresh*: disjoint sorted lists for each tier. Empties
        *arrivals*. Raises MemoryLimit."""
        counts = [(tier, sum(map(len, heap))) for tier, heap in arrivals.items()]
        needed = self.merge_bytes() * sum(count for _, count in counts)
        self.work.budget.check(needed, f"going on from {self.found:,} positions")
        heaps = (
            [(tier, arrivals.pop(tier), self.known.get(tier, []) + fresh.get(tier, [])) for tier, *_ in task]
            for task in cut_into_tasks(counts, TASK, whole=True)
        )
        for pieces in self.map(merge, heaps):
            for tier, new in pieces:
                if len(new):
                    fresh.setdefault(tier, []).append(new)

    def memory_is_short(self) -> bool:
        """Return True if memory does not suffice to join and solve the known positions."""
        if not self.may_spill():
            return False
        free, solve_bytes = self.work.budget.free_bytes(), INDEX + SCORE
        # A quick test first: plenty of memory even if every position took the most.
        if free > max(self.position_bytes, solve_bytes + CYCLIC) * self.found:
            return False
        # Joining copies all positions. Solving takes scores and an index, and counters for the largest tier.
        widest = max(run.itemsize * max(self.width, 1) for runs in self.known.values() for run in runs)
        return free < max(widest * self.found, solve_bytes * self.found + CYCLIC * self.largest())

    def may_spill(self) -> bool:
        """Return True if lists are in memory, and spilling them would free enough for the arrays that must stay."""
        if not self.spills or self.spilled:
            return False
        freed = sum(run.nbytes for runs in self.known.values() for run in runs)
        return self.work.budget.free_bytes() + freed > self.least_memory()

    def least_memory(self) -> int:
        """Return the bytes that scores, and the counters of the largest tier with cycles, take in memory."""
        return SCORE * self.found + self.largest()

    def mean_size(self, wave: waves.AnyWave) -> float:
        """Return the mean number of images of a position in a wave, by a sample."""
        return mean_size(self.game, to_list(waves.sample_of(wave)))

    def largest(self) -> int:
        """Return the number of known positions of the largest tier with cycles."""
        known = self.spilled.known if self.spilled else self.known
        return max((sum(map(len, runs)) for tier, runs in known.items() if (tier, tier) in self.edges), default=0)

    def spill(self) -> None:
        """Spill all known positions to disk, and keep new ones there from now on."""
        self.spilled = SpilledPositions(self.work)
        self.spilled.add(self.known)
        self.spilled.remember(self.spilled.take_wave())

    def seems_larger(self, limit: int, new: int) -> bool:
        """Return whether no move stays in its tier, and there are or soon will be more positions than *limit*. "Soon":
        more than an eighth of the limit is known, and at least a third of that is *new*, in the last wave."""
        growing = self.found > limit // 8 and 3 * new > self.found
        return (growing or self.found > limit) and all(tier != child for tier, child in self.edges)

    def add_wave(self, blocks: Iterable[waves.WaveBlock]) -> waves.AnyWave:
        """Add a wave, given in blocks, to the known positions, and return it."""
        wave: dict[int, list[Array]] = {}
        edges: Edges = set()
        for block in blocks:
            edges.update(map(tuple, block.edges.reshape(-1, 2).tolist()))
            bounds = [0, *np.cumsum(block.counts).tolist()]
            for tier, (begin, end) in zip(block.tiers.tolist(), pairwise(bounds), strict=True):
                wave.setdefault(tier, []).append(block.positions[begin:end])
            if self.spilled:
                self.spilled.add(wave)  # empties it
        joined = self.spilled.take_wave() if self.spilled else {tier: join(parts) for tier, parts in wave.items()}
        self.remember(joined, edges)
        return joined

    def remember(self, wave: waves.AnyWave, edges: Edges) -> None:
        """Add a wave to the known positions; spill these if memory gets short."""
        self.found += waves.size(wave)
        self.edges |= edges
        if self.spilled:
            self.spilled.remember(wave)
            return
        for tier, new in wave.items():
            runs = self.known.setdefault(tier, [])
            runs.append(new)
            # Merge runs until each is at least twice as long as the next. Few runs remain, and each position is merged
            # seldom.
            while len(runs) > 1 and len(runs[-2]) < 2 * len(runs[-1]):
                runs.append(merge_sorted([runs.pop(), runs.pop()]))
        if wave and self.memory_is_short():
            self.spill()

    def state_space(self) -> StateSpace | SpilledStateSpace:
        """Return all known positions, joined into one list that is sorted within each tier. Frees the runs, the sorted
        lists of a tier, as soon as they are joined."""
        if self.spilled:
            lists = self.spilled.all_positions()
            starts = np.cumsum([0, *map(len, lists.values())])
            greatest = max(to_list(positions[len(positions) - 1 : len(positions)])[0] for positions in lists.values())
            return SpilledStateSpace(np.array([*lists]), starts, self.edges, [*lists.values()], position_type(greatest))
        runs = [run for tier in self.known.values() for run in tier]
        self.work.budget.check(sum(run.nbytes for run in runs), f"joining {self.found:,} positions")
        dtype = np.result_type(*{run.dtype for run in runs})
        del runs
        tiers = np.array(sorted(self.known), np.int64)
        counts = [sum(map(len, self.known[tier])) for tier in tiers.tolist()]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        # Join the runs of each tier. The longest run is merged last, straight into its final place.
        shape = int(starts[-1]), *([self.width] if self.width else [])
        shared = self.work.zeros("positions", math.prod(shape), dtype)
        positions = shared.array.reshape(shape)
        for k, tier in enumerate(tiers.tolist()):
            joined = positions[starts[k] : starts[k + 1]]
            runs = sorted(self.known.pop(tier), key=len)
            longest = runs.pop().astype(dtype, copy=False)
            if runs:
                kernels.merge(longest, merge_sorted(runs).astype(dtype, copy=False), joined)
            else:
                joined[:] = longest
        packing, keys = keys_of(positions, self.work) if self.width else (None, None)
        index = index_of_positions(starts, keys.array if keys else positions, self.work)
        return StateSpace(tiers, starts, self.edges, shared, index, self.width, packing, keys)
