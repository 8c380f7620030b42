"""Positions for the terminal: boards in boxes, pieces in the colours of the players, the last move, moves by value."""

import re
from collections.abc import Mapping, Sequence

import click

from retrograde.cli.words import COLOURS
from retrograde.games import Game, Value
from retrograde.games.drawing import Board
from retrograde.games.text import printable

TERMINAL_COLOURS = {
    "crimson": "bright_red",
    "gold": "bright_yellow",
    "royalblue": "bright_blue",
    "teal": "bright_cyan",
    "sienna": "yellow",
    "white": "bright_white",
    "cross": "bright_blue",
    "ring": "bright_red",
}
"""What comes nearest to the colours of pictures."""


def drawn(game: Game, position: int, last: Sequence[int] = (), moves: Mapping[int, Value] | None = None) -> str:
    """Return a position as lines of text: in a box where the board is a grid, else as the game shows it.

    The places of the *last* move are set off; *moves* gives the values of places to which a move leads.
    """
    board = game.draw_board()
    if board is None:
        return game.show(position)
    if not board.cells or board.cells != len(board.places):
        return tinted(game.show(position), board)
    columns = len({x for x, _ in board.places})
    signs = game.draw_pieces(position)
    cells = []
    for place, sign in enumerate(signs):
        cell = f" {' ' if sign == '.' else sign} "
        if moves and place in moves and sign == ".":
            cell = click.style(" • ", fg=COLOURS[moves[place]], bold=True)
        elif sign != ".":
            cell = click.style(cell, fg=colour_of(board.pieces.get(sign, "")), bold=True, reverse=place in last)
        cells.append(cell)
    rows = ["│".join(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    down = {y: f"{printable(text)} " for x, y, text in board.labels if x < 0}
    left = " " * max(map(len, down.values()), default=0)
    across = [printable(text) for x, y, text in board.labels if x >= 0 and y > len(rows) - 1]
    lines = [f"{left}┌{'┬'.join(['───'] * columns)}┐"]
    for number, row in enumerate(rows):
        if number:
            lines.append(f"{left}├{'┼'.join(['───'] * columns)}┤")
        lines.append(f"{down.get(float(number), left)}│{row}│")
    lines.append(f"{left}└{'┴'.join(['───'] * columns)}┘")
    lines.append(f"{left} " + " ".join(f"{text:^3}" for text in across))
    return "\n".join(line.rstrip() for line in lines)


def colour_of(look: str) -> str | None:
    """Return the terminal's colour for what a piece looks like."""
    return next((TERMINAL_COLOURS[word] for word in look.split() if word in TERMINAL_COLOURS), None)


def tinted(text: str, board: Board) -> str:
    """Return a game's own picture with the signs of the pieces in their colours."""
    signs = "".join(re.escape(sign) for sign in board.pieces if sign.isalpha())

    def tint(match: re.Match[str]) -> str:
        return click.style(match[0], fg=colour_of(board.pieces[match[0]]), bold=True)

    return re.sub(rf"(?<![A-Za-z0-9])[{signs}](?![A-Za-z0-9])", tint, text) if signs else text
