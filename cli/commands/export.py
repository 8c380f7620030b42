"""`retrograde export`: writes positions and their values for other programs, as Parquet, CSV or NumPy arrays."""

import csv
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.commands.syzygy import export_tables
from retrograde.cli.common import file_named, open_source, print_json
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import NOUNS, faint, size
from retrograde.databases.location import database_path
from retrograde.games import Game, RetrogradeError, Value
from retrograde.games.contract.game import Traits

if TYPE_CHECKING:
    from retrograde.databases import Database
    from retrograde.solver.play.listing import PositionChunk
    from retrograde.solver.play.solution import Solution

    Columns = dict[str, list[Any]]
    """Columns of a chunk of positions, by name; the remoteness of a draw is None."""

SUFFIXES = (".parquet", ".csv", ".npz")
VALUES = {name: value for value, name in NOUNS.items()}
MOST_PLIES = 10**9
"""The end of a range such as `12..`: more plies than any remoteness has."""


def read_range(ctx: click.Context, param: click.Parameter, text: str | None) -> range | None:
    """Return the range of plies that an option names: `5`, `3..9`, `12..`.

    >>> read_range(None, None, "5..9"), read_range(None, None, "7")
    (range(5, 10), range(7, 8))
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})(\.\.(\d{1,9})?)?", text)
    if not found or (found[3] and int(found[3]) < int(found[1])):
        what = f"{text!r} is no number of plies, such as 5, and no range, such as 12.. or 3..9"
        raise click.BadParameter(what, ctx, param)
    least = int(found[1])
    if found[3]:
        most = int(found[3])
    elif found[2]:  # an open range, such as 12..
        most = MOST_PLIES
    else:
        most = least
    return range(least, most + 1)


@click.command()
@options.source
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="The output file, .parquet, .csv or .npz; by default the database's name with .csv, in this folder.",
)  # fmt: skip
@click.option(
    "--value", type=click.Choice(list(VALUES)), help="Export only positions with this value, for the player to move."
)
@click.option("--remoteness", callback=read_range, metavar="N|N..M", help="Only this remoteness, or a range.")
@click.option("--tier", type=int, metavar="TIER", help="Export only positions of this tier.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Export N of these positions, selected at random.")
@click.option("--seed", type=click.IntRange(0), metavar="SEED", help="Random seed for --sample.")
@click.option("--moves", is_flag=True, help="Also export the best moves, which is much slower.")
@click.option(
    "--syzygy", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Instead, write Syzygy tables of a chess ending, and of all endings that may follow, into a folder.",
)  # fmt: skip
@click.option(
    "--compact", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Instead, write a smaller database into a folder: it keeps one side to move of each ending.",
)  # fmt: skip
@options.database
@options.json
def command(
    source: str, output: Path | None, syzygy: Path | None, compact: Path | None, database: str | None, as_json: bool,
    **wanted: Any,
) -> None:  # fmt: skip
    """Write positions, values, remoteness and optionally the best moves to a file for other programs.

    Columns are tier, position (a number; or position0, position1, … if positions are tuples), text, value (win, lose,
    tie or draw, for the player to move), remoteness (empty for a draw), and moves, separated by spaces. Symmetric
    positions are written once. For large games (stored as steps), the output lacks positions where the game is over. In
    .npz a value is a number (lose 1, draw 2, tie 3, win 4). Parquet needs pyarrow, the extra `export`.

    --syzygy writes tables that chess engines read, .rtbw and .rtbz. First compute distances to zeroing, with `solve
    --metric dtz`. Tables that are already in the folder stay as they are.

    --compact writes a smaller database that gives the same answers. Values that it does not store are computed from the
    moves when needed. It works for games that number their positions and separate the sides to move, such as chess
    endings.

    \b
    Examples:
      retrograde export tictactoe
      retrograde export connect4:4,4 --value win --remoteness 5..9 --sample 1000 --seed 1 -o wins.csv
      retrograde export connect4:4,4 --sample 100 --moves -o some.npz
      retrograde export chess:KRK --syzygy tables
      retrograde export chess:KRK --compact small
    """
    from retrograde.solver.play.solution import solution_of

    for name, folder, export in (("syzygy", syzygy, export_tables), ("compact", compact, export_compact)):
        if folder is not None:
            others = [output, *wanted.values(), compact if name == "syzygy" else None]
            if any(value is not None and value is not False for value in others):
                raise click.UsageError(f"--{name} goes with --database and --json alone")
            export(source, folder, database, as_json)
            return
    if output is not None and output.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"the file must be {', '.join(SUFFIXES)}, not {output.name!r}")
    if wanted["seed"] is not None and not wanted["sample"]:
        raise click.UsageError("--seed goes with --sample")
    with solution_of(open_source(source, database)) as solution:
        listed = selected_chunks(solution, wanted)
        output = output or Path(f"{solution.database.file.path.stem}.csv")
        moves = ["moves"] if wanted["moves"] else []
        names = ("tier", *numbers_of(solution.game), "text", "value", "remoteness", *moves)
        chunks = (columns(solution, chunk, wanted["moves"]) for chunk in listed)
        partial = output.with_name(output.name + ".partial")
        try:
            count = WRITERS[output.suffix.lower()](partial, names, chunks)
            partial.replace(output)
        except OSError as error:
            if isinstance(error, RetrogradeError):
                raise
            raise RetrogradeError(f"cannot write {str(output)!r}: {error.strerror or error}") from error
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        facts = {"variant": solution.variant, "positions": count, "path": str(output)}
        print_json(facts) if as_json else click.echo(f"{count:,} positions in {output}")


def selected_chunks(solution: "Solution", wanted: dict[str, Any]) -> "Iterator[PositionChunk]":
    value = VALUES[wanted["value"]] if wanted["value"] else None
    listing = solution.positions(value, wanted["remoteness"], wanted["tier"])
    return iter([listing.sample(wanted["sample"], wanted["seed"])] if wanted["sample"] else listing)


def numbers_of(game: Game) -> list[str]:
    """Return the names of the columns for positions: one, or one for each int of a tuple."""
    return [f"position{k}" for k in range(Traits.of(game).width)] or ["position"]


def columns(solution: "Solution", chunk: "PositionChunk", moves: bool) -> "Columns":
    """Return the columns for a chunk of positions."""
    game, positions = solution.game, chunk.each()
    rows = chunk.positions.reshape(len(positions), -1).T.tolist() if positions else [[] for _ in numbers_of(game)]
    columns_of_chunk = {
        "tier": chunk.tiers.tolist(),
        **dict(zip(numbers_of(game), rows, strict=True)),
        "text": [game.write(position) for position in positions],
        "value": [NOUNS[Value(value)] for value in chunk.values.tolist()],
        "remoteness": [None if plies < 0 else plies for plies in chunk.remoteness.tolist()],
    }
    if moves:
        columns_of_chunk["moves"] = [" ".join(one.name for one in solution.best(position)) for position in positions]
    return columns_of_chunk


# Files: each function writes the chunks as they come, and returns the number of positions


def write_csv(path: Path, names: tuple[str, ...], chunks: "Iterator[Columns]") -> int:
    """Write a table as text, with the names as its first line; return the number of its other lines."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for chunk in chunks:
            writer.writerows(zip(*chunk.values(), strict=True))
            count += len(chunk["tier"])
    return count


def write_parquet(path: Path, names: tuple[str, ...], chunks: "Iterator[Columns]") -> int:
    """Write chunks as Parquet with the columns *names*, and return the number of rows.

    Raises RetrogradeError if pyarrow is not installed.
    """
    try:
        import numpy as np
        import pyarrow as arrow
        from pyarrow import parquet

        from retrograde.solver.play.columns import arrow_categories, arrow_values
    except ModuleNotFoundError as error:
        what = "get it with: pip install pyarrow, or write .csv or .npz"
        raise RetrogradeError(f"Parquet needs {error.name}; {what}") from error
    types = {"tier": arrow.int64(), "position": arrow.int64(), "remoteness": arrow.int32(), "value": arrow_categories()}
    # Positions of several words have the columns position0, position1, …
    schema = arrow.schema([(name, types.get(name.rstrip("0123456789"), arrow.string())) for name in names])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for chunk in chunks:
            values = np.array([VALUES[name] for name in chunk["value"]], np.uint8)
            writer.write_table(arrow.table({**chunk, "value": arrow_values(values)}, schema=schema))
            count += len(chunk["tier"])
    return count


def write_npz(path: Path, names: tuple[str, ...], chunks: "Iterator[Columns]") -> int:
    """Write NumPy arrays by name; a value is its number in `Value`, a missing remoteness -1.

    An array's header has its length, so columns are spilled to disk until all are known.
    """
    from zipfile import ZIP_DEFLATED, ZipFile

    with columns_folder(path) as folder, ZipFile(path, "w", ZIP_DEFLATED) as file:
        spill = ColumnSpill(folder, names)
        for chunk in chunks:
            spill.add(chunk)
        for name in names:
            with file.open(f"{name}.npy", "w", force_zip64=True) as stream:
                spill.write(name, stream.write)
    return spill.count


@contextmanager
def columns_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside a file, and delete it at the end. It replaces one left by a killed export."""
    folder = path.with_name(f"{path.name}.columns")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class ColumnSpill:
    """Columns spilled to disk, a file for each, as chunks of NumPy arrays."""

    def __init__(self, folder: Path, names: tuple[str, ...]):
        self.paths = {name: folder / name for name in names}
        self.widths = dict.fromkeys(names, 1)
        self.count = 0

    def add(self, chunk: "Columns") -> None:
        """Append a chunk of columns to their files, and note how many characters the longest text has."""
        import numpy as np

        for name, items in chunk.items():
            if name == "value":
                array = np.array([VALUES[item] for item in items], np.uint8)
            elif name == "remoteness":
                array = np.array([-1 if item is None else item for item in items], np.int32)
            else:
                array = np.array(items) if name in ("text", "moves") else np.array(items, np.int64)
            self.widths[name] = max(self.widths[name], array.dtype.itemsize // 4)
            with self.paths[name].open("ab") as file:
                np.save(file, array)
        self.count += len(chunk["tier"])

    def write(self, name: str, write: Callable[[bytes], object]) -> None:
        """Write a column as one array in the .npy format."""
        import numpy as np
        from numpy.lib import format as npy

        kinds: dict[str, Any] = {"tier": "<i8", "position": "<i8", "value": "|u1", "remoteness": "<i4"}
        kind = np.dtype(kinds.get(name.rstrip("0123456789"), f"<U{self.widths[name]}"))
        header: Any = SimpleNamespace(write=write)  # the part of a file object that NumPy uses
        npy.write_array_header_1_0(header, {"descr": kind.str, "fortran_order": False, "shape": (self.count,)})
        if self.count:
            with self.paths[name].open("rb") as file:
                while file.peek(1):
                    write(np.load(file).astype(kind).tobytes())


WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".npz": write_npz}


# Compact databases


def export_compact(source: str, folder: Path, database: str | None, as_json: bool) -> None:
    """Write a database, or those of a set, into a folder in compact form, except those already there."""
    done = []
    for one in databases_named(source, database):
        with open_source(one, database) as opened:
            done.append(compact_of(opened, folder, as_json))
        if not as_json:
            click.echo(compact_line(done[-1]))
    if as_json:
        print_json({"databases": done})


def databases_named(source: str, database: str | None) -> list[str]:
    """Return the variants of a set, or *source* alone. Raise UsageError if --database is given for a set."""
    from retrograde.games.catalog import variants_in

    variants = [] if file_named(source) else variants_in(source)
    if not variants:
        return [source]
    if database:
        raise click.UsageError(f"{source} is a set of {len(variants)} variants: it does not go with --database")
    return list(variants)


def compact_of(database: "Database", folder: Path, as_json: bool) -> dict[str, Any]:
    """Write the compact form of a database unless it exists; return the facts about it."""
    from retrograde.solver.methods.numbered.compact.write import check_kind, make_compact

    check_kind(database)  # before the path: a database by another metric has the same name there
    variant = database.file.variant
    path = database_path(variant, folder)
    existed = path.exists()
    if existed:
        check_compact(path, database)
    else:
        with progress_listener(as_json, variant) as line:
            make_compact(database, path, line)
    sizes = {"before": database.file.path.stat().st_size, "bytes": path.stat().st_size}
    return {"variant": variant, "path": str(path), **sizes, "there_before": existed}


def check_compact(path: Path, database: "Database") -> None:
    """Raise RetrogradeError if a file is not a compact database of the same game."""
    from retrograde.databases import DatabaseFile
    from retrograde.databases.slots.compact import CompactReader

    with DatabaseFile(path) as file:
        same = (file.variant, file.rules) == (database.file.variant, database.file.rules)
        if not same or not isinstance(file.contents, CompactReader):
            what = f"{str(path)!r} is there already, and no compact database of these rules"
            raise RetrogradeError(f"{what}; name another folder")


def compact_line(facts: dict[str, Any]) -> str:
    """Return the result in a line: `chess:KRKN       521 kB ->    150 kB`."""
    sizes = f"{facts['variant']:<14}{size(facts['before']):>9} ->{size(facts['bytes']):>9}"
    return sizes + (f"  {faint('there before')}" if facts["there_before"] else "")
