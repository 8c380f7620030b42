"""What is where in a database file, for the writer and the reader alike; FORMAT.md is the page for people::

/  attributes: what game this is, and what came out
├── legend    a row for each outcome, a value with a remoteness
├── tiers     a row for each tier: its number, its first record, that record's position
├── blocks    a row for each block: the position of its first record, the mask, the frame's checksum
└── records   for each record its row in the legend, and the gap to the rank before; a chunk is a block

or, where the rules of the game number its positions densely, in place of the last three::

├── tiers     a row for each tier: its number, its first slot
├── blocks    a row for each block: the frame's checksum
├── counts    for each part of a tier and each outcome there, how often it is there, and where first
└── slots     for each slot its row in the legend; a chunk is a block

or, where of some sides to move nothing is kept, since it follows from the other's, in place of the last one::

├── parts     a row for each part of each tier: its slots, and where they are kept, if they are
└── kept      for each slot that is kept its row in the legend; a chunk is a block

or, where there is chance, in place of the last four::

├── tiers     a row for each tier: its number, its first slot
├── blocks    a row for each block: the frame's checksum
└── bounds    for each slot two numbers between which it is worth; a chunk is a block

or, for large games solved in a stream, in place of the last three::

├── tiers     a row for each tier: its number, its first step, where that begins, the mask
├── blocks    a row for each block: the rank of its first step, the frame's checksum
└── steps     for each step its row in the legend, and the gap to the rank before; a chunk is a block

or, in a certificate, which is no solved game but a strategy that proves a value, of all these only::

├── blocks    a row for each block: its first position, the frame's checksum
└── replies   for each position the number of its move, perhaps a bound, and the gap to the position before
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import h5py
import numpy as np

from retrograde.games import Value

FORMAT = "retrograde"
BOOK = "retrograde book"
"""The format of an opening book, so that nobody takes it for the solution of a whole game."""
VERSION = 2
"""Version 1, which is read as well, has no column `check`, and neither the attribute `checks` nor `digest`."""
CERTIFICATE_VERSION = 3
"""The version of files that hold a certificate, which older readers do not know."""
MEASURED_VERSION = 4
"""The version of files of another metric than remoteness, whose legend has more columns."""
BOUNDS_VERSION = 5
"""The version of files of expectations by slot, whose legend has no more columns."""
TUPLES_VERSION = 6
"""The version of files of slots, or of bounds, of games whose positions are tuples of ints: there the start is text,
and an example the number of its slot among those of all tiers."""
COMPACT_VERSION = 7
"""The version of compact files, which keep the slots of some parts of tiers alone."""
METRIC = "remoteness in plies"
NOT_FOUND = (1 << 31) - 1
"""The remoteness, in the legend of an opening book, of what is that far from its end nobody knows."""
CERTIFICATE = "certificate"
"""What stands in the place of a metric in a file that holds a certificate."""


MAGIC = b"\x89HDF\r\n\x1a\n\x03"
"""HDF5's signature and the version of the superblock, which says that all its metadata has checksums."""

ZSTD = 32015
"""The number under which zstd is registered as a filter of HDF5."""

LEVEL = 3
"""The level of compression: bytes depend on it, so it is no option. FORMAT.md has the measurements."""

BLOCK = 4096
"""Records in a block, if there are as many: larger compresses better, smaller is looked up faster. As LEVEL."""

SLOT_LEVEL, SLOT_BLOCK = 12, 1 << 14
"""The same for dense numberings, where more slots cost little to look up, and gain more."""

COMPACT_LEVEL, COMPACT_BLOCK = 19, 1 << 16
"""The same for what is kept in compact files, which are made once, to be small."""

BOUNDS_LEVEL = 3
"""Of bounds, half of whose bytes look like chance's own."""

STEP_LEVEL, STEP_BLOCK = 7, 1 << 14
"""The same for steps."""

DERIVED = -1
"""In the place of where the slots of a part are kept: each follows from the position's children."""

CERTIFICATE_LEVEL, CERTIFICATE_BLOCK = 19, 1 << 16
"""The same for certificates, which are read as a whole."""

MOST_LEAVES = 15
"""Plies within which a verifier may have to decide by itself what is not stored."""

LEGEND = np.dtype([("value", "u1"), ("remoteness", "<i4"), ("positions", "<i8"), ("stored", "<i8"), ("example", "<i8")])
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


class LegendRow(NamedTuple):
    """An outcome, and what has it."""

    value: Value
    remoteness: int
    """Plies to the end; -1 for a DRAW."""
    positions: int
    """How many reachable positions have it, symmetric ones counted."""
    stored: int
    """How many records have it."""
    example: int
    """The canonical position that has it in the lowest tier, the least there; where positions are tuples, the number of
    its slot among those of all tiers."""
    measures: tuple[int, ...] = ()
    """What else it is, where the metric is another than remoteness: a score, say."""

    @property
    def plies(self) -> int | None:
        """The remoteness, or None where there is no end, or nobody has found out how far it is."""
        return None if self.remoteness in (-1, NOT_FOUND) else self.remoteness


class CountRow(NamedTuple):
    """An outcome in a part of a tier of a dense numbering."""

    tier: int
    part: int
    """The number of the part in the tier."""
    outcome: int
    """The row of the legend."""
    positions: int
    """How many positions have it, symmetric ones counted."""
    stored: int
    """How many slots have it."""
    example: int
    """The position of the first slot that has it; where positions are tuples, that slot's number among all."""


class PartRow(NamedTuple):
    """A part of a tier in a compact file."""

    slot: int
    """Its first slot among those of all tiers..."""
    slots: int
    """...and how many it has."""
    kept: int
    """Where among the slots that are kept its own begin; DERIVED, where they are not."""
    columns: int
    """Its slots, as rows of so many columns, are kept column after column."""


def legend_dtype(measures: Sequence[str]) -> np.dtype[Any]:
    """Return the type of the rows of a legend that has more columns, of these names."""
    return np.dtype([*((name, LEGEND[name]) for name in LEGEND.names or ()), *((name, "<i8") for name in measures)])


def outcome_dtype(legend_rows: int) -> np.dtype[Any]:
    """Return the narrowest type that holds the rows of a legend."""
    return np.dtype(f"<u{np.min_scalar_type(max(legend_rows - 1, 0)).itemsize}")


def gap_dtype(greatest: int) -> np.dtype[Any]:
    """Return the type that holds the gaps between positions of which none is greater."""
    return GAPS[greatest.bit_length() > 32]


def records_dtype(outcome: np.dtype[Any], gap: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype([("outcome", outcome), ("gap", gap)])


def replies_dtype(greatest: int, gap: np.dtype[Any], bounds: bool) -> np.dtype[Any]:
    """Return the type of a row of a certificate, by the greatest number of a reply; with *bounds* there is a column."""
    reply = np.dtype("<u2" if greatest > 255 else "u1")
    return np.dtype([("reply", reply), *([("bound", "<u2")] if bounds else []), ("gap", gap)])


def create_file(path: bytes) -> h5py.File:
    """Create a file whose metadata all has checksums and none of which depends on the time."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    creation.set_attr_phase_change(64, 0)  # keeps attributes in the root's header
    return h5py.File(h5py.h5f.create(path, h5py.h5f.ACC_TRUNC, creation, access))


def in_version(dtype: np.dtype[Any], version: int) -> np.dtype[Any]:
    """Return the type of the rows of a table in a version of the format."""
    fields = [(name, dtype[name]) for name in dtype.names or () if version > 1 or name != "check"]
    return np.dtype(fields)


def create_dataset(
    file: h5py.File, name: str, dtype: np.dtype[Any], length: int, chunk: int, level: int = LEVEL
) -> h5py.h5d.DatasetID:
    """Create a dataset whose chunks will be given as zstd frames of planes."""
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((chunk,))
    creation.set_obj_track_times(False)
    if dtype.itemsize > 1:
        creation.set_shuffle()
    creation.set_filter(ZSTD, h5py.h5z.FLAG_OPTIONAL, (level,))  # mandatory would need a plugin
    kind = h5py.h5t.py_create(dtype, logical=False)
    return h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((length,)), dcpl=creation)
