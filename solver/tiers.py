"""Tiers solved, last first: a sweep where play never stays in a tier, retrograde propagation where it may.

Every position has a number, its place in the state space, where its score is, too; a tier is a stretch of both.
"""

from collections import defaultdict
from concurrent.futures import Executor
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RuleError, defines
from retrograde.solver import kernels
from retrograde.solver.examine import examine
from retrograde.solver.expansion import Block, Expander
from retrograde.solver.explore import StateSpace, Stretch
from retrograde.solver.memory import MemoryBudget
from retrograde.solver.score import RemotenessOverflow

Array = np.ndarray[Any, Any]


LARGE = 1 << 17
"""Positions in a tier, on average, from which they no longer fit a core's cache. Children are then looked up in order,
not as they come: half the time for a Connect Four with tiers of millions, a tenth more for one with tiers of thousands.
"""


class Scores:
    """The scores of a state space in the making.

    `scores` uint16[n] or uint32[n] (see score.py), with so many *bits* for plies; `sizes` uint16[n], the number of
    positions symmetric to each, or uint16[0] where the game has no symmetry.
    """

    def __init__(self, expander: Expander, space: StateSpace, bits: int):
        self.expander = expander
        self.space = space
        self.bits = bits
        count = len(space.positions)
        self.large = count >= LARGE * len(space.tiers)
        self.scores = np.zeros(count, np.uint16 if bits <= 14 else np.uint32)
        self.sizes = np.zeros(count if defines(expander.game, "images") else 0, np.uint16)

    @staticmethod
    def bytes_needed(game: Game, space: StateSpace, bits: int) -> int:
        """Return how much memory the arrays will take."""
        return len(space.positions) * ((2 if bits <= 14 else 4) + 2 * defines(game, "images"))

    def stretch(self, row: int) -> tuple[int, int]:
        """Return where tier number *row* begins and ends."""
        return int(self.space.starts[row]), int(self.space.starts[row + 1])

    def expand(self, row: int, begin: int, end: int) -> Block:
        """Return a block with the children, and their places, of a stretch of tier number *row*; note its sizes."""
        positions = self.space.positions[begin:end]
        block = self.expander.expand(int(self.space.tiers[row]), positions, sizes=len(self.sizes) > 0)
        if self.locate(block):
            self.complain(positions, block)
        if len(self.sizes):
            self.sizes[begin:end] = block.sizes
        return block

    def locate(self, block: Block) -> int:
        """Fill the places of the children in a block, and return how many have none."""
        space = self.space
        block.unsorted[:] = False
        if self.large:
            kernels.disorder(block.columns, block.children, block.unsorted)
        for slot in np.flatnonzero(block.unsorted):
            block.order[slot, : block.columns] = np.argsort(block.children[slot, : block.columns])
        return kernels.locate(
            block.columns, block.children, block.tiers, block.unsorted, block.order,
            space.tiers, space.starts, space.positions, block.places,
        )  # fmt: skip

    def complain(self, positions: Array, block: Block) -> None:
        """Raise the RuleError due when a child turns up that exploration has not found."""
        missing = ((block.children >= 0) & (block.places < 0))[:, : block.columns].any(axis=0)
        position = int(positions[block.origins[np.flatnonzero(missing)[0]]])
        examine(self.expander.game, position)
        raise RuleError(
            f"{variant(self.expander.game)}, position {position}: the rules give moves that they did not give before; "
            "they must depend on the position alone"
        )

    def sweep(self, task: list[Stretch]) -> int:
        """Solve stretches of tiers, given by their rows, that no move stays in; return how many positions."""
        for row, first, last in task:
            tier_begin = int(self.space.starts[row])
            for begin, end in self.expander.blocks(tier_begin + first, tier_begin + last):
                block = self.expand(row, begin, end)
                result = self.scores[begin:end]
                if kernels.sweep(
                    block.columns, block.places, block.origins, block.primitives, self.bits, self.scores, result
                ):
                    raise RemotenessOverflow
        return sum(last - first for _, first, last in task)

    def extract(self, rows: list[int]) -> tuple[Array, ...]:
        """Return rows of tiers, their scores and their sizes."""
        parts = [slice(*self.stretch(row)) for row in rows]
        arrays = (self.scores, self.sizes)
        return np.array(rows, np.int64), *(np.concatenate([a[:0], *(a[part] for part in parts)]) for a in arrays)

    def restore(self, rows: Array, scores: Array, sizes: Array) -> int:
        """Take back what `extract` gave, and return how many positions that is."""
        done = 0
        for row in rows.tolist():
            begin, end = self.stretch(row)
            count = end - begin
            self.scores[begin:end] = scores[done : done + count]
            self.sizes[begin:end] = sizes[done : done + count]
            done += count
        return done


def levels(tiers: list[int], edges: set[tuple[int, int]]) -> list[list[int]]:
    """Return the rows of tiers in groups to be solved one after another; in a group no tier depends on another.

    >>> levels([0, 1, 2, 3], {(0, 1), (0, 2), (1, 3), (2, 3), (1, 1)})
    [[3], [1, 2], [0]]
    """
    children = defaultdict(list)
    for tier, child in edges:
        if tier != child:
            children[tier].append(child)
    level: dict[int, int] = {}
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for row, tier in reversed(list(enumerate(tiers))):
        level[tier] = 1 + max((level[child] for child in children[tier]), default=-1)
        groups[level[tier]].append(row)
    return [sorted(groups[number]) for number in sorted(groups)]


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
        self.draw = kernels.DRAW_CLASS << self.bits
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
        kernels.reverse(edges, ends, self.parents, self.begins)

    def look_at(self, stretch: tuple[int, int]) -> tuple[Array, Array]:
        """Divide the children of a block, and return those within the tier, and how many each position has."""
        begin, end = stretch
        block = self.all.expand(self.row, begin, end)
        own = slice(begin - self.low, end - self.low)
        counts = np.empty(end - begin, np.int64)
        count = kernels.divide(
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
            kernels.parents_of(frontier, self.parents, self.begins, out)
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
        won = (group == kernels.WIN_CLASS) & (self.scores == self.undecided)
        pending.add_all(np.flatnonzero(won), self.greatest - plies[won], "win")
        loses = np.flatnonzero(self.scores == kernels.primitive_score(kernels.LOSE, self.bits))
        wins = np.flatnonzero(self.scores == kernels.primitive_score(kernels.WIN, self.bits))
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
            win = kernels.WIN_CLASS << self.bits | self.greatest - remoteness
            wins = self.settle([won_now, *pending.take(remoteness, "win")], win)
            loses = self.settle([ready[~late], *pending.take(remoteness, "lose")], remoteness)

    def propagate_ties(self) -> None:
        pending = Pending()
        seeds = np.flatnonzero((self.best >> self.bits == kernels.TIE_CLASS) & (self.scores == self.undecided))
        pending.add_all(seeds, self.greatest - (self.best[seeds] & self.greatest), "tie")
        ties = np.flatnonzero(self.scores == kernels.primitive_score(kernels.TIE, self.bits))
        remoteness = 0
        while len(ties) or pending:
            if not len(ties):
                remoteness = pending.first() - 1
            remoteness += 1
            if remoteness >= self.greatest - 1:
                raise RemotenessOverflow
            candidates = [self.parents_of(ties), *pending.take(remoteness, "tie")]
            ties = self.settle(candidates, kernels.TIE_CLASS << self.bits | self.greatest - remoteness)

    def settle(self, candidates: list[Array], score: int) -> Array:
        """Give the undecided ones of some positions a score, and return them."""
        positions = np.concatenate(candidates)
        return positions[: kernels.settle(positions, self.undecided, score, self.scores, positions)]

    def count_down(self, positions: Array) -> Array:
        """Note that a child of each position is a WIN, and return those of which all children are."""
        return positions[: kernels.count_down(positions, self.undecided, self.scores, self.left, positions)]


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
