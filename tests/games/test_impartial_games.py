"""Games with heaps, and Cram: against what is published of their nimbers and values, and against slow recursions."""

from math import sqrt

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE
from retrograde.games.catalog import load_game
from retrograde.games.kinds.heaps import added, packed, replaced, sizes_of, without
from retrograde.solver.engine import solve

ROWS = {
    # Guy and Smith, The G-values of various games (1956); Winning Ways, chapter 4; OEIS A002186, A002187, A002188
    "octal:code=.77,n=15": [0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6, 4, 1, 2, 7],
    "octal:code=.07,n=17": [0, 0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3, 2, 2, 4, 0, 5, 2],
    "octal:code=.6,n=14": [0, 0, 1, 2, 0, 1, 2, 3, 1, 2, 3, 4, 0, 3, 4],
    "grundy": [0, 0, 0, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 3, 2, 1, 3, 2, 4, 3, 0],
}
CRAM = {"cram:8,1": 1, "cram:3,2": 1, "cram:4,2": 0, "cram:3,3": 0, "cram": 1, "cram:5,3": 1}
MORE_CRAM = {"cram:6,3": 4, "cram:4,4": 0, "cram:5,4": 2}


def mex(numbers):
    return next(number for number in range(len(numbers) + 1) if number not in numbers)


def nimber_by_recursion(game, position, known):
    """Return a nimber by the definition, with the rules as they stand."""
    if position not in known:
        children = [game.do_move(position, move) for move in game.generate_moves(position)]
        known[position] = mex({nimber_by_recursion(game, child, known) for child in children})
    return known[position]


@pytest.mark.long
@pytest.mark.parametrize("text", ROWS)
def test_rows_have_the_nimbers_that_are_published(text, tmp_path):
    game, known = load_game(text), {}
    with open_database(solve(game, tmp_path / "game.h5")) as database:
        assert database.metric == "nimber"
        first = 0 if text != "grundy" else 3
        assert [database.measures(heap)["nimber"] for heap in range(first, game.n + 1)] == ROWS[text][first:]
        for _, positions, values, _ in database.records():
            for position, value in zip(positions.tolist(), values.tolist(), strict=True):
                nimber = database.measures(position)["nimber"]
                assert nimber == nimber_by_recursion(game, position, known)
                assert (value == 1) == (nimber == 0)
                if text != "grundy":
                    xor = 0
                    for heap in sizes_of(position):
                        xor ^= ROWS[text][heap]
                    assert nimber == xor


def test_lost_heaps_of_wythoff_are_multiples_of_the_golden_ratio(tmp_path):
    """W. A. Wythoff, A modification of the game of Nim, 1907."""
    game, known, golden = load_game("wythoff:13,13"), {}, (1 + sqrt(5)) / 2
    lost = {(int(number * golden), int(number * golden) + number) for number in range(6)}
    with open_database(solve(game, tmp_path / "game.h5")) as database:
        for first in range(14):
            for second in range(14):
                position = game.read(f"{first},{second}")
                nimber = database.measures(position)["nimber"]
                assert nimber == nimber_by_recursion(game, position, known)
                assert (nimber == 0) == ((min(first, second), max(first, second)) in lost)


def test_lost_heaps_of_subtract_a_square_are_as_published(tmp_path):
    """S. W. Golomb, A mathematical investigation of games of "take-away", 1966; OEIS A030193."""
    game, known = load_game("subtractsquare"), {}
    with open_database(solve(game, tmp_path / "game.h5")) as database:
        nimbers = [database.measures(heap)["nimber"] for heap in range(100)]
    assert nimbers == [nimber_by_recursion(game, heap, known) for heap in range(100)]
    lost = [0, 2, 5, 7, 10, 12, 15, 17, 20, 22, 34, 39, 44, 52, 57, 62, 65, 67, 72, 85, 95]
    assert [heap for heap, nimber in enumerate(nimbers) if nimber == 0] == lost


@pytest.mark.thorough
def test_the_second_player_wins_heaps_of_a_fibonacci_number(tmp_path):
    """M. J. Whinihan, Fibonacci Nim, 1963."""
    for heap in (2, 3, 4, 12, 13, 14, 20, 21, 22, 34):
        with open_database(solve(load_game(f"fibonaccinim:{heap}"), tmp_path / f"{heap}.h5")) as database:
            assert (database[database.game.start].value == LOSE) == (heap in (2, 3, 5, 8, 13, 21, 34))


def test_euclids_game_depends_on_the_golden_ratio(tmp_path):
    """A. J. Cole and A. J. T. Davie, A game based on the Euclidean algorithm, 1969."""
    for second in (30, 31, 40, 48, 49, 60):
        with open_database(solve(load_game(f"euclid:30,{second}"), tmp_path / f"{second}.h5")) as database:
            lost = 1 < second / 30 < (1 + sqrt(5)) / 2
            assert (database[database.game.start].value == LOSE) == lost


@pytest.mark.long
def test_heaps_of_nim_are_worth_their_xor(tmp_path):
    game = load_game("nim")
    with open_database(solve(game, tmp_path / "nim.h5")) as database:
        assert len(database) == 48
        for _, positions, _, _ in database.records():
            for position in positions.tolist():
                xor = 0
                for heap in sizes_of(position):
                    xor ^= heap
                assert database.measures(position) == {"nimber": xor}


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize("text", [*CRAM, *(pytest.param(text, marks=pytest.mark.slow) for text in MORE_CRAM)])
def test_boards_of_cram_have_the_nimbers_that_are_known(text, tmp_path):
    game = load_game(text)
    with open_database(solve(game, tmp_path / "cram.h5")) as database:
        nimber = database.measures(game.start)["nimber"]
        assert nimber == (CRAM | MORE_CRAM)[text]
        if game.cells <= 12:
            assert nimber == nimber_by_recursion(game, game.start, {})


def test_heaps_are_put_in_and_taken_out_in_order():
    assert sizes_of(packed([3, 7, 3])) == [7, 3, 3] and packed([]) == 0
    assert without(packed([7, 3, 3]), 3) == packed([7, 3]) and without(packed([7, 3]), 7) == packed([3])
    assert added(packed([7, 3]), 5) == packed([7, 5, 3]) and added(packed([7]), 0) == packed([7])
    assert added(packed([7, 3]), 9) == packed([9, 7, 3]) and added(0, 2) == packed([2])
    assert replaced(packed([7, 3]), 2 << 10 | 4 << 5 | 7) == packed([4, 3, 2])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("octal:code=77", "a point and up to eight digits"),
        ("octal:n=24", "n must be from 1 to 23"),
        ("grundy:n=2", "n must be from 3 to 31"),
        ("nim:heaps=0", "heaps must be from 1 to 12 numbers"),
        ("nim:most=0", "most, how many may be taken at once"),
        ("cram:7,6", "from 1 to 36 cells"),
    ],
)
def test_options_that_cannot_be_are_refused(text, what):
    with pytest.raises(ValueError, match=what):
        load_game(text)


def test_positions_and_moves_are_read_as_they_are_written():
    for text in ("octal", "grundy", "nim", "cram:3,3"):
        game = load_game(text)
        position = game.start
        while moves := list(game.generate_moves(position)):
            assert game.read(game.write(position)) == position
            names = [game.move_name(position, move) for move in moves]
            assert len(set(names)) == len(moves)
            position = game.do_move(position, game.move(position, names[-1]))
    with pytest.raises(ValueError, match="at most 12 in all"):
        load_game("nim").read("7+7")
    with pytest.raises(ValueError, match="3 lines of 4 signs"):
        load_game("cram").read("....")


@pytest.mark.parametrize(("text", "position"), [("nim:heaps=20+20", "40"), ("nim3:heaps=20+20", "40,1")])
def test_heaps_that_no_position_can_hold_are_refused(text, position):
    with pytest.raises(ValueError, match="a heap must have at most 31 objects"):
        load_game(text).read(position)
