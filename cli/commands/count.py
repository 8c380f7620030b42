"""`retrograde count`: the number of lines of play, ply by ply."""

from typing import TYPE_CHECKING

import click

from retrograde.cli import options
from retrograde.cli.commands.search import start_of
from retrograde.cli.common import print_json, read_position
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import heading, indent, table
from retrograde.cli.render.words import plies as plies_text
from retrograde.games.catalog import variant
from retrograde.solver.runtime.progress import announce

if TYPE_CHECKING:
    from retrograde.solver.search.counting import PlyCount


@click.command()
@options.source
@click.argument("position", required=False)
@click.option(
    "--plies", type=click.IntRange(0), metavar="N", help="Count lines of up to N plies; by default all games."
)
@options.json
def command(source: str, position: str | None, plies: int | None, as_json: bool) -> None:
    """Count the lines of play from a position, ply by ply, as perft does for chess.

    By default POSITION is the start. A line is a sequence of moves; lines that lead to the same position are counted as
    several. What dice or cards may show counts as moves. Without --plies the command counts all games, from the start
    to the end. That works for games in which play cannot return to a position.

    \b
    Examples:
      retrograde count tictactoe
      retrograde count othello:6,6 --plies 8
      retrograde count connect4:4,4 2122 --json
    """
    from retrograde.games.catalog import load_game
    from retrograde.solver.conformance.check import precheck
    from retrograde.solver.search.counting import count_lines

    game = load_game(source)
    precheck(game).require_ok()
    start = start_of(game) if position is None else read_position(game, position)
    counts: list[PlyCount] = []
    with progress_listener(as_json) as line:
        for count in count_lines(game, start, plies):
            counts.append(count)
            announce(
                line, f"counted {count.lines:,} {'line' if count.lines == 1 else 'lines'} of {plies_text(count.ply)}"
            )
    ended = plies is None or not counts[-1].going_on
    if as_json:
        total = {"games": sum(count.ends for count in counts)} if ended else {}
        rows = [count._asdict() for count in counts]
        print_json({"variant": variant(game), "position": game.write(start), "plies": rows, **total})
        return
    print_counts(counts)
    if ended:
        total_games = sum(count.ends for count in counts)
        what = f"{total_games:,} game{'s' * (total_games != 1)}"
    else:
        lines = counts[-1].lines
        what = f"{lines:,} line{'s' * (lines != 1)} of {plies_text(len(counts) - 1)}"
    click.echo(f"\n{what}")


def print_counts(counts: list["PlyCount"]) -> None:
    """Print the counts of each ply, and the mean number of moves in a position where the game goes on."""
    rows = [tuple(map(heading, ("ply", "lines of play", "end there", "positions", "moves")))]
    for count, after in zip(counts, [*counts[1:], None], strict=True):
        moves = f"{after.lines / count.going_on:.2f}" if after and count.going_on else ""
        rows.append((str(count.ply), f"{count.lines:,}", f"{count.ends:,}", f"{count.positions:,}", moves))
    click.echo(indent(table(rows, ">>>>>")))
