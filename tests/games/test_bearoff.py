"""The numbering of two-sided bear-offs, and its values against published ones and a slow program with lists of men."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import CHANCE
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.verification.verify import verify
from tests.helpers.marks import thorough_but

ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]


def placements(men, points):
    """Return all ways to place up to so many men of a side, as sorted points, but for all off."""
    ways = combinations_with_replacement(range(points + 1), men)
    return [tuple(filter(None, way)) for way in ways if any(way)]


def after_die(men, die):
    """Yield the men after each move by a die."""
    for point in {*men}:
        if point >= die or point == max(men):
            rest = list(men)
            rest.remove(point)
            yield tuple(sorted(rest + [point - die] * (point > die)))


@cache
def after_roll(men, dice):
    """Return the men of a side after each way to use the dice in their order; none are left once all men are off."""
    if not dice or not men:
        return {men}
    return set().union(*(after_roll(left, dice[1:]) for left in after_die(men, dice[0])))


@cache
def plays(men, high, low):
    return after_roll(men, (high,) * 4) if high == low else after_roll(men, (high, low)) | after_roll(men, (low, high))


@cache
def chance_to_win(own, other):
    """Return how likely the side that is to roll takes all its men off first."""
    total = 0.0
    for high, low in ROLLS:
        best = max(1 - chance_to_win(other, left) if left else 1.0 for left in plays(own, high, low))
        total += best if high == low else 2 * best
    return total / 36


def board(men, points):
    return ".".join(str(men.count(point)) for point in range(1, points + 1))


def position_of(game, own, other, roller=0):
    """Return a position before a roll from the points of men: of the side to roll, and of the other one."""
    both = board(own, game.points), board(other, game.points)
    return game.read(f"{both[roller]}/{both[1 - roller]} {roller}")


def bounds_at(database, position):
    return [Fraction(bound, database.file.details["scale"]) for bound in database.measures(position).values()]


@pytest.mark.parametrize("variant", ["bearoff:3,2,2", "bearoff:1,6,2", "bearoff:2,4,2"])
def test_each_way_to_place_the_men_of_two_sides_has_a_slot(variant):
    game = load_game(variant)
    ways = placements(game.men, game.points)
    expected = {position_of(game, own, other) for own in ways for other in ways}
    slots = [(tier, slot) for tier in game.tiers for slot in range(game.size(tier))]
    found = [game.unindex(*slot) for slot in slots]
    assert len(found) == len(expected)
    assert {*found} == expected
    assert [(game.tier(position), game.index(position)) for position in found] == slots
    assert all(game.turn(position) == CHANCE for position in found)


def test_other_positions_have_no_slot():
    game = load_game("bearoff:3,6,2")
    for text in ("1.0.0.0.0.1/0.1.0.0.0.0 0 2+1", "0.0.0.0.0.0/0.1.0.0.0.0 0", "1.0.0.0.0.1/0.1.0.0.0.0 1"):
        assert game.index(game.read(text)) < 0
    assert game.write(game.swapped(game.read("1.0.0.0.0.1/0.1.0.0.0.0 1 3+2"))) == "0.1.0.0.0.0/1.0.0.0.0.1 0 3+2"


def test_as_many_positions_are_numbered_as_published():
    """924 ways, all off included: GNU Backgammon's manual, Introduction to bearoff databases."""
    game = load_game("bearoff:6,6,2")
    assert sum(map(game.size, game.tiers)) == (924 - 1) ** 2
    chance = Random(1)
    for tier in game.tiers:
        slot = chance.randrange(game.size(tier))
        position = game.unindex(tier, slot)
        assert (game.tier(position), game.index(position)) == (tier, slot)


def test_one_side_is_listed():
    game = load_game("bearoff:2,3")
    assert game.tiers == ()
    assert check(game, compiled=False).ok


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["bearoff:2,2,2", "bearoff:3,6,2"])
def test_the_numbering_keeps_the_contract(variant):
    check(load_game(variant), limit=300, seconds=2).require_ok()


@pytest.mark.long
@pytest.mark.parametrize("men", thorough_but([2, 3, 4], 2))
def test_values_are_those_of_the_slow_program_and_as_published(men, tmp_path):
    game = load_game(f"bearoff:{men},6,2")
    pairs = Random(1).sample([*product(placements(men, 6), repeat=2)], 100)
    with open_database(solve(game, tmp_path / "bearoff.h5", method="numbered"), game=game) as database:
        assert database.file.header.storage == "bounds"
        assert verify(database).ok
        for own, other in pairs:
            expected = 2 * chance_to_win(own, other) - 1
            low, high = bounds_at(database, position_of(game, own, other))
            assert low - 1e-9 < expected < high + 1e-9
            assert high - low < 1e-9
            # With side 1 to roll, bounds are those of side 0.
            low, high = bounds_at(database, position_of(game, own, other, roller=1))
            assert low - 1e-9 < -expected < high + 1e-9
        # 27 of 36 rolls take a man off from the six point, and two rolls always do.
        low, high = bounds_at(database, position_of(game, (6,), (6,)))
        assert low <= 2 * (Fraction(27, 36) + Fraction(9, 36) ** 2) - 1 <= high
        # One roll is enough.
        assert bounds_at(database, position_of(game, (1, 1), (1, 1))) == [1, 1]
        # GNU Backgammon's manual, Introduction to bearoff databases: 67.1 %.
        low, high = bounds_at(database, position_of(game, (2, 5), (2, 3)))
        assert 0.6705 < (low + 1) / 2 <= (high + 1) / 2 < 0.6715


EQUITIES = {
    "1.1.2.0.1.0/1.0.1.3.1.0 0": 59624,
    "1.0.3.0.2.0/0.1.0.1.1.0 0": 7972,
    "0.2.3.1.0.0/1.0.0.0.4.0 0": 51761,
    "0.0.2.0.0.2/1.2.0.1.0.2 0": 58531,
    "0.0.0.2.0.2/0.0.3.0.0.0 0": 13264,
    "0.1.3.1.0.1/1.2.0.0.0.0 0": 3310,
    "0.2.0.0.1.3/0.1.0.0.2.1 0": 13499,
    "0.0.0.2.0.1/2.0.1.0.3.0 0": 62923,
    "1.4.0.0.1.0/1.0.0.3.0.0 0": 32104,
    "0.1.0.1.1.2/2.2.0.0.0.2 0": 46541,
    "1.0.2.2.1.0/1.0.0.2.0.3 0": 58422,
    "0.1.0.2.2.0/0.1.0.1.0.2 0": 36145,
}
"""Some equities without a cube from the database that `makebearoff -t 6x6` of GNU Backgammon 1.07 makes: -1 is 0, and 1
is 65535. It rounds them down turn by turn."""


@pytest.mark.slow
def test_two_sides_of_six_men_have_the_equities_of_gnu_backgammon(tmp_path):
    game = load_game("bearoff:6,6,2")
    with open_database(solve(game, tmp_path / "bearoff.h5"), game=game) as database:
        for text, equity in EQUITIES.items():
            low, high = bounds_at(database, game.read(text))
            assert high - low < 1e-12
            assert abs(low - (equity / 32767.5 - 1)) < 1.2e-4
