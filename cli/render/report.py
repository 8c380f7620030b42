"""The result of a solve: the summary that `solve` ends with, and the tables of `info`."""

from typing import Any

import click

from retrograde.cli.render.expected import EXPECTATION
from retrograde.cli.render.measures import shared_text
from retrograde.cli.render.words import NOUNS, coloured, heading, indent, size, table, verdict
from retrograde.games import DRAW, Value
from retrograde.games.contract.zeroing import PROGRESS_METRICS

Facts = dict[str, Any]

SIGNS = {"win": "above 0", "lose": "below 0", "tie": "0"}
"""Names of values for expectations: their sign, as far as the bounds tell it."""


def value_of(facts: Facts) -> Value:
    return Value[facts["value"].upper()]


def print_head(facts: Facts) -> None:
    """Print the variant and the value of its start."""
    if facts.get("metric") == EXPECTATION:
        click.echo(heading(facts["variant"]))
        return
    ending = "every position there is, whatever the start"
    if start := facts["start"]:
        outcome = value_of(start), start["remoteness"]
        ending = verdict(*outcome, players=facts.get("players", 2))
        if facts.get("metric") == "utilities":
            ending = shared_text(*outcome, ties=facts.get("ties", ""))
    name = f"{facts['variant']}@{facts['metric']}" if facts.get("metric") in PROGRESS_METRICS else facts["variant"]
    click.echo(f"{heading(name)}: {ending}")


def print_book(facts: Facts) -> None:
    """Print the variant of an opening book, its depth, and what it knows of the start."""
    start, (plies, distances) = facts["start"], facts["book"].values()
    if start["remoteness"] is None and start["value"] != "draw":
        ending = {"win": "the first player wins", "lose": "the second player wins", "tie": "a tie"}[start["value"]]
        click.echo(f"{heading(facts['variant'])}: {coloured(value_of(start), ending)}")
    else:
        print_head(facts)
    click.echo(f"{of_book(plies)}, not the whole game{'' if distances else '; without distances'}")


def of_book(plies: int) -> str:
    """Return the name of an opening book: `an opening book of the first 8 plies`."""
    return f"an opening book of the first {'ply' if plies == 1 else f'{plies} plies'}"


def print_values(facts: Facts) -> None:
    """Print how many positions have each value."""
    total = facts["positions"]
    signs = SIGNS if facts.get("metric") == EXPECTATION else {}
    rows = [
        (coloured(value, signs.get(noun)), f"{facts['values'][noun]:,}", f"{100 * facts['values'][noun] / total:.1f} %")
        for value, noun in NOUNS.items()
        if facts["values"][noun]
    ]
    click.echo(f"\n{indent(table([*rows, ('positions', f'{total:,}', '')], '<>>'))}\n")


def print_file(facts: Facts) -> None:
    bits = facts["bits_per_position"]
    click.echo(f"{facts['path']}: {size(facts['bytes'])}, {bits:,.{0 if bits >= 100 else 2}f} bits a position")


def print_remotenesses(facts: Facts) -> None:
    """Print how many positions have each value and remoteness, a row for each remoteness."""
    counts = {(value_of(row), row["remoteness"]): row["count"] for row in facts["by_remoteness"]}
    values = [value for value in NOUNS if value != DRAW and facts["values"][NOUNS[value]]]
    if not any(remoteness is not None for _, remoteness in counts):
        return
    rows = [[heading("plies"), *(coloured(value) for value in values)]]
    for remoteness in sorted({remoteness for _, remoteness in counts if remoteness is not None}):
        columns = (counts.get((value, remoteness)) for value in values)
        rows.append([str(remoteness), *("" if count is None else f"{count:,}" for count in columns)])
    click.echo(indent(table(rows, ">" * len(rows[0]), gap="   ")))
