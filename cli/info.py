"""`retrograde info`: what came out of a solve, and what the file is like."""

from typing import TYPE_CHECKING

import click

from retrograde.cli.common import database_option, json_option, open_file, print_json, source_argument
from retrograde.cli.moves import MOVER, distance, mover
from retrograde.cli.pager import paged
from retrograde.cli.report import Facts, print_file, print_head, print_remotenesses, print_values, value_of
from retrograde.cli.words import NOUNS, faint, heading, indent, prospect, table
from retrograde.games import WIN

if TYPE_CHECKING:
    from retrograde.databases.checked import CheckedFile
    from retrograde.games import Game


@click.command()
@source_argument
@database_option
@json_option
def command(source: str, database: str | None, as_json: bool) -> None:
    """Show what came out: counts by value and remoteness, the longest win, the size.

    A file is described even where its rules are gone.

    \b
    Examples:
      retrograde info tictactoe
      retrograde info connect4.h5 --json
    """
    from retrograde.databases import Database
    from retrograde.solver.play.analysis import summary

    with open_file(source, database) as opened:
        facts = summary(opened)
        if as_json:
            print_json(facts)
            return
        file, game = (opened.file, opened.game) if isinstance(opened, Database) else (opened, None)
        with paged():
            print_head(facts)
            print_values(facts)
            print_tiers(facts, game)
            print_remotenesses(facts)
            print_longest_win(facts, file, game)
            print_origin(facts, file, game)
            print_file(facts)


def print_tiers(facts: Facts, game: "Game | None") -> None:
    """Print what each part of each tier of a dense numbering has; of symmetric positions one counts."""
    if "tiers" not in facts:
        return
    nouns = [noun for value, noun in NOUNS.items() if facts["values"][noun]]
    rows = [[heading("tier"), "", *map(heading, nouns), "", heading("the longest")]]
    for tier, parts in facts["tiers"].items():
        for name, part in parts.items():
            longest = part["longest"]
            what = [longest_in_words(longest, game), longest["position"]] if longest else ["", ""]
            rows.append([tier, name, *(f"{part[noun]:,}" for noun in nouns), *what])
    click.echo(indent(table(rows, "<<" + ">" * (len(nouns) + 1) + "<")) + "\n")


def longest_in_words(longest: Facts, game: "Game | None") -> str:
    """Return how far the longest win or loss of a part is from the end: `win in 7`, `mate in 16`."""
    told = game and distance(game, value_of(longest), longest["remoteness"])
    return told or f"{longest['value']} in {longest['remoteness']}"


def print_longest_win(facts: Facts, file: "CheckedFile", game: "Game | None") -> None:
    """Print the win that takes longest, and where it is; nothing where nobody ever wins."""
    from retrograde.solver.play.analysis import board

    wins = [row for row in file.legend if row.value == WIN]
    if not wins:
        return
    longest = max(wins, key=lambda row: row.remoteness)
    others = f", as in {longest.positions:,} positions" if longest.positions > 1 else ""
    who = mover(game, longest.example) if game else MOVER
    far = distance(game, WIN, longest.remoteness) if game else ""
    click.echo(f"\n{heading('The longest win')}: {prospect(WIN, longest.remoteness, who, far)}{others}")
    if game is not None:
        click.echo(indent(board(longest.example, game)))
    click.echo(faint(f"  position {facts['longest_win']['position']}"))


def print_origin(facts: Facts, file: "CheckedFile", game: "Game | None") -> None:
    """Print what the database holds, and what it was made by and of."""
    rules = file.rules if game is not None else f"{file.rules}, not at hand or changed since"
    rows = [
        ("records", f"{facts['stored']:,}"),
        ("metric", file.metric),
        ("rules", rules),
        ("made with", file.made_with),
        ("digest", file.digest or "none: version 1 of the format has no digest of the whole"),
    ]
    click.echo(f"\n{heading('The database')}\n{indent(table(rows, '<<'))}")
