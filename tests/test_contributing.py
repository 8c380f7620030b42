"""What CONTRIBUTING.md shows can be done: each command is run, tests as far as finding them, and each link leads on."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]


def run(command: str, *more: str) -> str:
    """Run a command of the environment at the top of the project, and return what it prints."""
    words = shlex.split(command)
    settings = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    arguments = [word for word in words if word.partition("=")[0] not in settings]
    program = Path(arguments[0]).name
    start = [sys.executable] if program == "python" else [sys.executable, "-m", program]
    done = subprocess.run(
        [*start, *arguments[1:], *more], cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("command", [command for command in COMMANDS if "pytest" in command])
def test_commands_find_tests(command):
    where = [] if "tests/" in command else ["tests/test_text.py"]  # to collect all would take five seconds
    assert re.search(r"[1-9]\d*(/\d+)? tests? collected", run(command, "--collect-only", "-n", "0", *where))


@pytest.mark.long
@pytest.mark.parametrize("command", [command for command in COMMANDS if "benchmarks/" in command])
def test_benchmarks_are_run(command):
    assert "tictactoe, solve" in run(command)


@pytest.mark.long
def test_kernels_run_as_python():
    (command,) = (command for command in COMMANDS if "NUMBA_DISABLE_JIT" in command)
    assert "1 passed" in run(command)


def test_what_is_sound_is_what_ci_says():
    linters = [command for command in COMMANDS if "ruff" in command or "mypy" in command]
    assert len(linters) == 3
    wanted = [command.replace("ruff format", "ruff format --check") for command in linters]
    assert all(command in CI.splitlines() for command in wanted)
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    entries = [entry.replace(" --force-exclude", " .") for entry in re.findall(r"entry: (.*)", hooks)]
    assert entries == [*wanted, ".venv/bin/python -m pytest -m fast"]
    assert entries[-1] in COMMANDS


def test_no_command_is_left_out():
    kinds = ("pytest", "benchmarks/", "ruff", "mypy")
    assert len(COMMANDS) >= 8
    assert all(any(kind in command for kind in kinds) for command in COMMANDS)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_on(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]
    assert f"]({page})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_files_that_are_named_are_there():
    named = re.findall(r"`((?:tests/|games/)?\w+\.py)`", TEXT)
    assert len(named) > 8
    assert not [name for name in named if not (ROOT / name).exists() and not (ROOT / "tests" / name).exists()]
