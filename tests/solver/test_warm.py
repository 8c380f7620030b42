"""`retrograde warm` compiles the loops of the solver: another game then compiles no loop."""

import json

import pytest

from retrograde.solver.warm import SOLVES, prove_small, solve_small
from tests.helpers.command_line import retrograde


@pytest.mark.thorough  # all have worked if they were compiled before the tests
@pytest.mark.parametrize("number", range(len(SOLVES)))
def test_every_small_solve_works(number, tmp_path):
    solve_small(SOLVES[number], tmp_path)
    assert list(tmp_path.glob("*.h5"))


@pytest.mark.thorough
def test_small_proofs_work(tmp_path):
    prove_small(tmp_path)


@pytest.mark.thorough
def test_warm_says_when_it_is_done():
    assert retrograde("warm").stdout == "all loops are compiled\n"
    assert json.loads(retrograde("warm", "--workers", "1", "--json").stdout) == {"steps": len(SOLVES) + 4}
