"""`retrograde book`: searches the first plies of a game that is too large to solve, and keeps the results."""

import time
from pathlib import Path
from typing import Any

import click

from retrograde.cli import options
from retrograde.cli.commands.remove import clear_leftovers
from retrograde.cli.common import print_json
from retrograde.cli.failure import Failure, explain_interrupt
from retrograde.cli.progress import listening
from retrograde.cli.render.report import print_book, print_file, print_values
from retrograde.cli.render.words import duration
from retrograde.games import Game, RetrogradeError
from retrograde.solver.runtime.progress import announce

TABLE = "256M"


@click.command()
@options.variant
@click.option("--plies", type=click.IntRange(0, 60), required=True, metavar="N", help="How many plies from the start.")
@click.option("--value-only", is_flag=True, help="Prove values only; distances take longer.")
@options.size("--table", "size", TABLE, "Memory for transposition tables, divided among the threads.")
@options.workers
@options.fresh
@options.database
@options.json
def command(
    variant: str,
    plies: int,
    value_only: bool,
    size: int,
    workers: int | None,
    fresh: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """Make an opening book: the value of every position within N plies of the start.

    The command searches the positions of the last ply until the value of each is proved. The values of earlier plies
    follow from these. If a game has no database, play, query and the page look into its book first, and search
    positions that are not in it. Run the same command again to resume an interrupted book.

    The command searches only shortly for the distance of a tie, so that distance may stay unknown. Values are always
    proved.

    \b
    Examples:
      retrograde book connect4:4,4 --plies 2
      retrograde book connect4:4,4 --plies 3 --value-only --json
    """
    from retrograde.databases import location
    from retrograde.databases.book import open_book
    from retrograde.games.catalog import load_game, trust
    from retrograde.games.catalog import variant as text_of
    from retrograde.solver.play.analysis import summary

    game = load_game(variant)
    path = Path(database) if database is not None else location.book_path(text_of(game))
    began = time.monotonic()
    there = not fresh and is_there(game, path, plies, not value_only)
    if there:
        clear_leftovers(path)
    else:
        run(game, path, {"plies": plies, "distances": not value_only, "workers": workers, "size": size}, fresh, as_json)
    trust(game)  # the user has named its file
    with open_book(path, game) as book:
        facts = summary(book)
    seconds = time.monotonic() - began
    if as_json:
        print_json(facts | {"seconds": round(seconds, 3)})
        return
    print_book(facts)
    print_values(facts)
    click.echo("it was made before; make it again with --fresh" if there else duration(seconds))
    print_file(facts)


def is_there(game: Game, path: Path, plies: int, distances: bool) -> bool:
    """Return whether this book exists already; raise Failure if something else is there."""
    from retrograde.databases.book import BookFile
    from retrograde.databases.open import matching_game

    if not path.exists():
        return False
    try:
        with BookFile(path) as file:
            matching_game(file, game)
            return file.plies == plies and (file.has_distances or not distances)
    except RetrogradeError as error:
        raise Failure(f"error: {error}; choose another --database, or make it again with --fresh") from error


def run(game: Game, path: Path, wanted: dict[str, Any], fresh: bool, as_json: bool) -> None:
    """Make a book with progress on the terminal. On Ctrl-C, raise Failure that says that finished work is kept."""
    try:
        with listening(as_json) as line:
            from retrograde.solver.play.oracles.book import BookOptions, make_book

            announce(line, "reading the rules")
            make_book(game, BookOptions(**wanted, fresh=fresh, listener=line), path)
    except KeyboardInterrupt as error:
        note = "; finished work is kept, and the same command resumes the search"
        raise explain_interrupt(error, note) from None
