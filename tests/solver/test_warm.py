"""`retrograde warm` compiles the loops of the solver: another game then compiles no loop."""

import json

import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.warm import SOLVES
from tests.helpers.command_line import retrograde


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(SOLVES)))
def test_every_small_solve_works(number, tmp_path):
    each = SOLVES[number]
    assert solve(load_game(each.variant), tmp_path / "game.h5", each.options).exists()


@pytest.mark.thorough
def test_warm_says_when_it_is_done():
    assert retrograde("warm").stdout == "all loops are compiled\n"
    assert json.loads(retrograde("warm", "--json").stdout) == {"steps": len(SOLVES) + 2}
