"""What solves of Connect Four would take on a cluster, simulated from what tasks of smaller ones take on this machine.

    python benchmarks/cluster.py --measure connect4:5,6     measures the tasks of a solve in a stream, on two threads
    python benchmarks/cluster.py                            simulates 7×5, 8×4 and 7×6 on 1 to 1,000 cores

Measurements are kept in cluster.csv, a row for each game. The simulation goes wave by wave, forward and back, and takes
the last row's numbers. It assumes that

- a position takes the processor time, and the bytes read and written, that one of the measured game took, packed as
  there (larger boards take fewer bits), and nothing is found in memory that was read before;
- cores are as fast as here, and one is as good as another; tasks are cut as the solver cuts them, with no more than 2²⁵
  children, a gigabyte of memory; of each wave all tasks run on all cores, and the last one ends as late as it may (a
  task's time is added);
- the process that solves takes some time for each task (DRIVER), one after another, and that does not overlap with the
  barrier between two waves (BARRIER): settling, and the first tasks on their way;
- all read and write one shared file system of some bandwidth (STORAGE), as if what they do were spread evenly;
- the last phase, writing, runs on the cores of one machine (WRITERS).

What it leaves out: that a task is run again when its worker dies, other users, and latencies of the file system.
"""

import argparse
import csv
import tempfile
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from retrograde.databases import DatabaseFile
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.estimation.estimate import estimate
from retrograde.solver.methods.streamed.backward import solve_segments
from retrograde.solver.methods.streamed.forward import SMALL_TASK
from retrograde.solver.methods.streamed.forward_tasks import count_next_tiers, find_positions, sort_children
from retrograde.solver.runtime.progress import Progress
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.tasks import Remote, inner_function
from retrograde.solver.runtime.work import LARGER, cluster_task_size

TABLE = Path(__file__).with_name("cluster.csv")
BOARDS = {"7,5": 112_829_665_923, "8,4": 54_233_186_631, "7,6": 4_531_985_219_092}
"""Boards, and how many positions J. Tromp has counted (https://tromp.github.io/c4/c4.html)."""
CORES = (1, 10, 100, 1000)
DRIVER = 0.005
"""Seconds of the process that solves for a task: 4 ms for Dask's client and scheduler, in one process, and 1 ms of its
own."""
BARRIER = 0.5
STORAGE = 2e9
"""Bytes a second."""
WRITERS = 8
CHILDREN = 3.5
"""Children of a position, about."""


class Row(NamedTuple):
    """What was measured of a game: positions, tasks, CPU seconds, and bytes read and written, forward and back, and the
    CPU seconds of writing the database."""

    game: str
    positions: int
    forward_tasks: int
    forward_cpu: float
    forward_bytes: int
    back_tasks: int
    back_cpu: float
    back_bytes: int
    write_cpu: float


class Measuring(Remote):
    """An executor of two threads that takes the time of tasks, and of what they read and write."""

    workers, sharing, apart = 2, 2, False

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2)
        self.tasks: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.at = ""

    def submit(self, function: Any, /, *args: Any, **options: Any) -> "Future[Any]":
        self.at = name = inner_function(function).__name__

        def run() -> Any:
            began = time.thread_time()
            try:
                return function(*args, **options)
            finally:
                self.tasks[name] += 1
                self.seconds[name] += time.thread_time() - began

        return self.threads.submit(run)

    def look(self) -> None:
        """Count from now on what is read from scratch files and written there."""
        read, write = Scratch.read, Scratch.write

        def counted_read(scratch: Scratch, frame: Frame) -> bytes:
            self.bytes[self.at] += frame.packed
            return read(scratch, frame)

        def counted_write(scratch: Scratch, name: str, content: Any) -> Frame:
            frame = write(scratch, name, content)
            self.bytes[self.at] += frame.packed
            return frame

        Scratch.read, Scratch.write = counted_read, counted_write  # type: ignore[method-assign]


class Compiled(Exception):
    """All that a solve runs is compiled."""


def stop_when_compiled(progress: Progress) -> None:
    """End a solve once it is on its way back."""
    if progress.phase == "solving" and progress.done:
        raise Compiled


def measure(text: str) -> Row:
    """Solve a game in a stream, after its rules have been compiled."""
    game = load_game(text)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "game.h5"
        with suppress(Compiled):
            solve(game, path, method="streamed", workers=2, listener=stop_when_compiled)
        executor = Measuring()
        executor.look()
        phases: dict[str, float] = {}
        began = time.process_time()
        solve(
            game, path, method="streamed", fresh=True, executor=executor,
            listener=lambda progress: phases.__setitem__(progress.phase, time.process_time() - began),
        )  # fmt: skip
        with DatabaseFile(path) as file:
            positions = file.positions
    forward, back = (find_positions, sort_children, count_next_tiers), (solve_segments,)
    numbers = [
        [sum(counts[one.__name__] for one in tasks) for counts in (executor.tasks, executor.seconds, executor.bytes)]
        for tasks in (forward, back)
    ]
    return Row(text, positions, *numbers[0], *numbers[1], phases["writing"] - phases["solving"])  # type: ignore[arg-type]


class TaskData(NamedTuple):
    """What a solve would take: hours, what bounds it for most of them, tasks, and bytes read and written."""

    hours: float
    bound: str
    tasks: int
    moved: float


def simulate(waves: list[float], measured: Row, cores: int) -> TaskData:
    """Return what a game with waves of so many positions would take on so many cores."""
    seconds, tasks, moved = 0.0, 0, 0.0
    bounds: Counter[str] = Counter()
    for back in (False, True):
        cpu, amount = (
            (measured.back_cpu, measured.back_bytes) if back else (measured.forward_cpu, measured.forward_bytes)
        )
        cost, size = cpu / measured.positions, amount / measured.positions
        most, least = LARGER * Sizes().stream_children, Sizes().stream_positions if back else SMALL_TASK
        for positions in waves:
            items = positions / 2 * (1 if back else CHILDREN)  # of two that are mirror images one is kept
            task = min(most / 2 if back else most, cluster_task_size(round(items), least, cores))
            count = max(1, round(items / task))
            times = {
                "processors": positions * cost / min(cores, count) + positions * cost / count,
                "the process that solves": count * DRIVER,
                "storage": positions * size / STORAGE,
            }
            name = max(times, key=lambda one: times[one])
            bounds[name] += times[name]
            seconds += times[name] + BARRIER
            tasks += count
            moved += positions * size
    seconds += sum(waves) * measured.write_cpu / measured.positions / min(WRITERS, cores)
    return TaskData(seconds / 3600, bounds.most_common(1)[0][0], tasks, moved)


def read() -> list[Row]:
    """Return what has been measured."""
    with open(TABLE, newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return [Row(name, *(float(one) if "." in one else int(one) for one in rest)) for name, *rest in rows]  # type: ignore[arg-type]


def keep(row: Row) -> None:
    """Keep what has been measured of a game as the last row."""
    rows = [one for one in (read() if TABLE.exists() else []) if one.game != row.game] + [row]
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows([round(one, 2) if isinstance(one, float) else one for one in row] for row in rows)


def waves_of(board: str, positions: int) -> list[float]:
    """Return how many positions the waves of a board have: as estimated, and together as many as there are."""
    waves = estimate(load_game(f"connect4:{board}")).waves
    return [wave * positions / sum(waves) for wave in waves]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", metavar="VARIANT", help="measure the tasks of this game")
    parser.add_argument("boards", nargs="*", help=f"boards to simulate, of {', '.join(BOARDS)}")
    asked = parser.parse_args()
    if asked.measure:
        keep(measure(asked.measure))
        return
    measured = read()[-1]
    print(f"{'board':6} {'cores':>6} {'hours':>8} {'tasks':>10} {'moved':>8}  bounded by")
    for board in asked.boards or BOARDS:
        waves = waves_of(board, BOARDS[board])
        for cores in CORES:
            told = simulate(waves, measured, cores)
            print(
                f"{board:6} {cores:>6} {told.hours:>8.2f} {told.tasks:>10,} {told.moved / 1e12:>5.2f} TB  {told.bound}"
            )


if __name__ == "__main__":
    main()
