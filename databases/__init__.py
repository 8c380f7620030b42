"""Solved games on disk: an HDF5 file each, the same bytes each time, read a block at a time (FORMAT.md).

A name is imported once it is asked for: readers do well without the writer, and locks without HDF5.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from retrograde.databases.write import (
        SolvedRecords,
        SolvedSlots,
        SolvedSteps,
        write_database,
    )

__all__ = [
    "CannotWrite",
    "CountRow",
    "DamagedDatabase",
    "Database",
    "DatabaseFile",
    "InUse",
    "LegendRow",
    "NoDatabase",
    "NotADatabase",
    "NotInDatabase",
    "OtherRules",
    "Outcome",
    "SolvedRecords",
    "SolvedSlots",
    "SolvedSteps",
    "VersionTooNew",
    "database_of",
    "database_path",
    "home_folder",
    "list_databases",
    "open_database",
    "write_database",
]

ELSEWHERE = {
    "CountRow": "layout",
    "Database": "database",
    "DatabaseFile": "file",
    "LegendRow": "layout",
    "Outcome": "database",
    "database_of": "open",
    "database_path": "location",
    "home_folder": "location",
    "list_databases": "location",
    "open_database": "open",
    "write_database": "write",
}
"""The modules of names that are neither errors nor what the writer is given."""


def __getattr__(name: str) -> Any:
    """Return what is offered, from its module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = ELSEWHERE.get(name) or ("write" if "Solved" in name else "errors")
    found = globals()[name] = getattr(import_module(f"retrograde.databases.{module}"), name)
    return found
