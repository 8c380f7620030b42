"""`retrograde solve`: from the rules to the database."""

import time
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import database_option, json_option, print_json, variant_argument, workers_option
from retrograde.cli.failure import INTERRUPTED, Failure, explain
from retrograde.cli.progress import JsonProgress, ProgressLine
from retrograde.cli.report import print_file, print_head, print_values
from retrograde.cli.words import amount, duration, heading, indent, size, table

if TYPE_CHECKING:
    from retrograde.databases.lock import Lock
    from retrograde.games import Game
    from retrograde.solver.work.progress import Progress


MOST_ROWS = 100
"""Rows of the table of an estimate."""


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in the latest versions of click only
    """A number of bytes, as in 1.5G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from retrograde.solver.work.memory import parse_size

        try:
            return parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command()
@variant_argument
@database_option
@workers_option
@click.option(
    "--memory", type=Size(), metavar="SIZE", help="The most memory to use, such as 1.5G; all that is free if not given."
)
@click.option("--fresh", is_flag=True, help="Solve anew, whatever was done before.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Say what it will take, and do not solve.")
@json_option
def command(
    variant: str,
    database: str | None,
    workers: int | None,
    memory: int | None,
    fresh: bool,
    only_estimate: bool,
    as_json: bool,
) -> None:
    """Solve a game and keep its database.

    A solve that was interrupted goes on where it stopped; a game that is solved is not solved again.
    With --json, progress goes to standard error as lines of JSON.

    \b
    Examples:
      retrograde solve tictactoe
      retrograde solve chess:KRK
      retrograde solve connect4:4,4 --database connect4.h5 --workers 1 --memory 1G
      retrograde solve connect4:5,5 --estimate
    """
    from retrograde.databases import DatabaseFile, database_of, database_path
    from retrograde.databases.lock import Lock
    from retrograde.games.catalog import load_game, trust
    from retrograde.games.catalog import variant as text_of
    from retrograde.solver.play.analysis import summary
    from retrograde.solver.work.memory import peak_memory

    game = load_game(variant)
    path = Path(database) if database is not None else database_path(text_of(game))
    if only_estimate:
        print_estimate(game, path, workers, as_json)
        return
    began, before = time.monotonic(), 0
    solved = is_solved(game, path, fresh)
    if not solved:
        with Lock(path) as lock:
            solved = is_solved(game, path, fresh)  # by another process, before it gave up the lock
            if not solved:
                before = run(game, path, workers, memory, fresh, as_json, lock)
    if solved:
        trust(game)  # whose file the person has named
    seconds = time.monotonic() - began
    with database_of(DatabaseFile(path), game) as result:
        facts = summary(result)
    facts |= {"seconds": round(seconds, 3), "peak_memory_bytes": peak_memory(), "resumed": before}
    if as_json:
        print_json(facts)
        return
    print_head(facts)
    print_values(facts)
    if solved:
        click.echo("it was solved before; solve it anew with --fresh")
    else:
        click.echo(how_it_went(facts))
    print_file(facts)


def how_it_went(facts: dict[str, Any]) -> str:
    """Return in words how long a solve has taken, and what it did in that time: what was done before does not count."""
    seconds, before = facts["seconds"], facts["resumed"]
    solved = facts["positions"] - before
    speed = f", {amount(solved / seconds)} positions a second" if seconds >= 1 and solved > 0 else ""
    rest = f" for what was left; {amount(before)} positions had been solved before" if before else ""
    return f"{duration(seconds)}{speed}{rest}, {size(facts['peak_memory_bytes'])} of memory at most"


def is_solved(game: "Game", path: Path, fresh: bool) -> bool:
    """Tell whether a database is there already; raise what fits where a file is there that must not be replaced."""
    from retrograde.databases import DatabaseFile, NotADatabase, OtherRules, VersionTooNew
    from retrograde.databases.errors import DamagedDatabase
    from retrograde.databases.open import matching_game
    from retrograde.games.catalog import variant

    if not path.exists():
        return False
    try:
        with DatabaseFile(path) as file:
            matching_game(file, game)
            return not fresh
    except OtherRules as error:
        if file.variant != variant(game):
            raise Failure(f"error: {error}; choose another --database") from error
        if not fresh:
            raise Failure(
                f"error: {str(path)!r} was made by other rules of {file.variant}; solve it anew with --fresh"
            ) from error
    except NotADatabase as error:
        raise Failure(f"error: {error}; choose another --database, or remove it") from error
    except (DamagedDatabase, VersionTooNew) as error:
        if path.is_dir():
            raise
        if not fresh:
            raise Failure(f"error: {error}; solve it anew with --fresh") from error
    return False


def print_estimate(game: "Game", path: Path, workers: int | None, as_json: bool) -> None:
    """Print what a solve will take."""
    import os
    import shutil

    from retrograde.games.catalog import variant
    from retrograde.solver.forecast import estimate

    expected = estimate(game, workers or os.cpu_count() or 1)
    folder = next(folder for folder in path.absolute().parents if folder.is_dir())
    free = shutil.disk_usage(folder).free
    if as_json:
        tiers = [{"tier": tier, "records": records} for tier, records in expected.tiers.items()]
        print_json({"variant": variant(game), **asdict(expected), "tiers": tiers, "disk_free": free})
        return
    if expected.open:
        click.echo(
            f"{heading(variant(game))}: play may come back to a tier it has left; how many positions there are is not "
            "told without solving it"
        )
        return
    about = "" if expected.counted == len(expected.waves) else "about "
    rows = [
        ("positions", f"{about}{expected.positions:,}"),
        ("records", f"{about}{expected.records:,}"),
        ("time", f"about {duration(expected.seconds)}"),
        ("memory", f"about {size(expected.memory)}"),
        ("scratch", f"about {size(expected.scratch)} of disk while it runs"),
        ("database", f"about {size(expected.database)}"),
        ("disk", f"{size(free)} free"),
    ]
    click.echo(f"{heading(variant(game))}: an estimate\n")
    click.echo(indent(table(rows, "<<")))
    for name, counts in (("tier", expected.tiers), ("plies", dict(enumerate(expected.waves)))):
        if 1 < len(counts) <= MOST_ROWS:
            body = [(heading(name), heading("records"))] + [(str(key), f"{count:,}") for key, count in counts.items()]
            click.echo("\n" + indent(table(body, ">>", gap="   ")))
            break


def run(
    game: "Game", path: Path, workers: int | None, memory: int | None, fresh: bool, as_json: bool, lock: "Lock"
) -> int:
    """Solve with progress on the terminal, and say on Ctrl-C what is kept; return how many positions had been solved
    before."""
    from retrograde.games.text import printable
    from retrograde.solver.work.progress import announce

    before = 0

    def listen(progress: "Progress") -> None:
        nonlocal before
        if progress.phase == "solving":
            before = progress.resumed
        line(progress)

    try:
        with JsonProgress() if as_json else ProgressLine() as line, warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: line.say(f"retrograde: warning: {printable(str(message))}")
            announce(line, "reading the rules")
            from retrograde.solver.engine import solve  # which takes some time, in which nothing would be said

            solve(game, path, workers=workers, memory=memory, fresh=fresh, listener=listen, lock=lock)
    except KeyboardInterrupt as error:
        failure = explain(error)
        kept = failure.status == INTERRUPTED and path.with_name(path.name + ".journal").exists() and not path.exists()
        how = "the same command without --fresh" if fresh else "the same command"
        note = f"; what is done is kept, and {how} goes on from there" if kept else ""
        raise Failure(f"{failure.message}{note}", failure.status) from None
    return before
