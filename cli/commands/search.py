"""`retrograde search`: proves the value of a position without a database."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from retrograde.cli.common import Size, json_option, print_json, read_position, source_argument
from retrograde.cli.progress import COMPILING, listening, polled, search_progress
from retrograde.cli.render.known import facts, how_known, verdict
from retrograde.cli.render.moves import distance, mover, names_of, print_line
from retrograde.cli.render.scores import tell_score
from retrograde.cli.render.words import indent, plies
from retrograde.games import LOSE, TIE, WIN
from retrograde.games.contract.game import defines, is_numbered, metric_of
from retrograde.games.contract.raised import given_start

if TYPE_CHECKING:
    from retrograde.games import Game
    from retrograde.solver.runtime.progress import Listener
    from retrograde.solver.search.probing.tables import LoadedTables
    from retrograde.solver.search.searcher import SearchResult

TABLE = "256M"
METHODS = ["alpha-beta", "pn"]
DISTANCE_SECONDS = 10.0
"""Seconds to search for the distance of a value that proof-number search has proved, unless --time is given."""


@click.command()
@source_argument
@click.argument("position", required=False)
@click.option(
    "--time", "seconds", type=click.FloatRange(min=0, min_open=True), metavar="S", help="Time limit in seconds."
)
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Search to a depth of N plies only.")
@click.option(
    "--table",
    "size",
    type=Size(),
    default=TABLE,
    show_default=True,
    metavar="SIZE",
    help="Memory for the transposition table.",
)
@click.option("--workers", type=click.IntRange(1, 64), metavar="N", help="Threads; by default one for each core.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="How to search; by default by proof numbers (pn) if positions can repeat, else by alpha-beta.",
)
@click.option(
    "--metric",
    type=click.Choice(["remoteness", "score"]),
    help="What to search for: value and distance, or the score; by default the game's own metric.",
)
@click.option(
    "--tables/--no-tables",
    default=True,
    show_default=True,
    help="Probe databases of smaller games of the family, such as endings, during the search.",
)
@click.option("--value-only", is_flag=True, help="Prove the value only; the distance takes longer.")
@click.option("--tree", is_flag=True, help="Draw the trees of textbook searches to --depth; this proves nothing.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the --tree to an .svg file."
)
@json_option
def command(
    source: str,
    position: str | None,
    seconds: float | None,
    depth: int | None,
    size: int,
    workers: int | None,
    method: str | None,
    metric: str | None,
    tables: bool,
    value_only: bool,
    tree: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Prove the value of a position by search, without a database.

    By default POSITION is the start. The result is proved by the rules alone; when time is over, the command prints
    what is known by then. Alpha-beta search finds the distance as well. Proof-number search (pn) also proves draws by
    endless play. In games with points, the result is the score: how much the player to move can win by. Databases of
    smaller games of the family in the home folder (such as endings of chess that captures lead to) are taken as true.

    \b
    Examples:
      retrograde search connect4:4,4 2122
      retrograde search connect4:4,4 --value-only
      retrograde search mutorere --json
      retrograde search othello:4,4
      retrograde search kalah:3,2 --metric score
      retrograde search tictactoe X.O/.X./O.. --tree --depth 2
    """
    from retrograde.games.catalog import load_game
    from retrograde.solver.conformance.precheck import refuse_broken
    from retrograde.solver.play.oracle import searched as known_of

    if depth and method == "pn":
        raise click.UsageError("--depth needs --method alpha-beta: proof numbers know no plies")
    game = load_game(source)
    refuse_broken(game)
    place = start_of(game) if position is None else read_position(game, position)
    if tree or out:
        from retrograde.cli.render.trees import tell_trees

        tell_trees(game, place, depth, out, as_json)
        return
    if (metric or metric_of(game)) == "score":
        if depth or method == "pn":
            raise click.UsageError("scores are searched to the end of the game, without --depth and --method pn")
        tell_score(game, place, workers or os.cpu_count() or 1, size, seconds, value_only, as_json)
        return
    limits = Limits(seconds, depth, size, workers or os.cpu_count() or 1, not value_only, tables)
    with listening(as_json) as line:
        found, moves = searched(game, place, method, limits, line)
    known, names = known_of(found), names_of(game, place, moves)
    if as_json:
        print_json(facts(game, place, known, names))
        return
    said = verdict(known, mover(game, place), distance(game, known.value, known.remoteness))
    click.echo(f"{indent(game.show(place))}\n\n{said}")
    click.echo(how_known(known))
    print_line(game, place, names)
    if found.value in (WIN, LOSE, TIE) and found.remoteness is None and not value_only:
        told = (
            f": the rules say {plies(game.tie_in(place))} (tie_in)"
            if found.value == TIE and defines(game, "tie_in")
            else ""
        )
        click.echo(f"distance not proved{told}; a longer --time may prove it, or solve the game")


class Limits(NamedTuple):
    """The limits of a search, whether to find the distance, and whether to probe tables."""

    seconds: float | None
    depth: int | None
    size: int
    workers: int
    distance: bool
    tables: bool


def searched(
    game: "Game", place: int, method: str | None, limits: Limits, line: "Listener"
) -> tuple["SearchResult", list[int]]:
    """Return the result of a search by *method* (None: the one that fits), and the moves of best play."""
    from retrograde.solver.search.prover import can_repeat

    if method is None and not limits.depth and can_repeat(game, place):
        found = by_proof_numbers(game, place, limits, line)
        if not (limits.distance and found.value in (WIN, LOSE) and found.remoteness is None):
            return found, []
        left = DISTANCE_SECONDS if limits.seconds is None else max(limits.seconds - found.seconds, 0.01)
        again, moves = by_alpha_beta(game, place, limits._replace(seconds=left), line)
        nodes, seconds, tables = (
            found.nodes + again.nodes,
            found.seconds + again.seconds,
            found.in_tables + again.in_tables,
        )
        return replace(found, remoteness=again.remoteness, nodes=nodes, seconds=seconds, in_tables=tables), moves
    if method == "pn":
        return by_proof_numbers(game, place, limits, line), []
    return by_alpha_beta(game, place, limits, line)


def by_proof_numbers(game: "Game", place: int, limits: Limits, line: "Listener") -> "SearchResult":
    """Return what proof-number search finds for a position."""
    from retrograde.solver.runtime.progress import announce
    from retrograde.solver.search.prover import ProofNumberSearch

    announce(line, COMPILING)
    prover = ProofNumberSearch(game, limits.size, tables_of(game, place, limits))
    with polled(line, search_progress(prover)):
        return prover.find(place, limits.seconds)


def by_alpha_beta(game: "Game", place: int, limits: Limits, line: "Listener") -> tuple["SearchResult", list[int]]:
    """Return what alpha-beta search finds for a position, and the moves of best play."""
    from retrograde.solver.runtime.progress import announce
    from retrograde.solver.search.searcher import Search

    announce(line, COMPILING)
    search = Search(game, limits.workers, limits.size, tables_of(game, place, limits))
    with polled(line, search_progress(search)):
        found = search.find(place, limits.seconds, limits.distance, limits.depth)
        return found, search.line(place, found, limits.seconds) if limits.distance else []


def tables_of(game: "Game", place: int, limits: Limits) -> "LoadedTables | None":
    """Return the tables to probe, or None."""
    if not limits.tables or not is_numbered(game):
        return None
    from retrograde.solver.search.probing.tables import find_tables

    return find_tables(game, place)


def start_of(game: "Game") -> int:
    """Return the first position of a game; raise UsageError if it has none."""
    start: int | None = given_start(game)
    if start is None:
        raise click.UsageError(f"{game.name} has no start; give a POSITION", click.get_current_context())
    return start
