"""`retrograde compare`: compares a database of chess endings with other people's tables."""

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from retrograde.cli import options
from retrograde.cli.common import open_source, print_json
from retrograde.cli.failure import Failure
from retrograde.cli.progress import progress_listener
from retrograde.cli.render.words import NOUNS, heading, indent
from retrograde.games import DRAW, LOSE, WIN, Value
from retrograde.games.contract.game import METRICS, is_none
from retrograde.games.contract.text import printable
from retrograde.games.contract.zeroing import DTZ, category, signed_distance
from retrograde.solver.runtime.progress import Phase

if TYPE_CHECKING:
    from retrograde.databases import Database
    from retrograde.solver.play.solution import Solution

Facts = dict[str, Any]
MOST_SHOWN = 10
"""How many differing positions are shown."""
TOGETHER = 1 << 12
"""How many positions are looked up at once."""
LONGEST_PROBE = 20.0
"""Seconds after which a table counts as damaged: python-chess loops for ever in some damaged tables."""


class ForeignTables(Protocol):
    """Other people's tables, in a folder."""

    name: str
    what: str
    """What the tables say about a position."""
    pattern: str
    """A pattern of the names of their files."""

    def __init__(self, folder: Path): ...

    def probe(self, board: Any) -> Any:
        """Return what the tables say of a position, for the player to move; raise MissingTableError if they lack its
        men."""

    def of_ours(self, value: Value, remoteness: int) -> Any:
        """Return what the tables should say of a position whose value and remoteness we know."""

    def is_alike(self, ours: Any, theirs: Any) -> bool:
        """Return whether both agree about a position that the tables have."""
        return bool(ours == theirs)

    def in_words(self, theirs: Any) -> str:
        """Return in words what the tables say."""

    @property
    def counted(self) -> dict[str, int]:
        """Other counts, by name."""
        return {}

    @property
    def note(self) -> str:
        """The other counts in words; "" if there is none."""
        return ""


class Syzygy(ForeignTables):
    """Wins, losses and draws without the fifty-move rule. Results that the rule would change are counted."""

    name, what, pattern = "Syzygy", "values", "*.rtbw"

    def __init__(self, folder: Path):
        from chess import syzygy

        self.tables = syzygy.open_tablebase(str(folder))
        self.too_long = 0

    @property
    def counted(self) -> dict[str, int]:
        return {"too_long": self.too_long}

    @property
    def note(self) -> str:
        what = f"of these {self.too_long:,} wins and losses take longer than the fifty-move rule allows"
        return what if self.too_long else ""

    def probe(self, board: Any) -> Value:
        """Return the value in their table, for the side to move. Count those that the fifty-move rule makes draws."""
        theirs = self.tables.probe_wdl(board)
        self.too_long += abs(theirs) == 1  # a cursed win or a blessed loss; 2 is a real one
        return WIN if theirs > 0 else LOSE if theirs < 0 else DRAW

    def of_ours(self, value: Value, remoteness: int) -> Value:
        return value if value in (WIN, LOSE) else DRAW

    def in_words(self, theirs: Value) -> str:
        return NOUNS[theirs]


class SyzygyZeroing(ForeignTables):
    """The distance to zeroing in plies, negative for the loser, 0 for a draw. The tables may have it one ply too
    low."""

    name, what, pattern = "Syzygy", "distances to zeroing", "*.rtbz"

    def __init__(self, folder: Path):
        from chess import syzygy

        self.tables = syzygy.open_tablebase(str(folder))
        self.rounded = 0

    @property
    def counted(self) -> dict[str, int]:
        return {"rounded": self.rounded}

    @property
    def note(self) -> str:
        return f"of these {self.rounded:,} are rounded there, by a ply" if self.rounded else ""

    def probe(self, board: Any) -> int:
        return int(self.tables.probe_dtz(board))

    def of_ours(self, value: Value, remoteness: int) -> int:
        return signed_distance(value, max(remoteness, 1))  # mate is 1 there

    def is_alike(self, ours: int, theirs: int) -> bool:
        """Return whether two distances agree, or theirs is one ply nearer by rounding; count the latter."""
        nearer = ours - 1 if ours > 1 else ours + 1 if ours < -1 else ours  # one ply nearer, but never 0
        is_rounded = theirs == nearer and nearer != ours and category_of(theirs) == category_of(ours)
        self.rounded += is_rounded
        return theirs == ours or is_rounded

    def in_words(self, theirs: int) -> str:
        return f"zeroing in {abs(theirs)} plies, {'won' if theirs > 0 else 'lost'}" if theirs else "a draw"


def category_of(plies: int) -> str:
    """Return the value of a signed distance to zeroing under the fifty-move rule."""
    return category(WIN if plies > 0 else LOSE if plies < 0 else DRAW, abs(plies))


class Gaviota(ForeignTables):
    """The distance to mate in plies, negative for the loser, 0 for a draw."""

    name, what, pattern = "Gaviota", "distances to mate", "*.gtb.cp4"

    def __init__(self, folder: Path):
        from chess import gaviota

        self.tables = gaviota.open_tablebase(str(folder))

    def probe(self, board: Any) -> int:
        return int(self.tables.probe_dtm(board))

    def of_ours(self, value: Value, remoteness: int) -> int:
        return remoteness if value == WIN else -remoteness if value == LOSE else 0

    def in_words(self, theirs: int) -> str:
        return f"mate in {abs(theirs)} plies, {'won' if theirs > 0 else 'lost'}" if theirs else "a draw, or mate"


KINDS = {METRICS[0]: (Syzygy, Gaviota), DTZ: (SyzygyZeroing,)}
"""The kinds of tables for each metric of a database."""


class TableComparison:
    """A comparison with one kind of tables: counts of equal positions and of missing tables, and the differing
    positions."""

    def __init__(self, tables: ForeignTables):
        self.tables = tables
        self.alike = 0
        self.differ: list[tuple[str, str, str]] = []
        self.missing: Counter[str] = Counter()

    def compare(self, fen: str, board: Any, value: Value, remoteness: int) -> None:
        """Compare a position whose value and remoteness we know."""
        try:
            with limit_time(LONGEST_PROBE):
                theirs = self.tables.probe(board)
        except Exception as error:  # python-chess may raise anything on a damaged file
            if is_missing(error):
                self.missing[men_of(board)] += 1
                return
            what = f"{self.tables.name}'s table of {men_of(board)}, or of what follows, cannot be read"
            why = printable(f"{type(error).__name__}: {error}".rstrip(": "))
            raise Failure(f"error: {what} ({why}); the file may be damaged: fetch it again, or move it away") from error
        ours = self.tables.of_ours(value, remoteness)
        if self.tables.is_alike(ours, theirs):
            self.alike += 1
        else:
            self.differ.append((fen, self.tables.in_words(ours), self.tables.in_words(theirs)))

    @property
    def facts(self) -> Facts:
        differ = [{"position": fen, "ours": ours, "theirs": theirs} for fen, ours, theirs in self.differ]
        facts = {"tables": self.tables.name, "alike": self.alike, "differ": differ, "missing": dict(self.missing)}
        return facts | self.tables.counted


def is_missing(error: Exception) -> bool:
    """Return whether python-chess reports that there is no table."""
    from chess import gaviota, syzygy

    return isinstance(error, syzygy.MissingTableError | gaviota.MissingTableError)


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if a block of Python takes longer. On Windows and outside the main thread there is no
    limit."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer in {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@click.command()
@options.source
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), shell_complete=options.complete_files)
@options.number("--positions", 5_000, "How many positions to compare, selected at random.")
@click.option("--all", "every", is_flag=True, help="Compare all positions, counting symmetric ones once.")
@options.seed
@options.database
@options.json
def command(
    source: str, folder: Path, positions: int, every: bool, seed: int, database: str | None, as_json: bool
) -> None:
    """Compare a database of chess endings with the tables in FOLDER, position by position.

    The command compares values with Syzygy's tables (.rtbw), and distances to mate with Gaviota's (.gtb.cp4). It
    compares a database with distances to zeroing, such as chess:KRK@dtz, with Syzygy's .rtbz tables. python-chess reads
    the tables: pip install chess. The exit status is 1 if something differs.

    \b
    Examples:
      retrograde compare chess:KRK syzygy
      retrograde compare chess:KRK syzygy --positions 500 --json
      retrograde compare chess:KRK@dtz tables
    """
    from retrograde.solver.play.solution import solution_of

    if every:
        options.refuse_options(("positions", "seed"), "is for random positions: not with --all")
    with solution_of(open_source(source, database)) as solution, progress_listener(as_json) as line:
        comparisons = [TableComparison(tables) for tables in tables_in(folder, kinds_for(solution.database))]
        variant, metric, done = solution.database.file.variant, solution.database.metric, 0
        phase = Phase("comparing", line, None if every else positions)
        for fen, value, remoteness in all_positions(solution) if every else sample(solution, positions, seed):
            board = board_of(fen)
            for comparison in comparisons:
                comparison.compare(fen, board, value, remoteness)
            done += 1
            phase.advance(1)
        phase.end()
    beside = [comparison.facts for comparison in comparisons]
    facts = {"variant": variant, "metric": metric, "positions": done, "beside": beside}
    if as_json:
        print_json(facts)
    else:
        named = f"{variant}@{metric}" if metric != METRICS[0] else variant
        click.echo(f"{heading(named)}: {done:,} positions beside the tables in {folder}")
        for comparison in comparisons:
            print_comparison(comparison)
    if any(comparison.differ for comparison in comparisons):
        raise Failure("", 1)


def tables_in(folder: Path, wanted_kinds: tuple[type[ForeignTables], ...]) -> Iterator[ForeignTables]:
    """Yield the tables in a folder, by kind."""
    if not folder.is_dir():
        raise click.UsageError(f"no folder {str(folder)!r}")
    kinds = [kind for kind in wanted_kinds if next(folder.glob(kind.pattern), None)]
    if not kinds:
        wanted = " and no ".join(f"{kind.name}'s ({kind.pattern})" for kind in wanted_kinds)
        raise click.UsageError(f"no tables in {str(folder)!r}: no {wanted}")
    try:
        yield from [kind(folder) for kind in kinds]
    except ModuleNotFoundError as error:
        raise Failure("error: others' tables are read by python-chess; get it with: pip install chess") from error


def kinds_for(database: "Database") -> tuple[type[ForeignTables], ...]:
    """Return the kinds of tables that a database can be compared with; raise Failure if there are none."""
    variant = database.file.variant
    if variant.partition(":")[0] != "chess":
        raise Failure(f"error: others' tables are of chess, not of {variant}")
    if database.metric not in KINDS:
        what = f"values, distances to mate and to zeroing are compared, and {variant}@{database.metric} has others"
        raise Failure(f"error: {what}; name {variant} or {variant}@{DTZ}")
    return KINDS[database.metric]


def sample(solution: "Solution", count: int, seed: int) -> Iterator[tuple[str, Value, int]]:
    """Yield *count* random positions of a database, as (FEN, value, remoteness)."""
    from random import Random

    import numpy as np

    contents: Any = solution.database.file.contents
    tiers, bounds = contents.tiers  # tier number k has the slots from bounds[k] to bounds[k + 1]
    game: Any = solution.game
    chance = Random(seed)
    left = count
    while left:
        positions: list[int] = []
        while len(positions) < min(left, TOGETHER):
            slot = chance.randrange(int(bounds[-1]))
            row = int(np.searchsorted(bounds, slot, "right")) - 1
            position = game.unindex(int(tiers[row]), slot - int(bounds[row]))
            positions += [] if is_none(position) else [position]
        values, remotenesses = solution.lookup(positions)
        for position, value, remoteness in zip(positions, values.tolist(), remotenesses.tolist(), strict=True):
            yield game.write(position), Value(value), remoteness
        left -= len(positions)


def all_positions(solution: "Solution") -> Iterator[tuple[str, Value, int]]:
    """Yield all positions of a database, like `sample`."""
    from retrograde.solver.play.listing import Listing

    for chunk in Listing(solution.database):
        columns = chunk.each(), chunk.values.tolist(), chunk.remoteness.tolist()
        for position, value, remoteness in zip(*columns, strict=True):
            yield solution.game.write(position), Value(value), remoteness


def board_of(fen: str) -> Any:
    from chess import Board

    return Board(fen)


def men_of(board: Any) -> str:
    """Return the men of a position in the notation of tables, `KRvKN`."""
    from chess import syzygy

    return str(syzygy.calc_key(board))


def print_comparison(comparison: TableComparison) -> None:
    """Print how many positions have the same value here and in the other tables, and the first that differ."""
    tables, differ = comparison.tables, comparison.differ
    click.echo(f"{tables.name}, {tables.what}: {comparison.alike:,} alike, {len(differ):,} differ")
    if tables.note:
        click.echo(indent(tables.note))
    for men, count in sorted(comparison.missing.items()):
        click.echo(indent(f"{count:,} were not compared: there is no table of {men}"))
    for fen, ours, theirs in differ[:MOST_SHOWN]:
        click.echo(indent(f"{fen}  here {ours}, there {theirs}"))
    if len(differ) > MOST_SHOWN:
        click.echo(indent(f"and {len(differ) - MOST_SHOWN:,} more; --json has them all"))
