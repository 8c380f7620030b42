"""Positions for the terminal: boards in boxes, pieces in the players' colours, the last move, and values of moves."""

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
    from retrograde.games.contract.choice import Choice

Worth = Mapping[int, Value | None]
"""The value of the moves to a place for the player who makes them, by place number; None if they differ."""

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
"""Terminal colours nearest to those of pictures, as (sign, background).

On any terminal, dark or light, the contrast between the two is above 4.5.
"""
ROWS_BESIDE = 14
"""Rows of the screen kept for the text around the board."""
DIFFERENT = "±"
"""The sign for a place where some moves are worth more than others."""


def print_board(game: Game, position: int, choices: "Iterable[Choice]" = (), last: Sequence[int] = ()) -> None:
    """Print a position: on a terminal as a board with the values of moves, elsewhere as the game shows it."""
    if not sys.stdout.isatty():
        click.echo(indent(game.show(position)))
        return
    worth = values_of_places(game, position, choices)
    click.echo(indent(board_text(game, position, last, worth, shutil.get_terminal_size().lines - ROWS_BESIDE)))
    if signs := legend(game, position, worth):
        click.echo(f"\n  {signs}")


def board_text(
    game: Game, position: int, last: Sequence[int] = (), moves: Worth | None = None, rows: int | None = None
) -> str:
    """Return a position as lines of text: in a box for a grid, else as the game shows it.

    Pieces on the places of the *last* move are in brackets. *moves* gives the values of moves to empty places. A box
    taller than *rows* is drawn without lines.
    """
    board = game.draw_board()
    if board is None:
        return game.show(position)
    if not is_grid(board):
        return colour_signs(game.show(position), board)
    columns = len({x for x, _ in board.places})
    is_low = rows is not None and 2 * (len(board.places) // columns) + 2 > rows
    cells = []
    for place, sign in enumerate(game.draw_pieces(position)):
        if sign != ".":
            cell = f"[{sign}]" if place in last else f" {sign} "
            cells.append(colour_piece(cell, board.pieces.get(sign, "")))
        elif moves and place in moves:
            cells.append(f" {value_sign(moves[place])} ")
        else:
            cells.append(" · " if is_low else "   ")
    return "\n".join(line.rstrip() for line in (plain_lines if is_low else box_lines)(board, cells, columns))


def is_grid(board: Board) -> bool:
    """Return whether all places of a board are cells of a grid."""
    return bool(board.cells) and board.cells == len(board.places)


def box_lines(board: Board, cells: Sequence[str], columns: int) -> list[str]:
    """Return the lines of a grid with its labels around it."""
    rows = ["│".join(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    down, left, across = labels_of(board, len(rows))  # `left` are blanks, for lines without a label
    lines = [f"{left}┌{'┬'.join(['───'] * columns)}┐"]
    for number, row in enumerate(rows):
        if number:
            lines.append(f"{left}├{'┼'.join(['───'] * columns)}┤")
        lines.append(f"{down.get(float(number), left)}│{row}│")
    lines.append(f"{left}└{'┴'.join(['───'] * columns)}┘")
    lines.append(f"{left} " + " ".join(f"{text:^3}" for text in across))
    return lines


def plain_lines(board: Board, cells: Sequence[str], columns: int) -> list[str]:
    """Return the lines of a grid without a box."""
    rows = ["".join(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    down, left, across = labels_of(board, len(rows))
    lines = [f"{down.get(float(number), left)}{row}" for number, row in enumerate(rows)]
    return [*lines, left + "".join(f"{text:^3}" for text in across)]


def labels_of(board: Board, rows: int) -> tuple[dict[float, str], str, list[str]]:
    """Return the labels left of a grid's rows, blanks of the same width, and the labels under its columns."""
    down = {y: f"{printable(text)} " for x, y, text in board.labels if x < 0}
    across = [printable(text) for x, y, text in board.labels if x >= 0 and y > rows - 1]
    return down, " " * max(map(len, down.values()), default=0), across


# Values of moves, on the board


def values_of_places(game: Game, position: int, choices: "Iterable[Choice]") -> dict[int, Value | None]:
    """Return the value of the moves to each place; None if they differ. Places with an unknown value are left out.

    Empty for games whose moves touch more than two places.
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


def value_sign(value: Value | None) -> str:
    """Return the coloured sign of a value; of different values for None."""
    if value is None:
        return click.style(DIFFERENT, bold=True)
    return click.style(SIGNS[value], fg=COLOURS[value][0], bg=COLOURS[value][1], bold=True)


def legend(game: Game, position: int, moves: Worth) -> str:
    """Return what the signs for values on a board mean; "" if there are none."""
    board = game.draw_board()
    if board is None or not is_grid(board):
        return ""
    pieces = game.draw_pieces(position)
    shown = {value for place, value in moves.items() if pieces[place] == "."}
    signs: dict[str, list[str]] = {}
    for value, noun in NOUNS.items():
        if value in shown:
            signs.setdefault(SIGNS[value], []).append(noun)
    words = [f"{sign} {' or '.join(nouns)}" for sign, nouns in signs.items()]
    words += [f"{DIFFERENT} some moves there are worth more than others"] if None in shown else []
    return "   ".join(words)


# Pieces


def colour_piece(text: str, look: str) -> str:
    """Return a text in the colours of a piece's look."""
    colours = next((TERMINAL_COLOURS[word] for word in look.split() if word in TERMINAL_COLOURS), None)
    return click.style(text, fg=colours[0], bg=colours[1], bold=True) if colours else click.style(text, bold=True)


def colour_signs(text: str, board: Board) -> str:
    """Return a game's own picture with the signs of the pieces in their colours.

    Only signs that are letters and stand alone are coloured: others may be lines of the picture, and letters next to
    each other are words.
    """
    signs = "".join(re.escape(sign) for sign in board.pieces if sign.isalpha())

    def tint(match: re.Match[str]) -> str:
        return colour_piece(match[0], board.pieces[match[0]])

    return re.sub(rf"(?<![A-Za-z0-9])[{signs}](?![A-Za-z0-9])", tint, text) if signs else text
