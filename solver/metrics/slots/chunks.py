"""Tasks over chunks of a tier. The result does not depend on who runs them or how many run at once."""

from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, Traits
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.metrics.expectation_cycles import PayoffOverflow
from retrograde.solver.metrics.slots import kernels, replay
from retrograde.solver.metrics.slots.replay import ChunkPlan, ChunkScript, SlotGuesses
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import of_positions, room_for_images
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.rules.weights import complain
from retrograde.solver.runtime.arrays import SharedArray

Array = np.ndarray[Any, Any]

CHUNKS = 256
"""Least number of chunks of a large tier."""
SMALLEST, LARGEST = 1 << 13, 1 << 15
"""Slots of a chunk: the smallest size, if the tier has as many, and the greatest."""
WAVE = 8
"""Chunks swept at once, each from the bounds before the wave. A constant, so that results do not depend on the number
of workers.
"""
ENTRIES = 64
"""Positions between slots that the memory of a slot holds at first."""
MOST_ENTRIES = 1 << 20
"""Greatest number of such positions."""
ENDS = 64
"""Different payoffs of ends that a script can have."""
WORDS, MOST_WORDS = 32, 512
"""Words of a script for each slot of a chunk: at first, and at most."""


class LongScript(Exception):
    """A script needs more words than allowed."""


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


class SweepResult(NamedTuple):
    """The result of a sweep of the chunk from slot `begin` on: its bounds, and the greatest change.

    After a first look also: whether moves stay in the tier; whether moves pay; the least and greatest bound met
    outside; and a script if one was written.
    """

    begin: int
    low: Array
    high: Array
    change: int = 0
    round: bool = False
    pays: bool = False
    least: int = 0
    most: int = 0
    script: ChunkScript | None = None


class GuessResult(NamedTuple):
    """The result of a sweep of guesses: numbers, the greatest change, and a plan if one was made."""

    begin: int
    numbers: Array
    change: float
    plan: ChunkPlan | None


def chunks_of(size: int) -> list[list[tuple[int, int]]]:
    """Return the waves of chunks (first and last slot) for a sweep of a tier; the last slots come first."""
    length = chunk_length(size)
    chunks = [(begin, min(begin + length, size)) for begin in range(0, size, length)][::-1]
    return [chunks[first : first + WAVE] for first in range(0, len(chunks), WAVE)]


def chunk_length(size: int) -> int:
    """Return the number of slots in a chunk of a tier; the last chunk may have fewer."""
    return max(SMALLEST, min(LARGEST, size // CHUNKS))


def word_type(numbering: SlotNumbering) -> type:
    """Return the integer type of script words: int32 if all places fit, else int64."""
    return np.int64 if 2 * (numbering.slots + ENDS) + 2 >= 1 << 31 else np.int32


def look(task: tuple[TierInputs, int, int, bool, bool]) -> SweepResult:
    """Return the first bounds of a chunk: slots of other tiers have their final bounds, those of this tier count as 0.

    If *written*, also record the rules' answers as a script, which may be *packed*; there is none if it would need more
    than MOST_WORDS words a slot.
    """
    inputs, begin, end, written, packed = task
    low, high = np.zeros(end - begin, np.int64), np.zeros(end - begin, np.int64)
    words = WORDS * (end - begin) if written else 0
    # Double the words if the script is too long, and give up the script beyond MOST_WORDS.
    while True:
        chunk = arrays_of(inputs, begin, low, high, kernels.LOOK, np.zeros(words, word_type(inputs.numbering)))
        try:
            _, workspace = ask(inputs.game, chunk, kernels.sweep)  # fills *low* and *high*
            break
        except LongScript:
            words = 2 * words if words < MOST_WORDS * (end - begin) else 0
    state, script = workspace.state, None
    if words:
        ends = np.where(workspace.ends == kernels.NO_END, 0, workspace.ends) << inputs.bits
        scale = chunk.paying << inputs.bits  # what a point is in units of bounds; 0 if moves pay nothing
        script = ChunkScript(
            begin, chunk.words[: state[kernels.AT]].copy(), chunk.rows[: state[kernels.ROWS]].copy(), ends, scale
        )
        script = script.packed() if packed else script
    found = bool(state[kernels.ROUND]), bool(state[kernels.PAYS]), int(state[kernels.LEAST]), int(state[kernels.MOST])
    return SweepResult(begin, low, high, 0, *found, script)


def sweep(task: tuple[TierInputs, int, int, int, ChunkScript | None]) -> SweepResult:
    """Return the bounds of a chunk after a sweep in a mode, by its script, or by the rules without one."""
    inputs, begin, end, mode, script = task
    low, high = inputs.own_low.array[begin:end].copy(), inputs.own_high.array[begin:end].copy()
    chunk = arrays_of(inputs, begin, low, high, mode)
    if script:
        script = script.unpacked(word_type(inputs.numbering))
        change = replay.sweep_script(script, int(inputs.numbering.starts[inputs.k]), chunk)
        if change < 0:
            raise PayoffOverflow
    else:
        change, _ = ask(inputs.game, chunk, kernels.sweep)
    return SweepResult(begin, low, high, int(change))


def make_plan(task: tuple[TierInputs, int, int, ChunkScript | None]) -> GuessResult:
    """Return improved guesses of a chunk and the plan that makes them; guesses stand in `own_low`.

    Raise LongScript if there can be no script.
    """
    inputs, begin, end, script = task
    if script is None:
        empty = SharedArray(np.zeros(0, np.int64))
        script = look((inputs._replace(own_low=empty, own_high=empty), begin, end, True, False)).script
        if script is None:
            raise LongScript
    script = script.unpacked(word_type(inputs.numbering))
    numbers = inputs.own_low.array[begin:end].copy()
    first = int(inputs.numbering.starts[inputs.k])
    guesses = SlotGuesses(inputs.low.array, inputs.high.array, first, inputs.own_low.array, numbers)
    made, change = replay.make_plan(script, guesses)
    return GuessResult(begin, numbers, change, made)


def sweep_plan(task: tuple[TierInputs, int, int, ChunkPlan]) -> GuessResult:
    """Return improved guesses or margins of a chunk by a plan; they stand in `own_low`."""
    inputs, begin, end, plan = task
    numbers = inputs.own_low.array[begin:end].copy()
    return GuessResult(begin, numbers, replay.sweep_plan(plan, inputs.own_low.array, numbers), None)


def count(task: tuple[TierInputs, int, int]) -> Array:
    """Return for each value the number of slots and positions of a block of slots, and the first slot."""
    inputs, begin, end = task
    counts = np.zeros((3, 3), np.int64)
    counts[2] = -1
    low, high = inputs.own_low.array[begin:end], inputs.own_high.array[begin:end]
    tier, first = int(inputs.numbering.tiers[inputs.k]), int(inputs.numbering.starts[inputs.k])
    with compiling(inputs.game, trouble_array(inputs.game)):
        kernels.count(rules_for(inputs.game), tier, begin, first, low, high, counts, room_for_images(inputs.game))
    return counts


def bounds_of(inputs: TierInputs, position: int) -> tuple[int, int]:
    """Return player 0's bounds of any position, in units of 2**-bits.

    All tiers must be finished, and `inputs` be of none of them (k = -1).
    """
    nothing = np.zeros(0, np.int64)
    chunk = arrays_of(inputs, 0, nothing, nothing, kernels.LOOK)
    tier = inputs.game.tier(position)
    (low, high), _ = ask(
        inputs.game, chunk, lambda game, chunk, workspace: kernels.bounds_of(game, position, tier, chunk, workspace)
    )
    return int(low), int(high)


def arrays_of(
    inputs: TierInputs, begin: int, low: Array, high: Array, mode: int, words: Array | None = None
) -> kernels.ChunkArrays:
    """Return the arrays of a chunk for kernels; *words* is the memory for a script, if any."""
    words = np.zeros(0, np.int32) if words is None else words
    tiers, starts = inputs.numbering.tiers, inputs.numbering.starts
    rows = np.zeros(len(low) if len(words) else 0, np.int32)
    return kernels.ChunkArrays(
        tiers, starts, inputs.low.array, inputs.high.array, inputs.k, inputs.own_low.array, inputs.own_high.array,
        begin, low, high, inputs.endless.array, inputs.bits, mode, words, rows, Traits.of(inputs.game).has_rewards,
    )  # fmt: skip


def ask(game: Game, chunk: kernels.ChunkArrays, kernel: Any) -> tuple[Any, kernels.SlotWorkspace]:
    """Run a kernel with enough memory and return its result and its workspace.

    Raise LongScript if the words do not suffice, or the error of `refuse` for broken rules.
    """
    entries = ENTRIES
    low, high = chunk.chunk_low.copy(), chunk.chunk_high.copy()
    while True:
        workspace = workspace_of(game, entries)
        with compiling(game, workspace.trouble):
            found = kernel(rules_for(game), chunk, workspace)
        if workspace.trouble[0] == Trouble.FINE:
            return found, workspace
        if workspace.trouble[0] == Trouble.NO_ROOM and len(chunk.words) and entries > ENTRIES:
            raise LongScript
        if workspace.trouble[0] != Trouble.NO_ROOM or entries >= MOST_ENTRIES:
            refuse(game, chunk, workspace)
        entries *= 8
        chunk.chunk_low[:], chunk.chunk_high[:] = low, high


def workspace_of(game: Game, entries: int) -> kernels.SlotWorkspace:
    """Return an empty workspace for *entries* positions between slots."""
    state = np.zeros(kernels.STATE, np.int64)
    state[kernels.LEAST], state[kernels.MOST] = 1 << 62, -1 << 62
    stamps, lows, highs, begins, stops, order = (np.zeros(entries, np.int64) for _ in range(6))
    ends = np.full(ENDS, kernels.NO_END, np.int64)
    return kernels.SlotWorkspace(
        of_positions(game, entries), stamps, lows, highs, begins, stops, order, ends, state, trouble_array(game)
    )


def refuse(game: Game, chunk: kernels.ChunkArrays, workspace: kernels.SlotWorkspace) -> NoReturn:
    """Raise the error that a kernel found."""
    what, position = int(workspace.trouble[0]), noted_position(game, workspace.trouble)
    if workspace.state[kernels.TOO_MUCH]:
        raise PayoffOverflow
    said = f"{variant(game)}, position {position}: "
    if what in (Trouble.NO_ROOM, Trouble.LOST):
        raise RuleError(said + "play goes on and on among positions without a slot; give some of them one by index()")
    if what == Trouble.BAD_INDEX:
        raise RuleError(said + "index() and unindex() do not undo one another here, or its tier is not among the tiers")
    complain(game, position)
    raise RuleError(said + "the rules break the contract")
