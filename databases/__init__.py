"""Solved games on disk: an HDF5 file each, the same bytes each time, read a block at a time (FORMAT.md)."""

from retrograde.databases.database import Database, Outcome, open_database
from retrograde.databases.errors import (
    CannotWrite,
    DamagedDatabase,
    NoDatabase,
    NotADatabase,
    NotInDatabase,
    OtherRules,
    VersionTooNew,
)
from retrograde.databases.file import DatabaseFile
from retrograde.databases.layout import LegendRow
from retrograde.databases.location import database_path, home_folder, list_databases
from retrograde.databases.write import Solved, write_database

__all__ = [
    "CannotWrite",
    "DamagedDatabase",
    "Database",
    "DatabaseFile",
    "LegendRow",
    "NoDatabase",
    "NotADatabase",
    "NotInDatabase",
    "OtherRules",
    "Outcome",
    "Solved",
    "VersionTooNew",
    "database_path",
    "home_folder",
    "list_databases",
    "open_database",
    "write_database",
]
