"""README and the pages of the site say nothing that is not so: their commands are run, and print what they show."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from retrograde.cli.main import COMMANDS
from retrograde.games.catalog import BUILT_IN, load_game
from retrograde.solver import warm
from retrograde.solver.estimation import estimate
from tests.helpers.command_line import COMMAND, HEAP, LATE, environment, retrograde
from tests.helpers.hosting import Host
from tests.helpers.lacking import need_cluster
from tests.helpers.paths import ROOT
from tests.helpers.serving import Server

README = "README.md"
DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
SOLVED = ("tictactoe", "connect4:4,4", "chess:KRK")
"""What is solved before the pages of the site are read; README begins with nothing."""
SLOW_PAGES = {
    *("docs/against.md", "docs/chance.md", "docs/cluster.md", "docs/draughts.md", "docs/endgames.md"),
    *("docs/large-games.md", "docs/metrics.md", "docs/playing.md", "docs/searching.md"),
    *(f"docs/commands/{name}.md" for name in ("annotate", "book", "compare", "fit", "judge", "match", "new", "plot")),
    *(f"docs/commands/{name}.md" for name in ("prove", "query", "search", "warm")),
}
"""Pages whose commands take seconds."""

PGN = """[FEN "7k/8/5K2/6R1/8/8/8/8 w - - 0 1"]

1. Rg6 Kh7 2. Kf7 Kh8 3. Rh6#
"""
"""A game, whose first move is not the quickest."""


def text_of(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of code of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)


def having(language: str) -> list[str]:
    """Return the pages with blocks of a language."""
    return [page for page in (README, *DOCS) if blocks(page, language)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to be in, with the pages' own game in it, which is also where databases go: one for each test."""
    for name in ("heap.py", "mygame.py"):
        (tmp_path / name).write_text(HEAP, encoding="utf-8")
    [crosses] = [code for code in blocks("docs/ten-minutes.md", "python") if "class Crosses" in code]
    (tmp_path / "crosses.py").write_text(crosses, encoding="utf-8")
    (tmp_path / "moves.txt").write_text("2 1 2\n", encoding="utf-8")
    (tmp_path / "game.pgn").write_text(PGN, encoding="utf-8")
    shutil.copytree(ROOT / "tests" / "data" / "syzygy", tmp_path / "syzygy")
    shutil.copytree(ROOT / "docs" / "trees", tmp_path / "docs" / "trees")
    monkeypatch.setattr(estimate, "SECONDS", 60.0)  # else estimates tell less on a busy machine
    monkeypatch.chdir(tmp_path)
    for name, value in (("RETROGRADE_HOME", str(tmp_path)), ("NO_COLOR", "1"), ("PYTHONUTF8", "1")):
        monkeypatch.setenv(name, value)
    return tmp_path


def prepare(page: str, folder: Path, solved) -> None:
    """Put the databases into a folder that a page takes for granted."""
    if page != README:
        for variant in SOLVED:
            shutil.copy(solved(variant), folder)


def run(command: str, folder: Path) -> str:
    """Run a command line of retrograde and return what it prints; where there is more than that, by a shell."""
    program, *words = split(command)
    if program == "retrograde" and not {"|", "2>/dev/null"} & set(words):
        return retrograde(*words).stdout
    shell = command.replace("retrograde ", " ".join([f'"{COMMAND[0]}"', *COMMAND[1:], ""]), 1)
    done = subprocess.run(
        shell,
        shell=True,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LATE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def split(command: str) -> list[str]:
    """Return the words of a command line; quotes hold words together."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]


def test_the_game_is_the_one_that_tests_are_made_of():
    assert HEAP in blocks("docs/ten-minutes.md", "python")
    assert (ROOT / "tests" / "helpers" / "misere4.py").read_text(encoding="utf-8") in blocks("docs/kinds.md", "python")


CONSOLE = [pytest.param(page, marks=pytest.mark.thorough if page in SLOW_PAGES else ()) for page in having("console")]


@pytest.mark.long
@pytest.mark.parametrize("page", CONSOLE)
def test_transcripts(page, folder, solved):
    need_cluster("cluster.dask" if page == "docs/cluster.md" else page)
    prepare(page, folder, solved)
    transcripts = [
        part for block in blocks(page, "console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    assert transcripts
    for transcript in transcripts:
        command, shown = transcript.split("\n", 1)
        pattern = re.escape(shown.rstrip("\n")).replace(re.escape("..."), ".*") if shown.strip() else ""
        pattern = re.sub(r"^\.\*$", "(?:.*)", pattern, flags=re.MULTILINE)
        assert re.fullmatch(pattern + r"\s*", run(command, folder), re.DOTALL), command


def test_transcripts_are_many():
    assert len(having("console")) >= 14
    assert README in having("console")


@pytest.mark.thorough
def test_commands_of_the_table(folder, solved, monkeypatch):
    monkeypatch.setattr(warm, "SOLVES", warm.SOLVES[:1])
    prepare("docs/commands/index.md", folder, solved)
    commands = re.findall(r"`(retrograde [^`]+)`", text_of("docs/commands/index.md").split("\n## ")[0])
    assert {command.split()[1] for command in commands} == set(COMMANDS)
    run("retrograde solve nim", folder)  # what `sum` asks
    run("retrograde solve morris:3", folder)  # what `fit` is for
    for command in commands:
        if command == "retrograde serve":  # which ends only when it is told to
            server = Server(folder)
            server.stop()
        elif command == "retrograde fetch URL":
            pytest.importorskip("aiohttp", reason="addresses need the extra remote")
            with Host(solved("mutorere").parent) as host:
                run(command.replace("URL", f"{host.url}/mutorere.h5"), folder)
        elif command == "retrograde uci":
            assert "uciok" in run(f"echo uci | {command}", folder)
        elif command.startswith("retrograde play"):
            run(f"{command} --first perfect", folder)  # nobody is there
        else:
            run(command, folder)


@pytest.mark.long
@pytest.mark.parametrize("page", having("python"))
def test_python(page, folder, solved):
    for variant in SOLVED:
        shutil.copy(solved(variant), folder)
    for code in blocks(page, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), {"__name__": "example"})
        assert printed.getvalue().splitlines() == re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)


def test_every_command_has_a_guide_which_shows_it():
    for name in COMMANDS:
        page = f"docs/commands/{name}.md"
        assert page in DOCS, f"{page} is missing: what the command is for, a transcript, and the marker of its help"
        assert f"<!-- help {name} -->" in text_of(page)
        assert re.search(rf"\bretrograde {name}\b", text_of(page))
        assert f"({name}.md)" in text_of("docs/commands/index.md")
        assert f"](docs/commands/{name}.md)" in text_of(README)


def test_every_game_is_in_the_gallery_with_a_position_that_it_reads():
    entries = re.findall(r"^<!-- board (\S+?)(?: (.+))? -->$", text_of("docs/gallery.md"), re.MULTILINE)
    names = [variant.partition(":")[0] for variant, _ in entries]
    assert names == sorted(BUILT_IN), "docs/gallery.md has an entry for each game, in the order of their names"
    for variant, position in entries:
        game = load_game(variant)
        assert not position or game.write(game.read(position))


@pytest.mark.parametrize("page", [README, "SECURITY.md", "databases/FORMAT.md", "benchmarks/README.md", *DOCS])
def test_links_lead_on(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text_of(page))
    assert not [link for link in links if not (ROOT / page).parent.joinpath(link).exists()]


def test_what_is_promised_is_linked():
    assert {"SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "databases/FORMAT.md"} <= set(
        re.findall(r"\]\(([^)#]+)\)", text_of(README))
    )


def test_readme_is_short_and_begins_with_what_it_is_and_a_picture():
    assert len(text_of(README).split()) < 800
    title, summary, picture, facts = text_of(README).split("\n\n")[:4]
    assert title == "# retrograde"
    assert len(summary.split()) <= 25
    assert picture.startswith("![") and "page.png" in picture
    assert len(re.findall("^- ", facts, re.MULTILINE)) == 5
    assert "](benchmarks/growth.svg)" in text_of(README)


def test_ci_runs_the_commands_of_readme_and_site():
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    setting_up, testing = (line for block in blocks(README, "sh") for line in block.splitlines())
    assert "retrograde solve" in setting_up
    assert testing in ci
    assert ".venv/bin/mkdocs build --strict" in ci.splitlines()


def tracked() -> list[Path]:
    """Return the files of the project that are text."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no checkout")
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and path.suffix not in (".png", ".gz", ".h5", ".csv", ".rtbw")]


def test_the_address_of_the_project_stands_in_one_place():
    urls = tomllib.loads(text_of("pyproject.toml"))["project"]["urls"]
    address = urls["Repository"].partition("//")[2]
    having = sorted(path.name for path in tracked() if address in path.read_text(encoding="utf-8"))
    assert having == ["CITATION.cff", "pyproject.toml"]  # GitHub and Zenodo read the first one as it stands


def test_nobody_is_told_to_install_what_the_index_does_not_have():
    advice = re.compile(r"pip install [^\n`]*\bretrograde(?:\[|'|\"|$)", re.MULTILINE)
    told = [path.name for path in tracked() if advice.search(path.read_text(encoding="utf-8"))]
    assert told == []


@pytest.mark.thorough
@pytest.mark.long
def test_the_site_is_built(tmp_path):
    pytest.importorskip("mkdocstrings", reason="the site needs the extra docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LATE)
    assert done.returncode == 0, done.stderr
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert {page.removeprefix("docs/").replace(".md", ".html") for page in DOCS} <= made
    assert {"index.html", "format.html", "changelog.html", "benchmarks/growth.svg", "page.png", "reader.c"} <= made
    assert {f"gallery/{name}.svg" for name in BUILT_IN} <= made
    assert "hooks.py" not in made
    page = (tmp_path / "commands" / "solve.html").read_text(encoding="utf-8")
    assert "Usage: retrograde solve [OPTIONS] VARIANT" in page
    reference = (tmp_path / "python.html").read_text(encoding="utf-8")
    assert 'id="retrograde.databases.database.Database.lookup"' in reference
    whole = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html"))
    assert "<!-- help" not in whole and "<!-- board" not in whole
    loaded = re.findall(r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?:[^"]*)"', whole)
    assert loaded == []
