"""The README says nothing that is not so: its commands are run, and print what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from retrograde.databases import open_database

from .command_line import HEAP
from .serving import Server

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the blocks of code of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    """A folder with the README's own game in it, which is also where databases go: one for each test."""
    (tmp_path / "heap.py").write_text(HEAP, encoding="utf-8")
    return tmp_path


def run(folder, command: str) -> str:
    """Run a command line of retrograde and return what it prints."""
    environment = {**os.environ, "RETROGRADE_HOME": str(folder), "NO_COLOR": "1", "PYTHONUTF8": "1"}
    shell = command.replace("retrograde ", f'"{sys.executable}" -m retrograde.cli ', 1)
    done = subprocess.run(
        shell, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_game_is_the_one_that_tests_are_made_of():
    assert HEAP in blocks("python")


@pytest.mark.long
def test_transcripts(folder):
    transcripts = [entry for block in blocks("console") for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(transcripts) >= 6
    for transcript in transcripts:
        command, shown = transcript.split("\n", 1)
        pattern = re.escape(shown.rstrip("\n")).replace(re.escape("..."), ".*") if shown.strip() else ""
        pattern = re.sub(r"^\.\*$", "(?:.*)", pattern, flags=re.MULTILINE)
        assert re.fullmatch(pattern + r"\s*", run(folder, command), re.DOTALL), command


@pytest.mark.long
def test_commands_of_the_table(folder):
    commands = re.findall(r"`(retrograde [^`]+)`", README.split("## Use")[1].split("## Write")[0])
    commands = [command for command in commands if "VARIANT" not in command]
    assert {command.split()[1] for command in commands} == {
        *("games", "solve", "info", "query", "play", "match", "serve", "plot", "verify", "check", "list", "uci")
    }
    (folder / "mygame.py").write_text((folder / "heap.py").read_text(encoding="utf-8"), encoding="utf-8")
    run(folder, "retrograde solve connect4:4,4")  # as the first transcript does
    for command in commands:
        if command == "retrograde serve":  # which ends only when it is told to
            server = Server(folder)
            server.stop()
        else:
            run(folder, command)


@pytest.mark.long
def test_python(folder, monkeypatch, capsys):
    monkeypatch.setenv("RETROGRADE_HOME", str(folder))
    run(folder, "retrograde solve connect4:4,4")
    code = next(block for block in blocks("python") if "open_database" in block)
    exec(code, {"open_database": open_database})
    shown = re.search(r"# (Outcome.*)", code)
    assert shown
    assert capsys.readouterr().out.strip() == shown[1]


def test_what_is_promised_is_linked_and_links_to_what_there_is():
    assert "](SECURITY.md)" in README
    promises = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", promises)
    assert links
    assert all(Path(ROOT, link).exists() for link in links)


def test_ci_runs_the_command_of_the_readme():
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert next(command for command in commands if "pytest" in command) in (ROOT / ".ci" / "run").read_text()
    assert all(Path(ROOT, link).exists() for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", README))
