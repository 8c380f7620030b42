"""Searches for the nimber of heaps, and prints it with the nim-sequence."""

from typing import Any

import click

from retrograde.cli.common import print_json
from retrograde.cli.progress import COMPILING, poll_progress, progress_listener, search_progress
from retrograde.cli.render.words import coloured, duration, heading, indent, table
from retrograde.games import WIN, Game, PositionError
from retrograde.games.catalog import variant
from retrograde.games.contract.heap_code import sizes_in
from retrograde.solver.runtime.progress import announce
from retrograde.solver.search.nim_sequence import NimSequence
from retrograde.solver.values.sums import add, goals, text_of, value_of

COLUMNS, ROWS = 10, 10
"""The size of the table of nimbers if it has no period."""
LEAST_COLUMNS, MOST_COLUMNS = 6, 20
"""The fewest and the most columns if the period is a multiple of them."""
LONGEST = 100
"""The longest period that is shown."""


def print_heaps(game: Game, text: str, seconds: float | None, as_json: bool) -> None:
    """Print the nimber of heaps of any sizes, written as in 7+3; raise PositionError if that cannot be found."""
    sequence = NimSequence(game.heap_code)
    try:
        heaps = sizes_in(text)
        with progress_listener(as_json) as line:
            announce(line, COMPILING)
            with poll_progress(line, search_progress(sequence)):
                sequence.find(max(heaps, default=0), seconds)
    except ValueError as error:
        raise PositionError(f"no position {text!r} of {variant(game)}: {error}") from error
    found = [sequence.nimber(heap) for heap in heaps]
    nimbers = [nimber for nimber in found if nimber is not None]
    nimber = add(nimbers) if len(nimbers) == len(heaps) else None  # None: the time was too short for some heap
    move = winning_move(sequence, heaps, nimbers) if nimber else None
    if as_json:
        period = sequence.period._asdict() if sequence.period else None
        facts = {"variant": variant(game), "position": text, "nimber": nimber, "move": move, "period": period}
        print_json(facts | {"nimbers": sequence.values.tolist()})
        return
    click.echo(f"{indent(text)}\n")
    if nimber is None:
        click.echo(f"not found in {duration(seconds or 0)}")
    else:
        value = value_of(nimber)
        verdict = f"the player to move {f'wins: {move}' if value == WIN else 'loses'}"
        click.echo(f"{heading('Nimber')}: {text_of(nimber)}\n{coloured(value, verdict)}")
    click.echo(f"\n{in_words(sequence)}\n\n{indent(rows_of(sequence))}")


def winning_move(sequence: NimSequence, heaps: list[int], nimbers: list[int]) -> str:
    """Return the name of a move that wins, from heaps of these nimbers, whose xor is not 0. A move wins that gives a
    heap its nimber of `goals`, which may be greater than its own."""
    for heap, goal in zip(heaps, goals(nimbers), strict=True):
        if goal is not None and (left := sequence.winning_option(heap, goal)) is not None:
            return f"{heap}>{'+'.join(map(str, reversed(left))) or '0'}"
    raise AssertionError("a sum of heaps whose nimber is not 0 has a winning move")


def in_words(sequence: NimSequence) -> str:
    """Return how far the nimbers are known, and whether they repeat."""
    largest = len(sequence.values) - 1
    if sequence.period is None:
        return f"nimbers of all heaps up to {largest:,} computed; no period found"
    first, length = sequence.period
    return f"nimbers repeat with period {length} from heap {first} on: proved by those of the heaps up to {largest:,}"


def rows_of(sequence: NimSequence) -> str:
    """Return a table of the first nimbers: if they repeat, up to where they do, with rows that fit the period."""
    columns, last = COLUMNS, COLUMNS * ROWS - 1
    if sequence.period and sequence.period.length <= LONGEST:
        first, length = sequence.period
        widths = range(LEAST_COLUMNS, MOST_COLUMNS + 1)
        columns = max((width for width in widths if width % length == 0 or length % width == 0), default=COLUMNS)
        last = first + length - 1
    rows: list[list[Any]] = [[heading("heap"), *(f"+{column}" for column in range(columns))]]
    for begin in range(0, min(last + 1, len(sequence.values)), columns):
        nimbers = sequence.values[begin : begin + columns].tolist()
        rows.append([str(begin), *map(str, nimbers), *[""] * (columns - len(nimbers))])
    return table(rows, ">" * (columns + 1))
