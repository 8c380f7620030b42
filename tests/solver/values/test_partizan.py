"""Canonical forms: against play by trees, and as published for domineering and clobber."""

import json
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from retrograde.games import LOSE, UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.solver.metrics.partizan import PartizanGame
from retrograde.solver.runtime.work import MetricNotApplicable
from retrograde.solver.values.partizan import Values
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough

# A tree is a pair: the trees that Left can move to, and those that Right can move to.


def random_tree(chance, depth):
    if not depth:
        return (), ()
    return tuple(
        tuple(random_tree(chance, chance.randrange(depth)) for _ in range(chance.randrange(3))) for _ in range(2)
    )


def negated(tree):
    return tuple(tuple(map(negated, side)) for side in reversed(tree))


@cache
def wins(trees, player):
    """Return whether a player who is to move wins a sum of trees."""
    for at, tree in enumerate(trees):
        for option in tree[player]:
            if not wins(tuple(sorted((*trees[:at], option, *trees[at + 1 :]))), 1 - player):
                return True
    return False


def value_of(values, tree):
    return values.make(*([value_of(values, option) for option in side] for side in tree))


@pytest.mark.long
def test_values_are_equal_where_no_play_tells_them_apart():
    values, chance = Values(), Random(0)
    trees = [random_tree(chance, 3) for _ in range(36)]
    found = [value_of(values, tree) for tree in trees]
    for one, first in zip(trees, found, strict=True):
        for other, second in zip(trees, found, strict=True):
            difference = tuple(sorted((one, negated(other))))
            # one ≥ other: Left wins the difference moving second; one ≤ other: Right does
            at_least, at_most = not wins(difference, 1), not wins(difference, 0)
            assert (values.is_at_most(second, first), values.is_at_most(first, second)) == (at_least, at_most)
            assert (first == second) == (at_least and at_most)
            assert values.plus(first, values.negative(second)) == value_of(values, sum_of(one, negated(other)))
    assert len(set(found)) > 12


@cache
def sum_of(one, other):
    """Return a sum as a tree."""
    return tuple(
        (*(sum_of(option, other) for option in one[player]), *(sum_of(one, option) for option in other[player]))
        for player in range(2)
    )


def test_canonical_forms_have_no_dominated_and_no_reversible_option():
    values, chance = Values(), Random(1)
    for _ in range(200):
        value = value_of(values, random_tree(chance, 4))
        for options, answers, better in (
            (values.left[value], values.right, lambda a, b: values.is_at_most(b, a)),
            (values.right[value], values.left, lambda a, b: values.is_at_most(a, b)),
        ):
            assert not any(one != other and better(one, other) for one in options for other in options)
            assert not any(better(value, answer) for option in options for answer in answers[option])


def test_means_and_temperatures_bound_sums_of_many():
    """n copies of a value come to n times the mean, give or take the temperature, whoever begins."""
    values, chance = Values(), Random(2)
    for _ in range(60):
        value = value_of(values, random_tree(chance, 3))
        mean, temperature = values.mean_and_temperature(value)
        for many in (1, 2, 3, 4):
            total, slack = values.add([value] * many), max(temperature, Fraction(1, 64)) + Fraction(1, 64)
            low, high = (values.of_number(dyadic(many * mean + sign * slack)) for sign in (-1, 1))
            assert values.is_at_most(low, total) and values.is_at_most(total, high)
            assert values.mean_and_temperature(total)[0] == many * mean


def dyadic(number):
    return Fraction(round(number * 64), 64)


@pytest.mark.parametrize(
    ("variant", "value"),
    [  # Winning Ways, chapter 5: Left plays upright; 4 × 4 is written there ±{0, {2|0, 2 + tiny 2 || 2|0, miny 2}}
        ("domineering:1,2", "1"),
        ("domineering:2,1", "-1"),
        ("domineering:2,2", "±1"),
        ("domineering:3,2", "{2|-1/2}"),
        ("domineering:2,3", "{1/2|-2}"),
        ("domineering:3,3", "±1"),
        thorough(("domineering:4,4", "±{0, {{2|0}, {2|{2|0}}|{2|0}, {{2|0}|0}}}")),
        ("clobber:2,1", "*"),
        ("nim:heaps=3+5", "*6"),
        ("octal:code=.77,n=7", "*2"),  # Kayles
    ],
)
def test_values_are_as_published(variant, value):
    values, game = Values(), load_game(variant)
    assert values.name(PartizanGame(game, values).value(game.start)) == value


def test_rows_of_clobber():
    """M. H. Albert and others, An introduction to Clobber, 2005: a row of stones before one of the opponent's."""
    values = Values()
    for text, name in (("XXO./X", "↑"), ("XOO./X", "↓"), ("XXXO/X", "⇑*")):
        game = load_game("clobber:4,1")
        assert values.name(PartizanGame(game, values).value(game.read(text))) == name


@pytest.mark.long
@pytest.mark.parametrize("variant", ["domineering:3,4", thorough("clobber:3,3"), "col:3,2", thorough("snort:3,2")])
def test_who_wins_is_what_play_says(variant):
    """By plain recursion over the rules, from random positions, for either player."""
    game, values, chance = load_game(variant), Values(), Random(3)
    part = PartizanGame(game, values)

    @cache
    def is_won(position):
        return any(not is_won(game.do_move(position, move)) for move in game.generate_moves(position))

    for _ in range(60):
        position = game.start
        for _ in range(chance.randrange(6)):
            if game.primitive(position) == UNDECIDED:
                position = game.do_move(position, chance.choice([*game.generate_moves(position)]))
        value = part.value(position)
        assert is_won(part.with_mover(position, 0)) == (not values.is_at_most(value, 0))
        assert is_won(part.with_mover(position, 1)) == (not values.is_at_most(0, value))
        assert game.primitive(position) in (LOSE, UNDECIDED)


@pytest.mark.thorough
def test_maps_of_col_are_worth_a_number_or_a_number_and_a_star():
    """Winning Ways, chapter 2."""
    values = Values()
    part, star = PartizanGame(load_game("col:3,3"), values), values.make([0], [0])
    part.value(part.game.start)
    seen = {*part.value_numbers.values()}
    assert len(seen) > 5 and star in seen
    for value in seen:
        assert values.number(value) is not None or values.number(values.plus(value, star)) is not None


@pytest.mark.parametrize("variant", ["tictactoe", "dodgem", "connect4:4,4", "dotsandboxes:2,2", "hexapawn"])
def test_games_that_end_otherwise_are_refused(variant):
    game = load_game(variant)
    with pytest.raises(MetricNotApplicable, match="no values as a short game"):
        PartizanGame(game, Values()).value(game.start)


def test_a_board_that_says_whose_turn_it_is_is_named_as_the_cause():
    with pytest.raises(MetricNotApplicable, match="the board says whose turn it is"):
        PartizanGame(load_game("connect4:4,4"), Values())


def test_a_sum_is_shown():
    shown = retrograde("sum", "domineering:2,2", "domineering:3,3").output
    assert shown.splitlines()[-1].startswith("the player to move loses")
    assert "Vertical wins, no matter who begins" in retrograde("sum", "domineering:3,2", "domineering:1,2").output


# CGSuite


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("clobber:3,2 XOX/OX./O", 'game.grid.Clobber("xox|ox.").CanonicalForm'),
        ("amazons:4,2,2 X.../O.../X", 'game.grid.Amazons("x...|o...").CanonicalForm'),
        ("amazons:4,4,2 X.../O.../.B../..../X", 'game.grid.Amazons("x...|o...|.#..|....").CanonicalForm'),
        ("toadsandfrogs:5,5,2", 'game.strip.ToadsAndFrogs("ttttt..fffff").CanonicalForm'),
        (
            "domineering:6,6 .#..../.#..../....../....../....../......,h",
            'game.grid.Domineering(".#....|.#....|......|......|......|......").CanonicalForm',
        ),
    ],
)
def test_text_for_cgsuite(part, text):
    """These texts are in the tests of CGSuite 2 (GameGridTest, GameStripTest) and in the help of its Domineering,
    except that with an arrow, of which its Amazons says that it is a #."""
    assert retrograde("sum", "--cgsuite", part).stdout == f"{text}\n"
    assert json.loads(retrograde("sum", "--cgsuite", part, part, "--json").stdout) == {"cgsuite": f"{text} + {text}"}


def test_cgsuite_computes_the_same_value():
    """Its GameGridTest has {^^*|*,v} for this position: ups are carets there, and v is down."""
    facts = json.loads(retrograde("sum", "clobber:3,2 XOX/OX./O", "--json").stdout)
    assert facts["value"] == "{⇑*|*, ↓}"


def test_games_that_cgsuite_does_not_have():
    assert "CGSuite has no ruleset for konane" in retrograde("sum", "--cgsuite", "konane:4,4", status=1).output
