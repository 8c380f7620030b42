"""`retrograde query`: shows the value of a position and of every move."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from retrograde.cli import options
from retrograde.cli.common import CHESS, input_line, plies_in, print_json, read_position
from retrograde.cli.failure import Failure, message_of
from retrograde.cli.render.board import print_board
from retrograde.cli.render.expected import EXPECTATION, print_expectation
from retrograde.cli.render.measures import print_measure, score_line, shared_text
from retrograde.cli.render.moves import MOVER, mover, moves_table, print_line
from retrograde.cli.render.oracles import ask_oracle, estimate_line, evidence_text, open_oracle, time_option, verdict
from retrograde.cli.render.pager import page_output
from retrograde.cli.render.words import prospect_text
from retrograde.databases.errors import NotInDatabase
from retrograde.games.contract.game import Traits
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.solver.play.answer import Answer
    from retrograde.solver.play.oracle import Oracle

    Reader = Callable[[str], tuple[Oracle, int, int]]
    """Returns for a text: the oracle that answers, the position, and the plies without progress before it."""

SECONDS = 10.0


@click.command()
@click.argument("source", metavar="[VARIANT|FILE]", required=False, shell_complete=options.complete_variants)
@click.argument("position", required=False)
@click.option(
    "--batch",
    metavar="FILE",
    shell_complete=options.complete_files,
    help="Answer each line of a file, or of standard input (-), in one line.",
)
@click.option("--moves", is_flag=True, help="With --batch, print the moves as well.")
@time_option(SECONDS, "for the position and its moves")
@options.database
@options.json
def command(
    source: str | None, position: str | None, batch: str | None, moves: bool, seconds: float, database: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Show the value of a position, every move, and best play.

    By default POSITION is the start; - reads positions from standard input, one a line. If VARIANT is just chess, the
    men on the board choose the database: chess:KRKN for rook against knight, or chess:KRK for a rook alone.

    If there is no database, the command searches the position. It prints only values that it has proved, and `not
    known` for all others.

    With --batch a line is a position, or VARIANT, a tab and a position. (Without a VARIANT on the command line, a space
    works as well as the tab.) Each answer has the line's number, the position, the value for the player to move and the
    plies to the end. Without a database, the command searches each position for --time. If a line cannot be answered,
    the output says why, and the exit status is 1. `not known` counts as an answer.

    \b
    Examples:
      retrograde query tictactoe
      retrograde query tictactoe X.O/.X./... --json
      retrograde query chess:KRK 8/8/8/3k4/8/8/8/K6R_w
      echo 2231 | retrograde query connect4:4,4 -
      echo 2231 | retrograde query connect4:4,4 --batch -
    """
    if batch is not None:
        from retrograde.cli.commands.batch import BatchReader, answer_file

        if position is not None:
            raise click.UsageError("give a POSITION or --batch, not both", click.get_current_context())
        with BatchReader(source, database, seconds) as batch_reader:
            answer_file(batch, batch_reader, moves, as_json)
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
    """Return a function that reads positions of VARIANT|FILE, and says which oracle answers for each. *position* is the
    argument of the command, *opened* closes the oracles."""
    if source == CHESS and position is not None and database is None:
        from retrograde.cli.commands.batch import TABLE, BatchReader

        table = TABLE if position == "-" else None  # lines may have many endings
        return opened.enter_context(BatchReader(source, None, seconds, table)).read
    oracle = open_oracle(source, database, seconds)
    opened.callback(oracle.close)
    return lambda text: (
        oracle, read_reachable(oracle, text) if position is not None else start_of(oracle), plies_in(oracle.game, text)
    )  # fmt: skip


def show_lines(read: "Reader", as_json: bool) -> None:
    """Answer each line of standard input as it comes; raise Failure if some have no answer."""
    from retrograde.cli.commands.batch import BAD

    number = answered = bad = 0
    while line := input_line():
        number += 1
        if not (text := line.strip()):
            continue
        if answered and not as_json:
            click.echo()
        answered += 1
        try:
            show(*read(text), as_json)
        except BAD as error:
            bad += 1
            what = f"line {number}: {message_of(error)}"
            print_json({"line": number, "input": text, "error": what}) if as_json else click.echo(printable(what))
    if bad:
        raise Failure(f"error: {bad:,} of {answered:,} lines had no answer; they say why")


def show(oracle: "Oracle", position: int, count: int, as_json: bool) -> None:
    """Print what is known of a position, after *count* plies without progress, for people or as JSON."""
    answer = ask_oracle(oracle, position, count)
    with page_output(as_json):
        if as_json:
            print_json(answer.to_json())
        else:
            print_answer(answer)


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
    from retrograde.games.catalog import variant

    position = read_position(oracle.game, text)
    if position not in oracle:
        raise NotInDatabase(f"position {text!r} of {variant(oracle.game)} cannot be reached from the start")
    return position


# Words


def print_answer(answer: "Answer") -> None:
    """Print a position's picture, what is known of its value, its moves, and best play."""
    game, bounds = answer.game, answer.bounds
    print_board(game, answer.position, answer.choices)
    if answer.oracle.metric == EXPECTATION:
        print_expectation(answer)
        return
    who, is_solved = who_moves(answer), answer.oracle.source == "database"
    if answer.oracle.metric == "utilities" and game.players > 1:
        ties = answer.oracle.database.file.details.get("ties", "")  # type: ignore[attr-defined]  # a Solution
        click.echo(f"\n{shared_text(*bounds.outcome, who, ties)}")
    elif answer.is_over and Traits.of(game).has_rewards:
        # Who has won depends on what was paid before, which the position does not say.
        ending = game.ending(answer.position)
        click.echo(f"\nthe game is over{': ' * bool(ending)}{ending}")
    elif answer.is_over or is_solved:
        ending = game.ending(answer.position) if answer.is_over else ""
        click.echo(f"\n{prospect_text(*bounds.outcome, who, answer.distance, ending)}")
    else:
        lines = score_line(answer.measures) + estimate_line(answer.estimate)
        click.echo(f"\n{verdict(bounds, who, answer.distance)}\n{lines}{evidence_text(bounds)}")
    if is_solved:
        print_measure(answer)
    if answer.moves:
        click.echo(f"\n{moves_table(answer)}")
        print_line(game, answer.position, answer.line)


def who_moves(answer: "Answer") -> str:
    """Return words for the player to move; at the start `the first player` if positions do not name players."""
    who = mover(answer.game, answer.position)
    return "the first player" if who == MOVER and answer.position == answer.oracle.start else who
