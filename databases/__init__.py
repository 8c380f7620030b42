"""Solved games on disk: an HDF5 file each, the same bytes each time, read a block at a time (FORMAT.md).

    write.py       solved game  -> file       `write_database`, one pass, always the same bytes
    open.py        variant      -> Database   `open_database`: finds the file, checks it against the rules
    database.py    position     -> Outcome    `Database`: the mapping that callers use
    plain.py       the same, from parts of a file that a browser fetches, without HDF5 and NumPy
    remote.py      files by their address, https or s3

Below these, `header`, `layout`, `legend`, `encoding` and `frames` are the file format's parts. `checked` and `file`
read a file without rules. The packages `records`, `steps`, `slots`, `bounds` and `certificates` are the kinds of
storage.

Each name is imported when it is first asked for. So readers need no writer, and locks need no HDF5.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrograde.databases.certificates.database import Certificate
    from retrograde.databases.certificates.read import CertificateFile
    from retrograde.databases.database import Database, Outcome
    from retrograde.databases.errors import (
        CannotWrite,
        DamagedDatabase,
        InUse,
        IsCertificate,
        NoDatabase,
        NotADatabase,
        NotInDatabase,
        OtherRules,
        UnreadableVersion,
        VersionTooNew,
        VersionTooOld,
    )
    from retrograde.databases.file import DatabaseFile
    from retrograde.databases.layout import CountRow, LegendRow
    from retrograde.databases.location import (
        certificate_path,
        database_path,
        home_folder,
        list_certificates,
        list_databases,
    )
    from retrograde.databases.open import database_of, open_certificate, open_database
    from retrograde.databases.write import (
        SolvedCertificate,
        SolvedRecords,
        SolvedSlots,
        SolvedSteps,
        write_certificate,
        write_database,
    )

__all__ = [
    "CannotWrite",
    "Certificate",
    "CertificateFile",
    "CountRow",
    "DamagedDatabase",
    "Database",
    "DatabaseFile",
    "InUse",
    "IsCertificate",
    "LegendRow",
    "NoDatabase",
    "NotADatabase",
    "NotInDatabase",
    "OtherRules",
    "Outcome",
    "SolvedCertificate",
    "SolvedRecords",
    "SolvedSlots",
    "SolvedSteps",
    "UnreadableVersion",
    "VersionTooNew",
    "VersionTooOld",
    "certificate_path",
    "database_of",
    "database_path",
    "home_folder",
    "list_certificates",
    "list_databases",
    "open_certificate",
    "open_database",
    "write_certificate",
    "write_database",
]

NAMES = {
    "certificates.database": ("Certificate",),
    "certificates.read": ("CertificateFile",),
    "database": ("Database", "Outcome"),
    "file": ("DatabaseFile",),
    "layout": ("CountRow", "LegendRow"),
    "location": ("certificate_path", "database_path", "home_folder", "list_certificates", "list_databases"),
    "open": ("database_of", "open_certificate", "open_database"),
    "write": ("write_certificate", "write_database"),
}
"""The names of each module, all but the errors and the `Solved…` classes that the writer takes."""


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    others = "write" if "Solved" in name else "errors"
    module = next((module for module, names in NAMES.items() if name in names), others)
    value = globals()[name] = getattr(import_module(f"retrograde.databases.{module}"), name)
    return value
