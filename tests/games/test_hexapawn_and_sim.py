"""Hexapawn and Sim: their values are those of slow solvers without fields, and those that others have found."""

from functools import cache
from itertools import combinations
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, UNDECIDED, WIN
from retrograde.games.hexapawn import Hexapawn
from retrograde.games.sim import EDGES, Sim
from retrograde.solver import open_solution, solve
from retrograde.solver.verification.verify import verify

pytestmark = pytest.mark.long


def advances(rows, mover):
    """Yield the boards after a move of hexapawn; a board is a tuple of strings, and X goes up."""
    other, ahead = ("O", -1) if mover == "X" else ("X", 1)
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            for right in (-1, 0, 1) if sign == mover and 0 <= y + ahead < len(rows) else ():
                to = x + right
                if 0 <= to < len(row) and rows[y + ahead][to] == (other if right else "."):
                    board = [list(line) for line in rows]
                    board[y][x], board[y + ahead][to] = ".", mover
                    yield tuple(map("".join, board))


@cache
def worth(rows, mover):
    """Return (whether the player to move wins, in how many plies) in hexapawn."""
    other = "O" if mover == "X" else "X"
    if other in rows[0 if other == "X" else -1]:
        return False, 0
    found = [worth(board, other) for board in advances(rows, mover)]
    wins = [plies for won, plies in found if not won]
    return (True, 1 + min(wins)) if wins else (False, max((1 + plies for _, plies in found), default=0))


SIZES = [(1, 3), (2, 3), (3, 3), (3, 4), (2, 5), (4, 3), (1, 32), (2, 16)]
"""The last two take two words."""


@pytest.mark.parametrize(
    ("width", "height", "method"),
    [
        *((*size, None) for size in SIZES if size != (2, 16)),
        *(pytest.param(2, 16, method, marks=pytest.mark.thorough) for method in (None, "listed")),
    ],
)
def test_hexapawn_is_what_a_slow_solver_finds(width, height, method, tmp_path):
    worth.cache_clear()
    game = Hexapawn(width, height)
    start = ("O" * width, *["." * width] * (height - 2), "X" * width)
    worth(start, "X")
    first = worth(start, "X")
    with open_solution(solve(game, tmp_path / "hexapawn.h5", method=method), game=game) as solution:
        assert solution.value(game.start) == (WIN if first[0] else LOSE, first[1])
        seen = {game.start}
        left = [game.start]
        while left:
            position = left.pop()
            *rows, mover = game.write(position).split("/")
            won, plies = worth(tuple(rows), mover)
            assert solution.value(position) == (WIN if won else LOSE, plies)
            moves = game.generate_moves(position) if game.primitive(position) == UNDECIDED else ()
            new = {game.do_move(position, move) for move in moves} - seen
            seen |= new
            left += new


def test_the_second_player_wins_hexapawn_as_gardner_says():
    """M. Gardner, Scientific American, March 1962: the second player wins on three by three cells."""
    assert worth(("OOO", "...", "XXX"), "X")[0] is False


@pytest.mark.thorough
def test_hexapawn_on_four_by_five(tmp_path):
    with open_database(solve(Hexapawn(4, 5), tmp_path / "hexapawn.h5")) as database:
        assert sum(row.positions for row in database.file.legend) == 118_133
        assert database.file.start_outcome[:2] == (LOSE, 16)


@pytest.mark.thorough
def test_hexapawn_on_four_by_eight_takes_two_words_and_is_solved(tmp_path):
    game, chance = Hexapawn(4, 8), Random(0)
    worth.cache_clear()
    with open_solution(solve(game, tmp_path / "hexapawn.h5"), game=game) as solution:
        database = solution.database
        assert sum(row.positions for row in database.file.legend) == 3_251_159
        assert database.file.start_outcome[:2] == (WIN, 31)
        assert verify(database).ok
        for _ in range(50):
            position = game.start
            for _ in range(22):
                if game.primitive(position) == UNDECIDED:
                    position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
            *rows, mover = game.write(position).split("/")
            won, plies = worth(tuple(rows), mover)
            assert solution.value(position) == (WIN if won else LOSE, plies)


@cache
def sim_worth(red, blue):
    """Return (whether the player to move wins, in how many plies) in Sim; edges are frozensets of texts."""
    mover, other = (red, blue) if len(red) == len(blue) else (blue, red)
    for dots in combinations("abcdef", 3):
        if {a + b for a, b in combinations(dots, 2)} <= other:
            return True, 0
    found = []
    for edge in {*EDGES} - mover - other:
        more = mover | {edge}
        found.append(sim_worth(more, blue) if mover is red else sim_worth(red, more))
    wins = [plies for won, plies in found if not won]
    return (True, 1 + min(wins)) if wins else (False, 1 + max(plies for _, plies in found))


@pytest.fixture(scope="module")
def sim(tmp_path_factory):
    return solve(Sim(), tmp_path_factory.mktemp("sim") / "sim.h5")


@pytest.mark.thorough
def test_sim_is_won_by_the_second_player(sim):
    """E. Mead, A. Rosa and C. Huang, The game of Sim: a winning strategy for the second player, 1974."""
    with open_database(sim) as database:
        assert sum(row.positions for row in database.file.legend) == 2_230_702
        assert database.file.start_outcome[:2] == (LOSE, 15)


@pytest.mark.thorough
def test_sim_is_what_a_slow_solver_finds(sim):
    game, chance = Sim(), Random(0)
    with open_solution(sim, game=game) as solution:
        for _ in range(60):
            position = game.start
            while game.edges.count(position) < 8 and game.primitive(position) == UNDECIDED:
                position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
            signs = game.write(position)
            red, blue = (frozenset(edge for edge, on in zip(EDGES, signs, strict=True) if on == sign) for sign in "RB")
            won, plies = sim_worth(red, blue)
            assert solution.value(position) == (WIN if won else LOSE, plies)
