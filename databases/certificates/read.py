"""Reads certificates without rules: the claim about the root, and the positions with their replies."""

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile, are_positions, ascends, rows_ascend
from retrograde.databases.encoding import from_planes
from retrograde.databases.errors import NotADatabase
from retrograde.databases.header import int_attribute, position_attribute
from retrograde.databases.layout import (
    CERTIFICATE,
    CERTIFICATE_BLOCK,
    CERTIFICATE_BLOCKS,
    GAPS,
    MOST_LEAVES,
    replies_dtype,
    word_names,
)
from retrograde.databases.reader import Reader
from retrograde.games import LOSE, WIN, Value
from retrograde.games.contract.game import MOST_MOVES, MOST_WORDS, POSITION_LIMIT


class ReplyBlock(NamedTuple):
    """Some positions, ascending, with the numbers of their replies and their bounds, if there are any."""

    positions: NDArray[np.int64]
    """int64[n] or, if positions are tuples, int64[n, words]."""
    replies: NDArray[np.int64]
    bounds: NDArray[np.int64] | None


class RepliesReader(Reader):
    """Reads the replies of a file."""

    DATASET, ITEMS, ROW = "replies", CERTIFICATE_BLOCK, CERTIFICATE_BLOCKS
    TABLES = ("blocks",)

    def __init__(self, file: CheckedFile):
        super().__init__(file)
        self.type = file.type_of(self.DATASET, self.item_types(), self.block_size)
        if self.length != file.header.stored:
            raise ValueError(f"there are {self.length:,} replies, and should be {file.header.stored:,}")

    def item_types(self) -> Sequence[np.dtype[Any]]:
        forms: list[tuple[np.dtype[Any] | None, int]]  # of positions: a gap, or a number of words
        forms = [*((gap, 0) for gap in GAPS), *((None, width) for width in range(1, MOST_WORDS + 1))]
        return [replies_dtype(most, bounds, *form) for most in (0, 256) for form in forms for bounds in (False, True)]

    @property
    def width(self) -> int:
        """The number of words of a position; 0 if positions are ints."""
        return len({*(self.type.names or ())} & {*word_names(MOST_WORDS)})

    @property
    def has_bounds(self) -> bool:
        return "bound" in (self.type.names or ())

    def read_tables(self) -> None:
        self.firsts  # noqa: B018

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """The first position of each block; of tuples, its first word."""
        firsts = np.ascontiguousarray(self.block_table["position"])
        in_order = (np.diff(firsts) >= 0).all() if self.width else ascends(firsts)
        if not are_positions(firsts) or not in_order:
            raise self.file.damaged("the table of blocks holds what no position can be")
        return firsts

    def read_block(self, number: int) -> ReplyBlock:
        """Return a decoded block; raise DamagedDatabase if it is impossible."""
        first = int(self.firsts[number])
        content = self.file.locked(lambda: self.content(number))
        planes = np.frombuffer(content, np.uint8).reshape(self.type.itemsize, self.block_size)
        # Step 1: the columns, from their planes.
        columns, plane = {}, 0
        for name in self.type.names or ():
            kind = self.type[name]
            column = from_planes(planes[plane : plane + kind.itemsize], kind, self.items_in(number))
            columns[name] = column.astype(np.uint64)
            plane += kind.itemsize
        # Step 2: the positions, and checks against the next block.
        if self.width:
            positions = self.read_rows(columns, first)
            # `firsts` has first words alone, and positions of two blocks may share one: `all` compares the other words.
            least_next = positions[-1, 0]
        else:
            positions = self.add_up(columns["gap"], first)
            least_next = positions[-1] + 1
        if number + 1 < self.block_count and self.firsts[number + 1] < least_next:
            raise self.file.damaged("blocks that overlap")
        # Step 3: the limits of the contract.
        if columns["reply"].max() >= MOST_MOVES:
            raise self.file.damaged("a reply that no position has")
        bounds = columns["bound"].astype(np.int64) if self.has_bounds else None
        return ReplyBlock(positions, columns["reply"].astype(np.int64), bounds)

    def read_rows(self, columns: dict[str, NDArray[Any]], first: int) -> NDArray[np.int64]:
        """Return the positions of a block that are stored word by word; *first* is the first word of all."""
        positions = np.stack([columns[name].view(np.int64) for name in word_names(self.width)], axis=1)
        if not are_positions(positions) or not rows_ascend(positions.T) or positions[0, 0] != first:
            raise self.file.damaged("positions that cannot be true")
        return positions

    def add_up(self, gaps: NDArray[Any], first: int) -> NDArray[np.int64]:
        """Return the positions of a block that are stored as gaps, from the first one on."""
        # Sums that overflow show up as positions that do not ascend.
        with np.errstate(over="ignore"):
            positions = np.cumsum(gaps, dtype=np.uint64).astype(np.int64) + first
        if gaps.max() >= POSITION_LIMIT or not are_positions(positions) or not ascends(positions):
            raise self.file.damaged("gaps that cannot be true")
        return positions

    def all(self) -> ReplyBlock:
        """Return all positions with their replies and bounds."""
        blocks = [self.read_block(number) for number in range(self.block_count)]
        positions = np.concatenate([block.positions for block in blocks])
        replies = np.concatenate([block.replies for block in blocks])
        bounds = [block.bounds for block in blocks if block.bounds is not None]  # all blocks have bounds, or none
        # Of tuples, `read_block` compares only the first words with those of the next block.
        if self.width and not rows_ascend(positions.T):
            raise self.file.damaged("blocks that overlap")
        return ReplyBlock(positions, replies, np.concatenate(bounds) if bounds else None)


class CertificateFile(CheckedFile):
    """An open certificate: its claim about the root, and its `contents`."""

    contents: RepliesReader

    def __init__(self, path: str | os.PathLike[str]):
        super().__init__(path)
        try:
            if self.header.metric != CERTIFICATE:
                raise NotADatabase(f"{str(self.path)!r} is a database of all positions, and no certificate")
            self.guarded(self._read)
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        """Read and check the attributes, and open the replies."""
        facts = self.attributes
        self.root = position_attribute(facts, "root")
        """The position whose value the certificate proves: an int, or a tuple of ints."""
        self.at_least = Value(int_attribute(facts, "at_least", LOSE, WIN))
        """The worst value that the root may have for the player to move there."""
        self.at_most = Value(int_attribute(facts, "at_most", LOSE, WIN))
        """The best one."""
        self.leaves = int_attribute(facts, "leaves", 0, MOST_LEAVES)
        if self.at_least > self.at_most:
            raise ValueError("its lower bound is above its upper bound")
        if (self.at_least, self.at_most) == (LOSE, WIN):
            raise ValueError("its bounds, lose and win, prove nothing")
        self.open_datasets([*RepliesReader.TABLES, RepliesReader.DATASET])
        if self.header.checks.keys() != set(RepliesReader.TABLES):
            raise ValueError("its attribute 'checks' does not name the tables")
        self.contents = RepliesReader(self)
        if self.contents.width != (len(self.root) if isinstance(self.root, tuple) else 0):
            raise ValueError("its root has not as many words as its positions")

    @property
    def goal(self) -> Value:
        """The value that the replying side reaches at least, from each position stored."""
        return goal_of(self.at_least, self.at_most)


def goal_of(at_least: Value, at_most: Value) -> Value:
    """Return the value that each replying side reaches at least, in a proof of these bounds.

    >>> goal_of(Value.LOSE, Value.LOSE), goal_of(Value.TIE, Value.TIE), goal_of(Value.LOSE, Value.TIE)
    (<Value.WIN: 4>, <Value.TIE: 3>, <Value.DRAW: 2>)
    """
    if at_least == Value.WIN or at_most == LOSE:
        return Value.WIN
    return max(at_least, Value.DRAW)
