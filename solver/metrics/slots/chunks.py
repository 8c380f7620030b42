"""Tasks over chunks of a tier. The result does not depend on who runs them or how many run at once."""

from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, defines
from retrograde.solver.methods.listed.weights import complain
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.metrics.expectation_cycles import PayoffOverflow
from retrograde.solver.metrics.slots import kernels, plans, scripts
from retrograde.solver.metrics.slots.kernels import (
    AT,
    LEAST,
    LOOK,
    MOST,
    NO_END,
    PAYS,
    ROUND,
    ROWS,
    SINK,
    STATE,
    TOO_MUCH,
    Room,
    View,
)
from retrograde.solver.metrics.slots.plans import Known, Plan
from retrograde.solver.metrics.slots.scripts import Script
from retrograde.solver.rules.active import asked_in, troubles
from retrograde.solver.rules.expansion import compiling, expander_of
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.rules.whole import of_positions, room_for_images
from retrograde.solver.runtime.arrays import Shared

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


class Told(NamedTuple):
    """What tasks receive: the game, its numbering and the bounds so far.

    `low` and `high` are the bounds of all slots; `own_low` and `own_high` those of tier number `k`. `endless` marks
    slots from which players can stay forever. Bounds have `bits` bits after the point.
    """

    game: Game
    numbering: SlotNumbering
    low: Shared
    high: Shared
    k: int
    own_low: Shared
    own_high: Shared
    endless: Shared
    bits: int


class Swept(NamedTuple):
    """The result of a sweep of the chunk from slot `begin` on.

    Its bounds; the greatest change; whether moves stay in the tier; whether moves pay; the least and greatest bound met
    outside; and a script if one was written.
    """

    begin: int
    low: Array
    high: Array
    change: int
    round: bool
    pays: bool
    least: int
    most: int
    script: Script | None


class Guessed(NamedTuple):
    """The result of a sweep of guesses: numbers, the greatest change, and a plan if one was made."""

    begin: int
    numbers: Array
    change: float
    plan: Plan | None


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


def look(task: tuple[Told, int, int, bool, bool]) -> Swept:
    """Return the bounds of a chunk by other tiers only, and a script if *written*."""
    told, begin, end, written, packed = task
    low, high = np.zeros(end - begin, np.int64), np.zeros(end - begin, np.int64)
    words = WORDS * (end - begin) if written else 0
    # Double the words if the script is too long, and give up the script beyond MOST_WORDS.
    while True:
        view = view_of(told, begin, low, high, LOOK, np.zeros(words, word_type(told.numbering)))
        try:
            _, room = ask(told.game, view, kernels.sweep)
            break
        except LongScript:
            words = 2 * words if words < MOST_WORDS * (end - begin) else 0
    state, script = room.state, None
    if words:
        ends = np.where(room.ends == NO_END, 0, room.ends) << told.bits
        scale = view.paying << told.bits
        script = Script(begin, view.words[: state[AT]].copy(), view.rows[: state[ROWS]].copy(), ends, scale)
        script = script.packed() if packed else script
    found = bool(state[ROUND]), bool(state[PAYS]), int(state[LEAST]), int(state[MOST])
    return Swept(begin, low, high, 0, *found, script)


def sweep(task: tuple[Told, int, int, int, Script | None]) -> Swept:
    """Return the bounds of a chunk after a sweep in *mode*, by its script, or by the rules without one."""
    told, begin, end, mode, script = task
    low, high = told.own_low.array[begin:end].copy(), told.own_high.array[begin:end].copy()
    view = view_of(told, begin, low, high, mode)
    if script:
        script = script.unpacked(word_type(told.numbering))
        change = scripts.follow(script, int(told.numbering.starts[told.k]), view, False)
        if change < 0:
            raise PayoffOverflow
    else:
        change, _ = ask(told.game, view, kernels.sweep)
    return Swept(begin, low, high, int(change), True, False, 0, 0, None)


def choose(task: tuple[Told, int, int, Script | None]) -> Guessed:
    """Return improved guesses of a chunk and the plan that makes them; guesses stand in `own_low`.

    Raise LongScript if there can be no script.
    """
    told, begin, end, script = task
    if script is None:
        empty = Shared(np.zeros(0, np.int64))
        script = look((told._replace(own_low=empty, own_high=empty), begin, end, True, False)).script
        if script is None:
            raise LongScript
    script = script.unpacked(word_type(told.numbering))
    numbers = told.own_low.array[begin:end].copy()
    first = int(told.numbering.starts[told.k])
    known = Known(told.low.array, told.high.array, first, told.own_low.array, numbers)
    plan, change = plans.made(script, known)
    return Guessed(begin, numbers, change, plan)


def value(task: tuple[Told, int, int, Plan]) -> Guessed:
    """Return improved guesses of a chunk by a plan."""
    told, begin, end, plan = task
    numbers = told.own_low.array[begin:end].copy()
    return Guessed(begin, numbers, plans.value(plan, told.own_low.array, numbers), None)


def widen(task: tuple[Told, int, int, Plan], aside: float) -> Guessed:
    """Return improved margins of a chunk by a plan; margins stand in `own_high`."""
    told, begin, end, plan = task
    numbers = told.own_high.array[begin:end].copy()
    return Guessed(begin, numbers, plans.widen(plan, aside, told.own_high.array, numbers), None)


def stay(task: tuple[Told, Script]) -> Swept:
    """Return from where in a chunk players can stay forever, as far as known; by its script.

    The result has bounds of 1 for slots that stay and 0 for others.
    """
    told, script = task
    script = script.unpacked(word_type(told.numbering))
    end = min(script.begin + chunk_length(len(told.own_low)), len(told.own_low))
    low, high = told.own_low.array[script.begin : end].copy(), told.own_high.array[script.begin : end].copy()
    view = view_of(told, script.begin, low, high, SINK)
    change = scripts.follow(script, int(told.numbering.starts[told.k]), view, True)
    return Swept(script.begin, low, high, int(change), True, False, 0, 0, None)


def leave(task: tuple[Told, int, int]) -> tuple[int, Array, int]:
    """Like `stay`, by the rules: return (begin, whether each slot stays, number of slots removed)."""
    told, begin, end = task
    stays = told.endless.array[begin:end].copy()
    nothing = np.zeros(0, np.int64)
    view = view_of(told, begin, nothing, nothing, LOOK)
    left, _ = ask(told.game, view, lambda game, view, room: kernels.leave(game, view, room, stays))
    return begin, stays, int(left)


def count(task: tuple[Told, int, int]) -> Array:
    """Return for each value the number of slots and positions of a block of slots, and the first slot."""
    told, begin, end = task
    counts = np.zeros((3, 3), np.int64)
    counts[2] = -1
    low, high = told.own_low.array[begin:end], told.own_high.array[begin:end]
    tier, first = int(told.numbering.tiers[told.k]), int(told.numbering.starts[told.k])
    with compiling(told.game, troubles(told.game)):
        kernels.count(told.game, tier, begin, first, low, high, counts, room_for_images(told.game))
    return counts


def bounds_of(told: Told, position: int) -> tuple[int, int]:
    """Return player 0's bounds of any position, once all tiers are finished."""
    nothing = np.zeros(0, np.int64)
    view = view_of(told, 0, nothing, nothing, LOOK)
    tier = told.game.tier(position)
    (low, high), _ = ask(told.game, view, lambda game, view, room: kernels.bounds_of(game, position, tier, view, room))
    return int(low), int(high)


def view_of(told: Told, begin: int, low: Array, high: Array, mode: int, words: Array | None = None) -> View:
    """Return the View of a chunk for kernels; *words* is the memory for a script, if any."""
    words = np.zeros(0, np.int32) if words is None else words
    tiers, starts = told.numbering.tiers, told.numbering.starts
    return View(
        tiers, starts, told.low.array, told.high.array, told.k, told.own_low.array, told.own_high.array, begin, low,
        high, told.endless.array, told.bits, mode, words,
        np.zeros(len(low) if len(words) else 0, np.int32), defines(told.game, "reward"),
    )  # fmt: skip


def ask(game: Game, view: View, kernel: Any) -> tuple[Any, Room]:
    """Run a kernel with enough memory and return its result and its Room.

    Raise LongScript if the words do not suffice, or the error of `refuse` for broken rules.
    """
    expander_of(game)  # registers the game with numba
    entries = ENTRIES
    low, high = view.chunk_low.copy(), view.chunk_high.copy()
    while True:
        room = room_of(game, entries)
        with compiling(game, room.trouble):
            found = kernel(game, view, room)
        if room.trouble[0] == Trouble.FINE:
            return found, room
        if room.trouble[0] == Trouble.NO_ROOM and len(view.words) and entries > ENTRIES:
            raise LongScript
        if room.trouble[0] != Trouble.NO_ROOM or entries >= MOST_ENTRIES:
            refuse(game, view, room)
        entries *= 8
        view.chunk_low[:], view.chunk_high[:] = low, high


def room_of(game: Game, entries: int) -> Room:
    """Return an empty Room for *entries* positions between slots."""
    state = np.zeros(STATE, np.int64)
    state[LEAST], state[MOST] = 1 << 62, -1 << 62
    stamps, lows, highs, begins, stops, order = (np.zeros(entries, np.int64) for _ in range(6))
    ends = np.full(ENDS, NO_END, np.int64)
    return Room(of_positions(game, entries), stamps, lows, highs, begins, stops, order, ends, state, troubles(game))


def refuse(game: Game, view: View, room: Room) -> NoReturn:
    """Raise the error that a kernel found."""
    what, position = int(room.trouble[0]), asked_in(game, room.trouble)
    if room.state[TOO_MUCH]:
        raise PayoffOverflow
    said = f"{variant(game)}, position {position}: "
    if what in (Trouble.NO_ROOM, Trouble.LOST):
        raise RuleError(said + "play goes on and on among positions without a slot; give some of them one by index()")
    if what == Trouble.BAD_INDEX:
        raise RuleError(said + "index() and unindex() do not undo one another here, or its tier is not among the tiers")
    complain(game, position)
    raise RuleError(said + "the rules break the contract")
