"""What is installed from a wheel is whole: it solves, verifies, answers and serves where the sources are not at hand.

Slow, and in need of the package index, so that it runs by name: pytest -m slow tests/project/test_wheel.py
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.helpers.command_line import HEAP
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.slow

FOLDERS = ("games", "databases", "solver", "cli")
BUILDING = ("retrograde", *FOLDERS, "LICENSE", "README.md", "pyproject.toml", "setup.py")
"""All that a wheel is made of."""
READING = ("docs", "benchmarks", "tests", ".ci", "mkdocs.yml", "MANIFEST.in")
PAGES = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md")
"""What a source distribution has besides."""


def run(*command: str | Path, **options: object) -> str:
    """Run a command that must succeed and return what it prints; *options* are those of subprocess.run."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL, **options
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def program(folder: Path, name: str) -> Path:
    """Return the path of a program in an environment."""
    return folder / ("Scripts" if os.name == "nt" else "bin") / name


def make_wheel(source: Path, folder: Path) -> Path:
    """Make a wheel in a folder from a tree of sources or an archive of one, and return its path."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def names_in(wheel: Path) -> list[str]:
    """Return the names of the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which nothing was built before."""
    copy = tmp_path_factory.mktemp("sources")
    for name in (*BUILDING, *READING, *PAGES):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy)
    return copy


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheel(sources, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and what it says that it needs."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    run(program(folder, "python"), "-m", "pip", "install", "--quiet", f"{wheel}[web]")
    return folder


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a rule file in it, to work in and to keep databases in."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "heap.py").write_text(HEAP, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def options(elsewhere: Path) -> dict[str, object]:
    """How programs are run there: without anything that leads to the sources."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    homes = dict.fromkeys(("RETROGRADE_HOME", "XDG_CONFIG_HOME", "APPDATA", "WIN_PD_OVERRIDE_APPDATA"), str(elsewhere))
    return {"cwd": elsewhere, "env": {**environment, **homes, "PYTHONUTF8": "1", "NO_COLOR": "1"}}


@pytest.fixture(scope="module")
def retrograde(clean: Path, options: dict[str, object]) -> Callable[..., str]:
    """Run a command line of the program that was installed."""
    return lambda *args: run(program(clean, "retrograde"), *args, **options)


def test_the_wheel_holds_all_modules_and_the_page(wheel):
    modules = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    page = {
        path for folder in ("static", "published") for path in (ROOT / "cli/web" / folder).iterdir() if path.is_file()
    }
    wanted = {f"retrograde/{path.relative_to(ROOT).as_posix()}" for path in modules | page}
    wanted |= {f"retrograde/{path.name}" for path in (ROOT / "retrograde").iterdir() if path.is_file()}
    assert len(page) >= 3
    assert {"retrograde/__init__.py", "retrograde/__main__.py", "retrograde/py.typed"} <= wanted
    assert {name for name in names_in(wheel) if ".dist-info/" not in name} == wanted


def test_a_source_distribution_gives_the_same_wheel(sources, wheel, clean, tmp_path):
    python = program(clean, "python")
    run(python, "-m", "pip", "install", "--quiet", "setuptools>=77")
    build = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    run(python, "-c", build, tmp_path, cwd=sources)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "setup.py", "cli/web/static/page.js"} <= names
    assert {*PAGES, "mkdocs.yml", "databases/FORMAT.md", "docs/reader.c", "docs/commands/solve.md"} <= names
    assert {"tests/games/test_games.py", "tests/data/connect4.csv", "benchmarks/growth.svg", ".ci/run"} <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".h5")]
    assert names_in(make_wheel(archive, tmp_path)) == names_in(wheel)


def test_what_an_index_shows_is_whole(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        head, _, shown = archive.read(name).decode().partition("\n\n")
    assert "Project-URL: Repository, https://" in head
    assert "License-Expression: MIT" in head
    assert "Description-Content-Type: text/markdown" in head
    assert all(f"\nClassifier: Programming Language :: Python :: 3.{minor}\n" in head for minor in range(11, 15))
    links = re.findall(r"\]\(([^)]+)\)", shown)
    assert len(links) > 20
    assert not [link for link in links if not link.startswith("https://")]
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", shown)
    assert {picture.rsplit("/", 1)[1] for picture in pictures} == {"page.png", "growth.svg"}
    assert all("/raw/main/" in picture for picture in pictures)


NEED_EXTRAS = {
    "retrograde.solver.runtime.cluster.dask": "pip install distributed",
    "retrograde.solver.runtime.cluster.mpi": "pip install mpi4py mpich",
}
"""Modules that say what to install."""


def test_every_module_imports(wheel, clean, options):
    names = [name[:-3].removesuffix("/__init__").replace("/", ".") for name in names_in(wheel) if name.endswith(".py")]
    names = [name for name in names if not name.endswith("__main__") and name not in NEED_EXTRAS]
    assert len(names) > 80
    code = "import importlib, json, sys; print(json.dumps([importlib.import_module(n).__file__ for n in sys.argv[1:]]))"
    files = json.loads(run(program(clean, "python"), "-c", code, *names, **options))
    assert all(clean.resolve() in Path(file).resolve().parents for file in files)
    for name, advice in NEED_EXTRAS.items():
        done = subprocess.run(
            [program(clean, "python"), "-c", f"import {name}"], capture_output=True, text=True, **options
        )
        assert done.returncode and advice in done.stderr
    for module in ("retrograde", "retrograde.cli"):
        assert "retrograde" in run(program(clean, "python"), "-m", module, "--version", **options)


def test_import_retrograde_offers_what_it_says(clean, options, sources):
    code = "import retrograde; path = retrograde.solve('tictactoe'); print(retrograde.open(path).value(0).remoteness)"
    assert run(program(clean, "python"), "-c", code, **options).strip() == "9"
    inside = "import retrograde; print(retrograde.open('tictactoe').value(0).remoteness)"
    assert run(program(clean, "python"), "-c", inside, **{**options, "cwd": sources}).strip() == "9"


def test_it_is_typed_for_who_uses_it(clean, options, elsewhere):
    """A type checker reads the annotations of what is installed, of the packages below as well."""
    (elsewhere / "uses.py").write_text(
        "import retrograde\nfrom retrograde.databases import Outcome\n\n"
        "with retrograde.open('tictactoe') as solution:\n    outcome: Outcome = solution.value(0)\n"
        "    reveal_type(solution.value(0).remoteness)\n    wrong: str = retrograde.games.names()\n",
        encoding="utf-8",
    )
    command = (sys.executable, "-m", "mypy", "--python-executable", program(clean, "python"), "uses.py")
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=elsewhere)
    assert 'uses.py:6: note: Revealed type is "int | None"' in done.stdout.replace("builtins.", "")
    assert "uses.py:7: error" in done.stdout
    assert "Found 1 error" in done.stdout


def test_it_solves_verifies_and_answers(retrograde, elsewhere):
    assert "a tie in 9 plies" in retrograde("solve", "tictactoe")
    assert "a tie in 16 plies" in retrograde("solve", "connect4:4,4")
    assert "every one is right" in retrograde("verify", "connect4:4,4")
    assert json.loads(retrograde("query", "connect4:4,4", "2122", "--json"))["remoteness"] == 12
    assert "the first player wins in 11 plies" in retrograde("solve", "./heap.py:size=21")
    assert "the player to move wins in 5 plies" in retrograde("query", "heap:size=21", "9")
    assert "perfect against rules, 4 games" in retrograde("match", "tictactoe", "perfect", "rules", "--games", "4")
    assert {path.stem for path in elsewhere.glob("*.h5")} == {"tictactoe", "connect4,width=4,height=4", "heap,size=21"}


@pytest.fixture
def address(retrograde, clean: Path, options: dict[str, object]) -> Iterator[str]:
    """The address of a server that was installed."""
    retrograde("solve", "tictactoe")
    command = [str(program(clean, "retrograde")), "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        assert process.stdout
        yield process.stdout.readline().split()[0]
    finally:
        process.terminate()
        process.wait(20)


def get(address: str, path: str, accept: str = "application/json") -> str:
    """Return what is answered to a request."""
    with urlopen(Request(address + path, headers={"Accept": accept}), timeout=20) as answer:
        return answer.read().decode()


def test_it_serves(address):
    assert "tictactoe" in {game["id"] for game in json.loads(get(address, ""))}
    for path, script in (("", "gallery"), ("?v=tictactoe", "page")):
        links = re.findall(r'(?:src|href)="(static/[^"]+)"', get(address, path, accept="text/html"))
        assert {f"static/{script}.js", "static/page.css"} <= set(links)
        assert all(len(get(address, link)) > 100 for link in links)
    position = json.loads(get(address, "tictactoe/regular/positions/?p=.../.../..."))
    assert (position["positionValue"], position["remoteness"]) == ("tie", 9)
