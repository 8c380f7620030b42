"""Which source files decide something, found by what they import, and a digest of them.

Machine code and journals on disk count only while the sources that gave them their meaning stay the same. A kernel's
machine code depends on the file it is in and on what that file imports, directly or not. The few files that kernels
import and that numba never compiles are listed in NOT_COMPILED.
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

FROM = re.compile(rf"from[ \t]+({PACKAGE}[\w.]*)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n(;]*)")
IMPORT = re.compile(rf"import[ \t]+({PACKAGE}[^\n;]*)")
"""Statements are found as text, also those in examples: parsing all kernels would take ten times as long. The patterns
begin with a word, which Python finds twice as fast as the beginning of a line."""
TYPES_ONLY = re.compile(r"^([ \t]*)if TYPE_CHECKING:[^\n]*\n(?:\1[ \t]+[^\n]*\n|[ \t]*\n)*", re.MULTILINE)


@cache
def names_imported(source: str) -> frozenset[str]:
    """Return the full names that a source imports from this package, except those for type checkers.

    >>> sorted(names_imported("from retrograde.solver.rules import kernels, examine as e\\nimport re"))
    ['retrograde.solver.rules', 'retrograde.solver.rules.examine', 'retrograde.solver.rules.kernels']
    """
    if "TYPE_CHECKING" in source:
        source = TYPES_ONLY.sub("", source)
    full_names = {item for names in IMPORT.findall(source) for item in items_of(names)}
    for module, names in FROM.findall(source):
        full_names.update([module, *(f"{module}.{name}" for name in items_of(names))])
    return frozenset(full_names)


def items_of(names: str) -> list[str]:
    """Return the names in an import statement, given from behind the word `import`.

    >>> items_of("(kernels,  # a comment")
    ['kernels']
    >>> items_of("kernels as k, examine")
    ['kernels', 'examine']
    """
    if "#" in names:
        names = re.sub("#.*", "", names)
    # A trailing comma leaves an empty item.
    return [words[0] for item in names.strip("()").split(",") if (words := item.split())]


@cache
def file_of(name: str, root: Path = ROOT) -> Path | None:
    """Return the source file of a module of this package, or None."""
    package, *parts = name.split(".")
    if package != PACKAGE or not parts:
        return None
    path = os.path.join(root, *parts)  # as text for speed: hundreds of names are tried, most without a file
    files = (f"{path}.py", os.path.join(path, "__init__.py"))
    return next((Path(file) for file in files if os.path.isfile(file)), None)


def closure(files: Iterable[Path], root: Path = ROOT, excluded: Iterable[Path] = ()) -> set[Path]:
    """Return files and all that they import from this package, directly or not. Stop at *excluded* files."""
    seen: set[Path] = set(excluded)
    unread = list(files)
    while unread:
        file = unread.pop()
        if file not in seen:
            seen.add(file)
            unread += imports_of(file, root)
    return seen.difference(excluded)


@cache
def imports_of(file: Path, root: Path = ROOT) -> list[Path]:
    """Return the source files of this package that a source file imports."""
    files: dict[str, Path] = {}
    for name in sorted(names_imported(file.read_text("utf-8"))):  # a module comes before what is imported from it
        module = files.get(name.rpartition(".")[0])
        # What comes from a file that is no package is not a module.
        if (module is None or module.name == "__init__.py") and (other := file_of(name, root)):
            files[name] = other
    return list(files.values())


def digest(files: Iterable[Path], root: Path = ROOT) -> str:
    """Return a hex digest of the names and contents of some files."""
    hashes = sorted((file.relative_to(root).as_posix(), hash_of(file)) for file in files)
    return sha256(repr(hashes).encode()).hexdigest()[:32]


@cache
def hash_of(file: Path) -> str:
    """Return a hash of the contents of a file, read once in a process."""
    return sha256(file.read_bytes()).hexdigest()


RULES_COMPILER = ("solver/rules/compiled.py", "solver/rules/constants.py", "solver/rules/positions.py")
"""The modules that teach numba what rules and positions are. Any kernel may call them, without an import."""

NOT_COMPILED = (
    *("games/catalog.py", "games/contract/declared.py", "games/contract/picture.py"),
    *("databases/**/*.py", "solver/runtime/*.py"),
)
"""Files that kernels import, directly or not, and whose functions numba never compiles: messages, texts and files."""

COMPILED = ("databases/encoding.py", "solver/runtime/kernel.py")
"""Exceptions among these files: kernels do use something from them."""


def matching_files(patterns: Iterable[str], exceptions: Iterable[str], root: Path) -> set[Path]:
    """Return the files that match one of the patterns, without the *exceptions*."""
    return {file for pattern in patterns for file in root.glob(pattern)} - {root / name for name in exceptions}


@cache
def not_compiled(root: Path) -> set[Path]:
    """Return the files that never change the machine code of a kernel."""
    return matching_files(NOT_COMPILED, COMPILED, root)


def kernel_files(file: Path, root: Path = ROOT) -> set[Path]:
    """Return the source files that decide the machine code of a file's kernels: its imports, and the rules compiler."""
    return closure([file, *(root / name for name in RULES_COMPILER)], root, not_compiled(root))


@cache
def kernels_digest(file: Path) -> str:
    """Return the digest of the sources that decide the machine code of the kernels in a file."""
    return digest(kernel_files(file))


@cache
def rules_compiler_digest() -> str:
    """Return the digest of the sources that decide how rules are compiled."""
    return digest(closure((ROOT / name for name in RULES_COMPILER), ROOT, not_compiled(ROOT)))


SOLVING = ("methods", "metrics")
"""The packages of the solver that make journal entries. All other files are found from there."""

IRRELEVANT = (
    *("solver/runtime/memory.py", "solver/runtime/progress.py"),
    *("games/catalog.py", "games/contract/declared.py", "games/contract/picture.py", "databases/**/*.py"),
)
"""Files that these import and that do not affect what is in an entry."""


def journal_files(root: Path = ROOT) -> set[Path]:
    """Return the source files that decide what a journal's entries mean.

    These are `engine.py`, and all modules that make entries or resume from them, with their imports, except
    IRRELEVANT. The variant is part of a journal's identity, and databases are read by their own version and rules.
    """
    makers = [file for package in SOLVING for file in (root / "solver" / package).rglob("*.py")]
    excluded = matching_files(IRRELEVANT, ["databases/encoding.py"], root)
    return {root / "solver" / "engine.py"} | closure(makers, root, excluded)


@cache
def journal_digest() -> str:
    """Return the digest of the sources that decide what the entries of a journal mean."""
    return digest(journal_files())
