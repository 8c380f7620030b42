"""The canonical position of images in different tiers: the lowest tier decides, then the lowest number."""

import pytest

from retrograde.games import LOSE, UNDECIDED, Game
from retrograde.solver.rules import compiled, kernels

TIERS = (2, 1, 2, 0, 1, 0)
"""The tier of each position. All are images of each other, so position 3 is canonical: the lower of the two in tier
0."""


class Shuffled(Game):
    """A game whose positions are all images of each other, in several tiers; *first* is the image yielded first."""

    first: int = 0
    start = 0

    def generate_moves(self, position):
        yield 0

    def do_move(self, position, move):
        return position

    def primitive(self, position):
        return LOSE if position == 3 else UNDECIDED

    def tier(self, position):
        if position == 3 or position == 5:
            return 0
        return 1 if position == 1 or position == 4 else 2

    def images(self, position):
        for i in range(6):
            yield (self.first + i) % 6


class Pair(Shuffled):
    """The same with two images for each position: itself, and another one."""

    def images(self, position):
        yield position
        yield position ^ 1


def test_the_tiers_are_those_of_the_table():
    assert tuple(map(Shuffled().tier, range(6))) == TIERS


@pytest.mark.long
@pytest.mark.parametrize("first", [0, 4, *(pytest.param(first, marks=pytest.mark.thorough) for first in (1, 2, 3, 5))])
def test_the_lowest_tier_decides_before_the_lowest_number(first):
    game = Shuffled(first)
    compiled.prepare(game)
    for position in range(6):
        assert kernels.least_image(game, position) == (3, 0)
        assert kernels.canonical(game, position) == (3, 0)
        assert game.canonical(position) == 3


def test_an_image_in_a_lower_tier_may_be_the_greater_number():
    game = Pair()
    compiled.prepare(game)
    for low, high in ((0, 1), (2, 3), (4, 5)):  # the greater number of each pair is in the lower tier
        assert game.tier(high) < game.tier(low)
        for position in (low, high):
            assert kernels.canonical(game, position) == (high, game.tier(high))
            assert game.canonical(position) == high
