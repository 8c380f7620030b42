"""`retrograde new`: what it writes is a game that keeps the contract, with a test that passes, and nothing is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from retrograde.cli.commands.new import KINDS
from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import metric_of
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.verification.verify import verify
from tests.helpers import reference, turning
from tests.helpers.command_line import LATE, retrograde
from tests.helpers.marks import thorough_but
from tests.helpers.paths import ROOT


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to write in, with a home for databases of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    return tmp_path


START = {
    "board": "LOSE 6", "captures": "LOSE 16", "drops": "DRAW", "heap": "LOSE 10", "hunt": "DRAW", "lines": "TIE 9",
    "men": "LOSE 8", "mills": "WIN 9", "placements": "DRAW", "puzzle": "WIN 6",
}  # fmt: skip
"""The worth of the start of each kind, as the reference solver gives it."""
MEASURED = {"dice": "expectation", "heaps": "nimber", "players": "utilities", "sown": "score"}
"""The metric of the other kinds."""


def test_a_skeleton_is_there_for_every_kind():
    files = (ROOT / "games" / "skeletons").glob("[a-z]*.py")
    assert [*KINDS] == sorted(START | MEASURED) == sorted(file.stem for file in files)


def test_the_skeleton_of_lines_is_worth_what_the_reference_solver_says(folder):
    retrograde("new", "my_game", "--kind", "lines")
    game = load_game("./my_game.py")
    value, plies = reference.solve(game)[game.start]
    assert f"{value.name} {plies}" == START["lines"]


@pytest.mark.long
@pytest.mark.parametrize("kind", thorough_but(KINDS, "heap", "puzzle"))
def test_a_skeleton_is_checked_solved_and_short(kind, folder):
    retrograde("new", "my_game", "--kind", kind)
    rules = Path("my_game.py").read_text("utf-8")
    assert 20 < rules.count("\n") < 60 and rules.startswith('"""MyGame: say here what the ')
    game = load_game("./my_game.py")
    report = check(game)
    assert report.ok, str(report)
    path = solve(game, folder / "game.h5")
    with open_database(path, game=game) as database:
        assert verify(database).problems == []
        if kind in START:
            solved = turning.solve(game) if game.players == 1 else reference.solve(game)
            value, plies = solved[game.start]
            assert f"{value.name} {plies or ''}".strip() == START[kind]
            assert database[game.start] == (value, plies)
    assert metric_of(game) == MEASURED.get(kind, "remoteness")


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "options", "worth"),
    [
        ("heaps", "sizes=2+3+4", {"nimber": 1}),  # with at most three taken, heaps count modulo four: 2 ^ 3 ^ 0
        ("players", "stones=2", {"player0": 1, "player1": 0, "player2": 0}),  # the first player takes both
        ("sown", "pits=1,stones=2", {"score": 2}),  # one stone is sown upon one, and both are taken
        ("dice", "target=1,sides=2", {"low": (1 << 46) // 3}),  # p = 1/2 + (1 - p)/2; times 2 to the 46
    ],
)
def test_skeletons_with_a_metric_are_worth_what_one_finds_by_hand(kind, options, worth, folder):
    retrograde("new", "my_game", "--kind", kind)
    game = load_game(f"./my_game.py:{options}")
    with open_database(solve(game, folder / "game.h5"), game=game) as database:
        assert worth.items() <= database.measures(game.start).items()


@pytest.mark.parametrize("kind", ["heap", "board", "lines"])
@pytest.mark.thorough
def test_what_is_written_is_checked_solved_played_and_tested_as_it_stands(kind, folder):
    shown = retrograde("new", "my_game", "--kind", kind).stdout
    assert {path.name for path in folder.iterdir()} == {"my_game.py", "test_my_game.py"}
    commands = [line.split()[1:] for line in shown.splitlines() if line.startswith("  retrograde ")]
    assert [words[0] for words in commands] == ["check", "solve", "play"]
    for words in commands:
        told = retrograde(*words, input="quit\n").stdout
        assert "breaks" not in told and ("keeps the contract" in told) is (words[0] == "check")
    assert json.loads(retrograde("games", "./my_game.py", "--json").stdout)["rules"]
    test = [*shown.splitlines()[-1].split()[1:], "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([sys.executable, *test], capture_output=True, text=True, timeout=LATE, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["hexapawn", "sim", "chopsticks", "rivercrossing", "piglet", "konane", "nim3"])
def test_a_copy_of_a_game_is_solved_to_the_same_and_tested(game, folder):
    retrograde("new", "my_game", "--like", game)
    copy, known = (load_game(text) for text in ("./my_game.py", game))
    assert (type(copy).__name__, copy.name) == ("MyGame", "my_game")
    paths = [solve(one, folder / f"{number}.h5") for number, one in enumerate((copy, known))]
    assert facts_of(paths[0], copy) == facts_of(paths[1], known)
    run = [sys.executable, "-m", "pytest", "test_my_game.py", "-q", "-p", "no:cacheprovider"]
    assert subprocess.run(run, capture_output=True, timeout=LATE, check=False).returncode == 0


def facts_of(path, game):
    """Return the outcomes of a database and how many positions have each."""
    with open_database(path, game=game) as database:
        return [tuple(row) for row in database.file.legend]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--like", "chess"], "chess has several files and cannot be copied; choose another game, such as hexapawn"),
        (["--like", "chss"], "no built-in game 'chss'; list them with: retrograde games"),
        (["--like", "sim", "--board"], "--board and --like are two ways to start; give one"),
        (["--kind", "heap", "--board"], "--kind and --board are two ways to start; give one"),
    ],
)
def test_a_copy_that_cannot_be_made_is_refused_in_one_line(words, complaint, folder):
    told = retrograde("new", "mygame", *words, status=2).stderr
    assert told.startswith(f"retrograde: error: {complaint}") and told.count("\n") == 1
    assert not list(folder.iterdir())


@pytest.mark.thorough
@pytest.mark.long
def test_the_test_that_is_written_fails_where_the_rules_do():
    retrograde("new", "mygame")
    rules = Path("mygame.py")
    rules.write_text(rules.read_text("utf-8").replace("return left - taken", "return left - 1"), "utf-8")
    run = [sys.executable, "-m", "pytest", "test_mygame.py", "-q", "-p", "no:cacheprovider"]
    assert subprocess.run(run, capture_output=True, timeout=LATE, check=False).returncode == 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_follows_our_own_style(kind, folder):
    retrograde("new", "my_game.py", "--kind", kind)
    for path in folder.glob("*.py"):
        text = path.read_text("utf-8")
        assert "$" not in text and text.startswith('"""MyGame: ') and text.endswith("\n") and "\t" not in text
        assert max(map(len, text.splitlines())) <= 120
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=120", "--check", "."]
    assert subprocess.run(ruff, capture_output=True, check=False).returncode == 0


def test_nothing_is_written_over(folder):
    Path("test_mygame.py").write_text("mine")
    complaint = retrograde("new", "mygame", status=1).stderr
    assert complaint == (
        "retrograde: error: 'test_mygame.py' is there already, and is not written over; choose another name\n"
    )
    assert [path.name for path in folder.iterdir()] == ["test_mygame.py"]
    assert Path("test_mygame.py").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["class", "My", "a-b", "../up", "", "1st", "tail_", "chess", "tictactoe.py", "random", "numba"]
)
def test_names_that_no_rule_file_can_have_are_refused(name, folder):
    complaint = retrograde("new", name, status=2).stderr
    assert complaint.startswith("retrograde: error: ") and complaint.count("\n") == 1
    assert repr(name.removesuffix(".py")) in complaint
    assert not list(folder.iterdir())
