"""Men that step: moves, and the positions before them, of a small game are those of rules on rows of letters."""

import pytest

from retrograde.games import Cells, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.stepping import Stepping
from tests.helpers.reference import explore


class Racers(Stepping):
    """Go ahead, or to the right as X and to the left as O, also onto a man of the opponent."""

    cells = Cells(grid(3, 3), X="black disc", O="white disc")
    mover = Turn("XO")
    ways = ((0, -1), (1, 0)), ((0, 1), (-1, 0))
    start = "O.O/.../X.X/X"

    def allows(self, position, way, goal):
        return goal >= 0 and not self.cells.has(position, goal, self.mover.sign(position))

    def tier(self, position):
        return 4 - self.cells.count(position)


def after(text):
    """Return the texts of the positions after each move."""
    *rows, mover = text.split("/")
    ahead, aside, other = (-1, 1, "O") if mover == "X" else (1, -1, "X")
    found = []
    for y, x in ((y, x) for y in range(3) for x in range(3) if rows[y][x] == mover):
        for row, column in ((y + ahead, x), (y, x + aside)):
            if 0 <= row < 3 and 0 <= column < 3 and rows[row][column] != mover:
                board = [list(line) for line in rows]
                board[y][x], board[row][column] = ".", mover
                found.append("/".join([*map("".join, board), other]))
    return found


@pytest.fixture(scope="module")
def children():
    return explore(Racers())


def test_moves_are_those_on_rows_of_letters(children):
    game = Racers()
    assert len(children) == 256
    for position, found in children.items():
        assert [game.write(child) for child in found] == after(game.write(position))


def test_steps_back_are_the_steps_to_an_empty_cell_that_lead_here(children):
    game, before = Racers(), {}
    for position, found in children.items():
        for child in found:
            if game.tier(child) == game.tier(position):
                before.setdefault(child, set()).add(position)
    for position in children:
        back = [*game.before_steps(position)]
        assert len(back) == len({*back}) and before.get(position, set()) == {*back} & children.keys()
        assert all(position in map(game.read, after(game.write(one))) for one in back)


def test_a_move_is_drawn_from_cell_to_cell():
    game = Racers()
    names = [game.move_name(game.start, move) for move in game.generate_moves(game.start)]
    assert names == ["a3-a2", "a3-b3", "c3-c2"]
