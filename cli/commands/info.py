"""`retrograde info`: shows the result of a solve, and facts about its file."""

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retrograde.cli import options
from retrograde.cli.common import (
    expect_game,
    file_named,
    open_file,
    open_source,
    print_json,
    rules_now,
    solve_again_command,
)
from retrograde.cli.render.certified import (
    CLASSES,
    certificate_alone,
    facts_of,
    open_certified,
    print_certificate,
    print_other_certificate,
)
from retrograde.cli.render.estimates import estimates_named, print_estimates
from retrograde.cli.render.estimates import facts_of as facts_of_estimates
from retrograde.cli.render.measures import print_measures, print_start_measure
from retrograde.cli.render.moves import MOVER, mover
from retrograde.cli.render.pager import page_output
from retrograde.cli.render.report import (
    Facts,
    print_book,
    print_file,
    print_head,
    print_remotenesses,
    print_values,
    value_of,
)
from retrograde.cli.render.words import NOUNS, faint, heading, indent, prospect_text, table, wrap
from retrograde.databases.errors import OtherRules
from retrograde.games import WIN, Game, RetrogradeError, VariantError
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.databases.checked import CheckedFile


MOST_STARTS = 3
"""How many first positions are named."""
MOST_OTHERS = 4
"""How many databases that this one rests on are named."""


@click.command()
@options.source
@options.database
@options.json
def command(source: str, database: str | None, as_json: bool) -> None:
    """Show the result of a solve: counts by value and remoteness, the longest win, and the size of the file.

    If a variant has no database, the command shows its opening book, or else its certificate, or else its book of
    estimates.

    The command also works if the rules of a file are missing or have changed, and says so. Counts include all symmetric
    positions; only those of single chess endings count symmetric positions once, as endgame tables do. For a
    certificate, the output says what it proves.

    \b
    Examples:
      retrograde info tictactoe
      retrograde info connect4.h5 --json
    """
    from retrograde.databases import Database
    from retrograde.solver.play.analysis import summary

    if path := certificate_alone(source, database):
        describe_certificate(path, source, database, as_json)
        return
    if path := estimates_named(source, database):
        describe_estimates(path, source, database, as_json)
        return
    with open_file(source, database) as opened:
        facts = summary(opened)
        facts |= {} if "book" in facts else {"class": "strong"}
        file, game = (opened.file, opened.game) if isinstance(opened, Database) else (opened, None)
        changed = game is None and rules_changed(source, database)
        if as_json:
            print_json(facts | {"rules": "at hand" if game else "changed" if changed else "not at hand"})
            return
        with page_output():
            print_book(facts) if "book" in facts else print_head(facts)
            if changed:
                print_changed(source, database)
            print_start_measure(facts)
            print_values(facts)
            print_measures(facts)
            print_starts(facts)
            print_symmetry(facts)
            print_tiers(facts, game)
            print_remotenesses(facts)
            print_longest_win(facts, file, game)
            print_origin(facts, file, game)
            print_file(facts)
            if "book" in facts:
                print_other_certificate("info", source, database)


def describe_certificate(path: Path, source: str, database: str | None, as_json: bool) -> None:
    """Print what a certificate proves, and facts about it; its rules may be missing."""
    from retrograde.databases import CertificateFile

    with ExitStack() as opened:
        certificate = None
        with suppress(OtherRules, VariantError):
            certificate = opened.enter_context(open_certified(path, source, database))
        file = certificate.file if certificate else opened.enter_context(CertificateFile(path))
        expect_game(file.variant, path, source, database)
        if as_json:
            print_json(facts_of(file) | {"rules": "at hand" if certificate else "changed or not at hand"})
        else:
            print_certificate(file, certificate)


def describe_estimates(path: Path, source: str, database: str | None, as_json: bool) -> None:
    """Print what a book of estimates holds; its rules may be missing."""
    from retrograde.solver.search.depth.estimated_book import read_estimates

    file = read_estimates(path)
    expect_game(file.origin.game, path, source, database)
    if as_json:
        print_json(facts_of_estimates(file))
    else:
        print_estimates(file)


def rules_changed(source: str, database: str | None) -> bool:
    """Return whether the rules that VARIANT|FILE names differ from those that made the database."""
    try:
        open_source(source, database).close()
    except OtherRules:
        return True
    except RetrogradeError:
        return False
    return False


def print_changed(source: str, database: str | None) -> None:
    """Print that a database was made with other rules than those of today, and what to do."""
    path = file_named(source)
    source = (path and rules_now(path)) or source
    again = solve_again_command(source, database or path)
    text = f"made with other rules than {source} has now; the numbers below are for the old rules; solve it again with:"
    click.echo(click.style(wrap(printable(f"{text} {again}"), 2), bold=True))


def print_starts(facts: Facts) -> None:
    """Print the number of first positions, if there are several."""
    if len(starts := facts.get("starts", [])) > 1:
        text = f"play begins in {len(starts):,} positions: {', '.join(starts[:MOST_STARTS])}"
        click.echo(wrap(text + (", …" if len(starts) > MOST_STARTS else ""), 2) + "\n")


def print_symmetry(facts: Facts) -> None:
    """Print how many positions there are if symmetric ones count once."""
    if facts["stored"] != facts["positions"]:
        text = f"these counts include symmetric positions; counted once, there are {facts['stored']:,} positions"
        click.echo(indent(faint(wrap(text, 2))) + "\n")


def print_tiers(facts: Facts, game: Game | None) -> None:
    """Print the counts of each part of each tier of a dense numbering; symmetric positions count once."""
    if "tiers" not in facts:
        return
    if "slices" in facts:
        print_slices(facts["slices"])
        return
    nouns = [noun for value, noun in NOUNS.items() if facts["values"][noun]]
    has_longest = any(part["longest"] for parts in facts["tiers"].values() for part in parts.values())
    rows = [[heading("tier"), "", *map(heading, nouns), *(["", heading("the longest")] if has_longest else [])]]
    for tier, parts in facts["tiers"].items():
        for name, part in parts.items():
            longest = part["longest"]
            what = [longest_in_words(longest, game, facts["metric"]), longest["position"]] if longest else ["", ""]
            rows.append([tier, name, *(f"{part[noun]:,}" for noun in nouns), *(what if has_longest else [])])
    click.echo(f"{heading('Its parts')}, symmetric positions counted once\n")
    click.echo(indent(table(rows, "<<" + ">" * len(nouns) + "><" * has_longest)) + "\n")


def print_slices(slices: list[Facts]) -> None:
    """Print the counts for each material, over all tiers, for a game of many tiers."""
    nouns = ("win", "draw", "lose")
    rows = [[heading("to move"), heading("the other"), *map(heading, nouns), heading("longest win")]]
    for found in slices:
        longest = "" if found["longest_win"] is None else str(found["longest_win"])
        rows.append([found["own"], found["other"], *(f"{found[noun]:,}" for noun in nouns), longest])
    click.echo(f"{heading('By material')}, in plies, symmetric positions counted once\n")
    click.echo(indent(table(rows, "<<>>>>")) + "\n")


def longest_in_words(longest: Facts, game: Game | None, metric: str) -> str:
    """Return the distance of the longest win or loss of a part: `win in 7`, `mate in 16`."""
    from retrograde.solver.play.answer import distance_text

    in_words = game and distance_text(game, value_of(longest), longest["remoteness"], metric)
    return in_words or f"{longest['value']} in {longest['remoteness']}"


def print_longest_win(facts: Facts, file: "CheckedFile", game: Game | None) -> None:
    """Print the longest win and an example of it; nothing if nobody ever wins."""
    from retrograde.solver.play.analysis import board
    from retrograde.solver.play.answer import distance_text

    wins = [row for row in file.legend if row.value == WIN]
    if not facts["longest_win"]:
        return
    longest = max(wins, key=lambda row: row.remoteness)
    others = f", as in {longest.positions:,} positions" if longest.positions > 1 else ""
    name = "The farthest from a solution" if game and game.players == 1 else "The longest win"
    who = mover(game, longest.example) if game else MOVER
    far = distance_text(game, WIN, longest.remoteness, facts["metric"]) if game else ""
    click.echo(f"\n{heading(name)}: {prospect_text(WIN, longest.remoteness, who, far)}{others}")
    if game is not None:
        click.echo(indent(board(longest.example, game)))
    click.echo(faint(f"  position {facts['longest_win']['position']}"))


def first_of(others: list[str]) -> str:
    """Return the first names of *others*, and how many more there are.

    >>> first_of(["chess:KK", "chess:KRK"]), first_of([f"chess:K{'P' * k}K" for k in range(6)])
    ('chess:KK, chess:KRK', 'chess:KK, chess:KPK, chess:KPPK, chess:KPPPK and 2 more')
    """
    more = len(others) - MOST_OTHERS
    return ", ".join(others) if more <= 0 else f"{', '.join(others[:MOST_OTHERS])} and {more} more"


def print_origin(facts: Facts, file: "CheckedFile", game: Game | None) -> None:
    """Print what the database holds, and what it was made from and by."""
    rules = file.rules if game is not None else f"{file.rules}, not at hand or changed since"
    of_slots = "compact: {kept:,} of {slots:,} slots are kept, and the others follow from the moves"
    rows = [
        *([("solution", CLASSES[facts["class"]])] if "class" in facts else []),
        ("records", f"{facts['stored']:,}"),
        *([("kept", of_slots.format(**facts["compact"]))] if "compact" in facts else []),
        *([("rests on", first_of(facts["rests_on"]))] if "rests_on" in facts else []),
        ("metric", f"{file.metric} against {against}" if (against := file.details.get("against")) else file.metric),
        ("rules", rules),
        ("made with", file.made_with),
        ("digest", file.digest),
    ]
    click.echo(f"\n{heading('The database')}\n{indent(table(rows, '<<'))}")
