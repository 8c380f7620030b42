"""`retrograde list`: lists databases, books, certificates, and what is interrupted, in the home folder."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from retrograde.cli import options
from retrograde.cli.commands.unfinished import facts_of, unfinished_solves
from retrograde.cli.common import has_other_rules, print_json
from retrograde.cli.failure import message_of
from retrograde.cli.render import estimates
from retrograde.cli.render.expected import EXPECTATION
from retrograde.cli.render.measures import shared_text
from retrograde.cli.render.pager import page_output
from retrograde.cli.render.report import of_book
from retrograde.cli.render.words import faint, heading, size, table, verdict
from retrograde.databases import home_folder, list_certificates, list_databases
from retrograde.databases.location import against, list_books, list_estimates
from retrograde.games import RetrogradeError, Value
from retrograde.games.contract.game import METRICS
from retrograde.games.contract.text import printable

Facts = dict[str, Any]


@click.command("list")
@options.json
def command(as_json: bool) -> None:
    """List databases, opening books, certificates and interrupted solves, and how to resume these.

    The command looks in the folder RETROGRADE_HOME, or in the usual data folder if that variable is not set.

    \b
    Example:
      retrograde list
    """
    # Each is a dict of facts about one file, as --json prints them.
    databases = [describe(path) for path in (*list_databases(), *list_books())]
    databases += [describe_estimates(path) for path in list_estimates()]
    interrupted = [facts_of(path) for path in unfinished_solves()]
    certificates = [describe_certificate(path) for path in list_certificates()]
    if as_json:
        print_json([*databases, *certificates, *interrupted])
        return
    with page_output():
        print_lists(databases, certificates, interrupted)


def print_lists(databases: list[Facts], certificates: list[Facts], interrupted: list[Facts]) -> None:
    """Print the databases, the certificates, and what interrupted solves have left."""
    if not databases and not certificates:
        home = home_folder()
        what = ", which is no folder; see RETROGRADE_HOME" if home.exists() and not home.is_dir() else ""
        click.echo(f"no databases in {home}{what}; make one, as with: retrograde solve tictactoe")
    if databases:
        rows = [tuple(map(heading, ("variant", "positions", "size", "at the start")))]
        click.echo(table([*rows, *map(cells, databases)], "<>><"))
    if certificates:
        rows = [tuple(map(heading, ("certificate", "replies", "size", "it proves")))]
        click.echo(("\n" if databases else "") + table([*rows, *map(cells_of_certificate, certificates)], "<>><"))
    if interrupted:
        rows = [tuple(map(heading, ("not finished", "size", "how far")))]
        rows += [
            (printable(facts["name"]), size(facts["bytes"]), facts["interrupted"]["says"]) for facts in interrupted
        ]
        click.echo(f"\n{table(rows, '<><')}")
        for title, command in (("to go on", "resume"), ("to remove", "remove")):
            if commands := [printable(one) for facts in interrupted if (one := facts["interrupted"][command])]:
                click.echo(f"\n{title}:\n" + "\n".join(f"  {one}" for one in commands))
    if databases or certificates:
        click.echo(faint(f"\nin {home_folder()}"))


def describe(path: Path) -> Facts:
    """Return the facts about a database, ready for JSON; the error if it cannot be read."""
    from retrograde.databases import DatabaseFile
    from retrograde.databases.book import BookFile, is_book
    from retrograde.solver.values.measures import facts_of

    facts: Facts = {"path": str(path), "bytes": path.stat().st_size}
    try:
        with (BookFile if is_book(path) else DatabaseFile)(path) as file:
            if isinstance(file, BookFile):
                facts["book"] = {"plies": file.plies}
            else:
                facts["class"] = "strong"
            outcome = file.start_outcome
            facts["metric"] = file.metric if file.measures else METRICS[0]
            facts |= {name: file.details[name] for name in ("against", "ties") if name in file.details}
            facts |= {"variant": file.variant, "positions": file.positions, "stored": file.stored, "start": None}
            if isinstance(file, DatabaseFile) and has_other_rules(file):
                facts["other_rules"] = True
            if outcome is not None:
                facts["start"] = {"value": outcome.value.name.lower(), "remoteness": outcome.plies}
                if facts["metric"] == EXPECTATION:
                    facts["start"] |= facts_of(file.metric, file.details, outcome.measures)
    except RetrogradeError as error:
        facts["error"] = message_of(error)
    return facts


def describe_estimates(path: Path) -> Facts:
    """Return the facts about a book of estimates, ready for JSON; the error if it cannot be read."""
    from retrograde.solver.search.depth.estimated_book import read_estimates

    try:
        return estimates.facts_of(read_estimates(path))
    except RetrogradeError as error:
        return {"path": str(path), "bytes": path.stat().st_size, "class": estimates.CLASS, "error": message_of(error)}


def cells(facts: Facts) -> tuple[str, ...]:
    """Return the cells of a row: the variant, its positions, its bytes, and the value of the start in words."""
    if "estimates" in facts:
        return printable(facts["variant"]), f"{facts['positions']:,}", size(facts["bytes"]), estimates.book_text(facts)
    if "error" in facts:
        return Path(facts["path"]).stem, "", size(facts["bytes"]), "cannot be read"
    start = facts["start"]
    if book := facts.get("book"):
        return facts["variant"], f"{facts['positions']:,}", size(facts["bytes"]), of_book(book["plies"])
    if "other_rules" in facts:
        of_start = "made with other rules"
    elif not start:
        of_start = "no start"
    elif facts["metric"] == EXPECTATION:
        of_start = f"an expectation of {start['expectation']:.6g}"
    elif facts["metric"] == "utilities":
        of_start = shared_text(Value[start["value"].upper()], start["remoteness"], ties=facts.get("ties", ""))
    else:
        players = players_of(facts["variant"])
        of_start = verdict(Value[start["value"].upper()], start["remoteness"], "", players)
    _, sign, metric = Path(facts["path"]).stem.rpartition("@")
    metric = against(facts["against"]) if sign and "against" in facts else metric
    name = f"{facts['variant']}@{metric}" if sign else facts["variant"]
    return name, f"{facts['positions']:,}", size(facts["bytes"]), of_start


def players_of(variant: str) -> int:
    """Return the number of players of a variant. It is 2 if the game is not ours: anyone may have written it."""
    from retrograde.games.catalog import BUILT_IN, named_game

    with suppress(RetrogradeError):
        return named_game(variant).players if variant.partition(":")[0] in BUILT_IN else 2
    return 2


def describe_certificate(path: Path) -> Facts:
    """Return the facts about a certificate, ready for JSON; the error if it cannot be read."""
    from retrograde.cli.render.certified import CLASS, facts_of
    from retrograde.databases import CertificateFile

    try:
        with CertificateFile(path) as file:
            return facts_of(file)
    except RetrogradeError as error:
        return {"path": str(path), "bytes": path.stat().st_size, "class": CLASS, "error": message_of(error)}


def cells_of_certificate(facts: Facts) -> tuple[str, ...]:
    """Return the cells of a row: the variant, the positions, the bytes, and what is proved of the start."""
    if "error" in facts:
        return Path(facts["path"]).stem, "", size(facts["bytes"]), "cannot be read"
    least, most = facts["at_least"], facts["at_most"]
    claim = least if least == most else f"at least a {least}" if most == "win" else f"a {least} or a {most}"
    return facts["variant"], f"{facts['stored']:,}", size(facts["bytes"]), claim
