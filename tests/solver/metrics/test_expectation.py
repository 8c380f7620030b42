"""Expected payoffs: bounds held against exact fractions, and against numbers that others have published."""

import dataclasses
import json
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games import CHANCE, UNDECIDED, WIN, Game, RuleError
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.metrics.expectation_kernels import ChildLists, sweep
from retrograde.solver.play.solution import open_solution
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.verification.expectation import wrong_expectations
from retrograde.solver.verification.families import families_of
from retrograde.solver.verification.records import RecordTable
from retrograde.solver.verification.verify import verify
from tests.helpers import expectimax, gamble
from tests.helpers.command_line import retrograde
from tests.helpers.expecting import bounds, measured
from tests.helpers.marks import thorough

pytestmark = pytest.mark.long

NARROW = Fraction(1, 10**9)
"""How far bounds may be apart."""


def hold_against(game, exact):
    """Assert that the bounds of all positions are right, and near one another."""
    found = bounds(game)
    assert found.keys() == exact.keys()
    for position, worth in exact.items():
        low, high = found[position]
        own = -worth if game.turn(position) == 1 else worth
        assert low <= own <= high, (position, float(low), float(own), float(high))
        assert high - low < NARROW, (position, float(high - low))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [gamble.Gamble, gamble.Solitary])
def test_bounds_of_random_games_that_end_hold_the_exact_expectation(kind, monkeypatch):
    random = Random(1)
    for _ in range(150):
        start = gamble.position_of(random.randrange(1 << 20), random.randrange(12), random.randrange(3), False, 31)
        monkeypatch.setattr(kind, "start", start)
        hold_against(kind(), expectimax.acyclic(kind()))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [gamble.Gamble, gamble.Solitary])
def test_bounds_of_random_games_that_can_go_on_for_ever_hold_the_exact_expectation(kind, monkeypatch):
    random = Random(2)
    endless = several = 0
    for _ in range(400):
        start = gamble.position_of(random.randrange(1 << 20), random.randrange(12), random.randrange(3), True, 7)
        monkeypatch.setattr(kind, "start", start)
        if expectimax.plans(kind()) > 200:
            continue
        exact = expectimax.cyclic(kind())
        hold_against(kind(), exact)
        endless += any(worth == 0 for worth in exact.values())
        several += len(set(exact.values())) > 3
    assert endless > 20
    assert several > 20


class Choice(Game):
    """Go round for ever, which pays nothing, or toss a coin for 3 or -5, or leave with what the way out pays."""

    metric = "expectation"
    players = 2
    start = 0
    out: int = -1
    second: bool = False

    def turn(self, position):
        return CHANCE if position == 2 else 1 if self.second else 0

    def generate_moves(self, position):
        yield from range(2 if position else 3)

    def do_move(self, position, move):
        return 3 + move if position == 2 else (1, 2, 5)[move] if position == 0 else (0, 1)[move]

    def primitive(self, position):
        return WIN if position > 2 else UNDECIDED

    def payoff(self, position, player):
        pays = 3 if position == 3 else -5 if position == 4 else self.out
        return pays if player == 0 else 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("out", "second", "worth"),
    [(-1, False, 0), (2, False, 2), (-1, True, 1), (1, True, 1), (-2, True, 2)],
)
def test_who_would_lose_by_every_end_goes_on_for_ever(out, second, worth):
    """The coin is worth -1 to player 0: whoever is to move takes the best of that, the way out, and 0."""
    low, high = bounds(Choice(out, second))[0]
    assert low <= worth <= high
    assert high - low < NARROW


def test_as_many_workers_as_there_are_find_the_same_bounds(monkeypatch):
    monkeypatch.setattr(gamble.Gamble, "start", gamble.position_of(77, 6, 0, True, 31))
    one, many = measured(gamble.Gamble(), 1)[1], measured(gamble.Gamble(), 4)[1]
    for name in ("low", "high"):
        assert np.array_equal(one.columns[name], many.columns[name])


class Rich(gamble.Gamble):
    """Payoffs that leave room for few bits after the point."""

    def payoff(self, position, player):
        return (self.random(position, 4) - 5000) * 50_000 if player == 0 else 7


def test_great_payoffs_take_a_coarser_grain(monkeypatch):
    monkeypatch.setattr(Rich, "start", gamble.position_of(5, 6, 0, False, 31))
    assert measured(Rich())[1].details["scale"] == 1 << 30
    found, exact = bounds(Rich()), expectimax.acyclic(Rich())
    for position, (low, high) in found.items():
        own = -exact[position] if Rich().turn(position) == 1 else exact[position]
        assert low <= own <= high < low + Fraction(1, 10**6)


class Walk(Game):
    """Walk on, and pay 1 for each step, or stand, which costs nothing."""

    metric = "expectation"
    players = 1
    start = 0
    idle: bool = False

    def generate_moves(self, position):
        yield from range(0 if self.idle else 1, 3)

    def do_move(self, position, move):
        return min(4, position + move)

    def reward(self, position, move, player):
        return -move * move if position else -1

    def payoff(self, position, player):
        return 10

    def primitive(self, position):
        return WIN if position == 4 else UNDECIDED


def test_moves_may_pay_where_play_must_end():
    found = bounds(Walk())
    assert [found[position] for position in range(5)] == [(7, 7)] + [(n, n) for n in (7, 8, 9, 10)]


def test_moves_may_not_pay_where_play_can_go_on_for_ever():
    with pytest.raises(RuleError, match="moves pay a reward, and from here players may go on for ever"):
        bounds(Walk(True))


def test_expectations_are_refused_where_nobody_says_whose_they_are():
    with pytest.raises(MetricNotApplicable, match=r"need turn\(position\)"):
        bounds(load_game("tictactoe"))


# What others have found. The expectation of a game that pays 1 to the winner is 2p - 1, where p is the probability.


def start_of(text):
    """Return the bounds of the expectation at the start of a game."""
    game = load_game(text)
    return tuple(map(float, bounds(game)[game.canonical(game.start)]))


def test_piglet_to_two_is_as_neller_and_presser_work_it_out():
    """T. W. Neller and C. G. M. Presser, Optimal Play of the Dice Game Pig, 2004, table of Piglet with goal 2."""
    game = load_game("piglet:2")
    found = bounds(game)
    table = {(0, 0, 0): 4 / 7, (0, 0, 1): 5 / 7, (0, 1, 0): 2 / 5, (0, 1, 1): 3 / 5, (1, 0, 0): 4 / 5, (1, 1, 0): 2 / 3}
    for (own, other, total), probability in table.items():
        for mover, scores in ((0, (own, other)), (1, (other, own))):
            position = game.read(f"{scores[0]}-{scores[1]}+{total}/{mover}")
            if position in found:
                assert [(1 + float(bound)) / 2 for bound in found[position]] == pytest.approx(
                    [probability] * 2, abs=1e-11
                )
    assert len(found) == 32


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("piglet", 2 * 0.5224794079488326 - 1),  # computed by a slow program written for this project
        thorough(("pig:10", 2 * 0.709424322598 - 1)),  # by the equations of Neller and Presser
        ("pig:2", 2 * 6 / 7 - 1),
        ("game2048:2,2,8", 1),  # this and the next two computed by a slow program written for this project
        ("game2048:2,2,16", 0.96251125375),
        ("game2048:2,2,32", 0.08288728907155417),
        ("chutes", -39.22512230823491),  # Althoen, King and Schilling, 1993, to 39.2; by the linear equations
    ],
)
def test_the_start_is_worth_what_others_have_found(text, worth):
    low, high = start_of(text)
    assert low - 1e-11 < worth < high + 1e-11
    assert high - low < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("pig", 2 * 0.530592725274 - 1),  # T. W. Neller and C. G. M. Presser, 2004: 0.530592071
        ("bearoff", -12.266187172),  # from one-sided bear-off databases of backgammon, checked by another program
        ("game2048:3,3,16", 1),
    ],
)
def test_the_start_of_larger_games_is_worth_what_others_have_found(text, worth):
    low, high = start_of(text)
    assert low - 1e-9 < worth < high + 1e-9
    assert high - low < 1e-9


# The seam: databases, their verification, and what commands say.


def test_a_database_keeps_bounds_and_is_verified(tmp_path):
    game = load_game("piglet:2")
    path = solve(game, tmp_path / "piglet.h5")
    with open_database(path, game=game) as database:
        assert database.metric == "expectation"
        low, high = database.measures(0).values()
        assert low <= database.file.details["scale"] / 7 <= high
        assert database[0].remoteness is None
        assert verify(database).ok


def altered(found, column, record, grains):
    """Return families in which one bound is another."""
    measures = found.measures.copy()
    measures[column, record] += grains
    return dataclasses.replace(found, measures=measures)


def test_bounds_that_are_not_proven_are_found_out(tmp_path):
    game = load_game("piglet:2")
    with open_database(solve(game, tmp_path / "piglet.h5"), game=game) as database:
        found = families_of(RecordTable(database))
        assert not wrong_expectations(found, database.game, database.file.details["scale"]).any()
        for record in range(len(found.positions)):
            assert wrong_expectations(
                altered(found, 0, record, 10_000), database.game, database.file.details["scale"]
            ).any()
            assert wrong_expectations(
                altered(found, 1, record, -10_000), database.game, database.file.details["scale"]
            ).any()


def test_two_positions_in_a_circle_do_not_prove_one_another(tmp_path):
    """To go round for ever pays 0, and each of the two could be thought to be worth a half because the other is."""
    game = Choice(-1)
    with open_database(solve(game, tmp_path / "choice.h5"), game=game) as database:
        found = families_of(RecordTable(database))
        assert not wrong_expectations(found, database.game, database.file.details["scale"]).any()
        measures = found.measures.copy()
        circle = found.positions < 2
        measures[:, circle] = database.file.details["scale"] // 2
        values = np.where(circle, WIN, found.values)
        wrong = wrong_expectations(
            dataclasses.replace(found, measures=measures, values=values), database.game, database.file.details["scale"]
        )
        assert wrong[circle].all()


def test_query_and_play_tell_expectations_and_odds(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(load_game("piglet:2"))
    facts = json.loads(retrograde("query", "piglet:2", "0-0+0/0?", "--json").output)
    assert facts["chance"] is True
    assert facts["low"] <= 1 / 7 <= facts["high"]
    assert [(move["move"], move["odds"]) for move in facts["moves"]] == [("head", 1), ("tail", 1)]
    assert "Expectation: 0.142857142857" in retrograde("query", "piglet:2").output
    assert retrograde("query", "piglet:2", "--batch", "-", input="0-0+0/0?\n").stdout == "1\t0-0+0/0?\twin\t\n"
    retrograde("export", "piglet:2", "-o", tmp_path / "all.csv")
    assert {row.split(",")[4] for row in (tmp_path / "all.csv").read_text().splitlines()[1:]} <= {"", "0"}
    play = "play", "piglet:2", "--first", "perfect", "--second", "random", "--seed", "4"
    games = [retrograde(*play).output for _ in range(2)]
    assert games[0] == games[1]
    assert "chance: " in games[0] and "paid: " in games[0]
    asked = retrograde("play", "piglet:2", "--first", "human", *play[4:], input="line\nquit\n")
    assert "no one line is best: the dice have a say" in asked.output


def test_the_page_tells_no_plies_where_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(load_game("piglet:2"))
    view = pytest.importorskip("retrograde.cli.web.view")
    with open_solution("piglet:2") as solution:
        assert {count.remoteness for count in view.database(solution).counts} <= {None, 0}


@pytest.mark.thorough
def test_a_yahtzee_in_one_turn_is_as_likely_as_it_is():
    """347,897 / 7,558,272 of turns end in one under best play, each pays 50 (the closed form of the Markov chain)."""
    low, high = start_of("yahtzee:categories=12")
    assert low <= 50 * 347897 / 7558272 <= high


@pytest.mark.thorough
def test_small_bear_offs_are_as_a_slow_solver_has_them():
    for text in ("bearoff:2,2", "bearoff:2,2,2"):
        game = load_game(text)
        exact = expectimax.acyclic(game)
        for position, (low, high) in bounds(game).items():
            own = -exact[position] if game.turn(position) == 1 else exact[position]
            assert low <= own <= high


@pytest.mark.thorough
def test_all_placements_of_a_bear_off_are_positions():
    """Also the eight of at most four men on six points to which play from the top point does not lead."""
    game = load_game("bearoff:4")
    found = bounds(game)
    placed = [men for men in product(range(5), repeat=6) if 0 < sum(men) <= 4]
    assert len(placed) == 209
    exact = expectimax.acyclic(game)
    for men in placed:
        position = game.read(".".join(map(str, men)))
        low, high = found[position]
        assert low <= exact[position] <= high
    reached, wave = set(), {game.start}
    while wave := {game.do_move(at, move) for at in wave if game.primitive(at) == UNDECIDED
                   for move in game.generate_moves(at)} - reached:  # fmt: skip
        reached |= wave
    assert sum(game.read(".".join(map(str, men))) not in reached | {game.start} for men in placed) == 8


@pytest.mark.thorough
def test_how_many_games_are_won_is_told_where_it_follows(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    retrograde("solve", "pig:20")
    told = retrograde("query", "pig:20").stdout
    assert "The player to move wins 61.6 % of games\nExpectation: 0.2311" in told
    with open_solution("pig:20") as solution:
        expected = solution.worth(solution.start)["expectation"]
        assert solution.pays_one and f"{50 * (1 + expected):.1f}" == "61.6"
    for text in ("bearoff:2,2", "bearoff:2,2,2"):  # a number of rolls; some position is worth 0, as a tie would be
        with open_solution(solve(load_game(text), tmp_path / f"{len(text)}.h5")) as solution:
            assert not solution.pays_one


@pytest.mark.thorough
def test_who_plays_by_expectations_wins_more_often(tmp_path, monkeypatch):
    """Of 200 games of Piglet against who moves by chance: far more than half, the same ones each time."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(load_game("piglet"))
    match = "match", "piglet", "perfect", "random", "--games", "200", "--seed", "5", "--json"
    facts = [json.loads(retrograde(*match).output) for _ in range(2)]
    assert facts[0] == facts[1]
    perfect, other = facts[0]["players"]
    assert perfect["won"] + other["won"] == 200
    assert perfect["won"] > 120


@pytest.mark.as_python
@pytest.mark.parametrize("bits", [5, 46, 51, 52, 53, 60])
@pytest.mark.parametrize("most_odds", [3, 1 << 9, 1 << 28])
def test_means_of_any_size_are_exact_and_rounded_down(bits, most_odds):
    random = Random(4)
    for _ in range(50):
        odds = [random.randrange(1, most_odds) for _ in range(3)]
        values = [random.choice([random.randint(-(1 << bits), 1 << bits), 1 << bits, -(1 << bits)]) for _ in odds]
        begins, children, rewards = np.array([0, 3]), np.arange(3), np.empty(0, np.int64)
        links = ChildLists(np.array([CHANCE], np.int8), np.zeros(1, bool), begins, children, np.array(odds), rewards)
        result = np.zeros((2, 1), np.int64)
        sweep(links, np.zeros(1, np.int64), np.array([values, values]), result)
        mean = sum(one * value for one, value in zip(odds, values, strict=True)) // sum(odds)
        assert result.tolist() == [[mean], [mean]]
