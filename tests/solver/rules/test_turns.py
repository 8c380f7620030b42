"""Which moves pass the turn: what is known of all moves of a game, against each move."""

import pytest

from retrograde.games import UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.turns import ALWAYS, NEVER, SOMETIMES, turns, which_turn
from retrograde.solver.runtime.kernel import kernel


@kernel
def which_compiled(game):
    return which_turn(game)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("tictactoe", ALWAYS), ("mutorere", ALWAYS), ("hanoi:disks=2", NEVER), ("kalah:2,2", SOMETIMES)],
)
def test_which_moves_pass_the_turn_is_what_each_move_says(text, expected):
    game = load_game(text)
    assert which_turn(game) == which_compiled(rules_for(game)) == expected
    seen, wave = set(), {game.start}
    while wave and len(seen) < 1000:
        moves = {(at, game.do_move(at, move)) for at in wave if game.primitive(at) == UNDECIDED
                 for move in game.generate_moves(at)}  # fmt: skip
        found = {turns(game, position, child) for position, child in moves}
        assert found <= {ALWAYS: {True}, NEVER: {False}, SOMETIMES: {True, False}}[expected]
        wave = {child for _, child in moves} - seen
        seen |= wave
