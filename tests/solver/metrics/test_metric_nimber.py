"""Nimbers, held against the definition and what is published; sums of games against the games played as one."""

import pytest

from retrograde.games.catalog import load_game
from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN
from retrograde.solver import solve
from retrograde.solver.metrics.method import MetricOptions
from retrograde.solver.metrics.nimber import measure
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.values.sums import add, finite_options, goals, loopy, plus, value_of
from tests.helpers.heap import Heap
from tests.helpers.measuring import Graph, random_graph, slow_nimbers, slow_scores


def nimbers_of(graph):
    return measure(graph, MetricOptions("nimber"), Phase("solving", None))


@pytest.mark.as_python
@pytest.mark.parametrize("cycles", [False, True])
def test_nimbers_of_random_games_are_those_of_the_definition(cycles):
    infinite = 0
    for seed in range(150):
        graph = random_graph(seed, 2, cycles, alternating=True, impartial=True)
        found = nimbers_of(graph)
        wanted = slow_nimbers(graph, 5)
        assert found.columns["nimber"].tolist() == [loopy(n) if isinstance(n, set) else n for n in wanted], seed
        infinite += sum(isinstance(n, set) and len(n) > 0 for n in wanted)
        scores, plies = slow_scores(graph)
        assert [None if far < 0 else far for far in found.remotenesses.tolist()] == plies, seed
        assert found.values.tolist() == [WIN if s > 0 else LOSE if s < 0 else DRAW for s in scores]
        assert found.values.tolist() == [value_of(n) for n in found.columns["nimber"].tolist()]
    assert (infinite > 20) is cycles


def sum_of(one, other):
    """Return two graphs played as one, and where in it each pair of positions is."""
    places = {(i, j): i * len(other) + j for i in range(len(one)) for j in range(len(other))}
    children = [
        [places[child, j] for child in one.children[i]] + [places[i, child] for child in other.children[j]]
        for i, j in places
    ]
    pays = [(0, 0) if moves else (-1, 1) for moves in children]
    return Graph(2, [0] * len(places), children, [0] * len(places), pays, True), places


@pytest.mark.parametrize("cycles", [False, True])
def test_a_sum_is_worth_what_the_games_are_that_are_played_as_one(cycles):
    values = set()
    for seed in range(12):
        one, other = (random_graph(2 * seed + k, 2, cycles, alternating=True, impartial=True) for k in range(2))
        both, places = sum_of(one, other)
        worth = nimbers_of(both).columns["nimber"].tolist()
        parts = [nimbers_of(graph).columns["nimber"].tolist() for graph in (one, other)]
        for (i, j), place in places.items():
            assert worth[place] == plus(parts[0][i], parts[1][j])
            wins = goals([parts[0][i], parts[1][j]])
            found = [wins[0] == parts[0][child] for child in one.children[i]]
            found += [wins[1] == parts[1][child] for child in other.children[j]]
            assert found == [worth[child] == 0 for child in both.children[place]]
            values.add(value_of(worth[place]))
    assert values == ({WIN, LOSE, DRAW} if cycles else {WIN, LOSE})


def test_nim_sums_and_infinite_ones():
    assert add([]) == 0 and add([1, 2, 4]) == 7 and add([loopy({1}), loopy({2})]) == loopy(set())
    assert finite_options(loopy({0, 3, 61})) == {0, 3, 61} and loopy({61}) >= -(2**62)
    assert value_of(loopy({1})) == DRAW and value_of(add([loopy({1}), 1])) == WIN


def test_games_that_are_not_impartial_are_refused():
    tied = Graph(2, [0, 1], [[1], []], [0, 0], [(0, 0), (0, 0)], True)
    look = tied.blocks
    tied.blocks = lambda k: (part._replace(primitives=part.primitives * 3) for part in look(k))
    with pytest.raises(MetricNotApplicable, match="who cannot move loses; position 1 ends in another way"):
        nimbers_of(tied)
    with pytest.raises(MetricNotApplicable, match="moves again"):
        nimbers_of(Graph(2, [0, 1], [[1], []], [1, 1], [(0, 0), (0, 0)]))
    with pytest.raises(MetricNotApplicable, match="two players"):
        nimbers_of(random_graph(0, players=3))


@pytest.mark.parametrize("variant", ["domineering:2,2", "tictactoe:2", "dodgem:2", "hareandhounds"])
def test_games_in_which_positions_tell_who_is_to_move_are_not_impartial(variant, tmp_path):
    with pytest.raises(
        MetricNotApplicable, match=r"impartial games, in which both players have the same moves, and (here|by)"
    ):
        solve(load_game(variant), tmp_path / "mine.h5", metric="nimber")
    assert not list(tmp_path.iterdir())


class Swapped(Heap):
    """A heap of which positions tell who is to move by their lowest bit, and images swap the players."""

    start = 20

    def generate_moves(self, position):
        yield from range(1, min(3, position >> 1) + 1)

    def do_move(self, position, taken):
        return position - 2 * taken ^ 1

    def primitive(self, position):
        return LOSE if position < 2 else UNDECIDED

    def images(self, position):
        yield position ^ 1

    def draw_turn(self, position):
        return "ab"[position & 1]


def test_games_in_which_an_image_swaps_the_players_are_not_impartial(tmp_path):
    with pytest.raises(
        MetricNotApplicable, match=r"here images\(position\) swaps the players; compute remoteness or score"
    ):
        solve(Swapped(), tmp_path / "mine.h5", metric="nimber")
