"""Tasks over chunks of a tier. The result does not depend on who runs them or how many run at once."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.metrics.expectation_cycles import PayoffOverflow
from retrograde.solver.metrics.slots import kernels, replay
from retrograde.solver.metrics.slots.replay import LOOK, ChunkBounds, ChunkPlan, SlotGuesses
from retrograde.solver.metrics.slots.scripts import Recording, Script, word_type
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import room_for_images
from retrograde.solver.rules.running_kernels import trouble_array
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray

CHUNKS = 256
"""Least number of chunks of a large tier."""
SMALLEST, LARGEST = 1 << 13, 1 << 15
"""Slots of a chunk: the smallest size, if the tier has as many, and the greatest."""
WAVE = 8
"""Chunks swept at once, each from the bounds before the wave. A constant, so that results depend on no worker count."""
KEEP_NONE, KEEP_IF_STAYING, KEEP_ALL = range(3)
"""Which scripts of a chunk are kept: none, all if a move of the first script stays in the tier, or all."""
MOST_WORDS = 512
"""The most words of scripts that are kept for each slot of a chunk."""


class TierInputs(NamedTuple):
    """What tasks receive: the game, its numbering and the bounds so far.

    `low` and `high` are the bounds of all slots; `own_low` and `own_high` those of tier number `k`. `endless` marks
    slots from which players can stay forever. Bounds have `bits` bits after the point.
    """

    game: Game
    numbering: SlotNumbering
    low: SharedArray
    high: SharedArray
    k: int
    own_low: SharedArray
    own_high: SharedArray
    endless: SharedArray
    bits: int

    @property
    def first(self) -> int:
        """The global slot (counted through all tiers) of the tier's slot 0."""
        return int(self.numbering.starts[self.k])


class LookResult(NamedTuple):
    """The rules' answers about the chunk from slot `begin` on.

    `low` and `high` are bounds in which slots of the own tier count as 0. `stays` says whether moves stay in the tier,
    and `pays` whether they pay; `counts_wins`, whether all that is paid is a difference of 1 at each end. `least` and
    `most` are the extreme bounds met outside. `scripts` are those to be kept.
    """

    begin: int
    low: Array
    high: Array
    stays: bool
    pays: bool
    counts_wins: bool
    least: int
    most: int
    scripts: list[Script]


class SweepResult(NamedTuple):
    """The bounds of the chunk from slot `begin` on after a sweep, and the greatest change."""

    begin: int
    low: Array
    high: Array
    change: int


class GuessResult(NamedTuple):
    """New guesses or margins of the chunk from slot `begin` on, their greatest change, and plans if any were made."""

    begin: int
    numbers: Array
    change: float
    plans: list[ChunkPlan]


def chunks_of(size: int) -> list[list[tuple[int, int]]]:
    """Return the waves of chunks (first slot, end) for a sweep of a tier of *size* slots; the last slots come first."""
    length = max(SMALLEST, min(LARGEST, size // CHUNKS))
    chunks = [(begin, min(begin + length, size)) for begin in range(0, size, length)][::-1]
    return [chunks[first : first + WAVE] for first in range(0, len(chunks), WAVE)]


def look(task: tuple[TierInputs, int, int, int, bool]) -> LookResult:
    """Record the scripts of a chunk by the rules, and compute its bounds from finished tiers alone.

    A task is (inputs, first slot, end, *keep*, *packed*). Scripts are kept as *keep* says, unless they exceed
    MOST_WORDS for each slot; *packed*: compressed.
    """
    inputs, begin, end, keep, packed = task
    keeps_scripts = keep != KEEP_NONE
    low, high = np.zeros((2, end - begin), np.int64)
    outside = np.array([1 << 62, -1 << 62])
    scripts: list[Script] = []
    words = 0
    recording = recording_of(inputs, begin, end, checks=True)
    for script in recording.scripts():
        sweep_once(script, inputs, begin, low, high, LOOK, outside)
        words += len(script.words)
        keeps_scripts &= words <= MOST_WORDS * (end - begin) and (keep == KEEP_ALL or recording.stays)
        if not keeps_scripts:
            scripts.clear()
        else:
            scripts.append(script.compress() if packed else script.copy())
    least, most = outside.tolist()
    return LookResult(begin, low, high, recording.stays, recording.pays, recording.counts_wins, least, most, scripts)


def sweep(task: tuple[TierInputs, int, int, int, list[Script]]) -> SweepResult:
    """Return the bounds of a chunk after a sweep in a mode, by its scripts; without any, these are recorded again."""
    inputs, begin, end, mode, scripts = task
    low, high = inputs.own_low.array[begin:end].copy(), inputs.own_high.array[begin:end].copy()
    change, empty = 0, np.ones(end - begin, np.bool_)  # empty: slots that stand for no position
    for script in scripts_of(inputs, begin, end, scripts):
        change = max(change, sweep_once(script, inputs, begin, low, high, mode))
        empty[script.slots] = False
    low[empty] = high[empty] = 0
    return SweepResult(begin, low, high, change)


def make_plans(task: tuple[TierInputs, int, int, list[Script]]) -> GuessResult:
    """Return improved guesses of a chunk and the plans that make them; guesses are in `own_low`."""
    inputs, begin, end, scripts = task
    numbers = inputs.own_low.array[begin:end].copy()
    guesses = SlotGuesses(inputs.low.array, inputs.high.array, inputs.first, inputs.own_low.array, begin, numbers)
    results = [replay.make_plan(script, guesses) for script in scripts_of(inputs, begin, end, scripts)]
    change = max((change for _, change in results), default=0.0)
    return GuessResult(begin, numbers, change, [plan for plan, _ in results])


def sweep_plans(task: tuple[TierInputs, int, int, list[ChunkPlan], float, int]) -> GuessResult:
    """Return guesses or margins of a chunk, in `own_low`, improved by its plans. It is swept until no number changes by
    more than *near*, at most *most_sweeps* times."""
    inputs, begin, end, plans, near, most_sweeps = task
    numbers, change = inputs.own_low.array[begin:end].copy(), 0.0
    for _ in range(most_sweeps):
        changes = [float(replay.sweep_plan(plan, inputs.own_low.array, numbers)) for plan in plans]
        change = max(changes, default=0.0)
        if change <= near:
            break
    return GuessResult(begin, numbers, change, [])


def count(task: tuple[TierInputs, int, int]) -> Array:
    """Return the counts of the slots from *begin* to *end* of the own tier, as `kernels.count` makes them."""
    inputs, begin, end = task
    counts = np.zeros((3, 3), np.int64)
    counts[2] = -1  # no first position yet
    low, high = inputs.own_low.array[begin:end], inputs.own_high.array[begin:end]
    tier = int(inputs.numbering.tiers[inputs.k])
    with compiling(inputs.game, trouble_array(inputs.game)):
        rules, images = rules_for(inputs.game), room_for_images(inputs.game)
        kernels.count(rules, tier, begin, inputs.first, low, high, counts, images)
    return counts


def bounds_of(inputs: TierInputs, position: Any) -> tuple[int, int]:
    """Return player 0's bounds of any position, in grains. All tiers must be finished; *inputs* have k = -1."""
    low, high = np.zeros((2, 1), np.int64)
    script = recording_of(inputs, 0, 1).script_of_position(position)
    sweep_once(script, inputs, 0, low, high, LOOK)
    return int(low[0]), int(high[0])


def recording_of(inputs: TierInputs, begin: int, end: int, checks: bool = False) -> Recording:
    """Return a recording of the slots from *begin* to *end* of the own tier; if *checks*, `index` is checked too."""
    return Recording(inputs.game, inputs.numbering, inputs.k, begin, end, inputs.bits, checks)


def scripts_of(inputs: TierInputs, begin: int, end: int, kept: list[Script]) -> Iterator[Script]:
    """Yield the scripts of a chunk: those that are *kept*, or new ones."""
    if not kept:
        yield from recording_of(inputs, begin, end).scripts()
    for script in kept:
        yield script.decompress(word_type(inputs.numbering))


def sweep_once(
    script: Script, inputs: TierInputs, begin: int, low: Array, high: Array, mode: int, outside: Array | None = None
) -> int:
    """Sweep the slots of a script once, in a mode of `replay`; mode LOOK needs *outside*. Write new bounds to *low* and
    *high*, those of the chunk from slot *begin* on. Return the greatest change; raise PayoffOverflow."""
    chunk = ChunkBounds(
        inputs.low.array, inputs.high.array, inputs.first, inputs.own_low.array, inputs.own_high.array,
        begin, low, high, inputs.endless.array, mode, np.zeros(2, np.int64) if outside is None else outside,
    )  # fmt: skip
    change = int(replay.sweep_script(script, chunk))
    if change < 0:
        raise PayoffOverflow
    return change
