"""Weights fitted to solved positions: exact where the truth is a weighted sum, and never worse than the game's own."""

from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import UNDECIDED, with_weights
from retrograde.solver.engine import solve
from retrograde.solver.play.fitting import CannotFit, fit, logistic_regression
from retrograde.solver.play.judging import moves_keeping_value
from retrograde.solver.play.solution import Solution
from retrograde.solver.search.depth.searcher import PointSearch
from tests.helpers.paths import ROOT

LEAD = f"{ROOT / 'tests' / 'helpers' / 'lead.py'}"


@pytest.fixture
def lead(tmp_path):
    """The solution of the game of which the score is a weighted sum of its features."""
    path = solve(load_game(LEAD), tmp_path / "lead.h5")
    with Solution(open_database(path, game=load_game(LEAD))) as solution:
        yield solution


def test_a_fit_finds_the_weights_of_which_scores_are_made(lead):
    found = fit(lead, 1000, 100, 1)
    assert found.target == "score" and found.weights == (100, 200)
    assert all(before > 0.25 for before, _ in found.errors.values())
    assert [after for _, after in found.errors.values()] == [0, 0]
    assert found.positions > 40 and found.judged > 10


def test_without_enough_positions_nothing_is_found(lead):
    with pytest.raises(CannotFit, match=r"no quiet position|can a move give up value"):
        fit(lead, 2, 10, 1)


def test_the_weights_of_a_game_stay_if_no_others_err_less(lead):
    lead.game = with_weights(lead.game, (100, 200))
    found = fit(lead, 1000, 100, 1)
    assert (found.target, found.weights) == ("", (100, 200))
    assert all(before == after == 0 for before, after in found.errors.values())


def test_compiled_estimates_use_the_weights_of_the_game(lead):
    game = lead.game
    for weights in ((-100, 50), (7, 3), (1 << 20, -5)):
        other = with_weights(game, weights)
        assert other == game and other.feature_weights == weights and game.feature_weights == (-100, 50)
        for position in (game.start, game.do_move(game.start, 1)):
            leaves = [game.do_move(position, move) for move in (1, 2)]
            estimates = [-sum(a * b for a, b in zip(weights, game.features(leaf), strict=True)) for leaf in leaves]
            assert PointSearch(other).scores(position, 1) == [(1, estimates[0] / 100), (2, estimates[1] / 100)]


def test_a_regression_finds_the_weights_of_which_chances_are_made():
    chance = np.random.default_rng(1)
    features = chance.integers(-4, 5, (3000, 4)).astype(float)
    features[:, 3] = 0  # which this sample cannot show
    true = np.array([0.8, -0.3, 0.05, 9.0])
    chances = 1 / (1 + np.exp(-features @ true))
    found = logistic_regression(features, chances, np.array([1.0, 1.0, 1.0, 2.0]))
    assert np.abs(found[:3] - true[:3]).max() < 2e-3 and found[3] == 2
    wins = (features @ true > 0).astype(float)  # which can be told apart: the weights stay finite
    assert ((features @ logistic_regression(features, wins, np.zeros(4)) > 0) == wins).mean() > 0.99


def test_moves_that_keep_points_are_those_of_a_slow_count(lead):
    def score(position):
        if lead.game.primitive(position) != UNDECIDED:
            return lead.game.lead(position)
        return max(-score(lead.game.do_move(position, move)) for move in (1, 2))

    position = 5 << 7 | 64
    assert moves_keeping_value(lead, position) == {1: False, 2: True}
    assert score(position) == 2 == lead.worth(position)["score"]


@pytest.mark.long
def test_moves_that_keep_the_value_are_found_where_a_player_may_move_again(solved):
    with Solution(open_database(solved("kalah:2,2"))) as solution:
        position = solution.game.start
        for choice in solution.moves(position):
            keeps = moves_keeping_value(solution, position)[choice.move]
            assert keeps == (choice.brings == solution.value(position).value)


def test_only_values_and_scores_are_learned_from(tmp_path):
    path = solve(load_game(LEAD), tmp_path / "lead.h5", metric="remoteness")
    with Solution(open_database(path, game=load_game(LEAD))) as solution:
        assert fit(solution, 1000, 100, 1).target in ("", "value", "remoteness")
        solution.__class__ = type("Other", (Solution,), {"metric": "nimber"})
        with pytest.raises(CannotFit, match="lead is solved by nimber; give a database of values or scores"):
            fit(solution, 100, 10, 1)


def test_games_without_features_are_not_fitted(solved):
    with Solution(open_database(solved("tictactoe"))) as solution, pytest.raises(CannotFit, match="has no features"):
        fit(solution, 100, 10, 1)


@pytest.mark.parametrize(
    ("text", "loud"),
    [
        ("othello", lambda game, position, move: move < game.discs.size and game.corners >> move & 1),
        ("kalah", lambda game, position, move: game.turn(game.do_move(position, move)) == game.turn(position)),
        ("draughts:4,4", lambda game, position, move: "x" in game.move_name(position, move)),
    ],
)
def test_a_position_is_not_quiet_if_a_move_changes_much(text, loud):
    game, chance, seen = load_game(text), Random(1), set()
    for _ in range(40):
        position = game.start
        while game.primitive(position) == UNDECIDED:
            moves = list(game.generate_moves(position))
            if any(loud(game, position, move) for move in moves):
                assert not game.quiet(position)
            seen.add(bool(game.quiet(position)))
            position = game.do_move(position, chance.choice(moves))
            if chance.random() < 0.05:
                break
    assert seen == {True, False}
