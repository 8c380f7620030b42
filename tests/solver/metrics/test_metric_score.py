"""Scores: the best difference of payoffs, held against what is slow and obvious."""

import pytest

from retrograde.databases import DatabaseFile, NoDatabase, NotInDatabase, open_database
from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN, Game
from retrograde.solver.engine import solve
from retrograde.solver.metrics.method import MetricOptions
from retrograde.solver.metrics.score import measure
from retrograde.solver.options import CannotSolve
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable
from tests.helpers.measuring import Graph, random_graph, slow_endless_gains, slow_gains, slow_scores

SCORE = MetricOptions("score")


def scored(graph):
    return measure(graph, SCORE, Phase("solving", None))


@pytest.mark.thorough
@pytest.mark.parametrize("cycles", [False, True])
@pytest.mark.parametrize(("players", "alternating"), [(2, True), (2, False), (1, False)])
def test_scores_and_plies_of_random_games_are_those_of_the_slow_solver(players, alternating, cycles):
    endless = 0
    for seed in range(300):
        graph = random_graph(seed, players, cycles, alternating)
        found = scored(graph)
        scores, plies = slow_scores(graph)
        assert found.columns["score"].tolist() == scores, seed
        assert [None if far < 0 else far for far in found.remotenesses.tolist()] == plies, seed
        endless += None in plies
        for score, far, value in zip(scores, plies, found.values.tolist(), strict=True):
            assert value == (WIN if score > 0 else LOSE if score < 0 else DRAW if far is None else TIE)
    assert (endless > 20) is cycles


@pytest.mark.parametrize("players", [1, 2])
def test_what_moves_pay_is_added_on_the_way(players):
    for seed in range(150):
        graph = random_graph(seed, players, cycles=False, pay=True)
        found = scored(graph)
        pairs = [*zip(found.columns["score"].tolist(), found.remotenesses.tolist(), strict=True)]
        assert pairs == slow_gains(graph), seed


@pytest.mark.thorough
@pytest.mark.parametrize(("players", "alternating"), [(2, True), (2, False), (1, False)])
def test_what_moves_pay_before_play_goes_on_for_ever_is_won_all_the_same(players, alternating):
    """Moves that stay in a tier pay nothing; the plies of what is won end where play begins to go round."""
    endless = 0
    for seed in range(300):
        graph = random_graph(seed, players, True, alternating, pay=True)
        found = scored(graph)
        scores, plies = slow_endless_gains(graph)
        assert found.columns["score"].tolist() == scores, seed
        assert [None if far < 0 else far for far in found.remotenesses.tolist()] == plies, seed
        assert all(score == 0 for score, far in zip(scores, plies, strict=True) if far is None)
        for i, far in enumerate(plies):
            endless += bool(scores[i]) and any(plies[child] is None for child in graph.children[i]) and far == 1
    assert endless > 20


def test_moves_that_pay_where_play_goes_round_are_refused():
    circle = Graph(2, [0, 0], [[1], [0]], [0, 0], [(0, 0)] * 2, True, {}, {(0, 0): 1})
    with pytest.raises(MetricNotApplicable, match="has no limit"):
        scored(circle)


def test_who_is_behind_goes_round_for_ever_where_that_is_possible():
    """Two positions in a circle, each with a way out that pays the other: nobody takes it."""
    circle = Graph(2, [0, 0, 1, 1], [[1, 2], [0, 3], [], []], [0, 0, 0, 0], [(0, 0), (0, 0), (3, 0), (5, 0)], True)
    assert scored(circle).columns["score"].tolist() == [0, 0, 3, 5]
    assert scored(circle).values.tolist() == [DRAW, DRAW, WIN, WIN]


def test_a_way_out_that_pays_is_taken_and_the_better_of_two():
    circle = Graph(2, [0, 0, 1, 1], [[1, 2], [0, 3], [], []], [0, 0, 0, 0], [(0, 0), (0, 0), (0, 3), (0, 5)], True)
    assert scored(circle).columns["score"].tolist() == [3, 5, -3, -5]


def test_scores_are_refused_for_three_players_and_for_chance():
    with pytest.raises(MetricNotApplicable, match="one player or two"):
        scored(random_graph(0, players=3))
    with pytest.raises(MetricNotApplicable, match="without chance"):
        scored(Graph(2, [0, 1], [[1], []], [-1, 0], [(0, 0), (1, 0)]))


class Takings(Game):
    """Take one, two or three from a heap; whoever takes the last one wins as many points as the heap was large."""

    size: int = 7
    metric = "score"

    @property
    def start(self):
        return self.size

    def generate_moves(self, heap):
        yield from range(1, min(3, heap) + 1)

    def do_move(self, heap, taken):
        return heap - taken

    def payoff(self, heap, player):
        return self.size * (2 * player - 1)


def test_a_database_of_scores_knows_them_and_says_so(tmp_path):
    path = solve(Takings(), tmp_path / "takings.h5")
    with open_database(path, game=Takings()) as database:
        assert database.metric == "score"
        assert [database.measures(heap) for heap in range(8)] == [
            {"score": 14 if heap % 4 else -14} for heap in range(8)
        ]
        assert database[7] == (WIN, 3) and database[4] == (LOSE, 2)
        assert database.file.legend[0] == (LOSE, 0, 1, 1, 0, (-14,))
        assert [(row.remoteness, row.stored) for row in database.file.legend] == [(0, 1), (2, 1), (1, 3), (3, 3)]
        with pytest.raises(NotInDatabase):
            database.measures(8)
    with DatabaseFile(path) as file:
        file.check()
        assert (file.header.storage, file.metric, file.details) == ("records", "score", {})


def test_a_game_has_a_database_for_each_metric(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    assert solve(Takings()).name == "test_metric_score.h5"
    assert solve(Takings(), metric="remoteness").name == "test_metric_score@remoteness.h5"
    with open_database("test_metric_score", game=Takings()) as database:
        assert database.measures(7) == {"score": 14}
    with open_database("test_metric_score@remoteness", game=Takings()) as database:
        assert database.metric == "remoteness" and database.measures(7) == {}
    with pytest.raises(
        NoDatabase, match=r"make it in Python with: retrograde.solve\(Takings\(size=7\), metric='nimber'\)"
    ):
        open_database("test_metric_score@nimber", game=Takings())


def test_a_metric_that_there_is_not_is_refused(tmp_path):
    with pytest.raises(CannotSolve, match="the metrics are remoteness, score"):
        solve(Takings(), tmp_path / "takings.h5", metric="beauty")
