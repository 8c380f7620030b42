"""Rows of a section: the calls of the compiled loops, and what is known of the rows between two plies."""

from typing import NamedTuple

import numpy as np

from retrograde.solver.methods.shapes import kernels
from retrograde.solver.methods.shapes.fit import NotShaped
from retrograde.solver.methods.shapes.kernels import DUE_SLOTS, NEVER, PRIMITIVE, SOURCE, Buffers, Frontier
from retrograde.solver.methods.shapes.layout import TierSections
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score_kernels import count_by_score


class TierOutcomes(NamedTuple):
    """Scores of *bits* bits for plies, and counters of undecided children (see values/score.py).

    They are those of a tier, or of a block alone.
    """

    scores: Array
    children_left: Array
    bits: int


class Block:
    """Rows *begin* to *end* of a section, a row for each shape, and what is known of them between two plies.

    `links` are their edges (`kernels.find_edges`). `due` has for each DUE_SLOTS slots of a row the least remoteness at
    which one of them is due, `undecided` counts the undecided positions of each row, and `lost` and `won` are those
    decided last. *number* is the section's number in the tier. A block that is *alone* has outcomes of its own.
    """

    def __init__(self, sections: TierSections, number: int, begin: int, end: int, alone: bool = False):
        self.sections, self.number, self.begin, self.end = sections, number, begin, end
        arrays = sections.arrays[number]
        # The slot of the first row is `start + begin * len(masks)`; in outcomes of its own it must be 0.
        self.arrays = arrays._replace(start=-begin * len(arrays.masks)) if alone else arrays
        rows, due_blocks = end - begin, -(-len(arrays.masks) // DUE_SLOTS)  # rounded up
        self.links: tuple[Array, Array, Array] = (
            np.zeros(rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16)
        )  # fmt: skip
        self.due = np.full(rows * due_blocks, NEVER, np.uint16)
        self.undecided = np.zeros(rows, np.int64)
        self.lost = self.won = Frontier(np.empty(0, np.int32), np.zeros(rows + 1, np.int64))

    @property
    def slots(self) -> slice:
        """The slots of these rows among those of the outcomes."""
        colourings = len(self.arrays.masks)
        return slice(self.arrays.start + self.begin * colourings, self.arrays.start + self.end * colourings)

    def initialize(self, all_scores: Array, outcomes: TierOutcomes) -> None:
        """Write the initial scores and counters. *all_scores* has the scores of all slots of the game."""
        scores, children_left, bits = outcomes
        if self.sections.steps[self.number].lost:
            scores[self.slots], children_left[self.slots] = 0, PRIMITIVE  # LOSE in 0
            return
        all_declared = kernels.initialize(
            self.sections.board, self.arrays, (self.begin, self.end), all_scores, bits, scores, children_left,
            Buffers.of(self.arrays),
        )  # fmt: skip
        if not all_declared:
            raise NotShaped("a move leads to a section that the steps do not allow for")

    def link(self) -> None:
        """Set `links` to the edges of these rows; leave it empty if no move stays within the tier."""
        if self.arrays.inside:
            rows = self.end - self.begin
            most = rows * int((self.arrays.moves[:, SOURCE] >= 0).sum())  # only men on the board stay in the tier
            begins, edges, moves = np.zeros(rows + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.uint16)
            arguments = self.sections.board, self.arrays, self.begin, self.end
            count = kernels.find_edges(*arguments, begins, edges, moves)
            self.links = begins, edges[:count].copy(), moves[:count].copy()

    def gather(self, outcomes: TierOutcomes, remoteness: int) -> None:
        """Set `due`, `undecided`, and `lost` and `won` to what was decided at a remoteness."""
        masks, starts = self.empty_frontiers((self.end - self.begin) * len(self.arrays.masks))
        counts = kernels.gather(
            self.arrays, self.begin, self.end, outcomes.bits, remoteness, outcomes.scores, outcomes.children_left,
            self.due, self.undecided, *masks, *starts,
        )  # fmt: skip
        self.set_frontiers(masks, starts, counts)

    def advance(self, outcomes: TierOutcomes, frontiers: tuple[Frontier, Frontier], remoteness: int) -> None:
        """Decide the positions that have this remoteness. *frontiers* are the positions decided last of the section
        that moves lead to: (lost, won)."""
        masks, starts = self.empty_frontiers(int(self.undecided.sum()))
        counts = kernels.advance(
            self.sections.board, self.arrays, self.begin, self.end, outcomes.bits, remoteness, self.links, frontiers,
            outcomes.scores, outcomes.children_left, self.due, self.undecided, (*masks, *starts),
            Buffers.of(self.arrays),
        )  # fmt: skip
        self.set_frontiers(masks, starts, counts)

    def empty_frontiers(self, most: int) -> tuple[Array, Array]:
        """Return arrays for the masks of up to *most* positions lost, and won, and for where each row's begin."""
        return np.empty((2, most), np.int32), np.empty((2, self.end - self.begin + 1), np.int64)

    def set_frontiers(self, masks: Array, starts: Array, counts: tuple[int, int]) -> None:
        """Set `lost` and `won` to the first *counts* masks of each."""
        self.lost, self.won = (Frontier(masks[k, : counts[k]].copy(), starts[k]) for k in range(2))

    def finish(self, outcomes: TierOutcomes) -> Array:
        """Write the final scores; return (score, slots, positions, first of these slots) for each score."""
        scores, children_left, bits = outcomes
        sizes = np.empty(self.slots.stop - self.slots.start, np.uint16)
        rows = self.begin, self.end
        kernels.finish(
            self.sections.board, self.arrays, rows, bits, self.sections.full_size, scores, children_left, sizes
        )  # fmt: skip
        return count_by_score(scores[self.slots], sizes, slice(0, len(sizes)), bits)


def concatenate_frontiers(frontiers: list[Frontier]) -> Frontier:
    """Return the frontier of a section from those of its blocks."""
    if len(frontiers) == 1:
        return frontiers[0]
    begins = np.cumsum([0, *(len(frontier.masks) for frontier in frontiers)])  # the last one is the end of all
    starts = [frontier.starts[:-1] + begin for frontier, begin in zip(frontiers, begins, strict=False)]
    masks = np.concatenate([frontier.masks for frontier in frontiers])
    return Frontier(masks, np.concatenate([*starts, begins[-1:]]))


def merge_counts(number: int, blocks: list[tuple[int, Array]]) -> list[list[int]]:
    """Return rows (section *number*, score, slots, positions, first slot), one for each outcome of a section.

    *blocks* has (first slot in the tier, result of `Block.finish`) for each block.
    """
    rows: dict[int, list[int]] = {}
    for start, counts in blocks:
        for score, slots, positions, first in counts.tolist():
            if positions:
                row = rows.setdefault(score, [number, score, 0, 0, start + first])
                row[2] += slots
                row[3] += positions
    return sorted(rows.values())
