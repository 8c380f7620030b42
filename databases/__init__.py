"""Solved games on disk: an HDF5 file each, the same bytes each time, read a block at a time (FORMAT.md)."""

from typing import TYPE_CHECKING, Any

from retrograde.databases.database import Database, Outcome, database_of, open_database
from retrograde.databases.errors import (
    CannotWrite,
    DamagedDatabase,
    InUse,
    NoDatabase,
    NotADatabase,
    NotInDatabase,
    OtherRules,
    VersionTooNew,
)
from retrograde.databases.file import DatabaseFile
from retrograde.databases.layout import CountRow, LegendRow
from retrograde.databases.location import database_path, home_folder, list_databases

if TYPE_CHECKING:
    from retrograde.databases.write import DenseSolved, Solved, SteppedSolved, write_database

__all__ = [
    "CannotWrite",
    "CountRow",
    "DamagedDatabase",
    "Database",
    "DatabaseFile",
    "DenseSolved",
    "InUse",
    "LegendRow",
    "NoDatabase",
    "NotADatabase",
    "NotInDatabase",
    "OtherRules",
    "Outcome",
    "Solved",
    "SteppedSolved",
    "VersionTooNew",
    "database_of",
    "database_path",
    "home_folder",
    "list_databases",
    "open_database",
    "write_database",
]


def __getattr__(name: str) -> Any:
    """Import the writer once it is asked for: readers do well without, and start sooner."""
    if name in ("DenseSolved", "Solved", "SteppedSolved", "write_database"):
        from retrograde.databases import write

        return getattr(write, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
