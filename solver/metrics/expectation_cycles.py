"""Expectations of tiers with cycles: lower bounds rise and sink until they stay (see `expectation.py`).

Also `read_block`, which reads the rules for a block of positions.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, Traits
from retrograde.solver.methods.listed.table import ListedTable, expand_and_locate
from retrograde.solver.metrics import expectation_kernels as kernels
from retrograde.solver.metrics.best_response import ModelAndResponder
from retrograde.solver.metrics.expectation_kernels import ChildLists
from retrograde.solver.metrics.explored_game import explored_block
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.rules.positions import position_in
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.work import Work

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
BYTES_A_LINK = 24
"""Memory for each move in a tier with cycles, in bytes: the child and its weight, twice while lists are joined."""
BYTES_A_NODE = 64
"""Memory for each node of a tier with cycles, in bytes: the order of solving, and approximate values."""
RISES = 4
"""Sweeps that narrow bounds which hold already."""


class PayoffOverflow(Exception):
    """Payoffs do not fit with this number of bits after the point."""


class ExpectationInputs(NamedTuple):
    """What tasks receive: the positions, the two rows of bounds so far, and the bits after the point. With *players*,
    each position has two nodes next to each other; see `best_response.py`."""

    table: ListedTable
    bounds: tuple[SharedArray, SharedArray]
    bits: int
    players: ModelAndResponder | None = None

    @property
    def width(self) -> int:
        """Number of nodes of each position."""
        return 2 if self.players else 1

    @property
    def arrays(self) -> tuple[Array, Array]:
        """The two rows of bounds."""
        return self.bounds[0].array, self.bounds[1].array


def read_block(task: tuple[ExpectationInputs, int, int, int]) -> tuple[ChildLists, Array, Array]:
    """Return the ChildLists of a block, what its ends pay in grains, and the number of positions symmetric to each.

    A task is (inputs, tier number, first position, end). Children are counted among all nodes of the game. Raise
    PayoffOverflow if payments do not fit with `bits` bits after the point.
    """
    inputs, k, begin, end = task
    table, players = inputs.table, inputs.players
    expanded = expand_and_locate(table, expander_of(table.game), k, table.space.positions[begin:end])
    block = explored_block(table, begin, expanded)
    pays, gains = for_player_0(block.pays), for_player_0(block.rewards)
    if max(np.abs(pays).max(initial=0), np.abs(gains).max(initial=0)) >= kernels.LIMIT >> inputs.bits:
        raise PayoffOverflow
    pays, gains = pays << inputs.bits, gains << inputs.bits
    child_type = np.int32 if inputs.width * len(table.space) < 1 << 31 else np.int64
    # Case: best play.
    if not players:
        endless = np.zeros(len(pays), np.bool_)
        graph = ChildLists(block.movers, endless, block.begins, block.children.astype(child_type), block.odds, gains)
        return graph, pays, block.sizes
    # Case: against a model, with two nodes for each position. The model may never make some of the moves.
    count, most_moves = 2 * len(pays), 2 * len(block.children)
    graph = ChildLists(
        np.empty(count, np.int8), np.zeros(count, np.bool_), np.zeros(count + 1, np.int64),
        np.empty(most_moves, child_type), np.empty(most_moves, np.int32), np.empty(2 * len(gains), np.int64),
    )  # fmt: skip
    weights = players.weigh(table, begin, block, expanded)
    moves = kernels.link_both_sides(block, gains, *weights, Traits.of(table.game).alternates, graph)
    graph = ChildLists(*graph[:3], *(array[:moves].copy() for array in graph[3:]))
    return graph, np.stack([pays, -pays], 1).ravel(), block.sizes


def for_player_0(amounts: Array) -> Array:
    """Return what player 0 is paid, less what player 1 is paid if there are two; *amounts* has a column for each."""
    return np.asarray(amounts[:, 0] - amounts[:, 1] if amounts.shape[1] == 2 else amounts[:, 0])


class CyclicTiers(NamedTuple):
    """Adjacent tiers with cycles: their graph, both rows of bounds, and the number of symmetric positions.

    Nodes are numbered from 0: first the tiers' own, then the children outside them. The bounds of all nodes are known,
    except those of the undecided ones, which are in `order`. Component number c ends there at `ends[c]` (see
    `kernels.order_by_components`).
    """

    graph: ChildLists
    bounds: tuple[Array, Array]
    sizes: Array
    order: Array
    ends: Array


def solve_large(inputs: ExpectationInputs, k: int, work: Work) -> Done:
    """Return the bounds and sizes of one tier with cycles; the workers read its blocks in parallel."""
    low, high = inputs.table.space.bounds_of(k)

    def check(links: int) -> None:
        bytes_needed = BYTES_A_LINK * links + BYTES_A_NODE * inputs.width * (high - low)
        work.budget.check(bytes_needed, f"linking the {high - low:,} positions of a tier with cycles")

    return solve_cycles(inputs, [k], work.map, check)


def solve_small(task: tuple[ExpectationInputs, list[int]]) -> Done:
    """Return the bounds and sizes of adjacent tiers, found by one worker."""
    return solve_cycles(*task, map, lambda links: None)


def solve_cycles(inputs: ExpectationInputs, tiers: list[int], run: Map, check: Callable[[int], None]) -> Done:
    """Return the bounds and sizes of adjacent tiers with cycles that do not lead to each other. *run* is `map`, or the
    same by workers. *check* is called with the expected number of links; it raises MemoryLimit."""
    space = inputs.table.space
    low, high = space.bounds_of(tiers[0])[0], space.bounds_of(tiers[-1])[1]
    cyclic = gather(inputs, low, high, run, check)
    graph = cyclic.graph
    # Step 1: find where players can stay forever. Endless play with rewards has no expectation.
    stays = kernels.find_endless(graph, cyclic.order)
    if stays.any():
        if len(graph.rewards):
            index = low + int(stays.argmax()) // inputs.width
            refuse_endless(inputs.table.game, position_in(inputs.table.game, space.positions, index))
        # The kernel subtracts a grain where players can stay, so that no play stays above 0 forever.
        graph.endless[:] = stays
        # Step 2: find both rows of bounds, in parallel if *run* works so.
        tasks = ((cyclic, values, sign) for values, sign in zip(cyclic.bounds, (1, -1), strict=True))
        for values, solved in zip(cyclic.bounds, run(solve_side, tasks), strict=True):
            values[:] = solved
    else:
        solve_ending(cyclic)
    rows = [values[: inputs.width * (high - low)] for values in cyclic.bounds]  # without the children outside
    return np.array([(k, *space.bounds_of(k)) for k in tiers], np.int64).ravel(), *rows, cyclic.sizes


def refuse_endless(game: Game, position: Any) -> NoReturn:
    """Raise RuleError: moves pay and players may go on forever, so payments need not converge."""
    raise RuleError(
        f"{variant(game)}, position {position}: moves pay a reward, and from here players may go on for "
        "ever; let tiers rise, or let ends alone pay"
    )


def gather(inputs: ExpectationInputs, low: int, high: int, run: Map, check: Callable[[int], None]) -> CyclicTiers:
    """Read the positions from index *low* to *high* in blocks, and join the blocks into CyclicTiers. *run* and *check*
    are those of `solve_cycles`."""
    # Step 1: read the rules. Every 64 blocks, *check* gets the number of links that all blocks will have, as estimated
    # from those read so far: it may raise MemoryLimit.
    blocks: list[ChildLists] = []
    payoffs, sizes = [], []
    k = int(inputs.table.space.starts.searchsorted(low, "right")) - 1
    tasks = [(inputs, k, *block) for block in expander_of(inputs.table.game).blocks(low, high)]
    for number, (block_graph, pays, block_sizes) in enumerate(run(read_block, tasks)):
        blocks.append(block_graph)
        payoffs.append(pays)
        sizes.append(block_sizes)
        if number % 64 == 0:
            links_so_far = sum(len(block.children) for block in blocks)
            check(links_so_far * len(tasks) // (number + 1))
    # Step 2: join the lists of all blocks, and renumber the children: the tiers' own from 0, those outside after them.
    *link_begins, links = np.cumsum([0, *(len(block.children) for block in blocks)])
    begins = [block.begins[:-1] + begin for block, begin in zip(blocks, link_begins, strict=True)]
    # In the order of the fields of ChildLists, of which `begins` differs.
    turns, endless, _, children, odds, rewards = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    first, end = inputs.width * low, inputs.width * high  # the tiers' own nodes
    within = (children >= first) & (children < end)
    outside = np.unique(children[~within])
    children = np.where(within, children - first, end - first + np.searchsorted(outside, children))
    graph = ChildLists(turns, endless, np.concatenate([*begins, [links]]), children, odds, rewards)
    paid = np.concatenate(payoffs)
    # The second row has the bounds of the negated game, in which ends pay the opposite.
    bounds = [np.concatenate([sign * paid, row[outside]]) for row, sign in zip(inputs.arrays, (1, -1), strict=True)]
    # Step 3: find the order in which to solve them.
    order, ends = np.empty((2, np.count_nonzero(np.diff(graph.begins))), np.int32)
    ends = ends[: kernels.order_by_components(graph, order, ends)]
    return CyclicTiers(graph, (bounds[0], bounds[1]), np.concatenate(sizes), order, ends)


def solve_ending(cyclic: CyclicTiers) -> None:
    """Write the bounds of tiers in which play always ends. They begin at approximate values, which nearly always hold;
    else they sink until they do."""
    graph, bounds, _, order, ends = cyclic
    approximate = np.zeros(len(order))  # of the undecided nodes, for player 0
    for values, sign in zip(bounds, (1, -1), strict=True):
        floats = values.astype(np.float64)
        floats[order] = sign * approximate  # the upper bounds begin near the lower ones
        kernels.approximate(graph, order, ends, floats, sign)
        approximate = sign * floats[order]
        if np.abs(approximate).max(initial=0) >= kernels.LIMIT:
            raise PayoffOverflow
        values[order] = np.floor(sign * approximate)
        sweep_until_stable(cyclic, values, sign, rising=False)
        # Each sweep brings the bounds nearer to the expectation. Where play is not by chance, they soon reach it.
        sweep_until_stable(cyclic, values, sign, rising=True, most=RISES)


def solve_side(task: tuple[CyclicTiers, Array, int]) -> Array:
    """Return the lower bounds, with *sign* -1 those of the negated game. They begin at 0, and sink and rise until
    neither changes them."""
    cyclic, values, sign = task
    values[cyclic.order] = 0
    while True:
        sweep_until_stable(cyclic, values, sign, rising=False)
        sunk = values[cyclic.order]
        sweep_until_stable(cyclic, values, sign, rising=True)
        risen = values[cyclic.order]
        if np.array_equal(risen, sunk):
            return values
        values[cyclic.order] = np.maximum(risen, 0)


def sweep_until_stable(cyclic: CyclicTiers, values: Array, sign: int, rising: bool, most: int | None = None) -> None:
    """Let the lower bounds *values* rise, or else sink, until none changes, in at most *most* sweeps. Raise
    PayoffOverflow for too great bounds. With *sign* -1, the bounds are those of the negated game."""
    for _ in count() if most is None else range(most):
        changed = kernels.sweep_cycle(cyclic.graph, cyclic.order, values, sign, rising)
        if changed < 0:
            raise PayoffOverflow
        if not changed:
            return
