"""The layout of a database file, for writer and reader alike. FORMAT.md specifies it in full.

Positions stored one by one (`records`)::

    /  attributes: the game, its options, the start's outcome, digests
    ├── legend    a row for each outcome, a value with a remoteness
    ├── tiers     a row for each tier: its number, its first record, that record's position
    ├── blocks    a row for each block: the position of its first record, the mask, the frame's checksum
    └── records   for each record its row in the legend, and the gap to the rank before; a chunk is a block

The game numbers its positions (`slots`)::

    ├── tiers     a row for each tier: its number, its first slot
    ├── blocks    a row for each block: the frame's checksum
    ├── counts    for each part of a tier and each outcome there, how often it occurs, and where first
    └── slots     for each slot its row in the legend; a chunk is a block

The same without the parts that follow from others (compact files); in place of `slots`::

    ├── parts     a row for each part of each tier: its slots, and where they are kept, if they are
    └── kept      for each slot that is kept its row in the legend; a chunk is a block

Expected payoffs of a game with chance; no `counts`, and in place of `slots`::

    └── bounds    for each slot a lower and an upper bound; a chunk is a block

Large games, as runs of equal outcomes (`steps`); in place of the tables of records::

    ├── tiers     a row for each tier: its number, its first step, where that begins, the mask
    ├── blocks    a row for each block: the rank of its first step, the frame's checksum
    └── steps     for each step its row in the legend, and the gap to the rank before; a chunk is a block

Positions of several words; in place of `records`::

    ├── tiers     a row for each tier: its number, its first row
    ├── blocks    a row for each block: the frame's checksum
    └── rows      for each position its row in the legend, and its words; a chunk is a block

A certificate, a strategy that proves one value, has these only::

    ├── blocks    a row for each block: its first position (or the first word of that), the frame's checksum
    └── replies   for each position the number of its move, perhaps a bound, and the gap to the position before, or its
                  words
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import h5py
import numpy as np

from retrograde.games import DRAW, LOSE, TIE, WIN, Value

FORMAT = "retrograde"
BOOK = "retrograde book"
"""The format of an opening book. It differs from FORMAT so that no program takes a book for a whole solution."""
VERSION = 8
"""The version that is written. Before it, each kind of storage had a version of its own. Version 1 is not read."""
OLDEST_VERSION = 2
CERTIFICATE_VERSION = 3
"""The old version of certificates."""
MEASURED_VERSION = 4
"""The old version of files of metrics other than remoteness, whose legend has additional columns."""
BOUNDS_VERSION = 5
"""The old version of expectations by slot, whose legend has no additional columns."""
TUPLES_VERSION = 6
"""The old version of files of slots or bounds if positions have several words.

There the start is a text, and an example in the legend is the number of a slot through all tiers.
"""
STORAGES = ("records", "rows", "steps", "slots", "compact", "bounds", "replies")
"""The kinds of storage; the attribute `storage` names one."""
METRIC = "remoteness in plies"
NOT_FOUND = (1 << 31) - 1
"""The remoteness, in the legend of an opening book, that the search did not determine."""
CERTIFICATE = "certificate"
"""What the attribute `metric` says in a certificate."""

MAGIC = b"\x89HDF\r\n\x1a\n\x03"
"""HDF5's signature and superblock version 3, in which all of HDF5's metadata has checksums."""
ZSTD = 32015
"""zstd's registered number as a filter of HDF5."""

LEVEL = 3
"""The compression level. Bytes depend on it, so it is not an option. benchmarks/README.md has the measurements."""
BLOCK = 4096
"""Records in a block. Larger blocks compress better, smaller ones are faster to look up. Not an option, like LEVEL."""
SLOT_LEVEL, SLOT_BLOCK = 12, 1 << 14
"""Level and block size for slots: larger blocks cost little in lookups there, and save more."""
FAST_SLOT_LEVEL, MANY_SLOTS = 6, 1 << 27
"""The level for files of MANY_SLOTS and more: half of the time of an ending of five men for 15 % more bytes."""
MANY_QUICK_SLOTS = 1 << 20
"""What MANY_SLOTS is, but for games that are solved so quickly that level 12 takes longer than the rest: two thirds of
the time of all chess endings of four men for 9 % more bytes. It is of no use for other games: pocketcube takes 25 %
more bytes."""
COMPACT_LEVEL, COMPACT_BLOCK = 19, 1 << 16
"""Level and block size for compact files, which are made once, to be small."""
BOUNDS_LEVEL = 3
"""The level for bounds. Half of their bytes look random, so that more effort gains nothing."""
STEP_LEVEL, STEP_BLOCK = 7, 1 << 14
"""Level and block size for steps."""
FAST_STEP_LEVEL, MANY_STEPS = 3, 1 << 24
"""The level for files of MANY_STEPS and more: an eighth of the time of a large solve for 8 % more bytes."""
DERIVED = -1
"""The value of `kept` for a part that is not kept: its outcomes follow from the positions' children."""
CERTIFICATE_LEVEL, CERTIFICATE_BLOCK = 19, 1 << 16
"""Level and block size for certificates, which are read as a whole."""
MOST_LEAVES = 15
"""The most plies that a verifier may have to search itself for what is not stored."""

VALUES = h5py.enum_dtype({value.name: int(value) for value in (LOSE, DRAW, TIE, WIN)}, "u1")
"""The type of the legend's values: HDF5 programs show their names."""
LEGEND = np.dtype(
    [("value", VALUES), ("remoteness", "<i4"), ("positions", "<i8"), ("stored", "<i8"), ("example", "<i8")]
)
TIERS = np.dtype([("tier", "<i8"), ("record", "<i8"), ("position", "<i8")])
BLOCKS = np.dtype([("position", "<i8"), ("mask", "<i8"), ("check", "<u4")])
SLOT_TIERS = np.dtype([("tier", "<i8"), ("slot", "<i8")])
SLOT_BLOCKS = np.dtype([("check", "<u4")])
PARTS = np.dtype([("slot", "<i8"), ("slots", "<i8"), ("kept", "<i8"), ("columns", "<i8")])
STEP_TIERS = np.dtype([("tier", "<i8"), ("step", "<i8"), ("position", "<i8"), ("mask", "<i8")])
STEP_BLOCKS = np.dtype([("rank", "<i8"), ("check", "<u4")])
CERTIFICATE_BLOCKS = np.dtype([("position", "<i8"), ("check", "<u4")])
BOUNDS = np.dtype([("low", "<i8"), ("width", "<i8")])
COUNTS = np.dtype(
    [("tier", "<i8"), ("part", "<i4"), ("outcome", "<i4"), ("positions", "<i8"), ("stored", "<i8"), ("example", "<i8")]
)
GAPS = np.dtype("<u4"), np.dtype("<u8")

DESCRIPTIONS = {
    "legend": (
        "Outcomes: a value with a remoteness, and how many positions have it; `example` is the first such position",
        "remoteness: plies to the end, -1 for DRAW; positions, stored: positions, with and without symmetric ones",
    ),
    "tiers": ("Tiers: the number of each, and where it begins", "an index into the items"),
    "blocks": ("Blocks of items: the first item of each, and the checksum of its frame", "zstd's checksum of a frame"),
    "counts": ("How often each outcome occurs in each part of each tier", "positions, stored: positions"),
    "parts": ("Parts of tiers: their slots, and where these are kept, -1 if they are not", "slots"),
    "records": ("Positions, sorted within each tier, with their outcomes", "outcome: row of the legend; gap: ranks"),
    "rows": ("Positions word by word, sorted within each tier, with their outcomes", "outcome: row of the legend"),
    "steps": ("Positions of each tier where the outcome changes", "outcome: row of the legend; gap: ranks"),
    "slots": ("The outcome of each slot, tier after tier", "row of the legend"),
    "kept": ("The outcome of each slot that is kept", "row of the legend"),
    "bounds": ("Bounds of each slot's expected payoff for player 0", "parts of a point, see `scale` in `details`"),
    "replies": (
        "Positions of a strategy, each with the number of its move",
        "reply: moves; bound: plies; gap: positions",
    ),
}
"""What each dataset holds, and in what unit: its attributes `description` and `unit`."""


class LegendRow(NamedTuple):
    """A row of the legend: an outcome, and how many positions have it."""

    value: Value
    remoteness: int
    """Plies to the end; -1 for a DRAW."""
    positions: int
    """The number of reachable positions with this outcome, symmetric ones counted."""
    stored: int
    """The number of records with this outcome."""
    example: int
    """The least canonical position with this outcome in the lowest tier that has one. If positions are tuples, the
    number of its slot through all tiers.
    """
    measures: tuple[int, ...] = ()
    """The additional measures, such as a score, if the metric is not remoteness."""

    @property
    def plies(self) -> int | None:
        """The remoteness, or None if there is no end or the remoteness was not determined."""
        return None if self.remoteness in (-1, NOT_FOUND) else self.remoteness


class CountRow(NamedTuple):
    """How often an outcome occurs in a part of a tier, for games with slots."""

    tier: int
    part: int
    """The number of the part in the tier."""
    outcome: int
    """The row of the legend."""
    positions: int
    """The number of positions, symmetric ones counted."""
    stored: int
    """The number of slots."""
    example: int
    """The position of the first slot with this outcome; if positions are tuples, that slot's number through all tiers.
    """


class PartRow(NamedTuple):
    """A part of a tier in a compact file."""

    slot: int
    """The part's first slot, numbered through all tiers."""
    slots: int
    """The number of its slots."""
    kept: int
    """Where its slots begin in the dataset `kept`, or DERIVED."""
    columns: int
    """Its slots form rows of this many columns, and are stored column by column."""


def legend_dtype(measures: Sequence[str]) -> np.dtype[Any]:
    """Return the type of a legend's rows, with additional columns named *measures*."""
    return np.dtype([*((name, LEGEND[name]) for name in LEGEND.names or ()), *((name, "<i8") for name in measures)])


def outcome_dtype(legend_rows: int) -> np.dtype[Any]:
    """Return the narrowest unsigned type that holds a legend's row numbers."""
    return np.dtype(f"<u{np.min_scalar_type(max(legend_rows - 1, 0)).itemsize}")


def gap_dtype(greatest: int) -> np.dtype[Any]:
    """Return the gap type (32 or 64 bits) for positions up to *greatest*."""
    return GAPS[greatest.bit_length() > 32]


def records_dtype(outcome: np.dtype[Any], gap: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of a record, or of a step: an outcome, and the gap to the rank before."""
    return np.dtype([("outcome", outcome), ("gap", gap)])


def word_names(width: int) -> list[str]:
    """Return the names of the columns that hold the words of a position."""
    return [f"word{k}" for k in range(width)]


def rows_dtype(outcome: np.dtype[Any], width: int) -> np.dtype[Any]:
    """Return the type of a row: an outcome, and the words of a position."""
    return np.dtype([("outcome", outcome), *((name, "<i8") for name in word_names(width))])


def replies_dtype(greatest: int, bounds: bool, gap: np.dtype[Any] | None, width: int = 0) -> np.dtype[Any]:
    """Return the type of a certificate's rows. *greatest* is the greatest reply, and *bounds* adds a column.

    Positions are stored as a *gap* or, if they are tuples, as their *width* words.
    """
    reply = np.dtype("<u2" if greatest > 255 else "u1")
    position = [("gap", gap)] if gap else [(name, "<i8") for name in word_names(width)]
    return np.dtype([("reply", reply), *([("bound", "<u2")] if bounds else []), *position])


def create_file(path: bytes) -> h5py.File:
    """Create an HDF5 file with checksums on all metadata, and without timestamps."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    creation.set_attr_phase_change(64, 0)  # keeps attributes in the root's header
    return h5py.File(h5py.h5f.create(path, h5py.h5f.ACC_TRUNC, creation, access))


def create_dataset(
    file: h5py.File, name: str, dtype: np.dtype[Any], length: int, chunk: int, level: int | None = LEVEL
) -> h5py.h5d.DatasetID:
    """Create a dataset whose chunks the caller writes: zstd frames of planes, or plain bytes if *level* is None."""
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((chunk,))
    creation.set_obj_track_times(False)
    if level is not None:
        if dtype.itemsize > 1:
            creation.set_shuffle()
        creation.set_filter(ZSTD, h5py.h5z.FLAG_OPTIONAL, (level,))  # mandatory would need a plugin
    kind = h5py.h5t.py_create(dtype, logical=True)
    dataset = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((length,)), dcpl=creation)
    for attribute, content in zip(("description", "unit"), DESCRIPTIONS[name], strict=True):
        h5py.Dataset(dataset).attrs.create(attribute, np.bytes_(content.encode()))
    return dataset
