"""Writes a solved game in one pass. The file gets its name only when it is complete and on the disk.

The bytes depend on the game and its solution alone, not on time, machine, or the number of workers.
"""

import glob
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import h5py
import zstandard
from numpy.typing import NDArray

from retrograde.databases.bounds.read import value_by_bounds
from retrograde.databases.bounds.write import SolvedBounds, write_bounds
from retrograde.databases.certificates.write import SolvedCertificate, write_replies
from retrograde.databases.durable import make_folder, replace_file
from retrograde.databases.encoding import encode_group
from retrograde.databases.errors import CannotWrite
from retrograde.databases.frames import Each, FileWriter, Progress
from retrograde.databases.header import Attributes, options_text
from retrograde.databases.layout import BOOK, CERTIFICATE, FORMAT, METRIC, NOT_FOUND, VERSION, create_file
from retrograde.databases.legend import Measures, table_of
from retrograde.databases.lock import Lock
from retrograde.databases.records.write import Encoder, SolvedRecords, write_records
from retrograde.databases.rows.write import SolvedRows, write_rows
from retrograde.databases.slots.write import SolvedCompact, SolvedSlots, write_slots
from retrograde.databases.steps.write import SolvedSteps, write_steps
from retrograde.games import Game, RetrogradeError
from retrograde.games.contract.game import Traits
from retrograde.games.contract.unfolded import folded

__all__ = [
    "SolvedBounds",
    "SolvedCertificate",
    "SolvedCompact",
    "SolvedRecords",
    "SolvedRows",
    "SolvedSlots",
    "SolvedSteps",
    "write_certificate",
    "write_database",
]
AnySolved = SolvedRecords | SolvedRows | SolvedSlots | SolvedSteps | SolvedBounds
HDF5_SAYS = re.compile(r"errno = \d+|[Uu]nable to|[Cc]an't ")
"""How HDF5 words an error of the operating system."""


def write_database(
    path: str | os.PathLike[str],
    game: Game,
    solved: AnySolved,
    each: Each = map,
    progress: Progress | None = None,
    encode: Encoder = encode_group,
    *,
    lock: Lock | None = None,
    inspect: Callable[[Path], object] | None = None,
    book_plies: int | None = None,
) -> Path:
    """Write a database and return its path; it replaces an existing file once it is complete.

    *each* works like `map`, perhaps in other threads or processes. *progress* gets the number of records written so
    far. *encode* is `encode_group` or a faster equal. *lock* is the path's lock, if the caller holds it. *inspect* gets
    the path of the complete file before it has its name, and may raise. With *book_plies* the file is an opening book.
    Raise CannotWrite, or InUse if another process writes there.
    """
    path = Path(path)
    with new_file(path, lock, inspect) as file:
        book: Attributes = {} if book_plies is None else {"format": BOOK, "plies": book_plies}
        fill(file, game, solved, each, progress or (lambda records: None), encode, book)
    return path


def write_certificate(
    path: str | os.PathLike[str],
    game: Game,
    solved: SolvedCertificate,
    *,
    lock: Lock | None = None,
    inspect: Callable[[Path], object] | None = None,
) -> Path:
    """Write a certificate and return its path, as `write_database` does with a database."""
    path = Path(path)
    with new_file(path, lock, inspect) as file:
        writer = FileWriter(file)
        write_replies(writer, solved)
        writer.finish(claim_attributes(game, solved))
    return path


@contextmanager
def new_file(path: Path, lock: Lock | None, inspect: Callable[[Path], object] | None) -> Iterator[h5py.File]:
    """Give a new HDF5 file, which gets its name at the end if *inspect* accepts it."""
    with nullcontext(lock) if lock else Lock(path), complete_or_nothing(path) as partial_path:
        with hdf5_errors():
            file = create_file(os.fsencode(partial_path))
            try:
                yield file
            finally:
                file.close()
        if inspect:
            inspect(partial_path)


def claim_attributes(game: Game, solved: SolvedCertificate) -> Attributes:
    """Return the attributes of a certificate: what it proves of its root."""
    return common_attributes(game, "replies", CERTIFICATE, len(solved.positions), len(solved.positions)) | {
        "root": position_text(solved.root),
        "at_least": int(solved.at_least),
        "at_most": int(solved.at_most),
        "leaves": solved.leaves,
    }


def fill(
    file: h5py.File, game: Game, solved: AnySolved, each: Each, progress: Progress, encode: Encoder, extra: Attributes,
) -> None:  # fmt: skip
    """Write the blocks, the tables and the attributes into a new file. *extra* are more attributes."""
    writer = FileWriter(file)
    if isinstance(solved, SolvedBounds):
        write_bounds(writer, solved, each, progress)
        legend = table_of(solved.legend)
        writer.write_table("legend", legend)
        writer.finish(bound_attributes(game, legend, solved) | extra)
        return
    # Other kinds: blocks and their tables first, then the legend, then the attributes.
    if isinstance(solved, SolvedRecords):
        start_row = write_records(writer, game, solved, each, progress, encode)
    elif isinstance(solved, SolvedRows):
        start_row = write_rows(writer, game, solved, each, progress)
    else:
        start_row = solved.start
        if isinstance(solved, SolvedSlots):
            write_slots(writer, solved, each, progress)
        else:
            write_steps(writer, solved, each, progress)
    measures = getattr(solved, "measures", None)
    legend = table_of(solved.legend, measures.names if measures else ())
    writer.write_table("legend", legend)
    writer.finish(outcome_attributes(game, storage_of(solved), legend, start_row, measures) | extra)


def storage_of(solved: AnySolved) -> str:
    """Return the kind of storage of a solved game, one of STORAGES."""
    kinds = {SolvedRecords: "records", SolvedRows: "rows", SolvedCompact: "compact", SolvedSlots: "slots"}
    return kinds.get(type(solved), "steps")


def outcome_attributes(
    game: Game, storage: str, legend: NDArray[Any], start_row: int | None, measures: Measures | None
) -> Attributes:
    """Return the attributes of a file with outcomes; *start_row* is the row of the start in the legend."""
    positions, stored = (sum(legend[column].tolist()) for column in ("positions", "stored"))
    facts = common_attributes(game, storage, measures.metric if measures else METRIC, positions, stored)
    if start_row is not None:
        value, remoteness = legend[start_row].item()[:2]
        facts |= {"start": position_text(game.start), "start_value": value, "start_remoteness": remoteness}
    if measures:
        facts |= measure_attributes(measures)
        facts |= {} if start_row is None else {"start_row": start_row}
    return facts


def bound_attributes(game: Game, legend: NDArray[Any], solved: SolvedBounds) -> Attributes:
    """Return the attributes of a file with bounds."""
    positions, stored = (sum(legend[column].tolist()) for column in ("positions", "stored"))
    facts = common_attributes(game, "bounds", solved.measures.metric, positions, stored)
    facts |= measure_attributes(solved.measures)
    if solved.start is not None:
        low, high = solved.start
        value = int(value_by_bounds(low, high))
        facts |= {"start": position_text(game.start), "start_value": value, "start_remoteness": NOT_FOUND}
        facts |= {"start_low": low, "start_high": high}
    return facts


def position_text(position: Any) -> int | str:
    """Return a position as a file stores it in an attribute: an int, or a tuple's ints as JSON."""
    return json.dumps(position) if isinstance(position, tuple) else position


def measure_attributes(measures: Measures) -> Attributes:
    return {"measures": json.dumps(measures.names), "details": json.dumps(measures.details, sort_keys=True)}


def common_attributes(game: Game, storage: str, metric: str, positions: int, stored: int) -> Attributes:
    """Return the attributes that every file has."""
    from retrograde.games.catalog import rules_digest, variant

    return {
        "format": FORMAT,
        "format_version": VERSION,
        "storage": storage,
        "words": Traits.of(game).width or 1,
        "game": game.name,
        "variant": variant(game),
        "options": options_text(game),
        "rules": rules_digest(folded(game)),
        "metric": metric,
        "positions": positions,
        "stored": stored,
        "made_with": software_versions(),
    }


def software_versions() -> str:
    """Return the versions of all software that decides about the bytes."""
    from importlib.metadata import PackageNotFoundError, version  # imported here because it takes 20 ms

    try:
        own = version("retrograde")
    except PackageNotFoundError:
        own = "unknown"
    zstd = ".".join(map(str, zstandard.ZSTD_VERSION))
    return f"retrograde {own}, zstd {zstd}, HDF5 {h5py.version.hdf5_version}, h5py {h5py.version.version}"


@contextmanager
def complete_or_nothing(path: Path) -> Iterator[Path]:
    """Give a new file's path; rename it to *path* on success, delete it on failure. Raise CannotWrite for an OSError.

    The caller must hold the lock. So other files for *path* with temporary names are left from killed processes.
    """
    partial_path = path.with_name(f"{path.name}.{os.getpid()}-{token_hex(4)}.partial")
    # Step 1: remove such files, and make an empty file under a temporary name.
    is_ours = False
    try:
        make_folder(path.parent)
        for leftover in path.parent.glob(f"{glob.escape(path.name)}.*-*.partial"):
            leftover.unlink(missing_ok=True)
        os.close(os.open(partial_path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
        is_ours = True
        yield partial_path
        # Step 2: sync the file, rename it, and sync its folder.
        with open(partial_path, "rb+") as stream:
            os.fsync(stream.fileno())
        replace_file(partial_path, path)
    except BaseException as error:
        # On failure the temporary file is deleted.
        if is_ours:
            with suppress(OSError):
                partial_path.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, RetrogradeError):
            raise CannotWrite(f"cannot write {str(path)!r}: {reason(error)}") from error
        raise


@contextmanager
def hdf5_errors() -> Iterator[None]:
    """Turn the RuntimeError that HDF5 raises when it cannot write into an OSError."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, RetrogradeError) or not HDF5_SAYS.search(str(error)):
            raise
        raise OSError(str(error)) from error


def reason(error: BaseException) -> str:
    """Return the operating system's words, which HDF5 buries in its own."""
    text = str(error)
    _, quote, rest = text.partition("error message = '")
    return rest.partition("'")[0].lower() if quote else getattr(error, "strerror", None) or text
