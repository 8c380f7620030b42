"""A solved game is written in one pass: records stream through, a few blocks at a time, into frames and into the file.

The bytes depend on the game and its solution alone, not on time, machine, or how many threads compress. The file has
its name only when it is complete and on the disk.
"""

import glob
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

import h5py
import numpy as np
import zstandard
from numpy.typing import NDArray

from retrograde.databases.database import options_text
from retrograde.databases.encoding import Encoded, compressor, encode_group, pack
from retrograde.databases.errors import CannotWrite
from retrograde.databases.frames import Contents
from retrograde.databases.layout import (
    BLOCK,
    BLOCKS,
    FORMAT,
    LEGEND,
    LEVEL,
    METRIC,
    TIERS,
    VERSION,
    LegendRow,
    create_file,
    gap_dtype,
    outcome_dtype,
    records_dtype,
)
from retrograde.databases.lock import Lock
from retrograde.databases.slots.write import DenseSolved, fill_dense
from retrograde.databases.steps.write import SteppedSolved, fill_steps
from retrograde.games import Game, RetrogradeError
from retrograde.games.game import POSITION_BITS

GROUP = 8
"""Blocks in a task: about a millisecond's work."""

HDF5_SAYS = re.compile(r"errno = \d+|[Uu]nable to|[Cc]an't ")
"""How HDF5 puts it when the operating system refuses."""

IN_FLIGHT = 16
"""Tasks given to the executor and not yet written: some 20 MB."""

Result = TypeVar("Result")
Records = tuple[NDArray, NDArray]
Frames = list[bytes]
Encoder = Callable[..., Encoded]
Task = Callable[[], tuple[NDArray[np.int64], Frames]]


@dataclass(frozen=True)
class Solved:
    """A solved game: its records, tier after tier, positions ascending in each.

    `records` is one pair (positions, outcomes) of arrays or consecutive pieces of such pairs; positions are canonical,
    outcomes are rows of the legend. The legend ascends by value, then remoteness.
    """

    tiers: NDArray[np.int64]
    """The numbers of the tiers, ascending."""
    counts: NDArray[np.int64]
    """Records in each tier, at least 1."""
    legend: Sequence[LegendRow]
    records: Records | Iterable[Records]
    greatest: int = (1 << POSITION_BITS) - 1
    """The greatest position of all, where it is known beforehand: gaps are stored in 32 bits if that will do."""


def write_database(
    path: str | os.PathLike[str],
    game: Game,
    solved: Solved | DenseSolved | SteppedSolved,
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
    encode: Encoder = encode_group,
    *,
    lock: Lock | None = None,
    inspect: Callable[[Path], object] | None = None,
) -> Path:
    """Write a database and return its path; another of that name is replaced once the new one is complete.

    Blocks are encoded and compressed in *executor*'s threads, if given; *progress* is told how many records are
    written; *encode* is `encode_group`, or something quicker that does the same. *lock* is that of the path, if it is
    held already. *inspect* is called with the path of the complete file before it gets its name, and may raise.
    Raises CannotWrite, or InUse where another process writes to the same path.
    """
    path = Path(path)
    if lock is None:
        with Lock(path) as lock:
            return write_database(path, game, solved, executor, progress, encode, lock=lock, inspect=inspect)
    with complete_or_nothing(path) as partial_path:
        with hdf5_errors():
            file = create_file(os.fsencode(partial_path))
            try:
                tell = progress or (lambda records: None)
                if isinstance(solved, DenseSolved):
                    fill_dense(file, solved, attributes(game, solved, solved.start), executor, tell)
                elif isinstance(solved, SteppedSolved):
                    fill_steps(file, solved, attributes(game, solved, solved.start), executor, tell)
                else:
                    fill(file, game, solved, executor, tell, encode)
            finally:
                file.close()
        if inspect:
            inspect(partial_path)
    return path


@contextmanager
def complete_or_nothing(path: Path) -> Iterator[Path]:
    """Give a new file to write into, which becomes *path* if all goes well and vanishes if not.

    The path must be locked. What a process that is gone has left half-written is deleted.
    """
    partial_path = path.with_name(f"{path.name}.{os.getpid()}-{token_hex(4)}.partial")
    made = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f"{glob.escape(path.name)}.*-*.partial"):
            left.unlink(missing_ok=True)
        os.close(os.open(partial_path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        made = True
        yield partial_path
        with open(partial_path, "rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(partial_path, path)
        sync_folder(path.parent)
    except BaseException as error:
        if made:
            with suppress(OSError):
                partial_path.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, RetrogradeError):
            raise CannotWrite(f"cannot write {str(path)!r}: {reason(error)}") from error
        raise


@contextmanager
def hdf5_errors() -> Iterator[None]:
    """Turn what HDF5 raises when it cannot write, a RuntimeError, into an OSError; other RuntimeErrors are not its."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, RetrogradeError) or not HDF5_SAYS.search(str(error)):
            raise
        raise OSError(str(error)) from error


def reason(error: BaseException) -> str:
    """Return what the operating system has to say, which HDF5 buries in its own words."""
    text = str(error)
    _, found, rest = text.partition("error message = '")
    return rest.partition("'")[0].lower() if found else getattr(error, "strerror", None) or text


def sync_folder(folder: Path) -> None:
    """Make a renaming last through a power cut, where the operating system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def fill(
    file: h5py.File, game: Game, solved: Solved, executor: Executor | None, progress: Callable[[int], object],
    encode: Encoder,
) -> None:  # fmt: skip
    """Write everything into a new file."""
    bounds = np.concatenate([[0], np.cumsum(solved.counts, dtype=np.int64)])
    stored, outcome, gap = int(bounds[-1]), outcome_dtype(len(solved.legend)), gap_dtype(solved.greatest)
    chunk = min(BLOCK, stored)
    contents = Contents(file)
    records = contents.dataset("records", records_dtype(outcome, gap), stored, chunk)
    tiers = np.empty(len(solved.tiers), TIERS)
    tiers["tier"], tiers["record"] = solved.tiers, bounds[:-1]
    blocks = np.empty(-(-stored // chunk), BLOCKS)
    start = StartFinder(game, tiers, bounds)
    threads = threading.local()

    def encode_frames(positions: NDArray, rows: NDArray, begins: NDArray[np.int64]) -> tuple[NDArray, Frames]:
        if int(rows.max()) >= len(solved.legend):
            raise ValueError("there are records of outcomes that are not in the legend")
        if int(positions.max()) > solved.greatest:
            raise ValueError(f"there are records of greater positions than {solved.greatest}")
        wide = positions.astype(np.int64, copy=False)
        masks, *planes = encode(wide, rows, begins, chunk, outcome.itemsize, gap.itemsize)
        return masks, compress_group(threads, *planes)

    def groups() -> Iterator[Task]:
        record = 0
        for positions, rows in regroup(solved.records, chunk * GROUP):
            end = record + len(positions)
            if len(rows) != len(positions) or end > stored:
                raise ValueError("records do not match the counts of their tiers")
            first, last = np.searchsorted(bounds, [record, end])
            begins = bounds[first:last]
            tiers["position"][first:last] = positions[begins - record]
            start.look(record, positions, rows)
            blocks["position"][record // chunk : -(-end // chunk)] = positions[::chunk]
            yield partial(encode_frames, positions, rows, begins - record)
            record = end
        if not record == stored == sum(row.stored for row in solved.legend):
            raise ValueError(f"{record} records where the tiers have {stored}")

    block = 0
    for masks, frames in in_order(groups(), executor):
        blocks["mask"][block : block + len(masks)] = masks
        for frame in frames:
            records.write(frame)
        block = records.done
        progress(min(block * chunk, stored))

    blocks["check"] = records.checks
    contents.table("tiers", tiers)
    contents.table("blocks", blocks)
    contents.table("legend", np.array([tuple(row) for row in solved.legend], LEGEND))
    contents.finish(attributes(game, solved, start.row), "records")


def attributes(game: Game, solved: Solved | DenseSolved | SteppedSolved, start_row: int | None) -> dict[str, str | int]:
    """Return what the file says about itself."""
    from retrograde.games.catalog import rules_digest, variant

    about: dict[str, str | int] = {
        "format": FORMAT,
        "format_version": VERSION,
        "game": game.name,
        "variant": variant(game),
        "options": options_text(game),
        "rules": rules_digest(game),
        "metric": METRIC,
        "positions": sum(row.positions for row in solved.legend),
        "stored": sum(row.stored for row in solved.legend),
        "made_with": made_with(),
    }
    if start_row is not None:
        row = solved.legend[start_row]
        about |= {"start": game.start, "start_value": row.value, "start_remoteness": row.remoteness}
    return about


def made_with() -> str:
    """Return the versions of all software that decides about bytes."""
    from importlib.metadata import PackageNotFoundError, version  # here because it takes 20 ms

    try:
        own = version("retrograde")
    except PackageNotFoundError:
        own = "unknown"
    zstd = ".".join(map(str, zstandard.ZSTD_VERSION))
    return f"retrograde {own}, zstd {zstd}, HDF5 {h5py.version.hdf5_version}, h5py {h5py.version.version}"


class StartFinder:
    """Looks for the start among the records that stream by."""

    def __init__(self, game: Game, tiers: NDArray, bounds: NDArray[np.int64]):
        self.row: int | None = None
        self.low = self.high = self.position = 0
        if (start := getattr(game, "start", None)) is not None:
            self.position = game.canonical(start)
            tier = game.tier(self.position)
            index = int(np.searchsorted(tiers["tier"], tier))
            if index < len(tiers) and tiers["tier"][index] == tier:
                self.low, self.high = int(bounds[index]), int(bounds[index + 1])

    def look(self, record: int, positions: NDArray[np.int64], rows: NDArray) -> None:
        low, high = max(self.low - record, 0), self.high - record
        if low < len(positions) and low < high:
            index = low + int(np.searchsorted(positions[low:high], self.position))
            if index < min(high, len(positions)) and positions[index] == self.position:
                self.row = int(rows[index])


def regroup(records: Records | Iterable[Records], size: int) -> Iterator[Records]:
    """Cut records given in pieces of any length into pieces of one length; the last may be shorter."""
    pieces: Iterable[Records] = [records] if isinstance(records, tuple) else records
    rest: list[Records] = []
    waiting = 0
    for positions, rows in pieces:
        used = 0
        while waiting + len(positions) - used >= size:
            part = slice(used, used + size - waiting)
            yield joined([*rest, (positions[part], rows[part])])
            used, waiting, rest = part.stop, 0, []
        if used < len(positions):
            rest.append((positions[used:], rows[used:]))
            waiting += len(positions) - used
    if rest:
        yield joined(rest)


def joined(pieces: list[Records]) -> Records:
    """Return pieces as one, without a copy where there is but one."""
    if len(pieces) == 1:
        return np.asarray(pieces[0][0]), np.asarray(pieces[0][1])
    return np.concatenate([piece[0] for piece in pieces]), np.concatenate([piece[1] for piece in pieces])


def compress_group(threads: threading.local, outcomes: NDArray[np.uint8], gaps: NDArray[np.uint8]) -> Frames:
    """Return the frames of the blocks of a group, given as planes."""
    if not hasattr(threads, "compressor"):
        threads.compressor = compressor(LEVEL)
    return [pack(threads.compressor, *planes) for planes in zip(outcomes, gaps, strict=True)]


def in_order(tasks: Iterator[Callable[[], Result]], executor: Executor | None) -> Iterator[Result]:
    """Yield the results of tasks in their order, with a bounded number of them under way."""
    if executor is None:
        for task in tasks:
            yield task()
        return
    flying: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            flying.append(executor.submit(task))
            if len(flying) >= IN_FLIGHT:
                yield flying.popleft().result()
        while flying:
            yield flying.popleft().result()
    finally:
        for future in flying:
            future.cancel()
