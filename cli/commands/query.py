"""`retrograde query`: shows the value of a position and of every move."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import (
    complete_files,
    complete_variants,
    database_option,
    input_line,
    json_option,
    print_json,
    read_position,
)
from retrograde.cli.failure import Failure
from retrograde.cli.render.board import print_board
from retrograde.cli.render.expected import EXPECTATION, facts_of_response, odds_of, print_expectation, weights_of
from retrograde.cli.render.known import facts as facts_known
from retrograde.cli.render.known import (
    how_known,
    name_of,
    open_oracle,
    searched,
    searching,
    time_option,
    verdict,
    worths,
)
from retrograde.cli.render.measures import NAMES, shared
from retrograde.cli.render.moves import MOVER, mover, moves_table, print_line
from retrograde.cli.render.moves import distance as distance_of
from retrograde.cli.render.pager import paged
from retrograde.cli.render.scores import score_facts, score_told
from retrograde.cli.render.words import heading, prospect
from retrograde.cli.render.zeroing import by_the_rule, zeroing_facts
from retrograde.games import UNDECIDED
from retrograde.games.chess.fields import count_in
from retrograde.games.contract.game import defines
from retrograde.games.contract.text import printable
from retrograde.games.contract.zeroing import TO_PROGRESS, count_after

if TYPE_CHECKING:
    from retrograde.games import Game
    from retrograde.solver.play.oracle import Known, Oracle
    from retrograde.solver.play.solution import Solution

    Reader = Callable[[str], tuple[Oracle, int, int]]
    """Returns for a text: the oracle that answers, the position, and the plies without progress before it."""

SECONDS = 10.0


@click.command()
@click.argument("source", metavar="[VARIANT|FILE]", required=False, shell_complete=complete_variants)
@click.argument("position", required=False)
@click.option(
    "--batch",
    metavar="FILE",
    shell_complete=complete_files,
    help="Answer each line of a file, or of standard input (-), in one line.",
)
@click.option("--moves", is_flag=True, help="With --batch, print the moves as well.")
@time_option(SECONDS, "for the position and its moves")
@database_option
@json_option
def command(
    source: str | None,
    position: str | None,
    batch: str | None,
    moves: bool,
    seconds: float,
    database: str | None,
    as_json: bool,
) -> None:
    """Show the value of a position, every move, and best play.

    By default POSITION is the start; - reads positions from standard input, one a line. If VARIANT is just chess, the
    men on the board choose the database: chess:KRKN for rook against knight, or chess:KRK for a rook alone.

    If there is no database, the command searches the position. Everything it prints is proved. What it cannot prove in
    time it prints as not known.

    With --batch a line is a position, or VARIANT, a tab and a position. Without a VARIANT on the command line, a space
    works as well as the tab. Each answer has the line's number, the position, the value (for the player to move) and
    the plies to the end. If the VARIANT on the command line has no database, each line is searched for --time. If a
    line has no answer, the output says why and the exit status is 1. A value that is not known counts as an answer.

    \b
    Examples:
      retrograde query tictactoe
      retrograde query tictactoe X.O/.X./... --json
      retrograde query chess:KRK 8/8/8/3k4/8/8/8/K6R_w
      echo 2231 | retrograde query connect4:4,4 -
      echo 2231 | retrograde query connect4:4,4 --batch -
    """
    from retrograde.cli.commands.many import Desk, answer_file

    if batch is not None:
        if position is not None:
            raise click.UsageError("give a POSITION or --batch, not both", click.get_current_context())
        with Desk(source, database, seconds) as desk:
            answer_file(batch, desk, facts_of if moves else None, as_json)
        return
    if source is None or moves:
        what = "--moves goes with --batch" if moves else "missing argument 'VARIANT|FILE'"
        raise click.UsageError(what, click.get_current_context())
    with ExitStack() as opened:
        read = reader(source, position, database, seconds, opened)
        if position == "-":
            show_lines(read, as_json)
            return
        show(*read(position or ""), as_json)


def reader(source: str, position: str | None, database: str | None, seconds: float, opened: ExitStack) -> "Reader":
    """Return a function that reads positions of VARIANT|FILE, and says which oracle answers for each."""
    from retrograde.cli.commands.many import CHESS, Desk, men_of
    from retrograde.databases import NoDatabase

    if source == CHESS and position is not None and database is None:
        desk = opened.enter_context(Desk(source))
        if position == "-":
            return lambda text: desk.read(text)
        try:
            found = desk.read(position)
            return lambda text: found
        except NoDatabase as error:
            oracle: Oracle = searching(f"{CHESS}:{men_of(position)}", seconds, error)
    else:
        oracle = open_oracle(source, database, seconds)
    opened.callback(oracle.close)
    return lambda text: (
        oracle, read_reachable(oracle, text) if position is not None else start_of(oracle), count_in(text)
    )  # fmt: skip


def show_lines(read: "Reader", as_json: bool) -> None:
    """Answer each line of standard input as it comes; raise Failure if some have no answer."""
    from retrograde.cli.commands.many import BAD

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


def show(oracle: "Oracle", place: int, count: int, as_json: bool) -> None:
    """Print what is known of a position, after *count* plies without progress, for people or as JSON."""
    from retrograde.solver.play.solution import Solution

    if not isinstance(oracle, Solution):
        known, line = searched(oracle, place)
        with paged(as_json):
            print_json(facts_searched(oracle, place, known, line)) if as_json else print_known(
                oracle, place, known, line
            )
        return
    with paged(as_json):
        if as_json:
            print_json(facts(oracle, place, count))
        else:
            print_position(oracle, place, count)


def start_of(oracle: "Oracle") -> int:
    """Return the start of the game; raise UsageError if it has none."""
    if oracle.start is None:
        example = oracle.game.write(oracle.start_or_example)
        raise click.UsageError(
            f"{oracle.variant} has no start; give a POSITION, as in {example!r}", click.get_current_context()
        )
    return oracle.start


def read_reachable(oracle: "Oracle", text: str) -> int:
    """Return the position that a text stands for; raise NotInDatabase if play never reaches it."""
    from retrograde.databases import NotInDatabase
    from retrograde.games.catalog import variant

    position = read_position(oracle.game, text)
    if position not in oracle:
        raise NotInDatabase(f"position {text!r} of {variant(oracle.game)} cannot be reached from the start")
    return position


# Positions with a database


def facts(solution: "Solution", position: int, count: int = 0) -> dict[str, Any]:
    """Return a position's facts, ready for JSON, after *count* plies without progress.

    A move's facts are those of the position it leads to, for the player to move there; with *again* that is the same
    player.
    """
    write, choices = solution.game.write, solution.moves(position)
    counts = {choice.position: count_after(solution.game, position, choice.move, count) for choice in choices}
    odds = odds_of(solution.game, position) if solution.metric == EXPECTATION else {}
    weights = weights_of(solution, position)
    return {
        "variant": solution.variant,
        "position": write(position),
        **({"chance": True} if odds else {}),
        **outcome(*solution.value(position)),
        **distance(solution, position),
        **solution.worth(position),
        **zeroing_facts(solution, position, count),
        **facts_of_response(solution, position),
        "moves": [
            {
                "move": choice.name,
                "position": write(choice.position),
                **outcome(choice.value, choice.remoteness),
                **({"again": True} if choice.again else {}),
                **({"odds": odds[choice.move]} if odds else {}),
                **({"weight": weights[choice.move]} if weights else {}),
                **solution.worth(choice.position),
                **zeroing_facts(solution, choice.position, counts[choice.position]),
            }
            for choice in choices
        ],
        "line": [choice.name for choice in solution.line(position)],
    }


def who_moves(oracle: "Oracle", position: int) -> str:
    """Return words for the player to move; at the start `the first player` if positions do not name players."""
    who = mover(oracle.game, position)
    return "the first player" if who == MOVER and position == oracle.start else who


def distance(solution: "Solution", position: int) -> dict[str, str]:
    """Return the distance to the end in the words of the game, if it has them."""
    words = distance_of(solution.game, *solution.value(position), solution.metric)
    return {"distance": words} if words else {}


def facts_of(oracle: "Oracle", position: int, count: int) -> dict[str, Any]:
    """Return a position's facts after *count* plies without progress, ready for JSON, from any oracle."""
    from retrograde.solver.play.solution import Solution

    if isinstance(oracle, Solution):
        return facts(oracle, position, count)
    return facts_searched(oracle, position, *searched(oracle, position))


def outcome(value: Any, remoteness: int | None) -> dict[str, Any]:
    return {"value": value.name.lower(), "remoteness": remoteness}


def print_position(solution: "Solution", position: int, count: int = 0) -> None:
    """Print a position's picture and value after *count* plies without progress, its moves, and best play."""
    choices = solution.moves(position)
    print_board(solution.game, position, choices)
    if solution.metric == EXPECTATION:
        print_expectation(solution, position, choices)
        return
    far = distance(solution, position).get("distance", "")
    ended = solution.game.ending(position) if solution.game.primitive(position) != UNDECIDED else ""
    who = who_moves(solution, position)
    if solution.metric == "utilities":
        ties = solution.database.file.details.get("ties", "")
        click.echo(f"\n{shared(*solution.value(position), who, ties)}")
    else:
        told = prospect(*solution.value(position), who, far, ended)
        click.echo(f"\n{of_paying_game(solution.game, position) or told}")
    print_worth(solution, position, count)
    if not choices:
        return
    click.echo(f"\n{moves_table(solution.game, choices)}")
    print_line(solution.game, position, [choice.name for choice in solution.line(position)])


def of_paying_game(game: "Game", position: int) -> str:
    """Return the text for an end of a game whose moves pay; "" for other games and positions.

    Who has won depends on what was paid before, which the position does not say.
    """
    if game.primitive(position) == UNDECIDED or not defines(game, "reward"):
        return ""
    return f"the game is over{': ' * bool(ending := game.ending(position))}{ending}"


def print_worth(solution: "Solution", position: int, count: int) -> None:
    """Print what the database's metric says of a position, beyond what is printed already.

    Prints nothing for remoteness, and for metrics in TO_PROGRESS. For remoteness with a dtz database beside it, prints
    the result under the fifty-move rule.
    """
    from retrograde.solver.values.measures import in_words

    if solution.zeroing:
        by_zeroing = solution.by_zeroing(position) if solution.zeroing is not solution else None
        if by_zeroing and by_zeroing.remoteness:
            said = by_the_rule(by_zeroing.value, by_zeroing.remoteness, count)
            click.echo(f"{heading('By the fifty-move rule')}: {said}")
        return
    if solution.metric in TO_PROGRESS:
        return
    if measures := solution.database.measures(position):
        said = in_words(solution.metric, solution.database.file.details, [*measures.values()])
        click.echo(f"{heading(NAMES.get(solution.metric, solution.metric.capitalize()))}: {said or 'no draw'}")


# Positions that are searched


def facts_searched(oracle: "Oracle", position: int, known: "Known", line: list[str]) -> dict[str, Any]:
    """Return what a search found of a position and of each position after a move, ready for JSON."""
    write = oracle.game.write
    reached = [(choice, oracle.known(choice.position, 0)) for choice in oracle.moves(position, 0)]
    return {
        **facts_known(oracle.game, position, known, line),
        **score_facts(oracle, position),
        "moves": [
            {
                "move": choice.name,
                "position": write(choice.position),
                "value": name_of(child.value),
                "remoteness": child.remoteness,
                "at_least": name_of(child.at_least),
                "at_most": name_of(child.at_most),
                **({"again": True} if choice.again else {}),
                **score_facts(oracle, choice.position),
            }
            for choice, child in reached
        ],
    }


def print_known(oracle: "Oracle", position: int, known: "Known", line: list[str]) -> None:
    """Print a position, what is known of it, its moves, and best play as far as known."""
    game, choices = oracle.game, oracle.moves(position, 0)
    print_board(game, position, choices)
    if game.primitive(position) != UNDECIDED:
        who = who_moves(oracle, position)
        told = prospect(known.value, known.remoteness, who, "", game.ending(position))
        click.echo(f"\n{of_paying_game(game, position) or told}")
        return
    click.echo(f"\n{verdict(known, who_moves(oracle, position), distance_of(game, known.value, known.remoteness))}")
    click.echo(f"{score_told(oracle, position)}{how_known(known)}")
    click.echo(f"\n{moves_table(game, choices, None, worths(oracle, choices))}")
    print_line(game, position, line)
