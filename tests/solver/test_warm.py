"""`retrograde warm` compiles the loops of the solver: another game then compiles no loop."""

import json
import os

import pytest

from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.warm import SOLVES, prove_small, share_steps, solve_small
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


def write_name(folder):
    (folder / "written").touch()


def fail(folder):
    raise ValueError("this step fails")


def end_at_once(folder):
    os._exit(1)


def test_processes_share_steps(tmp_path):
    """Errors in steps, and processes that end, are told."""
    assert sorted(share_steps([("a", write_name), ("b", write_name), ("c", write_name)], tmp_path, 2)) == [
        "a",
        "b",
        "c",
    ]
    assert (tmp_path / "written").exists()
    with pytest.raises(ValueError, match="this step fails"):
        list(share_steps([("a", fail)], tmp_path, 2))
    with pytest.raises(RetrogradeError, match="has ended"):
        list(share_steps([("a", end_at_once)], tmp_path, 2))
