"""Every command that a message advises is run as it stands, and works."""

import re
import shlex
from pathlib import Path

import pytest

from retrograde.cli.render.oracles import solve_advice
from retrograde.databases.book import open_book
from retrograde.databases.errors import NotInBook
from retrograde.databases.location import book_path
from retrograde.games import RetrogradeError
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import InternalError
from retrograde.solver import solve
from retrograde.solver.play.tablebase.probing import open_tablebase
from tests.helpers.command_line import HEAP, retrograde
from tests.solver.conformance.test_misspelt import PUZZLE

pytestmark = pytest.mark.long

ADVICE = re.compile(r"retrograde ((?:check|solve|search|prove|verify|info|query) [^;`\n]*?)(?=[;`)]|$)", re.MULTILINE)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Go to a folder with rule files, and another one for databases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    Path("heap.py").write_text(HEAP)
    Path("my walk").mkdir()
    Path("my walk/walk.py").write_text(PUZZLE.replace("start = 5", "steps: int = 5\n    start = 5"))


def follow(text, status=0):
    """Run the commands that a text advises; return what the last one prints."""
    advised = ADVICE.findall(text)
    assert advised
    return [retrograde(*shlex.split(advice), status=status).stdout for advice in advised][-1]


ADVISING = [
    pytest.param(["search", "my walk/walk.py:steps=6", "--method", "pn"], marks=pytest.mark.thorough),
    ["prove", "my walk/walk.py"],
    pytest.param(["search", "my walk/walk.py", "--metric", "score"], marks=pytest.mark.thorough),
    ["book", "my walk/walk.py", "--plies", "2"],
    ["info", "./heap.py:size=7"],
    ["info", "heap.py@nimber"],
    ["verify", "./heap.py"],
    ["export", "heap.py:12"],
    pytest.param(["judge", "./heap.py"], marks=pytest.mark.thorough),
    ["sum", "./heap.py"],
    ["list"],
    ["query", "chess:KQK", "8/8/8/8/8/2k5/8/KR6 w - - 0 1"],
]


@pytest.mark.parametrize("args", ADVISING, ids=" ".join)
def test_what_a_command_advises_works(args):
    done = retrograde(*args, status=0 if args == ["list"] else 1)
    follow(done.output)
    if args[0] not in ("search", "prove", "book", "solve", "list", "query"):
        retrograde(*args)  # as well


def test_rules_that_have_changed_are_solved_anew_by_what_is_advised():
    retrograde("solve", "heap.py", "--database", "heap.h5")
    Path("heap.py").write_text(HEAP.replace("min(3,", "min(2,"))
    follow(
        retrograde("solve", "heap.py", "--database", "heap.h5", status=1).stderr.replace(
            "solve it again with --fresh", "retrograde solve heap.py --database heap.h5 --fresh"
        )
    )
    retrograde("query", "heap.py", "--database", "heap.h5", "10")


def test_what_a_book_has_not_is_searched_for_by_what_it_advises():
    retrograde("book", "heap.py", "--plies", "2")
    with open_book(book_path("heap"), load_game("heap.py")) as book, pytest.raises(NotInBook) as caught:
        book[1]
    assert "wins in 1" in follow(str(caught.value))


def test_what_the_sample_finds_is_no_fault_of_rules_that_keep_the_contract(monkeypatch):
    monkeypatch.setattr("retrograde.solver.verification.sample.fault_at", lambda database, position: "is not stored")
    with pytest.raises(InternalError, match="`retrograde check` finds no fault of the rules"):
        solve(load_game("my walk/walk.py:6"), "walk.h5")


@pytest.mark.thorough
def test_the_tablebase_advises_what_makes_it_answer():
    with pytest.raises(RetrogradeError) as caught:
        open_tablebase("home")
    follow(str(caught.value))
    with open_tablebase("home") as tablebase, pytest.raises(RetrogradeError) as caught:
        tablebase.probe_dtm("8/8/8/8/8/4k3/8/KRR5 w - - 0 1")
    assert "retrograde solve chess:KRRK" in str(caught.value)


def test_nobody_is_told_to_solve_what_cannot_be_solved():
    """Positions of several words without numbers are solved only where they are few, unlike those of chess."""
    assert solve_advice(load_game("connect4:4,4"), "retrograde solve connect4:4,4").endswith("solve connect4:4,4")
    assert [solve_advice(load_game(text), "x") for text in ("chess", "connect4:9,7")] == ["", ""]
