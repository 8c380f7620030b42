"""Opens oracles for the commands, asks them, and says in words what they know of a position and how."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli import options
from retrograde.cli.render import words
from retrograde.cli.render.words import NOUNS, amount, coloured, duration, faint, plies
from retrograde.databases.errors import NoDatabase
from retrograde.databases.location import metric_named
from retrograde.games import DRAW, LOSE, TIE, WIN, Game
from retrograde.games.contract.game import Traits
from retrograde.solver.runtime.progress import announce

if TYPE_CHECKING:
    from retrograde.solver.play.answer import Answer
    from retrograde.solver.play.oracle import Oracle, ValueBounds
    from retrograde.solver.play.oracles.searching import SearchingOracle
    from retrograde.solver.play.solution import Solution

BOUNDS = {
    (LOSE, WIN): "not known",
    (DRAW, WIN): "at least a draw",
    (TIE, WIN): "at least a tie",
    (LOSE, TIE): "no win",
    (LOSE, DRAW): "no more than a draw",
    (DRAW, TIE): "a tie or a draw",
}
"""What is known of an unknown value, by the worst and the best value that it may still have."""

SOURCES = {
    "book": "from the book",
    "rules": "by the rules",
    "certificate": "proved by the certificate, a weak solution",
}
"""How a value is known without a search. A weak solution keeps the value of one position, by a strategy."""


def time_option(seconds: float, what: str) -> Callable[[options.Command], options.Command]:
    """Return the option that limits the search if there is no database."""
    return click.option(
        "--time", "seconds", type=options.SECONDS, default=seconds, show_default=True,
        metavar="S", help=f"Seconds to search {what}, where there is no database.",
    )  # fmt: skip


# Opening


def open_oracle(source: str, database: str | None, seconds: float) -> "Solution | SearchingOracle":
    """Open the solution that VARIANT|FILE and --database name; without one, an oracle that searches, with a remark."""
    from retrograde.cli.common import file_named, open_source
    from retrograde.cli.render.certified import certificate_named
    from retrograde.solver.play.solution import solution_of

    if (path := certificate_named(source, database)) is not None:
        return open_with_certificate(path, source, database, seconds)
    try:
        return solution_of(open_source(source, database))
    except NoDatabase as error:
        if database is not None or file_named(source) is not None or metric_named(source)[1]:
            raise
        return open_search(source, seconds, error)


def solve_advice(game: Game, command: str) -> str:
    """Return the advice to solve a game; "" if its positions take several words and have no numbers, as in chess."""
    traits = Traits.of(game)
    return "" if traits.width and not traits.is_numbered else f"; to solve it: {command}"


def open_search(source: str, seconds: float, error: NoDatabase, table: int | None = None) -> "SearchingOracle":
    """Return an oracle that searches a variant, with a transposition table of *table* bytes. *error* says that there is
    no database; it is printed, and raised if the rules cannot be searched."""
    from retrograde.games.catalog import load_game
    from retrograde.solver.play.oracles.open import searching_oracle
    from retrograde.solver.rules.examine import NotCompilable
    from retrograde.solver.search.searcher import TABLE_SIZE

    oracle = searching_oracle(load_game(source), seconds, os.cpu_count() or 1, table or TABLE_SIZE)
    what, _, solve = str(error).partition("; make it with: ")
    click.echo(f"{what}: {source_text(oracle)}{solve_advice(oracle.game, solve)}", err=True)
    try:
        with show_search(oracle, "compiling the rules"):
            oracle.prepare()
    except NotCompilable as why:
        raise NoDatabase(f"{error}; nor can it be searched: {why}") from why
    return oracle


def open_with_certificate(path: Path, source: str, database: str | None, seconds: float) -> "SearchingOracle":
    """Return an oracle that asks the opening book, if there is one, then the certificate, and then searches.

    `searching_oracle` finds the book.
    """
    from retrograde.cli.render.certified import open_certified
    from retrograde.solver.play.oracles.open import searching_oracle
    from retrograde.solver.search.searcher import TABLE_SIZE

    certificate = open_certified(path, source, database)
    oracle = searching_oracle(certificate.game, seconds, os.cpu_count() or 1, TABLE_SIZE, certificate)
    click.echo(source_text(oracle), err=True)
    with show_search(oracle, "compiling the rules"):
        oracle.prepare()
    return oracle


def source_text(oracle: "SearchingOracle") -> str:
    """Return how questions are answered without a database: `searching, up to 3.0 s a question`."""
    from retrograde.cli.render.certified import claim
    from retrograde.solver.play.oracles.certified import CertifiedOracle

    book = f", beyond its book of {plies(oracle.book.plies)}" if oracle.book else ""
    book += ", with its book of estimates" if oracle.estimates else ""
    searched = f"searching{book}, up to {duration(oracle.seconds)} a question"
    if not isinstance(oracle, CertifiedOracle):
        return searched
    file = oracle.certificate.file
    root = oracle.game.write(file.root)
    return f"a certificate proves {claim(file)} for the player to move in {root}; elsewhere {searched}"


@contextmanager
def show_search(oracle: "Oracle", before: str = "thinking") -> Iterator[None]:
    """Show on a terminal how far an oracle's search has come, while the block runs; *before* is shown at first. With a
    database, show nothing."""
    from retrograde.cli.progress import ProgressLine, poll_progress, search_progress

    if oracle.source == "database":
        yield
        return
    searching: Any = oracle
    with ProgressLine() as line:
        announce(line, before)
        with poll_progress(line, search_progress(searching)):
            yield


def ask_oracle(oracle: "Oracle", position: int, count: int = 0, with_line: bool = True) -> "Answer":
    """Return what an oracle knows of a position and its moves, and *with_line* the line of best play. A search shows
    its progress, and takes its time. *count* are the plies without progress before."""
    from retrograde.solver.play.answer import answer_of

    with show_search(oracle, "searching"):
        return answer_of(oracle, position, None, count, with_line)


# Words


def bounds_text(bounds: "ValueBounds") -> str:
    """Return what is known of an unknown value: `at least a tie`, `not known`."""
    return BOUNDS[bounds.at_least, bounds.at_most]


def value_text(bounds: "ValueBounds") -> str:
    """Return the value in colour, or what is known of it: `win`, `at least a tie`."""
    return coloured(bounds.value) if bounds.proved else faint(bounds_text(bounds))


def verdict(bounds: "ValueBounds", side: str, distance: str = "") -> str:
    """Return what is known of a position: `Red to move wins in 5 plies`, `not known: at least a tie`."""
    if not bounds.proved:
        return unknown_text(bounds, puzzle=not side)
    if bounds.remoteness is None and bounds.value != DRAW:
        subject = side or "the player"  # a game of one player has no sides
        text = {WIN: f"{subject} wins", LOSE: f"{subject} loses"}.get(bounds.value, f"a {NOUNS[bounds.value]}")
        return coloured(bounds.value, text)
    return words.prospect_text(bounds.value, bounds.remoteness, side, distance)


def unknown_text(bounds: "ValueBounds", puzzle: bool = False) -> str:
    """Return in words what is known of a position, of a *puzzle* or of a game, whose value is not known."""
    if puzzle and bounds.at_most != WIN:
        return "there is no solution"
    if puzzle and bounds.no_end_within:
        return f"not known: there is no solution within {plies(bounds.no_end_within)}"
    if bounds.no_end_within:
        return f"not known: neither side can force a win within {plies(bounds.no_end_within)}"
    text = bounds_text(bounds)
    return text if text == BOUNDS[LOSE, WIN] else f"not known: {text}"


def prospect_of_person(bounds: "ValueBounds", distance: str = "", puzzle: bool = False) -> str:
    """Return what the person to move may expect, as far as that is known: `you win if you play right`.

    *distance* is the remoteness in other words, such as `mate in 3`. *puzzle* says that the game has one player.
    """
    if puzzle and bounds.proved:
        return coloured(bounds.value, words.puzzle_text(bounds.value, bounds.remoteness))
    if not bounds.proved:
        return unknown_text(bounds, puzzle)
    if bounds.remoteness is None and bounds.value != DRAW:
        text = {WIN: "you win if you play right", LOSE: "you lose unless the other side goes wrong"}
        return coloured(bounds.value, text.get(bounds.value, f"a {NOUNS[bounds.value]} if both play right"))
    return words.outlook_text(bounds.value, bounds.remoteness, distance)


def estimated_text(estimate: int | None) -> str:
    """Return an estimate of a book in words: `estimated as +12`; "" if there is none."""
    from retrograde.solver.search.depth.scores import estimate_text

    return "" if estimate is None else f"estimated as {estimate_text(estimate)}"


def estimate_line(estimate: int | None) -> str:
    """Return a line that says what a book of estimates has of a position; "" if it has nothing."""
    return "" if estimate is None else f"{estimated_text(estimate)} by the book of estimates, which proves nothing\n"


def evidence_text(bounds: "ValueBounds", puzzle: bool = False) -> str:
    """Return how a value is known: `proved by search: 1.2 M positions in 3.0 s`, `from the book`, `by the rules`.

    Of a puzzle, it is proved too that there is no solution.
    """
    evidence = bounds.evidence
    if evidence.source != "search":
        return SOURCES.get(evidence.source, f"by the {evidence.source}")
    rate = f", {amount(evidence.nodes / evidence.seconds)}/s" if evidence.seconds > 0.1 else ""
    proved = bounds.proved or (puzzle and bounds.at_most != WIN)
    result = "proved by search" if proved else "no proof"
    tables = f" and {amount(evidence.in_tables)} in tables" if evidence.in_tables else ""
    return f"{result}: {amount(evidence.nodes)} positions{tables} in {duration(evidence.seconds)}{rate}"
