"""Tasks of exploration: expand positions, and remove known positions from their children."""

from bisect import insort
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.listed.explore import kernels
from retrograde.solver.methods.listed.explore.cutting import sample_task
from retrograde.solver.methods.listed.spill import row_kernels
from retrograde.solver.methods.listed.spill.kernels import merge as merge_two
from retrograde.solver.methods.listed.spill.kernels import subtract
from retrograde.solver.methods.listed.spill.packing import distinct
from retrograde.solver.rules.expansion import Expander, ExpansionBlock, expander_of
from retrograde.solver.runtime.array_type import Array

Edges = set[tuple[int, int]]
"""Pairs of tiers (from, to) that a move connects."""
Pieces = list[tuple[int, Array]]
"""Pairs (tier, positions)."""

SMALL = 256
"""Fewer positions of a tier than these are expanded together with those of other tiers."""
COMPACT = 1 << 20
"""A task that has found this number of children for a tier sorts them and drops duplicates, to save memory."""


def expand(game: Game, pieces: Pieces, checks: int) -> tuple[Pieces, Edges]:
    """Return the children of positions by tier, and the pairs of tiers that moves connect. Compares *checks* of the
    positions with the interpreted rules."""
    by_tier: dict[int, list[Array]] = {}
    unsorted: dict[int, int] = {}  # by tier, children since the last sort
    edges: Edges = set()
    expander = expander_of(game)
    # Step 1: check some positions with the interpreted rules.
    for k, index in sample_task([(k, 0, len(positions)) for k, (_, positions) in enumerate(pieces)], checks):
        tier, positions = pieces[k]
        expander.spot_check(tier, positions[index : index + 1])
    # Step 2: expand large tiers one by one, small ones together.
    large = [[(tier, positions)] for tier, positions in pieces if len(positions) >= SMALL]
    small = sorted(((tier, positions) for tier, positions in pieces if len(positions) < SMALL), key=itemgetter(0))
    for group in [*large, small]:
        for block_edges, child_pieces in children_of(expander, group):
            edges |= block_edges
            for child_tier, children in child_pieces:
                heap = by_tier.setdefault(child_tier, [])
                heap.append(children)
                unsorted[child_tier] = unsorted.get(child_tier, 0) + len(children)
                # `heap[0]` is what the last sort left. If that is long, sorting again would save little.
                if unsorted[child_tier] >= COMPACT > len(heap[0]):
                    by_tier[child_tier] = [distinct(heap)]
                    unsorted[child_tier] = 0
    return [(tier, join(heap)) for tier, heap in by_tier.items()], edges


def children_of(expander: Expander, group: Pieces) -> Iterator[tuple[Edges, Pieces]]:
    """Yield (pairs of tiers, children by tier) of a group of positions, block by block. The tiers of a group ascend."""
    tiers = np.repeat([tier for tier, _ in group], [len(part) for _, part in group])
    positions = join([part for _, part in group]) if group else tiers
    for begin, end in expander.blocks(0, len(positions)):
        block_tiers = tiers[begin:end]
        block = expander.expand(int(block_tiers[0]), positions[begin:end])
        if len(group) == 1:
            pieces = list(children_by_tier(block))
            yield {(group[0][0], tier) for tier, _ in pieces}, pieces
            continue
        # Step 1: list all children with their tiers, and the tiers that they come from.
        children, child_tiers, parents = block.list_children()
        origins = block_tiers[parents]
        # Case: a move leads to a lower tier. The kernel has compared with the least tier of the block only, so each
        # position is expanded alone, which raises the error.
        if (child_tiers < origins).any():
            for number in range(begin, end):
                expander.expand(int(tiers[number]), positions[number : number + 1])
        # Step 2: sort them by both, and cut where the children's tier changes. The first child begins a piece.
        order = np.lexsort((origins, child_tiers))
        children, child_tiers, origins = children[order], child_tiers[order], origins[order]
        new_tier = np.diff(child_tiers, prepend=child_tiers[:1] - 1) != 0
        new_edge = new_tier | (np.diff(origins, prepend=-1) != 0)
        firsts = np.flatnonzero(new_tier)
        narrow = position_type(int(children.max(initial=0)))
        # Without children, `np.split` returns one empty array, which is dropped.
        pieces = [*zip(child_tiers[firsts].tolist(), np.split(children.astype(narrow), firsts[1:]), strict=False)]
        yield {*zip(origins[new_edge].tolist(), child_tiers[new_edge].tolist(), strict=True)}, pieces


def merge(heaps: list[tuple[int, list[Array], list[Array]]]) -> Pieces:
    """Return the sorted distinct new positions of each tier, from (tier, children that arrived, known sorted lists)."""
    merged = []
    for tier, heap, known in heaps:
        new = distinct(heap)
        for run in known:
            dtype = np.result_type(new, run)
            new = new.astype(dtype, copy=False)
            new = new[: subtract(new, run.astype(dtype, copy=False))]
        merged.append((tier, new.copy()))  # a view would keep all arrivals in memory
    return merged


def children_by_tier(block: ExpansionBlock) -> Iterator[tuple[int, Array]]:
    """Yield the children in a block by tier, as unsorted copies."""
    if block.width:
        yield from rows_by_tier(block)
        return
    runs = np.empty((len(block.children), 4), np.int64)
    kernels.gather(block.columns, block.children, block.tiers, runs, block.out)
    ends, tiers, one_tier, greatest = runs[np.diff(runs[:, 0], prepend=0) > 0].T  # of the rows with children
    if len(ends) and one_tier.all() and (tiers == tiers[0]).all():  # mostly all are in one tier
        yield int(tiers[0]), block.out[: ends[-1]].astype(position_type(int(greatest.max())))
        return
    # Case: children in several tiers. Rows within one tier are yielded whole; others are split by tier.
    begin = 0
    for row, (end, tier, is_whole, most) in enumerate(runs.tolist()):
        if end > begin:
            piece = block.out[begin:end].astype(position_type(most))
            if is_whole:
                yield tier, piece
            else:
                child_tiers = block.tiers[row, : block.columns][block.children[row, : block.columns] >= 0]
                for child_tier in np.unique(child_tiers).tolist():
                    yield child_tier, piece[child_tiers == child_tier]
        begin = end


def rows_by_tier(block: ExpansionBlock) -> Iterator[tuple[int, Array]]:
    """Yield the children in a block by tier, if positions have several words."""
    most = block.columns * len(block.children)
    children, tiers = np.empty((most, block.width), np.int64), np.empty(most, np.int64)
    count, one_tier = row_kernels.gather(block.columns, block.children, block.tiers, children, tiers)
    children, tiers = children[:count], tiers[:count]
    if count and one_tier:  # mostly all are in one tier
        yield int(tiers[0]), children.copy()  # a view would keep the whole buffer in memory
        return
    for tier in np.unique(tiers).tolist():
        yield tier, children[tiers == tier]


def join(arrays: list[Array]) -> Array:
    """Return arrays as one; a single array is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def merge_sorted(lists: list[Array]) -> Array:
    """Return disjoint sorted lists merged into one, shortest first. Empties the list that is passed in."""
    dtype = np.result_type(*lists)
    lists.sort(key=len, reverse=True)
    while len(lists) > 1:
        left, right = (lists.pop().astype(dtype, copy=False) for _ in range(2))
        merged = np.empty((len(left) + len(right), *left.shape[1:]), dtype)
        merge_two(left, right, merged)
        insort(lists, merged, key=lambda positions: -len(positions))
    return lists[0]


def position_type(greatest: Any) -> type[np.integer[Any]]:
    """Return the integer type for positions up to *greatest*, or for their words. Narrow ones sort twice as fast."""
    return np.int64 if isinstance(greatest, tuple) or greatest >= 1 << 32 else np.uint32
