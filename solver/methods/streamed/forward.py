"""The forward sweep: finds all positions that play can reach, wave by wave, as sorted lists on disk.

For each wave: find the tiers that moves lead to (`edges_by_tier`), sort in advance the children that do not come out
sorted (`sort_children`), and give tiers, or parts of large ones, to workers (`targets`, `find_positions`). A task
assumes that all positions of a tier have the same moves to the same tiers, and that children by a move ascend. If it
finds otherwise, it returns a WrongAssumption, and the wave is found again without that assumption.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.streamed import forward_kernels as kernels
from retrograde.solver.methods.streamed import forward_tasks as tasks
from retrograde.solver.methods.streamed.forward_tasks import ChildSource, ForwardTask, Target, sample_children
from retrograde.solver.methods.streamed.journal import COMPLETE, ForwardJournal, ForwardResult, NewSegment, join_parts
from retrograde.solver.methods.streamed.segments import (
    Segment,
    StreamContext,
    StreamTier,
    Wave,
    WrongAssumption,
    add_up,
    least_and_beyond,
    tally_columns,
)
from retrograde.solver.rules.examine import examine, start_of, to_list
from retrograde.solver.rules.images import mean_size
from retrograde.solver.rules.positions import from_items, to_items
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Growth, Phase
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.work import NotApplicable, Work

WRITER_BYTES = 20_000_000
"""Memory of the database's writer, in bytes."""
BYTES_A_CHILD = 32
"""Memory of a worker for each child in a task, in bytes."""
BYTES_A_CHILD_WORD = 44
"""The same for each word of a child, if it has several: it is made, copied to be sorted, packed, and finished or not.
"""
CACHE_BYTES = 1 << 28
"""The most bytes of scratch files cached in memory."""
SMALL_TASK = 1 << 17
"""Children in a task of small tiers: enough to outweigh the overhead of a task, few enough to keep all workers busy."""
LEAST_SAMPLES = 8
"""Samples needed to judge whether children ascend. With fewer, the whole segment is read."""
MOST_WAVES = 1 << 13
"""Waves, and so plies, that codes of steps can count."""

PresortedKey = tuple[int, int, int, Any]
"""(Tier of the children, tier of their parents, move, first position of the parents' segment.)"""


class Edge(NamedTuple):
    """An edge into a tier: the tier it leaves, a move there or kernels.ALL, and the number of children."""

    tier: StreamTier
    move: int
    children: int


class ForwardSweep:
    """The exploration of one game. `waves` are the waves found. `over`, a tally by primitive value (see steps.py),
    counts positions in which the game is over."""

    def __init__(self, game: Game, work: Work, journal: ForwardJournal | None = None):
        width = Traits.of(game).width
        least = work.sizes.stream_least_children
        child_bytes = (BYTES_A_CHILD_WORD * width or BYTES_A_CHILD) * work.sharing
        work.budget.check(least * child_bytes + WRITER_BYTES, "solving in a stream")
        half = (work.budget.free_bytes() - WRITER_BYTES) // 2  # the other half is for the segments' descriptions
        self.children = min(work.sizes.stream_children * work.task_factor, max(least, half // child_bytes))
        """The most children in a task."""
        self.game, self.work = game, work
        self.scratch = Scratch(work.scratch, min(CACHE_BYTES, max(work.budget.free_bytes() // 16, 0)))
        self.stream = StreamContext(game, self.scratch, work.sizes.stream_milestone)
        self.journal = journal or ForwardJournal(work.log("positions"), width)
        self.waves: list[Wave] = []
        self.growth = Growth()
        self.presorted: dict[PresortedKey, Segment] = {}
        """Children that are sorted already."""
        self.visited: set[int] = set()
        """The tiers of all waves so far."""
        self.over = np.zeros((kernels.BAD_VALUE, tally_columns(width)), np.int64)
        """The tally of positions in which the game is over, by primitive value."""
        self.finished: dict[int, list[Segment]] = defaultdict(list)
        """Positions in which the game is over, by tier; stored only if positions have several words."""
        self.least, self.beyond = least_and_beyond(width)

    def explore(self, phase: Phase, expected: Callable[[], Sequence[int]] = lambda: ()) -> None:
        """Find all positions; raise NotApplicable if the method does not apply.

        *expected* returns the estimated numbers of positions of the waves, as soon as they are known; it is called
        after each task. The total of the phase is scaled by how far the waves so far differ from the estimates.
        """
        self.scratch.begin(fresh=not self.journal.waves)
        self.waves.append(self.first_wave())
        phase.count(1)  # reported with the next ones, for which the rules are compiled
        self.visited.update(self.waves[0])
        while wave := self.next_wave(phase, expected):
            if len(self.waves) == MOST_WAVES:
                raise NotApplicable(f"play takes more than {MOST_WAVES:,} plies")
            self.waves.append(wave)
            self.visited.update(wave)
            estimates = expected()
            still_expected = sum(estimates[len(self.waves) :])
            if still_expected:
                phase.total = phase.done + int(still_expected * phase.done / sum(estimates[: len(self.waves)]))
        phase.end()

    def save_memory(self) -> None:
        """Use smaller tasks and a smaller cache if memory is short; raise MemoryLimit if there is none left."""
        if self.work.budget.free_bytes() < 0:
            self.children = max(self.work.sizes.stream_least_children, self.children // 2)
            self.scratch.cache_at_most(self.scratch.cached // 2)
        self.work.budget.check_used("solving in a stream")

    def finished_frames(self) -> Iterator[Frame]:
        """Yield the frames of positions in which the game is over."""
        return (segment.frame for segments in self.finished.values() for segment in segments)

    def first_wave(self) -> Wave:
        """Return the tier of the start position, with that position alone."""
        start = start_of(self.game)
        _, moves, children = examine(self.game, start)
        (segment,) = tasks.store_lists(self.stream, "positions0", np.array([start]), np.array([1]))
        next_tiers = tuple(int(self.game.tier(child)) for child in children)
        tier = int(self.game.tier(start))
        return {tier: StreamTier(tier, 0, [segment], tuple(moves), next_tiers, (1,) * len(moves))}

    def next_wave(self, phase: Phase, after_task: Callable[[], object]) -> Wave:
        """Return the next wave: the tiers that moves lead to and in which the game goes on."""
        number = len(self.waves)
        while True:
            # Step 1: Take what an earlier solve found of this wave.
            results = self.journal.waves.pop(number, [])
            if not results:
                self.scratch.drop(f"positions{number}")
                self.scratch.drop(f"finished{number}")
            before = phase.counts()
            if found := [new for result in results for new in result.segments]:
                phase.learn(partial(mean_size, self.game, found[-1].segment.samples))
            phase.skip(sum(result.positions for result in results))
            if number in self.journal.complete:
                break
            # Step 2: Find the rest. If an assumption is wrong, start the wave again.
            wrong = self.find_wave(number, results, phase, after_task)
            if not wrong:
                self.scratch.sync(frame for result in results for frame in result.frames)
                self.journal.add(COMPLETE, number)
                self.journal.log.settle()
                break
            for assumption in wrong:
                self.waves[-1][assumption.tier].drop_assumption(assumption)
            self.journal.restart(number)
            phase.set_counts(before)
        # Step 3: Drop children sorted in advance, and join the results.
        self.scratch.drop(f"sorted{number}")
        self.growth.count_wave(sum(result.positions for result in results), phase.done)
        for result in results:
            add_up(self.over, result.over)
            for new in result.segments:
                if new.finished and new.finished.length:
                    self.finished[new.tier].append(new.finished)
        return {tier.number: tier for tier in join_segments(new for result in results for new in result.segments)}

    def find_wave(
        self, number: int, results: list[ForwardResult], phase: Phase, after_task: Callable[[], object]
    ) -> list[WrongAssumption]:
        """Find the rest of a wave and add it to *results*. If assumptions are wrong, return these instead."""
        # Step 1: Find out which tiers moves lead to.
        self.count_next_tiers(self.waves[-1])
        edges = self.edges_by_tier()
        for found_tier in {new.tier for result in results for new in result.segments}:
            del edges[found_tier]
        # Step 2: Sort children that do not come out sorted.
        wrong = self.sort_children(edges, number)
        # Step 3: Give tiers and parts of tiers to workers. After a wrong assumption no further task begins. A tier made
        # in parts counts when all are found: each part assumes that the children of a list ascend, and only all parts
        # together check that.
        parts: dict[int, list[ForwardResult]] = defaultdict(list)
        names = f"positions{number}", f"finished{number}"
        items = (ForwardTask(self.stream, names[0], targets, names[1]) for targets in self.targets(edges))
        for result in self.work.as_completed(tasks.find_positions, takewhile(lambda _: not wrong, items)):
            if isinstance(result, WrongAssumption):
                wrong.append(result)
            elif not wrong:
                last = result.segments[-1]
                parts[last.tier].append(result)
                if len(parts[last.tier]) == last.parts:
                    results.append(join_parts(parts.pop(last.tier)))
                    self.journal.add_result(number, results[-1])
                self.save_memory()
                phase.learn(partial(mean_size, self.game, last.segment.samples))
                phase.advance(result.positions, last.tier)
                self.journal.log.write()
                after_task()
        return wrong

    def count_next_tiers(self, wave: Wave) -> None:
        """Find the tiers that moves lead to, for tiers in which positions have different moves."""
        tiers = [tier for tier in wave.values() if tier.moves is None and not tier.next_tiers]
        counts: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        items = [(self.stream, tier.number, segment) for tier in tiers for segment in tier.segments]
        for number, children in self.work.map(tasks.count_next_tiers, items):
            for next_tier, count in children.items():
                counts[number][next_tier] += count
        for tier in tiers:
            tier.next_tiers, tier.child_counts = tuple(counts[tier.number]), tuple(counts[tier.number].values())

    def edges_by_tier(self) -> dict[int, list[Edge]]:
        """Return the edges into each tier of the next wave; raise NotApplicable if an earlier wave has one of them."""
        edges: dict[int, list[Edge]] = defaultdict(list)
        for tier in self.waves[-1].values():
            moves = tier.moves or [kernels.ALL] * len(tier.next_tiers)
            for move, next_tier, children in zip(moves, tier.next_tiers, tier.child_counts, strict=True):
                edges[next_tier].append(Edge(tier, move, children))
        if not self.visited.isdisjoint(edges):
            raise NotApplicable("play reaches a tier after different numbers of plies")
        return edges

    def sort_children(self, edges: dict[int, list[Edge]], number: int) -> list[WrongAssumption]:
        """Sort children that do not ascend, if they lead to a tier that is made in parts. Return wrong assumptions.
        This way they are made once, not again for each part."""
        self.presorted = {}
        name = f"sorted{number}"
        self.scratch.drop(name)
        keys: list[PresortedKey] = []
        items: list[ForwardTask] = []
        for tier, incoming in edges.items():
            if sum(edge.children for edge in incoming) <= self.children:
                continue
            for owner, move, children in incoming:
                for segment in owner.segments:
                    if self.may_fold(tier, segment, move) or self.child_range(owner, segment, move, tier) is None:
                        # Space for twice the segment's share of the children.
                        weight = 2 * children * segment.length // owner.count
                        target = Target(tier, [ChildSource(owner.number, segment, move, ascends=False)], weight)
                        keys.append((tier, owner.number, move, segment.first))
                        items.append(ForwardTask(self.stream, name, [target]))
        wrong = []
        for key, presorted in zip(keys, self.work.map(tasks.sort_children, items), strict=True):
            if isinstance(presorted, WrongAssumption):
                wrong.append(presorted)
            elif presorted.length:
                self.presorted[key] = presorted
        return wrong

    def may_fold(self, tier: int, segment: Segment, move: int) -> bool:
        """Return whether the first child of a segment by a move has an image in its own tier. Then some children are
        replaced by their images, so they may not ascend although the moves keep the order."""
        if not Traits.of(self.game).has_images:
            return False
        game = self.game
        children = to_list(sample_children(game, tier, move, segment.samples[:1])[:1])  # one, or none
        return any(image != child and game.tier(image) == tier for child in children for image in game.images(child))

    def targets(self, edges: dict[int, list[Edge]]) -> Iterator[list[Target]]:
        """Yield the targets of each task: several small tiers together, or one part of a large tier."""
        small: list[Target] = []
        total = 0
        weights = {tier: sum(edge.children for edge in edges[tier]) for tier in edges}
        most = min(self.children, self.work.task_size(sum(weights.values()), SMALL_TASK))
        for tier in sorted(edges):
            weight = weights[tier]
            if weight > self.children:
                yield from ([target] for target in self.cut_tier(tier, edges[tier], weight))
                continue
            if total + weight > most and small:
                yield small
                small, total = [], 0
            sources = [
                ChildSource(owner.number, segment, move, ascends=False)
                for owner, move, _ in edges[tier]
                for segment in owner.segments
            ]
            small.append(Target(tier, sources, weight))
            total += weight
        if small:
            yield small

    def cut_tier(self, tier: int, edges: list[Edge], weight: int) -> list[Target]:
        """Return the parts of a large tier, cut so that each has about as many children. *weight* is the number of
        children by all *edges*."""
        samples, weights = [], []
        # Each source with its first and its last child, both included. A part does not include its *high*.
        sources: list[tuple[ChildSource, Any, Any]] = []
        # Step 1: Sample the children of each segment by each move. A sample's weight is the children it stands for.
        for owner, move, children in edges:
            for segment in owner.segments:
                if presorted := self.presorted.get((tier, owner.number, move, segment.first)):
                    sample, count = presorted.samples, float(presorted.length)
                    source = ChildSource(owner.number, presorted, kernels.READY, ascends=True)
                    sources.append((source, presorted.first, presorted.last))
                else:
                    sample = sample_children(self.game, tier, move, segment.samples)
                    count = children * segment.length / owner.count
                    ends = self.child_range(owner, segment, move, tier)
                    source = ChildSource(owner.number, segment, move, ends is not None)
                    sources.append((source, *(ends or (self.least, self.beyond))))
                samples.append(to_items(sample))
                weights.append(np.full(len(sample), count / max(len(sample), 1)))
        # Step 2: Cut the sorted samples into parts of equal weight, each 4/5 of a full task.
        keys = np.concatenate(samples)
        order = np.argsort(keys, kind="stable")
        sums = np.cumsum(np.concatenate(weights)[order])
        parts = -(-weight * 5 // (4 * self.children))  # -(-a // b) rounds up
        # Without samples, `order` is empty, and there is one part.
        ends_at = np.searchsorted(sums, np.arange(1, parts) * (sums[-1] / parts)) if len(keys) else order
        cuts = to_list(from_items(np.unique(keys[order][ends_at]), Traits.of(self.game).width))
        bounds = list(zip([self.least, *cuts], [*cuts, self.beyond], strict=True))
        part_weight = 2 * weight // len(bounds)  # parts get space for twice the mean
        return [
            Target(
                tier, [source for source, first, last in sources if first < high and last >= low], part_weight,
                low, high, part, len(bounds),
            )
            for part, (low, high) in enumerate(bounds)
        ]  # fmt: skip

    def child_range(self, owner: StreamTier, segment: Segment, move: int, tier: int) -> tuple[Any, Any] | None:
        """Return the first and last child of a segment by a move, or None if samples do not ascend."""
        if move < 0 or move in owner.unsorted or len(segment.samples) < LEAST_SAMPLES:
            return None
        parents = np.concatenate([segment.samples, np.array([segment.last], np.int64)])
        children = sample_children(self.game, tier, move, parents)
        # Fewer children than parents: some lead to other tiers.
        if len(children) < len(parents) or not ascend(children):
            return None
        first, last = to_list(children[[0, -1]])
        return first, last


def ascend(positions: Array) -> bool:
    """Return whether positions ascend; equal ones may follow each other."""
    if positions.ndim == 1:
        return bool((positions[1:] >= positions[:-1]).all())
    order = np.lexsort(positions.T[::-1])  # stable, so equal rows stay in their order
    return bool((order == np.arange(len(positions))).all())


def join_segments(segments: Iterable[NewSegment]) -> Iterator[StreamTier]:
    """Yield the tiers that some segments make up, ascending. If segments have different moves, the tier gets none."""
    by_tier: dict[int, list[NewSegment]] = defaultdict(list)
    for new in segments:
        if new.segment.length:
            by_tier[new.tier].append(new)
    for number in sorted(by_tier):
        parts = by_tier[number]
        lists = [new.segment for new in parts]
        mask = 0  # the bits that vary within a list or between two; unused for several words
        for segment in lists if not lists[0].width else ():
            mask |= segment.mask | (segment.first ^ lists[0].first)
        alike = all((new.moves, new.next_tiers) == (parts[0].moves, parts[0].next_tiers) for new in parts)
        moves, next_tiers = (parts[0].moves, parts[0].next_tiers) if alike else (None, ())
        counts = (sum(segment.length for segment in lists),) * len(next_tiers)  # each position has a child by each move
        yield StreamTier(number, mask, lists, moves, next_tiers, counts)
