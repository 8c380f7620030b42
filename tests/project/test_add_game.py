"""A game is added by four edits: its file, its name in the catalogue, its test, and its entry in the gallery.

The test makes them in a copy of the project, and runs the tests that look at all games there.
"""

import os
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.helpers.paths import ROOT

RULES = '''"""Race: two players add one or two to a total; the player who reaches ten wins.

A position is the total.
"""

from retrograde.games import LOSE, UNDECIDED, Game


class Race(Game):
    """Add one or two to the total; the player who reaches ten wins."""

    title = "Race to ten"
    start = 0

    def generate_moves(self, total):
        yield 1
        if total < 9:
            yield 2

    def do_move(self, total, step):
        return total + step

    def primitive(self, total):
        return LOSE if total == 10 else UNDECIDED

    def tier(self, total):
        return total
'''

TEST = '''"""The race to ten."""

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve


def test_the_first_player_wins_with_a_first_step_of_one(tmp_path):
    with open_database(solve(load_game("race"), tmp_path / "race.h5")) as database:
        assert [total for total in range(10) if database[total].value.name == "LOSE"] == [1, 4, 7]
'''

ENTRY = """## Race to ten

<!-- board race 3 -->

Add one or two; the player who reaches ten wins. `retrograde solve race`

"""

LOOK_AT_ALL_GAMES = [
    "solver/conformance/test_check.py::test_our_games_pass[race]",
    "games/identity/test_digest.py::test_databases_of_today_are_known_by_the_digest_they_have",
    "solver/conformance/test_misspelt.py::test_no_game_of_ours_is_refused",
    "games/contract/test_naming.py::test_names_and_options_of_our_games_are_not_refused",
    "solver/conformance/test_precheck.py::test_our_games_are_not_refused[race]",
    "solver/search/test_prove.py::test_games_without_certificates_are_known",
    "project/test_readme.py::test_every_game_is_in_the_gallery_with_a_position_that_it_reads",
    "cli/web/test_page_board.py::test_every_built_in_game_with_a_board_is_played",
]


@pytest.fixture
def project(tmp_path):
    """A copy of the project, without what git ignores but for machine code, which is the same there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no checkout")
    for name in filter(os.path.lexists, filter(None, listed.stdout.split("\0"))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name, follow_symlinks=False)
    for code in (ROOT / "solver").rglob("__pycache__/*.nb[ci]"):
        there = tmp_path / code.relative_to(ROOT)
        if not there.parents[1].exists():  # a folder that is gone has left its machine code
            continue
        there.parent.mkdir(exist_ok=True)
        with suppress(OSError):  # on another disk it is compiled again
            os.link(code, there)
    return tmp_path


def insert(file, before, text):
    """Insert a text into a file, before another text that occurs there once."""
    old = file.read_text("utf-8")
    assert old.count(before) == 1
    file.write_text(old.replace(before, text + before), "utf-8")


@pytest.mark.thorough
def test_four_edits_add_a_game(project, monkeypatch):
    (project / "games" / "race.py").write_text(RULES, "utf-8")
    insert(project / "games" / "catalog.py", "teeko tentozero", "race ")
    (project / "tests" / "games" / "test_race.py").write_text(TEST, "utf-8")
    insert(project / "docs" / "gallery.md", "## Missionaries and cannibals\n", ENTRY)

    monkeypatch.setenv("PYTHONPATH", str(project / ".typing"))  # where `retrograde` is this copy
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow"]
    tests = [f"tests/{name}" for name in ("games/test_race.py", *LOOK_AT_ALL_GAMES)]
    done = subprocess.run([*command, *tests], cwd=project, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = [sys.executable, "-m", "retrograde", "games"]
    listed = subprocess.run(shown, cwd=project.parent, capture_output=True, text=True, check=True).stdout
    assert "Race to ten" in listed
