"""Times whole commands, as a user waits for them, and prints each beside a reference of the same run.

    python benchmarks/speed.py                 all of it, about six minutes
    python benchmarks/speed.py --runs 5 board  those whose name has "board" in it, the median of five

The reference is NumPy sorting 20 million integers on one core: absolute times on a shared machine say little.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

import retrograde.games.connect4

HERE = Path(__file__).parent
RETROGRADE = [sys.executable, "-m", "retrograde.cli"]

COMMANDS = {
    "help": "--help",
    "tictactoe, solve": "solve tictactoe --fresh",
    "tictactoe, query": "query tictactoe",
    "board 4×4": "solve connect4:4,4 --fresh",
    "board 5×4": "solve connect4:5,4 --fresh",
    "board 5×5": "solve connect4:5,5 --fresh",
    "board 6×4": "solve connect4:6,4 --fresh",
    "board 5×5, one worker": "solve connect4:5,5 --fresh --workers 1",
    "board 5×5, a user's copy": "solve copy_of_connect4.py:5,5 --fresh",
    "board 5×5, a user's plain file": "solve plain_connect4.py --fresh",
    "board 5×5, query": "query connect4:5,5 33441",
    "board 5×5, verify": "verify connect4:5,5",
    "cycles, dodgem 4×4": "solve dodgem:4 --fresh",
    **{f"ending {name}": f"solve chess:{name} --fresh" for name in ("KRK", "KPK", "KRKN", "KQKR", "KBNK", "KRPK")},
    "ending KRKN, one worker": "solve chess:KRKN --fresh --workers 1",
    "ending KRKN, verify": "verify chess:KRKN",
    "ending KRKN, query": "query chess:KRKN 8/8/8/3k4/8/8/2n5/K6R_w",
}
POSITIONS = {"4×4": 161_029, "5×4": 3_945_711, "5×5": 69_763_700, "6×4": 94_910_577, "dodgem 4×4": 393_900}


def measure(command: str, folder: Path) -> tuple[float, float, int]:
    """Run a command and return its wall seconds, CPU seconds and peak memory in bytes."""
    environment = {**os.environ, "RETROGRADE_HOME": str(folder)}
    began = time.perf_counter()
    process = psutil.Popen([*RETROGRADE, *command.split()], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    peak, cpu = 0, 0.0
    while process.poll() is None:
        try:
            with process.oneshot():
                peak = max(peak, process.memory_info().rss)
                cpu = sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            break
        time.sleep(0.01)
    seconds = time.perf_counter() - began
    if process.wait():
        raise SystemExit(f"retrograde {command} failed")
    return seconds, cpu, peak


def written(folder: Path) -> int:
    """Return the size of the database that is newest."""
    files = sorted(folder.glob("*.h5"), key=lambda file: file.stat().st_mtime)
    return files[-1].stat().st_size if files else 0


def reference() -> float:
    """Return the seconds that NumPy takes to sort 20 million integers."""
    numbers = np.random.default_rng(1).integers(0, 1 << 62, 20_000_000)
    began = time.perf_counter()
    numbers.sort()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="", help="a part of the name of what to time")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(str(retrograde.games.connect4.__file__), folder / "copy_of_connect4.py")
        shutil.copy(HERE / "plain_connect4.py", folder)
        print(f"{'':32}{'seconds':>9}{'first':>8}{'CPU':>8}{'MB':>7}{'M pos/s':>9}{'bytes':>12}{'x reference':>13}")
        for label, command in COMMANDS.items():
            if options.name not in label:
                continue
            if command.startswith(("query", "verify")):
                measure("solve " + command.split()[1], folder)
            first, *_ = measure(command, folder)
            runs = [(*measure(command, folder), reference()) for _ in range(options.runs)]
            seconds, cpu, peak, _ = (statistics.median(column) for column in zip(*runs, strict=True))
            ratio = statistics.median(run[0] / run[-1] for run in runs)
            size = next((count for part, count in POSITIONS.items() if part in label and "query" not in label), 0)
            speed = f"{size / seconds / 1e6:9.2f}" if size else " " * 9
            row = f"{label:32}{seconds:9.2f}{first:8.2f}{cpu:8.2f}{peak / 1e6:7.0f}{speed}{written(folder):12}"
            print(f"{row}{ratio:13.2f}", flush=True)


if __name__ == "__main__":
    main()
