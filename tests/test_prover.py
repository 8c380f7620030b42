"""Proof-number search against slow solvers: the same value everywhere, round in circles and in tables far too small."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.games import DRAW, LOSE, TIE, WIN
from retrograde.games.catalog import load_game
from retrograde.solver.search.prover import Prover

from . import tangle
from .command_line import retrograde
from .reference import solve
from .solving import graphs

pytestmark = pytest.mark.long

SMALL = 1 << 20
TINY = 1 << 10
"""Bytes for 64 entries."""


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *((text, SMALL) for text in ("tictactoe", "tictactoe:3,true", "connect4:3,3,3", "connect4:4,3,3", "tentozero")),
        *((text, size) for text in ("mutorere", "dodgem", "hareandhounds") for size in (SMALL, TINY)),
        *((text, TINY) for text in ("tictactoe", "connect4:3,3,3")),
    ],
)
def test_values_are_those_of_a_slow_solver(text, size):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    prover = Prover(game, size)
    for position in Random(1).sample(sorted(truth), min(200, len(truth))):
        found = prover.find(position)
        assert (found.value, found.proved) == (truth[position][0], True)


@given(graphs, st.sampled_from([0, TINY, SMALL]))
@settings(max_examples=150, deadline=None)
def test_values_of_random_games_are_right(start, size):
    """With cycles, ties and draws, in a table that is far too small as well."""
    game = tangle.Tangle()
    truth = solve(game, starts=[start])
    prover = Prover(game, size)
    for position, (value, _) in sorted(truth.items()):
        found = prover.find(position)
        assert found.value == found.at_least == found.at_most == value


def test_out_of_time_is_an_answer():
    game = load_game("connect4")
    found = Prover(game, SMALL).find(game.start, seconds=0.3)
    assert (found.value, found.proved, found.at_least, found.at_most) == (None, False, LOSE, WIN)
    assert 0 < found.seconds < 30


def test_the_command_line():
    told = json.loads(retrograde("search", "mutorere", "--json").stdout)
    assert (told["value"], told["remoteness"], told["proved"], told["line"]) == ("draw", None, True, [])
    told = json.loads(retrograde("search", "tictactoe", "--method", "pn", "--json").stdout)
    assert (told["value"], told["remoteness"], told["proved"]) == ("tie", None, True)
    told = json.loads(retrograde("search", "dodgem", "--json").stdout)
    assert (told["value"], told["remoteness"], len(told["line"])) == ("win", 19, 19)
    refused = retrograde("search", "mutorere", "--method", "pn", "--depth", 3, status=2).output
    assert "--depth needs --method alpha-beta" in refused


def test_what_is_known_without_a_tie_or_a_draw_is_told():
    from retrograde.cli.search import verdict
    from retrograde.solver.search.searcher import Finding

    game = load_game("mutorere")
    assert verdict(game, game.start, Finding(None, None, DRAW, TIE, 0, 9, 0.1)) == (
        "not known; neither side can force a win"
    )
