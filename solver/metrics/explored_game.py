"""An explored game: all positions, sorted by tier, and the rules' answers about them in blocks.

    positions --read_block--> where the children are, whose turn it is, what ends pay --metric--> measures

The *index* of a position counts all positions of the game, tier by tier. Arrays of a metric have an entry for each.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.listed.explore.explore import Explorer
from retrograde.solver.methods.listed.explore.space import StateSpace
from retrograde.solver.methods.listed.kernels import reverse
from retrograde.solver.methods.listed.table import ListedTable, expand_and_locate
from retrograde.solver.rules.examine import starts_of
from retrograde.solver.rules.expansion import ExpansionBlock, expander_of
from retrograde.solver.rules.positions import position_in
from retrograde.solver.rules.weights import weigh
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.work import Work

BYTES_A_MOVE = 24
"""Memory for each move, in bytes: children and predecessor lists."""


class ExploredBlock(NamedTuple):
    """The rules' answers about the positions from index `begin` to `end`, all of one tier.

    `primitives` uint8, `movers` int8 (CHANCE or a player) and `sizes` uint16 (how many positions are symmetric to each;
    empty without symmetry) have an entry for each position. `pays` int64[positions, players] is what ends pay, 0
    elsewhere.

    The children of position `begin + i` are the indices `children[begins[i]:begins[i + 1]]`, int64, in the order of the
    moves. `odds` int32 are the weights of these moves where chance moves; empty if players alternate. `rewards`
    int64[children, players] is what the moves pay at once; empty if moves pay nothing.
    """

    begin: int
    end: int
    primitives: Array
    movers: Array
    sizes: Array
    pays: Array
    begins: Array
    children: Array
    odds: Array
    rewards: Array


class ExploredGame:
    """All reachable positions, one of each set of symmetric ones, and methods that read the rules for them."""

    def __init__(self, game: Game, space: StateSpace, work: Work):
        self.game, self.space, self.work = game, space, work
        self.table = ListedTable(game, space, work.zeros("no scores", 1, np.uint16), 0)
        self.alternating = Traits.of(game).alternates
        """Whether every move passes the turn; if not, `movers` say who is to move."""
        self.sizes = np.zeros(len(space) if self.table.symmetric else 0, np.uint16)
        """Number of positions symmetric to each, once its block was read; empty if the game has no symmetry."""

    def __len__(self) -> int:
        return len(self.space)

    @property
    def positions(self) -> Array:
        """All positions, tier by tier."""
        return self.space.positions

    def position_at(self, index: int) -> Any:
        """Return a position by its index: an int, or a tuple of ints."""
        return position_in(self.game, self.positions, index)

    def tiers_backwards(self) -> Iterator[int]:
        """Yield the tier numbers, last first, so that children in other tiers come before their parents."""
        yield from reversed(range(len(self.space.tiers)))

    def blocks(self, k: int) -> Iterator[ExploredBlock]:
        """Yield an ExploredBlock for each block of tier number *k*, in order of indices."""
        blocks = expander_of(self.game).blocks(*self.space.bounds_of(k))
        for block in self.work.map(read_block, ((self.table, k, begin, end) for begin, end in blocks)):
            if self.table.symmetric:
                self.sizes[block.begin : block.end] = block.sizes
            yield block


def explore(game: Game, work: Work) -> ExploredGame:
    """Explore a game, resuming from an interrupted solve."""
    work.course.plan(exploring=0.6, solving=0.35, writing=0.05)
    space = Explorer(game, work).explore(starts_of(game), work.log("waves"), work.phase("exploring"))
    assert isinstance(space, StateSpace)
    return ExploredGame(game, space, work)


class PositionGraph(NamedTuple):
    """Lists of children and predecessors. Position i has the children `children[begins[i]:begins[i + 1]]` and the
    predecessors `parents[parent_begins[i]:parent_begins[i + 1]]`."""

    children: Array
    begins: Array
    parents: Array
    parent_begins: Array


def graph_of(explored: ExploredGame) -> PositionGraph:
    """Return the graph of all positions; raise MemoryLimit."""
    blocks = (block for k in range(len(explored.space.tiers)) for block in explored.blocks(k))
    children, begins = children_of(blocks)
    explored.work.budget.check(BYTES_A_MOVE * len(children), f"linking {len(explored):,} positions")
    return PositionGraph(children, begins, *predecessors_of(children, begins))


def children_of(blocks: Iterable[ExploredBlock]) -> tuple[Array, Array]:
    """Return (children, begins) of adjacent blocks: position i has `children[begins[i]:begins[i + 1]]`."""
    children, counts = [np.empty(0, np.int64)], [np.zeros(1, np.int64)]
    for block in blocks:
        children.append(block.children)
        counts.append(np.diff(block.begins))
    return np.concatenate(children), np.cumsum(np.concatenate(counts))


def predecessors_of(children: Array, begins: Array) -> tuple[Array, Array]:
    """Return the predecessor lists (parents, begins) for lists of children, in the same form."""
    parents, parent_begins = np.empty(len(children), np.int64), np.zeros(len(begins) + 1, np.int64)
    reverse(children, begins[1:], parents, parent_begins)
    return parents, parent_begins


# Tasks


def read_block(task: tuple[ListedTable, int, int, int]) -> ExploredBlock:
    """Return the ExploredBlock of the positions from *begin* to *end* of tier number *k*."""
    table, k, begin, end = task
    return explored_block(
        table, begin, expand_and_locate(table, expander_of(table.game), k, table.space.positions[begin:end])
    )


def explored_block(table: ListedTable, begin: int, block: ExpansionBlock) -> ExploredBlock:
    """Return the ExploredBlock for an expanded block whose first position has the index *begin*.

    A column of the expanded block's matrices belongs to an undecided position, `origins[column]`, and a row to a move.
    `indices` is below 0 where there is no further move.
    """
    game, count = table.game, len(block.primitives)
    weights = weigh(game, table.space.positions[begin : begin + count], block)
    counts = np.zeros(count + 1, np.int64)  # number of children, behind a 0
    counts[1 + block.origins[: block.columns]] = (block.indices[:, : block.columns] >= 0).sum(0)
    odds = by_child(weights.odds, block).astype(np.int32) if Traits.of(game).has_turn else np.zeros(0, np.int32)
    rewards = by_child(weights.rewards, block) if len(weights.rewards) else np.zeros((0, game.players), np.int64)
    return ExploredBlock(
        begin, begin + count, block.primitives.copy(), weights.movers, block.matrix.sizes.copy(), weights.pays,
        np.cumsum(counts), by_child(block.indices[:, : block.columns], block), odds, rewards,
    )  # fmt: skip


def by_child(cells: Array, block: ExpansionBlock) -> Array:
    """Return the cells [moves, positions, …] of an expanded block's matrix that stand for children, as a list. It has
    all children of the first position, then those of the next."""
    return np.asarray(np.swapaxes(cells, 0, 1)[block.indices[:, : block.columns].T >= 0])
