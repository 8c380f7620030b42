"""A database file as arrays and attributes, without any rules."""

import os

from retrograde.databases.bounds.read import BoundsReader
from retrograde.databases.checked import CheckedFile
from retrograde.databases.errors import IsCertificate
from retrograde.databases.layout import CERTIFICATE
from retrograde.databases.records.read import RecordsReader
from retrograde.databases.rows.read import RowsReader
from retrograde.databases.slots.compact import CompactReader
from retrograde.databases.slots.read import SlotsReader
from retrograde.databases.steps.read import StepsReader

AnyReader = RecordsReader | RowsReader | StepsReader | SlotsReader | CompactReader | BoundsReader
READERS: dict[str, type[AnyReader]] = {
    "records": RecordsReader,
    "rows": RowsReader,
    "steps": StepsReader,
    "slots": SlotsReader,
    "compact": CompactReader,
    "bounds": BoundsReader,
}
"""The readers of all kinds of storage, by the attribute `storage`."""


class DatabaseFile(CheckedFile):
    """An open database file: its header, its legend, and its `contents`."""

    contents: AnyReader

    def __init__(self, path: str | os.PathLike[str]):
        super().__init__(path)
        try:
            if self.header.metric == CERTIFICATE:
                raise IsCertificate(f"{str(self.path)!r} is a certificate, and no database of all positions")
            self.guarded(self._read)
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        """Find out which kind of storage the file has, and make its reader."""
        kind: type[AnyReader] = READERS.get(self.header.storage, RecordsReader)
        if not self.header.storage:  # an older file
            old = (SlotsReader, CompactReader, StepsReader, BoundsReader)
            kind = next((kind for kind in old if self.has_dataset(kind.DATASET)), RecordsReader)
        self.open_datasets([*kind.TABLES, kind.DATASET])
        if self.header.checks.keys() != set(kind.TABLES):
            raise ValueError("its attribute checks does not name the tables")
        self.read_legend()
        self.contents = kind(self)
