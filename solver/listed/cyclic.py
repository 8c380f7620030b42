"""A tier with cycles solved by retrograde propagation: from what is decided back to the positions that lead there."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from itertools import chain, islice
from typing import Any, NoReturn, TypeVar

import numpy as np

from retrograde.games.game import LOSE, TIE, WIN, defines
from retrograde.solver.listed.tiers import Scores
from retrograde.solver.outcomes import edges
from retrograde.solver.outcomes import propagation_kernels as cycle_kernels
from retrograde.solver.outcomes.score import DRAW_CLASS, TIE_CLASS, WIN_CLASS, RemotenessOverflow
from retrograde.solver.outcomes.score_kernels import primitive_score
from retrograde.solver.rules.second_look import blame_parents
from retrograde.solver.work.memory import MemoryBudget

Array = np.ndarray[Any, Any]
Item = TypeVar("Item")
Result = TypeVar("Result")

BYTES_A_POSITION = 12
"""What a tier takes for each position beside its links: the best score passed up, children left, sums of parents."""
IN_FLIGHT = 16
"""Blocks given to threads whose results are not used yet, so that these do not pile up."""


class Propagation:
    """Outcomes passed back through a tier, from each remoteness to the next; its positions are numbered from 0.

    `scores` comes with what is primitive, and UNDECIDED else; `best` of its type has the greatest score passed up from
    later tiers, 0 for none; `left` says how many distinct children must still turn out to be WINs before the position
    is a LOSE. *parents_of* gives the parents within the tier of some positions, a few at a time, each as often as it
    has distinct children there; it is asked once about each position that is decided.
    """

    def __init__(
        self, bits: int, scores: Array, best: Array, left: Array, parents_of: Callable[[Array], Iterable[Array]]
    ):
        self.bits, self.scores, self.best, self.left, self.parents_of = bits, scores, best, left, parents_of
        self.greatest = (1 << bits) - 1
        self.draw = DRAW_CLASS << bits
        self.undecided = self.draw | 1

    def run(self) -> None:
        """Score all positions.

        A parent of a LOSE is a WIN; an undecided parent of a WIN whose children are all WINs is a LOSE. Then a parent
        of a TIE is a TIE, and what is left is a DRAW.
        """
        self.propagate_wins_and_losses()
        self.propagate_ties()
        self.ask_draws()
        self.scores[self.scores == self.undecided] = self.draw

    def propagate_wins_and_losses(self) -> None:
        pending = Pending()
        undecided = self.scores == self.undecided
        lost = np.flatnonzero(undecided & (self.left == 0))
        pending.add_all(lost, self.best[lost] & self.greatest, "lose")
        won = np.flatnonzero(undecided & (self.best >> self.bits == WIN_CLASS))
        pending.add_all(won, self.greatest - (self.best[won] & self.greatest), "win")
        del undecided, lost, won
        loses = np.flatnonzero(self.scores == primitive_score(LOSE, self.bits))
        wins = np.flatnonzero(self.scores == primitive_score(WIN, self.bits))
        remoteness = 0
        while len(loses) or len(wins) or pending:
            if not len(loses) and not len(wins):
                remoteness = pending.first() - 1
            remoteness += 1
            self.check(remoteness)
            ready = together([self.count_down(parents) for parents in self.parents_of(wins)])
            last = self.best[ready] & self.greatest
            late = last > remoteness  # a child in a later tier holds out longer
            pending.add_all(ready[late], last[late], "lose")
            win = WIN_CLASS << self.bits | self.greatest - remoteness
            wins = self.settle(chain(pending.take(remoteness, "win"), self.parents_of(loses)), win)
            loses = self.settle([ready[~late], *pending.take(remoteness, "lose")], remoteness)

    def propagate_ties(self) -> None:
        pending = Pending()
        seeds = np.flatnonzero((self.scores == self.undecided) & (self.best >> self.bits == TIE_CLASS))
        pending.add_all(seeds, self.greatest - (self.best[seeds] & self.greatest), "tie")
        ties = np.flatnonzero(self.scores == primitive_score(TIE, self.bits))
        remoteness = 0
        while len(ties) or pending:
            if not len(ties):
                remoteness = pending.first() - 1
            remoteness += 1
            self.check(remoteness)
            candidates = chain(pending.take(remoteness, "tie"), self.parents_of(ties))
            ties = self.settle(candidates, TIE_CLASS << self.bits | self.greatest - remoteness)

    def ask_draws(self) -> None:
        """Ask some draws for their parents, which decide nothing, so that wrong ones are told."""
        places = edges.some_of(len(self.scores))
        scores = self.scores[places]
        for _ in self.parents_of(places[(scores == self.undecided) | (scores == self.draw)]):
            pass

    def check(self, remoteness: int) -> None:
        """Raise RemotenessOverflow where there are not enough bits for a remoteness."""
        if remoteness >= self.greatest - 1:
            raise RemotenessOverflow

    def settle(self, candidates: Iterable[Array], score: int) -> Array:
        """Give the undecided ones of some positions a score, and return them."""
        settled = []
        for positions in candidates:
            out = np.empty(len(positions), np.int64)
            settled.append(out[: cycle_kernels.settle(positions, self.undecided, score, self.scores, out)])
        return together(settled)

    def count_down(self, positions: Array) -> Array:
        """Note that a child of each position is a WIN, and return those of which all children are."""
        out = np.empty(len(positions), np.int64)
        return out[: cycle_kernels.count_down(positions, self.undecided, self.scores, self.left, out)]


def solve_cyclic(scores: Scores, row: int, executor: Executor, budget: MemoryBudget) -> None:
    """Solve a tier in which moves may stay."""
    tier = CyclicTier(scores, row, executor)
    tier.gather_children(budget)
    Propagation(scores.bits, tier.scores, tier.best, tier.left, tier.parents_of).run()


class CyclicTier:
    """The children and parents within a tier, whose positions are numbered from 0; see Propagation for its arrays."""

    def __init__(self, scores: Scores, row: int, executor: Executor):
        self.all = scores
        self.row = row
        self.executor = executor
        self.low, self.high = scores.stretch(row)
        self.bits = scores.bits
        self.scores = scores.scores[self.low : self.high]
        count = self.high - self.low
        self.best = np.empty(count, self.scores.dtype)
        self.left = np.empty(count, np.int32)
        self.has_parents = defines(scores.expander.game, "parents")
        self.sums = np.zeros(count if self.has_parents else 0, np.uint32)  # about the parents: see edges.py

    # What is known at first, and who the parents are

    def gather_children(self, budget: MemoryBudget) -> None:
        """Look at all children once: score what is primitive, note what later tiers pass up, and link the rest."""
        count = self.high - self.low
        blocks = list(self.all.expander.blocks(self.low, self.high))
        lists = []
        links = 0
        for number, (children, ends) in enumerate(self.executor.map(self.look_at, blocks)):
            lists.append((children, ends))
            links += children.nbytes
            if number % 64 == 0:
                more = links * len(blocks) // (number + 1) * 3 - links + BYTES_A_POSITION * count
                budget.check(more, f"linking the {count:,} positions of a tier with cycles (less with parents())")
        if self.has_parents:
            return
        children = np.concatenate([children for children, _ in lists])
        ends = np.concatenate([ends for _, ends in lists])
        del lists
        np.cumsum(ends, out=ends)
        self.begins = np.zeros(count + 2, np.int64)
        self.parents = np.empty(len(children), np.int32 if count < 1 << 31 else np.int64)
        cycle_kernels.reverse(children, ends, self.parents, self.begins)

    def look_at(self, stretch: tuple[int, int]) -> tuple[Array, Array]:
        """Divide the children of a block, and return those within the tier, and how many each position has."""
        begin, end = stretch
        block = self.all.expand(self.row, begin, end)
        own = slice(begin - self.low, end - self.low)
        counts = np.empty(end - begin, np.int64)
        count = cycle_kernels.divide(
            block.columns, block.places, block.origins, block.primitives, self.low, self.high, self.bits,
            self.all.scores, self.scores[own], self.best[own], self.left[own], counts, block.out,
        )  # fmt: skip
        if self.has_parents:
            edges.add_up(block.out, counts, begin - self.low, self.sums)
            return counts[:0], counts[:0]
        return block.out[:count].astype(np.int32 if self.high - self.low < 1 << 31 else np.int64), counts

    def parents_of(self, frontier: Array) -> Iterator[Array]:
        """Yield the parents within the tier of some positions, each as often as it has distinct children there."""
        if self.has_parents:
            parts = (frontier[begin:end] for begin, end in self.all.expander.blocks(0, len(frontier)))
            yield from flowing(self.executor, self.ask_parents, parts)
        elif len(frontier):
            room = int((self.begins[frontier + 1] - self.begins[frontier]).sum())
            out = np.empty(room, np.int64)
            cycle_kernels.parents_of(frontier, self.parents, self.begins, out)
            yield out

    def ask_parents(self, frontier: Array) -> Array:
        """Return the parents that the rules give; raise RuleError where they are not those met before."""
        positions = self.all.space.positions[self.low + frontier]
        block = self.all.expander.expand_parents(int(self.all.space.tiers[self.row]), positions)
        self.all.locate(block)  # parents that play cannot reach have no place
        places = block.places[:, : block.columns]
        wrong, mark = edges.compare(frontier, places, self.low, self.scores, self.bits, self.sums)
        if wrong >= 0:
            self.complain_of_parents(int(positions[wrong]), edges.place_of(mark, len(self.scores)))
        return places[places >= 0] - self.low

    def complain_of_parents(self, position: int, missing: int) -> NoReturn:
        """Raise the RuleError due where parents are wrong; *missing* is a place to suspect, -1 for none."""
        own = self.all.space.positions[self.low : self.high]
        places = [missing] * (missing >= 0) + edges.some_of(len(own)).tolist()
        others = map(int, own[places])

        def known(parent: int) -> bool:
            place = int(own.searchsorted(parent))
            return place < len(own) and int(own[place]) == parent

        blame_parents(self.all.expander.game, position, known, others)


def flowing(executor: Executor, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the results for some items in their order, with a bounded number of them under way."""
    waiting = iter(items)
    first = list(islice(waiting, 2))
    if len(first) < 2:  # a thread would cost more than it saves
        yield from map(function, first)
        return
    flying: deque[Future[Result]] = deque()
    for item in chain(first, waiting):
        flying.append(executor.submit(function, item))
        if len(flying) >= IN_FLIGHT:
            yield flying.popleft().result()
    while flying:
        yield flying.popleft().result()


def together(parts: list[Array]) -> Array:
    """Return arrays of positions as one."""
    return np.concatenate([np.empty(0, np.int64), *parts])


class Pending:
    """Positions whose value is certain and due at a remoteness to come, by remoteness and kind."""

    def __init__(self) -> None:
        self.due: dict[int, dict[str, list[Array]]] = {}

    def __bool__(self) -> bool:
        return bool(self.due)

    def first(self) -> int:
        return min(self.due)

    def add_all(self, positions: Array, remoteness: Array, kind: str) -> None:
        """Add positions of one kind, each with its remoteness."""
        order = np.argsort(remoteness, kind="stable")
        positions, remoteness = positions[order], remoteness[order]
        cuts = np.flatnonzero(remoteness[1:] != remoteness[:-1]) + 1
        for part, plies in zip(np.split(positions, cuts), np.split(remoteness, cuts), strict=True):
            if len(part):
                self.due.setdefault(int(plies[0]), {}).setdefault(kind, []).append(part)

    def take(self, remoteness: int, kind: str) -> list[Array]:
        """Remove and return what is due."""
        due = self.due.get(remoteness, {})
        taken = due.pop(kind, [])
        if not due:
            self.due.pop(remoteness, None)
        return taken
