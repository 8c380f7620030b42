"""The way forward: finds all positions that play can reach, wave by wave, as sorted lists on disk.

For each wave: find the tiers that moves lead to (`pulls`), sort in advance the children that do not come out sorted
(`sort_children`), and give tiers, or parts of large ones, to workers (`units`, `produce`). A task assumes that all
positions of a tier have the same moves to the same tiers, and that children by a move ascend. If it finds otherwise,
it returns a Surprise, and the wave is found again without that assumption.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from secrets import randbits
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.streamed import kernels
from retrograde.solver.methods.streamed.log import WHOLE, Found, Made, StreamLog, total
from retrograde.solver.methods.streamed.produce import Piece, Target, Task, pack, produce, sample, sort_children, survey
from retrograde.solver.methods.streamed.segments import Segment, Stream, Surprise, Tier, Wave, add_up, load
from retrograde.solver.methods.streamed.steps import BEYOND
from retrograde.solver.rules.examine import examine, start_of
from retrograde.solver.rules.images import mean_size
from retrograde.solver.runtime.growth import Growth
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.work import NotApplicable, Work

Array = np.ndarray[Any, Any]

WRITER_BYTES = 20_000_000
"""Memory of the database's writer, in bytes."""
BYTES_A_CHILD = 32
"""Memory of a worker for each child in a task, in bytes."""
CACHED = 1 << 28
"""Bytes of scratch files cached in memory, at most."""
SMALL_TASK = 1 << 17
"""Children in a task of small tiers: enough to outweigh the overhead of a task, few enough to keep all workers busy."""
LEAST_SAMPLES = 8
"""Samples needed to judge whether children ascend. With fewer, the whole segment is read."""
MOST_WAVES = 1 << 13
"""Waves, and so plies, that codes of steps can count."""

Pull = tuple[Tier, int, int]
"""(A tier, a move of its positions or kernels.ALL, the number of children by it in the tier in question.)"""
Key = tuple[int, int, int, int]
"""(A tier, the tier that children come from, the move, the first position of a segment there.)"""
PRIMITIVES = kernels.BAD_VALUE
"""Rows of a tally by primitive value."""


class Forward:
    """The exploration of one game.

    `waves` are the waves found. `over`, a tally by primitive value (see steps.py), counts positions in which the game
    is over.
    """

    def __init__(self, game: Game, work: Work, log: StreamLog | None = None):
        least = work.sizes.stream_least_children
        work.budget.check(least * BYTES_A_CHILD * work.sharing + WRITER_BYTES, "solving in a stream")
        half = (work.budget.left() - WRITER_BYTES) // 2  # the other half is for what is known of the lists
        self.children = min(
            work.sizes.stream_children * work.larger, max(least, half // (BYTES_A_CHILD * work.sharing))
        )
        """Children in a task, at most."""
        self.game, self.work = game, work
        self.scratch = Scratch(work.scratch, min(CACHED, max(work.budget.left() // 16, 0)))
        self.stream = Stream(game, self.scratch, work.sizes.stream_milestone)
        self.log = log or StreamLog(work.log("positions"))
        self.waves: list[Wave] = []
        self.growth = Growth()
        self.ready: dict[Key, Segment] = {}
        """Children that are sorted already."""
        self.over = total([], PRIMITIVES)

    def load(self, segment: Segment) -> Array:
        """Return the positions of a segment, sorted."""
        return load(self.scratch, [segment])

    def explore(self, phase: Phase, expected: Callable[[], Sequence[int]] = lambda: ()) -> None:
        """Find all positions; raise NotApplicable if the method does not apply.

        *expected* returns the estimated number of positions of each wave, as soon as it is known. The total of the
        phase is scaled by how far the waves so far differ from the estimate.
        """
        self.scratch.begin(fresh=not self.log.waves)
        self.waves.append(self.first_wave())
        phase.count(1)  # reported with the next ones, for which the rules are compiled
        met = set(self.waves[0])
        while wave := self.next_wave(met, phase, expected):
            if len(self.waves) == MOST_WAVES:
                raise NotApplicable(f"play takes more than {MOST_WAVES:,} plies")
            self.waves.append(wave)
            met.update(wave)
            waves = expected()
            ahead = sum(waves[len(self.waves) :])
            if ahead:
                phase.total = phase.done + int(ahead * phase.done / sum(waves[: len(self.waves)]))
        phase.end()

    def save_memory(self) -> None:
        """Use smaller tasks and a smaller cache if memory is short; raise MemoryLimit if there is none left."""
        if self.work.budget.left() < 0:
            self.children = max(self.work.sizes.stream_least_children, self.children // 2)
            self.scratch.cache_at_most(self.scratch.cached // 2)
        self.work.budget.check_used("solving in a stream")

    def settle(self) -> None:
        """Make all that was found survive a power cut, except files that are dropped already."""
        tiers = [tier for wave in self.waves for tier in wave.values()]
        frames = {segment.frame for tier in tiers for segment in tier.segments}
        self.scratch.sync(frames.difference(self.scratch.missing(frames)))
        self.log.log.settle()

    def first_wave(self) -> Wave:
        """Return the tier of the start position, with that position alone."""
        start = start_of(self.game)
        _, moves, children = examine(self.game, start)
        (segment,) = pack(self.stream, "positions0", np.array([start]), np.array([1]))
        leads = tuple(int(self.game.tier(child)) for child in children)
        tier = int(self.game.tier(start))
        return {tier: Tier(tier, 0, [segment], tuple(moves), leads, (1,) * len(moves))}

    def next_wave(self, met: set[int], phase: Phase, meanwhile: Callable[[], object]) -> Wave:
        """Return the next wave: the tiers that moves lead to and in which the game goes on."""
        number = len(self.waves)
        while True:
            # Step 1: Take what an earlier solve found of this wave.
            found = self.log.found(number)
            if not found:
                self.scratch.drop(f"positions{number}")
            before = phase.counts()
            if made := [one for part in found for one in part.made]:
                phase.learn(partial(mean_size, self.game, made[-1].segment.samples))
            phase.skip(sum(one.positions for one in found))
            if number in self.log.whole:
                break
            # Step 2: Find the rest. After a surprise, start the wave again.
            surprises = self.find_wave(number, met, found, phase, meanwhile)
            if not surprises:
                self.log.add(WHOLE, number)
                break
            for surprise in surprises:
                self.waves[-1][surprise.tier].learn(surprise)
            self.log.forget(number)
            phase.set_back(before)
        # Step 3: Drop children sorted in advance, and join the results.
        self.scratch.drop(f"sorted{number}")
        self.growth.wave(sum(one.positions for one in found), phase.done)
        add_up(self.over, total([one.over for one in found], PRIMITIVES))
        return {tier.number: tier for tier in joined([made for one in found for made in one.made])}

    def find_wave(
        self, number: int, met: set[int], found: list[Found], phase: Phase, meanwhile: Callable[[], object]
    ) -> list[Surprise]:
        """Find the rest of a wave and add it to *found*; return surprises. If there are any, *found* is useless."""
        # Step 1: Find out which tiers moves lead to.
        self.survey(self.waves[-1])
        pulls = self.pulls(met)
        for done in {made.tier for one in found for made in one.made}:
            del pulls[done]
        # Step 2: Sort children that do not come out sorted.
        surprises = self.sort_children(pulls, number)
        # Step 3: Give tiers and parts of tiers to workers. After a surprise no further task begins.
        tasks = (Task(self.stream, f"positions{number}", targets) for targets in self.units(pulls))
        for one in self.work.as_completed(produce, takewhile(lambda _: not surprises, tasks)):
            if isinstance(one, Surprise):
                surprises.append(one)
            elif not surprises:
                found.append(one)
                self.log.add_found(number, one)
                self.save_memory()
                phase.learn(partial(mean_size, self.game, one.made[-1].segment.samples))
                phase.advance(one.positions, one.made[-1].tier)
                self.log.log.write()
                meanwhile()
        return surprises

    def survey(self, wave: Wave) -> None:
        """Find the tiers that moves lead to, for tiers in which positions have different moves."""
        tiers = [tier for tier in wave.values() if tier.moves is None and not tier.leads]
        counts: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for number, found in self.work.map(
            survey, [(self.stream, t.number, part) for t in tiers for part in t.segments]
        ):
            for lead, count in found.items():
                counts[number][lead] += count
        for tier in tiers:
            tier.leads, tier.weights = tuple(counts[tier.number]), tuple(counts[tier.number].values())

    def pulls(self, met: set[int]) -> dict[int, list[Pull]]:
        """Return for each tier of the next wave the moves that lead to it."""
        pulls: dict[int, list[Pull]] = defaultdict(list)
        for tier in self.waves[-1].values():
            for k, lead in enumerate(tier.leads):
                pulls[lead].append((tier, kernels.ALL if tier.moves is None else tier.moves[k], tier.weights[k]))
        if not met.isdisjoint(pulls):
            raise NotApplicable("play reaches a tier after different numbers of plies")
        return pulls

    def sort_children(self, pulls: dict[int, list[Pull]], number: int) -> list[Surprise]:
        """Sort children that do not ascend, if they lead to a tier that is made in parts. Return surprises.

        This way they are made once, not again for each part.
        """
        self.ready = {}
        name = f"sorted{number}"
        self.scratch.drop(name)
        keys: list[Key] = []
        tasks: list[Task] = []
        for tier, some in pulls.items():
            if sum(pull[2] for pull in some) <= self.children:
                continue
            for owner, move, weight in some:
                for segment in owner.segments:
                    if self.folds(tier, segment, move) or self.span(owner, segment, move, tier) is None:
                        part = 2 * weight * segment.length // owner.count
                        keys.append((tier, owner.number, move, segment.first))
                        tasks.append(
                            Task(self.stream, name, [Target(tier, [Piece(owner.number, segment, move, False)], part)])
                        )
        surprises = []
        for key, ready in zip(keys, self.work.map(sort_children, tasks), strict=True):
            if isinstance(ready, Surprise):
                surprises.append(ready)
            elif ready.length:
                self.ready[key] = ready
        return surprises

    def folds(self, tier: int, segment: Segment, move: int) -> bool:
        """Return whether symmetry maps the first child of a segment into its own tier.

        Then some children are replaced by their images, so they may not ascend although the moves keep the order.
        """
        if not Traits.of(self.game).has_images:
            return False
        child = sample(self.game, tier, move, segment.samples[:1])[:1].tolist()
        return any(image != one and self.game.tier(image) == tier for one in child for image in self.game.images(one))

    def units(self, pulls: dict[int, list[Pull]]) -> Iterator[list[Target]]:
        """Yield the targets of each task: several small tiers together, or one part of a large tier."""
        unit: list[Target] = []
        total = 0
        weights = {tier: sum(pull[2] for pull in pulls[tier]) for tier in pulls}
        most = min(self.children, self.work.together(sum(weights.values()), SMALL_TASK))
        for tier in sorted(pulls):
            weight = weights[tier]
            if weight > self.children:
                yield from ([target] for target in self.parts(tier, pulls[tier], weight))
                continue
            if total + weight > most and unit:
                yield unit
                unit, total = [], 0
            pieces = [
                Piece(owner.number, part, move, False) for owner, move, _ in pulls[tier] for part in owner.segments
            ]
            unit.append(Target(tier, pieces, weight))
            total += weight
        if unit:
            yield unit

    def parts(self, tier: int, pulls: list[Pull], weight: int) -> list[Target]:
        """Return the parts of a large tier, cut so that each has about as many children."""
        samples, weights = [], []
        spans: list[tuple[Piece, int, int]] = []
        # Step 1: Sample the children of each segment by each move, with a weight: how many children a sample stands
        # for.
        for owner, move, children in pulls:
            for segment in owner.segments:
                ready = self.ready.get((tier, owner.number, move, segment.first))
                if ready:
                    found, count = ready.samples, float(ready.length)
                    spans.append((Piece(owner.number, ready, kernels.READY, True), ready.first, ready.last))
                else:
                    found = sample(self.game, tier, move, segment.samples)
                    count = children * segment.length / owner.count
                    ends = self.span(owner, segment, move, tier)
                    spans.append((Piece(owner.number, segment, move, ends is not None), *(ends or (0, BEYOND))))
                samples.append(found)
                weights.append(np.full(len(found), count / max(len(found), 1)))
        # Step 2: Cut the sorted samples into parts of equal weight, each 4/5 of a full task.
        keys = np.concatenate(samples)
        order = np.argsort(keys, kind="stable")
        sums = np.cumsum(np.concatenate(weights)[order])
        parts = -(-weight * 5 // (4 * self.children))
        places = np.searchsorted(sums, np.arange(1, parts) * (sums[-1] / parts)) if len(keys) else np.empty(0, np.int64)
        cuts = np.unique(keys[order][places]).tolist()
        bounds = list(zip([0, *cuts], [*cuts, BEYOND], strict=True))
        # Parts get space for twice the mean. `cut` is random, to tell this cut from another one of the same tier.
        about, cut = 2 * weight // len(bounds), randbits(62)
        return [
            Target(
                tier, [piece for piece, first, last in spans if first < high and last >= low], about,
                low, high, part, len(bounds), cut,
            )
            for part, (low, high) in enumerate(bounds)
        ]  # fmt: skip

    def span(self, owner: Tier, segment: Segment, move: int, tier: int) -> tuple[int, int] | None:
        """Return the first and the last child of a segment by a move, or None if the samples do not ascend."""
        if move < 0 or move in owner.unsorted or len(segment.samples) < LEAST_SAMPLES:
            return None
        some = sample(self.game, tier, move, np.append(segment.samples, segment.last))
        if len(some) <= len(segment.samples) or not (some[1:] >= some[:-1]).all():
            return None
        return int(some[0]), int(some[-1])


def joined(found: Iterable[Made]) -> Iterator[Tier]:
    """Yield the tiers that the segments found make up, ascending. Segments with different moves make a tier without."""
    by_tier: dict[int, list[Made]] = defaultdict(list)
    for made in found:
        if made.segment.length:
            by_tier[made.tier].append(made)
    for number in sorted(by_tier):
        parts = sorted(by_tier[number], key=lambda made: made.part)
        segments = [made.segment for made in parts]
        mask = 0
        for segment in segments:
            mask |= segment.mask | segment.first ^ segments[0].first
        same = all((made.moves, made.leads) == (parts[0].moves, parts[0].leads) for made in parts)
        moves, leads = (parts[0].moves, parts[0].leads) if same else (None, ())
        yield Tier(number, mask, segments, moves, leads, (sum(segment.length for segment in segments),) * len(leads))
