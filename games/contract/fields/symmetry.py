"""The positions equal to one by the symmetries that its cells declare.

A permutation moves all planes alike. For each permutation a table has the image of each set of some cells, a *step* of
a plane; a plane of many cells takes several steps::

    9 cells     table[cells of X] | table[cells of O] << 9              a step of 9 cells, for each sign
    16 cells    table[lower 9 cells] | next table[upper 7 cells]        two steps, for each sign

Steps are shorter if there are many permutations, so that tables stay small: numba keeps no code with a table of more
than 1 MB.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from retrograde.games.contract.fields.cells import Cells
from retrograde.games.contract.fields.field import word_of
from retrograde.games.contract.fields.layout import fields_of
from retrograde.games.contract.fields.numbers import Turn
from retrograde.games.contract.fields.ways import mirror

LONGEST_STEP = 9
MOST_ENTRIES = 100_000
"""Entries of all tables of a game, each of 8 bytes."""

Orders = tuple[tuple[int, ...], ...]
"""Permutations: for each cell the one that comes there."""
Look = Callable[[int, str], str]
"""Gives the expression for an entry: (the number of the table, an expression for the index)."""


class SymmetricImages:
    """The symmetries of a game: *orders* as they are, and *exchanged* ones, with signs and turn exchanged."""

    def __init__(self, game: Any):
        self.fields = {name: getattr(game, name) for name in fields_of(type(game))}
        self.cells = [one for one in self.fields.values() if isinstance(one, Cells) and has_symmetries(one)]
        orders = [orders_of(game, one, one.symmetries) for one in self.cells]
        exchanged = [orders_of(game, one, one.exchanges) for one in self.cells]
        if len({*map(len, orders)}) > 1 or len({*map(len, exchanged)}) > 1:
            raise ValueError(f"{' and '.join(one.name for one in self.cells)} must have as many symmetries each")
        self.orders, self.exchanged = list(zip(*orders, strict=True)), list(zip(*exchanged, strict=True))
        self.step = self.longest_step()
        self.steps = [
            (one, begin, min(self.step, first + size - begin))
            for one in self.cells
            for _, _, first, size in one.planes[0]
            for begin in range(first, first + size, self.step)
        ]
        """The field of each table, the first of its cells, and how many."""

    def longest_step(self) -> int:
        """Return the most cells of a step with which the tables have at most MOST_ENTRIES."""
        step = min(LONGEST_STEP, max(one.size for one in self.cells))
        count = len(self.orders) + len(self.exchanged)
        # For each symmetry and each step (their number is rounded up), a table has 1 << step entries.
        while step > 1 and (count * sum(-(-one.size // step) for one in self.cells)) << step > MOST_ENTRIES:
            step -= 1
        return step

    def tables(self, orders: Sequence[Orders]) -> list[list[list[int]]]:
        """Return for each symmetry its tables; *orders* has a permutation of each field for each symmetry."""
        return [
            [images_of_sets(order[self.cells.index(one)], begin, self.step) for one, begin, _ in self.steps]
            for order in orders
        ]

    def image(self, look: Look) -> str:
        """Return an expression for an image of `position`. Bits that are of no field are left out."""
        words = next(iter(self.fields.values()))  # any field knows how many words a position has
        unmoved = [0] * words.words  # by word, the bits of other fields
        for one in self.fields.values():
            for index, mask in one.masks().items() if one not in self.cells else ():
                unmoved[index] |= mask
        parts = [[f"{word_of(words.words, index)} & {mask}"] if mask else [] for index, mask in enumerate(unmoved)]
        for one in self.cells:
            sets = []
            for plane in one.planes:
                steps = ((number, *step) for number, (field, *step) in enumerate(self.steps) if field is one)
                sets.append(" | ".join(look(number, one.cells_between(plane, *step)) for number, *step in steps))
            for index, part in one.parts_of_words(sets):
                parts[index].append(part)
        return words.with_words({index: " | ".join(found) or "0" for index, found in enumerate(parts)})

    def exchange(self) -> str:
        """Return an expression for `position` with the first two signs exchanged and the turn passed."""
        position = "position"
        for name, one in self.fields.items():
            if isinstance(one, Cells) and one.kinds > 1:
                source = one.expression("swapped")
            elif isinstance(one, Turn) and one.players == 2 and not one.by:
                source = one.expression("passed")
            else:
                raise ValueError(f"an exchange of signs does not say what becomes of {name}; define images(position)")
            position = source.replace("position", f"({position})")
        return position

    def interpreted(self) -> Callable[[int], list[int]]:
        """Return a function for Python that returns the images of a position."""
        names = "".join(f"t{number}, " for number in range(len(self.steps)))
        found = f"[{self.image(lambda number, index: f't{number}[{index}]')} for {names}in "
        text = f"lambda position: {found}SAME]"
        if self.exchanged:
            text += f" + (lambda position: {found}EXCHANGED])({self.exchange()})"
        tables = {"SAME": self.tables(self.orders), "EXCHANGED": self.tables(self.exchanged)}
        function: Callable[[int], list[int]] = eval(text, tables)
        return function

    def compiled(self) -> Callable[..., Any]:
        """Return a generator function for numba, `images(self, position)`."""
        import numpy as np  # compiled code alone needs it

        entries = len(self.steps) << self.step
        image = self.image(lambda number, index: f"TABLE[{number << self.step} + at + ({index})]")
        ends = [len(self.orders) * entries, (len(self.orders) + len(self.exchanged)) * entries]
        lines = [
            "def images(self, position):",
            f" for at in range(0, {ends[0]}, {entries}): yield {image}",
            *([f" position = {self.exchange()}"] if self.exchanged else []),
            f" for at in range({ends[0]}, {ends[1]}, {entries}): yield {image}",
        ]
        tables = np.array(self.tables([*self.orders, *self.exchanged]), np.uint64)
        names: dict[str, Any] = {"TABLE": tables.reshape(-1).astype(np.int64)}
        exec("\n".join(lines), names)
        function: Callable[..., Any] = names["images"]
        return function


def has_symmetries(cells: Cells) -> bool:
    """Return whether a field declares symmetries or exchanges."""
    return cells.symmetries != () or cells.exchanges != ()


def orders_of(game: Any, cells: Cells, declared: Any) -> Orders:
    """Return the permutations of cells that a field declares for a game; raise ValueError if it declares others."""
    declared = declared(game) if callable(declared) else declared
    if declared == "all":
        return cells.board.symmetries
    if declared == "mirror":
        return (mirror(cells.board),)
    if declared == "start":
        return tuple(order for order in cells.board.symmetries if reorder_cells(cells, game.start, order) == game.start)
    if isinstance(declared, str):
        raise ValueError(f"{cells.name}: no symmetries {declared!r}; name 'all', 'mirror' or 'start', or permutations")
    for order in declared:
        if sorted(order) != [*range(cells.size)]:
            raise ValueError(f"{cells.name}: {order!r:.60} is no permutation of the cells 0 to {cells.size - 1}")
    return tuple(map(tuple, declared))


def reorder_cells(cells: Cells, position: Any, order: Iterable[int]) -> Any:
    """Return a position with the cells in another order, cell by cell."""
    image = position
    for cell, source in enumerate(order):
        image = cells.put(image, cell, cells.get(position, source))
    return image


def images_of_sets(order: Sequence[int], begin: int, step: int) -> list[int]:
    """Return, for each of the `1 << step` sets of *step* cells from *begin* on, the set to which an order takes it.

    >>> images_of_sets((2, 1, 0), 0, 2)  # an order that exchanges cells 0 and 2
    [0, 4, 2, 6]
    """
    goals = {source: 1 << cell for cell, source in enumerate(order)}
    found = [0]
    for cell in range(begin, begin + step):
        found += [image | goals.get(cell, 0) for image in found]
    return found
