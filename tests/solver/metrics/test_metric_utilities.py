"""What each of several players gets, held against a recursion with fractions."""

from types import SimpleNamespace

import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import LOSE, TIE, WIN
from retrograde.solver.engine import solve
from retrograde.solver.metrics import method
from retrograde.solver.metrics.method import MetricOptions
from retrograde.solver.metrics.utilities import measure
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.verification.verify import verify
from tests.helpers.marks import thorough_but
from tests.helpers.measuring import Graph, random_graph, slow_utilities


def found(graph, ties="first"):
    measured = measure(graph, MetricOptions("utilities", ties), Phase("solving", None))
    columns = [measured.columns[f"player{player}"].tolist() for player in range(graph.players)]
    return measured, [*zip(*columns, strict=True)]


@pytest.mark.as_python
@pytest.mark.parametrize("ties", ["first", "leader", "average", "paranoid"])
@pytest.mark.parametrize("players", thorough_but([1, 2, 3, 4], 3))
def test_utilities_of_random_games_are_those_of_the_recursion(players, ties):
    differ = 0
    for seed in range(150):
        graph = random_graph(seed, players, cycles=False)
        measured, utilities = found(graph, ties)
        wanted = slow_utilities(graph, ties)
        assert measured.remotenesses.tolist() == [plies for _, plies in wanted], seed
        scale = measured.details["scale"]
        for one, (other, _) in zip(utilities, wanted, strict=True):
            if ties == "average":
                assert all(abs(a / scale - float(b)) < 1e-5 for a, b in zip(one, other, strict=True)), seed
            else:
                assert one == other, seed
        differ += ties != "first" and utilities != found(graph, "first")[1]
        for i, value in enumerate(measured.values.tolist()):
            own = utilities[i][graph.movers[i]]
            most = max((paid for player, paid in enumerate(utilities[i]) if player != graph.movers[i]), default=0)
            assert value == (WIN if own > most else LOSE if own < most else TIE)
    assert differ > 20 or ties == "first" or players == 1


def test_nobody_can_force_more_than_he_gets_where_all_play_for_themselves():
    less = 0
    for seed in range(100):
        graph = random_graph(seed, 3, cycles=False)
        forced = found(graph, "paranoid")[1]
        for ties in ("first", "leader"):
            pairs = [pair for two in zip(forced, found(graph, ties)[1], strict=True) for pair in zip(*two, strict=True)]
            assert all(a <= b for a, b in pairs), seed
            less += sum(a < b for a, b in pairs)
    assert less > 100


@pytest.mark.parametrize("player", [0, 1, 2])
def test_what_a_player_can_force_is_a_game_of_two(player):
    """He has as much in the game of himself against one who moves for both others, and wants him to get little."""
    for seed in range(50):
        graph = random_graph(seed, 3, cycles=False)
        against = [(0 if mover == player else 1) for mover in graph.movers]
        pays = [(paid[player], -paid[player]) for paid in graph.pays]
        two = found(Graph(2, graph.tiers, graph.children, against, pays))[1]
        assert [own for own, _ in two] == [forced[player] for forced in found(graph, "paranoid")[1]]


def test_tiers_are_not_needed_where_play_ends():
    for seed in range(50):
        graph = random_graph(seed, 3, cycles=False)
        flat = Graph(3, [0] * len(graph), graph.children, graph.movers, graph.pays)
        assert found(flat)[1] == found(graph)[1]


def test_a_game_that_goes_round_is_refused_with_the_reason():
    round_and_round = Graph(3, [0, 0, 0], [[1, 2], [0], []], [0, 1, 2], [(0, 0, 0)] * 2 + [(1, 2, 3)])
    with pytest.raises(MetricNotApplicable, match=r"play can go round from position 0: .* games that come to an end"):
        found(round_and_round)


def test_other_ties_chance_and_great_payoffs_are_refused():
    with pytest.raises(MetricNotApplicable, match="no ties 'luck'; it is one of first, leader, average, paranoid"):
        found(random_graph(0, 3, cycles=False), "luck")
    with pytest.raises(MetricNotApplicable, match="without chance"):
        found(Graph(3, [0, 1], [[1], []], [-1, 0], [(0, 0, 0), (1, 0, 0)]))
    with pytest.raises(MetricNotApplicable, match="too much for averages"):
        found(Graph(2, [0, 1], [[1], []], [0, 0], [(0, 0), (1 << 20, 0)]), "average")


def test_players_who_take_turns_and_are_not_named_are_refused(tmp_path):
    """Utilities are of each player, and the positions of such a game do not say who is to move."""
    with pytest.raises(MetricNotApplicable, match=r"utilities need turn\(position\), which says who is to move"):
        solve(load_game("tictactoe"), tmp_path / "solved.h5", metric="utilities")


def test_databases_of_utilities_without_players_are_found_to_be_wrong(tmp_path, monkeypatch):
    """Earlier versions have made such databases."""
    monkeypatch.setattr(method, "Traits", SimpleNamespace(of=lambda game: SimpleNamespace(alternates=False)))
    with open_database(solve(load_game("nim"), tmp_path / "solved.h5", metric="utilities")) as database:
        done = verify(database)
    assert done.wrong == len(database) and "has utilities, which need turn(position)" in str(done.problems[0])
