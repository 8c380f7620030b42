"""Many positions from a file or standard input: prints a line for each, with its value or an error.

A line is a position; or a variant, a tab and a position. Without a variant on the command line, a space works as well
as the tab. Lines are read in chunks, and those of one variant are looked up together. If the variant on the command
line has no database, each line is searched for as long as --time allows.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrograde.cli.common import CHESS, file_named, json_text, open_source, plies_in, print_data, read_position
from retrograde.cli.failure import Failure, message_of
from retrograde.cli.render.oracles import ask_oracle, bounds_text, open_search, show_search
from retrograde.cli.render.words import NOUNS
from retrograde.databases.errors import NoDatabase
from retrograde.databases.location import database_path, list_databases
from retrograde.games import PositionError, RetrogradeError, Value, VariantError
from retrograde.games.chess import fields, men
from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.solver.play.answer import Answer
    from retrograde.solver.play.oracle import Oracle, ValueBounds
    from retrograde.solver.play.oracles.searching import SearchingOracle
    from retrograde.solver.play.solution import Solution

LINES = 1 << 15
"""The number of lines in a chunk."""
MOST_SEARCHED = 16
"""The greatest number of variants (endings of chess) that are searched; each has a transposition table of TABLE
bytes."""
TABLE = 1 << 26
BAD = (RetrogradeError, ArithmeticError, LookupError, TypeError, ValueError)
"""What reading a text may raise: rules need not handle texts that are not positions."""


class InputLine(NamedTuple):
    """A line of input that is not empty: its number from 1, and its text."""

    number: int
    text: str


class LineAnswer(NamedTuple):
    """The answer to a line: oracle, position, plies without progress, value and remoteness (-1: none); or an error.

    If the oracle searches, there is no value yet: the search runs when the answer is printed.
    """

    oracle: "Oracle | None" = None
    position: int = 0
    counted: int = 0
    value: Value = Value.UNDECIDED
    remoteness: int = -1
    error: str = ""


def lines_of(stream: IO[bytes]) -> Iterator[InputLine]:
    """Yield the lines of a stream, whatever bytes they hold, except empty ones and comments (#)."""
    for number, line in enumerate(stream, 1):
        text = line.decode(errors="replace").strip()
        if text and not text.startswith("#"):
            yield InputLine(number, text)


def answer_file(name: str, reader: "BatchReader", moves: bool, as_json: bool) -> None:
    """Print an answer to each line of a file, or of standard input (-); raise Failure if some lines have none."""
    with ExitStack() as opened:
        stream = sys.stdin.buffer if name == "-" else opened.enter_context(Path(name).open("rb"))
        lines, answered, bad = lines_of(stream), 0, 0
        while chunk := list(islice(lines, LINES)):
            answers = reader.answers(chunk)
            texts = in_json(chunk, answers, moves) if as_json else in_columns(chunk, answers, moves)
            if reader.searching:  # each search takes time: print every answer at once
                for text in texts:
                    print_data(f"{text}\n")
            else:
                print_data("".join(f"{text}\n" for text in texts))
            answered += len(chunk)
            bad += sum(bool(answer.error) for answer in answers)
    if bad:
        raise Failure(f"error: {bad:,} of {answered:,} lines had no answer; they say why")


class BatchReader:
    """Opens the solutions that lines need, and answers lines. A context manager that closes what it has opened."""

    def __init__(
        self,
        source: str | None = None,
        database: str | None = None,
        seconds: float | None = None,
        table: int | None = TABLE,
    ):
        """Answer by the database that VARIANT|FILE and --database name, or each line's variant, or a search of
        *seconds*. Each variant that is searched has a transposition table of *table* bytes, None for the default."""
        self.source, self.database, self.seconds, self.table = source, database, seconds, table
        self.stack = ExitStack()
        self.found: dict[str, Oracle | RetrogradeError] = {}
        """By variant, its oracle, or the error that prevents one."""
        self.searching: dict[str, SearchingOracle] = {}
        """The oracles that search, by variant."""

    def answers(self, lines: list[InputLine]) -> list[LineAnswer]:
        """Return an answer for each line, in order. A line without one gets an error; one that is searched for gets no
        value yet."""
        from retrograde.solver.play.solution import Solution

        # Step 1: read each line.
        answers: list[LineAnswer] = []
        for line in lines:
            try:
                answers.append(LineAnswer(*self.read(line.text)))
            except BAD as error:
                what = message_of(error) if isinstance(error, RetrogradeError) else f"{type(error).__name__}: {error}"
                answers.append(LineAnswer(error=printable(what)))
        # Step 2: look up all positions of each database together.
        for solution in {id(answer.oracle): answer.oracle for answer in answers if answer.oracle}.values():
            if not isinstance(solution, Solution):
                continue
            own = [k for k, answer in enumerate(answers) if answer.oracle is solution]
            values, plies = solution.lookup(np.array([answers[k].position for k in own], np.int64))
            for k, value, remoteness in zip(own, values.tolist(), plies.tolist(), strict=True):
                answers[k] = answers[k]._replace(value=Value(value), remoteness=remoteness)
                if not value:  # UNDECIDED: the database does not have the position
                    what = f"position {lines[k].text!r} of {solution.variant} cannot be reached"
                    answers[k] = LineAnswer(error=f"{printable(what)} from the start")
        return answers

    def read(self, line: str) -> "tuple[Oracle, int, int]":
        """Return for a line: the oracle that answers, the position, and the plies without progress before it."""
        source, tab, text = line.partition("\t")
        if not tab and self.source is not None:
            source, text = self.source, line
        else:
            if not tab:
                source, _, text = line.partition(" ")
            if not tab and source.count("/") == 7:  # only chess has such positions
                source, text = CHESS, line
            if not text.strip():
                raise PositionError(f"a line is a VARIANT and a position, not {line!r}")
            if re.search(r"[/\\]|\.py\b|\.h5\b", source):  # anyone may have written the line
                raise VariantError(f"a line names a game, not a file, as {source!r} does")
        oracle = self.open(source.strip(), text.strip())
        return oracle, read_position(oracle.game, text.strip()), plies_in(oracle.game, text)

    def open(self, source: str, text: str) -> "Oracle":
        """Return the oracle for VARIANT|FILE. If that is just chess, it is for the men in a text, or the whole game."""
        key = ending_or_chess(text) if source == CHESS else source
        if key not in self.found:
            try:
                self.found[key] = self.stack.enter_context(self.solution(key, source))
            except NoDatabase as error:
                # A search is for the variant on the command line, not for one in a line.
                may_search = self.seconds is not None and self.database is None and source == self.source
                if key == CHESS and not may_search:
                    error = NoDatabase(f"{error}; search it with: retrograde query {CHESS} POSITION")
                self.found[key] = self.search(key, error) if may_search else error
            except RetrogradeError as error:
                self.found[key] = error
        found = self.found[key]
        if isinstance(found, RetrogradeError):
            raise found
        return found

    def search(self, key: str, error: NoDatabase) -> "Oracle | RetrogradeError":
        """Return the oracle that searches a variant, or the error that prevents it."""
        assert self.seconds is not None
        if file_named(key) is not None:
            return error
        if len(self.searching) == MOST_SEARCHED:
            return RetrogradeError(f"{error}; no more than {MOST_SEARCHED} variants are searched at once")
        try:
            self.searching[key] = self.stack.enter_context(open_search(key, self.seconds, error, self.table))
        except RetrogradeError as why:
            return why
        return self.searching[key]

    def solution(self, key: str, source: str) -> "Solution":
        """Return the solution for the variant *key*, from --database if given. *source* is as it was written: if that
        is just chess, the men choose the database."""
        from retrograde.solver.play.solution import solution_of

        if key == CHESS:
            limits = f"more than {men.MOST_MEN} men, or pawns among more than {men.MOST_WITH_PAWNS}"
            raise NoDatabase(f"no database has castling, {limits}")
        if self.database is not None:
            return solution_of(open_source(key, self.database))
        return solution_of(open_source(str(database_with(key)) if source == CHESS else source, None))

    def __enter__(self) -> "BatchReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()


# Chess


def ending_or_chess(text: str) -> str:
    """Return the variant of the ending on a FEN's board; `chess` if it has too many men, or castling rights. Raise
    PositionError for an invalid board.

    >>> ending_or_chess("4k3/8/8/8/8/8/8/4K2R w"), ending_or_chess("4k3/8/8/8/8/8/8/4K2R w K")
    ('chess:KRK', 'chess')
    """
    from retrograde.games.catalog import named_game
    from retrograde.solver.play.tablebase.files import ending_on

    board = fields.read(text)
    try:
        ending_on(board)
    except RetrogradeError:  # no database can have the board
        named_game(CHESS).read(text)  # raises if a search cannot have it either
        return CHESS
    return f"{CHESS}:{men_of(text)}"


def men_of(text: str) -> str:
    """Return the men of a FEN as a variant names them, White's first; raise PositionError for an invalid board.

    >>> men_of("8/8/8/3k4/8/8/2n5/K6R w")
    'KRKN'
    """
    letters = fields.read(text).letters
    white, black = sorted(filter(str.isupper, letters.values())), sorted(filter(str.islower, letters.values()))
    sides = ["".join(man.upper() for man in side if man not in "Kk") for side in (white, black)]
    return f"K{sides[0]}K{sides[1]}"


def database_with(ending: str) -> Path:
    """Return the smallest chess database here that has an ending: its own, or an older one with several endings."""
    from retrograde.games.catalog import named_game, variant
    from retrograde.solver.play.tablebase.files import tiers_made_by_rules

    game: Any = named_game(ending)
    own = database_path(variant(game))
    if own.is_file():
        return own
    tier = men.tier_of(game.material)
    for path in sorted(list_databases(), key=lambda path: path.stat().st_size):
        with suppress(VariantError):
            other: Any = named_game(path.stem.replace(",", ":", 1))
            if other.name == CHESS and tier in other.tiers and tier in tiers_made_by_rules(path):
                return path
    raise NoDatabase(f"no database here has the ending {game.material}; make it with: retrograde solve {variant(game)}")


# Words


def in_columns(lines: Iterable[InputLine], answers: Iterable[LineAnswer], moves: bool) -> Iterator[str]:
    """Yield answers as text separated by tabs: line number, text, value, remoteness, and the moves, best first."""
    for line, answer in zip(lines, answers, strict=True):
        text = printable(line.text.replace("\t", " "))
        if answer.error or not answer.oracle:
            yield f"{line.number}\t{text}\terror\t{answer.error}"
            continue
        position, full = answer.position, ask_oracle(answer.oracle, answer.position, with_line=False) if moves else None
        if answer.value:
            value, plies = NOUNS[answer.value], None if answer.remoteness < 0 else answer.remoteness
        else:
            bounds = full.bounds if full else search(answer.oracle, position)
            value, plies = NOUNS[bounds.value] if bounds.proved else bounds_text(bounds), bounds.remoteness
        columns = [str(line.number), text, value, "" if plies is None else str(plies)]
        yield "\t".join([*columns, moves_in_short(full)] if full else columns)


def search(oracle: "Oracle", position: int) -> "ValueBounds":
    """Return what a search finds out about a position."""
    with show_search(oracle, "searching"):
        return oracle.probe(position)


def moves_in_short(answer: "Answer") -> str:
    """Return the moves of a position, best first, as in `4:tie:12 1:lose:8`; an unknown value is a question mark."""
    each = []
    for one in answer.moves:
        far = "" if one.plies is None else f":{one.plies}"
        each.append(f"{one.choice.name}:{NOUNS[one.choice.brings] if one.choice.value else '?'}{far}")
    return " ".join(each)


LINE_NAMES = {"line": "best_line"}
"""Other names of facts than `query --json` has: here `line` is the number of the line."""


def in_json(lines: Iterable[InputLine], answers: Iterable[LineAnswer], moves: bool) -> Iterator[str]:
    """Yield answers as JSON; with *moves*, everything about the position."""
    from retrograde.solver.play.answer import bounds_json

    for line, answer in zip(lines, answers, strict=True):
        row: dict[str, Any] = {"line": line.number}
        if answer.error or not answer.oracle:
            row |= {"input": line.text, "error": answer.error}
        elif moves:
            facts = ask_oracle(answer.oracle, answer.position, answer.counted).to_json()
            row |= {"input": line.text} | {LINE_NAMES.get(name, name): fact for name, fact in facts.items()}
        elif not answer.value:
            bounds = search(answer.oracle, answer.position)
            row |= {"input": line.text} | bounds_json(answer.oracle.game, answer.position, bounds)
        else:
            remoteness = None if answer.remoteness < 0 else answer.remoteness
            variant = answer.oracle.variant
            row |= {"variant": variant, "input": line.text, "value": NOUNS[answer.value], "remoteness": remoteness}
        yield json_text(row)
