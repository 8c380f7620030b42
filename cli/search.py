"""`retrograde search`: what a position is worth, proved without a database."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from retrograde.cli.common import Size, json_option, print_json, read_position, source_argument
from retrograde.cli.moves import distance, mover, numbered
from retrograde.cli.words import NOUNS, amount, duration, heading, indent, prospect, wrap
from retrograde.games import DRAW, LOSE, TIE, WIN

if TYPE_CHECKING:
    from retrograde.games import Game
    from retrograde.solver.search.prover import Prover
    from retrograde.solver.search.searcher import Finding, Search

TABLE = "256M"
METHODS = ["alpha-beta", "pn"]
DISTANCE_SECONDS = 10.0
"""Seconds in which it is found out how far the end is that proof-number search has proved, unless somebody says."""
TICK_SECONDS = 0.5


@click.command()
@source_argument
@click.argument("position", required=False)
@click.option("--time", "seconds", type=click.FloatRange(min=0, min_open=True), metavar="S", help="Seconds to search.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Only what is decided within N plies.")
@click.option(
    "--table", "size", type=Size(), default=TABLE, show_default=True, metavar="SIZE", help="Memory for positions met."
)
@click.option("--workers", type=click.IntRange(1, 64), metavar="N", help="Threads; by default one for each core.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="How to search; by default by proof numbers (pn) where play can go round in circles.",
)
@click.option("--value-only", is_flag=True, help="Leave out the distance, which takes longer.")
@click.option("--tree", is_flag=True, help="Draw what textbook searches look at, to --depth; it proves nothing.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The --tree as .svg.")
@json_option
def command(
    source: str,
    position: str | None,
    seconds: float | None,
    depth: int | None,
    size: int,
    workers: int | None,
    method: str | None,
    value_only: bool,
    tree: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Prove what a position is worth by search, where no database reaches.

    POSITION is the start if not given. What is told is proved by the rules alone; when time is out, what is known by
    then is told. Alpha-beta search finds the distance as well; proof-number search (pn) proves draws by endless play.

    \b
    Examples:
      retrograde search connect4:4,4 2122
      retrograde search connect4:4,4 --value-only
      retrograde search mutorere --json
      retrograde search tictactoe X.O/.X./O.. --tree --depth 2
    """
    from retrograde.games.catalog import load_game

    if depth and method == "pn":
        raise click.UsageError("--depth needs --method alpha-beta: proof numbers know no plies")
    game = load_game(source)
    place = start_of(game) if position is None else read_position(game, position)
    if tree or out:
        from retrograde.cli.trees import tell_trees

        tell_trees(game, place, depth, out, as_json)
        return
    limits = Limits(seconds, depth, size, workers or os.cpu_count() or 1, not value_only)
    with told() as say:
        found, line = searched(game, place, method, limits, say)
    if as_json:
        print_json(facts(game, place, found, line))
    else:
        print_finding(game, place, found, line)
        if found.value in (WIN, LOSE, TIE) and found.remoteness is None and not value_only:
            click.echo("how far the end is was not found in that time; a longer --time may find it, or solve the game")


class Limits(NamedTuple):
    """What a search may take, and whether the distance is wanted."""

    seconds: float | None
    depth: int | None
    size: int
    workers: int
    distance: bool


def searched(
    game: "Game", place: int, method: str | None, limits: Limits, say: Callable[[str], None]
) -> tuple["Finding", list[str]]:
    """Return what was found by a method, or by the one that fits the game, and the names of the moves of best play."""
    from retrograde.solver.search.prover import goes_round

    if method is None and not limits.depth and goes_round(game, place):
        found = by_proof_numbers(game, place, limits, say)
        if not (limits.distance and found.value in (WIN, LOSE) and found.remoteness is None):
            return found, []
        left = DISTANCE_SECONDS if limits.seconds is None else max(limits.seconds - found.seconds, 0.01)
        again, line = by_alpha_beta(game, place, limits._replace(seconds=left), say)
        nodes, seconds = found.nodes + again.nodes, found.seconds + again.seconds
        return replace(found, remoteness=again.remoteness, nodes=nodes, seconds=seconds), line
    if method == "pn":
        return by_proof_numbers(game, place, limits, say), []
    return by_alpha_beta(game, place, limits, say)


def by_proof_numbers(game: "Game", place: int, limits: Limits, say: Callable[[str], None]) -> "Finding":
    """Return what proof-number search finds out of a position."""
    from retrograde.solver.search.prover import Prover

    say("compiling the rules")
    prover = Prover(game, limits.size)
    with searching(prover, say):
        return prover.find(place, limits.seconds)


def by_alpha_beta(game: "Game", place: int, limits: Limits, say: Callable[[str], None]) -> tuple["Finding", list[str]]:
    """Return what alpha-beta search finds out of a position, and the names of the moves of best play."""
    from retrograde.solver.search.searcher import Search

    say("compiling the rules")
    search = Search(game, limits.workers, limits.size)
    with searching(search, say):
        found = search.find(place, limits.seconds, limits.distance, limits.depth)
        return found, names(game, place, search.line(place, found, limits.seconds)) if limits.distance else []


@contextmanager
def searching(search: "Search | Prover", say: Callable[[str], None]) -> Iterator[None]:
    """Tell how far a search has come."""
    began = time.monotonic()
    with telling(lambda: say(so_far(search.looked_at, time.monotonic() - began))):
        yield


@contextmanager
def told() -> Iterator[Callable[[str], None]]:
    """Give a function that rewrites a line on the terminal, if there is one; it is gone at the end."""
    from retrograde.cli.progress import ProgressLine

    with ProgressLine() as line:
        yield line.rewrite


@contextmanager
def telling(tell: Callable[[], None]) -> Iterator[None]:
    """Tell something every half a second, while something is done."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(TICK_SECONDS):
            tell()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def so_far(nodes: int, seconds: float) -> str:
    """Return how far a search has come, for people."""
    return f"searching   {amount(nodes)} positions   {amount(nodes / seconds)}/s   {duration(seconds)}"


def start_of(game: "Game") -> int:
    """Return the first position of a game; raise UsageError where it has none."""
    start: int | None = getattr(game, "start", None)
    if start is None:
        raise click.UsageError(f"{game.name} has no start; give a POSITION", click.get_current_context())
    return start


def names(game: "Game", position: int, moves: list[int]) -> list[str]:
    """Return the names of moves made one after another."""
    told = []
    for move in moves:
        told.append(game.move_name(position, move))
        position = game.do_move(position, move)
    return told


def facts(game: "Game", position: int, found: "Finding", line: list[str]) -> dict[str, Any]:
    """Return what was found, ready for JSON."""
    from retrograde.games.catalog import variant

    return {
        "variant": variant(game),
        "position": game.write(position),
        "value": None if found.value is None else NOUNS[found.value],
        "remoteness": found.remoteness,
        "at_least": NOUNS[found.at_least],
        "at_most": NOUNS[found.at_most],
        "proved": found.proved,
        "no_end_within": found.no_end_within,
        "line": line,
        "nodes": found.nodes,
        "seconds": round(found.seconds, 3),
    }


def print_finding(game: "Game", position: int, found: "Finding", line: list[str]) -> None:
    """Print a position and what was found of it."""
    click.echo(indent(game.show(position)))
    click.echo(f"\n{verdict(game, position, found)}")
    rate = f", {amount(found.nodes / found.seconds)}/s" if found.seconds > 0.1 else ""
    how = "proved by search" if found.proved else "no proof"
    click.echo(f"{how}: {amount(found.nodes)} positions in {duration(found.seconds)}{rate}")
    if line:
        head = "Best play"
        text = f"{head}  {numbered(game, position, line)}"
        click.echo(f"\n{heading(head)}{wrap(text, len(head) + 2)[len(head) :]}")


def verdict(game: "Game", position: int, found: "Finding") -> str:
    """Return in words what was found."""
    if found.value is None:
        if found.no_end_within:
            return f"not known; neither side can force a win within {found.no_end_within} plies"
        bounds = {
            (LOSE, TIE): "; the player to move does not win",
            (LOSE, WIN): "",
            (DRAW, TIE): "; neither side can force a win",
        }
        known = bounds.get((found.at_least, found.at_most), f"; at least a {NOUNS[found.at_least]}")
        return f"not known{known}"
    if found.remoteness is None:
        side = mover(game, position)
        return {WIN: f"{side} wins", LOSE: f"{side} loses"}.get(found.value, f"a {NOUNS[found.value]}")
    far = distance(game, found.value, found.remoteness)
    return prospect(found.value, found.remoteness, mover(game, position), far)
