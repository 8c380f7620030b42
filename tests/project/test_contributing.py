"""What CONTRIBUTING.md shows can be done: each command is run, tests as far as finding them, and each link leads on."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import c_reader
from tests.helpers.paths import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
IN_TABLE = [f".venv/bin/python -m {words}" for words in re.findall(r"^\| `(pytest[^`]*)`", TEXT, re.M)]
IN_BLOCKS = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]
COMMANDS = IN_TABLE + IN_BLOCKS


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


FIRST, *OTHERS = (command for command in COMMANDS if "pytest" in command)


@pytest.mark.long
@pytest.mark.parametrize("command", [FIRST, *(pytest.param(other, marks=pytest.mark.thorough) for other in OTHERS)])
def test_commands_find_tests(command):
    # To collect all tests takes ten seconds.
    where = [] if "tests/" in command else ["tests/games/contract/test_text.py"]
    assert re.search(r"[1-9]\d*(/\d+)? tests? collected", run(command, "--collect-only", "-n", "0", *where))


@pytest.mark.thorough
@pytest.mark.parametrize("command", [command for command in COMMANDS if "benchmarks." in command])
def test_benchmarks_are_run(command):
    assert "| `solve tictactoe --fresh` |" in run(command)


@pytest.mark.thorough
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
    assert all(entry.startswith("sh .ci/venv ") for entry in entries)  # a path that Windows has as well
    entries = [entry.replace("sh .ci/venv ", ".venv/bin/") for entry in entries]
    assert entries == [*wanted, ".venv/bin/python -m pytest -m fast"]
    assert entries[-1] in COMMANDS


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell")
@pytest.mark.parametrize("folder", ["bin", "Scripts"])
def test_hooks_find_the_environment_on_each_system(folder, tmp_path):
    def run_hook():
        command = ["sh", str(ROOT / ".ci" / "venv"), "told", "a", "b c"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    missing = run_hook()
    assert missing.returncode == 1 and "there is no environment .venv here" in missing.stderr
    program = tmp_path / ".venv" / folder / "told"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s;" "$@"\nexit 3\n', encoding="utf-8")
    program.chmod(0o755)
    done = run_hook()
    assert (done.stdout, done.returncode) == ("a;b c;", 3)


def test_no_command_is_left_out():
    kinds = ("pytest", "benchmarks.table", "ruff", "mypy")
    assert len(COMMANDS) >= 8
    assert all(any(kind in command for kind in kinds) for command in COMMANDS)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_on(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]
    assert f"]({page})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_files_that_are_named_are_there():
    named = re.findall(r"`((?:tests/|games/(?:\w+/)?)?\w+\.py)`", TEXT)
    assert len(named) > 8
    named = [name for name in named if "NAME" not in name]  # which stands for any game
    assert not [
        name for name in named if not (ROOT / name).exists() and not (ROOT / "tests" / "helpers" / name).exists()
    ]


# Workflows

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def jobs_of(name: str) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    yaml = pytest.importorskip("yaml", reason="workflows are read by PyYAML, which the extra docs brings")
    jobs: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))["jobs"]
    return jobs


def commands_of(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the commands of a workflow, each as it is for one entry of its job's matrix, and that entry."""
    found = []
    for job in jobs_of(name).values():
        for entry in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
            for step in job["steps"]:
                command = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda key: str(entry[key[1]]), step.get("run", ""))  # noqa: B023
                found += [(command, entry)] if command else []
    return found


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize("name", [path.name for path in WORKFLOWS])
def test_commands_of_workflows_are_shell(name):
    commands = [command for command, _ in commands_of(name)]
    assert commands and (name in ("release.yml", "site.yml") or any("pytest" in command for command in commands))
    for command in commands:
        subprocess.run(["bash", "-n", "-c", command], check=True)
        assert "${{" not in command


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("awk"), reason="this is no checkout")
def test_each_night_every_file_has_its_thorough_and_its_slow_tests_run():
    run: dict[str, list[str]] = {}
    for command, entry in commands_of("nightly.yml"):
        if "pytest" in command:
            printed = re.sub(r"^python -m pytest .*?(?=\$\()", "printf '%s\\n' ", command)
            lines = subprocess.run(["bash", "-c", printed], cwd=ROOT, capture_output=True, text=True, check=True).stdout
            assert f"-m {entry['kind']} " in command
            run.setdefault(entry["kind"], []).extend(lines.split())
    files = subprocess.run(["git", "ls-files", "tests"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tests = sorted(file for file in files.split() if Path(file).name.startswith("test_"))
    assert len(tests) > 100
    assert {kind: sorted(some) for kind, some in run.items()} == {"thorough": tests, "slow": tests}


def test_the_oldest_libraries_are_tested():
    (install, test) = [step["run"] for step in jobs_of("test.yml")["lowest"]["steps"] if "run" in step][-2:]
    assert "--resolution lowest-direct" in install and test == "python -m pytest -m fast"


@pytest.mark.skipif(sys.platform != "linux", reason="workflows install tools on Linux only")
def test_a_missing_tool_fails_in_ci_and_is_skipped_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setattr(c_reader.shutil, "which", lambda _: None)
    for ci, raised in ("true", pytest.fail.Exception), ("", pytest.skip.Exception):
        monkeypatch.setenv("CI", ci)
        with pytest.raises(raised, match="no compiler for C"):
            c_reader.compiled(tmp_path)


@pytest.mark.thorough
def test_a_test_that_hangs_fails(tmp_path, pytestconfig):
    assert 0 < float(pytestconfig.getini("timeout")) <= 3600
    (tmp_path / "test_hang.py").write_text("import time\n\ndef test_hangs():\n    time.sleep(100)\n")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-c", ROOT / "pyproject.toml", "-o", "timeout=1"]
    done = subprocess.run([*command, tmp_path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "Timeout" in done.stdout and "1 failed" in done.stdout
