"""Which source files decide something, found by what they import, and a digest of them.

What is kept on disk (machine code, a journal) counts only as long as the sources that gave it its meaning are what they
were. No list of files is kept here: whoever imports the decorator of kernels holds kernels, and what a file imports,
directly or not, may be compiled into them.
"""

import os
import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE = "retrograde"
ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds the packages `games`, `databases`, `solver` and `cli`."""

DECORATOR = f"{PACKAGE}.solver.work.kernel"
"""The module that all kernels have their decorator from."""

IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import\b[ \t]*(\([^)]*\)|[^\n(;]*)", re.MULTILINE)
TYPES_ONLY = re.compile(r"^([ \t]*)if TYPE_CHECKING:[^\n]*\n(?:\1[ \t]+[^\n]*\n|[ \t]*\n)*", re.MULTILINE)
"""Statements are found as text, those of examples too: to parse all kernels takes ten times as long."""


@cache
def imported(source: str) -> frozenset[str]:
    """Return the full names of what the import statements of a source ask for, save those that are for type checkers.

    >>> sorted(imported("from retrograde.solver.rules import kernels, examine as e\\nimport re"))
    ['re', 'retrograde.solver.rules', 'retrograde.solver.rules.examine', 'retrograde.solver.rules.kernels']
    """
    if "TYPE_CHECKING" in source:
        source = TYPES_ONLY.sub("", source)
    found: set[str] = set()
    for module, names in IMPORT.findall(source):
        words = [part.split() for part in re.sub("#.*", "", names).strip("()").split(",")]
        found.update({module} if module else ())
        found.update(f"{module}.{name}" if module else name for name, *_ in filter(None, words))
    return frozenset(found)


@cache
def file_of(name: str, root: Path = ROOT) -> Path | None:
    """Return the source file of a module of this package; None where there is none of that name."""
    package, *parts = name.split(".")
    if package != PACKAGE or not parts:
        return None
    path = os.path.join(root, *parts)  # as text: hundreds of names are asked for, and most are of no file
    files = (f"{path}.py", os.path.join(path, "__init__.py"))
    return next((Path(file) for file in files if os.path.isfile(file)), None)


def closure(files: Iterable[Path], root: Path = ROOT, apart: Iterable[Path] = ()) -> set[Path]:
    """Return some source files and those of this package that they import, directly or not.

    Files *apart* are left out, and what only they import.
    """
    found: set[Path] = set(apart)
    left = list(files)
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            names = imported(file.read_text("utf-8"))
            left += [other for name in names if name.startswith(PACKAGE) and (other := file_of(name, root))]
    return found.difference(apart)


def digest(files: Iterable[Path], root: Path = ROOT) -> str:
    """Return a hex digest of the names and contents of some files."""
    named = {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
    return sha256(repr(sorted(named.items())).encode()).hexdigest()[:32]


FOR_PEOPLE = "games/declared.py"
"""What the contract imports for texts and pictures; rules may ask `drawing.py` for tables, and it decides them."""


def kernel_files(root: Path = ROOT) -> set[Path]:
    """Return all source files that decide what kernels are compiled to."""
    texts = {file: file.read_text("utf-8") for file in (root / "solver").rglob("*.py")}
    files = [file for file, text in texts.items() if DECORATOR in text and DECORATOR in imported(text)]
    return closure(files, root, [root / FOR_PEOPLE])


@cache
def kernels_digest() -> str:
    """Return the digest of all kernels: of the files that have some, and of what these import."""
    return digest(kernel_files())


SOLVING = ("listed", "numbered", "streamed")
"""The rooms of the solver at which the making of entries in a journal begins; all else is found from there."""

APART = (
    *("solver/forecast/*.py", "solver/work/memory.py", "solver/work/progress.py"),
    *("games/catalog.py", FOR_PEOPLE, "databases/**/*.py"),
)
"""Files that these import and that decide nothing about what is in an entry."""


def journal_files(root: Path = ROOT) -> set[Path]:
    """Return the source files that decide what the entries of a journal mean.

    In are the modules that make entries or take them up again, the kernels that fill them, the forms of the journal and
    of scratch files, and all that these import; and `engine.py`, which says what is entered under which name, but not
    what else it imports, which is for before and after. Out are those APART, though they are imported: how much memory
    there is, and what is told on the way; the text of a variant, which stands in a journal's identity itself; and
    databases, which are written when no journal is needed any more, and read (by `reuse.py`) by their own version and
    rules. `databases/encoding.py` is in: kernels and scratch files are made of it. What only checks, estimates, shows
    or plays is not imported, and so is out.
    """
    rooms = [file for room in SOLVING for file in (root / "solver" / room).glob("*.py")]
    apart = {file for pattern in APART for file in root.glob(pattern)} - {root / "databases" / "encoding.py"}
    return {root / "solver" / "engine.py"} | closure(rooms, root, apart)


@cache
def journal_digest() -> str:
    """Return the digest of the sources that decide what the entries of a journal mean."""
    return digest(journal_files())
