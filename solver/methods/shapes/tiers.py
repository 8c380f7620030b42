"""Solves a tier shape by shape; the package's docstring lists the steps."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import RuleError
from retrograde.games.kinds.placements import NONE
from retrograde.solver.methods.shapes import kernels
from retrograde.solver.methods.shapes.fit import NotShaped, steps_agree
from retrograde.solver.methods.shapes.kernels import (
    DECIDED,
    DUE_SLOTS,
    NEVER,
    PRIMITIVE,
    Board,
    Buffers,
    Frontier,
    SectionArrays,
)
from retrograde.solver.methods.shapes.layout import board_of, sections_of
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.values.score import RemotenessOverflow
from retrograde.solver.values.score_kernels import count_by_score

Array = np.ndarray[Any, Any]
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Runs a function for several arguments, perhaps on several threads; yields the results in order."""
Report = Callable[[int, int], None]
"""Called with the number of decided positions and the remoteness."""

BLOCK = 1 << 18
"""Slots in a task, about."""
CHECKS, CHECK_SLOTS = 6, 1 << 15
"""Positions of a section whose steps are compared with the rules: CHECKS, and one for each CHECK_SLOTS slots."""


class ShapeProgress(NamedTuple):
    """The progress at a checkpoint of a tier: what has at most this remoteness is decided."""

    remoteness: int


class Block:
    """Rows *begin* to *end* of a section, and what is known of them between two plies.

    `links` are their edges (`kernels.find_edges`). `due` has for each DUE_SLOTS slots of a row the least remoteness at
    which one of them is due, `undecided` counts the undecided positions of each row, and `lost` and `won` are those
    decided last.
    """

    def __init__(self, arrays: SectionArrays, begin: int, end: int):
        self.arrays, self.begin, self.end = arrays, begin, end
        rows = end - begin
        self.links: tuple[Array, Array, Array] = (
            np.zeros(rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16)
        )  # fmt: skip
        self.due = np.full(rows * (-(-len(arrays.masks) // DUE_SLOTS)), NEVER, np.uint16)
        self.undecided = np.zeros(rows, np.int64)
        self.lost = self.won = Frontier(np.empty(0, np.int32), np.zeros(rows + 1, np.int64))

    @property
    def slots(self) -> slice:
        """The slots of these rows within the tier."""
        ways = len(self.arrays.masks)
        return slice(self.arrays.start + self.begin * ways, self.arrays.start + self.end * ways)


class ShapeTier:
    """Solves a tier: scores of *every* slot of the game are given, those of this tier are written to *scores*.

    *begin_of* returns the first slot of a tier. All later tiers must be solved. Raises NotShaped if the steps that the
    game declares do not fit together, and RuleError if they differ from the rules.
    """

    def __init__(
        self, game: Any, tier: int, begin_of: Callable[[int], int], every: Array, scores: Array, bits: int
    ):  # fmt: skip
        self.game, self.tier, self.every, self.scores, self.bits = game, tier, every, scores, bits
        self.board: Board = board_of(game)
        known = list(sections_of(game, tier, begin_of, bits))
        sections = [section for section, *_ in known]
        self.steps = [steps for _, steps, *_ in known]
        self.arrays = [arrays for *_, arrays in known]
        self.after = [
            sections.index(after.moved) if after.moved and arrays.inside else NONE for *_, after, arrays in known
        ]
        """For each section, the number of the section after a move within the tier."""
        self.children_left = np.zeros(len(scores), np.uint8)
        """Counters of undecided children (see values/score.py)."""
        self.blocks: list[list[Block]] = []
        for arrays in self.arrays:
            rows = max(1, BLOCK // len(arrays.masks))
            ends = range(0, len(arrays.shapes), rows)
            self.blocks.append([Block(arrays, begin, min(begin + rows, len(arrays.shapes))) for begin in ends])

    def solve(self, run: Run, report: Report, checkpoint: Checkpoint) -> Array:
        """Solve the tier; return the counts of its outcomes (see `legend.py` of the numbered method)."""
        self.check()
        run = map if len(self.scores) <= BLOCK else run  # threads gain nothing
        every = [(block, number) for number, blocks in enumerate(self.blocks) for block in blocks]
        if checkpoint.progress:
            checkpoint.load(self.scores, self.children_left)
        else:
            for _ in run(self.look, every):
                pass
        if any(arrays.inside for arrays in self.arrays):
            self.propagate(run, report, checkpoint)
        else:
            self.children_left[:] = DECIDED
        return np.array(self.count(run), np.int64)

    def check(self) -> None:
        """Compare the steps with the rules at some positions of each section."""
        for arrays, steps in zip(self.arrays, self.steps, strict=True):
            slots = len(arrays.shapes) * len(arrays.masks)
            checks = min(slots, CHECKS + slots // CHECK_SLOTS)
            for slot in np.linspace(arrays.start, arrays.start + slots - 1, checks).astype(np.int64).tolist():
                position = self.game.unindex(self.tier, slot)
                if position != NONE and not steps_agree(self.game, position, steps):
                    where = f"{variant(self.game)}, position {position}"
                    raise RuleError(
                        f"{where}: section_steps() differs from the other rules; correct it or leave it out"
                    )

    def look(self, task: tuple[Block, int]) -> None:
        """Write the initial scores and counters of a block; number is that of its section."""
        block, number = task
        if self.steps[number].lost:
            self.scores[block.slots], self.children_left[block.slots] = 0, PRIMITIVE  # LOSE in 0
        else:
            fine = kernels.look(
                self.board, block.arrays, (block.begin, block.end), self.every, self.bits, self.scores,
                self.children_left, Buffers.of(block.arrays),
            )  # fmt: skip
            if not fine:
                raise NotShaped("a move leads to a section that the steps do not allow for")

    # Ply by ply

    def propagate(self, run: Run, report: Report, checkpoint: Checkpoint) -> None:
        """Decide all positions of a tier with cycles, remoteness by remoteness."""
        remoteness = checkpoint.progress.remoteness if checkpoint.progress else 0
        blocks = [block for blocks in self.blocks for block in blocks]
        for _ in run(self.link, [(block, remoteness) for block in blocks]):
            pass
        while True:
            if not any(len(one.masks) for block in blocks for one in (block.lost, block.won)):
                least = min(int(block.due.min(initial=NEVER)) for block in blocks)
                if least == NEVER:
                    return
                remoteness = least - 1
            remoteness += 1
            if remoteness >= (1 << self.bits) - 2:
                raise RemotenessOverflow
            frontiers = [
                (concatenate_frontiers([b.lost for b in some]), concatenate_frontiers([b.won for b in some]))
                for some in self.blocks
            ]
            tasks = [
                (block, frontiers[after], remoteness)
                for blocks_of, after in zip(self.blocks, self.after, strict=True)
                for block in blocks_of
            ]
            for _ in run(self.advance, tasks):
                pass
            report(len(self.scores) - int(sum(block.undecided.sum() for block in blocks)), remoteness)
            if checkpoint.is_due:
                checkpoint.save(ShapeProgress(remoteness), (self.scores, self.children_left))

    def link(self, task: tuple[Block, int]) -> None:
        """Set `links`, `lost` and `won` of a block, the latter two to what was decided at the remoteness given."""
        block, remoteness = task
        arrays, rows = block.arrays, block.end - block.begin
        if arrays.inside:
            most = rows * int((arrays.moves[:, 0] >= 0).sum())
            begins, edges, moves = np.zeros(rows + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.uint16)
            count = kernels.find_edges(self.board, arrays, block.begin, block.end, begins, edges, moves)
            block.links = begins, edges[:count].copy(), moves[:count].copy()
        most = rows * len(arrays.masks)
        masks, starts = np.empty((2, most), np.int32), np.empty((2, rows + 1), np.int64)
        counts = kernels.gather(
            arrays, block.begin, block.end, self.bits, remoteness, self.scores, self.children_left,
            block.due, block.undecided, *masks, *starts,
        )  # fmt: skip
        block.lost, block.won = (Frontier(masks[at, : counts[at]].copy(), starts[at]) for at in range(2))

    def advance(self, task: tuple[Block, tuple[Frontier, Frontier], int]) -> None:
        """Decide the positions of a block that have the remoteness given. *frontiers* are the positions of the section
        after that were decided last: those lost, those won."""
        block, frontiers, remoteness = task
        most = int(block.undecided.sum())
        masks, starts = np.empty((2, most), np.int32), np.empty((2, block.end - block.begin + 1), np.int64)
        counts = kernels.advance(
            self.board, block.arrays, block.begin, block.end, self.bits, remoteness, block.links, frontiers,
            self.scores, self.children_left, block.due, block.undecided, (*masks, *starts), Buffers.of(block.arrays),
        )  # fmt: skip
        block.lost, block.won = (Frontier(masks[at, : counts[at]].copy(), starts[at]) for at in range(2))

    # The end

    def count(self, run: Run) -> list[list[int]]:
        """Return the counts of the outcomes of each section: number, score, slots, positions, first slot."""
        rows = []
        for number, blocks in enumerate(self.blocks):
            found: dict[int, list[int]] = {}
            for block, counts in zip(blocks, run(self.finish, blocks), strict=True):
                for score, slots, positions, first in counts.tolist():
                    if positions:
                        row = found.setdefault(score, [number, score, 0, 0, block.slots.start + first])
                        row[2] += slots
                        row[3] += positions
            rows += sorted(found.values())
        return rows

    def finish(self, block: Block) -> Array:
        """Write the final scores of a block; return (score, slots, positions, first of them) for each score."""
        sizes = np.empty(block.slots.stop - block.slots.start, np.uint16)
        images = (2 if self.game.placements.swap else 1) * len(self.board.images)
        rows = block.begin, block.end
        kernels.finish(self.board, block.arrays, rows, self.bits, images, self.scores, self.children_left, sizes)
        return count_by_score(self.scores[block.slots], sizes, slice(0, len(sizes)), self.bits)


def concatenate_frontiers(frontiers: list[Frontier]) -> Frontier:
    """Return the frontier of a section from those of its blocks."""
    if len(frontiers) == 1:
        return frontiers[0]
    lengths = np.cumsum([0, *(len(one.masks) for one in frontiers)])
    starts = [one.starts[:-1] + length for one, length in zip(frontiers, lengths, strict=False)]
    return Frontier(np.concatenate([one.masks for one in frontiers]), np.concatenate([*starts, lengths[-1:]]))
