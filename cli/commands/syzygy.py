"""`retrograde export --syzygy`: writes chess endings as Syzygy tables into a folder, and prints a line for each."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import file_named, open_source, print_json
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import faint, size
from retrograde.databases.location import metric_named
from retrograde.games import RetrogradeError
from retrograde.games.contract.zeroing import DTZ

if TYPE_CHECKING:
    from retrograde.databases import Database
    from retrograde.databases.slots.database import SlotsDatabase

Facts = dict[str, Any]


def export_tables(source: str, folder: Path, database: str | None, as_json: bool) -> None:
    """Write the tables of an ending and of all that may follow, except those already there. Sets work too."""
    from retrograde.solver.methods.chess.syzygy.write import endings_in

    done = dict[str, Facts]()
    for name in sources_in(source, database):
        with open_source(name, database) as opened:
            dtz = require_dtz(opened)
            for ending in endings_in(dtz):
                if ending not in done:
                    done[ending] = write_ending(dtz, ending, folder, as_json)
                    if not as_json:
                        click.echo(line_of(done[ending]))
    if not done:
        raise RetrogradeError("bare kings have no table")
    if as_json:
        print_json({"tables": list(done.values())})


def sources_in(source: str, database: str | None) -> list[str]:
    """Return the sources to open, one for each variant of a set: `chess:KRK` becomes `chess:KRK@dtz`.

    A source that is a file, or that names a metric, stays as it is. Raises RetrogradeError if the game is not chess.
    """
    from retrograde.games.catalog import load_game, variants_in

    if file_named(source):
        return [source]
    name, metric = metric_named(source)
    if members := variants_in(name):
        if database:
            raise click.UsageError(f"{name} is a set of {len(members)} variants: it does not go with --database")
        return [f"{member}@{metric or DTZ}" for member in members]
    check_chess(load_game(name))
    return [source if metric or database else f"{source}@{DTZ}"]


def check_chess(game: Any) -> None:
    """Raise RetrogradeError if a game is not chess, or has too many men for Syzygy's tables."""
    from retrograde.games.catalog import variant
    from retrograde.games.chess.men import MOST_WITH_PAWNS
    from retrograde.solver.methods.chess.fit import is_chess

    if not is_chess(game):
        raise RetrogradeError(f"Syzygy's tables are of chess endings, not of {variant(game)}")
    if len(game.material) > MOST_WITH_PAWNS:  # holds for endings without pawns too
        raise RetrogradeError(f"Syzygy's tables of {MOST_WITH_PAWNS} men at most are written, not of {variant(game)}")


def require_dtz(database: "Database") -> "SlotsDatabase":
    """Return the database; raise RetrogradeError unless it has distances to zeroing of chess with few men."""
    from retrograde.databases.slots.database import SlotsDatabase

    check_chess(database.game)
    variant = database.file.variant
    if database.metric != DTZ or not isinstance(database, SlotsDatabase):
        what = f"this database of {variant} has {database.metric}, and Syzygy's tables have distances to zeroing"
        raise RetrogradeError(f"{what}; make them with: retrograde solve {variant} --metric {DTZ}")
    return database


def write_ending(database: "SlotsDatabase", ending: str, folder: Path, as_json: bool) -> Facts:
    """Write both tables of an ending, such as "KRK", unless they exist; return the facts about them, ready for JSON."""
    from retrograde.solver.methods.chess.syzygy.write import is_complete, paths_of, write_tables

    paths = paths_of(ending, folder)
    for path in paths:
        if path.exists() and not is_complete(path):
            raise RetrogradeError(f"{str(path)!r} is there already, and is no whole table; remove it, or rename it")
    there_before = all(path.exists() for path in paths)
    if not there_before:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with progress_listener(as_json, ending) as line:
                write_tables(database, ending, folder, line)
        except OSError as error:
            if isinstance(error, RetrogradeError):
                raise
            raise RetrogradeError(f"cannot write to {str(folder)!r}: {error.strerror or error}") from error
    files = [{"path": str(path), "bytes": path.stat().st_size} for path in paths]
    return {"ending": ending, "files": files, "there_before": there_before}


def line_of(facts: Facts) -> str:
    """Return the result in a line: `KRvK.rtbw     208 bytes  KRvK.rtbz        7.7 kB`."""
    files = "  ".join(f"{Path(file['path']).name:<14}{size(file['bytes']):>9}" for file in facts["files"])
    return files + (f"  {faint('there before')}" if facts["there_before"] else "")
