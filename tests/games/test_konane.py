"""Konane against a slow and obvious version of its rules."""

import pytest

from retrograde.games import LOSE, WIN
from retrograde.games.konane import Konane
from retrograde.solver.engine import solve
from retrograde.solver.metrics.partizan import PartizanGame
from retrograde.solver.play.solution import open_solution
from retrograde.solver.values.partizan import Values


def after(board, mover, width, height):
    """Yield the boards after each move; a board maps (column, row) to a stone."""
    other = "XO"["OX".index(mover)]
    empty = [(x, y) for x in range(width) for y in range(height) if (x, y) not in board]
    for (x, y), stone in board.items():
        if stone != mover:
            continue
        if not empty:
            middle = x in ((width - 1) // 2, width // 2) and y in ((height - 1) // 2, height // 2)
            if middle or (x in (0, width - 1) and y in (0, height - 1)):
                yield without(board, (x, y))
        elif len(empty) == 1:
            if abs(x - empty[0][0]) + abs(y - empty[0][1]) == 1:
                yield without(board, (x, y))
        else:
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                now, at = board, (x, y)
                while True:
                    over, goal = (at[0] + dx, at[1] + dy), (at[0] + 2 * dx, at[1] + 2 * dy)
                    if now.get(over) != other or goal not in empty:
                        break
                    now, at = {**without(now, at, over), goal: mover}, goal
                    yield now


def without(board, *cells):
    return {cell: stone for cell, stone in board.items() if cell not in cells}


def solved_slowly(width, height):
    """Return {text: (value, plies)} of all positions that can be reached."""
    found = {}

    def outcome(board, mover):
        rows = ["".join(board.get((x, y), ".") for x in range(width)) for y in range(height)]
        text = "/".join([*rows, mover])
        if text not in found:
            children = [outcome(child, "XO"["OX".index(mover)]) for child in after(board, mover, width, height)]
            lost = [plies for value, plies in children if value == LOSE]
            found[text] = (WIN, 1 + min(lost)) if lost else (LOSE, 1 + max((n for _, n in children), default=-1))
        return found[text]

    outcome({(x, y): "XO"[(x + y) % 2] for x in range(width) for y in range(height)}, "X")
    return found


@pytest.mark.parametrize(
    "size", [*(pytest.param(size, marks=pytest.mark.thorough) for size in ((4, 4), (5, 3))), (3, 4), (6, 2), (7, 1)]
)
def test_konane_is_what_a_slow_solver_finds(size, tmp_path):
    game, found = Konane(*size), solved_slowly(*size)
    with open_solution(solve(game, tmp_path / "konane.h5"), game=game) as solution:
        assert solution.database.file.positions == len(found)
        for text, outcome in found.items():
            assert solution.value(game.read(text)) == outcome, text


def value_of(text):
    values, game = Values(), Konane(len(text), 1)
    return values.name(PartizanGame(game, values).value(game.read(f"{text}/X")))


def test_rows_have_values_of_their_own():
    """By hand. In the last but one, a second jump is worth nothing: after the first, each side can jump once."""
    assert [value_of(text) for text in ("XO..", "..XO", ".OX.", "XO.O.", "X.O..")] == ["1", "-1", "*", "1", "0"]
