"""Solves the bounds of a game that numbers its positions, tier by tier, last first.

A tier without cycles takes one sweep. A tier with cycles takes these steps:

1. Guess the worth of its slots in floating point, by plans (`replay.py`).
2. Estimate a margin around the guess. A grain may be lost at each slot that play still meets, and the bounds of later
   tiers have a margin themselves.
3. Start the bounds at guess ± margin. Lower bounds *sink* and upper bounds rise, sweep by sweep, until they hold.
   Nearly always one sweep suffices.

If players can stay forever, endless play pays 0. Then bounds start at 0, and bounds sink and *rise* by turns, as in
`metrics/expectation.py`. If moves pay as well, the solve is refused, because payments of endless play need not
converge. If moves pay and play always ends, only the guess shows how great bounds may be.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from itertools import chain
from random import Random
from typing import Any

import numpy as np

from retrograde.games.contract.game import UNDECIDED, Game, Traits, is_none
from retrograde.games.contract.raised import given_start
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.metrics.expectation_cycles import PayoffOverflow, refuse_endless
from retrograde.solver.metrics.expectation_kernels import LIMIT
from retrograde.solver.metrics.slots import chunks
from retrograde.solver.metrics.slots.chunks import (
    KEEP_ALL,
    KEEP_IF_STAYING,
    KEEP_NONE,
    LookResult,
    TierInputs,
    chunks_of,
)
from retrograde.solver.metrics.slots.files import BLOCK, SlotFiles
from retrograde.solver.metrics.slots.replay import BYTES_A_PLAN, RISE, SINK, STAY, ChunkPlan, plan_of_margins
from retrograde.solver.metrics.slots.scripts import Script
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.driver import Done, StoredCounts
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import Work

Scripts = dict[int, list[Script]]
"""The scripts of a tier's chunks by first slot. Those of some chunks are missing if memory does not suffice."""
Plans = dict[int, list[ChunkPlan]]
"""The plans of a tier's chunks by first slot."""
EMPTY = np.zeros(0, np.int64)
MARGIN = 4.0
"""Grains of margin for each slot that play still meets; more if payoffs exceed 1."""
ROUGH = 1e-6
"""Accuracy of the first guess if moves pay, in points: enough to see how great payoffs are."""
NOISE = 2.0**-46
"""Error of a guess for each slot, at most, relative to the greatest guess; from floating point."""
EXACT = 1 / 16
"""A guess is final when no sweep changes it by more than this fraction of MARGIN."""
NEARER = 64
"""Sweeps by a plan shrink the change by this factor before a new plan is made."""
WIDER = 1 / 4
"""Margins are final when no sweep changes them by more than this fraction of MARGIN."""
ROUNDS, SWEEPS = 100, 1000
"""Greatest numbers of plans, and of sweeps by one plan."""
BYTES_A_SLOT, OWN_BYTES_A_SLOT = 16, 17
"""Memory for each slot in bytes: of a tier that is read, and of the tier being solved."""
BESIDE = 64_000_000
"""Memory for sweeps in progress and copies for writing, in bytes, at most."""
WALKS, LONGEST = 20, 200
"""Random walks from each tier that estimate which tiers it needs, and moves of a walk."""


class SlotStore:
    """The bounds of all slots while they are solved. A group is a tier number."""

    def __init__(self, game: Game, bits: int, work: Work):
        """Start with nothing solved; raise MemoryLimit if memory does not suffice."""
        self.game, self.bits, self.work = game, bits, work
        self.numbering = SlotNumbering.of(game)
        slots = self.numbering.slots
        # Estimate what tiers need, which takes a while, only if memory might not suffice for all slots.
        if most_memory(self.numbering) > work.budget.free_bytes():
            work.budget.check(memory_of(game, self.numbering), f"solving {slots:,} slots of positions")
        self.files = work.until_written(SlotFiles(work.scratch / f"bounds{bits}", slots, ("low", "high"), np.int64))
        self.counts: dict[int, Array] = {}
        """For each solved tier the counts of `kernels.count`."""
        self.error = 0
        """Greatest difference of two bounds, in grains."""
        self.counts_wins = game.players == 2
        """Whether all that is paid is a difference of 1 at each end, so that expectations count won games."""

    def groups(self) -> Iterator[int]:
        """Yield the tier numbers, last first."""
        yield from reversed(range(len(self.numbering.tiers)))

    def keep(self, done: Done) -> StoredCounts:
        """Accept a tier that is in the files; return how many slots, its tier, and how many positions it has.

        *done* has the tier's number, checksum, error and `counts_wins`, and its counts by value (three rows: stored
        slots, positions, first slots). The counts are 0 if the checksum does not match, so that the tier is solved
        again, or if it was accepted before.
        """
        (k, check, error, counts_wins), counts = done
        part = self.numbering.slice_of(int(k))
        if int(k) in self.counts or not self.files.is_whole(part.start, part.stop, int(check)):
            return StoredCounts(0, None, 0)
        self.counts[int(k)] = counts.reshape(3, 3)
        self.error = max(self.error, int(error))
        self.counts_wins &= bool(counts_wins)
        return StoredCounts(part.stop - part.start, int(self.numbering.tiers[k]), int(counts[3:6].sum()))

    def solve(self, k: int, phase: Phase) -> Iterator[Done]:
        """Solve a tier, write it to the files, and yield its checksum, error, `counts_wins` and counts."""
        if k in self.counts:
            return
        size = self.numbering.size(k)
        self.work.budget.check(OWN_BYTES_A_SLOT * size + BESIDE, f"solving the {size:,} slots of a tier")
        # Step 1: look at the tier by the rules. Without cycles that is the result.
        inputs = self.inputs_of(k, size)
        looked = self.look(inputs, phase)
        if any(found.stays for found in looked):
            self.solve_cycles(inputs, looked, phase)
        # Step 2: count values and write the bounds.
        low, high = inputs.own_low.array, inputs.own_high.array
        tasks = ((inputs, begin, end) for wave in chunks_of(size) for begin, end in wave)
        counts = reduce(add_counts, reversed([*self.work.map(chunks.count, tasks)]))  # the lowest slots come first
        self.work.budget.check_used(f"solving the {size:,} slots of a tier")
        check = self.files.write(self.numbering.slice_of(k).start, low, high)
        self.files.release()
        counts_wins = all(found.counts_wins for found in looked)
        yield np.array([k, check, int((high - low).max()), counts_wins]), counts.ravel()

    def inputs_of(self, k: int, size: int) -> TierInputs:
        """Return what tasks receive for tier number *k*, which has *size* slots; -1 for none."""
        low, high = (self.work.zeros(f"own {name}{k}", size, np.int64) for name in ("low", "high"))
        all_low, all_high = self.files.columns
        nowhere = SharedArray(np.zeros(0, np.uint8))
        return TierInputs(self.game, self.numbering, all_low, all_high, k, low, high, nowhere, self.bits)

    def look(self, inputs: TierInputs, phase: Phase) -> list[LookResult]:
        """Look at a tier by the rules, and store its bounds by other tiers alone; return the other results. These have
        the scripts if moves stay in the tier and memory suffices."""
        size, waves = len(inputs.own_low), chunks_of(len(inputs.own_low))
        # Step 1: look at the first wave; `ends` are the first slot and the end of a chunk. Scripts are not packed yet.
        packed = False
        keep = KEEP_IF_STAYING if self.shares_memory else KEEP_NONE
        results = self.run_and_store(inputs, chunks.look, [(inputs, *ends, keep, packed) for ends in waves[0]])
        # Step 2: if moves stay in the tier, look again at those of its chunks whose scripts were not kept.
        keeps_scripts = keep != KEEP_NONE and any(result.stays for result in results)
        if keeps_scripts:
            again = [
                (inputs, *ends, KEEP_ALL, packed)
                for ends, result in zip(waves[0], results, strict=True)
                if not result.scripts
            ]
            results = [result for result in results if result.scripts] + self.run_and_store(inputs, chunks.look, again)
        # Step 3: look at the other waves.
        for wave in waves[1:]:
            if keeps_scripts:
                # Compress scripts when memory will not suffice for the rest; drop them when it is used up.
                free_bytes = self.work.budget.free_bytes() - BESIDE - BYTES_A_PLAN * size
                bytes_kept = sum(script.words.nbytes for result in results for script in result.scripts)
                slots_left = wave[0][1]  # a wave begins with the last of the remaining slots
                slots_done = size - slots_left
                packed = packed or bytes_kept * slots_left > free_bytes * slots_done
                if free_bytes < 0:
                    keeps_scripts, results = False, [result._replace(scripts=[]) for result in results]
            keep = KEEP_ALL if keeps_scripts else KEEP_NONE
            results += self.run_and_store(inputs, chunks.look, [(inputs, *ends, keep, packed) for ends in wave])
            phase.working(0, int(self.numbering.tiers[inputs.k]))
        return results

    def run_and_store(self, inputs: TierInputs, function: Any, tasks: list[Any]) -> list[Any]:
        """Run tasks, store the bounds they find once all are done, and return the rest of their results."""
        results = list(self.work.map(function, tasks))
        for found in results:
            end = found.begin + len(found.low)
            inputs.own_low.array[found.begin : end], inputs.own_high.array[found.begin : end] = found.low, found.high
        return [found._replace(low=EMPTY, high=EMPTY) for found in results]

    @property
    def shares_memory(self) -> bool:
        """Whether tasks run in threads of this process, so that scripts need not be sent."""
        return isinstance(self.work.executor, ThreadPoolExecutor)

    # Tiers with cycles

    def sweep(self, inputs: TierInputs, scripts: Scripts, mode: int, phase: Phase) -> int:
        """Sweep a tier once, wave by wave; return the greatest change of a bound."""
        change = 0
        for wave in chunks_of(len(inputs.own_low)):
            tasks = [(inputs, begin, end, mode, scripts.get(begin, [])) for begin, end in wave]
            change = max(change, *(found.change for found in self.run_and_store(inputs, chunks.sweep, tasks)))
            phase.working(0, int(self.numbering.tiers[inputs.k]))
        return change

    def sweep_until_stable(self, inputs: TierInputs, scripts: Scripts, mode: int, phase: Phase) -> None:
        """Sweep a tier until no bound changes."""
        while self.sweep(inputs, scripts, mode, phase):
            pass

    def solve_cycles(self, inputs: TierInputs, looked: list[LookResult], phase: Phase) -> None:
        """Find the bounds of a tier with cycles."""
        # Step 1: limits of the bounds from outside, and where players can stay forever.
        pays = any(found.pays for found in looked)
        least, most = min(found.least for found in looked), max(found.most for found in looked)
        if Traits.of(self.game).has_swapped:
            least, most = min(least, -most), max(most, -least)
        scripts = {found.begin: found.scripts for found in looked}
        endless = self.find_endless(inputs, scripts, phase)
        if pays and endless.any():
            tier = int(self.numbering.tiers[inputs.k])
            refuse_endless(self.game, self.game.write(self.game.unindex(tier, int(endless.argmax()))))
        # Case: play always ends. Start near the guess and sink.
        if not endless.any():
            self.begin_near(inputs, scripts, (least, most), pays, phase)
            self.sweep_until_stable(inputs, scripts, SINK, phase)
            return
        # Case: play may be endless. Start at 0; sink and rise alternate until nothing changes.
        inputs = inputs._replace(endless=self.work.zeros("endless", len(endless), np.uint8))
        inputs.endless.array[:] = endless
        low, high = inputs.own_low.array, inputs.own_high.array
        low[:], high[:] = 0, 0
        while True:
            self.sweep_until_stable(inputs, scripts, SINK, phase)
            sunk = low.copy(), high.copy()
            self.sweep_until_stable(inputs, scripts, RISE, phase)
            if np.array_equal(low, sunk[0]) and np.array_equal(high, sunk[1]):
                return
            np.maximum(low, 0, out=low)
            np.minimum(high, 0, out=high)

    def begin_near(
        self, inputs: TierInputs, scripts: Scripts, limits: tuple[int, int], pays: bool, phase: Phase
    ) -> None:
        """Set the bounds of a tier to guess ± margin. Unless moves pay, they stay within *limits* (least, most), those
        of the bounds outside the tier."""
        size, (least, most) = len(inputs.own_low), limits
        self.files.release()  # release the pages of finished tiers
        self.work.budget.check(BYTES_A_PLAN * size + BESIDE, f"guessing what the {size:,} slots of a tier are worth")
        lost = MARGIN * max(1.0, max(-least, most) / (1 << self.bits))  # grains that may be lost at each slot
        # The arrays of the bounds serve for guesses (`own_low`) and margins (`own_high`) as floating-point numbers.
        guesses = inputs._replace(own_low=as_floats(inputs.own_low), own_high=as_floats(inputs.own_high))
        guesses.own_low.array[:], guesses.own_high.array[:] = (least + most) / 2, 0
        # With payments, a rough guess first shows how great payoffs are.
        if pays:
            self.guess(guesses, scripts, ROUGH * (1 << self.bits), phase)
            if (greatest := np.abs(guesses.own_low.array).max()) >= LIMIT / 4:
                raise PayoffOverflow
            lost = max(MARGIN, NOISE * greatest)
            least, most = -LIMIT, LIMIT
        # Guess exactly, then find the margins.
        plans = self.guess(guesses, scripts, EXACT * lost, phase)
        for begin in plans:
            plans[begin] = [plan_of_margins(plan, lost) for plan in plans[begin]]
        margins = guesses._replace(own_low=guesses.own_high)
        self.sweep_by_plans(margins, plans, WIDER * lost, phase)
        # Turn both into integer bounds, in place, one block after another.
        for begin in range(0, size, BLOCK):
            block = slice(begin, begin + BLOCK)
            guess, margin = guesses.own_low.array[block].copy(), guesses.own_high.array[block].copy()
            inputs.own_low.array[block] = np.maximum(least, np.floor(guess - margin).astype(np.int64))
            inputs.own_high.array[block] = np.minimum(most, np.ceil(guess + margin).astype(np.int64))

    def guess(self, guesses: TierInputs, scripts: Scripts, exact: float, phase: Phase) -> Plans:
        """Improve the guesses of a tier until hardly any changes by more than *exact*; return the last plans."""
        tasks = [
            [(guesses, begin, end, scripts.get(begin, [])) for begin, end in wave]
            for wave in chunks_of(len(guesses.own_low))
        ]
        for _ in range(ROUNDS):
            plans: Plans = {}  # frees those of the last round
            change = self.improve(chunks.make_plans, tasks, phase, plans)
            if change <= exact:
                break
            self.sweep_by_plans(guesses, plans, max(exact, change / NEARER), phase)
        return plans

    def sweep_by_plans(self, guesses: TierInputs, plans: Plans, near: float, phase: Phase) -> None:
        """Sweep guesses or margins by plans until none changes by more than *near*."""
        waves = chunks_of(len(guesses.own_low))
        # In a tier of one chunk, one task makes all sweeps. Otherwise chunks read each other between sweeps.
        is_single = len(waves) == len(waves[0]) == 1
        calls, sweeps_a_call = (1, SWEEPS) if is_single else (SWEEPS, 1)
        tasks = [[(guesses, begin, end, plans[begin], near, sweeps_a_call) for begin, end in wave] for wave in waves]
        for _ in range(calls):
            if self.improve(chunks.sweep_plans, tasks, phase) <= near:
                break

    def improve(self, function: Any, waves: list[list[Any]], phase: Phase, plans: Plans | None = None) -> float:
        """Run the tasks of a sweep, wave by wave: *function* returns new guesses or margins for a chunk of the tier.
        Return the greatest change of a number. Collect new plans in *plans*."""
        change = 0.0
        for tasks in waves:
            inputs = tasks[0][0]
            numbers, k = inputs.own_low, inputs.k
            # A task takes less than a millisecond: a worker gets its share of the wave at once.
            share = -(-len(tasks) // self.work.workers_now)
            shares = [tasks[first : first + share] for first in range(0, len(tasks), share)]
            for found in chain.from_iterable(list(self.work.map(partial(run_all, function), shares))):
                numbers.array[found.begin : found.begin + len(found.numbers)] = found.numbers
                change = max(change, found.change)
                if plans is not None:
                    plans[found.begin] = found.plans
            phase.working(0, int(self.numbering.tiers[k]))
        return change

    def find_endless(self, inputs: TierInputs, scripts: Scripts, phase: Phase) -> Array:
        """Return for each slot of a tier whether players can stay in the tier forever, uint8."""
        # Start with 1 for all positions and lower until nothing changes.
        inputs.own_low.array[:] = inputs.own_high.array[:] = 1
        self.sweep_until_stable(inputs, scripts, STAY, phase)
        return inputs.own_low.array.astype(np.uint8)

    # The result

    def start(self) -> tuple[int, int] | None:
        """Return the bounds of the initial position for its player to move; None if the game has none."""
        if (start := given_start(self.game)) is None:
            return None
        position = self.game.canonical(start)
        low, high = chunks.bounds_of(self.inputs_of(-1, 0), position)
        return (-high, -low) if self.game.turn(start) == 1 else (low, high)


def run_all(function: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
    """Return the results of some tasks."""
    return [*map(function, tasks)]


def as_floats(bounds: SharedArray) -> SharedArray:
    """Return the same memory as floating-point numbers."""
    return SharedArray(bounds.array.view(np.float64), bounds.path)


def add_counts(lower: Array, upper: Array) -> Array:
    """Return the counts of two blocks of a tier together: slots, positions and first positions, -1 for none."""
    return np.stack([*(lower + upper)[:2], np.where(lower[2] >= 0, lower[2], upper[2])])


def most_memory(numbering: SlotNumbering) -> int:
    """Return about how many bytes the largest tier needs if it reads all other tiers."""
    sizes = np.diff(numbering.starts)
    return BESIDE + (OWN_BYTES_A_SLOT + BYTES_A_PLAN) * int(sizes.max()) + BYTES_A_SLOT * numbering.slots


def memory_of(game: Game, numbering: SlotNumbering) -> int:
    """Return about how many bytes the most demanding tier needs, with the tiers that it reads."""
    sizes: list[int] = np.diff(numbering.starts).tolist()
    random = Random(0)
    slots_read = [sum(sizes[other] for other in tiers_read(game, numbering, k, random)) for k in range(len(sizes))]
    own = OWN_BYTES_A_SLOT + BYTES_A_PLAN
    return BESIDE + max(own * size + BYTES_A_SLOT * others for size, others in zip(sizes, slots_read, strict=True))


def tiers_read(game: Any, numbering: SlotNumbering, k: int, random: Random) -> Iterable[int]:
    """Return the numbers of other tiers that some random walks from tier number *k* reach first."""
    found: set[int] = set()
    tier = int(numbering.tiers[k])
    for _ in range(WALKS):
        position = game.unindex(tier, random.randrange(numbering.size(k)))
        for _ in range(LONGEST):
            if is_none(position) or game.primitive(position) != UNDECIDED:
                break
            position = game.do_move(position, random.choice([*game.generate_moves(position)]))
            other = numbering.row(game.tier(position))
            if other not in (-1, k):
                found.add(other)
                break
    return found
