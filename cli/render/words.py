"""Words, colours and tables: green for a win, yellow for a tie or a draw, red for a loss.

Coloured text has a background of its own, so that it is readable on any terminal, dark or light. Colours above 15 are
the same in all themes. Colour is never the only sign: a value also has its word or its sign.
"""

import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

from retrograde.games import DRAW, LOSE, TIE, WIN, Value
from retrograde.games.contract.text import printable

BLACK, WHITE = 16, 231
COLOURS = {WIN: (WHITE, 22), TIE: (BLACK, 220), DRAW: (BLACK, 220), LOSE: (WHITE, 124)}
"""The colours of text and background, from the 256 colours of terminals."""
FAINT = 243
"""A grey with the same contrast to black and to white: 4.6 and 4.5."""
SIGNS = {WIN: "+", TIE: "=", DRAW: "=", LOSE: "−"}
"""Signs for values, where there is space for one character."""
NOUNS = {WIN: "win", LOSE: "lose", TIE: "tie", DRAW: "draw"}
"""Names of values in JSON, in the order of listings."""


def plies(count: int) -> str:
    """Return a number of plies in words: `1 ply`, `9 plies`."""
    return f"{count:,} {'ply' if count == 1 else 'plies'}"


def coloured(value: Value, text: str | None = None) -> str:
    """Return a text, by default the value's name, in the colour of a value."""
    ink, ground = COLOURS[value]
    return click.style(NOUNS[value] if text is None else text, fg=ink, bg=ground)


def prospect_text(value: Value, remoteness: int | None, player: str, distance: str = "", ending: str = "") -> str:
    """Return what awaits a player: `Red to move wins in 5 plies`, `White to move wins: mate in 3 (5 plies)`.

    *distance* is the remoteness in the words of the game, *ending* says why a game that is over has ended. An empty
    *player* means a puzzle.
    """
    if not player:
        return coloured(value, puzzle_text(value, remoteness, ending))
    over = ending or "the game is over"
    if value == DRAW:
        return coloured(value, f"a draw: {ending or 'neither side can force an end'}")
    if remoteness is None and not ending:  # scores by slot have no plies
        return coloured(value, "a tie" if value == TIE else f"{player} {'wins' if value == WIN else 'loses'}")
    if value == TIE:
        return coloured(value, f"a tie in {plies(remoteness or 0)}" if remoteness else f"a tie: {over}")
    if not remoteness:
        return coloured(value, f"{player} has {'won' if value == WIN else 'lost'}: {over}")
    return coloured(value, f"{player} {'wins' if value == WIN else 'loses'}{how_far(remoteness, distance)}")


def puzzle_text(value: Value, remoteness: int | None, ending: str = "") -> str:
    """Return the value of a puzzle's position in words: `solved in 31 moves`. *remoteness* is 0 or None if the puzzle
    is over; then *ending*, if any, is the text.

    >>> puzzle_text(WIN, 31), puzzle_text(LOSE, 0)
    ('solved in 31 moves', 'a dead end')
    """
    if value == DRAW:
        return "cannot be solved, and can go on for ever"
    if not remoteness:
        return ending or {WIN: "solved", LOSE: "a dead end", TIE: "a tie"}[value]
    moves = f"{remoteness:,} {'move' if remoteness == 1 else 'moves'}"
    texts = {WIN: f"solved in {moves}", LOSE: f"cannot be solved: a dead end within {moves}", TIE: f"a tie in {moves}"}
    return texts[value]


def how_far(remoteness: int, distance: str = "") -> str:
    """Return the distance, to follow a verb: ` in 5 plies`, `: mate in 3 (5 plies)`.

    >>> how_far(5, "mate in 3"), how_far(5, "")
    (': mate in 3 (5 plies)', ' in 5 plies')
    """
    return f": {distance} ({plies(remoteness)})" if distance else f" in {plies(remoteness)}"


def outlook_text(value: Value, remoteness: int | None, distance: str = "") -> str:
    """Return what the person to move may expect: `you win in 7 plies if you play right`."""
    if value == DRAW:
        return coloured(value, "a draw if both play right: neither side can force an end")
    far = how_far(remoteness or 0, distance)
    if value == TIE:
        return coloured(value, f"a tie{far} if both play right")
    if value == WIN:
        return coloured(value, f"you win{far} if you play right")
    return coloured(value, f"you lose{far} unless the other side goes wrong")


def verdict(value: Value, remoteness: int | None, article: str = "the ", players: int = 2) -> str:
    """Return how a game ends whose start has this outcome: `the second player wins in 20 plies`. *article* stands
    before the player."""
    if players == 1:
        return coloured(value, puzzle_text(value, remoteness))
    if value == DRAW:
        return coloured(DRAW, "a draw")
    if value == TIE and remoteness == 0:
        return "over at the start"
    if value == LOSE and remoteness != 0:
        return coloured(LOSE, f"{article}second player wins{how_far(remoteness) if remoteness else ''}")
    return prospect_text(value, remoteness, f"{article}first player")


def table(rows: Sequence[Sequence[str]], align: str, gap: str = "  ") -> str:
    """Return rows of cells as aligned columns; *align* has `<` or `>` for each column.

    >>> print(table([("a", "1"), ("bcd", "10")], "<>"))
    a     1
    bcd  10
    """
    widths = [max(len(click.unstyle(row[column])) for row in rows) for column in range(len(align))]
    lines = []
    for row in rows:
        cells = []
        for cell, width, side in zip(row, widths, align, strict=True):
            space = " " * (width - len(click.unstyle(cell)))
            cells.append(space + cell if side == ">" else cell + space)
        lines.append(gap.join(cells).rstrip())
    return "\n".join(lines)


def indent(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


def heading(text: str) -> str:
    return click.style(printable(text), bold=True)


def wrap(text: str, start: int = 0, width: int | None = None) -> str:
    """Return a text in lines that fit the terminal, if any, all but the first indented by *start* columns."""
    if width is None and not sys.stdout.isatty():
        return text
    return textwrap.fill(text, width or shutil.get_terminal_size().columns, subsequent_indent=" " * start)


def reflow(text: str) -> str:
    """Return paragraphs in lines that fit the terminal, if any; indented ones (pictures, code) stay as they are."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns - 2  # it will be indented
    parts = text.split("\n\n")
    return "\n\n".join(part if "\n  " in f"\n{part}" else textwrap.fill(part, width) for part in parts)


def faint(text: str) -> str:
    return click.style(text, fg=FAINT)


def size(count: float) -> str:
    from retrograde.solver.runtime.memory import format_size

    return format_size(count)


def amount(count: float) -> str:
    """Return a large number with three digits: `950`, `12.3 k`, `4.56 M`.

    >>> amount(69_763_700)
    '69.8 M'
    """
    units = ["", " k", " M", " G", " T"]
    while count >= 999.5 and len(units) > 1:
        count /= 1000
        units.pop(0)
    unit = units[0]
    return f"{count:.0f}{unit}" if count >= 99.95 or not unit else f"{count:#.3g}{unit}"


def duration(seconds: float) -> str:
    """Return a time: `40 ms`, `1.3 s`, `12 s`, `3 min 20 s`, `2 h 5 min`.

    >>> duration(200)
    '3 min 20 s'
    """
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
