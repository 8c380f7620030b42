"""Forged databases: files that were changed by somebody who knows the format, with every checksum as it should be."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import h5py
import numpy as np
import zstandard

from retrograde.databases.frames import checksum_of, digest_of
from retrograde.databases.layout import create_dataset, create_file

BLOCKS = ("records", "steps", "slots", "kept", "replies", "rows")


def turned(content: bytes, rows: int) -> bytes:
    """Return bytes that form a matrix of so many rows, column by column."""
    return np.ascontiguousarray(np.frombuffer(content, np.uint8).reshape(rows, -1).T).tobytes()


@dataclass
class Part:
    """A dataset: its type, length and chunk, and the content of each chunk (planes, before compression).

    *plain*: it is not compressed, and in the file its chunk has rows in place of planes.
    """

    dtype: np.dtype
    length: int
    chunk: int
    contents: list[bytes]
    plain: bool = False

    def frames(self) -> list[bytes]:
        """Return the chunks as they are in a file."""
        if self.plain and all(len(content) == self.chunk * self.dtype.itemsize for content in self.contents):
            return [turned(content, self.dtype.itemsize) for content in self.contents]
        compress = zstandard.ZstdCompressor(write_checksum=True).compress
        return list(self.contents) if self.plain else [compress(content) for content in self.contents]

    def check(self, frame: bytes) -> int:
        """Return the checksum of a frame."""
        return crc32(frame) if self.plain else checksum_of(frame)

    def rows(self) -> np.ndarray:
        """Return the rows of a table."""
        planes = np.frombuffer(self.contents[0], np.uint8).reshape(self.dtype.itemsize, -1)
        return np.ascontiguousarray(planes.T).view(self.dtype).reshape(-1).copy()

    def put(self, rows: np.ndarray) -> None:
        """Replace the rows of a table."""
        self.dtype, self.length, self.chunk = rows.dtype, len(rows), len(rows)
        self.contents = [np.ascontiguousarray(rows.view(np.uint8).reshape(len(rows), -1).T).tobytes()]


@dataclass
class Forged:
    """What is in a database, to be changed and written again."""

    attributes: dict[str, Any]
    parts: dict[str, Part]
    links: dict[str, Any] = field(default_factory=dict)
    """Links to put in the place of datasets."""
    signed: bool = True
    """Whether checksums and digest are made to fit."""

    @classmethod
    def read(cls, path: Path) -> "Forged":
        """Read a database."""
        with h5py.File(path, "r") as file:
            attributes = {
                name: bytes(value).decode() if isinstance(value, (bytes, np.bytes_)) else int(value)
                for name, value in file.attrs.items()
            }
            parts = {}
            for name, dataset in file.items():
                (chunk,), length = dataset.chunks, len(dataset)
                frames = [dataset.id.read_direct_chunk((first,))[1] for first in range(0, length, chunk)]
                unpack = zstandard.ZstdDecompressor().decompress
                if plain := dataset.id.get_create_plist().get_nfilters() == 0:
                    contents = [turned(frame, len(frame) // dataset.dtype.itemsize) for frame in frames]
                else:
                    contents = [unpack(frame) for frame in frames]
                parts[name] = Part(dataset.dtype, length, chunk, contents, plain)
        return cls(attributes, parts)

    def copy(self) -> "Forged":
        """Return one that may be changed without this one."""
        parts = {
            name: Part(one.dtype, one.length, one.chunk, list(one.contents), one.plain)
            for name, one in self.parts.items()
        }
        return Forged(dict(self.attributes), parts)

    def write(self, path: Path) -> Path:
        """Write a database."""
        frames = {name: part.frames() for name, part in self.parts.items()}
        blocks = next((name for name in BLOCKS if name in self.parts), None)
        table = self.parts.get("blocks")
        whole = table and len(table.contents[0]) == table.length * table.dtype.itemsize
        if self.signed and blocks and table and whole and "check" in (table.dtype.names or ()):
            rows = table.rows()
            some = [checksum_of(frame) for frame in frames[blocks]][: len(rows)]
            rows["check"][: len(some)] = some
            table.put(rows)
            frames["blocks"] = table.frames()
        attributes = dict(self.attributes)
        if self.signed and "checks" in attributes:
            attributes["checks"] = json.dumps(
                {
                    name: self.parts[name].check(some[0])
                    for name, some in sorted(frames.items())
                    if name != blocks and some
                }
            )
        if self.signed and "digest" in attributes:
            attributes["digest"] = digest_of(
                attributes,
                {
                    name: (part.length, part.chunk, sha256(b"".join(frames[name])).hexdigest())
                    for name, part in self.parts.items()
                },
            )
        file = create_file(str(path).encode())
        try:
            for name, part in self.parts.items():
                if name not in self.links:
                    level = None if part.plain else 3
                    dataset = create_dataset(file, name, part.dtype, part.length, part.chunk, level)
                    for number, frame in enumerate(frames[name]):
                        if number * part.chunk < part.length:
                            dataset.write_direct_chunk((number * part.chunk,), frame)
            for name, link in self.links.items():
                file[name] = link
            for name, value in attributes.items():
                if isinstance(value, str):
                    octets = value.encode()
                    value = np.array(np.bytes_(octets), h5py.string_dtype("utf-8", max(len(octets), 1)))
                elif isinstance(value, int):
                    value = np.int64(value)
                file.attrs.create(name, value)
        finally:
            file.close()
        return path


def mutate(forged, dice):
    """Change one thing somewhere, such as an attacker would."""
    what = dice.choice(["attribute", "table", "table", "content", "content", "shape", "missing", "type"])
    if what == "attribute":
        name = dice.choice(sorted(forged.attributes))
        wrong = [0, -1, 1 << 62, "", "x" * 5000, "7", 2.5, np.arange(9), [["a"]], "\x1b[1m"]
        forged.attributes[name] = dice.choice(wrong)
        return
    name = dice.choice(sorted(forged.parts))
    part = forged.parts[name]
    whole = len(part.contents[0]) == part.length * part.dtype.itemsize
    if what == "table" and len(part.contents) == 1 and part.dtype.names and whole:
        rows = part.rows()
        column = dice.choice(part.dtype.names)
        row = dice.randrange(len(rows))
        limits = np.iinfo(rows.dtype[column])
        value = dice.choice([0, 1, limits.max, limits.min, dice.randrange(1 << 30), int(rows[column][row]) + 1])
        rows[column][row] = max(limits.min, min(limits.max, value))
        part.put(rows)
    elif what == "content":
        number = dice.randrange(len(part.contents))
        content = bytearray(part.contents[number])
        for _ in range(dice.choice([1, 5, 500])):
            content[dice.randrange(len(content))] = dice.randrange(256)
        part.contents[number] = bytes(content)
    elif what == "shape":
        part.length = dice.choice([1, part.length - 1 or 1, part.length + 1, 2 * part.length, 1 << 33])
        part.chunk = dice.choice([part.chunk, 1, 4096, part.length]) or 1
        part.chunk = min(part.chunk, 1 << 28)
    elif what == "missing":
        del forged.parts[name]
    else:
        part.dtype = np.dtype(dice.choice(["u1", "<i8", "<f8", "S9", [("value", "u1"), ("other", "<i8")]]))
