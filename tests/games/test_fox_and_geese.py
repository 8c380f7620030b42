"""Fox and Geese: the rules are those of a slow version on a dict of points, the values those of a slow solver."""

from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from tests.helpers.reference import solve as solve_slowly

pytestmark = pytest.mark.long

STRAIGHT, SLANTED = ((1, 0), (-1, 0), (0, 1), (0, -1)), ((1, 1), (1, -1), (-1, 1), (-1, -1))


def spots(arm):
    """Return the points of the cross, row by row: (column, row), the centre (0, 0)."""
    side = range(-arm - 1, arm + 2)
    return [(x, y) for y in side for x in side if abs(x) < 2 or abs(y) < 2]


def directions(game, spot):
    return STRAIGHT + SLANTED if game.diagonals and sum(spot) % 2 == 0 else STRAIGHT


def leaps(game, board, fox):
    """Return the boards after one leap of the fox or more."""
    found = []
    for x, y in directions(game, fox):
        over, goal = (fox[0] + x, fox[1] + y), (fox[0] + 2 * x, fox[1] + 2 * y)
        if board.get(over) == "G" and board.get(goal) == ".":
            after = {**board, fox: ".", over: ".", goal: "F"}
            found += [after, *leaps(game, after, goal)]
    return found


def slow_rules(game, text):
    """Return how a position ends, and the texts of its children."""
    *rows, turn = text.split("/")
    board = dict(zip(spots(game.arm), "".join(rows), strict=True))
    if turn == "G" and [*board.values()].count("G") < 4:
        return LOSE, set()
    men = [spot for spot, sign in board.items() if sign == turn]
    children = leaps(game, board, men[0]) if turn == "F" else []
    for man in men:
        for x, y in directions(game, man):
            goal = man[0] + x, man[1] + y
            if board.get(goal) == "." and (turn == "F" or game.retreat or y >= 0):
                children.append({**board, man: ".", goal: turn})
    lengths = [len(row) for row in rows]
    texts = set()
    for child in children:
        signs = iter(child.values())
        texts.add("/".join(["".join(next(signs) for _ in range(length)) for length in lengths] + ["GF"[turn == "G"]]))
    return (UNDECIDED if children else LOSE), texts


def compare_rules(game, position):
    """Compare the end and the children of a position with those of the slow rules."""
    end, texts = slow_rules(game, game.write(position))
    assert game.primitive(position) == end, game.write(position)
    moves = list(game.generate_moves(position)) if end == UNDECIDED else []
    assert {game.write(game.do_move(position, move)) for move in moves} == texts, game.write(position)
    assert len({game.move_name(position, move) for move in moves}) == len(moves)


@pytest.mark.parametrize("text", ["foxandgeese", "foxandgeese:8,1", "foxandgeese:9,2,yes,yes", "foxandgeese:7,1,yes"])
def test_the_rules_are_the_slow_ones_in_random_positions(text):
    game, chance = load_game(text), Random(0)
    compare_rules(game, game.start)
    for _ in range(400):
        men = chance.sample(range(game.cells), chance.randint(1, game.geese + 1))
        geese, fox = sum(1 << man for man in men[1:]), 1 << men[0]
        compare_rules(game, (chance.randint(0, 1), geese, fox))


def test_the_fox_leaps_as_often_as_it_likes():
    game = load_game("foxandgeese:6,1")
    position = game.read(".F./..G../...G./..G../.../F")
    names = {game.move_name(position, move) for move in game.generate_moves(position)}
    assert names == {"c5-b5", "c5-d5", "c5-c3", "c5-c3-e3", "c5-c3-c1"}


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["foxandgeese:4,1", "foxandgeese:4,1,yes,yes"])
def test_values_are_those_of_the_slow_solver(text, tmp_path):
    game = load_game(text)
    with open_database(solve(game, tmp_path / "game.h5"), game=game) as database:
        expected = solve_slowly(game)
        assert {position: tuple(database[position]) for position in expected} == expected
