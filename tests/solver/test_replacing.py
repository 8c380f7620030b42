"""A solve in Python replaces only what the command would replace; a class is found by its name where it is defined."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrograde
from retrograde.databases.errors import OtherRules
from retrograde.games import RetrogradeError, VariantError
from retrograde.games.identity.trusted import record_path
from retrograde.solver.replacing import CannotReplace
from tests.helpers.command_line import HEAP
from tests.helpers.command_line import retrograde as command

OTHER = HEAP.replace("min(3,", "min(2,")


def named(name, text=HEAP):
    """Return the rules of the heap in a class of another name."""
    return text.replace("class Heap", f"class {name}")


def program(text, home, folder, script=True):
    """Run a program, as a script or on standard input, in a folder; return (what it prints, what it complains of)."""
    (folder / "script.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py" if script else "-"], input=text, capture_output=True, text=True, cwd=folder,
        env={**os.environ, "RETROGRADE_HOME": str(home)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    for folder, text in (("a", HEAP), ("b", OTHER)):
        Path(folder).mkdir()
        Path(folder, "heap.py").write_text(text, encoding="utf-8")
    return tmp_path / "home"


def test_a_database_by_another_rule_file_is_not_replaced(home):
    path = retrograde.solve("a/heap.py")
    before = path.read_bytes()
    with pytest.raises(CannotReplace, match=r"made by other rules of heap; pass fresh=True to replace it"):
        retrograde.solve("b/heap.py")
    assert path.read_bytes() == before
    retrograde.solve("b/heap.py", fresh=True)
    assert path.read_bytes() != before


def test_a_database_of_something_else_is_not_replaced(home):
    path = retrograde.solve("tictactoe:2", "game.h5")
    before = path.read_bytes()
    with pytest.raises(CannotReplace, match=r"is of tictactoe:size=2, not of heap; choose another path"):
        retrograde.solve("a/heap.py", "game.h5", fresh=True)
    with pytest.raises(CannotReplace, match="holds another metric, remoteness; choose another path"):
        retrograde.solve("tictactoe:2", "game.h5", metric="score")
    assert path.read_bytes() == before
    Path("notes.h5").write_text("notes")
    with pytest.raises(CannotReplace, match="or remove it"):
        retrograde.solve("a/heap.py", "notes.h5")
    assert Path("notes.h5").read_text() == "notes"


def test_a_database_by_an_earlier_text_of_the_file_is_replaced_with_a_warning(home):
    path = retrograde.solve("a/heap.py")
    before = path.read_bytes()
    Path("a/heap.py").write_text(OTHER, encoding="utf-8")
    with pytest.warns(UserWarning, match=r"heap\.h5 was made by earlier rules of .*heap\.py, and is replaced"):
        retrograde.solve("a/heap.py")
    assert path.read_bytes() != before


def test_rules_that_the_file_never_had_in_any_solve_are_not_replaced(home, monkeypatch):
    """The database is by a rule file of that name, which is not on record."""
    path = retrograde.solve("b/heap.py")
    record_path().unlink()
    other = home / "other" / path.name
    retrograde.solve("a/heap.py", other)
    with pytest.raises(CannotReplace, match="made by other rules"):
        retrograde.solve("a/heap.py")


@pytest.mark.long
def test_a_script_replaces_what_it_has_made_after_an_edit(home, tmp_path):
    solve = "\nimport retrograde\nprint(retrograde.open(retrograde.solve(Mound())).value(10).remoteness)\n"
    assert program(named("Mound") + solve, home, tmp_path) == ("5\n", "")
    told, complaint = program(named("Mound", OTHER) + solve, home, tmp_path)
    assert told == "7\n" and "mound.h5 was made by earlier rules of mound, and is replaced" in complaint
    (tmp_path / "elsewhere").mkdir()
    refused = "\nimport retrograde\ntry: retrograde.solve(Mound())\nexcept Exception as error: print(error)\n"
    told, _ = program(named("Mound") + refused, home, tmp_path / "elsewhere")
    assert told.endswith("made by other rules of mound; pass fresh=True to replace it\n")


@pytest.mark.long
def test_a_class_named_like_an_installed_game_is_opened_by_its_name(home, tmp_path):
    """What fits the database is opened: the class, or the installed game."""
    command("solve", "nim:2")
    solve = (
        "\nimport retrograde\n"
        "retrograde.solve(Nim())\n"
        "print(retrograde.open('nim').value(10).remoteness, retrograde.verify('nim').ok)\n"
        "print(retrograde.open(retrograde.open('nim').database.file.path).game)\n"
        "print(retrograde.open('nim:2').game)\n"
    )
    assert program(named("Nim") + solve, home, tmp_path)[0].splitlines()[:2] == ["5 True", "Nim(size=10)"]
    with pytest.raises(OtherRules, match="made with other rules of nim"):
        retrograde.open("nim")


@pytest.mark.long
def test_a_class_of_an_imported_module_is_opened_by_its_name(home, tmp_path):
    (tmp_path / "mound.py").write_text(named("Mound"), encoding="utf-8")
    text = "import retrograde, mound\nretrograde.solve(mound.Mound(12))\nprint(retrograde.open('mound:12').game.size)\n"
    assert program(text, home, tmp_path)[0] == "12\n"
    assert program("import retrograde, mound\nprint(retrograde.open('mound:size=12').game.size)", home, tmp_path) == (
        "12\n",
        "",
    )


@pytest.mark.long
def test_of_a_class_of_a_script_the_message_names_the_script(home, tmp_path):
    run = "\nif __name__ == '__main__':\n    import retrograde\n    print(retrograde.solve(Mound()))\n"
    told, _ = program(named("Mound") + run, home, tmp_path)
    what = rf"a class of the program {tmp_path / 'script.py'} has them; open the database there, or move the class to a"
    for source in ("mound", told.strip()):
        with pytest.raises(VariantError, match=what):
            retrograde.open(source)
    assert what in command("query", "mound", status=1).stderr
    # A rule file of another name does not do; one of that name does.
    note = "is of mound, not of a; its rules are the same: name their file mound.py"
    Path("a.py").write_text(named("Mound"), encoding="utf-8")
    assert note in command("query", "./a.py", "--database", told.strip(), status=1).stderr
    Path("mound.py").write_text(named("Mound"), encoding="utf-8")
    assert "wins in 5 plies" in command("query", "./mound.py", "--database", told.strip()).stdout


@pytest.mark.long
def test_no_rule_file_is_blamed_for_a_database_that_it_has_not_made(home, tmp_path, monkeypatch):
    Path("mound.py").write_text(named("Mound"), encoding="utf-8")
    command("solve", "./mound.py")
    other = tmp_path / "other"
    other.mkdir()
    program(named("Mound", OTHER) + "\nimport retrograde\nretrograde.solve(Mound())\n", other, other)
    monkeypatch.setenv("RETROGRADE_HOME", str(other))
    told = command("query", "mound", "3", status=1).stderr
    assert "have changed" not in told and f"a class of the program {other / 'script.py'} has them" in told


@pytest.mark.long
def test_a_class_from_standard_input_is_opened_by_its_name(home, tmp_path):
    text = (
        "import retrograde\n"
        "try: retrograde.open('heap')\n"
        "except Exception as error: print(error)\n\n"
        "retrograde.solve(Heap())\n"
        "retrograde.solve(Heap(12))\n"
        "print(retrograde.open('heap').value(10).remoteness, retrograde.open('heap:12').start)\n"
    )
    told, _ = program(HEAP + "\n" + text, home, tmp_path, script=False)
    assert told == "no database for heap; make it in Python with: retrograde.solve(Heap(size=10))\n5 12\n"
    assert not home.exists()


def test_memory_may_be_text_and_what_is_no_game_is_named(home):
    assert retrograde.solve("tictactoe:2", memory="2G").exists()
    with pytest.raises(RetrogradeError, match=r"memory: '2 lots' is no size; write one as 800M, 1\.5G or 2GiB"):
        retrograde.solve("tictactoe:2", memory="2 lots")
    for workers in ("2", 0, 1.5, float("nan")):
        with pytest.raises(RetrogradeError, match=r"workers is .*; give a whole number, at least 1"):
            retrograde.solve("tictactoe:2", workers=workers)
    for function in (retrograde.solve, retrograde.check):
        heap = retrograde.games.load("./a/heap.py")
        with pytest.raises(TypeError, match=rf"{function.__name__}\(\) takes a game, not its class; write Heap\(\)"):
            function(type(heap))
        with pytest.raises(TypeError, match=rf"{function.__name__}\(\) takes a game, or the text .*, not int"):
            function(5)
