"""Searches of positions of several words: the same as of the same games in one word."""

import pytest

from retrograde.games import TIE, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.solver.search.depth.scoring import BEST, GIVEN, WORST
from retrograde.solver.search.depth.searcher import CountingSearch, PointSearch, ValueSearch
from retrograde.solver.search.scores.searcher import ScoreSearch
from retrograde.solver.search.searcher import Search
from tests.helpers.apart import Apart, InOne
from tests.helpers.wide import OneConnectFour, WideConnectFour, WideTicTacToe, graph_of

pytestmark = pytest.mark.long

TWINS = [
    (lambda: WideConnectFour(4, 4), lambda: OneConnectFour(4, 4)),
    *((lambda w=w: graph_of(Apart, w), lambda w=w: graph_of(InOne, w)) for w in range(6)),
]


@pytest.mark.thorough
@pytest.mark.parametrize("twins", TWINS)
def test_depth_searches_count_and_score_the_same(twins):
    wide, one = (kind() for kind in twins)
    if wide.primitive(wide.start) != UNDECIDED:
        return
    for order in (GIVEN, BEST, WORST):
        counted = [CountingSearch(game).count(game.start, 5, order) for game in (wide, one)]
        assert counted[0] == counted[1]
    assert CountingSearch(wide).count_minimax(wide.start, 4) == CountingSearch(one).count_minimax(one.start, 4)
    for depth in (1, 3, 6):
        for kind in (ValueSearch, PointSearch):
            assert kind(wide).scores(wide.start, depth) == kind(one).scores(one.start, depth)


@pytest.mark.thorough
@pytest.mark.parametrize("twins", TWINS)
def test_alpha_beta_proves_the_same(twins):
    wide, one = (kind() for kind in twins)
    depth = None if isinstance(one, OneConnectFour) else 12  # play on some graphs repeats
    results = [Search(game, 1, 1 << 27).find(game.start, None if depth else 600.0, depth=depth) for game in (wide, one)]
    assert fields_of(results[0])[:5] == fields_of(results[1])[:5]
    if not depth:
        assert (results[0].value, results[0].remoteness) == (TIE, 16)  # weakly solved by John Tromp
        assert len(Search(wide).line(wide.start, results[0])) == 16


def fields_of(result):
    return tuple(vars(result).values())


@pytest.mark.thorough
def test_scores_are_the_same():
    wide, one = WideTicTacToe(), load_game("tictactoe")
    for game, score in ((wide, ScoreSearch(wide)), (one, ScoreSearch(one))):
        assert score.score(game.start).score == 0
