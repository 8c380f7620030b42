"""Forward through a game in a stream: all positions that play can reach, wave by wave, as sorted lists on disk."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.game import MOST_IMAGES, UNDECIDED, Game, RuleError, defines
from retrograde.solver.rules.examine import differ, examine, start_of
from retrograde.solver.rules.images import check_image
from retrograde.solver.streamed import kernels as stream_kernels
from retrograde.solver.streamed import lists as list_kernels
from retrograde.solver.streamed.lists import BLOCK, MOST_OCTETS
from retrograde.solver.streamed.log import StreamLog
from retrograde.solver.streamed.segments import Arena, Rooms, Segment, Tier, Wave, add_up
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.scratch import Frame, Scratch
from retrograde.solver.work.work import Unfit, Work

Array = np.ndarray[Any, Any]

WRITER_BYTES = 20_000_000
"""Memory that the database's writer takes."""
BYTES_A_CHILD = 32
"""Memory that a worker takes for each child in a task."""
SMALL_TASK = 1 << 17
"""Children in a task of small tiers: enough to outweigh what a task costs, few enough that all workers have some."""
LEAST_MILESTONES = 8
"""Milestones by which the order of the children is judged; with fewer, all of a segment is looked at."""
MOST_TIERS = 1 << 12
"""Tiers that the moves of one tier may lead to."""
MOST_SAMPLED = 64
"""Children of one position that are looked at to cut a tier into parts."""
MOST_WAVES = 1 << 13
"""Waves, and so plies, that the codes of steps have room for."""
SPOT_CHECKS = 2
"""Positions of a task that are looked at a second time, by the interpreted rules."""
MANY = 100_000
"""Positions after which an estimate is asked for."""
END = 1 << 62


class Retry(Exception):
    """What was taken for granted of a tier's moves has turned out not to be so, and that is noted; try again."""


Pull = tuple[Tier, int, int]
"""A tier, a move of its positions (-1: all), and how many children they have by it in the tier in question."""
Piece = tuple[Tier, Segment, int, bool]
"""A segment of a tier, the move, and whether its children ascend and only part of them is asked for."""


class Target(NamedTuple):
    """A tier, or part of one, to be found: positions from `low` to `high`, exclusive, the children of some segments."""

    tier: int
    part: int
    low: int
    high: int
    pieces: list[Piece]
    weight: int
    """How many children there are, about."""


class Made(NamedTuple):
    """What came of a target: a segment, None where it has no undecided position; as in a Tier, moves and leads."""

    tier: int
    part: int
    segment: Segment | None
    moves: tuple[int, ...] | None
    leads: tuple[int, ...]


class Forward:
    """The exploration of one game, on the threads of an executor."""

    def __init__(self, game: Game, scratch: Scratch, work: Work, log: StreamLog):
        self.game = game
        self.scratch = scratch
        self.run = work.as_completed
        self.log = log
        self.sizes = work.sizes
        least = self.sizes.stream_least_children
        room = least * BYTES_A_CHILD * work.workers + WRITER_BYTES
        work.budget.check(room, "solving in a stream")
        self.budget = work.budget
        half = (work.budget.left() - WRITER_BYTES) // 2  # the other is for what is to be known of the lists
        self.children = min(self.sizes.stream_children, max(least, half // (BYTES_A_CHILD * work.workers)))
        self.rooms = Rooms()
        self.waves: list[Wave] = []
        self.expected: list[int] = []
        """Positions by wave, as estimated."""
        self.ready: dict[tuple[int, int, int, int], Segment] = {}
        """Children that are sorted already, by tier, the tier they come from, the move, and the first position
        there."""
        self.over = np.zeros((5, 4), np.int64)
        """For each primitive value what is known of the positions that have it (see `segments.add_up`)."""

    def explore(self, phase: Phase, expected: Callable[[], Sequence[int]] = lambda: ()) -> None:
        """Find all positions; raise Unfit where it cannot be done so.

        *expected* gives positions by wave, and is called once there are many. The phase ends as far beyond or before
        their sum as the waves so far have been.
        """
        self.waves.append(self.first_wave())
        phase.advance(1)
        met = set(self.waves[0])
        while wave := self.next_wave(met, phase):
            if len(self.waves) == MOST_WAVES:
                raise Unfit
            self.waves.append(wave)
            met.update(wave)
            if phase.done > MANY and not self.expected:
                self.expected = list(expected())
            ahead = sum(self.expected[len(self.waves) :])
            if ahead:
                phase.total = phase.done + int(ahead * phase.done / sum(self.expected[: len(self.waves)]))
        phase.total = phase.done
        phase.tell()

    def save_memory(self) -> None:
        """Use less memory from now on where little is left; raise MemoryLimit where there is none."""
        if self.budget.left() < 0:
            self.children = max(self.sizes.stream_least_children, self.children // 2)
            self.scratch.cache_less()
        self.budget.check_used("solving in a stream")

    def first_wave(self) -> Wave:
        """Return the tier of the start, with the start in it."""
        game = self.game
        start = start_of(game)
        _, moves, children = examine(game, start)
        words = np.zeros(4, np.int64)
        size = list_kernels.pack(np.array([start]), words[:0].astype(np.uint16), 0, words, words.view(np.uint8), 0)
        frame = self.scratch.write("positions0", words.tobytes())
        segment = Segment(frame, 0, size, 1, 0, start, start, np.array([start]))
        leads = tuple(int(game.tier(child)) for child in children)
        tier = int(game.tier(start))
        return {tier: Tier(tier, 0, [segment], tuple(moves), leads, (1,) * len(moves))}

    def next_wave(self, met: set[int], phase: Phase) -> Wave:
        """Return the tiers that the moves of the last wave lead to, those in which the game goes on."""
        number = len(self.waves)
        name = f"positions{number}"
        wave = self.waves[-1]
        while True:
            found = self.log.found(number)
            if found:
                for made in found:
                    if made.segment:
                        self.scratch.reserve(made.segment.frame)
            else:
                self.scratch.drop(name)
            before = phase.done
            over = self.log.over(number)
            phase.skip(sum(made.segment.length for made in found if made.segment) + int(over[:, 0].sum()))
            try:
                if not self.log.is_found(number):
                    for _ in self.run(self.survey, [tier for tier in wave.values() if tier.moves is None]):
                        pass
                    pulls = self.pulls(wave, met)
                    for done in {made.tier for made in found}:
                        del pulls[done]
                    self.sort_children(pulls, number)
                    for some, tally in self.run(partial(self.produce, name), self.units(pulls, number)):
                        found += some
                        add_up(over, tally)
                        self.log.add_found(number, some, tally)
                        self.save_memory()
                        new = sum(made.segment.length for made in some if made.segment)
                        phase.advance(new + int(tally[:, 0].sum()), some[-1].tier)
                        self.log.write()
                    self.log.add_wave_found(number)
                    self.scratch.drop(f"sorted{number}")
            except Retry:
                self.log.forget(number)
                phase.done = before
                continue
            add_up(self.over, over)
            return {tier.number: tier for tier in joined(found)}

    def pulls(self, wave: Wave, met: set[int]) -> dict[int, list[Pull]]:
        """Return what each tier of the next wave is made of."""
        pulls: dict[int, list[Pull]] = defaultdict(list)
        for tier in wave.values():
            for k, lead in enumerate(tier.leads):
                pulls[lead].append((tier, -1 if tier.moves is None else tier.moves[k], tier.weights[k]))
        if not met.isdisjoint(pulls):
            raise Unfit
        return pulls

    def sort_children(self, pulls: dict[int, list[Pull]], number: int) -> None:
        """Sort the children of segments, where they do not ascend and go to a tier that is made in parts.

        So that they are made once, and not for each part.
        """
        self.ready = {}
        name = f"sorted{number}"
        self.scratch.drop(name)
        tasks: list[tuple[tuple[int, int, int, int], Target]] = []
        for tier, some in pulls.items():
            if sum(pull[2] for pull in some) <= self.children:
                continue
            for owner, move, weight in some:
                for segment in owner.segments:
                    if self.folds(tier, segment, move) or self.span(owner, segment, move, tier) is None:
                        part = 2 * weight * segment.length // owner.count
                        target = Target(tier, 0, 0, END, [(owner, segment, move, False)], part)
                        tasks.append(((tier, owner.number, move, segment.first), target))
        for key, ready in self.run(partial(self.sort_task, name), tasks):
            if ready:
                self.ready[key] = ready

    def sort_task(
        self, name: str, task: tuple[tuple[int, int, int, int], Target]
    ) -> tuple[tuple[int, int, int, int], Segment | None]:
        """Put the children of a segment aside, sorted; return where, None where there are none."""
        key, target = task
        numbers, ends, _ = self.merge([target])
        return key, self.pack(name, numbers, ends)[0]

    def folds(self, tier: int, segment: Segment, move: int) -> bool:
        """Tell whether symmetry maps the first child of a segment into its own tier: then children may change
        places."""
        if not defines(self.game, "images"):
            return False
        child = self.sample(tier, move, segment.milestones[:1])[:1].tolist()
        return any(image != one and self.game.tier(image) == tier for one in child for image in self.game.images(one))

    def units(self, pulls: dict[int, list[Pull]], number: int) -> Iterator[list[Target]]:
        """Yield the work of a wave: small tiers together, large ones in parts."""
        unit: list[Target] = []
        total = 0
        for tier in sorted(pulls):
            weight = sum(pull[2] for pull in pulls[tier])
            if weight > self.children or self.log.was_cut(number, tier):
                parts = self.parts(tier, pulls[tier], weight)
                self.log.add_parts(number, tier, len(parts))
                for target in parts:
                    yield [target]
                continue
            if total + weight > min(self.children, SMALL_TASK) and unit:
                yield unit
                unit, total = [], 0
            pieces = [(owner, segment, move, False) for owner, move, _ in pulls[tier] for segment in owner.segments]
            unit.append(Target(tier, 0, 0, END, pieces, weight))
            total += weight
        if unit:
            yield unit

    def parts(self, tier: int, pulls: list[Pull], weight: int) -> list[Target]:
        """Return the parts of a large tier, cut where about as many children lie between."""
        samples, weights = [], []
        spans: list[tuple[Piece, int, int]] = []
        for owner, move, children in pulls:
            for segment in owner.segments:
                ready = self.ready.get((tier, owner.number, move, segment.first))
                if ready:
                    samples.append(ready.milestones)
                    weights.append(np.full(len(ready.milestones), ready.length / max(len(ready.milestones), 1)))
                    spans.append(((owner, ready, stream_kernels.READY, True), ready.first, ready.last))
                    continue
                found = self.sample(tier, move, segment.milestones)
                samples.append(found)
                weights.append(np.full(len(found), children * segment.length / owner.count / max(len(found), 1)))
                ends = self.span(owner, segment, move, tier)
                low, high = ends or (0, END)
                spans.append(((owner, segment, move, ends is not None), low, high))
        keys = np.concatenate(samples)
        order = np.argsort(keys, kind="stable")
        sums = np.cumsum(np.concatenate(weights)[order])
        parts = -(-weight * 5 // (4 * self.children))
        places = np.searchsorted(sums, np.arange(1, parts) * (sums[-1] / parts)) if len(keys) else NO_CUTS
        cuts = np.unique(keys[order][places]).tolist()
        return [
            Target(
                tier, part, low, high,
                [piece for piece, first, last in spans if first < high and last >= low],
                2 * weight // (len(cuts) + 1),
            )
            for part, (low, high) in enumerate(zip([0, *cuts], [*cuts, END], strict=True))
        ]  # fmt: skip

    def sample(self, tier: int, move: int, positions: Array) -> Array:
        """Return the children of some positions in a tier, by one move or all."""
        out = np.empty(len(positions) * (1 if move >= 0 else MOST_SAMPLED), np.int64)
        return out[: stream_kernels.sample_children(self.game, positions, move, tier, out)]

    def span(self, owner: Tier, segment: Segment, move: int, tier: int) -> tuple[int, int] | None:
        """Return the first and the last child of a segment by a move, if they seem to ascend in between."""
        if move < 0 or move in owner.unsorted or len(segment.milestones) < LEAST_MILESTONES:
            return None
        some = self.sample(tier, move, np.concatenate([segment.milestones, [segment.last]]))
        if len(some) <= len(segment.milestones) or not (some[1:] >= some[:-1]).all():
            return None
        return int(some[0]), int(some[-1])

    def produce(self, name: str, unit: list[Target]) -> tuple[list[Made], Array]:
        """Make the lists of some targets and put them aside; return what they are, and what is over in them."""
        numbers, ends, targets = self.merge(unit)
        moves, leads = np.empty((2, len(unit), stream_kernels.MOST_SAME), np.int64)
        shared = np.empty(len(unit), np.int64)
        tally = np.zeros((5, 4), np.int64)
        images = np.empty(MOST_IMAGES, np.int64)
        for position in some_of(numbers, ends):
            check_image(self.game, position)
        if stream_kernels.settle(self.game, numbers, ends, targets, images, moves, leads, shared, tally):
            self.complain(numbers[:1])
        self.spot_check(numbers, ends)
        made = []
        for k, (target, segment, same) in enumerate(
            zip(unit, self.pack(name, numbers, ends), shared.tolist(), strict=True)
        ):
            if segment is None or same < 0:
                made.append(Made(target.tier, target.part, segment, None, ()))
            else:
                of_all, to = (tuple(table[k, :same].tolist()) for table in (moves, leads))
                made.append(Made(target.tier, target.part, segment, of_all, to))
        return made, tally

    def pack(self, name: str, numbers: Array, ends: Array) -> list[Segment | None]:
        """Put sorted lists, one after another in an array, aside; return what they are, None for an empty one."""
        out = self.rooms.get("out", np.int64, words_for(int(ends[-1]), len(ends)))
        rows = np.zeros((len(ends), list_kernels.ROWS), np.int64)
        size = list_kernels.pack_lists(numbers, ends, out, out.view(np.uint8), rows)
        frame = self.scratch.write(name, out.view(np.uint8)[:size].data) if size else Frame(name, 0, 0, 0)
        segments: list[Segment | None] = []
        for at, octets, count, mask, first, last in rows.tolist():
            milestones = out[at // 8 : at // 8 - (-count // BLOCK) : self.sizes.stream_milestone].copy()
            segments.append(Segment(frame, at, octets, count, mask, first, last, milestones) if count else None)
        return segments

    def merge(self, unit: list[Target]) -> tuple[Array, Array, Array]:
        """Return the children of some targets, sorted, one target after another; where each ends; and a table of
        them."""
        arena = Arena(self.scratch)
        targets = np.empty((len(unit), 5), np.int64)
        pieces = []
        for k, target in enumerate(unit):
            begin = len(arena.rows)
            for _, segment, move, ascends in target.pieces:
                arena.add(segment, move, ascends)
            pieces += target.pieces
            targets[k] = target.tier, begin, len(arena.rows), target.low, target.high
        words, octets, lists = arena.load()
        for k, target in enumerate(unit):
            for row in range(*targets[k, 1:3].tolist()):
                owner, segment, move, ascends = pieces[row]
                if ascends and stream_kernels.narrow(
                    self.game, words, lists, row, segment.last, target.low, target.high
                ):
                    owner.unsorted.add(move)
                    raise Retry
        bounds, unsorted = np.empty(len(lists) + 1, np.int64), np.empty(len(lists) + 1, np.bool_)
        runs, ends = np.empty((2, len(unit)), np.int64)
        room = sum(target.weight for target in unit) + BLOCK
        while True:
            numbers = self.rooms.get("numbers", np.int64, room)
            ended, row = stream_kernels.pull(self.game, words, octets, lists, targets, numbers, bounds, unsorted, runs)
            if ended == stream_kernels.DONE:
                break
            owner, _, move, _ = pieces[row]
            if ended == stream_kernels.NO_ROOM:
                room = 2 * len(numbers)
                continue
            if ended == stream_kernels.BROKEN:
                self.complain(self.load(pieces[row][1]))
            if ended == stream_kernels.OTHER_TIER:
                owner.moves = None
            else:
                owner.unsorted.add(move)
            raise Retry
        spare = self.rooms.get("out", np.int64, len(numbers))
        begin = 0
        for end, disorder in zip(bounds[: runs[-1]].tolist(), unsorted.tolist(), strict=False):
            if disorder:
                list_kernels.sort(numbers[begin:end], spare)
            begin = end
        list_kernels.merge_lists(numbers, spare, bounds[: runs[-1]], runs, ends)
        return numbers, ends, targets

    def spot_check(self, numbers: Array, ends: Array) -> None:
        """Raise RuleError unless the interpreted rules say of some positions what the compiled ones have said."""
        for position in some_of(numbers, ends):
            if examine(self.game, position)[0] != UNDECIDED:
                raise RuleError(differ(self.game, position))

    def load(self, segment: Segment) -> Array:
        """Return the positions of a segment."""
        arena = Arena(self.scratch)
        arena.add(segment)
        out = np.empty(segment.length, np.int64)
        list_kernels.unpack_list(*arena.load(), out)
        return out

    def complain(self, positions: Array) -> NoReturn:
        """Raise the RuleError due when the rules break the contract with one of some positions."""
        for position in positions.tolist():
            examine(self.game, position)  # finds the same fault and says it in full
        raise RuleError(differ(self.game, int(positions[0])))

    def survey(self, tier: Tier) -> None:
        """Find out where all moves of a tier lead whose positions have not the same."""
        counts: dict[int, int] = defaultdict(int)
        for segment in tier.segments:
            arena = Arena(self.scratch)
            row = arena.add(segment)
            room = np.empty((MOST_TIERS, 2), np.int64)
            found = stream_kernels.survey_tiers(self.game, *arena.load(), row, room)
            if found < 0:
                raise Unfit
            for lead, count in room[:found].tolist():
                counts[lead] += count
        tier.leads, tier.weights = tuple(counts), tuple(counts.values())


def some_of(numbers: Array, ends: Array) -> list[int]:
    """Return a few of the positions of some lists, one after another, spread evenly."""
    count = int(ends[-1])
    few = min(count, SPOT_CHECKS)
    return [int(numbers[(2 * k + 1) * count // (2 * few)]) for k in range(few)]


NO_CUTS = np.empty(0, np.int64)


def words_for(positions: int, lists: int) -> int:
    """Return the words that lists of so many positions together may take."""
    return (MOST_OCTETS * positions >> 3) + 4 * lists + 2


def joined(found: list[Made]) -> Iterator[Tier]:
    """Yield the tiers that the segments found make up, ascending."""
    by_tier: dict[int, list[Made]] = defaultdict(list)
    for made in found:
        if made.segment:
            by_tier[made.tier].append(made)
    for number in sorted(by_tier):
        parts = sorted(by_tier[number], key=lambda made: made.part)
        segments = [made.segment for made in parts if made.segment]
        mask = 0
        for segment in segments:
            mask |= segment.mask | segment.first ^ segments[0].first
        same = all((made.moves, made.leads) == (parts[0].moves, parts[0].leads) for made in parts)
        moves, leads = (parts[0].moves, parts[0].leads) if same else (None, ())
        yield Tier(number, mask, segments, moves, leads, (sum(segment.length for segment in segments),) * len(leads))
