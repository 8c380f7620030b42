"""A database file as arrays and facts, without any rules.

Everything read is checked: metadata by HDF5, contents by zstd's checksums, and what they say against one another. Any
damage, wherever it shows, is one error that names the file.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

import h5py
import numpy as np
import zstandard
from numpy.typing import NDArray

from retrograde.databases.encoding import Runs, decode_block, from_planes, mask_runs, spread, unpack
from retrograde.databases.errors import DamagedDatabase, NoDatabase, NotADatabase, VersionTooNew
from retrograde.databases.layout import (
    BLOCKS,
    FORMAT,
    GAPS,
    LEGEND,
    MAGIC,
    TIERS,
    VERSION,
    LegendRow,
    outcome_dtype,
    read_attributes,
)
from retrograde.games import DRAW, LOSE, WIN, RetrogradeError, Value

Result = TypeVar("Result")

POSITION_LIMIT = 1 << 62


class Block(NamedTuple):
    """A decoded block: what is needed to look one position up, quickly.

    Its arrays are memoryviews, whose items are plain ints and cost half as much as NumPy's.
    """

    runs: Runs
    others: int
    """The bits that are not under the mask."""
    ranks: memoryview
    outcomes: memoryview


class Piece(NamedTuple):
    """Consecutive records of one tier."""

    tier: int
    positions: NDArray[np.int64]
    outcomes: NDArray
    """Rows of the legend."""


class DatabaseFile:
    """An open database file: attributes, tables, and blocks of records. A context manager."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._lock = threading.Lock()
        check_magic(self.path)
        self._file = self._guarded(lambda: h5py.File(os.fsencode(self.path), "r", locking=False))
        try:
            self._attributes = self._guarded(lambda: read_attributes(self._file))
            self._check_version()
            self._guarded(self._read_metadata)
        except BaseException:
            self._file.close()
            raise

    def _guarded(self, read: Callable[[], Result]) -> Result:
        """Return what *read* returns; whatever it raises means damage."""
        try:
            return read()
        except RetrogradeError:
            raise
        except Exception as error:  # HDF5, h5py, zstd and json have many kinds
            raise DamagedDatabase(f"the database {str(self.path)!r} is damaged ({first_line(error)})") from error

    def _check_version(self) -> None:
        if self._attributes.get("format") != FORMAT:
            raise NotADatabase(f"{str(self.path)!r} is an HDF5 file, but no database of retrograde")
        number = self._attributes.get("format_version")
        if isinstance(number, int) and number > VERSION:
            raise VersionTooNew(
                f"the database {str(self.path)!r} has format version {number}, and this retrograde reads up to {VERSION}; "
                "install a newer one"
            )

    def _read_metadata(self) -> None:
        facts = self._attributes
        self.variant: str = facts["variant"]
        self.game_name: str = facts["game"]
        self.options: dict[str, object] = json.loads(facts["options"])
        self.rules: str = facts["rules"]
        self.metric: str = facts["metric"]
        self.made_with: str = facts["made_with"]
        self.positions: int = facts["positions"]
        self.stored: int = facts["stored"]
        self.start: int | None = facts.get("start")
        self._datasets = {name: self._file[name].id for name in ("legend", "tiers", "blocks", "gaps", "outcomes")}
        self.legend = [LegendRow(Value(row[0]), *row[1:]) for row in self._table("legend", LEGEND).tolist()]
        check_legend(self.legend, self.positions, self.stored)
        self.start_outcome: LegendRow | None = None
        if self.start is not None:
            outcome = facts["start_value"], facts["start_remoteness"]
            self.start_outcome = next(row for row in self.legend if (row.value, row.remoteness) == outcome)
        self.block_size: int = self._datasets["gaps"].get_create_plist().get_chunk()[0]
        self._outcome_dtype = outcome_dtype(len(self.legend))
        for name, dtype in (("gaps", GAPS), ("outcomes", self._outcome_dtype)):
            self._expect(name, dtype, self.stored, self.block_size)

    def _expect(self, name: str, dtype: np.dtype, length: int, chunk: int) -> None:
        dataset = self._datasets[name]
        if (dataset.dtype, dataset.shape) != (dtype, (length,)) or dataset.get_create_plist().get_chunk() != (chunk,):
            raise ValueError(f"the dataset {name} has another type or shape than it should")

    def _table(self, name: str, dtype: np.dtype) -> NDArray:
        """Return a dataset of one chunk."""
        length = self._datasets[name].shape[0]
        self._expect(name, dtype, length, length)
        return from_planes(self._planes(zstandard.ZstdDecompressor(), name, 0, dtype, length), dtype, length)

    def _planes(
        self, decompressor: zstandard.ZstdDecompressor, name: str, first: int, dtype: np.dtype, length: int
    ) -> NDArray[np.uint8]:
        skipped_filters, frame = self._datasets[name].read_direct_chunk((first,))
        if skipped_filters:
            raise ValueError(f"a chunk of {name} is not compressed")
        content = unpack(decompressor, frame, length * dtype.itemsize)
        return np.frombuffer(content, np.uint8).reshape(dtype.itemsize, length)

    @cached_property
    def tiers(self) -> NDArray:
        """The table of tiers: `tier`, `record`, `position`; and one row more that says where the last one ends."""
        return self._locked(self._read_tiers)

    @cached_property
    def blocks(self) -> NDArray:
        """The table of blocks: `position`, `mask`."""
        return self._locked(self._read_blocks)

    def _locked(self, read: Callable[[], Result]) -> Result:
        with self._lock:
            return self._guarded(read)

    def _read_tiers(self) -> NDArray:
        tiers = self._table("tiers", TIERS)
        end = np.array([(0, self.stored, 0)], TIERS)
        table = np.concatenate([tiers, end])
        ascends = (tiers["tier"][1:] > tiers["tier"][:-1]).all() and (np.diff(table["record"]) > 0).all()
        if not ascends or tiers["record"][0] != 0 or not are_positions(tiers["position"]):
            raise ValueError("the table of tiers contradicts itself")
        return table

    def _read_blocks(self) -> NDArray:
        blocks = self._table("blocks", BLOCKS)
        if len(blocks) != -(-self.stored // self.block_size):
            raise ValueError("the table of blocks does not match the number of records")
        if not are_positions(blocks["position"]) or not are_positions(blocks["mask"]):
            raise ValueError("the table of blocks holds what no position can be")
        return blocks

    def read_block(self, number: int) -> Block:
        """Return a block, decoded."""
        begins, firsts, _ = self._segments(number)
        ranks, outcomes = self._read_records(number, begins, firsts)
        mask = int(self.blocks["mask"][number])
        return Block(mask_runs(mask), ~mask, memoryview(ranks), memoryview(outcomes))

    def pieces(self) -> Iterator[Piece]:
        """Yield all records in order; a piece is a tier, or what of it lies in one block."""
        for number in range(len(self.blocks)):
            begins, firsts, tiers = self._segments(number)
            ranks, outcomes = self._read_records(number, begins, firsts)
            mask = int(self.blocks["mask"][number])
            ends = [*begins[1:].tolist(), len(ranks)]
            positions = spread(ranks, mask_runs(mask)) | np.repeat(firsts & ~mask, np.diff(begins, append=len(ranks)))
            for tier, begin, end in zip(tiers.tolist(), begins.tolist(), ends, strict=True):
                yield Piece(tier, positions[begin:end], outcomes[begin:end])

    def _segments(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the indices in a block where tiers begin, 0 first, the positions there, and the tiers."""
        low = number * self.block_size
        table = self.tiers
        first, last = np.searchsorted(table["record"], [low + 1, min(low + self.block_size, self.stored)])
        begins = np.concatenate([[0], table["record"][first:last] - low])
        firsts = np.concatenate([self.blocks["position"][number : number + 1], table["position"][first:last]])
        return begins, firsts, table["tier"][first - 1 : last]

    def _read_records(
        self, number: int, begins: NDArray[np.int64], firsts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray]:
        """Return the ranks and the outcomes of a block."""
        mask, size = int(self.blocks["mask"][number]), self.block_size
        low = number * size
        count = min(size, self.stored - low)

        def read() -> tuple[NDArray[np.int64], NDArray]:
            gaps = self._planes(self._decompressor, "gaps", low, GAPS, size)
            outcomes = from_planes(
                self._planes(self._decompressor, "outcomes", low, self._outcome_dtype, size), self._outcome_dtype, count
            )
            if int(outcomes.max()) >= len(self.legend):
                raise ValueError("an outcome is not in the legend")
            return decode_block(gaps, count, begins, firsts, mask), outcomes

        return self._locked(read)

    @cached_property
    def _decompressor(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor()

    def close(self) -> None:
        """Close the file; what is decoded stays."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> "DatabaseFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DatabaseFile({str(self.path)!r})"


def check_magic(path: Path) -> None:
    """Raise the error that fits a file that is missing, empty, or not HDF5 as we write it."""
    try:
        with open(path, "rb") as stream:
            magic = stream.read(len(MAGIC))
    except FileNotFoundError:
        raise NoDatabase(f"no database {str(path)!r}; see what there is with: retrograde list") from None
    except OSError as error:
        raise DamagedDatabase(f"cannot read the database {str(path)!r}: {error.strerror}") from error
    if not magic:
        raise NotADatabase(f"{str(path)!r} is empty, and no database")
    if magic != MAGIC:
        raise NotADatabase(f"{str(path)!r} is no database of retrograde")


def check_legend(legend: list[LegendRow], positions: int, stored: int) -> None:
    """Raise ValueError where a legend contradicts itself or the counts."""
    order = [(row.value, row.remoteness) for row in legend]
    sound = all(
        LOSE <= row.value <= WIN and (row.remoteness >= 0 or (row.value, row.remoteness) == (DRAW, -1)) for row in legend
    )
    sums = sum(row.positions for row in legend), sum(row.stored for row in legend)
    if not sound or order != sorted(set(order)) or sums != (positions, stored) or min(row.stored for row in legend) < 1:
        raise ValueError("the legend contradicts itself")


def are_positions(numbers: NDArray[np.int64]) -> bool:
    return bool(((numbers >= 0) & (numbers < POSITION_LIMIT)).all())


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
