"""Finds, opens and prints books of estimates for the commands."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import file_named, named_variant
from retrograde.cli.render.words import faint, heading, plies, size
from retrograde.databases.location import ESTIMATES_SUFFIX, book_path, certificate_path, database_path, estimates_path
from retrograde.games import RetrogradeError
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.solver.search.depth.estimated_book import EstimatedBook, EstimatesFile

CLASS = "estimates"
"""A book of estimates solves nothing."""


def is_estimates(path: Path) -> bool:
    """Return whether a file's name is that of a book of estimates."""
    return path.name.endswith(ESTIMATES_SUFFIX)


def estimates_named(source: str, database: str | None) -> Path | None:
    """Return the path of the book of estimates that VARIANT|FILE and --database name.

    Return None if a variant has anything better: a database, a book of proved values, or a certificate.
    """
    from retrograde.games.catalog import load_game, variant

    path = Path(database) if database is not None else Path(source) if is_estimates(Path(source)) else None
    if path is not None or file_named(source) is not None:
        return path if path is not None and is_estimates(path) else None
    with suppress(RetrogradeError):
        name = variant(load_game(source))
        better = database_path(name), book_path(name), certificate_path(name)
        path = estimates_path(name)
        return path if path.is_file() and not any(one.exists() for one in better) else None
    return None


def open_named(path: Path, source: str, database: str | None) -> "EstimatedBook":
    """Open a book of estimates with its game. If --database names the file, VARIANT names the game."""
    from retrograde.games.catalog import find_game, is_digest_of, load_game, rules_digest
    from retrograde.solver.search.depth.estimated_book import open_estimates, read_estimates

    if database is not None or not is_estimates(Path(source)):
        return open_estimates(path, load_game(named_variant(source)))
    origin = read_estimates(path).origin
    return open_estimates(path, find_game(origin.game, lambda cls: is_digest_of(origin.rules, rules_digest(cls))))


def facts_of(file: "EstimatesFile") -> dict[str, Any]:
    """Return the facts about a book of estimates, ready for JSON."""
    origin = file.origin
    return {
        "variant": origin.game,
        "class": CLASS,
        "estimates": {"plies": origin.plies, "depth": origin.depth, "most": origin.most},
        "positions": len(file.estimates),
        "start": {"estimate": file.estimates[file.start]},
        "tables": list(origin.tables),
        "bytes": file.bytes,
        "path": str(file.path),
    }


def book_text(facts: dict[str, Any]) -> str:
    """Return the name of a book of estimates: `a book of estimates of the first 6 plies`."""
    count = facts["estimates"]["plies"]
    lines = "" if facts["estimates"]["most"] is None else " of the best lines within"
    return f"a book of estimates{lines or ' of'} the first {'ply' if count == 1 else plies(count)}"


def print_estimates(file: "EstimatesFile") -> None:
    """Print what a book of estimates holds, and that nothing in it is proved."""
    from retrograde.solver.search.depth.scores import estimate_text

    facts = facts_of(file)
    start = estimate_text(facts["start"]["estimate"])
    click.echo(f"{heading(printable(facts['variant']))}: estimated as {start} for the first player; nothing is proved")
    depth = plies(facts["estimates"]["depth"])
    click.echo(f"{book_text(facts)}: {facts['positions']:,} positions, by searches of {depth}")
    if facts["tables"]:
        click.echo(faint(printable(f"the searches probed the databases of {', '.join(facts['tables'])}")))
    click.echo(f"{printable(facts['path'])}: {size(facts['bytes'])}")
