"""`retrograde export`: positions and what they are worth, for other programs, as Parquet, CSV or NumPy arrays."""

import csv
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.commands.compacting import export_compact
from retrograde.cli.commands.syzygy import export_tables
from retrograde.cli.common import database_option, json_option, open_source, print_json, source_argument
from retrograde.cli.render.words import NOUNS
from retrograde.games import RetrogradeError, Value
from retrograde.games.contract.game import width_of

if TYPE_CHECKING:
    from retrograde.games import Game
    from retrograde.solver.play.listing import Piece
    from retrograde.solver.play.solution import Solution

    Columns = dict[str, list[Any]]
    """Items of a piece by name; a remoteness is None where there is none."""

SUFFIXES = (".parquet", ".csv", ".npz")
VALUES = {name: value for value, name in NOUNS.items()}


def plies(ctx: click.Context, param: click.Parameter, text: str | None) -> range | None:
    """Return the numbers of plies that an option names: `5`, `3..9`, `12..`."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})(\.\.(\d{1,9})?)?", text)
    if not found or (found[3] and int(found[3]) < int(found[1])):
        what = f"{text!r} is no number of plies, as 5, and no range of them, as 12.. or 3..9"
        raise click.BadParameter(what, ctx, param)
    least = int(found[1])
    most = int(found[3]) if found[3] else least if not found[2] else 10**9
    return range(least, most + 1)


@click.command()
@source_argument
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="The file, .parquet, .csv or .npz; by default the database's name with .csv, in this folder.",
)  # fmt: skip
@click.option("--value", type=click.Choice(list(VALUES)), help="Only positions of a value, for the player to move.")
@click.option("--remoteness", callback=plies, metavar="N|N..M", help="Only positions so many plies from the end.")
@click.option("--tier", type=int, metavar="TIER", help="Only positions of a tier.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="So many of them, by chance.")
@click.option("--seed", type=click.IntRange(0), metavar="SEED", help="The same chance each time.")
@click.option("--moves", is_flag=True, help="The best moves as well: a column more, and much slower.")
@click.option(
    "--syzygy", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Instead, write Syzygy's tables of a chess ending, and of all that may follow, into a folder.",
)  # fmt: skip
@click.option(
    "--compact", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Instead, write the database itself, smaller, into a folder: of each ending one side to move is kept.",
)  # fmt: skip
@database_option
@json_option
def command(
    source: str, output: Path | None, syzygy: Path | None, compact: Path | None, database: str | None, as_json: bool,
    **wanted: Any,
) -> None:  # fmt: skip
    """Write positions, values, remoteness and, if asked for, the best moves to a file for other programs.

    Columns are tier, position (a number; where positions are tuples, position0, position1, …), text, value (win, lose,
    tie or draw, for the player to move), remoteness (empty for a draw), and moves, with spaces between. Of positions
    that are equal by symmetry there is one; of a large game stored as steps those where the game is over are left out.
    In .npz a value is its number (lose 1, draw 2, tie 3, win 4). Parquet needs pyarrow, the extra `export`.

    Syzygy's tables, .rtbw and .rtbz, are what chess engines read. They are made from distances to zeroing, which
    `solve --metric dtz` finds; tables that are in the folder already are left as they are.

    A compact database answers as the other one does: what it does not keep follows from the moves, when it is asked.
    It is for games that number their positions and tell sides to move apart, as chess endings do.

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
        listed = chosen(solution, wanted)
        output = output or Path(f"{solution.database.file.path.stem}.csv")
        moves = ["moves"] if wanted["moves"] else []
        names = ("tier", *numbers_of(solution.game), "text", "value", "remoteness", *moves)
        pieces = (columns(solution, piece, wanted["moves"]) for piece in listed)
        partial = output.with_name(output.name + ".partial")
        try:
            count = WRITERS[output.suffix.lower()](partial, names, pieces)
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


def chosen(solution: "Solution", wanted: dict[str, Any]) -> "Iterator[Piece]":
    """Yield the positions that the options choose."""
    value = VALUES[wanted["value"]] if wanted["value"] else None
    listing = solution.positions(value, wanted["remoteness"], wanted["tier"])
    return iter([listing.sample(wanted["sample"], wanted["seed"])] if wanted["sample"] else listing)


def numbers_of(game: "Game") -> list[str]:
    """Return the names of the columns that hold positions: one, or one for each int of a tuple."""
    return [f"position{k}" for k in range(width_of(game))] or ["position"]


def columns(solution: "Solution", piece: "Piece", moves: bool) -> "Columns":
    """Return what is written of some positions."""
    game, positions = solution.game, piece.each()
    rows = piece.positions.reshape(len(positions), -1).T.tolist() if positions else [[] for _ in numbers_of(game)]
    said = {
        "tier": piece.tiers.tolist(),
        **dict(zip(numbers_of(game), rows, strict=True)),
        "text": [game.write(position) for position in positions],
        "value": [NOUNS[Value(value)] for value in piece.values.tolist()],
        "remoteness": [None if plies < 0 else plies for plies in piece.remotenesses.tolist()],
    }
    if moves:
        said["moves"] = [" ".join(one.name for one in solution.best(position)) for position in positions]
    return said


# Files: each is written as pieces come, and returns how many positions there are


def write_csv(path: Path, names: tuple[str, ...], pieces: "Iterator[Columns]") -> int:
    """Write a table in text, whose first line has the names."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for piece in pieces:
            writer.writerows(zip(*piece.values(), strict=True))
            count += len(piece["tier"])
    return count


def write_parquet(path: Path, names: tuple[str, ...], pieces: "Iterator[Columns]") -> int:
    """Write a table of columns; raise RetrogradeError where pyarrow is not installed."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        what = "get it with: pip install pyarrow, or write .csv or .npz"
        raise RetrogradeError(f"Parquet needs {error.name}; {what}") from error
    kinds = {"tier": arrow.int64(), "position": arrow.int64(), "remoteness": arrow.int32()}
    schema = arrow.schema([(name, kinds.get(name.rstrip("0123456789"), arrow.string())) for name in names])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for piece in pieces:
            writer.write_table(arrow.table(piece, schema=schema))
            count += len(piece["tier"])
    return count


def write_npz(path: Path, names: tuple[str, ...], pieces: "Iterator[Columns]") -> int:
    """Write arrays of NumPy's, by name; a value is its number, as in Value, and what has no remoteness -1.

    How long an array is, and how wide its texts, stands before it: so columns are put aside until all are known.
    """
    from zipfile import ZIP_DEFLATED, ZipFile

    with columns_folder(path) as folder, ZipFile(path, "w", ZIP_DEFLATED) as file:
        aside = Aside(folder, names)
        for piece in pieces:
            aside.add(piece)
        for name in names:
            with file.open(f"{name}.npy", "w", force_zip64=True) as stream:
                aside.write(name, stream.write)
    return aside.count


@contextmanager
def columns_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder beside a file, and delete it; it takes the place of one that a killed export has left."""
    folder = path.with_name(f"{path.name}.columns")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Aside:
    """Columns put aside, each in a file, as pieces of NumPy arrays one after another."""

    def __init__(self, folder: Path, names: tuple[str, ...]):
        self.paths = {name: folder / name for name in names}
        self.widths = dict.fromkeys(names, 1)
        self.count = 0

    def add(self, piece: "Columns") -> None:
        """Put a piece aside."""
        import numpy as np

        for name, items in piece.items():
            if name == "value":
                array = np.array([VALUES[item] for item in items], np.uint8)
            elif name == "remoteness":
                array = np.array([-1 if item is None else item for item in items], np.int32)
            else:
                array = np.array(items) if name in ("text", "moves") else np.array(items, np.int64)
            self.widths[name] = max(self.widths[name], array.dtype.itemsize // 4)
            with self.paths[name].open("ab") as file:
                np.save(file, array)
        self.count += len(piece["tier"])

    def write(self, name: str, write: Callable[[bytes], object]) -> None:
        """Write a column as one array, in the form of .npy."""
        import numpy as np
        from numpy.lib import format as npy

        kinds: dict[str, Any] = {"tier": "<i8", "position": "<i8", "value": "|u1", "remoteness": "<i4"}
        kind = np.dtype(kinds.get(name.rstrip("0123456789"), f"<U{self.widths[name]}"))
        header = Written(write)
        npy.write_array_header_1_0(header, {"descr": kind.str, "fortran_order": False, "shape": (self.count,)})
        if self.count:
            with self.paths[name].open("rb") as file:
                while file.peek(1):
                    write(np.load(file).astype(kind).tobytes())


class Written:
    """A file as far as NumPy writes a header to it."""

    def __init__(self, write: Callable[[bytes], object]):
        self.write = write


WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".npz": write_npz}
