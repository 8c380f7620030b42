"""Scores by search, against slow solvers, databases and published values."""

import json
from functools import cache
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import POSITION_BITS
from retrograde.solver.engine import solve
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.scores.searcher import ScoreSearch
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough
from tests.helpers.mixing import mix

pytestmark = pytest.mark.long

SMALL = 1 << 20


class Slope(Game):
    """Go down a random slope; who moves is random, moves pay, and ends pay both players."""

    metric = "score"
    start = 0
    steps = 14
    players = 2

    def random(self, position, salt):
        return mix(position * 977 + salt)

    def turn(self, position):
        return self.random(position, 98) % 2

    def generate_moves(self, position):
        yield from range(1 + self.random(position, 1) % 3)

    def do_move(self, position, move):
        return position + 1 + self.random(position, 2 + move) % 3

    def primitive(self, position):
        return TIE if position & 63 >= self.steps else UNDECIDED

    def payoff(self, position, player):
        return self.random(position, 9 + player) % 11 - 5

    def reward(self, position, move, player):
        return self.random(position, 13 + 2 * move + player) % 5 - 2


class AloneOnASlope(Slope):
    """The same for one player."""

    players = 1

    def turn(self, position):
        return 0


class Round(Game):
    """Walk round and round, or leave and lose."""

    metric = "score"
    start = 0

    def generate_moves(self, position):
        yield from (0, 1)

    def do_move(self, position, move):
        return 8 if move else (position + 1) % 8

    def primitive(self, position):
        return WIN if position == 8 else UNDECIDED


class Rich(Slope):
    """Ends that pay more than a table can hold."""

    def payoff(self, position, player):
        return player << 40


def slow(game):
    """Return a function from a position to its score, slow and obvious."""

    def paid(whose, amounts):
        return amounts(whose) - (amounts(1 - whose) if game.players == 2 else 0)

    @cache
    def score(position):
        mover = game.turn(position)
        if game.primitive(position) != UNDECIDED:
            return paid(mover, lambda player: game.payoff(position, player))
        found = []
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            rest = score(child) if game.turn(child) == mover or game.players == 1 else -score(child)
            found.append(paid(mover, lambda player, move=move: game.reward(position, move, player)) + rest)
        return max(found)

    return score


@pytest.mark.parametrize(("game", "workers"), [thorough((Slope(), 1)), (Slope(), 2), (AloneOnASlope(), 1)])
def test_scores_of_random_games_are_those_of_a_slow_solver(game, workers):
    truth, search = slow(game), ScoreSearch(game, workers, SMALL)
    met = set()
    for seed in range(50):
        position = seed << 6
        found = search.score(position)
        assert found.score == truth(position)
        met.add(found.score)
        line = search.best_line(position, found.score)
        assert total(game, position, line) == found.score
    assert len(met) > 10


def total(game, position, line):
    """Return what a line brings whoever begins, less what it brings the other, to the end of the game."""
    first, gained = game.turn(position), [0, 0]
    for move in line:
        for player in range(game.players):
            gained[player] += game.reward(position, move, player)
        position = game.do_move(position, move)
    assert game.primitive(position) != UNDECIDED
    for player in range(game.players):
        gained[player] += game.payoff(position, player)
    return gained[first] - gained[1 - first] if game.players == 2 else gained[0]


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["othello:4,4", "kalah:3,2", "dotsandboxes:2,2"])
def test_scores_are_those_of_the_database(text, tmp_path):
    """One search serves for all positions, whose bounds come from one another."""
    game = load_game(text)
    with open_database(solve(game, tmp_path / "it.h5", metric="score")) as database:
        search = ScoreSearch(game, 1, 1 << 22)
        positions = [position for _, some, *_ in database.records() for position in some.tolist()]
        for position in Random(1).sample(positions, min(len(positions), 400)):
            found = search.score(position)
            assert found.score == database.measures(position)["score"]
            assert found.at_least == found.at_most == database[position].value
            sign = search.score(position, value_only=True)
            assert (sign.at_least, sign.at_most) == (found.at_least, found.at_most)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("othello:4,4", -8),  # Feinstein; also Wikipedia
        (
            "kalah:pits=1,seeds=5,empty=yes,either=yes",
            2,
        ),  # by the first player's win, as Irving, Donkers and Uiterwijk,
        ("kalah:pits=2,seeds=2,empty=yes,either=yes", -2),  # Solving Kalah (2000), table 1; margins: another solver
        ("kalah:pits=3,seeds=4,empty=yes,either=yes", 2),
        ("kalah:pits=6,seeds=1,empty=yes,either=yes", 2),  # their table 2, and what follows
        ("kalah:pits=4,seeds=3,empty=yes,either=yes", 8),
        ("kalah:pits=4,seeds=3,empty=no,either=yes", 6),
        ("kalah:pits=5,seeds=3,empty=yes,either=no", 10),
        ("kalah:pits=6,seeds=2,empty=yes,either=yes", 10),
        ("kalah:pits=6,seeds=3,empty=yes,either=yes", 2),
    ],
)
def test_published_scores(text, score):
    game = load_game(text)
    assert ScoreSearch(game, 1, 1 << 24).score(game.start).score == score


@pytest.mark.thorough
def test_the_order_of_moves_in_kalah_saves_nineteen_of_twenty_positions():
    """8.46 million positions without a promise."""
    game = load_game("kalah:pits=5,seeds=3,empty=yes,either=yes")
    found = ScoreSearch(game, 1, 1 << 24).score(game.start)
    assert found.score == 8  # Irving, Donkers and Uiterwijk, Solving Kalah (2000), table 2
    assert found.nodes < 450_000


def test_by_default_kalah_has_the_rules_of_the_published_scores():
    assert load_game("kalah:6,2") == load_game("kalah:pits=6,seeds=2,empty=yes,either=yes")


def test_the_standard_board_of_kalah_fits():
    """Six pits of four seeds, whose positions take all the 62 bits that there are."""
    game, random = load_game("kalah:6,4"), Random(6)
    highest = position = game.start
    for _ in range(3000):
        if game.primitive(position) != UNDECIDED:
            position = game.start
        position = game.do_move(position, random.choice(list(game.generate_moves(position))))
        assert game.read(game.write(position)) == position
        highest = max(highest, position)
    assert highest.bit_length() == POSITION_BITS


@pytest.mark.thorough
def test_what_cannot_be_searched_is_refused_in_one_line():
    with pytest.raises(NotForSearch, match="goes round in circles, or on for longer than there is room; play it"):
        ScoreSearch(Round(), 1, SMALL).score(0)
    with pytest.raises(NotForSearch, match="one player or two, without chance; play it"):
        ScoreSearch(load_game("piglet:2"), 1, SMALL).score(load_game("piglet:2").start)
    with pytest.raises(NotForSearch, match="one player or two"):
        ScoreSearch(load_game("nim3"), 1, SMALL)
    with pytest.raises(
        NotForSearch, match=r"has scores of \d+ and more, too great to search; play it.*solve it: retro"
    ):
        ScoreSearch(Rich(), 1, SMALL).score(0)
    told = retrograde("search", "othello:4,4", "--depth", "3", status=2).stderr
    assert "scores are searched to the end of the game" in told


@pytest.mark.parametrize("size", [SMALL, 1 << 28])
@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("max(300+2)", 300),
        ("max(min(-300000+5)min(70000+80000))", 70000),
        ("max(min(100000000+max(5+6))min(-100000000+8))", 6),
        ("max(-123456+-100000000)", -123456),
    ],
)
def test_great_scores_fit_in_tables_of_any_size(text, score, size):
    game = load_game(f"tree:text={text}")
    assert ScoreSearch(game, 1, size).score(game.start).score == score


@pytest.mark.parametrize(
    ("ends", "text"), [("3 5", "the player wins\nScore: +5"), ("-3 -5", "the player loses\nScore: -3")]
)
def test_the_score_of_one_player_has_a_subject(ends, text, tmp_path):
    (tmp_path / "one.txt").write_text(f"max({ends})", "utf-8")
    assert f"\n\n{text}\n" in retrograde("search", f"tree:{tmp_path / 'one.txt'}").stdout


@pytest.mark.thorough
def test_time_that_is_out_is_an_answer():
    game = load_game("othello:5,6")
    found = ScoreSearch(game, 2, 1 << 24).score(game.start, 0.1)
    assert found.score is None and (found.at_least, found.at_most) == (LOSE, WIN)


def test_the_command_tells_the_score_and_a_line_that_keeps_it():
    told = retrograde("search", "othello:4,4").stdout
    assert "\n\nBlack (X) to move loses\nScore: -8\nproved by search: " in told and "Best play" in told
    facts = json.loads(retrograde("search", "othello:4,4", "--json").stdout)
    assert (facts["value"], facts["score"], facts["score_at_least"], facts["score_at_most"]) == ("lose", -8, -8, -8)
    assert facts["proved"] and facts["remoteness"] is None and len(facts["line"]) >= 10
    facts = json.loads(retrograde("search", "kalah:3,2", "--metric", "score", "--json").stdout)
    assert (facts["value"], facts["score"]) == ("win", 4)
    facts = json.loads(retrograde("search", "othello:4,4", "--value-only", "--json").stdout)
    assert (facts["value"], facts["score_at_least"]) == ("lose", None) and -8 <= facts["score_at_most"] < 0
