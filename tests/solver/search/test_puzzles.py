"""Shortest solutions of puzzles: compared with breadth-first search and with published lengths."""

import time

import pytest

from retrograde.games import TIE, UNDECIDED, WIN, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.eightpuzzle import EightPuzzle
from retrograde.solver.conformance.check import check
from retrograde.solver.search.puzzles import PuzzleSearch
from tests.helpers import turning
from tests.helpers.command_line import retrograde
from tests.helpers.tangle import position_of

SMALL, TINY = 1 << 16, 1 << 10
"""Sizes of tables; one of the second size holds few positions, so that most bounds are overwritten."""

KORF = {
    "0 1 9 7 11 13 5 3 14 12 4 2 8 6 10 15": 42,
    "14 1 9 6 4 8 12 5 7 2 3 0 10 11 13 15": 45,
    "4 5 7 2 9 14 12 13 0 3 6 11 8 1 15 10": 42,
    "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11": 41,
    "4 7 13 10 1 2 9 6 12 8 14 5 3 0 11 15": 44,
    "3 14 9 11 5 4 8 2 13 12 6 7 10 1 15 0": 46,
}
"""Easier ones of the 100 instances of R. E. Korf (Artificial Intelligence 27, 1985), with the lengths of their
solutions. His goal has the gap first."""


def of_korf(game, text):
    """Return a position of Korf's as one whose goal has the gap last: turned by 180 degrees, tile n becoming 16 - n."""
    tiles = [16 - int(tile) if int(tile) else 0 for tile in reversed(text.split())]
    return game.split(sum(tile << 4 * cell for cell, tile in enumerate(tiles)))


def distances(game):
    """Return the plies from each position to the goal, in a puzzle whose moves can all be undone."""
    found, wave, plies = {game.goal: 0}, [game.goal], 0
    while wave:
        plies += 1
        wave = [child for position in wave for move in game.generate_moves(position)
                if found.setdefault(child := game.do_move(position, move), plies) == plies]  # fmt: skip
        wave = list(dict.fromkeys(wave))
    return found


def replayed(game, position, line):
    """Return the value at the end of a line of legal moves."""
    for move in line:
        assert game.primitive(position) == UNDECIDED and move in game.generate_moves(position)
        position = game.do_move(position, move)
    return game.primitive(position)


class Uninformed(EightPuzzle):
    """The same without a lower bound."""

    name = "uninformed"

    def least_plies(self, position):
        return 1


class Boastful(EightPuzzle):
    """The same with a lower bound that is too great."""

    name = "boastful"

    def least_plies(self, position):
        return 3 * super().least_plies(position)


@pytest.mark.parametrize(("make", "size"), [(EightPuzzle, SMALL), (EightPuzzle, TINY), (Uninformed, SMALL)])
def test_solutions_of_a_small_box_are_shortest(make, size):
    game = make(3, 2)
    truth, search = distances(game), PuzzleSearch(game, size)
    assert len(truth) == 360
    for position, plies in [*truth.items()][::7]:
        found, line = search.find(position)
        assert (found.value, found.remoteness, len(line)) == (WIN, plies, plies)
        assert replayed(game, position, line) == WIN


def test_solutions_of_random_puzzles_are_shortest():
    solved = 0
    for seed in range(60):
        game = turning.Alone()
        start = position_of(seed, seed % 3 == 1, 1, 0, 30)
        object.__setattr__(game, "start", start)
        truth, search = turning.solve(game, starts=[start]), PuzzleSearch(game, TINY)
        for position, (value, remoteness) in [*truth.items()][:30]:
            found, line = search.find(position, depth=40)
            if value == WIN:
                assert (found.value, found.remoteness) == (WIN, remoteness)
                assert replayed(game, position, line) == WIN
                solved += remoteness > 2
            else:
                assert found.value is None and not line
                assert found.at_most != WIN or found.no_end_within >= 40
    assert solved > 20


def test_the_lower_bound_is_never_greater_than_the_distance():
    game = EightPuzzle(3, 2)
    assert all(game.least_plies(position) <= plies for position, plies in distances(game).items())
    lights = load_game("lightsout:3,3")
    truth = turning.solve(lights)
    assert all(lights.least_plies(position) <= truth[position][1] for position in truth if position)


@pytest.mark.thorough
def test_the_lower_bound_of_the_8_puzzle_is_never_greater_than_the_distance():
    game = EightPuzzle()
    truth = distances(game)
    assert len(truth) == 181_440 and max(truth.values()) == 31
    assert all(game.least_plies(position) <= plies for position, plies in truth.items())


@pytest.mark.thorough
@pytest.mark.long
def test_solutions_of_the_15_puzzle_have_the_lengths_that_korf_published():
    game = load_game("eightpuzzle:4,4")
    for text, length in KORF.items():
        position = of_korf(game, text)
        found, line = PuzzleSearch(game, 1 << 24).find(position)
        assert (found.remoteness, len(line)) == (length, length)
        assert replayed(game, position, line) == WIN


def test_a_search_stops_at_its_depth_and_when_time_is_out():
    game = load_game("eightpuzzle:4,4")
    search = PuzzleSearch(game, SMALL)
    found, line = search.find(game.start, depth=30)
    assert (found.value, found.no_end_within, line) == (None, 43, [])  # the sum of the distances is 44
    began = time.monotonic()
    found, line = search.find(game.start, 0.1)
    assert found.value is None and found.no_end_within >= 43 and time.monotonic() - began < 20


def test_a_puzzle_without_a_solution_is_known_to_have_none():
    game = load_game("pegsolitaire")
    position = game.read("O/../..O/..../.....")
    found, _ = PuzzleSearch(game, SMALL).find(position)
    assert found.value is None and found.at_most != WIN


def test_a_puzzle_that_never_ends_is_known_to_have_no_solution():
    # Four pairs of missionaries and cannibals cannot cross with a boat for two (Pressman and Singmaster, 1989).
    found, line = PuzzleSearch(load_game("rivercrossing:4,2"), SMALL).find(load_game("rivercrossing:4,2").start)
    assert (found.value, found.at_most, found.no_end_within, line) == (None, TIE, 0, [])
    text = retrograde("search", "rivercrossing:4,2").stdout
    assert "there is no solution\nproved by search" in text


def test_a_lower_bound_that_is_too_great_is_refused():
    game = Boastful(3, 2)
    with pytest.raises(RuleError, match=r"least_plies\(\) falls by more than 1"):
        PuzzleSearch(game, SMALL).find(game.start)
    assert "a lower bound falls by 1 at most" in str(check(game))


def test_search_prints_the_solution_and_what_it_rests_on():
    text = retrograde("search", "eightpuzzle:4,4", "1234/5678/9ABC/.DEF").stdout
    assert "solved in 3 moves" in text and "Best play  13 14 15" in text and "least_plies" in text
    text = retrograde("search", "eightpuzzle:4,4", "--depth", "30").stdout
    assert "not known: there is no solution within 43 plies" in text
