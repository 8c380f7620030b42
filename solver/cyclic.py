"""A tier with cycles solved by retrograde propagation: from what is decided back to the positions that lead there."""

from concurrent.futures import Executor
from typing import Any

import numpy as np

from retrograde.games.game import LOSE, TIE, WIN, defines
from retrograde.solver import cycle_kernels
from retrograde.solver.memory import MemoryBudget
from retrograde.solver.score import DRAW_CLASS, TIE_CLASS, WIN_CLASS, RemotenessOverflow
from retrograde.solver.score_kernels import primitive_score
from retrograde.solver.tiers import Scores

Array = np.ndarray[Any, Any]


def solve_cyclic(scores: Scores, row: int, executor: Executor, budget: MemoryBudget) -> None:
    """Solve a tier in which moves may stay.

    From each remoteness to the next: a parent of a LOSE is a WIN; an undecided parent of a WIN whose children are all
    WINs is a LOSE. Then a parent of a TIE is a TIE, and what is left is a DRAW.
    """
    tier = CyclicTier(scores, row, executor)
    tier.gather_children(budget)
    tier.propagate_wins_and_losses()
    tier.propagate_ties()
    tier.scores[tier.scores == tier.undecided] = tier.draw


class CyclicTier:
    """A tier in the making; its positions are numbered from 0.

    `best` int64[n]: the greatest score passed up from later tiers, -1 for none; `left` int32[n]: how many distinct
    children must still turn out to be WINs before the position is a LOSE.
    """

    def __init__(self, scores: Scores, row: int, executor: Executor):
        self.all = scores
        self.row = row
        self.executor = executor
        self.low, self.high = scores.stretch(row)
        self.bits = scores.bits
        self.greatest = (1 << self.bits) - 1
        self.draw = DRAW_CLASS << self.bits
        self.undecided = self.draw | 1
        self.scores = scores.scores[self.low : self.high]
        count = self.high - self.low
        self.best = np.empty(count, np.int64)
        self.left = np.empty(count, np.int32)
        self.has_parents = defines(scores.expander.game, "parents")

    # What is known at first, and who the parents are

    def gather_children(self, budget: MemoryBudget) -> None:
        """Look at all children once: score what is primitive, note what later tiers pass up, and link the rest."""
        count = self.high - self.low
        blocks = list(self.all.expander.blocks(self.low, self.high))
        lists = []
        links = 0
        for number, (edges, ends) in enumerate(self.executor.map(self.look_at, blocks)):
            lists.append((edges, ends))
            links += edges.nbytes
            if number % 64 == 0:
                more = links * len(blocks) // (number + 1) * 3 - links
                budget.check(more, f"linking the {count:,} positions of a tier with cycles (less with parents())")
        if self.has_parents:
            return
        edges = np.concatenate([edges for edges, _ in lists])
        ends = np.concatenate([ends for _, ends in lists])
        del lists
        np.cumsum(ends, out=ends)
        self.begins = np.zeros(count + 2, np.int64)
        self.parents = np.empty(len(edges), np.int32 if count < 1 << 31 else np.int64)
        cycle_kernels.reverse(edges, ends, self.parents, self.begins)

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
            return counts[:0], counts[:0]
        return block.out[:count].astype(np.int32 if self.high - self.low < 1 << 31 else np.int64), counts

    def parents_of(self, frontier: Array) -> Array:
        """Return the parents within the tier of some positions, each as often as it has distinct children there."""
        if not self.has_parents:
            room = int((self.begins[frontier + 1] - self.begins[frontier]).sum())
            out = np.empty(room, np.int64)
            cycle_kernels.parents_of(frontier, self.parents, self.begins, out)
            return out
        parts = [frontier[begin:end] for begin, end in self.all.expander.blocks(0, len(frontier))]
        return np.concatenate([np.empty(0, np.int64), *self.executor.map(self.ask_parents, parts)])

    def ask_parents(self, frontier: Array) -> Array:
        """Return the parents that the rules give."""
        positions = self.all.space.positions[self.low + frontier]
        block = self.all.expander.expand_parents(int(self.all.space.tiers[self.row]), positions)
        self.all.locate(block)  # parents that play cannot reach have no place
        places = block.places[:, : block.columns]
        return places[places >= 0] - self.low

    # From each remoteness to the next

    def propagate_wins_and_losses(self) -> None:
        pending = Pending()
        group, plies = self.best >> self.bits, self.best & self.greatest
        lost = (self.left == 0) & (self.scores == self.undecided)
        pending.add_all(np.flatnonzero(lost), plies[lost], "lose")
        won = (group == WIN_CLASS) & (self.scores == self.undecided)
        pending.add_all(np.flatnonzero(won), self.greatest - plies[won], "win")
        loses = np.flatnonzero(self.scores == primitive_score(LOSE, self.bits))
        wins = np.flatnonzero(self.scores == primitive_score(WIN, self.bits))
        remoteness = 0
        while len(loses) or len(wins) or pending:
            if not len(loses) and not len(wins):
                remoteness = pending.first() - 1
            remoteness += 1
            if remoteness >= self.greatest - 1:
                raise RemotenessOverflow
            ready = self.count_down(self.parents_of(wins))
            last = np.where(self.best[ready] >= 0, self.best[ready] & self.greatest, 0)
            late = last > remoteness  # a child in a later tier holds out longer
            pending.add_all(ready[late], last[late], "lose")
            won_now = self.parents_of(loses)
            win = WIN_CLASS << self.bits | self.greatest - remoteness
            wins = self.settle([won_now, *pending.take(remoteness, "win")], win)
            loses = self.settle([ready[~late], *pending.take(remoteness, "lose")], remoteness)

    def propagate_ties(self) -> None:
        pending = Pending()
        seeds = np.flatnonzero((self.best >> self.bits == TIE_CLASS) & (self.scores == self.undecided))
        pending.add_all(seeds, self.greatest - (self.best[seeds] & self.greatest), "tie")
        ties = np.flatnonzero(self.scores == primitive_score(TIE, self.bits))
        remoteness = 0
        while len(ties) or pending:
            if not len(ties):
                remoteness = pending.first() - 1
            remoteness += 1
            if remoteness >= self.greatest - 1:
                raise RemotenessOverflow
            candidates = [self.parents_of(ties), *pending.take(remoteness, "tie")]
            ties = self.settle(candidates, TIE_CLASS << self.bits | self.greatest - remoteness)

    def settle(self, candidates: list[Array], score: int) -> Array:
        """Give the undecided ones of some positions a score, and return them."""
        positions = np.concatenate(candidates)
        return positions[: cycle_kernels.settle(positions, self.undecided, score, self.scores, positions)]

    def count_down(self, positions: Array) -> Array:
        """Note that a child of each position is a WIN, and return those of which all children are."""
        return positions[: cycle_kernels.count_down(positions, self.undecided, self.scores, self.left, positions)]


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
        for due in np.unique(remoteness).tolist():
            self.due.setdefault(due, {}).setdefault(kind, []).append(positions[remoteness == due])

    def take(self, remoteness: int, kind: str) -> list[Array]:
        """Remove and return what is due."""
        due = self.due.get(remoteness, {})
        taken = due.pop(kind, [])
        if not due:
            self.due.pop(remoteness, None)
        return taken
