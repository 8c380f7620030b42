"""Draw levels, held against games solved level by level, and against GamesmanClassic."""

from collections import Counter
from functools import partial

import pytest

from retrograde.games.contract.game import DRAW, LOSE, WIN, Value
from retrograde.solver.metrics.drawlevel import measure
from retrograde.solver.metrics.method import MetricOptions
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable
from tests.helpers.measuring import Graph, random_graph, slow_draws, slow_scores, two_sided_graph


def levels_of(graph):
    """Return the values and plies of all positions, and what each is as a draw."""
    measured = measure(graph, MetricOptions("drawlevel"), Phase("solving", None))
    columns = [measured.columns[name].tolist() for name in ("draw", "drawlevel", "drawremoteness")]
    draws = [
        (Value(kind) if kind else None, *(n if n >= 0 else None for n in rest))
        for kind, *rest in zip(*columns, strict=True)
    ]
    return measured, draws


@pytest.mark.as_python
@pytest.mark.parametrize("make", [two_sided_graph, partial(random_graph, alternating=True, impartial=True)])
def test_draw_levels_of_random_games_are_those_of_games_solved_level_by_level(make):
    kinds, levels = Counter(), Counter()
    for seed in range(150):
        graph = make(seed)
        measured, draws = levels_of(graph)
        scores, plies = slow_scores(graph)
        values = [WIN if s > 0 else LOSE if s < 0 else DRAW for s in scores]
        assert measured.values.tolist() == values, seed
        assert [None if far < 0 else far for far in measured.remotenesses.tolist()] == plies, seed
        assert draws == slow_draws(graph, values), seed
        kinds.update(kind for kind, _, _ in draws)
        levels.update(level for _, level, _ in draws)
    assert min(kinds[kind] for kind in (None, WIN, LOSE, DRAW)) > 3 and (make is not two_sided_graph or levels[1] > 100)


EXAMPLE = "1|0 2|3|4|6 7|3 4|5 8|5 8|9|8 10|9 11 12|10|13 17|15|12|14 16|18|11 18 20||16 20|16 19"
"""GamesmanClassic, src/mgraphgame.c, option 0: where each position leads to."""


def test_the_example_of_gamesman_has_the_levels_that_it_finds():
    children = [[int(child) for child in moves.split()] for moves in EXAMPLE.split("|")]
    ends = [(0, 0) if moves else (-1, 1) for moves in children]
    draws = levels_of(Graph(2, [0] * 21, children, [0] * 21, ends, True))[1]
    words = ["" if kind is None else f"{kind.name[0]}{level}.{plies}" for kind, level, plies in draws]
    found = "W3.1 L3.0 W2.3 L2.2 W2.1 W2.3 L2.0 L2.0 W1.1 L1.0 W0.1 L0.2 L0.0 W0.1 W0.1 L0.0"
    assert words == [*found.split(), "", "", "", "DNone.None", "DNone.None"]


def test_the_example_on_the_page_on_metrics_has_these_levels():
    names = "abcdefWL"  # `L`, a loss for the player to move, makes `W` a win; the page leaves it out
    moves = ["bW", "a", "bd", "c", "f", "e", "L", ""]
    children = [[names.index(child) for child in found] for found in moves]
    ends = [(0, 0) if found else (-1, 1) for found in moves]
    draws = levels_of(Graph(2, [0] * 8, children, [0] * 8, ends, True))[1]
    assert draws[:4] == [(LOSE, 0, 0), (WIN, 0, 1), (LOSE, 1, 0), (WIN, 1, 1)]
    assert draws[4:] == [(DRAW, None, None)] * 2 + [(None, None, None)] * 2


def test_games_in_which_somebody_moves_again_are_refused():
    with pytest.raises(MetricNotApplicable, match="two players take turns, move by move"):
        levels_of(random_graph(0))
    with pytest.raises(MetricNotApplicable, match="two players take turns, move by move"):
        levels_of(random_graph(0, players=1))
    with pytest.raises(MetricNotApplicable, match="moves pay nothing"):
        levels_of(random_graph(3, alternating=True, cycles=False, pay=True))


def pong_hau_ki():
    """Return the graph of Pong Hau K'i, by what can be reached: two men each on five points, who cannot move loses."""
    near = [{1, 2, 3, 4}, {0, 2}, {0, 1, 3}, {0, 2, 4}, {0, 3}]  # the centre, and the others along the lines
    places, children, queue = {".XOXO/X": 0}, [], [".XOXO/X"]
    for text in queue:
        board, own = text.split("/")
        empty, found = board.index("."), []
        for i in (i for i in sorted(near[empty]) if board[i] == own):
            child = f"{swapped(board, i, empty)}/{'XO'[own == 'X']}"
            if child not in places:
                places[child] = len(places)
                queue.append(child)
            found.append(places[child])
        children.append(found)
    ends = [(0, 0) if moves else (-1, 1) for moves in children]
    return Graph(2, [0] * len(places), children, [0] * len(places), ends, True)


def swapped(board, i, j):
    """Return a board with what stands on two points exchanged."""
    signs = [*board]
    signs[i], signs[j] = signs[j], signs[i]
    return "".join(signs)


def test_all_draws_of_pong_hau_ki_are_pure_as_gamesman_finds():
    """GamesmanClassic, src/mponghauki.c: 8 won, 4 lost, and at level 0 so many draws by remoteness."""
    measured, draws = levels_of(pong_hau_ki())
    assert Counter(measured.values.tolist()) == {WIN: 8, LOSE: 4, DRAW: 44}
    assert Counter(draw for draw in draws if draw[0]) == {
        ((WIN if plies % 2 else LOSE), 0, plies): count for plies, count in enumerate([4, 4, 8, 12, 4, 8, 4])
    }
