"""The Royal Game of Ur against published numbers, and against a slow program with squares as sets."""

from functools import cache
from math import comb

import pytest

from retrograde.games.catalog import load_game
from tests.helpers.expecting import bounds

ODDS = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]


def states(pieces, private=6, shared=8):
    """Return in how many ways the pieces of both can wait, stand on squares and have left, by choosing squares."""
    total = 0
    for mine in range(pieces + 1):
        for theirs in range(pieces + 1):
            for own in range(pieces - mine + 1):
                for other in range(pieces - theirs + 1):
                    squares = (
                        comb(shared, mine) * comb(shared - mine, theirs) * comb(private, own) * comb(private, other)
                    )
                    total += squares * (pieces - mine - own + 1) * (pieces - theirs - other + 1)
    return total


def one_has_left(pieces, path=14):
    """Return in how many ways the pieces of one can be placed where all of the other's have left."""
    return sum(comb(path, standing) * (pieces - standing + 1) for standing in range(pieces + 1))


def states_reached(game, positions):
    """Return how many positions there are before a throw, with player 0 to throw."""
    return sum(game.thrown(position) < 0 and game.player(position) == 0 for position in positions)


def test_there_are_as_many_states_as_published():
    """137,913,936: J. Heled, https://jheled.github.io/royalur/solve.html; 137,892,016 without those that are lost
    already: P. Lamont, https://royalur.net/solved."""
    assert states(7) == 137_913_936
    assert states(7) - one_has_left(7) == 137_892_016


@pytest.mark.long
def test_all_states_are_reached_and_the_last_ones_are_worth_what_heled_works_out():
    """Each has a piece left: on the last square 4/7, two off 116/161, and for the other one to throw there 74/161."""
    game = load_game("ur")
    found = bounds(game)
    assert states_reached(game, found) == states(1) - one_has_left(1) == 232
    for text, probability in (
        ("0:.............X/0:.............X 0", 4 / 7),
        ("0:............X./0:.............X 0", 116 / 161),
        ("0:............X./0:.............X 1", 1 - 74 / 161),
    ):
        low, high = found[game.read(text)]
        assert [(1 + float(bound)) / 2 for bound in (low, high)] == pytest.approx([probability] * 2, abs=1e-11)
    for (own, other), chance in slow_chances().items():
        text = "/".join(written(place) for place in (own, other))
        if own < 15:
            low, high = found[game.read(f"{text} 0")]
            assert float(low) - 1e-9 < 2 * chance - 1 < float(high) + 1e-9, text


@pytest.mark.slow
def test_all_states_of_two_pieces_are_reached():
    game = load_game("ur:2")
    assert states_reached(game, bounds(game)) == states(2) - one_has_left(2) == 12_990


def written(place):
    """Return a player's path with one piece, which waits on 0."""
    return f"{int(place == 0)}:" + "".join(".X"[square == place] for square in range(1, 15))


@cache
def slow_chances():
    """Return by (own square, the other's) how likely who is to throw wins with a piece each; 15 has left.

    Of one piece there is no choice, but that no piece may go where a throw is too great, or one stands on the rosette.
    """
    known = {(own, other): 0.5 for own in range(15) for other in range(15) if own != other or not 4 < own < 13}
    known |= {(15, other): 1.0 for other in range(15)}
    change = 1.0
    while change > 1e-14:
        change = 0.0
        for own, other in known:
            if own < 15:
                worth = sum(odds * after(known, own, other, throw) for throw, odds in enumerate(ODDS))
                change = max(change, abs(worth - known[own, other]))
                known[own, other] = worth
    return known


def after(known, own, other, throw):
    """Return the chance of who has thrown."""
    to = own + throw
    if throw == 0 or to > 15 or (to == other == 8):
        return 1 - known[other, own]
    if to == other and 4 < to < 13:
        other = 0
    if to in (4, 8, 14, 15):
        return known[to, other]
    return 1 - known[other, to]
