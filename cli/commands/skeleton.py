"""The files that `retrograde new` writes: rules of a complete small game for users to change, and their test.

`$name` stands for the name of the file, `$game` for that of the class.
"""

HEAP = '''\
"""$game: say here what the game is, and how its positions are coded.

A position is the number of stones that are left.
"""

from retrograde.games import LOSE, UNDECIDED, Game


class $game(Game):
    """Take some stones from a heap by turns; the player who takes the last one wins."""

    # Options: what people may choose, as in $name.py:stones=30

    stones: int = 20
    most: int = 3

    def __post_init__(self):
        if min(self.stones, self.most) < 1:
            raise ValueError("stones and most must be at least 1")

    # The rules: these are compiled, so they know whole numbers, tuples and loops, and no text

    @property
    def start(self):
        return self.stones

    def generate_moves(self, left):
        """Yield the legal moves, small numbers."""
        yield from range(1, min(self.most, left) + 1)

    def do_move(self, left, taken):
        """Return the position after a move; the other player is to move there."""
        return left - taken

    def primitive(self, left):
        """Return WIN, LOSE or TIE where the game is over, for the player to move; else UNDECIDED."""
        return LOSE if left == 0 else UNDECIDED

    def tier(self, left):
        """Return a number that never falls along a move: a game in parts is solved with less memory."""
        return self.stones - left

    # For people

    def show(self, left):
        return " ".join("o" * left) or "no stones"

    def ending(self, left):
        return "no stones are left"
'''

HEAP_TEST = '''\
"""$game: its rules keep the contract, and small heaps are worth what can be counted by hand."""

from pathlib import Path

from retrograde.games import LOSE, WIN
from retrograde.games.catalog import load_game
from retrograde.solver import check, open_solution, solve

RULES = Path(__file__).with_name("$name.py")


def test_the_rules_keep_the_contract():
    report = check(load_game(str(RULES)))
    assert report.ok, str(report)


def test_whoever_is_left_a_multiple_of_four_has_lost(tmp_path):
    game = load_game(f"{RULES}:stones=9,most=3")
    with open_solution(solve(game, tmp_path / "heap.h5"), game=game) as solution:
        assert solution.value(9) == (WIN, 5)
        assert solution.value(8) == (LOSE, 4)
        assert [choice.name for choice in solution.moves(9) if choice.value == LOSE] == ["1"]
'''

BOARD = '''\
"""$game: say here what the game is, and how its positions are coded.

A position has a bit for each cell that X has claimed, row by row from the top left, then one for each cell of O::

    0 1 2
    3 4 5     X in cell c is bit c, O in cell c is bit 9 + c
    6 7 8
"""

from functools import cached_property

from retrograde.games import LOSE, UNDECIDED, Game
from retrograde.games.contract.drawing import grid


class $game(Game):
    """Claim cells by turns, never beside one of your own; whoever cannot has lost."""

    words = {"X": "Red", "O": "Blue"}
    bits = "XO"  # what the bits of a position stand for, in this order
    by_turns = "XO"  # who puts down a piece by turns: so the pieces tell who is to move

    # Options: what people may choose, as in $name.py:width=4

    width: int = 3
    height: int = 3

    start = 0

    def __post_init__(self):
        if min(self.width, self.height) < 1 or 2 * self.cells > 62:
            raise ValueError("a board has from 1 to 31 cells")

    @property
    def cells(self):
        return self.width * self.height

    @cached_property
    def beside(self):
        """For each cell those beside it, as bits."""
        around = []
        for cell in range(self.cells):
            row, column = divmod(cell, self.width)
            there = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            inside = [(y, x) for y, x in there if 0 <= y < self.height and 0 <= x < self.width]
            around.append(sum(1 << self.width * y + x for y, x in inside))
        return tuple(around)

    # The rules: these are compiled, so they know whole numbers, tuples and loops, and no text

    def mover(self, position):
        return position.bit_count() & 1

    def generate_moves(self, position):
        """Yield the legal moves, small numbers: here cells."""
        filled = position | position >> self.cells
        own = position >> self.cells * self.mover(position)
        for cell in range(self.cells):
            if not filled >> cell & 1 and not own & self.beside[cell]:
                yield cell

    def do_move(self, position, cell):
        """Return the position after a move; the other player is to move there."""
        return position | 1 << cell + self.cells * self.mover(position)

    def primitive(self, position):
        """Return WIN, LOSE or TIE where the game is over, for the player to move; else UNDECIDED."""
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def tier(self, position):
        """Return a number that never falls along a move: a game in parts is solved with less memory."""
        return position.bit_count()

    def images(self, position):
        """Yield the positions that are the same by symmetry: here the board turned by half. One of them is solved."""
        turned = 0
        for cell in range(self.cells):
            turned |= (position >> cell & (1 | 1 << self.cells)) << self.cells - 1 - cell
        yield turned

    # For people: texts, names of moves and pictures follow from the board, and from what is said above of the bits

    @cached_property
    def board(self):
        return grid(self.width, self.height, {"X": "crimson disc", "O": "royalblue disc"})

    def ending(self, position):
        return "no cell can be claimed"
'''

BOARD_TEST = '''\
"""$game: its rules keep the contract, and small boards are worth what can be counted by hand."""

from pathlib import Path

import pytest

from retrograde.games import LOSE, WIN
from retrograde.games.catalog import load_game
from retrograde.solver import check, open_solution, solve

RULES = Path(__file__).with_name("$name.py")


def test_the_rules_keep_the_contract():
    report = check(load_game(str(RULES)))
    assert report.ok, str(report)


@pytest.mark.parametrize(("width", "worth"), [(1, (WIN, 1)), (2, (LOSE, 2)), (3, (LOSE, 2))])
def test_a_row_of_cells(width, worth, tmp_path):
    """One cell: X claims it. Two: each claims one. Three: X claims one, and O one after which X has none left."""
    game = load_game(f"{RULES}:width={width},height=1")
    with open_solution(solve(game, tmp_path / "row.h5"), game=game) as solution:
        assert solution.value(game.start) == worth


def test_positions_are_read_as_they_are_written():
    game = load_game(str(RULES))
    position = game.read("X../.O./...")
    assert game.write(position) == "X../.O./..."
    assert game.move_name(position, 2) == "c1"
    assert 1 not in game.generate_moves(position)  # it is beside a cell of X
'''
