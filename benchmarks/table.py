"""Measures retrograde beside other programs, and prints a table: python -m benchmarks.table

    python -m benchmarks.table                 all rows, some ten minutes on two cores
    python -m benchmarks.table --runs 5 pig    rows whose names contain "pig", the least of five runs

A row has the least CPU seconds (user and system, all threads) of some runs, ours and the yardstick's in turns, and the
median of the ratios of the pairs. Solves are whole commands. Their first run compiles, and does not count. Searches do
not count the start of Python. A yardstick is left out if it is not installed: `cc` compiles those in `yardsticks/`, and
`pip install open_spiel easyAI` brings other searches.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.others import GAMES
from retrograde.games.catalog import load_game
from retrograde.solver.search.prover import ProofNumberSearch
from retrograde.solver.search.searcher import Search

HERE = Path(__file__).parent
RETROGRADE = [sys.executable, "-m", "retrograde.cli"]
SIZE = 1 << 26
MEASURE = """
import os, sys
_, status, used = os.wait4(os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command and prints its CPU seconds and kilobytes of memory, in a process that is small itself."""


class Spent(NamedTuple):
    """CPU seconds, and the most memory in bytes if that was measured."""

    seconds: float
    memory: int = 0


Timer = Callable[[], Spent]

SOLVES = {
    "--help": None,
    "solve tictactoe --fresh": None,
    "solve connect4:5,4 --fresh": None,
    "query connect4:5,4 33": None,
    "verify connect4:5,4": None,
    "solve connect4:5,5 --fresh": None,
    "solve connect4:6,4 --fresh": None,
    "solve quixo:4 --fresh": None,
    "solve morris:6 --fresh": None,
    "solve draughts:4 --fresh": None,
    "solve chess:KRK --fresh": None,
    "solve chess:KRKN --fresh": None,
    "solve chess:KQKR --fresh": None,
    "solve pocketcube --fresh": "pocketcube.c",
    "solve pig:40 --fresh": "pig.c 40",
    "solve pig:100 --fresh": "pig.c 100",
}
"""Commands, and the yardstick of each: a C file in `yardsticks/`, or a program, with its arguments."""

SEARCHES = ["connect4:5,4", "connect4:6,4", "dodgem", "tests/helpers/hex.py:4", "tests/helpers/domineering.py:6,6"]


def command_timer(command: list[str], folder: Path) -> Timer:
    """Return a function that runs a command in a folder."""
    environment = {**os.environ, "RETROGRADE_HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}

    def run() -> Spent:
        answer = subprocess.run(
            [sys.executable, "-S", "-c", MEASURE, *command], cwd=folder, env=environment, capture_output=True, text=True
        )
        if answer.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {answer.stderr}")
        seconds, kilobytes = answer.stdout.split()[-2:]
        return Spent(float(seconds), 1024 * int(kilobytes))

    return run


def yardstick_timer(text: str | None, folder: Path) -> Timer | None:
    """Return a function that runs a yardstick, compiled if it is a C file; None if the machine lacks what it takes."""
    program, *arguments = (text or "").split() or [""]
    if program.endswith(".c"):
        if not shutil.which("cc"):
            return None
        built = folder / program.removesuffix(".c")
        subprocess.run(["cc", "-O2", "-o", built, HERE / "yardsticks" / program, "-lm"], check=True)
        program = str(built)
    return command_timer([program, *arguments], folder) if shutil.which(program) else None


def search_timer(variant: str, kind: type[Search] | type[ProofNumberSearch]) -> Timer:
    """Return a function that searches the value of a start on one thread, with an empty table of 64 MiB."""
    game = load_game(variant)

    def run() -> Spent:
        search = kind(game, size=SIZE)
        began = time.process_time()
        search.find(game.start, distance=False) if isinstance(search, Search) else search.find(game.start)
        return Spent(time.process_time() - began)

    return run


def rows(folder: Path) -> list[tuple[str, str, Timer, Timer | None]]:
    """Return name, name of the yardstick, and both timers of each row."""
    found: list[tuple[str, str, Timer, Timer | None]] = []
    for command, yardstick in SOLVES.items():
        ours = command_timer([*RETROGRADE, *command.split()], folder)
        found.append((command, yardstick or "", ours, yardstick_timer(yardstick, folder)))
    for variant in SEARCHES:
        name = f"search {variant.rpartition('/')[2]}"
        found.append((f"{name}, alpha-beta", "proof numbers", *(
            search_timer(variant, kind) for kind in (Search, ProofNumberSearch)
        )))  # fmt: skip
    for name, own, others in GAMES:
        for library, search in others.items():
            if theirs := installed(search):
                found.append((f"search {name}", library, lambda own=own: Spent(own().seconds), theirs))
    return found


def installed(search: Callable[[], NamedTuple]) -> Timer | None:
    """Return a timer of a search of another library; None if the library is not installed."""
    try:
        search()
    except ModuleNotFoundError:
        return None
    return lambda: Spent(search().seconds)  # type: ignore[attr-defined]  # `Told` of others.py


def sort_millions() -> Spent:
    """Return what NumPy takes to sort 20 million ints: a measure of the machine."""
    numbers = np.random.default_rng(1).integers(0, 1 << 62, 20_000_000)
    began = time.process_time()
    numbers.sort()
    return Spent(time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="", help="a part of the names of the rows")
    parser.add_argument("--runs", type=int, default=3, help="how often each row is measured")
    options = parser.parse_args()
    print(
        "| | CPU seconds | memory | yardstick | its CPU seconds | its memory | ratio |\n|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"| NumPy sorts 20 million ints | {sort_millions().seconds:.2f} | | | | | |", flush=True)
        for label, other, ours, theirs in rows(folder):
            if options.name in label:
                if label.startswith(("query", "verify")):
                    command_timer([*RETROGRADE, "solve", label.split()[1]], folder)()
                ours()
                pairs = [(ours(), theirs and theirs()) for _ in range(options.runs)]
                print(line(label, other, pairs), flush=True)


def line(label: str, other: str, pairs: list[tuple[Spent, Spent | None]]) -> str:
    """Return a row of the table."""
    mine = min(pair[0].seconds for pair in pairs), max(pair[0].memory for pair in pairs)
    theirs = [pair[1] for pair in pairs if pair[1]]
    cells = ["", "", "", ""]
    if theirs:
        ratio = statistics.median(one.seconds / two.seconds for one, two in pairs if two and two.seconds)
        cells = [other, *figures(min(one.seconds for one in theirs), theirs[0].memory), f"{ratio:.3g}"]
    return f"| `{label}` | {' | '.join([*figures(*mine), *cells])} |"


def figures(seconds: float, memory: int) -> tuple[str, str]:
    return f"{seconds:.3g}", f"{memory / 1e6:.0f} MB" if memory else ""


if __name__ == "__main__":
    main()
