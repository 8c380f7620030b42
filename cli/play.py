"""`retrograde play`: a game between a person, a perfect player and chance, in any pairing."""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from retrograde.cli.common import database_option, input_line, open_source, source_argument
from retrograde.cli.query import moves_table, read_reachable
from retrograde.cli.words import NOUNS, coloured, faint, heading, indent
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN

if TYPE_CHECKING:
    from retrograde.solver.solution import Solution

WHO = click.Choice(["human", "perfect", "random"])
ORDINALS = ("first", "second")
LONGEST_WALK, MOST_DRAWS = 20, 10_000
ENDLESS = 3
"""A game is a draw when a position comes up so often."""

Player = Callable[["Solution", int], int]


class Quit(Exception):
    """The person has had enough."""


@click.command()
@source_argument
@click.option("--first", type=WHO, default="human", show_default=True, help="Who moves first.")
@click.option("--second", type=WHO, default="perfect", show_default=True, help="Who moves second.")
@click.option(
    "--from", "position", metavar="POSITION",
    help="Where to begin, instead of the start: a position, longest (a longest win), or random.",
)  # fmt: skip
@click.option("--seed", type=int, metavar="N", help="For the same random moves each time.")
@click.option("--pgn", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Where to write the game.")
@database_option
def command(
    source: str, first: str, second: str, position: str | None, seed: int | None, pgn: str | None, database: str | None
) -> None:
    """Play a solved game against a perfect player, or watch one.

    A game without a start, such as chess, begins in a random position unless you say where.

    \b
    Examples:
      retrograde play tictactoe
      retrograde play connect4:4,4 --first perfect --second random --seed 1
      retrograde play chess:KRK --from longest --pgn rook.pgn
    """
    from retrograde.solver.solution import Solution

    with Solution(open_source(source, database)) as solution:
        if pgn is not None and not hasattr(solution.game, "pgn"):
            raise click.UsageError(f"games of {solution.game.name} cannot be written as PGN")
        place = first_position(solution, position, seed)
        players = [player(who, turn, seed) for turn, who in enumerate((first, second))]
        if "human" in (first, second):
            click.echo(faint("your move by its name; ? shows all moves with their values, quit ends the game\n"))
        moves: list[int] = []
        finished = True
        try:
            play(solution, place, players, (first, second), moves)
        except Quit:
            finished = False
            click.echo("\nthe game stops here")
        finally:
            if pgn is not None:
                text = solution.game.pgn(place, moves, (first, second), finished)  # type: ignore[attr-defined]
                Path(pgn).write_text(text, encoding="utf-8")


def first_position(solution: "Solution", text: str | None, seed: int | None) -> int:
    """Return the position in which a game begins."""
    start: int | None = getattr(solution.game, "start", None)
    if text == "longest":
        wins = [row for row in solution.database.file.legend if row.value == WIN]
        if not wins:
            raise click.UsageError("nobody ever wins this game; give --from another position")
        return max(wins, key=lambda row: row.remoteness).example
    if text is None and start is not None:
        return start
    return random_position(solution, Random(seed)) if text in (None, "random") else read_reachable(solution, str(text))


def random_position(solution: "Solution", chance: Random) -> int:
    """Return a position by chance in which the game goes on; of a dense numbering, one of the first tier."""
    game, file = solution.game, solution.database.file
    if file.dense:
        tier, size = int(file.dense_tiers.numbers[0]), int(file.dense_tiers.bounds[1])
        draw: Callable[[], int] = lambda: game.unindex(tier, chance.randrange(size))  # noqa: E731
    else:
        draw = partial(wander, solution, chance)
    for _ in range(MOST_DRAWS):
        position = draw()
        if position >= 0 and game.primitive(position) == UNDECIDED:
            return position
    raise click.UsageError("no position was found by chance in which the game goes on; give --from a position")


def wander(solution: "Solution", chance: Random) -> int:
    """Return where so many random moves lead, at most, as a random number says."""
    game = solution.game
    position = game.start
    for _ in range(chance.randrange(LONGEST_WALK)):
        if game.primitive(position) != UNDECIDED:
            break
        position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
    return position


def player(who: str, turn: int, seed: int | None) -> Player:
    """Return a player of a kind, who is the first, of turn 0, or the second."""
    if who == "human":
        return partial(human, prompt=f"{ORDINALS[turn]} player, your move: ")
    from retrograde.solver.player import PLAYERS

    return PLAYERS[who](seed if seed is None else seed + turn)


def play(
    solution: "Solution", position: int, players: list[Player], names: tuple[str, str], played: list[int]
) -> None:
    """Play a game to its end, showing every position and move, and adding the moves to those *played*."""
    game = solution.game
    met: Counter[int] = Counter()
    moves = 0
    while True:
        click.echo(indent(game.show(position)))
        met[position] += 1
        turn = moves % 2
        value = game.primitive(position)
        if value != UNDECIDED or met[position] == ENDLESS:
            break
        click.echo()
        move = players[turn](solution, position)
        moves += 1
        if names[turn] != "human":
            click.echo(f"{heading(f'{moves}. {game.move_name(position, move)}')}  {ORDINALS[turn]}, {names[turn]}\n")
        else:
            click.echo()
        played.append(move)
        position = game.do_move(position, move)
    after = f"after {moves} {'move' if moves == 1 else 'moves'}"
    how = f": {game.ending(position)}" if value != UNDECIDED and game.ending(position) else ""
    if value == UNDECIDED:
        click.echo("\n" + coloured(TIE, f"a draw {after}: this position has come up {ENDLESS} times"))
    elif value in (TIE, DRAW):
        click.echo("\n" + coloured(TIE, f"a {NOUNS[value]} {after}{how}"))
    else:
        winner = turn if value == WIN else 1 - turn
        other = names[1 - winner]
        colour = LOSE if other == "human" and names[winner] != "human" else WIN
        click.echo("\n" + coloured(colour, f"the {ORDINALS[winner]} player wins {after}{how}"))


def human(solution: "Solution", position: int, prompt: str) -> int:
    """Ask the person at the terminal for a move until there is one; raise Quit where none is wanted."""
    while True:
        text = ask(prompt)
        if text in ("quit", "q", "exit"):
            raise Quit
        if text == "?":
            click.echo(moves_table(solution.moves(position)))
            continue
        try:
            return solution.game.move(position, text)
        except ValueError as error:
            click.echo(str(error))


def ask(prompt: str) -> str:
    """Return a line that is not empty; raise Quit at the end of input."""
    while True:
        click.echo(prompt, nl=False)
        try:
            line = input_line()
        except KeyboardInterrupt:
            click.echo()  # the terminal has put ^C behind the prompt
            raise
        if not line:
            raise Quit
        if not sys.stdin.isatty():
            click.echo(line.rstrip("\n"))  # so that a transcript reads as it would on a terminal
        if line.strip():
            return line.strip()
