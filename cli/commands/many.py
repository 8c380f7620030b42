"""Many positions from a file or standard input, each answered on a line: what it is worth, or why there is no answer.

A line is a position; or a variant, a tab and a position. Where no variant is given beside, a space does for the tab.
Lines are read some ten thousand at a time, and those of one variant looked up together. Where the variant given beside
has no database, each line is searched for as long as is allowed for one.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrograde.cli.common import json_text, open_source, print_data, read_position
from retrograde.cli.failure import Failure
from retrograde.cli.render.known import bounds, thinking
from retrograde.cli.render.known import facts as facts_known
from retrograde.cli.render.known import searched as searched_with_moves
from retrograde.cli.render.words import NOUNS
from retrograde.games import PositionError, RetrogradeError, Value, VariantError
from retrograde.games.chess.fields import count_in
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.databases import NoDatabase
    from retrograde.solver.play.oracle import Known, Oracle
    from retrograde.solver.play.oracles.searching import SearchingOracle
    from retrograde.solver.play.solution import Solution

    Facts = Callable[[Oracle, int, int], dict[str, Any]]

LINES = 1 << 15
"""Lines that are answered together."""
MOST_SEARCHED = 16
"""Variants that are searched at once, endings of chess, each of which has a table of so many bytes."""
TABLE = 1 << 26
CHESS = "chess"
"""The game whose databases are found by the men on the board."""

BAD = (RetrogradeError, ArithmeticError, LookupError, TypeError, ValueError)
"""What reading a text may raise: rules need not cope with what is no position."""


class Line(NamedTuple):
    """A line of input that is not empty: its number from 1, and its text."""

    number: int
    text: str


class Answer(NamedTuple):
    """What is known of a line: who answers, the position, after how many plies without progress it comes, its value and
    remoteness (-1: none); or what is wrong.

    Of who searches, nothing else: searched is when the answer is told.
    """

    oracle: "Oracle | None" = None
    position: int = 0
    counted: int = 0
    value: Value = Value.UNDECIDED
    remoteness: int = -1
    error: str = ""


def lines_of(stream: IO[bytes]) -> Iterator[Line]:
    """Yield the lines of a stream that say something, whatever bytes they hold: neither empty ones, nor remarks (#)."""
    for number, line in enumerate(stream, 1):
        text = line.decode(errors="replace").strip()
        if text and not text.startswith("#"):
            yield Line(number, text)


def answer_file(name: str, desk: "Desk", facts: "Facts | None", as_json: bool) -> None:
    """Print an answer to each line of a file, or of standard input, -; raise Failure where some have none.

    With *facts*, which gives all that JSON says of a position, the moves are told as well.
    """
    with ExitStack() as opened:
        stream = sys.stdin.buffer if name == "-" else opened.enter_context(Path(name).open("rb"))
        lines, asked, bad = lines_of(stream), 0, 0
        while some := list(islice(lines, LINES)):
            answers = desk.answers(some)
            words = in_json(some, answers, facts) if as_json else in_columns(some, answers, facts is not None)
            if desk.searching:
                for line in words:
                    print_data(f"{line}\n")
            else:
                print_data("".join(f"{line}\n" for line in words))
            asked += len(some)
            bad += sum(bool(answer.error) for answer in answers)
    if bad:
        raise Failure(f"error: {bad:,} of {asked:,} lines had no answer; they say why")


class Desk:
    """Knows the solutions that lines ask for, and answers them. A context manager, which closes what it has opened."""

    def __init__(self, source: str | None = None, database: str | None = None, seconds: float | None = None):
        """Answer by the database that VARIANT|FILE and --database name; by what each line says, if there is none.

        With *seconds*, what VARIANT names is searched for so long a line where it has no database.
        """
        self.source, self.database, self.seconds = source, database, seconds
        self.stack = ExitStack()
        self.found: dict[str, Oracle | RetrogradeError] = {}
        self.searching: dict[str, SearchingOracle] = {}
        """Those of them who search."""

    def answers(self, lines: list[Line]) -> list[Answer]:
        """Return what is known of each line."""
        from retrograde.solver.play.solution import Solution

        answers: list[Answer] = []
        for line in lines:
            try:
                answers.append(Answer(*self.read(line.text)))
            except BAD as error:
                what = str(error) if isinstance(error, RetrogradeError) else f"{type(error).__name__}: {error}"
                answers.append(Answer(error=printable(what)))
        for solution in {id(answer.oracle): answer.oracle for answer in answers if answer.oracle}.values():
            if not isinstance(solution, Solution):
                continue
            own = [k for k, answer in enumerate(answers) if answer.oracle is solution]
            values, plies = solution.lookup(np.array([answers[k].position for k in own], np.int64))
            for k, value, remoteness in zip(own, values.tolist(), plies.tolist(), strict=True):
                answers[k] = answers[k]._replace(value=Value(value), remoteness=remoteness)
                if not value:
                    what = f"position {lines[k].text!r} of {solution.variant} cannot be reached"
                    answers[k] = Answer(error=f"{printable(what)} from the start")
        return answers

    def read(self, line: str) -> "tuple[Oracle, int, int]":
        """Return who answers, the position that a line asks for, and after how many plies without progress it comes."""
        source, tab, text = line.partition("\t")
        if not tab and self.source is not None:
            source, text = self.source, line
        else:
            if not tab:
                source, _, text = line.partition(" ")
            if not tab and source.count("/") == 7:  # chess alone has such positions
                source, text = CHESS, line
            if not text.strip():
                raise PositionError(f"a line is a VARIANT and a position, not {line!r}")
            if re.search(r"[/\\]|\.py\b|\.h5\b", source):  # what a line says may be anybody's word
                raise VariantError(f"a line names a game, not a file, as {source!r} does")
        oracle = self.open(source.strip(), text.strip())
        return oracle, read_position(oracle.game, text.strip()), count_in(text)

    def open(self, source: str, text: str) -> "Oracle":
        """Return who answers for what VARIANT|FILE names; where that is just chess, for the men of a text."""
        key = f"{CHESS}:{men_of(text)}" if source == CHESS else source
        if key not in self.found:
            from retrograde.databases import NoDatabase

            try:
                self.found[key] = self.stack.enter_context(self.solution(key, source))
            except NoDatabase as error:
                self.found[key] = self.search(key, error) if self.may_search(source) else error
            except RetrogradeError as error:
                self.found[key] = error
        found = self.found[key]
        if isinstance(found, RetrogradeError):
            raise found
        return found

    def may_search(self, source: str) -> bool:
        """Tell whether to search what has no database: only what the person has named, and no line."""
        return self.seconds is not None and self.database is None and source == self.source

    def search(self, key: str, error: "NoDatabase") -> "Oracle | RetrogradeError":
        """Return who searches for a variant, or why nobody can."""
        from retrograde.cli.common import file_named
        from retrograde.cli.render.known import searching

        assert self.seconds is not None
        if file_named(key) is not None:
            return error
        if len(self.searching) == MOST_SEARCHED:
            return RetrogradeError(f"{error}; no more than {MOST_SEARCHED} variants are searched at once")
        try:
            self.searching[key] = self.stack.enter_context(searching(key, self.seconds, error, TABLE))
        except RetrogradeError as why:
            return why
        return self.searching[key]

    def solution(self, key: str, source: str) -> "Solution":
        """Open a solution."""
        from retrograde.solver.play.solution import solution_of

        if self.database is not None:
            return solution_of(open_source(key, self.database))
        return solution_of(open_source(str(database_with(key)) if source == CHESS else source, None))

    def __enter__(self) -> "Desk":
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()


# Chess


def men_of(text: str) -> str:
    """Return the men of a FEN, White's first, as a variant names them; raise PositionError where it has no
    such board, or not two kings.

    >>> men_of("8/8/8/3k4/8/8/2n5/K6R w")
    'KRKN'
    """
    from retrograde.games.chess import fields

    letters = fields.read(text).letters
    white, black = sorted(filter(str.isupper, letters.values())), sorted(filter(str.islower, letters.values()))
    sides = ["".join(man.upper() for man in side if man not in "Kk") for side in (white, black)]
    return f"K{sides[0]}K{sides[1]}"


def database_with(ending: str) -> Path:
    """Return the smallest database of chess here that has an ending: its own, or one that has all that may follow, as
    they had before each ending had its own."""
    from retrograde.databases import NoDatabase
    from retrograde.databases.location import database_path, list_databases
    from retrograde.games.catalog import named_game, variant
    from retrograde.games.chess import men
    from retrograde.solver.play.tablebase.files import read_endings

    game: Any = named_game(ending)
    own = database_path(variant(game))
    if own.is_file():
        return own
    tier = men.tier_of(game.material)
    for path in sorted(list_databases(), key=lambda path: path.stat().st_size):
        with suppress(VariantError):
            other: Any = named_game(path.stem.replace(",", ":", 1))
            if other.name == CHESS and tier in other.tiers and tier in read_endings(path):
                return path
    raise NoDatabase(f"no database here has the ending {game.material}; make it with: retrograde solve {variant(game)}")


# Words


def in_columns(lines: Iterable[Line], answers: Iterable[Answer], moves: bool) -> Iterator[str]:
    """Yield answers as text, with tabs between: number of the line, text, value, remoteness, and moves, best first."""
    for line, answer in zip(lines, answers, strict=True):
        text = printable(line.text.replace("\t", " "))
        if answer.error or not answer.oracle:
            yield f"{line.number}\t{text}\terror\t{answer.error}"
            continue
        if answer.value:
            value, plies = NOUNS[answer.value], None if answer.remoteness < 0 else answer.remoteness
        else:
            known = searched(answer.oracle, answer.position, moves)
            value, plies = NOUNS[known.value] if known.proved else bounds(known), known.remoteness
        told = f"{line.number}\t{text}\t{value}\t{'' if plies is None else plies}"
        yield f"{told}\t{moves_in_short(answer.oracle, answer.position)}" if moves else told


def searched(oracle: "Oracle", position: int, moves: bool = False) -> "Known":
    """Return what is known of a position after a search, of its moves too if they are wanted."""
    if moves:
        return searched_with_moves(oracle, position)[0]
    with thinking(oracle, "searching"):
        return oracle.known(position)


def moves_in_short(oracle: "Oracle", position: int) -> str:
    """Return the moves of a position, best first, each with what it brings and how far the end is: `4:tie:12 1:lose:8`.

    What is not known is a question mark.
    """
    each = []
    for one in oracle.moves(position, 0):
        far = "" if one.remoteness is None else f":{one.remoteness + 1}"
        each.append(f"{one.name}:{NOUNS[one.brings] if one.value else '?'}{far}")
    return " ".join(each)


def in_json(lines: Iterable[Line], answers: Iterable[Answer], facts: "Facts | None") -> Iterator[str]:
    """Yield answers as JSON; with *facts*, those of the position."""
    for line, answer in zip(lines, answers, strict=True):
        said: dict[str, Any] = {"line": line.number}
        if answer.error or not answer.oracle:
            said |= {"input": line.text, "error": answer.error}
        elif facts:
            said |= facts(answer.oracle, answer.position, answer.counted)
        elif not answer.value:
            known = searched(answer.oracle, answer.position)
            said |= {"input": line.text} | facts_known(answer.oracle.game, answer.position, known, None)
        else:
            remoteness = None if answer.remoteness < 0 else answer.remoteness
            variant = answer.oracle.variant
            said |= {"variant": variant, "input": line.text, "value": NOUNS[answer.value], "remoteness": remoteness}
        yield json_text(said)
