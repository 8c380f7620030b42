"""`retrograde query`: what a position is worth, and every move in it."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.board import print_board
from retrograde.cli.common import (
    complete_files,
    complete_variants,
    database_option,
    input_line,
    json_option,
    open_source,
    print_json,
    read_position,
)
from retrograde.cli.failure import Failure
from retrograde.cli.moves import distance as distance_of
from retrograde.cli.moves import mover, moves_table, numbered
from retrograde.cli.pager import paged
from retrograde.cli.words import heading, prospect, wrap
from retrograde.games import UNDECIDED
from retrograde.games.text import printable

if TYPE_CHECKING:
    from retrograde.solver.play.solution import Solution

    Reader = Callable[[str], tuple[Solution, int]]
    """Returns the solution and the position that a text stands for."""


@click.command()
@click.argument("source", metavar="[VARIANT|FILE]", required=False, shell_complete=complete_variants)
@click.argument("position", required=False)
@click.option(
    "--batch",
    metavar="FILE",
    shell_complete=complete_files,
    help="Answer each line of a file, or of standard input (-), on one line.",
)
@click.option("--moves", is_flag=True, help="With --batch, tell of the moves as well.")
@database_option
@json_option
def command(
    source: str | None, position: str | None, batch: str | None, moves: bool, database: str | None, as_json: bool
) -> None:
    """Show what a position is worth, every move, and best play.

    POSITION is the start if not given; - reads positions from standard input, one a line. Where VARIANT is chess, a
    database is taken that has the men on the board: chess:KRKN, say, for rook against knight, or for a rook alone.

    With --batch a line is a position, or VARIANT, a tab and a position; where no VARIANT is given beside, a space does
    for the tab. Lines are answered by number, position, value (for the player to move) and plies to the end. What
    cannot be answered says why, and the exit status is 1.

    \b
    Examples:
      retrograde query tictactoe
      retrograde query tictactoe X.O/.X./... --json
      retrograde query chess:KRK 8/8/8/3k4/8/8/8/K6R_w
      echo 2231 | retrograde query connect4:4,4 -
      echo 2231 | retrograde query connect4:4,4 --batch -
    """
    from retrograde.cli.many import CHESS, Desk, answer_file
    from retrograde.solver.play.solution import Solution

    if batch is not None:
        if position is not None:
            raise click.UsageError("give a POSITION or --batch, not both", click.get_current_context())
        with Desk(source, database) as desk:
            answer_file(batch, desk, facts if moves else None, as_json)
        return
    if source is None or moves:
        what = "--moves goes with --batch" if moves else "missing argument 'VARIANT|FILE'"
        raise click.UsageError(what, click.get_current_context())
    with ExitStack() as opened:
        if source == CHESS and position is not None and database is None:
            desk = opened.enter_context(Desk(source))
            read: Reader = lambda text: desk.read(text)  # noqa: E731
        else:
            solution = opened.enter_context(Solution(open_source(source, database)))
            read = lambda text: (solution, read_reachable(solution, text))  # noqa: E731
        if position is None:
            with paged(as_json):
                show(solution, start_of(solution), as_json)
        elif position == "-":
            show_lines(read, as_json)
        else:
            solution, place = read(position)
            with paged(as_json):
                show(solution, place, as_json)


def show_lines(read: "Reader", as_json: bool) -> None:
    """Answer each line of standard input as it comes; raise Failure where some have no answer."""
    from retrograde.cli.many import BAD

    number = asked = bad = 0
    while line := input_line():
        number += 1
        if not (text := line.strip()):
            continue
        if asked and not as_json:
            click.echo()
        asked += 1
        try:
            show(*read(text), as_json)
        except BAD as error:
            bad += 1
            what = f"line {number}: {error}"
            print_json({"line": number, "input": text, "error": what}) if as_json else click.echo(printable(what))
    if bad:
        raise Failure(f"error: {bad:,} of {asked:,} lines had no answer; they say why")


def show(solution: "Solution", place: int, as_json: bool) -> None:
    """Print what is known of a position, for people or as JSON."""
    if as_json:
        print_json(facts(solution, place))
    else:
        print_position(solution, place)


def start_of(solution: "Solution") -> int:
    """Return the start of the game; raise UsageError where it has none."""
    if solution.start is None:
        example = solution.game.write(solution.start_or_example)
        name = solution.variant
        raise click.UsageError(f"{name} has no start; give a POSITION, as in {example!r}", click.get_current_context())
    return solution.start


def read_reachable(solution: "Solution", text: str) -> int:
    """Return the position that a text stands for; raise NotInDatabase where play never reaches it."""
    from retrograde.databases import NotInDatabase
    from retrograde.games.catalog import variant

    position = read_position(solution.game, text)
    if position not in solution.database:
        raise NotInDatabase(f"position {text!r} of {variant(solution.game)} cannot be reached from the start")
    return position


def facts(solution: "Solution", position: int) -> dict[str, Any]:
    """Return a position's facts, ready for JSON; those of a move are of the position reached, for who moves there."""
    write = solution.game.write
    return {
        "variant": solution.variant,
        "position": write(position),
        **outcome(*solution.value(position)),
        **distance(solution, position),
        "moves": [
            {"move": choice.name, "position": write(choice.position), **outcome(choice.value, choice.remoteness)}
            for choice in solution.moves(position)
        ],
        "line": [choice.name for choice in solution.line(position)],
    }


def distance(solution: "Solution", position: int) -> dict[str, str]:
    """Return how far the end is in the words of the game, if it has them."""
    words = distance_of(solution.game, *solution.value(position))
    return {"distance": words} if words else {}


def outcome(value: Any, remoteness: int | None) -> dict[str, Any]:
    return {"value": value.name.lower(), "remoteness": remoteness}


def print_position(solution: "Solution", position: int) -> None:
    """Print a position's picture and worth, its moves, and the line of best play."""
    choices = solution.moves(position)
    print_board(solution.game, position, choices)
    far = distance(solution, position).get("distance", "")
    ended = solution.game.ending(position) if solution.game.primitive(position) != UNDECIDED else ""
    click.echo(f"\n{prospect(*solution.value(position), mover(solution.game, position), far, ended)}")
    if not choices:
        return
    click.echo(f"\n{moves_table(solution.game, choices)}")
    names = numbered(solution.game, position, [choice.name for choice in solution.line(position)])
    head = "Best play"
    click.echo(f"\n{heading(head)}{wrap(f'{head}  {names}', len(head) + 2)[len(head) :]}")
