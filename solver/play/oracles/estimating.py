"""Makes books of estimates: what searches to a depth think of the positions near the start, backed up from there.

A book of proved values (`book.py`) is impossible if play can go round in circles, or if the search would take too long.
The format, and what an estimate is, are in `search/depth/estimated_book.py`. Which positions there are:

- all within some plies of the start, wave by wave, or
- the best first, until there are enough (drop-out expansion: Lincke, 2000). A line costs a ply for each of its moves,
  and another for each usual loss that its moves bring the player who makes them: the median of all losses in the book.
  The cheapest lines are extended::

      start --+0--> a --+0--> b      2 moves, no loss                     2.0, extended first
            --+0--> c -(-30)-> d     2 moves, one of them loses 30        3.5 if the usual loss is 20

Several threads search, each with a transposition table of its own, and a journal beside the book keeps the scores.
"""

import heapq
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median

import numpy as np

from retrograde.databases.location import estimates_path
from retrograde.databases.lock import Lock
from retrograde.games.catalog import variant
from retrograde.games.contract.game import UNDECIDED, Game, Traits
from retrograde.solver.play.oracles.book import NoBook, SearchThreads
from retrograde.solver.rules.examine import examine, refuse_to_search, start_of, to_list
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.progress import Listener, Phase
from retrograde.solver.runtime.sources import journal_digest
from retrograde.solver.search.depth.estimated_book import Origin, origin_of, read_estimates, write_estimates
from retrograde.solver.search.depth.scores import DECIDED, counts_points, score_of
from retrograde.solver.search.depth.searcher import ValueSearch
from retrograde.solver.search.probing.tables import LoadedTables, find_tables

TASK = 16
"""Positions in a task of a thread."""
BATCHES = 20
"""The best-first choice expands at most a twentieth of the book's positions at a time. It then compares lines again."""
PAUSE = 1.0
"""Seconds between two entries of the journal."""


@dataclass(frozen=True)
class EstimatesOptions:
    """Options of a book of estimates: its plies, the depth of the searches, and after how many positions to stop."""

    plies: int
    depth: int
    most: int | None = None
    workers: int | None = None
    fresh: bool = False
    listener: Listener | None = None

    def origin(self, game: Game, tables: LoadedTables | None) -> Origin:
        """Return the origin of the book that these options make, with these endgame tables."""
        return origin_of(game, tables, self.plies, self.depth, self.most)


def make_estimates(game: Game, options: EstimatesOptions, path: str | os.PathLike[str] | None = None) -> Path:
    """Make the book of estimates of a game, and return its path. Raise NoBook if the game has no estimate, or
    NotForSearch; finished work is kept."""
    refuse_estimates(game)
    path = estimates_path(variant(game)) if path is None else Path(path)
    tables = find_tables(game, start_of(game))
    origin = options.origin(game, tables)
    # Scores of other plies are the same, so the journal of a smaller book serves a larger one.
    digest = sha256(
        repr((origin.rules, origin.hints, origin.weights, origin.tables, origin.depth)).encode()
    ).hexdigest()
    journal_path = path.with_name(path.name + ".journal")
    try:
        with Lock(path):
            identity = f"{variant(game)} estimates-{digest} {journal_digest()}"
            with Journal(journal_path, identity, options.fresh) as journal:
                maker = EstimatesMaker(game, options, journal, tables)
                maker.grow()
                maker.write(path, origin)
            with suppress(OSError):  # a remaining journal is useless, but does no harm
                journal_path.unlink()
    finally:
        if tables:
            tables.close()
    return path


def is_complete(game: Game, options: EstimatesOptions, path: Path) -> bool:
    """Return whether the book at *path* is the one that these options make; False if `fresh`, or if there is no file.
    Raise WrongEstimates if the file is no book of estimates."""
    refuse_estimates(game)
    if options.fresh or not path.exists():
        return False
    file, tables = read_estimates(path), find_tables(game, start_of(game))
    if tables:
        tables.close()  # the origin has only their names
    return file.origin == options.origin(game, tables)


def refuse_estimates(game: Game) -> None:
    """Raise NoBook or NotForSearch if there can be no book of estimates of a game."""
    refuse_to_search(game, "a book of estimates")
    if counts_points(game):
        raise NoBook(f"no book of estimates of {variant(game)}: it is for games about values, not about points")
    if not Traits.of(game).has_estimate:
        raise NoBook(f"no book of estimates of {variant(game)}: its rules define no estimate; see docs/searching.md")


@dataclass
class EstimatesMaker:
    """A book of estimates being made. Positions are numbered in the order in which they were found."""

    game: Game
    options: EstimatesOptions
    journal: Journal | None
    tables: LoadedTables | None = None
    positions: list[int] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """The number of each position."""
    plies: list[int] = field(default_factory=list)
    """The plies after which each position was found."""
    children: dict[int, list[int]] = field(default_factory=dict)
    """The children of each position that takes its score from them."""
    scores: list[int] = field(default_factory=list)
    """Scores for the player to move: of a search, of an end, or backed up. 0 until one of these is known."""
    unsearched: list[int] = field(default_factory=list)
    """Positions that no search has scored yet."""
    searching: Phase | None = None
    """The progress of the searches."""

    def __post_init__(self) -> None:
        self.ends: set[int] = set()
        self.log = self.journal.log("searched", PAUSE) if self.journal else None
        self.journaled: dict[int, int] = {}
        for positions, scores in self.log.resumed if self.log else ():
            width = Traits.of(self.game).width
            rows = to_list(positions.reshape(-1, width) if width else positions)
            self.journaled |= zip(rows, scores.tolist(), strict=True)

    # Choosing positions

    def grow(self) -> None:
        """Find the positions and their scores."""
        self.add(start_of(self.game), 0)
        exploring = Phase("exploring", self.options.listener)
        while batch := self.next_batch():
            for number in batch:
                self.expand(number)
            if self.options.most is None:
                exploring.advance(len(batch))
            else:  # the next choice needs the scores
                self.search()
                self.back_up()
        self.close_leaves()
        self.search()
        self.back_up()

    def add(self, position: int, plies: int) -> int:
        """Return the number of a position, which is new or known."""
        if position in self.numbers:
            return self.numbers[position]
        number = self.numbers[position] = len(self.positions)
        self.positions.append(position)
        self.plies.append(plies)
        end = self.game.primitive(position)
        if end == UNDECIDED:
            self.unsearched.append(number)
        else:
            self.ends.add(number)
        self.scores.append(0 if end == UNDECIDED else score_of(end))
        return number

    def expand(self, number: int) -> None:
        """Add the children of a position."""
        children = examine(self.game, self.positions[number])[2]
        self.children[number] = list(dict.fromkeys(self.add(child, self.plies[number] + 1) for child in children))

    def close_leaves(self) -> None:
        """Give each position its children if all of them happen to be in the book."""
        for number in self.leaves():
            children = examine(self.game, self.positions[number])[2]
            if all(child in self.numbers for child in children):
                self.children[number] = list(dict.fromkeys(self.numbers[child] for child in children))

    def leaves(self) -> list[int]:
        """Return the positions without children in the book in which the game goes on."""
        inner_or_end = self.children.keys() | self.ends
        return [number for number in range(len(self.positions)) if number not in inner_or_end]

    def next_batch(self) -> list[int]:
        """Return the positions to expand next, by number; none if the book has enough."""
        leaves = [number for number in self.leaves() if self.plies[number] < self.options.plies]
        if self.options.most is None or not self.children:
            return leaves
        missing = self.options.most - len(self.positions)
        if missing <= 0:
            return []
        costs = self.costs()
        # Leave out positions without a cost: a win or loss is proved there, or on every line that leads there.
        leaves = [number for number in leaves if number in costs]
        leaves.sort(key=lambda number: (costs[number], number))
        # As many as bring the missing positions, if each has as many children as the others on average.
        widths = [len(children) for children in self.children.values()]
        fitting = missing * len(widths) // sum(widths)
        return leaves[: max(1, min(fitting, len(self.positions) // BATCHES))]

    def costs(self) -> dict[int, float]:
        """Return the cost of the cheapest line from the start to each position: its moves, and what they lose. Lines
        avoid positions with a proved win or loss, so some positions have no cost."""
        # What a move loses: the scores are for opposite players, so their sum is 0 for the best move.
        drops = {
            (number, child): self.scores[number] + self.scores[child]
            for number, children in self.children.items() for child in children
            if max(abs(self.scores[number]), abs(self.scores[child])) < DECIDED
        }  # fmt: skip
        losses = [drop for drop in drops.values() if drop > 0]
        usual_loss = median(losses) if losses else 1.0
        costs: dict[int, float] = {}
        queue = [(0.0, 0)]
        while queue:
            cost, number = heapq.heappop(queue)
            if number in costs:
                continue
            costs[number] = cost
            for child in self.children.get(number, ()):
                if child not in costs and (number, child) in drops:
                    heapq.heappush(queue, (cost + 1 + drops[number, child] / usual_loss, child))
        return costs

    # Scores

    def search(self) -> None:
        """Search the positions that have no children in the book and were not searched yet."""
        todo = [number for number in self.unsearched if number not in self.children]
        self.unsearched = []
        phase = self.searching = self.searching or Phase(
            "searching", self.options.listener, self.options.most or len(todo)
        )
        new = []
        for number in todo:
            score = self.journaled.get(self.positions[number])
            if score is None:
                new.append(number)
            else:
                self.scores[number] = score
                phase.skip(1)
        phase.tell()
        for numbers, scores in self.search_all(new):
            for number, score in zip(numbers, scores, strict=True):
                self.scores[number] = score
            if self.log:
                rows = np.array([self.positions[number] for number in numbers], np.int64)
                self.log.add((rows.ravel(), np.array(scores, np.int64)))
                self.log.write()
            phase.advance(len(numbers))
        if self.log:
            self.log.flush()

    def search_all(self, numbers: list[int]) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the scores of positions by searches in several threads, some positions at a time."""
        threads = DepthSearchThreads(self.game, self.tables)
        executor = ThreadPoolExecutor(self.options.workers or os.cpu_count() or 1)
        try:
            tasks = [numbers[begin : begin + TASK] for begin in range(0, len(numbers), TASK)]
            ask = lambda task: [threads.score(self.positions[number], self.options.depth) for number in task]  # noqa: E731
            yield from zip(tasks, executor.map(ask, tasks), strict=True)
        finally:
            threads.halt()
            executor.shutdown(cancel_futures=True)

    def back_up(self) -> None:
        """Score all positions with children by their best child. Play round in circles counts as a draw, 0.

        Round n gives what follows within n plies, with 0 beyond. More plies only bring a score above 0 further up, and
        one below 0 further down, so the scores come to rest.
        """
        inner = np.array([*self.children], np.int64)
        if not len(inner):
            return
        children = np.concatenate([np.array(numbers, np.int64) for numbers in self.children.values()])
        begins = np.cumsum([0, *map(len, self.children.values())])[:-1]
        scores = np.array(self.scores, np.int64)
        scores[inner] = 0
        while True:
            child_scores = scores[children]
            one_ply = np.where(np.abs(child_scores) > DECIDED, np.sign(child_scores), 0)  # wins and losses get farther
            best = np.maximum.reduceat(one_ply - child_scores, begins)
            if (best == scores[inner]).all():
                break
            scores[inner] = best
        self.scores = scores.tolist()

    def write(self, path: Path, origin: Origin) -> None:
        """Write the book."""
        texts = [self.game.write(position) for position in self.positions]
        write_estimates(path, origin, texts[0], dict(zip(texts, self.scores, strict=True)))


class DepthSearchThreads(SearchThreads[ValueSearch]):
    """Depth-limited searches."""

    def __init__(self, game: Game, tables: LoadedTables | None):
        def make() -> ValueSearch:
            search = ValueSearch(game, tables=tables)
            search.find(start_of(game), 1)  # which compiles the kernels
            return search

        super().__init__(make)

    def score(self, position: int, depth: int) -> int:
        """Return the score of a position by a search of *depth* plies."""
        return int(self.of_this_thread().find(position, depth).score)
