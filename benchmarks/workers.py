"""What the same solves take on threads, on Dask's workers and on ranks of MPI, in turns on this machine.

    python benchmarks/workers.py                                    the games and numbers of workers below, three times
    python benchmarks/workers.py --runs 5 --workers 2 connect4:5,6

Each solve is a command of its own, from its start to its end, all of its processes together; the first one of each
game, on two threads, is not counted: it compiles. Each process finds the bytecode of all modules, as Python keeps it.
On MPI there is one rank more, which solves. A row of workers.csv has the least CPU and wall seconds, and by how much
the CPU seconds were more than those of as many threads of the same turn, in the median; and the digest of the database,
which must be the same in all rows of a game. (For Linux.)
"""

import argparse
import csv
import ctypes
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import median

TABLE = Path(__file__).with_suffix(".csv")
GAMES = ["connect4:5,5", "connect4:6,4", "connect4:5,6", "morris:6", "quixo:4", "chess:KRKN"]
COLUMNS = ["game", "on", "workers", "runs", "cpu", "wall", "more", "sha256"]
KINDS = ["threads", "dask", "mpi"]
PR_SET_CHILD_SUBREAPER = 36
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Without bytecode kept, as Python and pip keep it, each process would need a second more to import."""
RETROGRADE = [sys.executable, "-m", "retrograde.cli"]


def command_of(kind: str, game: str, workers: int) -> list[str]:
    """Return the command that solves a game."""
    solve = [*RETROGRADE, "solve", game]
    if kind == "mpi":
        mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        return [mpiexec or "mpiexec", "-n", str(workers + 1), *solve, "--mpi"]
    return [*solve, "--workers", str(workers)] if kind == "threads" else [*solve, "--cluster", f"local:{workers}"]


def adopt() -> None:
    """Have processes whose parent has ended be ours, so that what they take is counted."""
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("processes cannot be adopted")


def wait_for_all() -> float:
    """Wait for all processes that were begun; return the CPU seconds of those that have ended since the beginning."""
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def take(kind: str, game: str, workers: int) -> tuple[float, float, str]:
    """Solve a game; return CPU seconds of all processes, wall seconds, and the digest of the database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.h5"
        before, began = wait_for_all(), time.monotonic()
        command = [*command_of(kind, game, workers), "--database", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        wall = time.monotonic() - began
        return wait_for_all() - before, wall, hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def measure(game: str, numbers: list[int], runs: int) -> list[list[str]]:
    """Return the rows of a game."""
    take("threads", game, 2)
    found = defaultdict(list)
    for _ in range(runs):
        for workers in numbers:
            for kind in KINDS:
                found[kind, workers].append(take(kind, game, workers))
    rows = []
    for (kind, workers), taken in found.items():
        more = median(own[0] / one[0] - 1 for own, one in zip(taken, found["threads", workers], strict=True))
        digests = "/".join(sorted({digest for *_, digest in taken}))
        least = [f"{min(one[k] for one in taken):.1f}" for k in range(2)]
        rows.append([game, kind, str(workers), str(runs), *least, f"{100 * more:+.0f}%", digests])
    return rows


def read() -> dict[str, list[list[str]]]:
    """Return the rows that there are, by game."""
    rows = defaultdict(list)
    if TABLE.exists():
        with open(TABLE, newline="", encoding="utf-8") as file:
            for row in list(csv.reader(file))[1:]:
                rows[row[0]].append(row)
    return rows


def write(rows: dict[str, list[list[str]]]) -> None:
    """Keep the rows."""
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(row for game in rows.values() for row in game)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("games", nargs="*", default=GAMES)
    asked = parser.parse_args()
    rows = read()
    adopt()
    for game in asked.games:
        numbers = asked.workers.split(",")
        others = [row for row in rows[game] if row[2] not in numbers]
        rows[game] = others + measure(game, [*map(int, numbers)], asked.runs)
        print(*("  ".join(row) for row in rows[game]), sep="\n", flush=True)
        write(rows)


if __name__ == "__main__":
    main()
