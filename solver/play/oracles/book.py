"""Makes opening books: the outcomes of all positions within some plies of the start, for games too large to solve.

Only the last ply is searched; the outcomes of the plies before follow from it, as in any retrograde analysis::

    ply   0 → 1 → 2 → … → last                  found wave by wave, one of each set of symmetric positions
    worth 0 ← 1 ← 2 ← … ← last ← search         each position of the last ply is searched separately

The steps are `explore`, `search`, `pass_up` and `write` of `BookMaker`. Several threads search, each with a
transposition table of its own. A journal beside the book keeps the answers, so that an interrupted book resumes.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from retrograde.databases.layout import NOT_FOUND, LegendRow
from retrograde.databases.location import book_path
from retrograde.databases.lock import Lock
from retrograde.databases.write import SolvedRecords, SolvedRows, write_database
from retrograde.games.catalog import rules_digest, variant
from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, RetrogradeError, Traits, Value
from retrograde.solver.rules.examine import listed, start_of
from retrograde.solver.rules.expansion import Expander
from retrograde.solver.rules.positions import from_items, to_items
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.progress import Course, Listener, Phase
from retrograde.solver.runtime.sources import journal_digest
from retrograde.solver.search.depth.estimated_book import command_for
from retrograde.solver.search.searcher import TABLE_SIZE, Search

if TYPE_CHECKING:
    from retrograde.solver.search.depth.searcher import ValueSearch

AnySearch = TypeVar("AnySearch", bound="Search | ValueSearch")

LOWEST = -(1 << 62)
"""A tier number below all others."""
TASK = 16
"""Positions in a task. They are neighbours, whose searches share many positions."""
SECONDS = 1e9
"""A time limit that means none."""
SOON = 1.0
"""Seconds of a first search, after which it is known whether play can go round in circles."""
TIE_SECONDS = 0.1
"""Seconds for finding a tie's remoteness: it matters little, and may take forever."""
LEAST_TABLE = 1 << 24
"""The least bytes of a thread's transposition table."""
FOR_PARENT = np.array([UNDECIDED, WIN, DRAW, TIE, LOSE], np.uint8)
"""For each value of a child, the value it gives its parent."""


class NoBook(RetrogradeError, ValueError):
    """No book of a game is possible."""


@dataclass(frozen=True)
class BookOptions:
    """Options of a book: its *plies*, whether it has distances, threads, and bytes for their tables."""

    plies: int
    distances: bool = True
    workers: int | None = None
    size: int = TABLE_SIZE
    tie_seconds: float = TIE_SECONDS
    fresh: bool = False
    listener: Listener | None = None


def make_book(game: Game, options: BookOptions, path: str | os.PathLike[str] | None = None) -> Path:
    """Make the opening book of a game, and return its path.

    Raise NoBook if play can go round in circles, or what `solve` raises; finished work is kept.
    """
    path = book_path(variant(game)) if path is None else Path(path)
    what = f"{options.plies}-{'distances' if options.distances else 'values'}"
    identity = f"{variant(game)} {rules_digest(game)}-book-{what} {journal_digest()}"
    journal_path = path.with_name(path.name + ".journal")
    with Lock(path) as lock:
        with Journal(journal_path, identity, options.fresh) as journal:
            maker = BookMaker(game, options, journal)
            maker.explore()
            maker.search()
            maker.pass_up()
            maker.write(path, lock)
        with suppress(OSError):  # a remaining journal is useless, but does no harm
            journal_path.unlink()
    return path


@dataclass
class BookMaker:
    """A book being made: its positions, ascending, with values and remotenesses, and its waves.

    Arrays of positions have one dimension: those of several words are bytes (see `to_items`)."""

    game: Game
    options: BookOptions
    journal: Journal
    course: Course = field(default_factory=Course)
    waves: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.expander = Expander(self.game)
        self.width = Traits.of(self.game).width
        self.course.plan(exploring=0.02, searching=0.95, solving=0.02, writing=0.01)

    # Exploring

    def explore(self) -> None:
        """Find the positions, wave by wave, and the values of those where the game is over."""
        phase = Phase("exploring", self.options.listener, None, self.course)
        start = self.game.canonical(start_of(self.game))
        # Step 1: wave by wave, each without the positions of the waves before.
        wave = to_items(np.array([start], np.int64))
        known = none = wave[:0]
        for ply in range(self.options.plies + 1):
            self.waves.append(wave)
            known = np.union1d(known, wave)
            phase.advance(len(wave))
            if ply < self.options.plies:
                children = [np.unique(block[exists]) for _, block, exists, _ in self.expanded(wave)]
                found = np.unique(np.concatenate([none, *children]))
                wave = np.setdiff1d(found, known, assume_unique=True)
                if not len(wave):
                    break
        # Step 2: for all positions, the values of ends, and how many positions each stands for.
        self.positions = known
        self.values = np.zeros(len(known), np.uint8)
        self.plies = np.full(len(known), NOT_FOUND, np.int64)
        self.sizes = np.ones(len(known), np.int64)
        for begin, end in self.expander.blocks(0, len(known)):
            block = self.expander.expand(LOWEST, from_items(known[begin:end], self.width), sizes=True)
            self.sizes[begin:end] = block.sizes
            self.values[begin:end] = block.primitives
        self.plies[self.values != UNDECIDED] = 0
        phase.end()

    def expanded(self, positions: Array) -> Iterator[tuple[int, Array, Array, Array]]:
        """Yield blocks: the first position's index, the children (a column each), which of them exist, and each
        column's position."""
        for begin, end in self.expander.blocks(0, len(positions)):
            block = self.expander.expand(LOWEST, from_items(positions[begin:end], self.width))
            columns = block.columns
            children = block.children[:, :columns].copy()
            exists = (children[..., 0] if self.width else children) >= 0
            if self.width:
                children = to_items(children.reshape(-1, self.width)).reshape(exists.shape)
            yield begin, children, exists, block.origins[:columns].astype(np.int64)

    def indices(self, positions: Array) -> Array:
        """Return the indices of positions among all positions of the book."""
        return np.searchsorted(self.positions, positions)

    # Searching

    def search(self) -> None:
        """Find the outcomes of the positions of the last ply."""
        # There is no last ply if play always ends before it.
        last = self.waves[-1][: None if len(self.waves) > self.options.plies else 0]
        self.decide_at_once(last)
        open_ = last[self.values[self.indices(last)] == UNDECIDED]
        phase = Phase("searching", self.options.listener, len(open_), self.course)
        phase.tell()
        # Answers of an earlier run come first; only the others are searched.
        log = self.journal.log("searched", 0.0)
        for found in log.resumed:
            self.take(*found)
            phase.skip(len(found[1]))
        open_ = open_[self.values[self.indices(open_)] == UNDECIDED]
        for answers in self.answered(open_):
            self.take(*answers)
            log.add(answers)
            log.write()
            phase.advance(len(answers[1]))
        log.settle()
        phase.end()

    def decide_at_once(self, last: Array) -> None:
        """Decide the positions that the next move wins, without a search."""
        for begin, children, exists, origins in self.expanded(last):
            distinct = np.unique(children[exists])
            # A position whose best child has lost already is won in one ply.
            lost = self.is_lost(distinct)
            wins = (exists & lost[np.minimum(np.searchsorted(distinct, children), len(distinct) - 1)]).any(axis=0)
            indices = self.indices(last[begin + origins[wins]])
            self.values[indices], self.plies[indices] = WIN, 1 if self.options.distances else NOT_FOUND

    def is_lost(self, positions: Array) -> Array:
        """Return which positions the player to move has lost because the game is over."""
        lost = np.zeros(max(len(positions), 1), bool)
        for begin, end in self.expander.blocks(0, len(positions)):
            own = from_items(positions[begin:end], self.width)
            lost[begin:end] = self.expander.expand(LOWEST, own).primitives == LOSE
        return lost

    def take(self, positions: Array, values: Array, plies: Array) -> None:
        """Store answers; positions of several words come word by word."""
        indices = self.indices(to_items(positions.reshape(-1, self.width) if self.width else positions))
        self.values[indices], self.plies[indices] = values, plies

    def answered(self, positions: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the answers for all positions (positions, values, remotenesses), some at a time."""
        workers = self.options.workers or os.cpu_count() or 1
        searches = ProvingThreads(self.game, max(LEAST_TABLE, self.options.size // workers))
        tasks = iter(np.array_split(positions, -(-len(positions) // TASK)) if len(positions) else [])

        def ask(positions: Array) -> tuple[Array, Array, Array]:
            distance, tie_seconds = self.options.distances, self.options.tie_seconds
            rows = from_items(positions, self.width)
            answers = [searches.outcome(position, distance, tie_seconds) for position in listed(rows)]
            values, plies = zip(*answers, strict=True)
            return rows.ravel(), np.array(values, np.uint8), np.array(plies, np.int64)

        running: set[Future[tuple[Array, Array, Array]]] = set()
        executor = ThreadPoolExecutor(workers)
        try:
            while True:
                # Two tasks for each worker, so that none waits.
                while len(running) < 2 * workers and (task := next(tasks, None)) is not None:
                    running.add(executor.submit(ask, task))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            searches.halt()
            executor.shutdown(cancel_futures=True)

    # Passing up

    def pass_up(self) -> None:
        """Find the outcomes of all other positions, from their children."""
        waiting = [wave[self.values[self.indices(wave)] == UNDECIDED] for wave in reversed(self.waves)]
        phase = Phase("solving", self.options.listener, sum(map(len, waiting)), self.course)
        while sum(map(len, waiting)):
            before = sum(map(len, waiting))
            for wave in waiting:
                self.derive(wave)
            waiting = [wave[self.values[self.indices(wave)] == UNDECIDED] for wave in waiting]
            if (left := sum(map(len, waiting))) == before:
                raise circles(self.game)
            phase.advance(before - left)
        phase.end()

    def derive(self, wave: Array) -> None:
        """Decide the positions of a wave whose children all have outcomes."""
        for begin, children, exists, origins in self.expanded(wave):
            indices = np.where(exists, np.minimum(self.indices(children), len(self.positions) - 1), 0)
            # Step 1: which columns have only known children, and the best value among them.
            known = (~exists | (self.values[indices] != UNDECIDED)).all(axis=0)
            values = np.where(exists, FOR_PARENT[self.values[indices]], UNDECIDED)
            best = values.max(axis=0)
            # Step 2: the remoteness, from the children that give the best value. The loser takes the latest, others the
            # soonest. If the plies of one of these children are unknown (NOT_FOUND), so is it.
            plies = np.where(values == best, np.minimum(self.plies[indices] + 1, NOT_FOUND), -1)
            latest = plies.max(axis=0)
            soonest = np.where(plies < 0, NOT_FOUND, plies).min(axis=0)
            far = np.where((best == LOSE) | (latest == NOT_FOUND), latest, soonest)
            indices = self.indices(wave[begin + origins[known]])
            self.values[indices] = best[known]
            self.plies[indices] = far[known] if self.options.distances else NOT_FOUND

    # Writing

    def write(self, path: Path, lock: Lock) -> None:
        """Write the book, with records sorted by tier and position."""
        phase = Phase("writing", self.options.listener, len(self.positions), self.course)
        if not self.options.distances:
            self.plies[self.values != DRAW] = NOT_FOUND
        self.plies[self.values == DRAW] = -1
        # Step 1: sort the records by tier, then by position.
        tiers = np.array([*map(self.game.tier, listed(from_items(self.positions, self.width)))], np.int64)
        order = np.argsort(tiers, kind="stable")
        numbers, counts = np.unique(tiers, return_counts=True)
        positions = from_items(self.positions[order], self.width)
        # Step 2: the legend. Value and remoteness in one int sort as the legend does; -1, a DRAW's remoteness, needs
        # the mask.
        codes = self.values[order].astype(np.int64) << 32 | self.plies[order] & 0xFFFFFFFF
        outcomes, firsts, rows = np.unique(codes, return_index=True, return_inverse=True)
        symmetric = np.bincount(rows, self.sizes[order]).astype(np.int64).tolist()
        # An example is a position or, if that has several words, the number of its row.
        examples = firsts if self.width else positions[firsts]
        legend = [
            LegendRow(Value(code >> 32), -1 if code & 0xFFFFFFFF == 0xFFFFFFFF else code & 0xFFFFFFFF, *counted)
            for code, *counted in zip(
                outcomes.tolist(), symmetric, np.bincount(rows).tolist(), examples.tolist(), strict=True
            )
        ]
        found = numbers, counts, legend, (positions, rows.astype(np.uint32))
        solved = SolvedRows(*found) if self.width else SolvedRecords(*found, int(positions.max()))
        write_database(path, self.game, solved, lock=lock, book_plies=self.options.plies)
        phase.advance(len(positions))
        phase.end()


def circles(game: Game) -> NoBook:
    """Return the error that play can go round in circles."""
    error = f"no book of {variant(game)}: its play can go round in circles, where a search proves no draw"
    if Traits.of(game).has_estimate:
        error += f"; to make one of estimates, which prove nothing: {command_for(game)}"
    return NoBook(error)


class SearchThreads(Generic[AnySearch]):
    """One search for each thread that asks. *make* returns a new one."""

    def __init__(self, make: Callable[[], AnySearch]):
        self.make = make
        self.local = threading.local()
        self.all: list[AnySearch] = []
        self.over = False
        self.making = threading.Lock()

    def of_this_thread(self) -> AnySearch:
        """Return this thread's search."""
        if not hasattr(self.local, "search"):
            with self.making:  # so that kernels are compiled only once
                self.local.search = self.make()
                self.all.append(self.local.search)
        search: AnySearch = self.local.search
        return search

    def halt(self) -> None:
        self.over = True
        for search in self.all:
            search.halt()


class ProvingThreads(SearchThreads[Search]):
    """Searches that prove values, with transposition tables of *size* bytes."""

    def __init__(self, game: Game, size: int):
        super().__init__(lambda: Search(game, 1, size))
        self.game = game

    def outcome(self, position: int, distance: bool, tie_seconds: float) -> tuple[int, int]:
        """Return the value of an undecided position, and its remoteness or NOT_FOUND."""
        search = self.of_this_thread()
        if self.over:
            raise KeyboardInterrupt
        found = search.find(position, SOON, distance=False)
        while found.value is None and not search.cyclic and not self.over:
            found = search.find(position, SECONDS, distance=False)
        if found.value is None or search.cyclic:
            raise KeyboardInterrupt if self.over else circles(self.game)
        value, plies = int(found.value), found.remoteness
        if distance and plies is None:
            limits = iter([tie_seconds]) if value == TIE else repeat(SECONDS)
            while plies is None and not self.over and (limit := next(limits, None)) is not None:
                plies = search.find(position, limit, distance=True).remoteness
        return value, NOT_FOUND if plies is None or not distance else plies
