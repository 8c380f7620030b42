"""Old names of modules give the modules from their new places."""

import os
import subprocess
import sys
from importlib import import_module

import pytest

from retrograde.old_names import MOVED, new_name
from tests.helpers.lacking import need_cluster


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_name_gives_the_same_module_as_the_new_one(old, new):
    need_cluster(old)
    assert import_module(old) is import_module(new)


@pytest.mark.parametrize(
    "statement",
    [
        "from retrograde.games.drawing import grid",
        "from retrograde.games.placed import Placed, placements",
        "from retrograde.games.points import alquerque, ways",
        "from retrograde.games.apart import PlacedApart",
        "from retrograde.games.captures import Captures",
        "from retrograde.games.drops import Drops",
        "from retrograde.games.hunt import Hunt",
        "from retrograde.games.mills import Mills",
        "from retrograde.games.sliding import Sliding",
        "from retrograde.games.in_line import InLine",
        "from retrograde.games.catalog import load_game",
        "from retrograde.games.connect4 import Connect4",
        "from retrograde.games.game import replaced",
        "from retrograde.games import points",
        "from retrograde.solver import check, estimate, open_solution, solve, verify",
        "from retrograde.solver.cluster.mpi import ranks",
        "from retrograde.solver.engine import solve",
        "from retrograde.solver.models.names import model_named",
        "from retrograde.solver.pairing import expected",
        "from retrograde.solver.play.solution import Response, Solution, open_solution",
        "from retrograde.solver.tablebase.probing import Tablebase, open_tablebase",
        "from retrograde.solver.audit.verify import verify",
        "from retrograde.solver.conformance.check import check",
        "from retrograde.databases.database import Database, Outcome",
        "from retrograde.databases.open import open_database",
    ],
)
def test_imports_that_the_docs_of_version_0_1_show_still_work(statement):
    need_cluster(statement)
    exec(statement, {})


def test_the_old_name_comes_first_in_a_new_process():
    """Where the new name has not been imported yet."""
    code = """
import sys
from retrograde.games.mills import Mills
assert Mills.__module__ == "retrograde.games.kinds.mills"
from retrograde.solver.models import names
import retrograde.solver.metrics.models.names as new
assert names is new and names.__spec__.name == new.__name__ == "retrograde.solver.metrics.models.names"
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})


def test_a_name_that_has_not_moved_is_left_alone():
    assert new_name("retrograde.solver.engine") is None
    assert new_name("retrograde.games.millstone") is None
    assert new_name("numpy") is None
