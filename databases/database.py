"""A database: a mapping from the positions of a solved game to their outcomes.

    position --canonical--> position, tier --find--> row of the legend --> value, remoteness

The kind of storage (records, steps, slots or bounds) decides how a row is found; each has its subclass of `Database`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from operator import index
from typing import Any, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.databases.checked import CheckedFile
from retrograde.databases.errors import NotInDatabase
from retrograde.databases.layout import NOT_FOUND, LegendRow
from retrograde.databases.legend import LegendTable
from retrograde.games import UNDECIDED, Game, Value
from retrograde.games.contract.game import METRICS, POSITION_LIMIT, Traits
from retrograde.games.contract.marks import value_html
from retrograde.games.contract.raised import given_start

Default = TypeVar("Default")
BULK = 4096
"""From this many positions on, `lookup` uses compiled code if it is installed. It is some hundred times as fast, but
takes half a second to load, and some seconds to compile when a variant is first asked.
"""
ENTRY_POINTS = "retrograde.bulk"
"""The group of entry points for bulk lookup: functions that take a database and return an object like `_bulk`."""
CACHE_BLOCKS = 64
"""Decoded blocks kept by default, 36 to 72 KB each."""
CACHED_OUTCOMES = 1 << 15
"""Positions whose outcomes are kept: in play the same ones are asked for again and again."""
MANY = 1 << 16
"""From this many rows on, a legend's outcomes are made one by one when asked for."""


class Outcome(NamedTuple):
    """A position's value for the player to move, and its remoteness in plies (None: play never ends)."""

    value: Value
    remoteness: int | None

    def _repr_html_(self) -> str:
        """Return the outcome in its colours, for notebooks."""
        return value_html(*self)


class Outcomes(Sequence[Outcome]):
    """The outcomes of a long legend, each made when it is asked for."""

    def __init__(self, legend: Sequence[LegendRow]):
        self.legend = legend

    def __len__(self) -> int:
        return len(self.legend)

    def __getitem__(self, row: Any) -> Any:
        found = self.legend[row]
        return Outcome(found.value, found.plies)


class Database(ABC):
    """A solved game: a mapping of positions to outcomes, read from a file on demand. A context manager.

    Ask for any position that play can reach from the start. The file stores symmetric positions once.
    """

    def __init__(self, file: CheckedFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        self.file = file
        self.game = game
        self._outcomes: Sequence[Outcome] = (
            Outcomes(file.legend) if len(file.legend) > MANY else [*Outcomes(file.legend)]
        )
        self._canonical, self._tier = game.canonical, game.tier
        self._block: Any = lru_cache(cache_blocks)(file.contents.read_block)
        """Decodes a block, with a cache; the kind of storage decides what it returns."""
        self._outcome = lru_cache(CACHED_OUTCOMES if cache_blocks else 0)(self._find_outcome)
        """Returns a position's outcome or None, with a cache."""

    def check_start(self) -> None:
        """Raise DamagedDatabase if the header's outcome of the start differs from the stored one."""
        start, row = self.file.start, self.file.start_outcome
        if start is None and given_start(self.game) is not None:
            raise self.file.damaged("it says nothing of the start")
        if start is not None and row and self.get(start) != Outcomes([row])[0]:
            raise self.file.damaged("the start is worth one thing here, and another there")

    __iter__ = None  # otherwise Python would iterate over positions 0, 1, 2, …; see Solution.positions()

    def __getitem__(self, position: int) -> Outcome:
        """Return a position's outcome; raise NotInDatabase if play never reaches it."""
        outcome = self._outcome(self._checked_type(position))
        if outcome is None:
            raise NotInDatabase(f"position {position} of {self.file.variant} cannot be reached from the start")
        return outcome

    @overload
    def get(self, position: int) -> Outcome | None: ...
    @overload
    def get(self, position: int, default: Default) -> Outcome | Default: ...
    def get(self, position: int, default: Any = None) -> Any:
        """Return a position's outcome, or a default where play never reaches it."""
        outcome = self._outcome(self._checked_type(position))
        return default if outcome is None else outcome

    def _find_outcome(self, position: Any) -> Outcome | None:
        """Return a position's outcome, or None where play never reaches it."""
        if address := self._locate(position):
            holder = self.holder(address[1])
            if (row := holder._find(*address)) >= 0:
                try:
                    return holder._outcomes[row]
                except IndexError:
                    raise holder.file.damaged("an outcome is not in the legend") from None
        return None

    def holder(self, tier: int) -> "Database":
        """Return the database that has a tier, this one or another on which it rests; else raise NoDatabase."""
        return self

    @property
    def metric(self) -> str:
        """The name of the metric computed, one of METRICS."""
        return self.file.metric if self.file.measures else METRICS[0]

    def measures(self, position: int) -> dict[str, int]:
        """Return what the metric adds to value and remoteness, by name: `{"score": 3}`.

        Empty if the metric is remoteness. Raises NotInDatabase if play never reaches the position.
        """
        address = self._locate(self._checked_type(position))
        file = self.holder(address[1]).file if address else self.file
        row = self.holder(address[1])._find(*address) if address else -1
        if row < 0:
            raise NotInDatabase(f"position {position} of {self.file.variant} cannot be reached from the start")
        if row >= len(file.legend):
            raise file.damaged("an outcome is not in the legend")
        return dict(zip(file.measures, file.legend[row].measures, strict=True))

    @cached_property
    def _width(self) -> int:
        """The number of ints in a position that is a tuple; 0 if positions are ints."""
        return Traits.of(self.game).width

    def _checked_type(self, position: Any) -> Any:
        """Return the position as an int, or as a tuple of ints. Raise TypeError if it is neither."""
        if isinstance(position, tuple) != bool(self._width):
            kind = f"tuples of {self._width} ints" if self._width else "ints"
            raise TypeError(f"positions of {self.file.variant} are {kind}, and {position!r:.60} is none")
        return tuple(map(index, position)) if self._width else index(position)

    def _locate(self, position: Any) -> tuple[Any, int] | None:
        """Return (canonical position, tier), or None if the argument cannot be a position."""
        if isinstance(position, tuple):
            if len(position) != self._width or not all(0 <= number < POSITION_LIMIT for number in position):
                return None
        elif not 0 <= position < POSITION_LIMIT:
            return None
        try:
            canonical = self._canonical(position)
            if canonical != position and position not in self.game.images(canonical):
                return None  # the symmetry dropped bits that are no part of a position
            return canonical, self._tier(canonical)
        except (ArithmeticError, LookupError, ValueError):
            return None  # the rules may raise for what is no position

    @abstractmethod
    def _find(self, position: int, tier: int) -> int:
        """Return the row of the legend for a canonical position of a tier, or -1."""

    def _find_all(self, positions: NDArray[np.int64], tiers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the legend rows of many canonical positions, as `_find` does. A negative position stands for none, and
        gets -1."""
        pairs = zip(positions.tolist(), tiers.tolist(), strict=True)
        return np.array([self._find(*pair) if pair[0] >= 0 else -1 for pair in pairs], np.int64)

    def __contains__(self, position: object) -> bool:
        return self.get(position) is not None  # type: ignore[call-overload]  # get() takes anything

    def __len__(self) -> int:
        return self.file.positions

    def lookup(
        self, positions: ArrayLike, *, canonical: bool = False, tiers: ArrayLike | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return the values (uint8) and remotenesses (int32) of an array of positions, in its shape.

        If positions are tuples, they run along the array's last axis, which the result lacks. The remoteness is -1 if
        there is none, as for a DRAW. A position that play cannot reach is UNDECIDED, with -1. Set *canonical* if all
        positions are canonical already, and give their *tiers* if you know them: then no rule is called.
        """
        array = np.asarray(positions)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"positions are whole numbers, not {array.dtype}")
        if self._width:
            return self._lookup_tuples(array)
        # Fast path: compiled rules, for many positions that are not known to be canonical.
        rows = None
        if array.size >= BULK and tiers is None and not canonical and self._bulk:
            rows = self._bulk.rows(array.astype(np.int64, copy=False).ravel())  # huge uint64 turn negative
        if rows is None:
            rows = self._rows_of(array, canonical, tiers)
        self.file.contents.check_outcomes(rows)
        values, remotenesses = self._read_legend(rows)
        return values.reshape(array.shape), remotenesses.reshape(array.shape)

    def _lookup_tuples(self, array: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return values and remotenesses, as `lookup` does, of tuples: rows along the array's last axis."""
        if array.size and array.shape[-1:] != (self._width,):
            raise TypeError(f"positions of {self.file.variant} are tuples of {self._width} ints")
        keys = array.astype(np.int64, copy=False).reshape(-1, self._width)
        rows = self._bulk.rows(keys) if len(keys) >= BULK and self._bulk else None
        if rows is None:
            addresses = [self._locate(tuple(key)) for key in keys.tolist()]
            rows = np.array([self._find(*address) if address else -1 for address in addresses], np.int64)
        self.file.contents.check_outcomes(rows)
        values, remotenesses = self._read_legend(rows)
        shape = array.shape[:-1] if array.size else (0,)
        return values.reshape(shape), remotenesses.reshape(shape)

    def _rows_of(self, array: NDArray[Any], canonical: bool, tiers: ArrayLike | None) -> NDArray[np.int64]:
        """Return the legend rows of positions, -1 where there is none, by the interpreted rules. The parameters are
        those of `lookup`."""
        are_positions = (array >= 0) & (array < POSITION_LIMIT)
        keys = np.where(are_positions, array.astype(np.int64), -1).ravel()
        if tiers is not None:
            tier_numbers = np.broadcast_to(np.asarray(tiers, np.int64), array.shape).ravel()
        elif canonical:
            tier_numbers = np.array([self._tier(key) if key >= 0 else 0 for key in keys.tolist()], np.int64)
        else:
            addresses = [self._locate(key) or (-1, 0) for key in keys.tolist()]
            keys, tier_numbers = np.array(addresses, np.int64).reshape(-1, 2).T
        return self._find_all(keys, tier_numbers)

    @cached_property
    def _bulk(self) -> Any:
        """The bulk lookup, if it is installed, else None; the solver provides it, since it compiles rules.

        Its `rows(positions)` takes int64[n] and returns rows of the legend, -1 for positions without one.
        """
        from importlib.metadata import entry_points  # here because it takes 20 ms

        try:
            finder_of = next((point.load() for point in entry_points(group=ENTRY_POINTS)), None)
        except ImportError:  # the compiler cannot be imported
            return None
        return finder_of and finder_of(self)

    @cached_property
    def _columns(self) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """The legend's values and remotenesses, and a last row (UNDECIDED, -1) so that index -1 works."""
        legend = self.file.legend
        if isinstance(legend, LegendTable):
            values, remotenesses = legend.table["value"], legend.table["remoteness"]
        else:
            values = np.array([row.value for row in legend], np.uint8)
            remotenesses = np.array([row.remoteness for row in legend], np.int32)
        plies = np.where(remotenesses == NOT_FOUND, -1, remotenesses)
        return np.append(values, np.uint8(UNDECIDED)), np.append(plies, -1).astype(np.int32)

    def _read_legend(self, rows: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return the values and remotenesses of legend rows; row -1 gives UNDECIDED, -1."""
        values, remotenesses = self._columns
        return values[rows], remotenesses[rows]

    @abstractmethod
    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        """Yield (tier, positions, values, remotenesses) of everything stored, in order, a block or so at a time."""

    def close(self) -> None:
        self._block.cache_clear()
        self._outcome.cache_clear()
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"open_database({str(self.file.path)!r})"

    def _repr_html_(self) -> str:
        """Return the start or an example as a picture, its outcome, and a chart of all positions, for notebooks."""
        from retrograde.databases.chart import counts_svg
        from retrograde.games.contract.picture import titled_html

        legend, start = self.file.legend, self.file.start
        picture = titled_html(self.game, legend[-1].example if start is None else start)
        outcome = "An example; the game has no start." if start is None else value_html(*self[start])
        counted = f"{self.file.positions:,} positions by plies to the end, on a logarithmic scale:"
        return f"{picture}<p>{outcome}</p><p>{counted}</p>{counts_svg(legend)}"


def set_example_positions(file: CheckedFile, position_of: Callable[[int], Any]) -> None:
    """Replace numbers of slots or rows in a legend's examples by positions. (A tuple does not fit into the file's.)"""
    if isinstance(file.legend, LegendTable):
        file.legend = LegendTable(file.legend.table, position_of)
        file.start_outcome = None if file.header.start_row is None else file.legend[file.header.start_row]
        return
    legend = {row: row._replace(example=position_of(row.example)) for row in file.legend}
    file.legend = [*legend.values()]
    file.start_outcome = file.start_outcome and legend.get(file.start_outcome, file.start_outcome)
