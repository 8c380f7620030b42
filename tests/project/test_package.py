"""What `import retrograde` offers, and what it costs."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import retrograde
from tests.helpers.command_line import HEAP, LATE
from tests.helpers.paths import ROOT

LARGE = {"numpy", "h5py", "numba", "click", "zstandard", "psutil", "importlib.metadata"}
"""Libraries that take tens of milliseconds to import, or hundreds."""


def in_a_process(code: str, *options: str) -> str:
    """Run Python code in a process of its own and return what it prints."""
    return subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, check=True, timeout=LATE
    ).stdout


def test_the_names_are_all_there():
    assert retrograde.__all__ == ["__version__", "check", "games", "open", "open_tablebase", "solve", "verify"]
    assert {name for name in dir(retrograde) if not name.startswith("__")} == {*retrograde.__all__} - {"__version__"}
    assert {"__version__", "__doc__"} <= set(dir(retrograde))
    assert retrograde.__version__ == version("retrograde")
    with pytest.raises(AttributeError, match="no attribute 'solved'"):
        _ = retrograde.solved


def test_an_import_brings_no_large_library_and_takes_no_time():
    code = """
import json, sys, time
before = set(sys.modules)
began = time.process_time()
import retrograde
taken = time.process_time() - began
print(json.dumps([taken, sorted(set(sys.modules) - before)]))
"""
    runs = [json.loads(in_a_process(code)) for _ in range(3)]
    modules = set(runs[0][1])
    assert "retrograde" in modules
    assert not modules & LARGE
    assert not [name for name in modules if name.startswith("retrograde.") and name != "retrograde.old_names"]
    assert min(taken for taken, _ in runs) < 0.05


def test_names_are_imported_when_they_are_asked_for():
    code = "import sys, retrograde; retrograde.games.names(); print(sorted({%s} & set(sys.modules)))"
    assert in_a_process(code % ", ".join(map(repr, sorted(LARGE - {"importlib.metadata"})))).strip() == "[]"


def test_games_are_listed_in_every_way_that_somebody_may_try():
    names = retrograde.games.names()
    assert names == sorted(names)
    assert {"chess", "connect4", "tictactoe"} <= set(names)
    assert retrograde.games() == list(retrograde.games) == names
    assert retrograde.games.load("connect4:5,4") == retrograde.games.load("connect4:width=5,height=4")


def test_a_submodule_imported_before_changes_nothing():
    code = "import retrograde.games.catalog, retrograde; print(retrograde.games() == retrograde.games.names())"
    assert in_a_process(code).strip() == "True"


@pytest.mark.long
def test_a_game_is_solved_opened_and_verified_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    path = retrograde.solve("tictactoe:misere", workers=1)
    assert path == tmp_path / "tictactoe,misere=yes.h5"
    for source in ("tictactoe:misere", path, str(path)):
        with retrograde.open(source) as solution:
            assert (solution.value(0).value.name, solution.value(0).remoteness) == ("TIE", 9)
    assert retrograde.verify("tictactoe:misere").ok
    with retrograde.open(path) as solution:
        assert retrograde.verify(solution).positions == retrograde.verify(solution.database).positions == 5478
    with pytest.raises(retrograde.games.RetrogradeError, match="make it with: retrograde solve"):
        retrograde.open("tictactoe")


def test_games_may_be_given_as_such_and_as_rule_files(tmp_path):
    file = tmp_path / "heap.py"
    file.write_text(HEAP, encoding="utf-8")
    report = retrograde.check(file, compiled=False)
    assert (report.variant, report.findings) == ("heap", [])
    assert retrograde.check(retrograde.games.load(str(file)), 5, compiled=False).variant == "heap"
    path = retrograde.solve(f"{file}:size=5", tmp_path / "heap.h5")
    assert path == tmp_path / "heap.h5"
    assert path.is_file()
    with pytest.raises(retrograde.games.VariantError, match="no game 'heep'"):
        retrograde.check("heep")


def test_open_says_what_it_takes():
    with pytest.raises(TypeError, match=r"takes the text of a variant, .* or the path of a database, not int"):
        retrograde.open(5)


def test_python_m_retrograde_is_the_command():
    said = [
        subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True).stdout
        for module in ("retrograde", "retrograde.cli")
    ]
    assert said[0] == said[1] == f"retrograde {version('retrograde')}\n"


def test_inside_a_copy_of_the_sources_it_is_that_copy():
    """Python looks in the folder where it is run before it looks at what is installed, editable or not."""
    code = (
        "import sys; sys.meta_path = [finder for finder in sys.meta_path if 'Editable' not in repr(finder)]\n"
        f"sys.path.insert(0, {str(ROOT)!r}); import retrograde.databases; print(retrograde.databases.__file__)"
    )
    assert Path(in_a_process(code).strip()) == ROOT / "databases" / "__init__.py"


def test_all_of_it_is_marked_as_typed():
    assert (Path(retrograde.__file__).parent / "py.typed").is_file()


def test_type_checkers_find_what_python_finds():
    """`.typing` has a link for each file and folder that is installed as a part of `retrograde`."""
    root = ROOT
    links = {link.name for link in (root / ".typing" / "retrograde").iterdir() if link.exists()}
    own = {file.name for file in (root / "retrograde").iterdir() if file.is_file()}
    assert links == own | {"games", "databases", "solver", "cli"}


def test_the_recipe_and_the_citation_say_what_the_project_says():
    yaml = pytest.importorskip("yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe, citation = (yaml.safe_load((ROOT / name).read_text()) for name in ("packaging/conda.yaml", "CITATION.cff"))
    needed = {f"python{project['requires-python']}", *project["dependencies"]}
    assert {each.replace(" ", "") for each in recipe["requirements"]["run"]} == needed
    assert recipe["context"] == {"name": project["name"], "version": project["version"]}
    assert (citation["version"], citation["url"]) == (project["version"], project["urls"]["Repository"])
