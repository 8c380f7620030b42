"""Monte Carlo tree search: it plays well where few games suffice, in games of every kind."""

import json
from random import Random

import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.search.monte_carlo import by_monte_carlo
from tests.helpers.command_line import retrograde


@pytest.mark.parametrize(
    ("variant", "position", "move"),
    [
        ("tictactoe", "XX./OO./...", "c1"),  # it wins at once
        ("tictactoe", "X../OO./X..", "c2"),  # else the opponent does
        ("nim:heaps=1+2", "1+2", "2>1"),  # the only move that wins
        ("hanoi:disks=2", "11", "1-2"),  # the shortest way
    ],
)
def test_the_only_good_move_is_found(variant, position, move):
    game = load_game(variant)
    at = game.read(position)
    assert [game.move_name(at, by_monte_carlo(game, 400, Random(seed))(at)) for seed in range(3)] == [move] * 3


@pytest.mark.parametrize("variant", ["tictactoe", "pig:target=5", "dotsandboxes:1,2"])
def test_it_beats_a_player_who_moves_at_random(variant, solved):
    """With dice, with moves that pay, and by value."""
    command = [
        "match",
        variant,
        "mcts:60",
        "random",
        "--games",
        "20",
        "--seed",
        "1",
        "--json",
        "--database",
        solved(variant),
    ]
    points = [player["points"] for player in json.loads(retrograde(*command).stdout)["players"]]
    assert sum(points) == 20 and points[0] >= 13


def test_several_players_each_play_for_themselves():
    """Three are to take the last of three objects: the first takes one, for then nobody but the third can win."""
    game = load_game("nim3:heaps=3")
    chosen = by_monte_carlo(game, 400, Random(0))(game.start)
    assert chosen in game.generate_moves(game.start)
    assert by_monte_carlo(game, 400, Random(0))(game.start) == chosen  # the same for the same seed


def test_other_names_are_no_players():
    for name in ("mcts", "mcts:0", "mcts:-1", "mcts:many"):
        assert "no player" in retrograde("match", "tictactoe", name, "random", status=2).output
