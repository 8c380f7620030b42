"""The tests that `retrograde new` writes: of the skeletons `heap` and `board`, and of all other games.

`$name` stands for the name of the file, `$game` for that of the class.
"""

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

TESTS = {"heap": HEAP_TEST, "board": BOARD_TEST}
"""By kind of game; all others have COPY_TEST."""
