"""What each of several players gets, held against a recursion with fractions."""

import pytest

from retrograde.games.game import LOSE, TIE, WIN
from retrograde.solver.metrics.measured import Demand, Unsuited
from retrograde.solver.metrics.utilities import measure
from retrograde.solver.work.progress import Phase
from tests.measuring import Graph, random_graph, slow_utilities


def found(graph, ties="first"):
    measured = measure(graph, Demand("utilities", ties), Phase("solving", None))
    columns = [measured.columns[f"player{player}"].tolist() for player in range(graph.players)]
    return measured, [*zip(*columns, strict=True)]


@pytest.mark.parametrize("ties", ["first", "leader", "average"])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
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


def test_tiers_are_not_needed_where_play_ends():
    for seed in range(50):
        graph = random_graph(seed, 3, cycles=False)
        flat = Graph(3, [0] * len(graph), graph.children, graph.movers, graph.pays)
        assert found(flat)[1] == found(graph)[1]


def test_a_game_that_goes_round_is_refused_with_the_reason():
    round_and_round = Graph(3, [0, 0, 0], [[1, 2], [0], []], [0, 1, 2], [(0, 0, 0)] * 2 + [(1, 2, 3)])
    with pytest.raises(Unsuited, match=r"play can go round from position 0: .* games that come to an end"):
        found(round_and_round)


def test_other_ties_chance_and_great_payoffs_are_refused():
    with pytest.raises(Unsuited, match="no ties 'luck'; it is one of first, leader, average"):
        found(random_graph(0, 3, cycles=False), "luck")
    with pytest.raises(Unsuited, match="without chance"):
        found(Graph(3, [0, 1], [[1], []], [-1, 0], [(0, 0, 0), (1, 0, 0)]))
    with pytest.raises(Unsuited, match="too much for averages"):
        found(Graph(2, [0, 1], [[1], []], [0, 0], [(0, 0), (1 << 20, 0)]), "average")
