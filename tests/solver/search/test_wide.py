"""Searches of positions of several words: the same as of the same games in one word."""

import pytest

from retrograde.games import UNDECIDED
from retrograde.solver.search.depth.scoring import BEST, GIVEN, WORST
from retrograde.solver.search.depth.searcher import CountingSearch, PointSearch, ValueSearch
from tests.helpers.apart import Apart, InOne
from tests.helpers.wide import OneConnectFour, WideConnectFour, graph_of

TWINS = [
    (WideConnectFour, OneConnectFour),
    *((lambda w=w: graph_of(Apart, w), lambda w=w: graph_of(InOne, w)) for w in range(12)),
]


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
