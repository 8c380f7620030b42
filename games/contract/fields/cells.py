"""Cells of a board, each empty or with one of some signs.

Cells take one word if all their planes fit into it. Else each plane is in one word, and the formulas are made from
planes: what reads asks each for the cells of a sign, what writes gives each its cells. A plane of more than 62 cells is
cut. On 64 cells, with two signs and the player to move::

    word 0   cells 0 … 61 with an X             word 1   cells 0 … 61 with an O
    word 2   cells 62 and 63 with an X, cells 62 and 63 with an O, the player to move

Cells that are *packed* have fewer planes: plane *k* has bit *k* of the number of each cell's sign. Twelve signs take
four planes, instead of twelve.
"""

# mypy: disable-error-code="empty-body"
# Methods with a formula have no body.

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from retrograde.games.contract.fields.field import TABLES, Field, formula, lambda_of, word_of
from retrograde.games.contract.fields.ways import Way, rays, shifts, steps
from retrograde.games.contract.game import POSITION_BITS

if TYPE_CHECKING:
    from retrograde.games.contract.drawing import Board

EMPTY = "."
STEP = 10
"""Bits of a set that one look into a table of cells covers."""
MOST_CELLS = 64
"""Sets of cells are ints, which have 64 bits in compiled code. There the highest one is the sign of the int."""
LOOPS = {"having": "set", "empty": "free", "occupied": "filled"}
"""The methods that yield cells, and the methods that return the same cells as bits."""


class Piece(NamedTuple):
    """A part of a plane that is in one word: *size* cells from *first* on, in the word *word_index* from *bit* on."""

    word_index: int
    bit: int
    first: int
    size: int


class Cells(Field):
    """A sign on each cell of a board, or none. Each sign has a plane of bits, the first sign lowest.

    *board* is a `Board`, or the names of cells in a row, or their number. Signs come with their looks: `X="cross"`. In
    methods a sign is its number, 1 for the first; `cells.X` is the number of X. An empty cell has 0.

    *symmetries* are permutations of the cells that change no value: "all" of the board, its "mirror" from left to
    right, those that keep the "start", or permutations. *exchanges* change no value either if, besides, the first two
    signs are exchanged and the turn is passed. List every one, also what two of them make together. Board, symmetries
    and exchanges may depend on options: then each is a function of the game.

    A board with many signs may be *packed*: two bits a cell for three signs, three bits for up to seven, four for up to
    fifteen. Its methods take somewhat longer.
    """

    def __init__(
        self,
        board: "Board | int | tuple[str, ...] | Callable[[Any], Board | int]",
        symmetries: Any = (),
        exchanges: Any = (),
        packed: bool = False,
        **looks: str,
    ):
        self.declared_board, self.symmetries, self.exchanges, self.packed = board, symmetries, exchanges, packed
        if strange := [sign for sign in looks if len(sign) > 1 or not sign.isalnum()]:
            raise ValueError(f"Cells has no argument {strange[0]!r}; signs are single letters, as in X='cross'")
        if not looks:
            raise ValueError("Cells needs a sign or several, each with its look, as in Cells(9, X='cross', O='ring')")
        self.looks, self.signs = looks, "".join(looks)
        for number, sign in enumerate(looks, 1):
            setattr(self, sign, number)

    board: "Board"
    size: int
    """The number of cells."""

    def sized_for(self, game: Any) -> "Cells":
        """Return a copy for a game, with its board, and the numbers of cells, rows and bits. Raise ValueError if they
        are too many."""
        found: Cells = super().sized_for(game)
        board = self.board_of(game, self.declared_board) if callable(self.declared_board) else self.declared_board
        if isinstance(board, int) and board > MOST_CELLS:
            raise ValueError(wrong_count(self.name, board))
        if isinstance(board, int | tuple):
            board = row_of(tuple(map(str, range(board))) if isinstance(board, int) else board)
        if not hasattr(board, "places"):
            raise ValueError(f"{self.name} has a board, names of cells, or their number, and not {board!r:.60}")
        if not 1 <= board.count <= MOST_CELLS:
            raise ValueError(wrong_count(self.name, board.count))
        found.board = dataclasses.replace(board, pieces={**board.pieces, **self.looks})
        found.size, found.rows = board.count, len(board.rows)
        found.width = found.size * self.count_of_planes
        return found

    def board_of(self, game: Any, build: "Callable[[Any], Board | int]") -> "Board | int":
        """Return the board that a function makes for a game; raise ValueError if options are too large to make one."""
        options = {option.name: getattr(game, option.name) for option in dataclasses.fields(game)}
        absurd = {name: MOST_CELLS + 1 for name, value in options.items() if is_more_than_cells(value)}
        if absurd:  # do not make a board of a million cells only to count them: first try a smaller one
            smaller = object.__new__(type(game))
            vars(smaller).update(options | absurd)
            board = build(smaller)
            count = board if isinstance(board, int) else getattr(board, "count", 0)
            if count > MOST_CELLS:
                raise ValueError(f"{self.name} has more than {MOST_CELLS} cells, and must have from 1 to {MOST_CELLS}")
        return build(game)

    @property
    def count_of_planes(self) -> int:
        """The number of planes: one for each sign, or, packed, one for each bit of a sign's number."""
        return len(self.signs).bit_length() if self.packed else len(self.signs)

    @property
    def has_parts(self) -> bool:
        """Whether its formulas are made from planes."""
        return self.packed or self.is_spread

    def take_bits(self, word_index: int, bit: int) -> tuple[int, int]:
        """Take bits for all planes: in one word if they fit, else each plane by itself. Return the next free
        (word, bit)."""
        if not self.is_spread:
            word_index, end = super().take_bits(word_index, bit)
            self.planes = [[Piece(word_index, low, 0, self.size)] for low in range(self.first_bit, end, self.size)]
            return word_index, end
        self.planes = [[] for _ in range(self.count_of_planes)]
        for first in range(0, self.size, POSITION_BITS):
            size = min(POSITION_BITS, self.size - first)
            for plane in self.planes:
                if bit + size > POSITION_BITS:
                    word_index, bit = word_index + 1, 0
                plane.append(Piece(word_index, bit, first, size))
                bit += size
        return word_index, bit

    planes: list[list[Piece]]
    """Where the cells of each plane are."""

    def masks(self) -> dict[int, int]:
        """Return the bits that the field takes, by index of the word."""
        found: dict[int, int] = {}
        for word_index, bit, _, size in chain(*self.planes):
            found[word_index] = found.get(word_index, 0) | ((1 << size) - 1) << bit
        return found

    def prepare_formulas(self, fields: Mapping[str, Field]) -> None:
        """Compute the expressions and numbers that formulas use; *fields* are all fields of the game."""
        self.kinds = len(self.signs)
        self.full = (1 << self.size) - 1
        if self.has_parts:
            self.prepare_planes()
            return
        self.number = f"({self.word} & {self.masks()[self.word_index]}).bit_count()"
        bits = range(self.first_bit, self.first_bit + self.width, self.size)  # the lowest bit of each plane
        self.base = self.first_bit - self.size
        """The lowest bit that a plane before the first one would have."""
        self.each = sum(1 << bit for bit in bits)
        """The first cell in all planes; shifted, any cell."""
        self.in_any = " | ".join(f"{self.word} >> {bit}" for bit in bits)
        self.in_all = " | ".join(f"cells << {bit}" for bit in bits)
        self.number_of = " + ".join(
            f"{number} * ({self.word} >> {bit} + cell & 1)" for number, bit in enumerate(bits, 1)
        )
        self.states = {0: 0} | {1 << bit: number for number, bit in enumerate(bits, 1)}
        self.first = self.full << self.first_bit
        """The bits of the first plane; `pair` has those of the first two."""
        self.pair = self.first | self.first << self.size

    # Cells of several words, or packed

    def prepare_planes(self) -> None:
        """Compute the expressions that follow from planes. They say which cells have the sign `sign`, the number of a
        cell's sign, in which planes a sign is, and what the planes are after the first two signs are exchanged."""
        sets = self.sets = [self.all_cells_of(plane) for plane in self.planes]
        self.in_any = " | ".join(sets)
        if self.packed:
            self.prepare_packed(sets)
            return
        counts = [f"({word_of(self.words, index)} & {mask}).bit_count()" for index, mask in self.masks().items()]
        self.number = f"({' + '.join(counts)})"
        self.number_of = " + ".join(f"{number} * ({cells} >> cell & 1)" for number, cells in enumerate(sets, 1))
        chosen = [f"{cells} if sign == {number} else " for number, cells in enumerate(sets[:-1], 1)]
        self.chosen = f"({''.join(chosen)}{sets[-1]})"
        self.is_in = [f"sign == {number}" for number in range(1, self.kinds + 1)]
        self.exchanged = [*sets[1::-1], *sets[2:]]

    def prepare_packed(self, sets: list[str]) -> None:
        """Compute what `prepare_planes` does, for packed cells; *sets* are expressions for the planes."""
        self.number = f"({self.in_any}).bit_count()"
        self.number_of = " | ".join(f"({cells} >> cell & 1) << {bit}" for bit, cells in enumerate(sets))
        self.is_in = [f"sign >> {bit} & 1" for bit in range(len(sets))]
        # A cell has the sign if it is in the sign's planes and in no others. So the others are inverted.
        as_in_sign = [f"({cells} ^ ({is_in}) - 1)" for cells, is_in in zip(sets, self.is_in, strict=True)]
        self.chosen = f"({' & '.join(as_in_sign)} & {self.full})"
        # Signs 1 and 2: their cells are in one of the first two planes, and in no other.
        first_two = " & ".join([f"({' ^ '.join(sets[:2])})", *(f"~{cells}" for cells in sets[2:])])
        self.exchanged = [f"{cells} ^ {first_two}" for cells in sets[:2]] + sets[2:]

    def all_cells_of(self, plane: list[Piece]) -> str:
        """Return an expression for the cells of a plane, as bits: cell 0 is the lowest bit."""
        parts = [f"({self.cells_between(plane, first, size)}) << {first}" for _, _, first, size in plane]
        return f"({' | '.join(parts)})"

    def cells_between(self, plane: list[Piece], first: int, count: int) -> str:
        """Return an expression for *count* cells of a plane from *first* on, as bits; one piece must have all."""
        word_index, bit, begin, _ = next(piece for piece in plane if first < piece.first + piece.size)
        return f"{word_of(self.words, word_index)} >> {bit + first - begin} & {(1 << count) - 1}"

    def changed_words(self, text: str) -> dict[int, str]:
        """Return an expression for each word that a method changes, by the word's index; *text* is its formula. In
        formulas for planes, `{own}` is the cells of one, `{is_in}` whether the sign `sign` is in it, `{chosen}` the
        cells with that sign, and `{exchanged}` the plane after the first two signs are exchanged."""
        if not self.has_parts:
            return super().changed_words(text)
        after = [
            text.format(own=own, is_in=is_in, chosen=self.chosen, exchanged=exchanged)
            for own, is_in, exchanged in zip(self.sets, self.is_in, self.exchanged, strict=True)
        ]
        found = {index: f"{word_of(self.words, index)} & {~mask}" for index, mask in self.masks().items()}
        for index, part in self.parts_of_words(after):
            found[index] += f" | {part}"
        return found

    def parts_of_words(self, sets: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield the parts of words that hold cells, as (index of the word, expression), from each sign's cells in
        *sets*."""
        for plane, cells in zip(self.planes, sets, strict=True):
            for word_index, bit, first, size in plane:
                piece = f"({cells})" if len(plane) == 1 else f"(({cells}) >> {first} & {(1 << size) - 1})"
                yield word_index, f"{piece} << {bit}"

    # Sets of cells, as bits

    @formula("{word} >> {size} * sign {base:+} & {full}", "{chosen}")
    def set(self, position: int, sign: int) -> int:
        """Return the cells with a sign, as bits."""

    @formula("({in_any}) & {full}", "{in_any}")
    def filled(self, position: int) -> int:
        """Return the cells that are not empty, as bits."""

    @formula("~({in_any}) & {full}")
    def free(self, position: int) -> int:
        """Return the cells that are empty, as bits."""

    @formula(
        "{word} & ~({full} << {size} * sign {base:+}) | cells << {size} * sign {base:+}",
        "{own} & ~{chosen} | cells if {is_in} else {own}",
        writes=True,
    )
    def with_set(self, position: int, sign: int, cells: int) -> int:
        """Return a position in which a sign is on these cells, as bits, and on no others."""

    @formula(
        "{word} & ~({in_all}) | cells << {size} * sign {base:+}",
        "cells | {own} if {is_in} else {own} & ~cells",
        writes=True,
    )
    def put_all(self, position: int, cells: int, sign: int) -> int:
        """Return a position with a sign on all these cells, as bits, whatever was there."""

    @formula("{word} & ~{pair} | ({word} & {first}) << {size} | {word} >> {size} & {first}", "{exchanged}", writes=True)
    def swapped(self, position: int) -> int:
        """Return a position with the first two signs exchanged."""

    # Loops: `for cell in cells.having(position, sign)`; compiled code takes one bit after the other

    def having(self, position: int, sign: int) -> Iterator[int]:
        """Yield the cells with a sign."""
        raise NotImplementedError

    def empty(self, position: int) -> Iterator[int]:
        """Yield the cells that are empty."""
        raise NotImplementedError

    def occupied(self, position: int) -> Iterator[int]:
        """Yield the cells that are not empty."""
        raise NotImplementedError

    # Counts

    @formula("{number}")
    def count(self, position: int) -> int:
        """Return how many cells are not empty."""

    @formula("({word} >> {size} * sign {base:+} & {full}).bit_count()", "{chosen}.bit_count()")
    def count_of(self, position: int, sign: int) -> int:
        """Return how many cells have a sign."""

    # One cell

    @formula("{number_of}")
    def get(self, position: int, cell: int) -> int:
        """Return the sign on a cell; 0 for none."""

    @formula("{word} >> {size} * sign {base:+} + cell & 1 == 1", "{chosen} >> cell & 1 == 1")
    def has(self, position: int, cell: int, sign: int) -> bool:
        """Return whether a sign is on a cell."""

    @formula("{word} >> cell & {each} == 0", "({in_any}) >> cell & 1 == 0")
    def is_empty(self, position: int, cell: int) -> bool:
        """Return whether a cell is empty."""

    @formula(
        "{word} & ~({each} << cell) | (1 << {size} * sign {base:+} + cell if sign else 0)",
        "{own} & ~(1 << cell) | ({is_in}) << cell",
        writes=True,
    )
    def put(self, position: int, cell: int, sign: int) -> int:
        """Return a position with a sign on a cell, whatever was there. The sign 0 empties the cell."""

    @formula("{word} | 1 << {size} * sign {base:+} + cell", "{own} | ({is_in}) << cell", writes=True)
    def add(self, position: int, cell: int, sign: int) -> int:
        """Return a position with a sign on a cell that is empty."""

    @formula("{word} & ~({each} << cell)", "{own} & ~(1 << cell)", writes=True)
    def remove(self, position: int, cell: int) -> int:
        """Return a position with nothing on a cell."""

    @formula(
        "{word} & ~({each} << start | {each} << goal) | ({word} >> start & {each}) << goal",
        "{own} & ~(1 << start | 1 << goal) | ({own} >> start & 1) << goal",
        writes=True,
    )
    def go(self, position: int, start: int, goal: int) -> int:
        """Return a position in which what is on one cell has gone to another; what was there is gone."""

    def sources(self, quick: bool) -> dict[str, str]:
        """Return the methods as texts of lambdas, by name, with those over planes in several words."""
        found = super().sources(quick)
        if self.kinds < 2:
            del found["swapped"]
        if quick:
            for loop, bits in LOOPS.items():
                expression = found[bits].partition(": ")[2]
                found[loop] = lambda_of(getattr(Cells, loop), cells_of(expression, self.size))
        return found

    def bounds(self, method: str) -> dict[str, tuple[int, int]]:
        """Return the least and the greatest value of each argument of a method."""
        cells = (0, self.size - 1)
        signs = (0 if method == "put" else 1, self.kinds)
        return {"cell": cells, "start": cells, "goal": cells, "sign": signs, "cells": (0, self.full)}

    def refusal(self, method: str, *arguments: Any) -> str:
        """Return what is wrong with arguments that are within their bounds; "" if nothing is."""
        if method == "add" and not self.is_empty(*arguments[:2]):
            return f"cell {arguments[1]} is not empty; put() replaces what is there"
        return ""

    # Texts

    def text(self, position: int) -> str:
        return "/".join(self.board.in_rows(self.sign_text(position)))

    def sign_text(self, position: int) -> str:
        """Return the sign of each cell, a dot for an empty one."""
        return "".join((EMPTY + self.signs)[self.get(position, cell)] for cell in range(self.size))

    def parsed(self, position: int, text: str) -> int:
        """Return the position with the signs of a text on the cells; raise ValueError for a wrong text."""
        rows = text.split("/")
        signs = EMPTY + self.signs
        if tuple(map(len, rows)) != self.board.rows or set("".join(rows)) - set(signs):
            raise ValueError(f"{self.name} are {len(self.board.rows)} rows of signs of {signs}, separated by /")
        for cell, sign in enumerate("".join(rows)):
            position = self.put(position, cell, signs.index(sign))
        return position

    # Tables

    def bits_of(self, sets: "Iterable[Sequence[int]]") -> tuple[int, ...]:
        """Return sets of cells as bits, such as the lines of a board."""
        return tuple(sum(1 << cell for cell in cells) for cells in sets)

    def steps(self, *ways: Way) -> tuple[tuple[int, ...], ...]:
        """Return for each cell the cell to which each way, (right, down), leads; -1 beyond the board."""
        return steps(self.board, *ways)

    def rays(self, *ways: Way) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Return for each cell and each way, (right, down), the cells that lie there, nearest first, and then -1."""
        return rays(self.board, *ways)

    def shifts(self, *ways: Way) -> tuple[tuple[int, int, int], ...]:
        """Return for each way, (right, down), how it moves sets of cells: as `bits << left >> right & reached`."""
        return shifts(self.board, *ways)


def is_more_than_cells(value: object) -> bool:
    """Return whether the value of an option is an int that no board of MOST_CELLS can have as its width."""
    return isinstance(value, int) and value > MOST_CELLS + 1


def wrong_count(name: str, count: int) -> str:
    """Return what is wrong with a number of cells that is not from 1 to MOST_CELLS."""
    return f"{name} has {count} cells, and must have from 1 to {MOST_CELLS}"


def row_of(names: tuple[str, ...]) -> "Board":
    """Return a board of cells in a row with some names."""
    from retrograde.games.contract.drawing import grid  # rules that only declare other fields draw nothing

    return grid(len(names), 1, across=names, down=[""])


def cells_of(bits: str, size: int) -> str:
    """Return an expression for the cells of a set, as a tuple; *bits* is an expression for the set."""
    steps = [(first, min(STEP, size - first)) for first in range(0, size, STEP)]
    names = [table_of_cells(first, count) for first, count in steps]
    if len(steps) == 1:
        return f"{names[0]}[{bits}]"
    # The first part computes the set, under the name `bits`; the others use that.
    parts = [f"{name}[bits >> {low} & {(1 << count) - 1}]" for name, (low, count) in zip(names, steps, strict=True)]
    return " + ".join([f"{names[0]}[(bits := {bits}) & {(1 << STEP) - 1}]", *parts[1:]])


def table_of_cells(first: int, count: int) -> str:
    """Return the name of a table from each set of *count* cells, from *first* on, to a tuple of its cells.

    >>> TABLES[table_of_cells(3, 2)]
    ((), (3,), (4,), (3, 4))
    """
    name = f"CELLS_{first}_{count}"
    if name not in TABLES:
        found: list[tuple[int, ...]] = [()]
        for cell in range(first, first + count):
            found += [(*cells, cell) for cells in found]
        TABLES[name] = tuple(found)
    return name
