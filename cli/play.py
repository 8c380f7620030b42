"""`retrograde play`: a game between a person, a perfect player and chance, in any pairing."""

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from retrograde.cli.common import database_option, input_line, open_source, source_argument
from retrograde.cli.query import moves_table, read_reachable
from retrograde.cli.words import coloured, faint, heading, indent
from retrograde.games import LOSE, TIE, UNDECIDED, WIN

if TYPE_CHECKING:
    from retrograde.solver.solution import Solution

WHO = click.Choice(["human", "perfect", "random"])
ORDINALS = ("first", "second")
ENDLESS = 3
"""A game is a draw when a position comes up so often."""

Player = Callable[["Solution", int], int]


class Quit(Exception):
    """The person has had enough."""


@click.command()
@source_argument
@click.option("--first", type=WHO, default="human", show_default=True, help="Who moves first.")
@click.option("--second", type=WHO, default="perfect", show_default=True, help="Who moves second.")
@click.option("--from", "position", metavar="POSITION", help="Where to begin, instead of the start.")
@click.option("--seed", type=int, metavar="N", help="For the same random moves each time.")
@database_option
def command(source: str, first: str, second: str, position: str | None, seed: int | None, database: str | None) -> None:
    """Play a solved game against a perfect player, or watch one.

    \b
    Examples:
      retrograde play tictactoe
      retrograde play connect4:4,4 --first perfect --second random --seed 1
    """
    from retrograde.solver.solution import Solution

    with Solution(open_source(source, database)) as solution:
        place = solution.game.start if position is None else read_reachable(solution, position)
        players = [player(who, turn, seed) for turn, who in enumerate((first, second))]
        if "human" in (first, second):
            click.echo(faint("your move by its name; ? shows all moves with their values, quit ends the game\n"))
        try:
            play(solution, place, players, (first, second))
        except Quit:
            click.echo("\nthe game stops here")


def player(who: str, turn: int, seed: int | None) -> Player:
    """Return a player of a kind, who is the first, of turn 0, or the second."""
    if who == "human":
        return partial(human, prompt=f"{ORDINALS[turn]} player, your move: ")
    from retrograde.solver.player import PLAYERS

    return PLAYERS[who](seed if seed is None else seed + turn)


def play(solution: "Solution", position: int, players: list[Player], names: tuple[str, str]) -> None:
    """Play a game to its end, showing every position and move."""
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
        position = game.do_move(position, move)
    after = f"after {moves} {'move' if moves == 1 else 'moves'}"
    if value == UNDECIDED:
        click.echo("\n" + coloured(TIE, f"a draw {after}: this position has come up {ENDLESS} times"))
    elif value == TIE:
        click.echo("\n" + coloured(TIE, f"a tie {after}"))
    else:
        winner = turn if value == WIN else 1 - turn
        other = names[1 - winner]
        colour = LOSE if other == "human" and names[winner] != "human" else WIN
        click.echo("\n" + coloured(colour, f"the {ORDINALS[winner]} player wins {after}"))


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
