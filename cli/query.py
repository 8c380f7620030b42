"""`retrograde query`: what a position is worth, and every move in it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.board import print_board
from retrograde.cli.common import (
    database_option,
    input_line,
    json_option,
    open_source,
    print_json,
    read_position,
    source_argument,
)
from retrograde.cli.moves import distance as distance_of
from retrograde.cli.moves import mover, moves_table, numbered
from retrograde.cli.pager import paged
from retrograde.cli.words import heading, prospect, wrap
from retrograde.games import UNDECIDED

if TYPE_CHECKING:
    from retrograde.solver.play.solution import Solution


@click.command()
@source_argument
@click.argument("position", required=False)
@database_option
@json_option
def command(source: str, position: str | None, database: str | None, as_json: bool) -> None:
    """Show what a position is worth, every move, and best play.

    POSITION is the start if not given; - reads positions from standard input, one a line.

    \b
    Examples:
      retrograde query tictactoe
      retrograde query tictactoe X.O/.X./... --json
      retrograde query chess:KRK 8/8/8/3k4/8/8/8/K6R_w
      echo 2231 | retrograde query connect4:4,4 -
    """
    from retrograde.solver.play.solution import Solution

    with Solution(open_source(source, database)) as solution:
        for number, place in enumerate(positions(solution, position)):
            if as_json:
                print_json(facts(solution, place))
                continue
            if number:
                click.echo()
            with paged(as_json or position == "-"):
                print_position(solution, place)


def positions(solution: "Solution", text: str | None) -> Iterable[int]:
    """Yield the positions asked for."""
    if text is None:
        yield start_of(solution)
    elif text != "-":
        yield read_reachable(solution, text)
    else:
        while line := input_line():
            if line.strip():
                yield read_reachable(solution, line.strip())


def start_of(solution: "Solution") -> int:
    """Return the start of the game; raise UsageError where it has none."""
    if solution.start is None:
        example = solution.game.write(solution.start_or_example)
        name = solution.database.file.variant
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
        "variant": solution.database.file.variant,
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
