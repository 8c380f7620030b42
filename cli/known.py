"""What is known of positions where nobody knows all: searched for in the time there is, and told in words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import Command
from retrograde.cli.words import NOUNS, amount, coloured, duration, expected, faint, plies, prospect
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value

if TYPE_CHECKING:
    from pathlib import Path

    from retrograde.databases import NoDatabase
    from retrograde.solver.oracles.certified import CertifiedOracle
    from retrograde.solver.oracles.searching import SearchingOracle
    from retrograde.solver.play.choice import Choice
    from retrograde.solver.play.oracle import How, Known, Oracle
    from retrograde.solver.play.solution import Solution

BOUNDS = {
    (LOSE, WIN): "not known",
    (DRAW, WIN): "at least a draw",
    (TIE, WIN): "at least a tie",
    (LOSE, TIE): "no win",
    (LOSE, DRAW): "no more than a draw",
    (DRAW, TIE): "a tie or a draw",
}
"""What is known where the value is not, by the worst and the best value that are not ruled out."""


def time_option(seconds: float, what: str) -> Callable[[Command], Command]:
    """Return the option that says how long to search where there is no database."""
    return click.option(
        "--time", "seconds", type=click.FloatRange(min=0, min_open=True), default=seconds, show_default=True,
        metavar="S", help=f"Seconds to search {what}, where there is no database.",
    )  # fmt: skip


# Opening


def open_oracle(source: str, database: str | None, seconds: float) -> "Solution | SearchingOracle":
    """Open the solution that VARIANT|FILE and --database name; where a variant has none, whoever searches instead, with
    a certificate where there is one.

    That is said on standard error, and how to solve the game.
    """
    from retrograde.cli.certified import certificate_named
    from retrograde.cli.common import file_named, open_source
    from retrograde.databases import NoDatabase
    from retrograde.solver.play.solution import Solution

    if (path := certificate_named(source, database)) is not None:
        return certified(path, source, database, seconds)
    try:
        return Solution(open_source(source, database))
    except NoDatabase as error:
        if database is not None or file_named(source) is not None:
            raise
        return searching(source, seconds, error)


def searching(source: str, seconds: float, error: "NoDatabase") -> "SearchingOracle":
    """Return who answers for a variant without a database; raise NoDatabase where its rules cannot be searched."""
    import os

    from retrograde.databases import NoDatabase
    from retrograde.games.catalog import load_game
    from retrograde.solver.oracles.open import searching_oracle
    from retrograde.solver.rules.examine import NotCompilable

    oracle = searching_oracle(load_game(source), seconds, os.cpu_count() or 1)
    what, _, solve = str(error).partition("; make it with: ")
    book = f", beyond its book of {plies(oracle.book.plies)}" if oracle.book else ""
    click.echo(f"{what}: it is searched{book}, {duration(seconds)} at a time; to solve it: {solve}", err=True)
    try:
        with thinking(oracle, "compiling the rules"):
            oracle.prepare()
    except NotCompilable as why:
        raise NoDatabase(f"{error}; nor can it be searched: {why}") from why
    return oracle


def certified(path: "Path", source: str, database: str | None, seconds: float) -> "CertifiedOracle":
    """Return who answers by a certificate, and searches beyond."""
    import os

    from retrograde.cli.certified import claim, open_certified
    from retrograde.solver.oracles.certified import CertifiedOracle

    certificate = open_certified(path, source, database)
    root = certificate.game.write(certificate.file.root)
    what = f"a certificate proves {claim(certificate.file)} for the player to move in {root}"
    click.echo(f"{what}; elsewhere it is searched, {duration(seconds)} at a time", err=True)
    oracle = CertifiedOracle(certificate, seconds, os.cpu_count() or 1)
    with thinking(oracle, "compiling the rules"):
        oracle.prepare()
    return oracle


@contextmanager
def thinking(oracle: "Oracle", before: str = "thinking") -> Iterator[None]:
    """Tell on a terminal how far the search of an oracle has come, while it is asked."""
    from time import monotonic

    from retrograde.cli.search import so_far, telling, told

    if oracle.source == "database":
        yield
        return
    searching: Any = oracle
    with told() as say:
        say(before)
        began = monotonic()
        nodes = searching.looked_at

        def tell() -> None:
            say(so_far(searching.looked_at - nodes, monotonic() - began))

        with telling(tell):
            yield


# Words


def bounds(known: "Known") -> str:
    """Return what is known of a value that is not: `at least a tie`, `not known`."""
    return BOUNDS[known.at_least, known.at_most]


def worth(known: "Known") -> str:
    """Return what is known of a value, coloured if it is: `win`, `at least a tie`."""
    return coloured(known.value) if known.proved else faint(bounds(known))


def verdict(game: Game, position: int, known: "Known", distance: str = "") -> str:
    """Return in words what is known of a position: `Red to move wins in 5 plies`, `not known: at least a tie`."""
    from retrograde.cli.moves import mover

    side = mover(game, position)
    if not known.proved:
        return unknown(known)
    if known.remoteness is None and known.value != DRAW:
        told = {WIN: f"{side} wins", LOSE: f"{side} loses"}.get(known.value, f"a {NOUNS[known.value]}")
        return coloured(known.value, told)
    return prospect(known.value, known.remoteness, side, distance)


def unknown(known: "Known") -> str:
    """Return in words what is known of a position whose value is not."""
    if known.no_end_within:
        return f"not known: neither side can force a win within {plies(known.no_end_within)}"
    told = bounds(known)
    return told if told == BOUNDS[LOSE, WIN] else f"not known: {told}"


def awaited(known: "Known", distance: str = "") -> str:
    """Return what a person who is to move may expect, as far as that is known."""
    if not known.proved:
        return unknown(known)
    if known.remoteness is None and known.value != DRAW:
        told = {WIN: "you win if you play right", LOSE: "you lose unless the other side goes wrong"}
        return coloured(known.value, told.get(known.value, f"a {NOUNS[known.value]} if both play right"))
    return expected(known.value, known.remoteness, distance)


def how_known(known: "Known") -> str:
    """Return how something is known: `proved by search: 1.2 M positions in 3.0 s`, `in the book`, `by the rules`."""
    how: How = known.how
    if how.source != "search":
        return {"book": "in the book", "rules": "by the rules", "certificate": "proved by the certificate"}.get(
            how.source, f"by the {how.source}"
        )
    rate = f", {amount(how.nodes / how.seconds)}/s" if how.seconds > 0.1 else ""
    said = "proved by search" if known.proved else "no proof in that time"
    return f"{said}: {amount(how.nodes)} positions in {duration(how.seconds)}{rate}"


def worths(oracle: "Oracle", choices: "list[Choice]") -> dict[int, str]:
    """Return what is known of what each move brings who makes it, by the numbers of moves whose value is not known."""
    from retrograde.solver.play.oracle import brought

    unknown = (choice for choice in choices if choice.value == UNDECIDED)
    return {choice.move: worth(brought(oracle.known(choice.position, 0))) for choice in unknown}


# JSON


def name_of(value: Value) -> str | None:
    """Return the name of a value; None where it is not known."""
    return NOUNS.get(value)


def facts(oracle: "Oracle", position: int, known: "Known") -> dict[str, Any]:
    """Return what is known of a position, ready for JSON, with the names that `search --json` has."""
    return {
        "value": name_of(known.value),
        "remoteness": known.remoteness,
        "at_least": NOUNS[known.at_least],
        "at_most": NOUNS[known.at_most],
        "proved": known.proved,
        "no_end_within": known.no_end_within,
        "nodes": known.how.nodes,
        "seconds": round(known.how.seconds, 3),
        "source": known.how.source,
    }
