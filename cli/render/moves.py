"""Moves for people: numbered as is usual in the game, each with what it brings, and how far the end is in its words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from retrograde.cli.render.words import coloured, heading, indent, table, wrap
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.games.contract.game import METRICS
from retrograde.games.contract.naming import first_of_other, player_to_move
from retrograde.games.contract.zeroing import TO_PROGRESS, in_words

if TYPE_CHECKING:
    from retrograde.solver.play.choice import Choice

MOVER = "the player to move"
OF_A_PUZZLE = {WIN: "solved", LOSE: "dead end", TIE: "tie", DRAW: "never"}
"""What moves of a puzzle bring."""


# Players


def side_to_move(game: Game, position: int) -> str:
    """Return what the player to move is called, and the sign on the board if that is another: `Red (X)`, `White`.

    Nothing where the game does not tell.
    """
    name, sign = player_to_move(game, position), game.draw_turn(position)
    board = game.draw_board() if name != sign else None
    return f"{name} ({sign})" if board and sign in board.pieces and not hasattr(game, "pgn") else name


def mover(game: Game, position: int) -> str:
    """Return how to speak of the player to move in a sentence: `Red (X) to move`; where the game is over, `Red (X)`.

    Nothing for a puzzle, of which other things are said.
    """
    if game.players == 1:
        return ""
    if not (side := side_to_move(game, position)):
        return MOVER
    return f"{side} to move" if game.primitive(position) == UNDECIDED else side


def sides_of(game: Game, start: int) -> tuple[str, str]:
    """Return what those are called who move first and second from a position."""
    if game.players == 1:
        return "the player", "the player"
    other = first_of_other(game, start)
    names = [side_to_move(game, start), *([] if other is None else [side_to_move(game, other)])]
    return (names[0], names[1]) if all(names) and len(set(names)) == 2 else ("the first player", "the second player")


# Numbers


def counts_in_pairs(game: Game) -> bool:
    """Tell whether a move is one of each side, as in chess; else each is counted."""
    return hasattr(game, "pgn")


def number_of(game: Game, start: int, ply: int) -> str:
    """Return the number of a move that is played so many plies after a position, from 0: `2.`, and `2...` for Black."""
    if not counts_in_pairs(game):
        return f"{ply + 1}."
    ply += game.draw_turn(start) != next(iter(game.words))
    return f"{ply // 2 + 1}{'...' if ply % 2 else '.'}"


def numbered(game: Game, start: int, names: Sequence[str], first: int = 0) -> str:
    """Return moves that follow one another with their numbers, the *first* played so many plies after the start.

    Without, where moves are called by numbers themselves.
    """
    if all(name.isdecimal() for name in names):
        return " ".join(names)
    words = []
    for ply, name in enumerate(names, first):
        number = number_of(game, start, ply)
        words.append(name if ply > first and number.endswith("...") else f"{number} {name}")
    return " ".join(words)


def print_line(game: Game, start: int, names: Sequence[str]) -> None:
    """Print best play from a position, by the names of the moves, if there are any."""
    if names:
        head = "Best play"
        click.echo(f"\n{heading(head)}{wrap(f'{head}  {numbered(game, start, names)}', len(head) + 2)[len(head) :]}")


def names_of(game: Game, position: int, moves: Sequence[int]) -> list[str]:
    """Return the names of moves made one after another."""
    names = []
    for move in moves:
        names.append(game.move_name(position, move))
        position = game.do_move(position, move)
    return names


def moves_played(game: Game, plies: int) -> str:
    """Return how long a game was: `1 move`, `16 moves`."""
    count = (plies + 1) // 2 if counts_in_pairs(game) else plies
    return f"{count} {'move' if count == 1 else 'moves'}"


# Worth


def distance(game: Game, value: Value, remoteness: int | None, metric: str = METRICS[0]) -> str:
    """Return how far the end is in the words of the game, if it has them: `mate in 16`; or how far progress is,
    where the metric is dtz or dtc."""
    if metric in TO_PROGRESS and remoteness and value in (WIN, LOSE):
        return in_words(remoteness, metric)
    return game.distance(value, remoteness) if remoteness and value in (WIN, LOSE) else ""


def ahead(game: Game, choice: "Choice") -> str:
    """Return how far the end is after a move, for who makes it: `in 7`, `mate in 4`; nothing for a draw."""
    if choice.remoteness is None:
        return ""
    return choice.far or distance(game, choice.brings, choice.remoteness + 1) or f"in {choice.remoteness + 1}"


def moves_table(
    game: Game, choices: "Sequence[Choice]", most: int | None = None, unknown: Mapping[int, str] | None = None
) -> str:
    """Return the moves, best first, each with what it brings the player who makes it; so many at *most*.

    *unknown* says by their numbers what is known of moves whose value is not.
    """
    names = OF_A_PUZZLE if game.players == 1 else {}
    measured = any(choice.worth for choice in choices)
    shown = choices if most is None or len(choices) <= most + 1 else choices[:most]
    rows = []
    for choice in shown:
        words = ahead(game, choice).rsplit(" ", 1)
        in_words = words if len(words) == 2 else ["", ""]
        value = (
            coloured(choice.brings, names.get(choice.brings))
            if choice.value
            else (unknown or {}).get(choice.move, "not known")
        )
        rows.append((heading(choice.name), value, *in_words, *([choice.worth] if measured else [])))
    head = "The moves, best first, and what each brings" + ("" if names else " the player who makes it") + ":"
    left = len(choices) - len(shown)
    rest = f"\n  … and {left} more; ? shows all" if left else ""
    return f"{head}\n{indent(table(rows, '<<<>' + '>' * measured, gap=' '))}{rest}"
