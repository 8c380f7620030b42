"""Where databases live: one folder, a file for each variant, `connect4,width=5,height=4.h5` for
`connect4:width=5,height=4` (no colons on Windows, no slashes anywhere).

The folder is `RETROGRADE_HOME`; where that is not set, the one that the operating system means for data of users.
"""

import os
import re
import sys
from pathlib import Path

from retrograde.games.game import METRICS

SUFFIX = ".h5"
BOOK_SUFFIX, CERTIFICATE_SUFFIX = ".book.h5", ".proof.h5"


def home_folder() -> Path:
    """Return the folder of the databases, whether or not it exists."""
    if folder := os.environ.get("RETROGRADE_HOME"):
        return Path(folder).expanduser()
    if sys.platform == "win32":
        data = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        data = Path.home() / "Library" / "Application Support"
    else:
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "retrograde"


def database_path(variant: str, home: str | os.PathLike[str] | None = None, metric: str = "") -> Path:
    """Return the path of a variant's database, whether or not it exists. The text must be canonical.

    With a *metric* it is that of the database in which another one is computed than the game's own.

    >>> database_path("connect4:width=5,height=4", "home").as_posix()
    'home/connect4,width=5,height=4.h5'
    >>> database_path("nim", "home", "nimber").as_posix()
    'home/nim@nimber.h5'
    """
    folder = Path(home) if home is not None else home_folder()
    return folder / (re.sub(r"[:/\\]", ",", variant) + (f"@{metric}" if metric else "") + SUFFIX)


def metric_named(text: str) -> tuple[str, str]:
    """Return a variant without the metric that may stand behind it, and that metric; nothing where there is none.

    >>> metric_named("nim@nimber"), metric_named("./a@b.py")
    (('nim', 'nimber'), ('./a@b.py', ''))
    """
    variant, at, metric = text.rpartition("@")
    return (variant, metric) if at and metric in METRICS else (text, "")


def book_path(variant: str, home: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a variant's opening book, whether or not it exists.

    >>> book_path("connect4", "home").as_posix()
    'home/connect4.book.h5'
    """
    path = database_path(variant, home)
    return path.with_name(path.name.removesuffix(SUFFIX) + BOOK_SUFFIX)


def list_books(home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the paths of the opening books there are, by name."""
    folder = Path(home) if home is not None else home_folder()
    return sorted(path for path in folder.glob("*" + BOOK_SUFFIX) if path.is_file())


def certificate_path(variant: str, position: int | None = None, home: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a variant's certificate, whether or not it exists: of the start, or of another position.

    >>> certificate_path("connect4:width=5,height=4", home="home").as_posix()
    'home/connect4,width=5,height=4.proof.h5'
    """
    path = database_path(variant if position is None else f"{variant},position={position}", home)
    return path.with_name(path.name.removesuffix(SUFFIX) + CERTIFICATE_SUFFIX)


def list_certificates(home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the paths of the certificates there are, by name."""
    folder = Path(home) if home is not None else home_folder()
    return sorted(path for path in folder.glob("*" + CERTIFICATE_SUFFIX) if path.is_file())


def list_databases(home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the paths of the databases there are, by name."""
    folder = Path(home) if home is not None else home_folder()
    found = (path for path in folder.glob("*" + SUFFIX) if not path.name.endswith((BOOK_SUFFIX, CERTIFICATE_SUFFIX)))
    return sorted(path for path in found if path.is_file())
