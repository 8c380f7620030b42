"""A database file as arrays and facts, without any rules."""

import os
from collections.abc import Callable
from hashlib import sha256
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from retrograde.databases.checked import CheckedFile, are_positions
from retrograde.databases.frames import digest_of
from retrograde.databases.layout import LEGEND, LegendRow, in_version
from retrograde.databases.records.read import RecordsReader
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.steps.read import StepsReader
from retrograde.games import DRAW, LOSE, WIN, Value

AnyReader = RecordsReader | StepsReader | SlotsReader


class DatabaseFile(CheckedFile):
    """An open database file: what it says of itself, its legend, and its `contents`. A context manager.

    Raises NoDatabase, NotADatabase, VersionTooNew or DamagedDatabase, and nothing else, whatever the file holds.
    """

    def __init__(self, path: str | os.PathLike[str]):
        super().__init__(path)
        header = self.header
        self.variant, self.game_name, self.options = header.variant, header.game, header.options
        self.rules, self.metric, self.made_with = header.rules, header.metric, header.made_with
        self.positions, self.stored, self.start = header.positions, header.stored, header.start
        self.digest = header.digest
        try:
            self.guarded(self._read)
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        """Read the legend, and see what kind of contents there are."""
        kinds = (kind for kind in (SlotsReader, StepsReader) if self.has_dataset(kind.DATASET))
        kind: type[AnyReader] = next(kinds, RecordsReader)
        version = self.header.version
        tables = [name for name in kind.TABLES if name != "blocks" or in_version(kind.ROW, version).names]
        self.open_datasets([*tables, kind.DATASET])
        if version > 1 and self.header.checks.keys() != set(tables):
            raise ValueError("its attribute checks does not name the tables")
        legend = self.table("legend", LEGEND)
        check_legend(legend, self.positions, self.stored)
        self.legend = [LegendRow(Value(row[0]), *row[1:]) for row in legend.tolist()]
        self.start_outcome: LegendRow | None = None
        if self.header.start_outcome is not None:
            found = (row for row in self.legend if (row.value, row.remoteness) == self.header.start_outcome)
            self.start_outcome = next(found, None)
            if self.start_outcome is None:
                raise ValueError("the start is worth what no position is")
        self.contents: AnyReader = kind(self, self.legend)

    def check(self, progress: Callable[[int], object] = lambda records: None) -> None:
        """Read every frame, and hold them against the digest; raise DamagedDatabase where anything is not as written.

        *progress* is told how many records have been read. Nothing is solved again, and no rules are needed.
        """
        self.contents.read_tables()
        datasets = {name: self._check_dataset(name, progress) for name in self._datasets}
        if self.digest is not None and digest_of(self.attributes, datasets) != self.digest:
            raise self.damaged("it has not the digest that it should have")

    def _check_dataset(self, name: str, progress: Callable[[int], object]) -> tuple[int, int, str]:
        """Read all frames of a dataset, and return its length, its chunk and the digest of the frames."""
        blocks = name == self.contents.DATASET
        length, digest = self.length_of(name), sha256()
        chunk = self.contents.block_size if blocks else length
        frames = self.contents.frames if blocks else self.frames_of(name, chunk)
        for first in range(0, length, chunk):
            self.locked(lambda: digest.update(frames.frame(first)))  # noqa: B023  # called at once
            if blocks:
                self.contents.check_block(first // chunk)
                progress(min(first + chunk, length))
        return length, chunk, digest.hexdigest()

    # What callers ask who do not ask the contents themselves

    @property
    def dense(self) -> bool:
        """Whether the positions are numbered by the rules of the game, and not stored."""
        return isinstance(self.contents, SlotsReader)

    @property
    def stepped(self) -> bool:
        """Whether it holds steps, and no positions."""
        return isinstance(self.contents, StepsReader)

    @property
    def block_size(self) -> int:
        return self.contents.block_size

    @property
    def dense_tiers(self) -> Any:
        return self.contents.tiers

    @property
    def step_tiers(self) -> Any:
        return self.contents.tiers

    @property
    def counts(self) -> Any:
        return cast(SlotsReader, self.contents).counts

    def all_slots(self) -> NDArray[Any]:
        return cast(SlotsReader, self.contents).all_slots()

    @property
    def step_ranks(self) -> NDArray[np.int64]:
        return cast(StepsReader, self.contents).ranks

    def read_steps(self, number: int) -> Any:
        return self.contents.read_block(number)

    def pieces(self) -> Any:
        return cast(RecordsReader, self.contents).pieces()


def check_legend(legend: NDArray[Any], positions: int, stored: int) -> None:
    """Raise ValueError where a legend contradicts itself or the counts."""
    values, plies = legend["value"].astype(np.int64), legend["remoteness"].astype(np.int64)
    sound = ((values >= LOSE) & (values <= WIN) & np.where(values == DRAW, plies == -1, plies >= 0)).all()
    ascends = (np.diff(values << 32 | plies & 0xFFFFFFFF) > 0).all()
    counted = (legend["stored"] >= 1) & (legend["stored"] <= legend["positions"]) & (legend["positions"] <= positions)
    if not (sound and ascends and counted.all() and are_positions(legend["example"])):
        raise ValueError("the legend contradicts itself")
    sums = [sum(legend[column].tolist()) for column in ("positions", "stored")]  # Python's ints never overflow
    if sums != [positions, stored]:
        raise ValueError("the legend does not add up")
