"""Crashes a solve at every write, renaming, deletion and fsync in turn, and sees what is left; run as a process.

    python crashing.py KIND,KIND FOLDER MODE,MODE FIRST STEP MOST

A child is forked for each point. Until then it does what any solve does; there it writes half of what it was to write
and is gone (MODE `crash`), or the operating system refuses (`refuse`). Then another child solves the same game to the
end. It prints one line for each point at which something was not as it should be, and at last how many were tried.
"""

import errno
import io
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from retrograde.databases import DatabaseFile, frames
from retrograde.games import RetrogradeError
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.rules.exits import really_exit
from retrograde.solver.work import journal, scratch
from retrograde.solver.work.sizes import Sizes

KINDS = {
    "interpreted": ("tictactoe", None, 10**9),
    "memory": ("connect4:4,4", "compiled", 10**9),
    "stream": ("connect4:4,4", "compiled", 1_000),
    "given up": ("connect4:4,4", "compiled", 90_000),  # it seems larger, and has 80,000 records
    "dense": ("chess:KRK", "compiled", 10**9),
}
"""Variant, the way it is solved, and records from which games are streamed."""

CRASHED = 77


class Fault:
    """Counts what touches the disk, and fails at one point."""

    def __init__(self, point: int, refuse: bool):
        self.point, self.refuse, self.count = point, refuse, 0

    def tick(self, halfway: Callable[[], object] = lambda: None) -> None:
        """Count one operation, and fail if it is the one; *halfway* does part of it before a crash."""
        self.count += 1
        if self.count != self.point:
            return
        if self.refuse:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        halfway()
        really_exit(CRASHED)

    def wrap(self, module: object, name: str) -> None:
        """Count the calls of a function."""
        function = getattr(module, name)

        def counted(*args, **options):
            self.tick()
            return function(*args, **options)

        setattr(module, name, counted)

    def install(self) -> None:
        """Count all operations of this process from now on."""
        for name in ("replace", "fsync", "unlink", "mkdir", "ftruncate"):
            self.wrap(os, name)
        if not self.refuse:  # it would not raise
            self.wrap(shutil, "rmtree")
        self.wrap(frames.Frames, "write")
        fault = self

        class File(io.FileIO):
            def write(self, data):
                half = memoryview(data).cast("B")
                fault.tick(lambda: io.FileIO.write(self, half[: len(half) // 2]))
                return super().write(data)

            def truncate(self, size=None):
                fault.tick()
                return super().truncate(size)

        def open_file(path, mode):
            return io.BufferedWriter(File(path, mode)) if mode == "ab" else open(path, mode)

        scratch.FileIO = File  # type: ignore[misc]
        journal.open = open_file  # type: ignore[attr-defined]


def in_child(function: Callable[[], object]) -> int:
    """Run something in a process of its own, and return its exit status."""
    child = os.fork()
    if child == 0:
        try:
            function()
        except BaseException:
            traceback.print_exc()
            really_exit(1)
        really_exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def crash(kind: str, folder: Path, mode: str, first: int, step: int, most: int) -> int:
    """Try the points from *first*, each *step*-th, *most* of them; return how many there were."""
    variant, way, largest = KINDS[kind]
    game, path = load_game(variant), folder / "game.h5"

    def run() -> None:
        solve(game, path, way=way, sizes=Sizes(journal_seconds=0, in_memory=largest), workers=2)

    run()
    whole = path.read_bytes()
    tried = 0
    for point in range(first, 10**9, step):
        path.unlink(missing_ok=True)

        def fail(point: int = point) -> None:
            fault = Fault(point, mode == "refuse")
            fault.install()
            try:
                run()
            except RetrogradeError:
                really_exit(CRASHED)
            if fault.count < point:
                really_exit(0)
            really_exit(CRASHED)

        status = in_child(fail)
        if path.exists() and path.read_bytes() != whole:
            print(f"{kind}, {mode} at {point}: a database that is none")
        if status == 0 or tried == most:
            break
        tried += 1
        if status != CRASHED:
            print(f"{kind}, {mode} at {point}: ended with {status}")
        if in_child(run) or path.read_bytes() != whole:
            print(f"{kind}, {mode} at {point}: was not gone on with")
        left = sorted(file.name for file in folder.iterdir())
        if left != ["game.h5"]:
            print(f"{kind}, {mode} at {point}: left {left}")
        with DatabaseFile(path) as file:
            file.check()
    path.unlink(missing_ok=True)
    return tried


if __name__ == "__main__":
    kinds, folder, modes, *numbers = sys.argv[1:]
    each = [(kind, mode) for kind in kinds.split(",") for mode in modes.split(",")]
    counts = [crash(kind, Path(folder), mode, *map(int, numbers)) for kind, mode in each]
    print(f"tried {min(counts)}")
