"""The names and the folder of database files: `connect4:width=5,height=4` is in `connect4,width=5,height=4.h5`.

File names have no colons, which Windows forbids, and no slashes. The folder is the environment variable
`RETROGRADE_HOME`, or else the operating system's folder for user data.
"""

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from retrograde.databases.errors import CannotWrite
from retrograde.games.contract.game import METRICS
from retrograde.games.identity.folders import NoHome, data_folder

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

SUFFIX = ".h5"
BOOK_SUFFIX, CERTIFICATE_SUFFIX, WEIGHTS_SUFFIX = ".book.h5", ".proof.h5", ".weights.json"
ESTIMATES_SUFFIX = ".estimates.json"
LONGEST = 220
"""The most bytes of a database's file name: file systems allow 255, and temporary names are longer."""
AGAINST = "expectation-against-"
"""The prefix of the metric of a best response; the name of the opponent's model follows."""


def home_folder() -> Path:
    """Return the folder of the databases, whether or not it exists; raise NoHome if none can be named."""
    if not (folder := os.environ.get("RETROGRADE_HOME")):
        return data_folder()
    try:
        return Path(folder).expanduser()
    except RuntimeError:
        raise NoHome(f"RETROGRADE_HOME is {folder!r}, and no such home folder is known; name it without ~") from None


def process_folder() -> Path:
    """Return a folder for databases that only this process can open; it is deleted when the process ends."""
    return Path(temporary_folder().name)


@cache
def temporary_folder() -> "TemporaryDirectory[str]":
    """Return the temporary folder of this process."""
    from tempfile import TemporaryDirectory  # here, because few commands need it

    return TemporaryDirectory(prefix="retrograde-")


def database_path(
    variant: str, home: str | os.PathLike[str] | None = None, metric: str = "", suffix: str = SUFFIX
) -> Path:
    """Return the path of a variant's database, whether or not it exists. The variant must be in canonical form.

    Give *metric* if it is not the game's own. Other kinds of files have another *suffix*.

    >>> database_path("connect4:width=5,height=4", "home").as_posix()
    'home/connect4,width=5,height=4.h5'
    >>> database_path("tictactoe", "home", "score").as_posix()
    'home/tictactoe@score.h5'
    """
    folder = home_folder() if home is None else (home if isinstance(home, Path) else Path(home))
    return folder / (re.sub(r"[:/\\]", ",", variant + (f"@{metric}" if metric else "")) + suffix)


def expect_short(path: Path) -> None:
    """Raise CannotWrite if a file's name, or a temporary one made from it, is too long for file systems."""
    if (length := len(os.fsencode(path.name))) > LONGEST:
        what = f"cannot write {path.name[:40]}…: the name has {length} bytes, and at most {LONGEST} fit"
        raise CannotWrite(f"{what}; name a shorter one with --database FILE, or make the text of the options shorter")


def metric_named(text: str) -> tuple[str, str]:
    """Split a text like `nim@nimber` into the variant and the metric, which is "" if there is none.

    >>> metric_named("nim@nimber"), metric_named("./a@b.py"), metric_named("nim@expectation-against-random")
    (('nim', 'nimber'), ('./a@b.py', ''), ('nim', 'expectation-against-random'))
    """
    variant, at, metric = text.rpartition("@")
    if at and (model := model_in(metric)):
        return variant, against(model)
    return (variant, metric) if at and metric in METRICS else (text, "")


def against(model: str) -> str:
    """Return the name of the metric of a best response to a model.

    >>> against("random"), against("./bots/mine.py:corners")
    ('expectation-against-random', 'expectation-against-mine.py:corners')
    """
    return AGAINST + model_name(model)


def model_name(text: str) -> str:
    """Return a model's name as files have it: for a function in a file, without the file's folder.

    >>> model_name("./bots/mine.py:corners"), model_name("exploit:random")
    ('mine.py:corners', 'exploit:random')
    """
    file, dot, function = text.rpartition(".py:")
    return re.split(r"[/\\]", file)[-1] + dot + function


def model_in(metric: str) -> str:
    """Return the name of the model in the metric of a best response; "" for any other metric.

    >>> model_in("expectation-against-skill:0.8"), model_in("expectation")
    ('skill:0.8', '')
    """
    return metric.removeprefix(AGAINST) if metric.startswith(AGAINST) else ""


def book_path(variant: str, home: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a variant's opening book, whether or not it exists.

    >>> book_path("connect4", "home").as_posix()
    'home/connect4.book.h5'
    """
    return database_path(variant, home, suffix=BOOK_SUFFIX)


def weights_path(variant: str, home: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of the fitted weights of a variant, whether or not it exists.

    >>> weights_path("connect4", "home").as_posix()
    'home/connect4.weights.json'
    """
    return database_path(variant, home, suffix=WEIGHTS_SUFFIX)


def estimates_path(variant: str, home: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a variant's book of estimates, whether or not it exists.

    >>> estimates_path("draughts", "home").as_posix()
    'home/draughts.estimates.json'
    """
    return database_path(variant, home, suffix=ESTIMATES_SUFFIX)


def list_estimates(home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the paths of all books of estimates, sorted by name."""
    return files_with(ESTIMATES_SUFFIX, home)


def list_books(home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the paths of all opening books, sorted by name."""
    return files_with(BOOK_SUFFIX, home)


def certificate_path(variant: str, position: int | None = None, home: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a variant's certificate, for the start or another position, whether or not it exists.

    >>> certificate_path("connect4:width=5,height=4", home="home").as_posix()
    'home/connect4,width=5,height=4.proof.h5'
    """
    name = variant if position is None else f"{variant},position={position}"
    return database_path(name, home, suffix=CERTIFICATE_SUFFIX)


def list_certificates(home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the paths of all certificates, sorted by name."""
    return files_with(CERTIFICATE_SUFFIX, home)


def list_databases(home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the paths of all databases, sorted by name."""
    others = (BOOK_SUFFIX, CERTIFICATE_SUFFIX)
    return [path for path in files_with(SUFFIX, home) if not path.name.endswith(others)]


def files_with(suffix: str, home: str | os.PathLike[str] | None) -> list[Path]:
    """Return the files in a folder, or the usual one, whose names end in a suffix; sorted by name."""
    folder = Path(home) if home is not None else home_folder()
    return sorted(path for path in folder.glob("*" + suffix) if path.is_file())
