"""Solves on Dask's workers, of which one is killed at a random moment: the database must be that of threads.

    python benchmarks/kills.py                    twenty solves of each of the games below
    python benchmarks/kills.py --kills 5 morris:4
    python benchmarks/kills.py --every 360 --workers 4 connect4:8,4

The last is one solve, which takes an hour and 9 GB: one of four workers is killed every six minutes, more or less. It
tells of each kill, and the digest in the end, as sha256sum has it.

A row of kills.csv has the number of the solve, which is the seed; after how many seconds a worker was killed, what was
being done then, and which share of it was done; how long the solve took; and the digest of the database, beside that
of one that two threads have made.
"""

import argparse
import csv
import hashlib
import itertools
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.runtime.cluster.dask import DaskExecutor, connected
from retrograde.solver.runtime.progress import Progress
from retrograde.solver.runtime.sizes import Sizes

TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ["game", "way", "solve", "killed_after", "phase", "done", "seconds", "sha256", "of_threads"]
GAMES = {
    "connect4:5,4": ("setwise", Sizes(in_memory=1, chunk_words=1000, sent_words=4000)),
    "morris:4": ("numbered", Sizes()),
    "chess:KRKN": ("numbered", Sizes()),
}
"""Games, how they are solved, and sizes by which the tasks of small ones are many."""
MEMORY = 9 * 10**9
"""Bytes that a solve has in which workers are killed again and again."""
SOON = 0.2
"""Seconds between two looks for a worker."""


class Killer(threading.Thread):
    """Kills a worker after so many seconds, others after so many more; what was told of the solve last, it tells."""

    def __init__(self, executor: DaskExecutor, waits: Iterable[float], chance: random.Random, aloud: bool = False):
        super().__init__(daemon=True)
        self.executor, self.waits, self.chance, self.aloud = executor, waits, chance, aloud
        self.last: Progress | None = None
        self.row: tuple[str, str, str] | None = None
        self.over = threading.Event()

    def listen(self, progress: Progress) -> None:
        self.last = progress

    def run(self) -> None:
        began = time.monotonic()
        for wait in self.waits:
            self.over.wait(wait)
            while not self.over.is_set():
                there = sorted(self.executor.client.run(os.getpid, on_error="ignore").values())
                if there:
                    self.kill(self.chance.choice(there), time.monotonic() - began)
                    break
                self.over.wait(SOON)
            if self.over.is_set():
                return

    def kill(self, worker: int, at: float) -> None:
        told = self.last
        os.kill(worker, signal.SIGKILL)
        share = f"{100 * told.done / told.total:.0f}%" if told and told.total else ""
        self.row = f"{at:.2f}", told.phase if told else "", share
        if self.aloud:
            print("  ".join(self.row), flush=True)


def digest(path: Path) -> str:
    """Return the digest of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def take(name: str, kills: int, folder: Path) -> list[list[str]]:
    """Solve a game on threads, once on workers that are left alone, and then while one is killed; return the rows."""
    way, sizes = GAMES.get(name, ("", Sizes()))
    game, path, rows = load_game(name), folder / "game.h5", []

    def solved(**options: Any) -> tuple[float, str]:
        began = time.monotonic()
        solve(game, path, method=way or None, sizes=sizes, fresh=True, **options)
        return time.monotonic() - began, digest(path)[:16]

    _, of_threads = solved(workers=2)
    with connected("local:2") as executor:
        solved(executor=executor)
        usual, _ = solved(executor=executor)
        for seed in range(kills):
            chance = random.Random(seed)
            killer = Killer(executor, [chance.uniform(0, usual)], chance)
            killer.start()
            seconds, found = solved(executor=executor, listener=killer.listen)
            killer.over.set()
            killer.join()
            rows.append([name, way, str(seed), *(killer.row or ("", "", "")), f"{seconds:.1f}", found, of_threads])
            print("  ".join(rows[-1]), flush=True)
    return rows


def again_and_again(name: str, every: float, workers: int, folder: Path) -> None:
    """Solve a game while now and then some worker is killed."""
    chance, path = random.Random(0), folder / "game.h5"
    with connected(f"local:{workers}") as executor:
        waits = (chance.uniform(every * 2 / 3, every * 4 / 3) for _ in itertools.count())
        killer = Killer(executor, waits, chance, aloud=True)
        killer.start()
        solve(load_game(name), path, memory=MEMORY, executor=executor, listener=killer.listen)
        killer.over.set()
        killer.join()
    print(digest(path), name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--every", type=float, help="seconds between two kills in one solve, about")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("games", nargs="*", default=list(GAMES))
    asked = parser.parse_args()
    if asked.every:
        for name in asked.games:
            with tempfile.TemporaryDirectory() as folder:
                again_and_again(name, asked.every, asked.workers, Path(folder))
        return
    rows: list[list[str]] = []
    for name in asked.games:
        with tempfile.TemporaryDirectory() as folder:
            rows += take(name, asked.kills, Path(folder))
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(rows)
    print(f"{len(rows)} solves, {sum(row[3] != '' for row in rows)} kills, "
          f"{sum(row[-1] == row[-2] for row in rows)} databases as of threads")  # fmt: skip


if __name__ == "__main__":
    main()
