"""Every method of every kind of field: compiled, interpreted, and worked out bit by bit here, at random positions."""

from itertools import chain
from random import Random
from typing import Any

import numpy as np
import pytest

from retrograde.games.contract.fields import check_arguments
from retrograde.games.contract.game import RuleError
from retrograde.solver.rules.compiled import prepare
from retrograde.solver.rules.constants import constant
from retrograde.solver.rules.positions import put
from retrograde.solver.runtime.kernel import kernel
from tests.helpers.layouts import FiveSigns, OneBoard, OneSign, ThreeSigns, TwelveSigns, TwoSigns
from tests.helpers.marks import thorough, thorough_but

pytestmark = pytest.mark.long

LAYOUTS = [
    *(TwoSigns(9, 11, 5), TwoSigns(36, 1, 64)),
    *(OneSign(1, 1, 1), OneSign(2, 45, 3), OneSign(1, 1, 48), OneSign(48, 1, 1)),
    *(TwoSigns(1, 1, 1), TwoSigns(23, 1, 1), TwoSigns(1, 23, 1), TwoSigns(1, 1, 23)),
    *(ThreeSigns(1, 1, 1), ThreeSigns(14, 1, 1), ThreeSigns(1, 14, 1), ThreeSigns(1, 1, 14), ThreeSigns(5, 6, 5)),
    # Several words.
    *(OneSign(64, 1, 1), OneSign(63, 62, 61), OneSign(31, 31, 64), OneSign(1, 2, 3, hand=62)),
    *(TwoSigns(32, 1, 1), TwoSigns(31, 31, 31), TwoSigns(1, 64, 7), TwoSigns(20, 62, 1), TwoSigns(9, 9, 9, hand=31)),
    *(ThreeSigns(21, 1, 1), ThreeSigns(20, 20, 20), ThreeSigns(1, 32, 5), ThreeSigns(64, 1, 1, hand=70)),
    ThreeSigns(9, 63, 19, hand=40),
    # Packed, in one word and in several.
    *(FiveSigns(1, 2, 3), FiveSigns(12, 1, 1), TwelveSigns(1, 1, 1), TwelveSigns(2, 4, 3)),
    *(FiveSigns(20, 21, 64), FiveSigns(1, 62, 5, hand=40), TwelveSigns(15, 16, 64), TwelveSigns(64, 2, 40)),
]
CELLS = ("a", "b", "c")
BLOCK = 40
"""Answers of one field of cells, at most, without the cells of loops."""


@kernel
def ask_cells(field, position, cell, goal, sign, cells, out):
    """Write what the methods of a field of cells answer."""
    put(out, 0, field.set(position, sign))
    put(out, 1, field.filled(position))
    put(out, 2, field.free(position))
    put(out, 3, field.with_set(position, sign, cells))
    put(out, 4, field.count(position))
    put(out, 5, field.count_of(position, sign))
    put(out, 6, field.get(position, cell))
    put(out, 7, field.has(position, cell, sign))
    # Positions with other cells.
    put(out, 8, field.is_empty(position, cell))
    put(out, 9, field.put(position, cell, sign))
    put(out, 10, field.put(position, cell, 0))
    put(out, 11, field.add(field.remove(position, cell), cell, sign))
    put(out, 12, field.remove(position, cell))
    put(out, 13, field.go(position, cell, goal))
    put(out, 14, field.size)
    put(out, 15, field.A)
    put(out, 16, field.full)
    put(out, 20, field.put_all(position, cells, sign))
    # The cells of loops, as bits.
    empty = having = occupied = 0
    for one in field.empty(position):
        empty |= np.int64(1) << one
    for one in field.having(position, sign):
        having |= np.int64(1) << one
    for one in field.occupied(position):
        occupied |= np.int64(1) << one
    put(out, 17, empty)
    put(out, 18, having)
    put(out, 19, occupied)


@kernel
def ask_numbers(game, position, number, index, hand, flag, player, out):
    """Write what the methods of all other fields answer."""
    put(out, 0, game.low.get(position))
    put(out, 1, game.low.put(position, number))
    put(out, 2, game.low.add(position, number - game.low.get(position)))
    put(out, 3, game.hands.get(position, index))
    put(out, 4, game.hands.put(position, index, hand))
    put(out, 5, game.hands.add(position, index, hand - game.hands.get(position, index)))
    put(out, 6, game.flag.get(position))
    put(out, 7, game.flag.put(position, flag))
    put(out, 8, game.pair.get(position))
    put(out, 9, game.pair.passed(position))
    put(out, 10, game.pair.put(position, player % 2))
    # Three players, and a turn that follows from cells.
    put(out, 11, game.three.get(position))
    put(out, 12, game.three.passed(position))
    put(out, 13, game.three.put(position, player))
    put(out, 14, game.by.get(position))
    put(out, 15, game.by.sign(position))
    put(out, 16, game.by.other(position))
    put(out, 17, game.three.sign(position))
    put(out, 18, game.three.other(position))
    put(out, 19, game.by.passed(position))


@kernel
def ask_all(game, position, asked, out):
    """Write what all fields of a game answer."""
    ask_cells(game.a, position, asked[0], asked[1], asked[2], asked[3], out[:BLOCK])
    ask_cells(game.b, position, asked[4], asked[5], asked[6], asked[7], out[BLOCK : 2 * BLOCK])
    ask_cells(game.c, position, asked[8], asked[9], asked[10], asked[11], out[2 * BLOCK : 3 * BLOCK])
    ask_numbers(game, position, asked[12], asked[13], asked[14], asked[15], asked[16], out[3 * BLOCK :])


@kernel
def swap(field, position):
    """Return a position with two signs exchanged."""
    return field.swapped(position)


@kernel
def swap_all(game, position):
    """Return what three fields of cells exchange."""
    return swap(game.a, position), swap(game.b, position), swap(game.c, position)


class State:
    """A position as lists: the sign on each cell, and the other fields. `encoded` puts it into bits."""

    def __init__(self, game: Any, chance: Random):
        self.game = game
        self.sign_count = game.sign_count
        sizes = (game.first, game.middle, game.last)
        self.cells = {
            name: [chance.randint(0, self.sign_count) for _ in range(size)]
            for name, size in zip(CELLS, sizes, strict=True)
        }
        self.low, self.hands = chance.randint(-2, 4), [chance.randint(0, 2) for _ in range(game.hand)]
        self.flag, self.pair, self.three = chance.randint(0, 1), chance.randint(0, 1), chance.randint(0, 2)

    def encoded(self, **changes: Any) -> Any:
        """Return the position, with some fields changed."""
        values = {**vars(self), **self.cells, **changes}
        words: list[list[int]] = [[]]

        def add(*bits: int) -> None:
            """Add bits that are in one word."""
            if len(words[-1]) + len(bits) > 62:
                words.append([])
            words[-1].extend(bits)

        def bits_of(number: int, width: int) -> list[int]:
            return [number >> bit & 1 for bit in range(width)]

        for name in CELLS:
            if self.game.packed:
                planes = [[on >> bit & 1 for on in values[name]] for bit in range(self.sign_count.bit_length())]
            else:
                planes = [[int(on == sign) for on in values[name]] for sign in range(1, self.sign_count + 1)]
            if sum(map(len, planes)) <= 62:
                add(*chain(*planes))
            else:
                for part in [plane[:62] for plane in planes] + [plane[62:] for plane in planes]:
                    add(*part)
        add(*bits_of(values["low"] + 2, 3))
        hands = [bits_of(number, 2) for number in values["hands"]]
        if len(hands) <= 31:
            add(*chain(*hands))
        else:
            words.append([])
            for hand in hands:
                add(*hand)
        for name, width in (("flag", 1), ("pair", 1), ("three", 2)):
            add(*bits_of(values[name], width))
        numbers = tuple(sum(bit << place for place, bit in enumerate(word)) for word in words)
        return numbers[0] if len(numbers) == 1 else numbers

    def answers_of_cells(self, name: str, cell: int, goal: int, sign: int, cells: int) -> list[int]:
        on = self.cells[name]

        def bits(condition: Any) -> int:
            return sum(1 << at for at, value in enumerate(on) if condition(value))

        def put(*changes: tuple[int, int]) -> int:
            changed = list(on)
            for at, value in changes:
                changed[at] = value
            return self.encoded(**{name: changed})

        having, filled, free = bits(lambda value: value == sign), bits(bool), bits(lambda value: not value)
        others = [0 if value == sign else value for value in on]
        # Other signs may stay on these cells: so only those are asked that have none.
        placed = self.encoded(**{name: [sign if cells >> at & 1 else value for at, value in enumerate(others)]})
        letter_a = 2 if self.sign_count == 2 and name == "b" else 1
        return [
            *(having, filled, free, placed, filled.bit_count(), having.bit_count(), on[cell], on[cell] == sign),
            *(on[cell] == 0, put((cell, sign)), put((cell, 0)), put((cell, sign)), put((cell, 0))),
            *(put((cell, 0), (goal, on[cell])), len(on), letter_a, (1 << len(on)) - 1, free, having, filled),
            put(*((at, sign) for at in range(len(on)) if cells >> at & 1)),
        ]

    def answers_of_numbers(self, number: int, index: int, hand: int, flag: int, player: int) -> list[int]:
        hands = [hand if at == index else old for at, old in enumerate(self.hands)]
        filled = {name: sum(map(bool, cells)) for name, cells in self.cells.items()}
        by = {1: filled["a"] % 2, 2: filled["b"] % 2}.get(self.sign_count, filled["c"] % 3)
        signs = (1, 2) if self.sign_count < 3 else (1, 2, 3)
        three = (1, 2, 3)
        return [
            *(self.low, self.encoded(low=number), self.encoded(low=number)),
            *(self.hands[index], self.encoded(hands=hands), self.encoded(hands=hands)),
            *(self.flag, self.encoded(flag=flag)),
            *(self.pair, self.encoded(pair=1 - self.pair), self.encoded(pair=player % 2)),
            *(self.three, self.encoded(three=(self.three + 1) % 3), self.encoded(three=player)),
            *(by, signs[by], signs[(by + 1) % len(signs)]),
            *(three[self.three], three[(self.three + 1) % 3], self.encoded()),
        ]


def alike(answers: Any, width: int) -> list[list[int]]:
    """Return answers as rows of words without a sign; a number is in each word of its row."""
    rows = [answer if isinstance(answer, tuple | np.ndarray) else [answer] * width for answer in answers]
    return [[int(word) % (1 << 64) for word in row] for row in rows]


INTERPRETED = [(game, False) for game in (*LAYOUTS[:-8:4], *LAYOUTS[-8::2])]
"""Those of the plain tests: of one word, of several, and packed."""
COMPILED = [thorough((game, True)) for game in LAYOUTS]
"""Each takes ten seconds to compile; games with fields are compiled by the plain tests as well."""


@pytest.mark.parametrize(
    ("game", "compiles"), [*thorough_but([(game, False) for game in LAYOUTS], *INTERPRETED), *COMPILED], ids=str
)
def test_fields_answer_the_same_compiled_interpreted_and_by_hand(game, compiles):
    if compiles:
        prepare(game)
    chance = Random(repr(game))
    for _ in range(200 if compiles else 20):
        state = State(game, chance)
        position = state.encoded()
        width = len(position) if isinstance(position, tuple) else 1
        asked, known = [], []
        for name in CELLS:
            size, sign = len(state.cells[name]), chance.randint(1, state.sign_count)
            free = [at for at, on in enumerate(state.cells[name]) if on in (0, sign)]
            cells = sum(1 << at for at in free if chance.random() < 0.5)
            some = [chance.randrange(size), chance.randrange(size), sign, cells]
            known += [*state.answers_of_cells(name, *some), *[0] * (BLOCK - 21)]
            asked += some
        numbers = [chance.randint(-2, 4), *(chance.randrange(count) for count in (game.hand, 3, 2, 3))]
        known = alike([*known, *state.answers_of_numbers(*numbers), *[0] * (BLOCK - 20)], width)
        asked += numbers
        shape = (width,) if width > 1 else ()
        if compiles:
            compiled = np.zeros((4 * BLOCK, *shape), np.int64)
            numbers_asked = np.array([number % (1 << 64) for number in asked], np.uint64).astype(np.int64)
            ask_all(game, position, numbers_asked, compiled)
            assert alike([*compiled], width) == known
        interpreted = np.zeros((4, BLOCK, *shape), object)
        with check_arguments(game):
            for at, name in enumerate(CELLS):
                ask_cells.py_func(getattr(game, name), position, *asked[4 * at : 4 * at + 4], interpreted[at])
            ask_numbers.py_func(game, position, *numbers, interpreted[3])
        assert alike(chain(*interpreted), width) == known
        if state.sign_count > 1:
            swapped = [
                state.encoded(**{name: [{1: 2, 2: 1}.get(on, on) for on in state.cells[name]]}) for name in CELLS
            ]
            assert not compiles or list(swap_all(game, position)) == swapped
            assert [getattr(game, name).swapped(position) for name in CELLS] == swapped
        assert game.read(game.write(position)) == position


@pytest.mark.parametrize("size", thorough_but([1, 10, 31, 62, 63, 64], 62, 64))
def test_a_board_may_fill_a_position(size):
    game = OneBoard(size)
    prepare(game)
    chance = Random(size)

    @kernel
    def moves(game, position):
        """Return the moves as bits, and the cells that are filled after an odd number of them."""
        found = children = 0
        for move in game.generate_moves(position):
            found |= 1 << move
            children ^= game.cells.set(game.do_move(position, move), 1)
        return found, children

    for _ in range(50):
        cells = chance.getrandbits(size)
        children = 0
        for move in range(size):
            children ^= cells | 1 << move if not cells >> move & 1 else 0
        position = cells if size <= 62 else (cells & (1 << 62) - 1, cells >> 62)
        free, filled = moves(game, position)
        assert (free % (1 << 64), filled % (1 << 64)) == (~cells & (1 << size) - 1, children)


class LastCells(OneBoard):
    """A board with sets of cells as constants: a number, and tables with and without small ones."""

    last = 1 << 63
    corners = (1, 1 << 7, 1 << 56, 1 << 63)
    upper = ((1 << 62 | 1 << 63, 1 << 61), (1 << 63, 3))


def test_constants_of_sixty_four_cells_are_compiled_as_sets():
    game = LastCells(64)
    prepare(game)

    @kernel
    def found(game, position):
        """Return whether each constant is a set of filled cells, as bits."""
        filled, known = game.cells.filled(position), 0
        known |= 1 if filled & game.last == game.last else 0
        for number, corner in enumerate(game.corners):
            known |= 2 << number if filled & corner == corner else 0
        known |= 32 if filled & game.upper[0, 0] == game.upper[0, 0] else 0
        return known

    for cells in (0, 1, 1 << 63, 3 << 62, (1 << 64) - 1, (1 << 63) - 1, 1 << 7 | 1 << 56):
        sets = (LastCells.last, *LastCells.corners, LastCells.upper[0][0])
        known = sum(1 << number for number, one in enumerate(sets) if cells & one == one)
        assert found(game, (cells & (1 << 62) - 1, cells >> 62)) == known
    with pytest.raises(RuleError, match="a table must hold whole numbers"):
        constant((1, 1 << 64))
