"""The files that `retrograde new` writes: the rules of a complete small game, for users to change, and their test. With
`--like` the rules are a copy of a built-in game.

`$name` stands for the name of the file, `$game` for that of the class.
"""

HEAP = '''\
"""$game: say here what the game is, and how a position is encoded as a number.

A position is the number of stones that are left on the heap.
"""

from retrograde.games import LOSE, UNDECIDED, Game


class $game(Game):
    """Two players take stones from a heap in turn; the player who takes the last one wins."""

    # Options, which users set on the command line: $name.py:stones=30

    stones: int = 20
    most: int = 3

    def __post_init__(self):
        if min(self.stones, self.most) < 1:
            raise ValueError("stones and most must be at least 1")

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    @property
    def start(self):
        return self.stones

    def generate_moves(self, left):
        """Yield the legal moves; each move is a small int."""
        yield from range(1, min(self.most, left) + 1)

    def do_move(self, left, taken):
        """Return the position after a move. The other player moves next."""
        return left - taken

    def primitive(self, left):
        """If the game is over, return WIN, LOSE or TIE for the player to move; otherwise return UNDECIDED."""
        return LOSE if left == 0 else UNDECIDED

    def tier(self, left):
        """Return a number that no move decreases. With tiers the game is solved part by part, in less memory."""
        return self.stones - left

    # Texts for people

    def show(self, left):
        return " ".join("o" * left) or "no stones"

    def ending(self, left):
        return "no stones are left"
'''

HEAP_TEST = '''\
"""$game: the rules keep the contract, and small heaps have the values that one can find by hand."""

from pathlib import Path

from retrograde.games import LOSE, WIN
from retrograde.games.catalog import load_game
from retrograde.solver import check, open_solution, solve

RULES = Path(__file__).with_name("$name.py")


def test_the_rules_keep_the_contract():
    report = check(load_game(str(RULES)))
    assert report.ok, str(report)


def test_a_multiple_of_four_stones_is_a_loss(tmp_path):
    game = load_game(f"{RULES}:stones=9,most=3")
    with open_solution(solve(game, tmp_path / "heap.h5"), game=game) as solution:
        assert solution.value(9) == (WIN, 5)
        assert solution.value(8) == (LOSE, 4)
        assert [choice.name for choice in solution.moves(9) if choice.value == LOSE] == ["1"]
'''

COPY_TEST = '''\
"""$game: the rules keep the contract, and positions are read as they are written."""

from pathlib import Path

from retrograde.games.catalog import load_game
from retrograde.solver import check

RULES = Path(__file__).with_name("$name.py")


def test_the_rules_keep_the_contract():
    report = check(load_game(str(RULES)))
    assert report.ok, str(report)


def test_the_start_is_read_as_it_is_written():
    game = load_game(str(RULES))
    assert game.read(game.write(game.start)) == game.start
'''

BOARD = '''\
"""$game: say here what the game is."""

from functools import cached_property

from retrograde.games import LOSE, UNDECIDED, Cells, Game, Turn
from retrograde.games.contract.drawing import grid


class $game(Game):
    """Two players claim cells in turn, never next to one of their own; a player who cannot move loses."""

    words = {"X": "Red", "O": "Blue"}

    # What a position is: a sign on each cell, or none. The number of filled cells shows whose turn it is

    cells = Cells(lambda game: grid(game.width, game.height), symmetries="all", X="crimson disc", O="royalblue disc")
    mover = Turn("XO", by="cells")

    # Options, which users set on the command line: $name.py:width=4

    width: int = 3
    height: int = 3

    @cached_property
    def beside(self):
        """For each cell, its neighbours as bits."""
        steps = self.cells.steps((1, 0), (-1, 0), (0, 1), (0, -1))
        return self.cells.bits_of([cell for cell in cells if cell >= 0] for cells in steps)

    # The rules. They are compiled: use ints, tuples and loops here, and no strings

    def generate_moves(self, position):
        """Yield the legal moves; each move is a small int, here a cell."""
        own = self.cells.set(position, self.mover.sign(position))
        for cell in self.cells.empty(position):
            if not own & self.beside[cell]:
                yield cell

    def do_move(self, position, cell):
        """Return the position after a move. The other player moves next."""
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        """If the game is over, return WIN, LOSE or TIE for the player to move; otherwise return UNDECIDED."""
        for _ in self.generate_moves(position):
            return UNDECIDED
        return LOSE

    def tier(self, position):
        """Return a number that no move decreases. With tiers the game is solved part by part, in less memory."""
        return self.cells.count(position)

    # For people. Texts, names of moves and pictures follow from the fields

    def ending(self, position):
        return "no cell can be claimed"
'''

BOARD_TEST = '''\
"""$game: the rules keep the contract, and small boards have the values that one can find by hand."""

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
    """One cell: X claims it. Two: each claims one. Three: X claims one, then O one that leaves X no cell."""
    game = load_game(f"{RULES}:width={width},height=1")
    with open_solution(solve(game, tmp_path / "row.h5"), game=game) as solution:
        assert solution.value(game.start) == worth


def test_positions_are_read_as_they_are_written():
    game = load_game(str(RULES))
    position = game.read("X../.O./...")
    assert game.write(position) == "X../.O./..."
    assert game.move_name(position, 2) == "c1"
    assert 1 not in game.generate_moves(position)  # it is next to a cell of X
'''
