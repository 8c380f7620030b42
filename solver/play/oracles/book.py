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
from retrograde.solver.rules.examine import start_of, to_list
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
NO_LIMIT = 1e9
"""Seconds that mean no limit."""
FIRST_SECONDS = 1.0
"""Seconds of a first search. Then it is known whether play can go round in circles, or a longer search follows."""
TIE_SECONDS = 0.1
"""Seconds for finding a tie's remoteness: it matters little, and may take forever."""
LEAST_TABLE = 1 << 24
"""The least bytes of a thread's transposition table."""
PLIES_MASK = 0xFFFFFFFF
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
    """Make the opening book of a game, and return its path. Raise NoBook if play can go round in circles, or what
    `solve` raises; finished work is kept."""
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
        known = no_positions = wave[:0]
        for ply in range(self.options.plies + 1):
            self.waves.append(wave)
            known = np.union1d(known, wave)
            phase.advance(len(wave))
            if ply < self.options.plies:
                children = [np.unique(block[exists]) for _, block, exists, _ in self.expand_blocks(wave)]
                distinct = np.unique(np.concatenate([no_positions, *children]))
                wave = np.setdiff1d(distinct, known, assume_unique=True)
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

    def expand_blocks(self, positions: Array) -> Iterator[tuple[int, Array, Array, Array]]:
        """Yield blocks: the first position's index, the children, which of them exist, and the columns' positions.

        The children have a column for each undecided position. It is given by its number in the block.
        """
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

    def undecided(self, positions: Array) -> Array:
        """Return those of the book's positions that have no value yet."""
        rest: Array = positions[self.values[self.indices(positions)] == UNDECIDED]
        return rest

    # Searching

    def search(self) -> None:
        """Find the outcomes of the positions of the last ply."""
        # There is no last ply if play always ends before it.
        last = self.waves[-1] if len(self.waves) > self.options.plies else self.waves[-1][:0]
        self.decide_wins_in_one(last)
        undecided = self.undecided(last)
        phase = Phase("searching", self.options.listener, len(undecided), self.course)
        phase.tell()
        # Answers of an earlier run come first; only the others are searched.
        log = self.journal.log("searched", 0.0)
        for resumed in log.resumed:
            self.store_answers(*resumed)
            phase.skip(len(resumed[1]))
        for answers in self.search_all(self.undecided(undecided)):
            self.store_answers(*answers)
            log.add(answers)
            log.write()
            phase.advance(len(answers[1]))
        log.settle()
        phase.end()

    def decide_wins_in_one(self, last: Array) -> None:
        """Decide the positions that the next move wins, without a search."""
        for begin, children, exists, origins in self.expand_blocks(last):
            distinct = np.unique(children[exists])
            # A position whose best child has lost already is won in one ply.
            is_lost = self.find_lost(distinct)
            i = np.minimum(np.searchsorted(distinct, children), len(distinct) - 1)  # padding may be greater than all
            wins = (exists & is_lost[i]).any(axis=0)
            indices = self.indices(last[begin + origins[wins]])
            self.values[indices], self.plies[indices] = WIN, 1 if self.options.distances else NOT_FOUND

    def find_lost(self, positions: Array) -> Array:
        """Return bool[n]: which positions are ends that the player to move has lost; at least one item."""
        is_lost = np.zeros(max(len(positions), 1), bool)
        for begin, end in self.expander.blocks(0, len(positions)):
            own = from_items(positions[begin:end], self.width)
            is_lost[begin:end] = self.expander.expand(LOWEST, own).primitives == LOSE
        return is_lost

    def store_answers(self, positions: Array, values: Array, plies: Array) -> None:
        """Store answers; positions of several words come word by word."""
        indices = self.indices(to_items(positions.reshape(-1, self.width) if self.width else positions))
        self.values[indices], self.plies[indices] = values, plies

    def search_all(self, positions: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the answers for all positions (positions, values, remotenesses), some at a time."""
        workers = self.options.workers or os.cpu_count() or 1
        searches = ProvingThreads(self.game, max(LEAST_TABLE, self.options.size // workers))
        tasks = iter(np.array_split(positions, -(-len(positions) // TASK)) if len(positions) else [])

        def ask(positions: Array) -> tuple[Array, Array, Array]:
            distance, tie_seconds = self.options.distances, self.options.tie_seconds
            rows = from_items(positions, self.width)
            answers = [searches.outcome(position, distance, tie_seconds) for position in to_list(rows)]
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
        waves = [self.undecided(wave) for wave in reversed(self.waves)]
        count = sum(map(len, waves))
        phase = Phase("solving", self.options.listener, count, self.course)
        while count:
            before = count
            for wave in waves:
                self.derive(wave)
            waves = [self.undecided(wave) for wave in waves]
            count = sum(map(len, waves))
            if count == before:
                raise circles_error(self.game)
            phase.advance(before - count)
        phase.end()

    def derive(self, wave: Array) -> None:
        """Decide the positions of a wave whose children all have outcomes."""
        for begin, children, exists, origins in self.expand_blocks(wave):
            # All children are in the book. Cells without a child get some valid index.
            indices = np.where(exists, np.minimum(self.indices(children), len(self.positions) - 1), 0)
            # Step 1: which columns have only known children, and the best value among them: the greatest is the best.
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
        tiers = np.array([*map(self.game.tier, to_list(from_items(self.positions, self.width)))], np.int64)
        order = np.argsort(tiers, kind="stable")
        numbers, counts = np.unique(tiers, return_counts=True)
        positions = from_items(self.positions[order], self.width)
        # Step 2: the legend. Value and remoteness in one int sort as the legend does; -1, a DRAW's remoteness, needs
        # the mask.
        codes = (self.values[order].astype(np.int64) << 32) | (self.plies[order] & PLIES_MASK)
        outcomes, firsts, rows = np.unique(codes, return_index=True, return_inverse=True)
        symmetric = np.bincount(rows, self.sizes[order]).astype(np.int64).tolist()
        # An example is a position or, if that has several words, the number of its row.
        examples = firsts if self.width else positions[firsts]
        legend = [
            LegendRow(Value(code >> 32), -1 if code & PLIES_MASK == PLIES_MASK else code & PLIES_MASK, *further)
            for code, *further in zip(
                outcomes.tolist(), symmetric, np.bincount(rows).tolist(), examples.tolist(), strict=True
            )
        ]
        contents = numbers, counts, legend, (positions, rows.astype(np.uint32))
        solved = SolvedRows(*contents) if self.width else SolvedRecords(*contents, int(positions.max()))
        write_database(path, self.game, solved, lock=lock, book_plies=self.options.plies)
        phase.advance(len(positions))
        phase.end()


def circles_error(game: Game) -> NoBook:
    """Return the error that play can go round in circles."""
    message = f"no book of {variant(game)}: its play can go round in circles, where a search proves no draw"
    if Traits.of(game).has_estimate:
        message += f"; to make one of estimates, which prove nothing: {command_for(game)}"
    return NoBook(message)


class SearchThreads(Generic[AnySearch]):
    """One search for each thread that asks. *make* returns a new one."""

    def __init__(self, make: Callable[[], AnySearch]):
        self.make = make
        self.local = threading.local()
        self.all: list[AnySearch] = []
        self.over = False  # whether all searches must end
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
        """Return the value of an undecided position, and NOT_FOUND or, with *distance*, its remoteness. The search for
        that of a TIE ends after *tie_seconds*."""
        search = self.of_this_thread()
        if self.over:
            raise KeyboardInterrupt  # the result is not needed any more
        seconds = FIRST_SECONDS
        found = search.find(position, seconds, distance=False)
        # Each search goes on from the results of the one before. (Compiling may take all of the first seconds.)
        while found.value is None and not search.cyclic and not self.over:
            seconds *= 2
            found = search.find(position, seconds, distance=False)
        if found.value is None or search.cyclic:
            raise KeyboardInterrupt if self.over else circles_error(self.game)
        value, plies = int(found.value), found.remoteness
        if distance and plies is None:
            limits = iter([tie_seconds]) if value == TIE else repeat(NO_LIMIT)
            while plies is None and not self.over and (limit := next(limits, None)) is not None:
                plies = search.find(position, limit, distance=True).remoteness
        return value, NOT_FOUND if plies is None or not distance else plies
