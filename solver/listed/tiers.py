"""Tiers solved, last first; where play never stays in a tier, by one sweep over it.

Every position has a number, its place in the state space, where its score is, too; a tier is a stretch of both.
"""

from collections import defaultdict
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RuleError, defines
from retrograde.solver.listed.explore import StateSpace, Stretch
from retrograde.solver.outcomes import score_kernels
from retrograde.solver.outcomes.score import RemotenessOverflow
from retrograde.solver.rules import kernels
from retrograde.solver.rules.examine import examine
from retrograde.solver.rules.expansion import Block, Expander

Array = np.ndarray[Any, Any]


LARGE = 1 << 17
"""Positions in a tier, on average, from which they no longer fit a core's cache. Children are then looked up in order,
not as they come: half the time for a Connect Four with tiers of millions, a tenth more for one with tiers of thousands.
"""
LONGER = 16
"""Where tiers are large, blocks are so many times as long, so that children looked up one after another lie closer."""


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
        self.longer = LONGER if self.large else 1
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
            for begin, end in self.expander.blocks(tier_begin + first, tier_begin + last, self.longer):
                block = self.expand(row, begin, end)
                result = self.scores[begin:end]
                if score_kernels.sweep(
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
