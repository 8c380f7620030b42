"""Numbers and positions in compiled code: every kernel that calls rules takes their answers through these functions.

Numba would write a float to an array of ints without its fraction, silently. `whole` therefore refuses to compile rules
that return anything but an int.

Positions are ints or, in some games that number their positions, tuples of a fixed number of ints. Kernels use the
functions below for both kinds. For ints they compile to the plain operation and cost nothing. An array of positions has
an entry for each int, or a row for each tuple.

Each function has a Python version, for interpreted use, and an `@overload` below that gives numba its own version.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload

from retrograde.games.contract.game import MOST_IMAGES, POSITION_LIMIT, Game, Traits, is_none
from retrograde.solver.rules.examine import MIX, is_position, key_of
from retrograde.solver.rules.port import PortType
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.tasks import workspace


def whole(number: int) -> int:
    """Return a number that a rule has returned, as an int."""
    return int(number)


@overload(whole)
def whole_number(number):
    """Return the compiled form of `whole`; raise TypingError for anything but an int."""
    given = number.type if isinstance(number, types.Optional) else number
    if isinstance(given, (types.Integer, types.Boolean)):
        return lambda number: number
    if isinstance(given, types.IntEnumMember):
        return lambda number: number + 0
    raise TypingError(f"a rule gives a {number} where it must give an int (to divide ints, write //)")


# Positions


def as_position(number: Any) -> Any:
    """Return a position that a rule has returned: an int, or a tuple of ints. In compiled code they are int64."""
    return tuple(map(int, number)) if isinstance(number, tuple) else whole(number)


def note(trouble: Array, position: Any) -> None:
    """Record in a trouble array the position for which a kernel calls the rules next. Its key goes to entry 1, and the
    words of a tuple to the end."""
    trouble[1] = key_of(position)
    if isinstance(position, tuple):
        trouble[-len(position) :] = position


def put(array: Any, index: Any, position: Any) -> None:
    """Write a position to an array, at an index or at (row, column) of a matrix. Its words follow one another in raw
    words (see `search/memory.py`) and in an array of one dimension."""
    if isinstance(position, tuple):
        for k, word in enumerate(position):
            array[word_index(array, index, k)] = word
    else:
        array[index] = position


def stands_at(array: Any, index: Any, position: Any) -> bool:
    """Return whether an array holds this position at the index, where `put` would write it."""
    if not isinstance(position, tuple):
        return bool(array[index] == position)
    return all(array[word_index(array, index, k)] == word for k, word in enumerate(position))


def position_in(game: Game, array: Any, index: Any) -> Any:
    """Return the position that `put` has written to an array of a game's positions."""
    width = Traits.of(game).width
    return tuple(int(array[word_index(array, index, k)]) for k in range(width)) if width else int(array[index])


def word_index(array: Any, index: Any, k: int) -> Any:
    """Return the index in *array* of word *k* of the position that `put` writes at *index*."""
    if not isinstance(array, np.ndarray) or array.ndim == 1:  # raw words
        return index + k
    return (*index, k) if isinstance(index, tuple) else (index, k)


def no_position(like: Any) -> Any:
    """Return -1, or a tuple of -1 as long as the position *like*."""
    return (-1,) * len(like) if isinstance(like, tuple) else -1


def swapped(game: Any, position: Any) -> Any:
    """Return the position with the players exchanged; negative if the game does not define that."""
    return game.swapped(position)


def number_of(position: Any, slot: int) -> int:
    """Return the number that a file stores for a position: the int itself, or the *slot* if the position is a tuple."""
    return slot if isinstance(position, tuple) else position


# Buffers for callers of kernels


def of_positions(game: Game, count: int) -> Array:
    """Return a buffer for *count* positions: int64[count] or, for tuples, int64[count, ints]."""
    width = Traits.of(game).width
    return np.zeros((count, width) if width else count, np.int64)


def empty_positions(game: Game, count: int) -> Array:
    """Return a buffer for *count* positions with arbitrary contents. Kernels can call it."""
    width = Traits.of(game).width
    return np.empty((count, width) if width else count, np.int64)


def words_in(game: Game) -> int:
    """Return the number of words of a position: 1 for an int. Kernels can call it."""
    return Traits.of(game).width or 1


def room_for_images(game: Game) -> Array:
    """Return this thread's buffer for MOST_IMAGES positions."""
    width = Traits.of(game).width
    if not width:
        return workspace("images", MOST_IMAGES)
    return workspace(f"images of {width}", MOST_IMAGES * width)[: MOST_IMAGES * width].reshape(MOST_IMAGES, width)


# Positions in arrays of one dimension


def to_items(positions: Array) -> Array:
    """Return positions as a one-dimensional array: those of several words, int64[n, words], as big-endian bytes."""
    if positions.ndim == 1:
        return positions
    return positions.astype(">i8").view(f"V{8 * positions.shape[1]}")[:, 0]  # big-endian bytes sort as the words do


def from_items(items: Array, width: int) -> Array:
    """Return the positions from which `to_items` made *items*; *width* is their number of words, 0 for ints."""
    return np.ascontiguousarray(items).view(">i8").reshape(-1, width).astype(np.int64) if width else items


# The same functions in compiled code


NAMES = {"np": np, "word_index": word_index}
"""What the texts of `tuple_function` may use."""


def tuple_function(text: str, count: int) -> Any:
    """Return a function whose result is a tuple of *count* items: `"a, b: a[#] ^ b[#]"` stands for (a[0] ^ b[0], …).

    *text* is the source of a lambda; `#` is the index of the item. Numba needs a tuple's length when it compiles.

    >>> tuple_function("a, b: a[#] ^ b[#]", 2)((1, 2), (3, 3))
    (2, 1)
    """
    arguments, _, item = text.partition(": ")
    return eval(f"lambda {arguments}: ({''.join(item.replace('#', str(k)) + ', ' for k in range(count))})", NAMES)


@overload(as_position)
def compiled_as_position(number):
    if not isinstance(number, types.BaseTuple):
        return lambda number: np.int64(whole(number))
    if not all(isinstance(word, (types.Integer, types.Boolean)) for word in map(types.unliteral, number)):
        raise TypingError(f"a rule gives a {number} where it must give an int, or a tuple of ints")
    return tuple_function("number: np.int64(number[#])", len(number))


@overload(is_none)
def compiled_is_none(position):
    if isinstance(position, types.BaseTuple):
        return lambda position: position[0] < 0
    return lambda position: position < 0


@overload(is_position)
def compiled_is_position(position):
    """Return the code of `is_position` for ints or for tuples."""
    if not isinstance(position, types.BaseTuple):
        return lambda position: 0 <= position < POSITION_LIMIT

    def is_tuple_position(position):
        in_range = True
        for number in position:
            in_range &= 0 <= number < POSITION_LIMIT
        return in_range

    return is_tuple_position


@overload(key_of)
def compiled_key_of(position):
    """Return the code of `key_of` for ints or for tuples."""
    if not isinstance(position, types.BaseTuple):
        return lambda position: position

    def hash_of(position):  # the same hash as `key_of`
        key = np.uint64(0)
        for number in position:
            key = ((key ^ np.uint64(number)) * np.uint64(MIX)) >> np.uint64(2)  # 62 bits: nonnegative as an int64
            key ^= key >> np.uint64(31)
        return np.int64(key)

    return hash_of


@overload(note)
def compiled_note(trouble, position):
    """Return the code of `note` for ints or for tuples, whose words go to the end of the array."""
    if isinstance(position, types.BaseTuple):

        def note_tuple(trouble, position):
            trouble[1] = key_of(position)
            for k in range(len(position)):
                trouble[len(trouble) - len(position) + k] = position[k]

        return note_tuple

    def note_int(trouble, position):
        trouble[1] = position

    return note_int


@overload(word_index)
def compiled_word_index(array, index, k):
    if isinstance(array, types.CPointer) or array.ndim == 1:
        return lambda array, index, k: index + k
    if isinstance(index, types.BaseTuple):
        return lambda array, index, k: index + (k,)  # noqa: RUF005  # numba has no (*place, k)
    return lambda array, index, k: (index, k)


@overload(put)
def compiled_put(array, index, position):
    """Return the code of `put` for ints or for tuples."""
    if isinstance(position, types.BaseTuple):

        def put_words(array, index, position):
            for k in range(len(position)):
                array[word_index(array, index, k)] = position[k]

        return put_words

    def put_int(array, index, position):
        array[index] = position

    return put_int


@overload(no_position)
def compiled_no_position(like):
    if isinstance(like, types.BaseTuple):
        return tuple_function("like: np.int64(-1)", len(like))
    return lambda like: -1


@overload(stands_at)
def compiled_stands_at(array, index, position):
    """Return the code of `stands_at` for ints or for tuples."""
    if isinstance(position, types.BaseTuple):

        def tuple_stands_at(array, index, position):
            same = True
            for k in range(len(position)):
                same &= array[word_index(array, index, k)] == position[k]
            return same

        return tuple_stands_at
    return lambda array, index, position: array[index] == position


def width_of_rules(game: Any) -> int:
    """Return the number of words of a position of a numba type: a port, or a game. It is 0 if positions are ints."""
    return int(game.width if isinstance(game, PortType) else Traits.of(game.game).width)


@overload(position_in)
def compiled_position_in(game, array, index):
    if width := width_of_rules(game):
        return tuple_function("game, array, index: array[word_index(array, index, #)]", width)
    return lambda game, array, index: array[index]


@overload(empty_positions)
def compiled_empty_positions(game, count):
    if width := width_of_rules(game):
        return lambda game, count: np.empty((count, width), np.int64)
    return lambda game, count: np.empty(count, np.int64)


@overload(words_in)
def compiled_words_in(game):
    words = width_of_rules(game) or 1
    return lambda game: words


@overload(swapped)
def compiled_swapped(game, position):
    """Return the code of `swapped`: the rule if the game has it, else -1 (for tuples, in each word)."""
    if isinstance(game, PortType):
        return lambda game, position: game.swapped(position)
    if Traits.of(game.game).has_swapped:
        return lambda game, position: as_position(game.swapped(position))
    if isinstance(position, types.BaseTuple):
        return tuple_function("game, position: np.int64(-1)", len(position))
    return lambda game, position: -1


@overload(number_of)
def compiled_number_of(position, slot):
    if isinstance(position, types.BaseTuple):
        return lambda position, slot: slot
    return lambda position, slot: position
