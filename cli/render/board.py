"""Positions for the terminal: boards in boxes, pieces in the colours of the players, the last move, moves by value."""

import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from retrograde.cli.render.words import BLACK, COLOURS, NOUNS, SIGNS, WHITE, indent
from retrograde.games import Game, Value
from retrograde.games.contract.drawing import Board
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.solver.play.choice import Choice

Worth = Mapping[int, Value | None]
"""What moves to a place are worth to who makes them, by the number of the place; None where they differ."""

TERMINAL_COLOURS = {
    "crimson": (WHITE, 160),
    "gold": (BLACK, 220),
    "royalblue": (WHITE, 26),
    "teal": (WHITE, 24),
    "sienna": (WHITE, 94),
    "grey": (WHITE, 240),
    "white": (BLACK, 255),
    "black": (WHITE, 236),
    "cross": (WHITE, 26),
    "ring": (WHITE, 160),
}
"""What comes nearest to the colours of pictures, as sign and ground; on any terminal, dark or light, the contrast of
both is above 4.5."""
ROWS_BESIDE = 14
"""Rows of the screen that are wanted for what stands beside the board."""
DIFFERENT = "±"
"""Stands where some moves to a place are worth more than others."""


def print_board(game: Game, position: int, choices: "Iterable[Choice]" = (), last: Sequence[int] = ()) -> None:
    """Print a position: on a terminal as a board with what some moves are worth, elsewhere as the game shows it."""
    if not sys.stdout.isatty():
        click.echo(indent(game.show(position)))
        return
    worth = worth_of_places(game, position, choices)
    click.echo(indent(drawn(game, position, last, worth, shutil.get_terminal_size().lines - ROWS_BESIDE)))
    if signs := legend(game, position, worth):
        click.echo(f"\n  {signs}")


def drawn(
    game: Game, position: int, last: Sequence[int] = (), moves: Worth | None = None, rows: int | None = None
) -> str:
    """Return a position as lines of text: in a box where the board is a grid, else as the game shows it.

    The pieces on the places of the *last* move stand in brackets; *moves* gives what moves to empty places are worth. A
    box of more than so many *rows* goes without its lines.
    """
    board = game.draw_board()
    if board is None:
        return game.show(position)
    if not is_grid(board):
        return tinted(game.show(position), board)
    columns = len({x for x, _ in board.places})
    is_low = rows is not None and 2 * (len(board.places) // columns) + 2 > rows
    cells = []
    for place, sign in enumerate(game.draw_pieces(position)):
        if sign != ".":
            cell = f"[{sign}]" if place in last else f" {sign} "
            cells.append(inked(cell, board.pieces.get(sign, "")))
        elif moves and place in moves:
            cells.append(f" {worth_of(moves[place])} ")
        else:
            cells.append(" · " if is_low else "   ")
    return "\n".join(line.rstrip() for line in (aligned if is_low else boxed)(board, cells, columns))


def is_grid(board: Board) -> bool:
    """Tell whether all places of a board are cells of a grid."""
    return bool(board.cells) and board.cells == len(board.places)


def boxed(board: Board, cells: Sequence[str], columns: int) -> list[str]:
    """Return the lines of a grid with its labels around it."""
    rows = ["│".join(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    down, left, across = labels_of(board, len(rows))
    lines = [f"{left}┌{'┬'.join(['───'] * columns)}┐"]
    for number, row in enumerate(rows):
        if number:
            lines.append(f"{left}├{'┼'.join(['───'] * columns)}┤")
        lines.append(f"{down.get(float(number), left)}│{row}│")
    lines.append(f"{left}└{'┴'.join(['───'] * columns)}┘")
    lines.append(f"{left} " + " ".join(f"{text:^3}" for text in across))
    return lines


def aligned(board: Board, cells: Sequence[str], columns: int) -> list[str]:
    """Return the lines of a grid without a box."""
    rows = ["".join(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    down, left, across = labels_of(board, len(rows))
    lines = [f"{down.get(float(number), left)}{row}" for number, row in enumerate(rows)]
    return [*lines, left + "".join(f"{text:^3}" for text in across)]


def labels_of(board: Board, rows: int) -> tuple[dict[float, str], str, list[str]]:
    """Return what stands left of the rows of a grid, as much space, and what stands under its columns."""
    down = {y: f"{printable(text)} " for x, y, text in board.labels if x < 0}
    across = [printable(text) for x, y, text in board.labels if x >= 0 and y > rows - 1]
    return down, " " * max(map(len, down.values()), default=0), across


# What moves are worth, on the board


def worth_of_places(game: Game, position: int, choices: "Iterable[Choice]") -> dict[int, Value | None]:
    """Return what the moves to each place are worth, None where they differ, as where several men can reach it.

    Places of moves of which that is not known are left out.

    Nothing for games whose moves touch more than two places: there only the list of moves can tell.
    """
    worth: dict[int, Value | None] = {}
    unknown = set()
    for choice in choices:
        places = game.draw_move(position, choice.move)
        if len(places) > 2:
            return {}
        if places and not choice.value:
            unknown.add(places[-1])
        elif places:
            value = choice.brings
            worth[places[-1]] = value if worth.get(places[-1], value) == value else None
    return {place: value for place, value in worth.items() if place not in unknown}


def worth_of(value: Value | None) -> str:
    """Return the sign of a value."""
    if value is None:
        return click.style(DIFFERENT, bold=True)
    return click.style(SIGNS[value], fg=COLOURS[value][0], bg=COLOURS[value][1], bold=True)


def legend(game: Game, position: int, moves: Worth) -> str:
    """Return what the signs on a board mean that show what moves are worth; nothing where there are none."""
    board = game.draw_board()
    if board is None or not is_grid(board):
        return ""
    pieces = game.draw_pieces(position)
    shown = {value for place, value in moves.items() if pieces[place] == "."}
    told: dict[str, list[str]] = {}
    for value, noun in NOUNS.items():
        if value in shown:
            told.setdefault(SIGNS[value], []).append(noun)
    words = [f"{sign} {' or '.join(nouns)}" for sign, nouns in told.items()]
    words += [f"{DIFFERENT} some moves there are worth more than others"] if None in shown else []
    return "   ".join(words)


# Pieces


def inked(text: str, look: str) -> str:
    """Return a text in the colours of what a piece looks like."""
    colours = next((TERMINAL_COLOURS[word] for word in look.split() if word in TERMINAL_COLOURS), None)
    return click.style(text, fg=colours[0], bg=colours[1], bold=True) if colours else click.style(text, bold=True)


def tinted(text: str, board: Board) -> str:
    """Return a game's own picture with the signs of the pieces in their colours."""
    signs = "".join(re.escape(sign) for sign in board.pieces if sign.isalpha())

    def tint(match: re.Match[str]) -> str:
        return inked(match[0], board.pieces[match[0]])

    return re.sub(rf"(?<![A-Za-z0-9])[{signs}](?![A-Za-z0-9])", tint, text) if signs else text
