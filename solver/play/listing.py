"""Lists the positions of a solved game, all or by value, remoteness or tier, as a stream of arrays.

A database of records stores the positions. For slots, compiled rules give each slot's position. Steps store no
positions, so the game is explored again from its start, wave by wave, with scratch files beside the database. Positions
where the game is over are left out there: the database does not store them, and the rules give their values.
"""

import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from html import escape
from operator import index
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from retrograde.databases import Database
from retrograde.databases.bounds.read import BoundsReader
from retrograde.databases.database import BULK
from retrograde.databases.legend import by_outcome
from retrograde.databases.slots.database import SlotsDatabase
from retrograde.databases.steps.read import StepsReader
from retrograde.games.contract.game import RetrogradeError, Traits, Value
from retrograde.games.contract.marks import value_html
from retrograde.solver.play import columns
from retrograde.solver.play.columns import NAMES, Columns
from retrograde.solver.rules.examine import NotCompilable, to_list

ROWS = 1 << 16
"""Positions in one chunk, or more."""
NAMED = {value.name.lower(): value for value in (Value.WIN, Value.LOSE, Value.TIE, Value.DRAW)}
"""The values of positions, by name."""
TIERS_NAMED = 6
"""How many tiers, beside the last, an error names if the requested one does not exist."""


class PositionChunk(NamedTuple):
    """Positions with their tiers, values (uint8, as in Value) and remoteness (int32; DRAW: -1); tuples are rows."""

    tiers: NDArray[np.int64]
    positions: NDArray[np.int64]
    values: NDArray[np.uint8]
    remoteness: NDArray[np.int32]

    @property
    def remotenesses(self) -> NDArray[np.int32]:
        """The old name of `remoteness`."""
        warnings.warn("PositionChunk.remotenesses is now called remoteness", DeprecationWarning, stacklevel=2)
        return self.remoteness

    def each(self) -> list[Any]:
        """Return the positions in the rules' form: ints or tuples of ints."""
        return to_list(self.positions)

    def only(self, which: NDArray[Any] | slice) -> "PositionChunk":
        """Return the chosen positions, by a mask, indices or a slice."""
        return PositionChunk(self.tiers[which], self.positions[which], self.values[which], self.remoteness[which])


FRAMES = {"pandas": columns.pandas_frame, "polars": columns.polars_frame}
"""The function that makes a data frame, by the name of its library."""
SHOWN = 10
"""Positions that a notebook shows."""


class NoTier(RetrogradeError, LookupError):
    """The requested tier does not exist."""


@dataclass(frozen=True)
class Listing:
    """Canonical positions of a database; an iterable of `PositionChunk`, which raises NoTier at its end."""

    database: Database
    value: Value | None = None
    """Only positions of this value."""
    least: int | None = None
    most: int | None = None
    """Only positions with a remoteness from *least* to *most* plies; then no DRAW."""
    tier: int | None = None
    """Only positions of this tier."""

    @classmethod
    def of(
        cls, database: Database, value: Value | str | None, remoteness: int | range | None, tier: int | None
    ) -> Self:
        """Return the listing for a value or its name, a remoteness or a range, and a tier; None for any. Raise
        ValueError or TypeError for anything else."""
        least, most = (None, None) if remoteness is None else read_remoteness(remoteness)
        checked_value = None if value is None else read_value(value)
        return cls(database, checked_value, least, most, None if tier is None else index(tier))

    def __iter__(self) -> Iterator[PositionChunk]:
        """Yield chunks of about ROWS positions, in the order of the file."""
        pending: list[PositionChunk] = []
        tiers: dict[int, None] = {}
        for tier, positions, values, plies in list_records(self.database):
            tiers[tier] = None
            # Filter by tier, value and remoteness.
            selected = self.selects(values, plies) & (self.tier is None or tier == self.tier)
            if selected.any():
                chunk = PositionChunk(np.full(len(positions), tier, np.int64), positions, values, plies)
                pending.append(chunk.only(selected))
            # Collect small chunks until there are enough rows.
            if sum(len(chunk.positions) for chunk in pending) >= ROWS:
                yield concatenate(pending)
                pending = []
        if pending:
            yield concatenate(pending)
        if self.tier is not None and self.tier not in tiers:
            name = self.database.file.variant
            raise NoTier(f"there is no tier {self.tier} in the database of {name}, {tiers_text(tiers)}")

    def selects(self, values: NDArray[Any], plies: NDArray[Any]) -> NDArray[np.bool_]:
        """Return bool[n]: which positions with these *values* and *plies* (DRAW: -1) the listing has, of any tier."""
        selected = np.full(len(values), True)
        if self.value is not None:
            selected &= values == self.value
        if self.least is not None or self.most is not None:
            most = np.iinfo(np.int32).max if self.most is None else self.most
            selected &= (plies >= max(0, self.least or 0)) & (plies <= most)
        return selected

    def __len__(self) -> int:
        """Return the number of positions; for a tier, steps or bounds this lists them all."""
        return self.count

    @cached_property
    def count(self) -> int:
        """The number of positions."""
        if self.tier is not None or isinstance(self.database.file.contents, StepsReader | BoundsReader):
            return sum(len(chunk.positions) for chunk in self)
        rows = by_outcome(self.database.file.legend)
        values, plies = np.array([(row.value, -1 if row.plies is None else row.plies) for row in rows]).T
        stored = np.array([row.stored for row in rows])
        return int(stored[self.selects(values, plies)].sum())

    def sample(self, count: int, seed: int | None = None) -> PositionChunk:
        """Return *count* random positions in the file's order, or all if there are fewer. Each is equally likely."""
        chance = np.random.default_rng(seed)
        # Reservoir sampling: each position gets a random key, and those with the least keys stay.
        reservoir, keys = empty_chunk(self.database), np.empty(0)
        for chunk in self:
            reservoir = concatenate([reservoir, chunk])
            keys = np.concatenate([keys, chance.random(len(chunk.positions))])
            if len(keys) > count:
                kept = np.sort(np.argpartition(keys, count)[:count])
                reservoir, keys = reservoir.only(kept), keys[kept]
        return reservoir

    def _repr_html_(self) -> str:
        """Return the first positions as an HTML table; only the options if the game would have to be explored."""
        if isinstance(self.database.file.contents, StepsReader):
            return f"<p>{escape(repr(self))}</p>"
        first = next(iter(self), empty_chunk(self.database)).only(slice(SHOWN))
        rows = "".join(
            f"<tr><td>{tier}</td><td>{escape(self.database.game.write(position))}</td><td>{value_html(value)}</td>"
            f"<td>{'' if plies < 0 else plies}</td></tr>"
            for tier, position, value, plies in zip(
                first.tiers, first.each(), map(Value, first.values), first.remoteness, strict=True
            )
        )
        heads = "".join(f"<th>{name}</th>" for name in NAMES)
        return f"<table><tr>{heads}</tr>{rows}</table><p>{len(self):,} positions</p>"

    # For other libraries, which the person has

    def to_numpy(self) -> dict[str, NDArray[Any]]:
        """Return all positions as arrays by name: tier, position, value, remoteness."""
        return columns_of(concatenate([empty_chunk(self.database), *iter(self)]))  # a listing itself would be counted

    def to_frame(self, library: str = "pandas") -> Any:
        """Return all positions as a data frame of `pandas` or `polars`; raise NoLibrary if it is not installed.

        Values are categories, from lose to win, and the remoteness of a DRAW is missing.
        """
        if library not in FRAMES:
            raise ValueError(f"no library {library!r} for frames; there are {' and '.join(FRAMES)}")
        return FRAMES[library](self.to_numpy())

    def to_arrow(self) -> Any:
        """Return a `pyarrow.RecordBatchReader` that streams the chunks; raise NoLibrary without pyarrow.

        Values are a dictionary, from lose to win, and the remoteness of a DRAW is null.
        """
        schema = columns.arrow_schema(Traits.of(self.database.game).width > 0)
        batches = (columns.arrow_batch(columns_of(chunk), schema) for chunk in self)
        return columns.import_library("pyarrow").RecordBatchReader.from_batches(schema, batches)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Return an Arrow stream, as `polars.DataFrame(listing)` needs it; uses pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def read_value(given: Value | str) -> Value:
    """Return a value, given as itself or by name; raise ValueError if it is none."""
    if given in NAMED.values():
        return Value(given)  # type: ignore[arg-type]  # mypy does not know that it is none of the names
    if given not in NAMED:
        raise ValueError(f"no position is worth {given!r}; there are {', '.join(NAMED)}")
    return NAMED[given]


def read_remoteness(given: int | range) -> tuple[int, int]:
    """Return the least and the greatest of these numbers of plies; raise ValueError if they are none."""
    if not isinstance(given, range):
        given = range(index(given), index(given) + 1)
    if given.step != 1 or not given or given.start < 0:
        raise ValueError(f"{given} are no numbers of plies, from 0 on, with none left out")
    return given[0], given[-1]


def tiers_text(tiers: Iterable[int]) -> str:
    """Return the existing tiers in words.

    >>> tiers_text(range(100)), tiers_text([3, 1])
    ('of 100 tiers: 0, 1, 2, 3, 4, 5, …, 99', 'of 2 tiers: 1, 3')
    """
    existing = sorted(tiers)
    named = existing if len(existing) <= TIERS_NAMED + 2 else [*existing[:TIERS_NAMED], "…", existing[-1]]
    return f"of {len(existing)} tier{'' if len(existing) == 1 else 's'}: {', '.join(map(str, named))}"


def columns_of(chunk: PositionChunk) -> Columns:
    return dict(zip(NAMES, chunk, strict=True))


def empty_chunk(database: Database) -> PositionChunk:
    width = Traits.of(database.game).width
    positions = np.empty((0, width) if width else 0, np.int64)
    return PositionChunk(np.empty(0, np.int64), positions, np.empty(0, np.uint8), np.empty(0, np.int32))


def concatenate(chunks: list[PositionChunk]) -> PositionChunk:
    tiers, positions, values, plies = (np.concatenate(column) for column in zip(*chunks, strict=True))
    return PositionChunk(tiers, positions, values, plies)


# Every kind of database

TierChunk = tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]
"""(tier, positions, values, remotenesses)."""


def list_records(database: Database) -> Iterator[TierChunk]:
    """Yield all positions of any kind of database."""
    contents = database.file.contents
    if isinstance(contents, StepsReader):
        yield from explore_positions(database)
    elif isinstance(database, SlotsDatabase) and database.contents.slots >= BULK:
        yield from list_slots(database)
    else:
        yield from database.records()


def list_slots(database: SlotsDatabase) -> Iterator[TierChunk]:
    """Yield the positions of slots, by compiled rules if they compile."""
    contents = database.file.contents
    # One slot shows whether the rules compile.
    try:
        from retrograde.solver.play.bulk import SlotsFinder

        finder = SlotsFinder(database)
        finder.positions_of(int(contents.tiers.numbers[0]), 0, 1)
    except (NotCompilable, ImportError):  # or the compiler cannot be imported
        yield from database.records()
        return
    numbers, bounds = contents.tiers
    for tier, begin, end in zip(numbers.tolist(), bounds.tolist(), bounds[1:].tolist(), strict=False):
        for first in range(begin, end, ROWS):
            stop = min(first + ROWS, end)
            positions = finder.positions_of(tier, first - begin, stop - first)
            exists = (positions[:, 0] if positions.ndim > 1 else positions) >= 0
            yield tier, positions[exists], *database._read_legend(database.all_slots(first, stop)[exists])


def explore_positions(database: Database) -> Iterator[TierChunk]:
    """Yield the undecided positions of a game whose database has steps, found by exploring."""
    from retrograde.solver.methods.streamed.segments import load
    from retrograde.solver.play.bulk import finder_of
    from retrograde.solver.runtime.progress import Phase
    from retrograde.solver.verification.steps import list_positions

    finder = finder_of(database)
    beside = database.file.path.parent
    exploring = Phase("exploring", None)
    with ThreadPoolExecutor() as executor, list_positions(database.game, executor, beside, exploring) as forward:
        for wave in forward.waves:
            for tier, tier_list in wave.items():
                for segment in tier_list.segments:
                    positions = load(forward.scratch, segment).astype(np.int64, copy=False)
                    rows = finder.rows(positions) if finder else None
                    assert rows is not None  # rules of a streamed solve always compile
                    yield tier, positions, *database._read_legend(rows)
