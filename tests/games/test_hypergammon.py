"""Hypergammon against published figures, and against a slow program with lists of men."""

from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import UNDECIDED
from retrograde.solver.engine import solve
from retrograde.solver.verification.verify import verify
from tests.helpers.marks import thorough, thorough_but


class SlowGame:
    """Backgammon with few men. Each player counts the points from the own end; 0 is off, and the bar is the highest."""

    def __init__(self, men, points):
        self.men, self.points, self.home, self.bar = men, points, points // 4, points + 1

    def after_step(self, own, other, point, die):
        """Return the men of both after a step from a point; None if it is illegal."""
        if point not in own or point == 0 or (self.bar in own and point != self.bar):
            return None
        own, other = list(own), list(other)
        own.remove(point)
        if point > die:
            if other.count(self.bar - point + die) > 1:
                return None
            if self.bar - point + die in other:
                other.remove(self.bar - point + die)
                other.append(self.bar)
            own.append(point - die)
        else:
            if max([*own, point]) > self.home or (point < die and any(man > point for man in own)):
                return None
            own.append(0)
        return tuple(sorted(own)), tuple(sorted(other))

    def sequences(self, own, other, dice):
        """Yield (dice used, men of both) of all ways to use some dice in the given order until none can be used."""
        steps = [self.after_step(own, other, point, dice[0]) for point in sorted(set(own))] if dice else []
        if not any(steps):
            yield 0, own, other
        for both in filter(None, steps):
            for used, *after in self.sequences(*both, dice[1:]):
                yield used + 1, *after

    def plays(self, own, other, high, low):
        """Return the men of both after each legal play."""
        if high == low:
            found = [*self.sequences(own, other, [high] * 4)]
        else:
            found = [*self.sequences(own, other, [high, low]), *self.sequences(own, other, [low, high])]
        most = max(used for used, *_ in found)
        if most == 1 and high != low and any(used for used, *_ in self.sequences(own, other, [high])):
            found = [*self.sequences(own, other, [high])]
        return {(mine, theirs) for used, mine, theirs in found if used == most or not any(mine)}

    def paid(self, other):
        """Return what the winner gets."""
        return 1 if 0 in other else 3 if max(other) > self.points - self.home else 2

    def placements(self):
        """Yield the men of both players in all positions without a winner."""
        ways = [*combinations_with_replacement(range(self.bar + 1), self.men)]
        for own in filter(any, ways):
            for other in filter(any, ways):
                if not {self.bar - point for point in own} & {*other} & {*range(1, self.bar)}:
                    yield own, other

    def values(self):
        """Return what each position before a roll is worth for the player to roll, by sweeps until nothing changes."""
        rolls = [(high, low) for high in range(1, self.home + 1) for low in range(1, high + 1)]
        children = {
            both: [(1 if high == low else 2, self.plays(*both, high, low)) for high, low in rolls]
            for both in self.placements()
        }
        self.known = known = dict.fromkeys(children, 0.0)
        change = 1.0
        while change > 1e-13:
            change = 0.0
            for both, plays_of_rolls in children.items():
                total = sum(odds * self.best(plays) for odds, plays in plays_of_rolls)
                value = total / self.home**2
                change, known[both] = max(change, abs(value - known[both])), value
        return known

    def best(self, plays):
        """Return what the best of some plays is worth."""
        return max(-self.known[other, own] if any(own) else self.paid(other) for own, other in plays)

    def opening(self):
        """Return what the player gets who has won the opening roll, after `values`."""
        men = tuple(range(self.points - self.men + 1, self.bar))
        rolls = [(high, low) for high in range(1, self.home + 1) for low in range(1, high)]
        return sum(self.best(self.plays(men, men, *roll)) for roll in rolls) / len(rolls)


def text_of(own, other, bar):
    """Return a position's text, player 0 to roll."""
    names = {0: "off", bar: "bar"}
    return "/".join(",".join(str(names.get(man, man)) for man in men[::-1]) for men in (own, other)) + " 0"


def men_of(game, position, player):
    """Return the men of a player as the slow program has them."""
    return tuple(game.men_from_last(position, player)[::-1])


def positions(game, chance, count):
    """Yield random positions before a roll of player 0, with an opponent nearby more often than by chance."""
    while count:
        own, other = (sorted(chance.choices(range(game.bar + 1), k=game.men)) for _ in range(2))
        try:
            yield game.read(text_of(own, other, game.bar))
            count -= 1
        except ValueError:
            pass


@pytest.mark.long
@pytest.mark.parametrize("variant", [thorough("hypergammon"), "hypergammon:3,8", "hypergammon:2,12", "hypergammon:1"])
def test_plays_are_those_of_the_slow_program(variant):
    game = load_game(variant)
    slow = SlowGame(game.men, game.points)
    for position in positions(game, Random(variant), 20):
        both = [men_of(game, position, player) for player in range(2)]
        for pair, (high, low) in enumerate(game.pairs):
            rolled = game.do_move(position, pair)
            after = [game.do_move(rolled, move) for move in game.generate_moves(rolled)]
            assert len(after) == len({*after})
            assert {(men_of(game, child, 0), men_of(game, child, 1)) for child in after} == slow.plays(*both, high, low)
            names = {game.move_name(rolled, move) for move in game.generate_moves(rolled)}
            assert len(names) == len(after)
            mirrored = game.swapped(rolled)
            assert [game.swapped(game.do_move(mirrored, move)) for move in game.generate_moves(mirrored)] == after
            for child in after:
                over = game.primitive(child) != UNDECIDED
                assert over == (not any(men_of(game, child, 0)))
                assert game.player(child) == (0 if over else 1)
                assert not over or game.payoff(child, 0) == slow.paid(men_of(game, child, 1))


@pytest.mark.parametrize(
    ("position", "names"),
    [
        ("24,23,22/24,23,22 0 2+1", "22/20,20/19 22/20,23/22 22/20,24/23 23/21,22/21 23/21,24/23 24/22,23/22"),
        ("bar,6,5/24,23,22 0 3+2", "bar/22,5/3* bar/22,6/4 bar/22,22/20 bar/23,5/2* bar/23,6/3*"),
        ("bar,bar,5/24,3,3 0 6+2", "bar/19,bar/23"),
        ("bar,5,off/6,6,3 0 6+2", "bar/23,23/17"),  # two of the opponent's men bar the way in by a six
        ("bar,5,off/6,6,2 0 6+6", "pass"),
        ("13,off,off/6,6,5 0 6+5", "13/7,7/2"),
        ("22,off,off/9,9,8 0 6+2", "22/20,20/14"),  # a six first would end on 16, where two men stand
        ("19,off,off/12,10,10 0 3+1", "19/16"),  # not both dice, because of two men on 15: so the higher one
        ("9,off,off/24,24,18 0 5+2", "9/4,4/2 9/7*,7/2"),
        ("2,off,off/bar,bar,bar 0 6+1", "2/off"),
        ("4,2,off/bar,bar,bar 0 3+1", "4/1,1/off 4/1,2/1"),
        ("6,5,4/24,24,24 0 2+2", "6/4,4/2(2),2/off 6/4,5/3,4/2,2/off 6/4,5/3,4/2(2)"),
    ],
)
def test_plays_have_the_names_of_backgammon(position, names):
    game = load_game("hypergammon")
    rolled = game.read(position)
    assert game.write(rolled) == position
    assert " ".join(game.move_name(rolled, move) for move in game.generate_moves(rolled)) == names


@pytest.mark.long
def test_all_slots_are_positions_and_there_are_as_many_as_published():
    """7,959,904: T. Keith, Hypergammon Fun, https://bkgm.com/articles/Keith/Hyper04/index.html."""
    game = load_game("hypergammon")
    own = np.array([0, *(sum({1 << man for man in men if 0 < man < 25}) for men in ways(game))])
    other = np.array([0, *(sum({1 << 25 - man for man in men if 0 < man < 25}) for men in ways(game))])
    apart = [int(((one & other) == 0).sum()) for one in own]
    assert sum(apart) == 7_959_904
    assert sum(game.size(tier) for tier in game.tiers) == (len(own) - 1) ** 2
    chance = Random(1)
    for tier in game.tiers:
        for slot in chance.choices(range(game.size(tier)), k=500):
            position = game.unindex(tier, slot)
            if position >= 0:
                assert (game.index(position), game.tier(position)) == (slot, tier)
                assert game.read(game.write(position)) == position


def ways(game):
    """Return all ways to place a player's men, but for all off."""
    return [way for way in combinations_with_replacement(range(game.bar + 1), game.men) if any(way)]


@pytest.mark.long
@pytest.mark.parametrize(
    "variant", thorough_but(["hypergammon:1,8", "hypergammon:1", "hypergammon:2,8"], "hypergammon:1,8")
)
def test_bounds_hold_the_values_of_the_slow_program(variant, tmp_path):
    game = load_game(variant)
    slow = SlowGame(game.men, game.points)
    values = {game.read(text_of(*both, game.bar)): value for both, value in slow.values().items()}
    slots = {game.unindex(tier, slot) for tier in game.tiers for slot in range(game.size(tier))}
    assert slots - {-1} == {*values}
    with open_database(solve(game, tmp_path / "bounds.h5", method="numbered"), game=game) as database:
        assert verify(database).ok
        for position, value in [*values.items(), (game.start, slow.opening())]:
            low, high = (Fraction(bound, 1 << 46) for bound in database.measures(position).values())
            assert low - 1e-9 < value < high + 1e-9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("24,23/24,23,22 0", "each player has 3 men"),
        ("24,23,22/24,23,26 0", "on points from 1 to 24"),
        ("24,23,22/24,23,3 0", "men of both players stand on one point"),
        ("24,23,22/24,23,22", "a position is the men of both players"),
        ("24,23,22/off,off,off 0", "has won"),
        ("off,off,off/24,23,22 0 6+5", "has won"),
        ("24,23,22/24,23,22 0 5+6", "write the higher one first"),
    ],
)
def test_texts_that_are_no_position_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        load_game("hypergammon").read(text)


def test_a_board_and_a_picture_show_the_men():
    game = load_game("hypergammon")
    position = game.read("13,13,off/bar,5,5 0 6+5")
    assert game.show(position).splitlines() == [
        "  13  14  15  16  17  18  19  20  21  22  23  24",
        "  XX   .   .   .   .   .   .  OO   .   .   .   .",
        "  12  11  10   9   8   7   6   5   4   3   2   1",
        "   .   .   .   .   .   .   .   .   .   .   .   .",
        "X White: 0 on the bar, 1 off",
        "O Black: 1 on the bar, 0 off",
        "White: 6+5 rolled",
    ]
    board = game.draw_board()
    drawn = dict(zip(board.names, game.draw_pieces(position), strict=True))
    assert {name: sign for name, sign in drawn.items() if sign != "."} == {
        "13": "Y", "20": "P", "bar of Black": "O", "off of White": "X", "die 1": "6", "die 2": "5",
    }  # fmt: skip
    names = {game.move_name(position, move): game.draw_move(position, move) for move in game.generate_moves(position)}
    assert [board.names[place] for place in names["13/7,13/8"]] == ["13", "7", "13", "8"]
