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
    """Record in a trouble array the position for which a kernel calls the rules next."""
    trouble[1] = key_of(position)
    if isinstance(position, tuple):
        trouble[-len(position) :] = position


def put(array: Any, place: Any, position: Any) -> None:
    """Write a position to an array, at an index or at (row, column) of a matrix. Its words follow one another in raw
    words (see `search/memory.py`) and in an array of one dimension."""
    if isinstance(position, tuple):
        for k, word in enumerate(position):
            array[word_index(array, place, k)] = word
    else:
        array[place] = position


def stands_at(array: Any, place: Any, position: Any) -> bool:
    """Return whether an array holds a position where `put` would write it."""
    if not isinstance(position, tuple):
        return bool(array[place] == position)
    return all(array[word_index(array, place, k)] == word for k, word in enumerate(position))


def position_in(game: Game, array: Any, place: Any) -> Any:
    """Return the position that `put` has written to an array of a game's positions."""
    width = Traits.of(game).width
    return tuple(int(array[word_index(array, place, k)]) for k in range(width)) if width else int(array[place])


def word_index(array: Any, place: Any, k: int) -> Any:
    """Return the index of word *k* of a position."""
    if not isinstance(array, np.ndarray) or array.ndim == 1:  # raw words
        return place + k
    return (*place, k) if isinstance(place, tuple) else (place, k)


def no_position(like: Any) -> Any:
    """Return -1, or a tuple of -1 as long as the position *like*."""
    return (-1,) * len(like) if isinstance(like, tuple) else -1


def swapped(game: Any, position: Any) -> Any:
    """Return the position with the players exchanged; negative if the game does not define that."""
    return game.swapped(position)


def number_of(position: Any, place: int) -> int:
    """Return the number that a file stores for a position: an int itself, or the slot *place* of a tuple."""
    return place if isinstance(position, tuple) else position


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
"""What the texts of `spelled` may use."""


def spelled(text: str, count: int) -> Any:
    """Return a function to a tuple: the item of *text* once for each number below *count*, in place of `#`.

    *text* is the source of a lambda without the word: "a, b: a[#] ^ b[#]". Numba needs a tuple's length to compile.
    """
    arguments, _, item = text.partition(": ")
    return eval(f"lambda {arguments}: ({''.join(item.replace('#', str(k)) + ', ' for k in range(count))})", NAMES)


@overload(as_position)
def _(number):
    if not isinstance(number, types.BaseTuple):
        return lambda number: np.int64(whole(number))
    if not all(isinstance(one, (types.Integer, types.Boolean)) for one in map(types.unliteral, number)):
        raise TypingError(f"a rule gives a {number} where it must give an int, or a tuple of ints")
    return spelled("number: np.int64(number[#])", len(number))


@overload(is_none)
def _(position):
    if isinstance(position, types.BaseTuple):
        return lambda position: position[0] < 0
    return lambda position: position < 0


@overload(is_position)
def _(position):
    if not isinstance(position, types.BaseTuple):
        return lambda position: 0 <= position < POSITION_LIMIT

    def all_are(position):
        sound = True
        for number in position:
            sound &= 0 <= number < POSITION_LIMIT
        return sound

    return all_are


@overload(key_of)
def _(position):
    if not isinstance(position, types.BaseTuple):
        return lambda position: position

    def mixed(position):
        key = np.uint64(0)
        for number in position:
            key = (key ^ np.uint64(number)) * np.uint64(MIX) >> np.uint64(2)
            key ^= key >> np.uint64(31)
        return np.int64(key)

    return mixed


@overload(note)
def _(trouble, position):
    if isinstance(position, types.BaseTuple):

        def note_all(trouble, position):
            trouble[1] = key_of(position)
            for k in range(len(position)):
                trouble[len(trouble) - len(position) + k] = position[k]

        return note_all

    def note_it(trouble, position):
        trouble[1] = position

    return note_it


@overload(word_index)
def _(array, place, k):
    if isinstance(array, types.CPointer) or array.ndim == 1:
        return lambda array, place, k: place + k
    if isinstance(place, types.BaseTuple):
        return lambda array, place, k: place + (k,)  # noqa: RUF005  # numba has no (*place, k)
    return lambda array, place, k: (place, k)


@overload(put)
def _(array, place, position):
    if isinstance(position, types.BaseTuple):

        def put_words(array, place, position):
            for k in range(len(position)):
                array[word_index(array, place, k)] = position[k]

        return put_words

    def put_number(array, place, position):
        array[place] = position

    return put_number


@overload(no_position)
def _(like):
    if isinstance(like, types.BaseTuple):
        return spelled("like: np.int64(-1)", len(like))
    return lambda like: -1


@overload(stands_at)
def _(array, place, position):
    if isinstance(position, types.BaseTuple):

        def all_stand(array, place, position):
            same = True
            for k in range(len(position)):
                same &= array[word_index(array, place, k)] == position[k]
            return same

        return all_stand
    return lambda array, place, position: array[place] == position


def width_of_rules(game: Any) -> int:
    """Return the number of words of a position of a numba type: a port, or a game. It is 0 if positions are ints."""
    return int(game.width if isinstance(game, PortType) else Traits.of(game.game).width)


@overload(position_in)
def _(game, array, place):
    if width := width_of_rules(game):
        return spelled("game, array, place: array[word_index(array, place, #)]", width)
    return lambda game, array, place: array[place]


@overload(empty_positions)
def _(game, count):
    if width := width_of_rules(game):
        return lambda game, count: np.empty((count, width), np.int64)
    return lambda game, count: np.empty(count, np.int64)


@overload(words_in)
def _(game):
    words = width_of_rules(game) or 1
    return lambda game: words


@overload(swapped)
def _(game, position):
    if isinstance(game, PortType):
        return lambda game, position: game.swapped(position)
    if Traits.of(game.game).has_swapped:
        return lambda game, position: as_position(game.swapped(position))
    if isinstance(position, types.BaseTuple):
        return spelled("game, position: np.int64(-1)", len(position))
    return lambda game, position: -1


@overload(number_of)
def _(position, place):
    if isinstance(position, types.BaseTuple):
        return lambda position, place: place
    return lambda position, place: position
