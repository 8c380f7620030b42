"""Locates the children of positions in lists on disk, many at once.

    positions --expand--> sorted children --find, along the lists--> indices --unsort--> matrices of indices

A pass expands some blocks of positions and sorts their children. Then it reads each block of the lists that may have
one of them, once. With more memory for children, fewer passes are needed.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.listed.spill.kernels import indices_of
from retrograde.solver.methods.listed.spill.lists import SortedList
from retrograde.solver.methods.listed.spill.packing import order_of
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.rules.kernels import Matrix
from retrograde.solver.rules.positions import of_positions, to_items
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.work import Work

TierBlock = tuple[int, int, int]
"""The number of a tier, and begin and end of a block among all positions."""
Selection = Callable[[int, int], Array]
"""Selects positions to expand: takes begin and end, returns indices counted from begin."""

BYTES_A_CHILD = 24
"""Memory for each child in a pass, about, if it has one word."""
WORD = 8
"""Bytes of each further word."""
LEAST = 1 << 18
"""Least children in a pass."""
MOST = 1 << 27
FIRST = 4
"""Tasks in the first pass, which measures how many children a task has."""
TOGETHER = 16
"""Blocks of a list that are read together."""


class BlockOutline(NamedTuple):
    """An expanded block of positions without its children. `exist` is a bit matrix of *shape* with the cells that have
    a child. `moves_again` marks those where the same player moves again; it is empty if players alternate."""

    begin: int
    end: int
    columns: int
    shape: tuple[int, int]
    primitives: Array
    sizes: Array
    origins: Array
    exist: Array
    moves_again: Array


class LocatedChildren(NamedTuple):
    """The children of some blocks of positions, sorted, with their indices.

    `children` int64[…] or int64[…, words]: those of tier number `tiers[i]` (-1 for an unknown tier) are at `bounds[i]`
    to `bounds[i + 1]`. `order` is the number of each child in the matrices, one matrix after another. `indices` is the
    buffer for their indices among all positions.
    """

    outlines: list[BlockOutline]
    tiers: list[int]
    bounds: list[int]
    children: Array
    order: Array
    indices: Array


class LocatedBlock(NamedTuple):
    """A block of positions whose children are located.

    `indices` has the index of each child among all positions, -1 for no child, or -2 minus the index if the same player
    moves again. Its first `columns` columns are valid. `matrix` has the rest, `out` is a buffer of at least as many
    items.
    """

    columns: int
    indices: Array
    matrix: Matrix
    out: Array


class ListsOnDisk(NamedTuple):
    """The lists of all tiers. Tiers ascend in *numbers*; list k begins at index `starts[k]`."""

    numbers: Array
    starts: Array
    lists: list[SortedList]

    def block(self, k: int, begin: int, end: int, select: Selection | None) -> tuple[int, int, Array]:
        """Return (begin, tier, positions) of a block of tier number k, or of those that *select* chooses."""
        start = int(self.starts[k])
        positions = self.lists[k][begin - start : end - start]
        return begin, int(self.numbers[k]), positions[select(begin, end)] if select else positions


def locate_children(
    game: Game, lists: ListsOnDisk, blocks: Iterable[list[TierBlock]], work: Work, select: Selection | None = None
) -> Iterator[LocatedChildren]:
    """Yield the located children of each group of blocks, in passes that fit in memory. With *select*, only the
    positions that it chooses are expanded; they count one after another from the begin of their block."""
    remaining = iter(blocks)
    dtype = np.int32 if int(lists.starts[-1]) < 1 << 31 else np.int64
    child_bytes = BYTES_A_CHILD + WORD * max(Traits.of(game).width - 1, 0)
    number = FIRST
    while batch := list(islice(remaining, number)):
        tasks = ((game, [lists.block(*block, select) for block in blocks], lists.numbers, dtype) for blocks in batch)
        groups = list(work.starmap(expand_and_sort, tasks))
        find_all(lists, groups, work, dtype)
        greatest = max(1, max(len(group.children) for group in groups))
        groups.reverse()
        while groups:
            yield groups.pop()
        # A third of the free memory is for children. The last pass shows how many a task has.
        number = max(1, min(max(LEAST, work.budget.free_bytes() // 3 // child_bytes), MOST) // greatest)


class Lookup(NamedTuple):
    """Sorted `children` of several tasks, which may be in blocks `low` to `high` of a tier's list. The list's first
    position has the index `base`. `targets` are buffers for the children's indices."""

    positions: SortedList
    low: int
    high: int
    base: int
    children: list[Array]
    targets: list[Array]


def find_all(lists: ListsOnDisk, groups: list[LocatedChildren], work: Work, dtype: Any) -> None:
    """Fill in the indices of all children."""
    lookups = list(lookups_of(lists, groups))
    tasks = ((*lookup[:5], dtype) for lookup in lookups)
    for lookup, found in zip(lookups, work.starmap(find_children, tasks), strict=True):
        for target, indices in zip(lookup.targets, found, strict=True):
            target[:] = indices


def lookups_of(lists: ListsOnDisk, groups: list[LocatedChildren]) -> Iterator[Lookup]:
    """Yield what must be looked up in each TOGETHER blocks of a list; blocks without any child are not read."""
    # Step 1: group the children by tier, across all tasks.
    by_tier: dict[int, list[tuple[Array, Array]]] = {}
    for group in groups:
        for k, begin, end in zip(group.tiers, group.bounds[:-1], group.bounds[1:], strict=True):
            if k >= 0:
                by_tier.setdefault(k, []).append((group.children[begin:end], group.indices[begin:end]))
    # Step 2: cut the children of each task where the blocks of the list begin.
    for k in sorted(by_tier):
        positions, base = lists.lists[k], int(lists.starts[k])
        inner = positions.firsts[TOGETHER::TOGETHER]
        cuts = [[0, *to_items(children).searchsorted(inner).tolist(), len(children)] for children, _ in by_tier[k]]
        for number, low in enumerate(range(0, len(positions.frames), TOGETHER)):
            parts = [
                (children[begin:end], indices[begin:end])
                for (children, indices), cut in zip(by_tier[k], cuts, strict=True)
                for begin, end in [cut[number : number + 2]]
                if end > begin
            ]
            if parts:
                high = min(low + TOGETHER, len(positions.frames))
                yield Lookup(positions, low, high, base, *map(list, zip(*parts, strict=True)))


def located_blocks(located: LocatedChildren) -> Iterator[tuple[int, int, LocatedBlock, int]]:
    """Yield (begin, end, block, missing) of an expanded group. *missing* is the index of a position with a child that
    is nowhere, -1 for none. Cells of children where the same player moves again have -2 minus the index."""
    indices = np.empty(len(located.indices), np.int64)
    # Undo the sorting: indices in the order of the matrices.
    indices[located.order] = located.indices
    first = 0
    for outline in located.outlines:
        cells = outline.shape[0] * outline.shape[1]
        exist = np.unpackbits(outline.exist, count=cells).view(np.bool_).reshape(outline.shape)
        matrix = np.full(outline.shape, -1, np.int64)
        count = int(np.count_nonzero(exist))
        matrix[exist] = indices[first : first + count]
        first += count
        bad_columns = np.flatnonzero((exist & (matrix < 0)).any(axis=0))
        missing = outline.begin + int(outline.origins[bad_columns[0]]) if len(bad_columns) else -1
        if len(outline.moves_again):
            moves_again = np.unpackbits(outline.moves_again, count=cells).view(np.bool_).reshape(outline.shape)
            matrix[moves_again] = -2 - matrix[moves_again]
        # The children's positions are gone. The indices stand in for them; nobody reads them as positions.
        full = Matrix(matrix, matrix, outline.primitives, outline.sizes, outline.origins, np.empty(0, np.int64))
        out = np.empty(cells + 1, np.int64)
        yield outline.begin, outline.end, LocatedBlock(outline.columns, matrix, full, out), missing


# Tasks


def expand_and_sort(game: Game, blocks: list[tuple[int, int, Array]], numbers: Array, dtype: Any) -> LocatedChildren:
    """Expand blocks of positions; return their children, sorted by tier and position. Blocks are given as (index of the
    first position, tier, positions); *numbers* has all tiers, and *dtype* is the type of indices."""
    expander = expander_of(game)
    outlines, children, tiers = [], [of_positions(game, 0)], [np.empty(0, np.int64)]
    for base, tier, positions in blocks:
        for begin, end in expander.blocks(0, len(positions)):
            block = expander.expand(tier, positions[begin:end], sizes=Traits.of(game).has_images)
            columns = block.columns
            cells, indices = block.children[:, :columns], block.indices[:, :columns]
            exist = (cells[..., 0] if block.width else cells) >= 0
            children.append(cells[exist])
            tiers.append(block.tiers[:, :columns][exist])
            # Children have no index yet: 0 stands for a child, -1 for none. `mark_moves_again` makes some 0 a -2.
            indices[:] = np.where(exist, 0, -1)
            expander.mark_moves_again(positions[begin:end], block, block.origins)
            moves_again = np.empty(0, np.uint8) if Traits.of(game).alternates else np.packbits(indices < -1)
            outlines.append(
                BlockOutline(
                    base + begin, base + end, columns, exist.shape, block.primitives.copy(),
                    block.matrix.sizes.copy(), block.origins[:columns].copy(), np.packbits(exist), moves_again,
                )
            )  # fmt: skip
    flat, by_tier = np.concatenate(children), np.concatenate(tiers)
    # Mostly all children are in one tier; sorting by position suffices then.
    one_tier = not len(by_tier) or bool((by_tier == by_tier[0]).all())
    order = order_of(flat)
    if not one_tier:
        order = order[np.argsort(by_tier[order], kind="stable")]
    flat, by_tier = flat[order], by_tier[order[:1]] if one_tier else by_tier[order]
    begins = [0, *(np.flatnonzero(np.diff(by_tier)) + 1).tolist()] if len(flat) else []
    indices, tier_numbers = np.full(len(flat), -1, dtype), [tier_number(numbers, int(by_tier[k])) for k in begins]
    return LocatedChildren(outlines, tier_numbers, [*begins, len(flat)], flat, order.astype(np.int32), indices)


def tier_number(numbers: Array, tier: int) -> int:
    """Return the index of a tier among *numbers*, -1 for none."""
    k = int(numbers.searchsorted(tier))
    return k if k < len(numbers) and int(numbers[k]) == tier else -1


def find_children(positions: SortedList, low: int, high: int, base: int, asked: list[Array], dtype: Any) -> list[Array]:
    """Return for each array of *asked*, sorted children, the index of each child among all positions, or -1. Only the
    blocks *low* to *high* (exclusive) of the list *positions* are read, which begins at index *base* of all."""
    candidates = positions.blocks(low, high)
    results = [np.empty(len(children), dtype) for children in asked]
    for children, indices in zip(asked, results, strict=True):
        indices_of(children, candidates, base + int(positions.begins[low]), indices)
    return results
