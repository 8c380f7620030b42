"""PopOut: each slot of small boards against a slow solver that plays with strings."""

from itertools import product

import pytest

from retrograde.games import DRAW, LOSE, TIE, WIN
from retrograde.games.popout import PopOut
from retrograde.solver.engine import solve
from retrograde.solver.play.solution import open_solution


def after(columns, mover, height):
    """Yield the columns after each move; a column is a string of stones from the bottom up."""
    for at, column in enumerate(columns):
        others = columns[:at], columns[at + 1 :]
        if len(column) < height:
            yield (*others[0], column + mover, *others[1])
        if column.startswith(mover):
            yield (*others[0], column[1:], *others[1])


def rows_of(columns, connect):
    """Return the players who have a full row."""
    cells = {(x, y): stone for x, column in enumerate(columns) for y, stone in enumerate(column)}
    return {
        stone for (x, y), stone in cells.items() for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
        if all(cells.get((x + i * dx, y + i * dy)) == stone for i in range(connect))
    }  # fmt: skip


def solved_slowly(width, height, connect):
    """Return {(columns, player to move): (value, plies)} by looking at all positions until nothing is new."""
    every = ["".join(stones) for length in range(height + 1) for stones in product("XO", repeat=length)]
    found, children = {}, {}
    for columns in product(every, repeat=width):
        for mover, other in ("XO", "OX"):
            full, moves = rows_of(columns, connect), [(each, other) for each in after(columns, mover, height)]
            if full or not moves:
                found[columns, mover] = (LOSE if other in full else WIN if full else TIE), 0
            else:
                children[columns, mover] = moves
    plies, fresh = 0, True
    while fresh or plies < 2:
        plies, fresh = plies + 1, {}
        for position, moves in children.items():
            known = [found[move] for move in moves if move in found]
            if any(value == LOSE for value, _ in known):
                fresh[position] = WIN, plies
            elif len(known) == len(moves) and all(value == WIN for value, _ in known):
                fresh[position] = LOSE, plies
        found |= fresh
        children = {position: moves for position, moves in children.items() if position not in fresh}
    return found, children


@pytest.mark.parametrize(
    "size", [(2, 2, 2), (2, 4, 3), *(pytest.param(size, marks=pytest.mark.thorough) for size in ((3, 3, 3), (4, 3, 3)))]
)
def test_popout_is_what_a_slow_solver_finds(size, tmp_path):
    width, height, _ = size
    game = PopOut(*size)
    found, endless = solved_slowly(*size)
    with open_solution(solve(game, tmp_path / "popout.h5"), game=game) as solution:
        assert solution.database.file.positions == len(found) + len(endless) == 2 * (2 ** (height + 1) - 1) ** width
        for (columns, mover), (value, plies) in found.items():
            position = game.read(text_of(columns, mover, height))
            assert solution.value(position) == (value, plies), game.write(position)
        for columns, mover in endless:
            assert solution.value(game.read(text_of(columns, mover, height)))[0] in (DRAW, TIE)


def text_of(columns, mover, height):
    rows = ["".join(column[row] if row < len(column) else "." for column in columns) for row in range(height)]
    return "/".join([*reversed(rows), mover])


def test_both_have_a_row_and_the_mover_wins():
    game = PopOut(4, 4)
    position = game.read("X.../OXXX/OXXX/XOOO/X")
    after_it = game.do_move(position, game.move(position, "pop1"))
    assert game.write(after_it) == "..../XXXX/OXXX/OOOO/O" and game.primitive(after_it) == LOSE
    assert [game.move_name(position, move) for move in game.generate_moves(position)] == ["pop1", "2", "3", "4"]
