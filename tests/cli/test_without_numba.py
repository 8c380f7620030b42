"""Reading, serving and publishing import no compiler, and work where it cannot be imported."""

import subprocess
import sys

import pytest

from tests.helpers.command_line import LATE, environment
from tests.helpers.serving import fill

pytestmark = pytest.mark.long
BLOCKED = """
import sys

class Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked)
"""
READ = """
import retrograde
for variant in ("tictactoe", "chess:KRK"):
    with retrograde.open(variant) as solution:
        found = [piece for piece in solution.positions("win")]
        print(sum(len(piece.positions) for piece in found))
        print(all((solution.lookup(piece.positions[:500])[0] == piece.values[:500]).all() for piece in found))
"""
SERVE = """
from fastapi.testclient import TestClient
from retrograde.cli.web.app import make_app
client = TestClient(make_app(), base_url="http://localhost:8000")
for path in ("position?variant=tictactoe", "reply?variant=chess:KRK&position=8/8/8/3k4/8/8/8/K6R%20w", "gallery"):
    print(client.get(f"/api/{path}").status_code)
"""
COMMANDS = """
from retrograde.cli import main
try:
    main(sys.argv[1:])
finally:
    assert "numba" not in sys.modules
"""


def run(home, program, *args):
    """Return the lines that a program prints in a process without the compiler."""
    command = [sys.executable, "-c", BLOCKED + program, *map(str, args)]
    done = subprocess.run(command, env=environment(home), capture_output=True, text=True, timeout=LATE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    return fill(tmp_path_factory.mktemp("home"), solved, ["tictactoe", "chess:KRK", "mutorere"])


def test_databases_are_read(home):
    assert run(home, READ) == ["390", "True", "21959", "True"]  # stored wins, as with the compiler


@pytest.mark.thorough
def test_the_page_is_served(home):
    assert run(home, SERVE) == ["200", "200", "200"]


@pytest.mark.parametrize(
    "args",
    [
        ("query", "tictactoe"),
        pytest.param(("info", "chess:KRK"), marks=pytest.mark.thorough),
        pytest.param(("publish", "mutorere", "--to", "SITE"), marks=pytest.mark.thorough),
    ],
)
def test_commands_answer(home, tmp_path, args):
    assert run(home, COMMANDS, *(tmp_path / "site" if word == "SITE" else word for word in args))
