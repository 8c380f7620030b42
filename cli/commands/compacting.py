"""`retrograde export --compact`: writes smaller databases of games that number their positions, and prints a line for
each."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import file_named, open_source, print_json
from retrograde.cli.progress import listening
from retrograde.cli.render.words import faint, size
from retrograde.games import RetrogradeError

if TYPE_CHECKING:
    from retrograde.databases import Database

Facts = dict[str, Any]


def export_compact(source: str, folder: Path, database: str | None, as_json: bool) -> None:
    """Write a database, or those of a set, into a folder in compact form, except those already there."""
    done = []
    for one in sources_in(source, database):
        with open_source(one, database) as opened:
            done.append(compact_of(opened, folder, as_json))
        if not as_json:
            click.echo(line_of(done[-1]))
    if as_json:
        print_json({"databases": done})


def sources_in(source: str, database: str | None) -> list[str]:
    """Return the databases to open, each by its own name."""
    from retrograde.games.catalog import variants_in

    members = [] if file_named(source) else variants_in(source)
    if members and database:
        raise click.UsageError(f"{source} is a set of {len(members)} variants: it does not go with --database")
    return list(members) or [source]


def compact_of(database: "Database", folder: Path, as_json: bool) -> Facts:
    """Write the compact form of a database unless it exists; return the facts about it."""
    from retrograde.databases import database_path
    from retrograde.solver.methods.numbered.compact.write import make_compact

    variant = database.file.variant
    path = database_path(variant, folder)
    there = path.exists()
    if there:
        check_compact(path, database)
    else:
        with listening(as_json, variant) as line:
            make_compact(database, path, line)
    sizes = {"before": database.file.path.stat().st_size, "bytes": path.stat().st_size}
    return {"variant": variant, "path": str(path), **sizes, "there_before": there}


def check_compact(path: Path, database: "Database") -> None:
    """Raise RetrogradeError if a file is not a compact database of the same game."""
    from retrograde.databases import DatabaseFile
    from retrograde.databases.slots.compact import CompactReader

    with DatabaseFile(path) as file:
        same = (file.variant, file.rules) == (database.file.variant, database.file.rules)
        if not same or not isinstance(file.contents, CompactReader):
            what = f"{str(path)!r} is there already, and no compact database of these rules"
            raise RetrogradeError(f"{what}; name another folder")


def line_of(facts: Facts) -> str:
    """Return the result in a line: `chess:KRKN       521 kB ->    150 kB`."""
    sizes = f"{facts['variant']:<14}{size(facts['before']):>9} ->{size(facts['bytes']):>9}"
    return sizes + (f"  {faint('there before')}" if facts["there_before"] else "")
