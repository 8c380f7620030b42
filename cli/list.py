"""`retrograde list`: the databases in the home folder."""

from pathlib import Path
from typing import Any

import click

from retrograde.cli.common import json_option, print_json
from retrograde.cli.left import facts_of, unfinished
from retrograde.cli.pager import paged
from retrograde.cli.report import of_book
from retrograde.cli.words import faint, heading, size, table, verdict
from retrograde.databases import home_folder, list_databases
from retrograde.databases.location import list_books
from retrograde.games import RetrogradeError, Value
from retrograde.games.text import printable

Facts = dict[str, Any]


@click.command("list")
@json_option
def command(as_json: bool) -> None:
    """List the databases there are, and what interrupted solves have left: how far they are, and how to go on.

    They are in the folder that RETROGRADE_HOME names, else in the usual one for data.

    \b
    Example:
      retrograde list
    """
    databases = [describe(path) for path in (*list_databases(), *list_books())]
    begun = [facts_of(path) for path in unfinished()]
    if as_json:
        print_json([*databases, *begun])
        return
    with paged():
        print_lists(databases, begun)


def print_lists(databases: list[Facts], begun: list[Facts]) -> None:
    """Print the databases, and what interrupted solves have left."""
    if not databases:
        click.echo(f"no databases in {home_folder()}; make one, as with: retrograde solve tictactoe")
    else:
        rows = [tuple(map(heading, ("variant", "positions", "size", "at the start")))]
        click.echo(table([*rows, *map(cells, databases)], "<>><"))
    if begun:
        rows = [tuple(map(heading, ("not finished", "size", "how far")))]
        names = [(facts["variant"] or Path(facts["path"]).name, facts) for facts in begun]
        rows += [(printable(name), size(facts["bytes"]), facts["interrupted"]["says"]) for name, facts in names]
        click.echo(f"\n{table(rows, '<><')}")
        click.echo("\ngo on: retrograde solve VARIANT     remove: retrograde remove VARIANT")
    if databases:
        click.echo(faint(f"\nin {home_folder()}"))


def describe(path: Path) -> Facts:
    """Return the facts about a database, ready for JSON; of one that cannot be read, the error."""
    from retrograde.databases import DatabaseFile
    from retrograde.databases.book import BookFile, is_book
    from retrograde.databases.layout import NOT_FOUND

    facts: Facts = {"path": str(path), "bytes": path.stat().st_size}
    try:
        with (BookFile if is_book(path) else DatabaseFile)(path) as file:
            if isinstance(file, BookFile):
                facts["book"] = {"plies": file.plies}
            outcome = file.start_outcome
            facts |= {"variant": file.variant, "positions": file.positions, "stored": file.stored, "start": None}
            if outcome is not None:
                remoteness = None if outcome.remoteness in (-1, NOT_FOUND) else outcome.remoteness
                facts["start"] = {"value": outcome.value.name.lower(), "remoteness": remoteness}
    except RetrogradeError as error:
        facts["error"] = str(error)
    return facts


def cells(facts: Facts) -> tuple[str, ...]:
    if "error" in facts:
        return Path(facts["path"]).stem, "", size(facts["bytes"]), "cannot be read"
    start = facts["start"]
    if book := facts.get("book"):
        return facts["variant"], f"{facts['positions']:,}", size(facts["bytes"]), of_book(book["plies"])
    words = verdict(Value[start["value"].upper()], start["remoteness"], "") if start else "no start"
    return facts["variant"], f"{facts['positions']:,}", size(facts["bytes"]), words
