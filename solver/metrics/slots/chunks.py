"""Tasks over chunks of a tier: whoever runs them, and however many at once, they find the same."""

from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, defines
from retrograde.solver.methods.listed.weights import complain
from retrograde.solver.methods.numbered.numbering import Numbering
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
"""Chunks that a large tier is cut into, at least."""
SMALLEST, LARGEST = 1 << 13, 1 << 15
"""Slots in a chunk, if there are so many, and at most."""
WAVE = 8
"""Chunks that are swept at once, each as if it were alone. The number decides what comes out, so workers do not."""
ENTRIES = 64
"""Positions in between that are remembered, at first."""
MOST_ENTRIES = 1 << 20
ENDS = 64
"""Different amounts that ends pay, of which a script can tell."""
WORDS, MOST_WORDS = 32, 512
"""Words of a script for each slot of a chunk, at first, and at most."""


class LongScript(Exception):
    """A script is to be longer than there is room for."""


class Told(NamedTuple):
    """What tasks are told: the game, its numbering, the bounds of all slots, those of tier number *k* and where players
    can go on for ever, with so many *bits* after the point."""

    game: Game
    numbering: Numbering
    low: Shared
    high: Shared
    k: int
    own_low: Shared
    own_high: Shared
    endless: Shared
    bits: int


class Swept(NamedTuple):
    """What a sweep has found of the chunk from slot *begin* of a tier on: bounds, the greatest change, whether moves
    stay in the tier, whether moves pay, the least and the greatest bound met elsewhere, and a script if one was
    written."""

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
    """What a sweep has found of the chunk from slot *begin* of a tier on: numbers, the greatest change of one, and the
    best moves if they were asked for."""

    begin: int
    numbers: Array
    change: float
    plan: Plan | None


def chunks_of(size: int) -> list[list[tuple[int, int]]]:
    """Return the waves of chunks, by first and last slot, in which a tier of a size is swept: the last slots first."""
    length = chunk_length(size)
    chunks = [(begin, min(begin + length, size)) for begin in range(0, size, length)][::-1]
    return [chunks[first : first + WAVE] for first in range(0, len(chunks), WAVE)]


def chunk_length(size: int) -> int:
    """Return how many slots chunks of a tier have, but for the last one."""
    return max(SMALLEST, min(LARGEST, size // CHUNKS))


def word_type(numbering: Numbering) -> type:
    """Return of what kind the words of scripts are."""
    return np.int64 if 2 * (numbering.slots + ENDS) + 2 >= 1 << 31 else np.int32


def look(task: tuple[Told, int, int, bool, bool]) -> Swept:
    """Return what the slots of a chunk are worth by other tiers, and a script of them if it is to be *written*."""
    told, begin, end, written, packed = task
    low, high = np.zeros(end - begin, np.int64), np.zeros(end - begin, np.int64)
    words = WORDS * (end - begin) if written else 0
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
    """Return what a sweep of a mode makes of a chunk, by its script, or by the rules where there is none."""
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
    """Return guesses for a chunk by those in the place of lower bounds, and a plan by which they are made.

    Raises LongScript where there can be no script.
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
    """Return the guesses of a chunk by a plan."""
    told, begin, end, plan = task
    numbers = told.own_low.array[begin:end].copy()
    return Guessed(begin, numbers, plans.value(plan, told.own_low.array, numbers), None)


def widen(task: tuple[Told, int, int, Plan], aside: float) -> Guessed:
    """Return the margins of a chunk by a plan and those in the place of upper bounds."""
    told, begin, end, plan = task
    numbers = told.own_high.array[begin:end].copy()
    return Guessed(begin, numbers, plans.widen(plan, aside, told.own_high.array, numbers), None)


def stay(task: tuple[Told, Script]) -> Swept:
    """Return for a chunk from where players can go on for ever, as far as is known, as bounds of 1 and 0."""
    told, script = task
    script = script.unpacked(word_type(told.numbering))
    end = min(script.begin + chunk_length(len(told.own_low)), len(told.own_low))
    low, high = told.own_low.array[script.begin : end].copy(), told.own_high.array[script.begin : end].copy()
    view = view_of(told, script.begin, low, high, SINK)
    change = scripts.follow(script, int(told.numbering.starts[told.k]), view, True)
    return Swept(script.begin, low, high, int(change), True, False, 0, 0, None)


def leave(task: tuple[Told, int, int]) -> tuple[int, Array, int]:
    """Return for a chunk from where players can go on for ever, as far as is known, and how many slots are out."""
    told, begin, end = task
    stays = told.endless.array[begin:end].copy()
    nothing = np.zeros(0, np.int64)
    view = view_of(told, begin, nothing, nothing, LOOK)
    left, _ = ask(told.game, view, lambda game, view, room: kernels.leave(game, view, room, stays))
    return begin, stays, int(left)


def count(task: tuple[Told, int, int]) -> Array:
    """Return how many slots and positions of a piece of a tier have which value, and the first of each."""
    told, begin, end = task
    counts = np.zeros((3, 3), np.int64)
    counts[2] = -1
    low, high = told.own_low.array[begin:end], told.own_high.array[begin:end]
    tier, first = int(told.numbering.tiers[told.k]), int(told.numbering.starts[told.k])
    with compiling(told.game, troubles(told.game)):
        kernels.count(told.game, tier, begin, first, low, high, counts, room_for_images(told.game))
    return counts


def bounds_of(told: Told, position: int) -> tuple[int, int]:
    """Return the bounds of player 0 of a position, once all tiers are finished."""
    nothing = np.zeros(0, np.int64)
    view = view_of(told, 0, nothing, nothing, LOOK)
    tier = told.game.tier(position)
    (low, high), _ = ask(told.game, view, lambda game, view, room: kernels.bounds_of(game, position, tier, view, room))
    return int(low), int(high)


def view_of(told: Told, begin: int, low: Array, high: Array, mode: int, words: Array | None = None) -> View:
    """Return what kernels are told of a chunk; *words* is where a script goes, if one is to be written."""
    words = np.zeros(0, np.int32) if words is None else words
    tiers, starts = told.numbering.tiers, told.numbering.starts
    return View(
        tiers, starts, told.low.array, told.high.array, told.k, told.own_low.array, told.own_high.array, begin, low,
        high, told.endless.array, told.bits, mode, words,
        np.zeros(len(low) if len(words) else 0, np.int32), defines(told.game, "reward"),
    )  # fmt: skip


def ask(game: Game, view: View, kernel: Any) -> tuple[Any, Room]:
    """Return what a kernel gives, and the room as it leaves it, which is as large as it needs.

    Raises LongScript where there are not enough words.
    """
    expander_of(game)  # numba knows the game from then on
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
    """Return room for so many positions in between, in which nothing is remembered."""
    state = np.zeros(STATE, np.int64)
    state[LEAST], state[MOST] = 1 << 62, -1 << 62
    stamps, lows, highs, begins, stops, order = (np.zeros(entries, np.int64) for _ in range(6))
    ends = np.full(ENDS, NO_END, np.int64)
    return Room(of_positions(game, entries), stamps, lows, highs, begins, stops, order, ends, state, troubles(game))


def refuse(game: Game, view: View, room: Room) -> NoReturn:
    """Raise the error that says what a kernel has found wrong."""
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
