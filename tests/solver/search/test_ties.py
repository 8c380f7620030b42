"""How far ties are, by search, against slow solvers and databases: the fewest plies by moves that keep the tie."""

from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.databases.book import open_book
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve as make_database
from retrograde.solver.play.oracles.book import BookOptions, make_book
from retrograde.solver.search import ties
from retrograde.solver.search.searcher import Search
from tests.helpers.command_line import retrograde
from tests.helpers.mixing import mix
from tests.helpers.reference import solve

pytestmark = pytest.mark.long

SMALL = 1 << 20


class Slope(Game):
    """Go down a random slope, by one or more steps at once: ties end after few plies, or after many."""

    start = 0
    steps = 40

    def random(self, position, salt):
        return mix(position * 977 + salt)

    def generate_moves(self, position):
        yield from range(1 + self.random(position, 1) % 3)

    def do_move(self, position, move):
        return position + 1 + self.random(position, 2 + move) % 4

    def primitive(self, position):
        chance = self.random(position, 9) % 32
        if position & 63 >= self.steps:
            return TIE if chance % 2 else LOSE
        if chance > 3:
            return UNDECIDED
        return TIE if chance > 1 else WIN if chance else LOSE


def ties_of(game, truth):
    """Yield positions that are ties, and not over, with how far their ends are."""
    for position, (value, remoteness) in sorted(truth.items()):
        if value == TIE and game.primitive(position) == UNDECIDED:
            yield position, remoteness


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["tictactoe", "connect4:4,3,3"])
def test_every_tie_of_small_games_is_as_far_as_a_slow_solver_says(text):
    game = load_game(text)
    search = Search(game, 1, SMALL)
    ties = list(ties_of(game, solve(game, symmetric=True)))
    assert len(ties) > 5
    for position, remoteness in ties:
        assert search.plies_to_tie(position) == remoteness


@pytest.mark.thorough
def test_every_tie_of_random_games_is_as_far_as_a_slow_solver_says():
    """Their ties end after very different numbers of plies; one search serves for all, and a new one says the same."""
    game = Slope()
    search, far = Search(game, 1, SMALL), set()
    for seed in range(40):
        truth = solve(game, starts=[seed << 6])
        for position, remoteness in ties_of(game, truth):
            assert search.plies_to_tie(position) == remoteness
            far.add(remoteness)
            child_ties = [
                child
                for child in (game.do_move(position, move) for move in game.generate_moves(position))
                if truth[child] == (TIE, remoteness - 1)
            ]
            assert child_ties
            assert search.find_tie_path(position, remoteness - 1) == ties.NO_PATH
        if truth[seed << 6][0] == TIE:
            found = Search(game, 2, SMALL).find(seed << 6)
            assert (found.value, found.remoteness) == truth[seed << 6]
    assert len(far) > 8


class Detour(Game):
    """From 0 a tie in five plies: 1, 2, 3, 4, 5. Another one in two plies, 10 and 12, but the opponent wins at 10."""

    start = 0
    last: bool = False

    def generate_moves(self, position):
        yield from range(2 if position % 10 == 0 else 1)

    def do_move(self, position, move):
        if position == 0:
            return 10 if move == self.last else 1
        return position + 1 + (position == 10 and move == self.last)

    def primitive(self, position):
        if position == 11:
            return LOSE
        return TIE if position in (5, 12) else UNDECIDED


@pytest.mark.parametrize("last", [False, True])
def test_a_way_to_a_tie_that_the_opponent_could_win_does_not_count(last):
    game = Detour(last)
    assert solve(game)[0] == (TIE, 5)
    assert Search(game, 1, SMALL).plies_to_tie(0) == 5


class Lying(Slope):
    """The same from a tie that is farther away, with a hint that is wrong nearly everywhere."""

    start = 4 << 6

    def tie_in(self, position):
        return 3


def test_a_hint_that_lies_decides_no_distance_that_is_proved(tmp_path):
    game, far = Lying(), 0
    search = Search(game, 1, SMALL)
    for seed in range(12):
        truth = solve(game, starts=[seed << 6])
        for position, remoteness in list(ties_of(game, truth))[:6]:
            found = search.find(position)
            assert found.remoteness == remoteness
            assert len(search.line(position, found)) == remoteness
            far += remoteness != 3
    assert far > 10
    path = make_book(game, BookOptions(2, size=SMALL, tie_seconds=60), tmp_path / "it.book.h5")
    with open_book(path, game) as book:
        for position, outcome in solve(game).items():
            assert book.get(position) in (None, outcome)
        assert book[game.start].value == TIE and book[game.start].remoteness not in (None, 3)


def test_search_says_that_a_distance_which_only_the_rules_tell_is_not_proved(monkeypatch):
    monkeypatch.setattr(Search, "plies_to_tie", lambda *_: None)
    told = retrograde("search", "connect4:4,4", "--workers", 1).stdout
    assert "distance not proved: the rules say 16 plies (tie_in)" in told and "tie in 16" not in told
    assert "16" not in retrograde("search", "connect4:4,4", "--workers", 1, "--json").stdout.split('"nodes"')[0]


def test_ties_of_connect_four_are_as_far_as_its_database_says(tmp_path):
    game = load_game("connect4:4,4")
    make_database(game, tmp_path / "it.h5")
    search = Search(game, 1, SMALL)
    with open_database(tmp_path / "it.h5", game=game) as database:
        found = [
            (position, plies)
            for _, *arrays in database.records()
            for position, value, plies in zip(*(array.tolist() for array in arrays), strict=True)
            if value == TIE and plies
        ]
    assert len(found) > 1000
    for position, plies in Random(1).sample(found, 500):
        assert search.plies_to_tie(position) == plies


@pytest.mark.thorough
def test_boards_that_are_ties_by_published_values_are_filled():
    """Tromp: Connect Four 5 × 4 is a tie; and a tie has filled the board, as search proves."""
    game = load_game("connect4:5,4")
    search = Search(game, 1, 1 << 24)
    found = search.find(game.start)
    assert (found.value, found.remoteness) == (TIE, 20)
    assert len(search.line(game.start, found)) == 20


@pytest.mark.thorough
def test_time_that_is_out_leaves_a_tie_without_its_distance():
    game = load_game("connect4:5,5")
    search = Search(game, 2, 1 << 26)
    assert search.find(game.start, distance=False).value == TIE
    with search.limit_time(0.2):
        assert search.plies_to_tie(game.start) is None


def test_a_memory_for_other_keys_is_begun_anew():
    game = load_game("tictactoe")
    search = Search(game, 1, SMALL)
    assert search.plies_to_tie(game.start) == 9
    search.make_table(40)
    assert search.table.layout.position_bits == 40
    assert search.plies_to_tie(game.start) == 9
