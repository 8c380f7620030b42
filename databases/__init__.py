"""Solved games on disk: an HDF5 file each, the same bytes each time, read a block at a time (FORMAT.md)."""

from typing import TYPE_CHECKING, Any

from retrograde.databases.database import Database, Outcome
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
from retrograde.databases.open import database_of, open_database

if TYPE_CHECKING:
    from retrograde.databases.write import (
        DenseSolved,
        Solved,
        SolvedRecords,
        SolvedSlots,
        SolvedSteps,
        SteppedSolved,
        write_database,
    )

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
    "SolvedRecords",
    "SolvedSlots",
    "SolvedSteps",
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
    if name == "write_database" or "Solved" in name:
        from retrograde.databases import write

        return getattr(write, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
