"""`retrograde book`: searches the first plies of a game that is too large to solve, and keeps the results."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from retrograde.cli import options
from retrograde.cli.commands.remove import clear_leftovers
from retrograde.cli.common import print_json
from retrograde.cli.failure import Failure, explain_interrupt
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.estimates import facts_of, is_estimates, print_estimates
from retrograde.cli.render.report import print_book, print_file, print_values
from retrograde.cli.render.words import duration
from retrograde.databases.errors import OtherRules
from retrograde.databases.location import ESTIMATES_SUFFIX
from retrograde.games import Game, RetrogradeError
from retrograde.solver.runtime.progress import announce
from retrograde.solver.search.depth.scores import DEEPEST

TABLE = "256M"


@click.command()
@options.variant
@click.option("--plies", type=click.IntRange(0, 60), required=True, metavar="N", help="How many plies from the start.")
@click.option(
    "--depth",
    type=click.IntRange(1, DEEPEST),
    metavar="N",
    help="Make a book of estimates, by searches of N plies. They prove nothing.",
)
@click.option(
    "--positions",
    "most",
    type=click.IntRange(2),
    metavar="N",
    help="With --depth: only the best lines, until there are N positions.",
)
@options.weights
@click.option("--value-only", is_flag=True, help="Prove values only; distances take longer.")
@options.size("--table", "size", TABLE, "Memory for transposition tables, divided among the threads.")
@options.workers
@options.fresh
@options.database
@options.json
def command(
    variant: str, plies: int, depth: int | None, most: int | None, weights: str | None, value_only: bool, size: int,
    workers: int | None, fresh: bool, database: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Make an opening book: the value of every position within N plies of the start.

    The command searches the positions of the last ply until the value of each is proved. The values of earlier plies
    follow from these. If a game has no database, play, query and the page look into its book first, and search
    positions that are not in it. Run the same command again to resume an interrupted book.

    The command searches only shortly for the distance of a tie, so that distance may stay unknown. Values are always
    proved.

    With --depth, the command makes a book of estimates: what searches of N plies think, backed up to the start. Use it
    if no values can be proved, as in games with cycles. The player depth:6,book plays from it. If a game has no
    database, play and the page do so too, unless the value of a position is proved.

    A book needs two players who alternate, so that nobody passes or moves again.

    \b
    Examples:
      retrograde book connect4:4,4 --plies 2
      retrograde book connect4:4,4 --plies 3 --value-only --json
      retrograde book draughts --plies 3 --depth 5
    """
    from retrograde.databases import location
    from retrograde.databases.book import open_book
    from retrograde.games.catalog import load_game, trust
    from retrograde.games.catalog import variant as text_of
    from retrograde.solver.play.analysis import summary
    from retrograde.solver.play.weights import load_weights

    game = load_game(variant)
    trust(game)  # the user has named its file
    if depth is not None:
        refuse_with_depth(value_only)
        wanted = {"plies": plies, "depth": depth, "most": most, "workers": workers}
        make_estimates(load_weights(game, weights), database, wanted, fresh, as_json)
        return
    if most is not None or weights is not None:
        raise click.UsageError(
            f"{'--positions' if most else '--weights'} goes with --depth", click.get_current_context()
        )
    path = Path(database) if database is not None else location.book_path(text_of(game))
    began = time.monotonic()
    made_before = not fresh and is_there(game, path, plies, not value_only)
    if made_before:
        clear_leftovers(path)
    else:
        run(game, path, {"plies": plies, "distances": not value_only, "workers": workers, "size": size}, fresh, as_json)
    with open_book(path, game) as book:
        facts = summary(book)
    seconds = time.monotonic() - began
    if as_json:
        print_json(facts | {"seconds": round(seconds, 3)})
        return
    print_book(facts)
    print_values(facts)
    click.echo("it was made before; make it again with --fresh" if made_before else duration(seconds))
    print_file(facts)


def is_there(game: Game, path: Path, plies: int, distances: bool) -> bool:
    """Return whether this book exists already; raise Failure if something else is there."""
    from retrograde.databases.book import BookFile
    from retrograde.databases.open import matching_game
    from retrograde.games.catalog import variant

    if not path.exists():
        return False
    try:
        with BookFile(path) as file:
            matching_game(file, game)
            return file.plies == plies and (file.has_distances or not distances)
    except RetrogradeError as error:
        if isinstance(error, OtherRules) and file.variant == variant(game):
            error = OtherRules(f"{str(path)!r} was made with other rules of {file.variant}")
        raise Failure(f"error: {error}; choose another --database, or make it again with --fresh") from error


def run(game: Game, path: Path, wanted: dict[str, Any], fresh: bool, as_json: bool) -> None:
    """Make a book by the options *wanted*, with progress on the terminal."""
    with kept_on_interrupt(), progress_listener(as_json) as line:
        from retrograde.solver.play.oracles.book import BookOptions, make_book

        announce(line, "reading the rules")
        make_book(game, BookOptions(**wanted, fresh=fresh, listener=line), path)


@contextmanager
def kept_on_interrupt() -> Iterator[None]:
    """On Ctrl-C, raise Failure that says that finished work is kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        note = "; finished work is kept, and the same command resumes the search"
        raise explain_interrupt(error, note) from None


# Books of estimates


def refuse_with_depth(value_only: bool) -> None:
    """Raise UsageError if an option for proofs is given with --depth."""
    context = click.get_current_context()
    given = context.get_parameter_source("size") is not ParameterSource.DEFAULT
    if value_only or given:
        raise click.UsageError(
            f"{'--value-only' if value_only else '--table'} is for proofs: not with --depth", context
        )


def make_estimates(game: Game, database: str | None, wanted: dict[str, Any], fresh: bool, as_json: bool) -> None:
    """Make a book of estimates, unless it exists, and print what it holds."""
    from retrograde.databases.location import estimates_path
    from retrograde.games.catalog import variant as text_of
    from retrograde.solver.play.oracles import estimating
    from retrograde.solver.search.depth.estimated_book import open_estimates

    path = Path(database) if database is not None else estimates_path(text_of(game))
    if not is_estimates(path):
        raise click.UsageError(f"name a file that ends in {ESTIMATES_SUFFIX}", click.get_current_context())
    began = time.monotonic()
    with kept_on_interrupt(), progress_listener(as_json) as line:
        announce(line, "reading the rules")
        options_of_book = estimating.EstimatesOptions(**wanted, fresh=fresh, listener=line)
        made_before = estimating.is_complete(game, options_of_book, path)
        if not made_before:
            estimating.make_estimates(game, options_of_book, path)
    file, seconds = open_estimates(path, game).file, time.monotonic() - began
    if as_json:
        print_json(facts_of(file) | {"seconds": round(seconds, 3)})
        return
    print_estimates(file)
    click.echo("it was made before; make it again with --fresh" if made_before else duration(seconds))
