"""A database is a solved game: ask it for any position, and it gives the value and the remoteness.

>>> with open_database("tictactoe") as db:
...     db[db.game.start]
Outcome(value=<Value.TIE: 3>, remoteness=9)
"""

import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import lru_cache
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.databases.encoding import squeeze
from retrograde.databases.errors import NoDatabase, NotInDatabase, OtherRules
from retrograde.databases.file import POSITION_LIMIT, DatabaseFile
from retrograde.databases.location import SUFFIX, database_path
from retrograde.games import UNDECIDED, Game, Value

CACHE_BLOCKS = 64
"""Decoded blocks kept by default: 36 to 72 KB each."""


class Outcome(NamedTuple):
    """What a position is worth to the player to move, and how many plies from the end it is (None: no end)."""

    value: Value
    remoteness: int | None


class Database:
    """A solved game, read from a file as it is asked: a mapping of positions to outcomes, and a context manager.

    Any position that play can reach from the start may be asked for; symmetric ones are stored once.
    """

    def __init__(self, file: DatabaseFile, game: Game, cache_blocks: int = CACHE_BLOCKS):
        self.file = file
        self.game = game
        self._outcomes = [Outcome(row.value, None if row.remoteness < 0 else row.remoteness) for row in file.legend]
        self._canonical, self._tier = game.canonical, game.tier
        self._open(cache_blocks)

    def _open(self, cache_blocks: int) -> None:
        """Read the tables."""
        file = self.file
        # Memoryviews give plain ints, at half of what an item of an array costs.
        self._tier_table = [column.data for column in file.tiers]
        self._block_firsts = file.blocks.positions.data
        self._block_size = file.block_size
        self._block = lru_cache(cache_blocks)(file.read_block)
        self._stretch = lru_cache(4096)(self._find_stretch)

    def check_start(self) -> None:
        """Raise DamagedDatabase where the file says of the start what it does not say of that position elsewhere."""
        start, row = self.file.start, self.file.start_outcome
        if start is None and hasattr(self.game, "start"):
            raise self.file.damaged("it says nothing of the start")
        if start is not None and row and self.get(start) != (row.value, None if row.remoteness < 0 else row.remoteness):
            raise self.file.damaged("the start is worth one thing here, and another there")

    def __getitem__(self, position: int) -> Outcome:
        """Return a position's outcome; raise NotInDatabase where play never reaches it."""
        outcome = self.get(position)
        if outcome is None:
            raise NotInDatabase(f"position {position} of {self.file.variant} cannot be reached from the start")
        return outcome

    def get(self, position: int, default: Any = None) -> Any:
        """Return a position's outcome, or a default where play never reaches it."""
        if (place := self._locate(index(position))) and (row := self._find(*place)) >= 0:
            try:
                return self._outcomes[row]
            except IndexError:
                raise self.file.damaged("an outcome is not in the legend") from None
        return default

    def _locate(self, position: int) -> tuple[int, int] | None:
        """Return the canonical position and its tier, or None for what cannot be a position."""
        if not 0 <= position < POSITION_LIMIT:
            return None
        try:
            canonical = self._canonical(position)
            if canonical != position and position not in self.game.images(canonical):
                return None  # the symmetry has dropped bits that are no part of a position
            return canonical, self._tier(canonical)
        except (ArithmeticError, LookupError, ValueError):
            return None  # rules need not cope with what is no position

    def _find(self, position: int, tier: int) -> int:
        """Return the row of the legend for a canonical position of a tier, or -1."""
        if (stretch := self._stretch(tier)) is None:
            return -1
        low, high, first, number, last = stretch
        if number < last:
            number = bisect_right(self._block_firsts, position, number + 1, last + 1) - 1
        runs, others, sums, outcomes = self._block(number)
        record = number * self._block_size
        if low < record:  # the tier began in a block before
            low, first = record, self._block_firsts[number]
        if (position ^ first) & others:
            return -1
        i, end = low - record, min(high - record, len(sums))
        wanted = sums[i]
        for bits, shift in runs:
            wanted += ((position & bits) >> shift) - ((first & bits) >> shift)
        i = bisect_left(sums, wanted, i, end)
        return outcomes[i] if i < end and sums[i] == wanted else -1

    def _find_stretch(self, tier: int) -> tuple[int, int, int, int, int] | None:
        """Return a tier's first record, the one after its last, its first position, its first and last block."""
        numbers, bounds, positions = self._tier_table
        row = bisect_left(numbers, tier)
        if row == len(numbers) or numbers[row] != tier:
            return None
        low, high = bounds[row], bounds[row + 1]
        return low, high, positions[row], low // self._block_size, (high - 1) // self._block_size

    def __contains__(self, position: object) -> bool:
        return self.get(position) is not None  # type: ignore[arg-type]  # get() takes anything

    def __len__(self) -> int:
        """Return the number of positions that can be reached, symmetric ones counted."""
        return self.file.positions

    def lookup(
        self, positions: ArrayLike, *, canonical: bool = False, tiers: ArrayLike | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return values (uint8, as in Value) and remotenesses (int32) of an array of positions, in its shape.

        A DRAW has remoteness -1; a position that cannot be reached is UNDECIDED, with -1. Say *canonical* where all
        positions are canonical already, and give their *tiers* too where those are known: then no rule is called.
        """
        array = np.asarray(positions)
        if array.size and array.dtype.kind not in "iu":
            raise TypeError(f"positions are whole numbers, not {array.dtype}")
        keys = np.where((array >= 0) & (array < POSITION_LIMIT), array, -1).astype(np.int64).ravel()
        if tiers is not None:
            tier_numbers = np.broadcast_to(np.asarray(tiers, np.int64), array.shape).ravel()
        elif canonical:
            tier_numbers = np.array([self._tier(key) if key >= 0 else 0 for key in keys.tolist()], np.int64)
        else:
            places = [self._locate(key) or (-1, 0) for key in keys.tolist()]
            keys, tier_numbers = np.array(places, np.int64).reshape(-1, 2).T
        rows = self._find_all(keys, tier_numbers)
        self.file.check_outcomes(rows)
        legend = [*self.file.legend, (UNDECIDED, -1)]  # the last for row -1
        values = np.array([row[0] for row in legend], np.uint8)[rows]
        remoteness = np.array([row[1] for row in legend], np.int32)[rows]
        return values.reshape(array.shape), remoteness.reshape(array.shape)

    def _find_all(self, positions: NDArray[np.int64], tiers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `_find` does for each of many positions, decoding each block once."""
        size, table, block_firsts = self._block_size, self.file.tiers, self.file.blocks.positions
        rows = np.full(len(positions), -1, np.int64)
        i = np.minimum(table.numbers.searchsorted(tiers), len(table.numbers) - 1)
        asked = np.flatnonzero((positions >= 0) & (table.numbers[i] == tiers))
        i, positions = i[asked], positions[asked]
        low, high = table.bounds[i], table.bounds[i + 1]
        numbers = count_below(block_firsts, positions + 1, low // size + 1, (high - 1) // size + 1) - 1
        inside = low < numbers * size  # the tier began in a block before
        firsts = np.where(inside, block_firsts[numbers], table.positions[i])
        low, high = np.maximum(low - numbers * size, 0), np.minimum(high - numbers * size, size)
        order = np.argsort(numbers, kind="stable")
        cuts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        for group in np.split(order, cuts[1:]) if len(order) else []:
            block = self._block(int(numbers[group[0]]))
            sums, outcomes = np.asarray(block.sums), np.asarray(block.outcomes)
            wanted = squeeze(positions[group], block.runs) - squeeze(firsts[group], block.runs) + sums[low[group]]
            j = count_below(sums, wanted, low[group], high[group])
            found = (j < high[group]) & ((positions[group] ^ firsts[group]) & block.others == 0)
            found[found] = sums[j[found]] == wanted[found]
            rows[asked[group[found]]] = outcomes[j[found]]
        return rows

    def records(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]]:
        """Yield (tier, positions, values, remotenesses) for all records in order, as many at a time as lie together."""
        values = np.array([row.value for row in self.file.legend], np.uint8)
        remotenesses = np.array([row.remoteness for row in self.file.legend], np.int32)
        for tier, positions, outcomes in self.file.pieces():
            yield tier, positions, values[outcomes], remotenesses[outcomes]

    def close(self) -> None:
        """Close the file."""
        self._block.cache_clear()
        self.file.close()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"open_database({str(self.file.path)!r})"


def count_below(
    items: NDArray[np.int64], keys: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each key the index in [low, high] before which items are less; items ascend within each such range.

    >>> count_below(np.array([2, 4, 6, 1, 3, 5]), np.array([4, 4]), np.array([0, 3]), np.array([3, 6])).tolist()
    [1, 5]
    """
    low, high = low.copy(), high.copy()
    while len(active := np.flatnonzero(low < high)):
        middle = (low[active] + high[active]) >> 1
        less = items[middle] < keys[active]
        low[active] = np.where(less, middle + 1, low[active])
        high[active] = np.where(less, high[active], middle)
    return low


def open_database(
    variant_or_path: str | os.PathLike[str],
    *,
    game: Game | None = None,
    home: str | os.PathLike[str] | None = None,
    cache_blocks: int = CACHE_BLOCKS,
) -> Database:
    """Open a database by its variant, or by its path: whatever is a Path or ends in .h5.

    The rules are those of a game that is installed, or that was solved here, or given as *game*; a file never leads to
    code elsewhere. *home* is another folder than the usual one. Raises NoDatabase, NotADatabase, DamagedDatabase,
    VersionTooNew, OtherRules where the rules have changed since, or VariantError where they are not at hand.
    """
    if isinstance(variant_or_path, os.PathLike) or variant_or_path.endswith(SUFFIX):
        path = Path(variant_or_path)
    else:
        path, game = find_database(variant_or_path, game, home)
    file = DatabaseFile(path)
    try:
        return database_of(file, matching_game(file, game), cache_blocks)
    except BaseException:
        file.close()
        raise


def database_of(file: DatabaseFile, game: Game, cache_blocks: int = CACHE_BLOCKS) -> Database:
    """Return the database of a file, of the kind that the file is."""
    if file.dense:
        from retrograde.databases.slots.database import DenseDatabase

        return DenseDatabase(file, game, cache_blocks)
    if file.stepped:
        from retrograde.databases.steps.database import SteppedDatabase

        return SteppedDatabase(file, game, cache_blocks)
    return Database(file, game, cache_blocks)


def find_database(text: str, game: Game | None, home: str | os.PathLike[str] | None) -> tuple[Path, Game]:
    """Return the path of a variant's database, which is there, and the game."""
    from retrograde.games.catalog import load_game, variant

    game = game or load_game(text)
    path = database_path(variant(game), home)
    if not path.exists():
        raise NoDatabase(f"no database for {variant(game)}; make it with: retrograde solve {text}")
    return path, game


def matching_game(file: DatabaseFile, game: Game | None) -> Game:
    """Return the game of a database; raise OtherRules where its rules are not those that made the database.

    Raises VariantError where they are not at hand, DamagedDatabase where the file says of them what cannot be.
    """
    from retrograde.games.catalog import find_game, variant

    digest = digest_in(file.header.version)
    game = game or find_game(file.variant, lambda cls: digest(cls) == file.rules)
    if variant(game) != file.variant:
        raise OtherRules(f"the database {str(file.path)!r} is of {file.variant}, not of {variant(game)}")
    if digest(type(game)) != file.rules:
        raise OtherRules(
            f"the database {str(file.path)!r} was made with other rules of {file.variant}; "
            "solve it again with --fresh, where the others are not those you want"
        )
    if file.start is not None and file.start != getattr(game, "start", None):
        raise file.damaged(f"its start is {file.start}, and by the rules {getattr(game, 'start', None)}")
    if options_text(game) != json.dumps(file.options, sort_keys=True, ensure_ascii=False):
        raise file.damaged(f"its options are not those of {file.variant}")
    return game


def digest_in(version: int) -> Callable[[type[Game]], str]:
    """Return the function that gives the digest of a game's rules in a version of the format."""
    from retrograde.games.catalog import legacy_digest, rules_digest

    return rules_digest if version > 1 else legacy_digest


def options_text(game: Game) -> str:
    """Return all options of a game as JSON."""
    return json.dumps(asdict(game), sort_keys=True, ensure_ascii=False)  # type: ignore[call-overload]  # a dataclass
