"""The statements of a module as it was imported, and which modules belong together."""

import ast
import os
import re
from functools import cache
from pathlib import Path
from sysconfig import get_paths
from types import ModuleType
from typing import NamedTuple

from retrograde.games.contract.syntax import parse
from retrograde.games.identity.normal_form import ImportTarget, bindings

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Outline(NamedTuple):
    """The statements of a module."""

    body: list[ast.stmt]
    bound: dict[str, ImportTarget | None]
    """For each name of the module, what it imports; None if the module defines it."""
    makers: dict[str, list[ast.stmt]]
    """For each name, the statements that bind it or may change it."""


@cache
def outline(source: bytes) -> Outline:
    """Return the outline of a module, without the statements that run only when the module is run as a program."""
    body = [
        node
        for node in parse(source).body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" and not node.orelse)
    ]
    return Outline(body, dict(bindings(body)), makers(body))


def makers(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """Return, for each name, the statements that bind it, or use it outside of definitions and so may change it.

    For `SIZES = [1]`, `SIZES.append(2)` and `def least(): return SIZES`: both first statements for SIZES.
    """
    found: dict[str, list[ast.stmt]] = {}
    for node in body:
        parts = () if isinstance(node, DEFINITIONS) else ast.walk(node)
        used = {part.id for part in parts if isinstance(part, ast.Name)}
        for name in used.union(name for name, _ in bindings([node])):
            found.setdefault(name, []).append(node)
    return found


def imports(node: ast.stmt, name: str) -> bool:
    """Return whether a statement may import a name."""
    found = (part for part in ast.walk(node) if isinstance(part, (ast.Import, ast.ImportFrom)))
    return any(name == (alias.asname or alias.name) for part in found for alias in part.names)


@cache
def globals_of(source: bytes) -> frozenset[str]:
    """Return the global names that functions of a module set at run time."""
    if b"global" not in source:
        return frozenset()
    found = (node for node in ast.walk(parse(source)) if isinstance(node, ast.Global))
    return frozenset(name for node in found for name in node.names)


# Folders


GAMES = Path(__file__).resolve().parents[1]


def folder_of(module: ModuleType) -> Path:
    """Return the folder of a module's file, or that of the games for kinds of games. It is empty for no file."""
    folder = Path(getattr(module, "__file__", None) or os.devnull).resolve().parent
    return GAMES if folder == GAMES / "kinds" else folder


PACKAGES = re.compile(rb"\bretrograde\.games\.(?:contract|kinds|identity)\.")
"""The packages within `games`. Digests leave them out: databases hold digests from before these packages existed."""


def in_one_folder(source: bytes) -> bytes:
    """Return a source, or a name, as if the packages within `games` were one folder."""
    return PACKAGES.sub(b"retrograde.games.", source)


def name_of(module: ModuleType) -> str:
    """Return the name of a module as digests use it."""
    return in_one_folder(module.__name__.encode()).decode()


def is_beside(module: ModuleType, folders: list[Path]) -> bool:
    """Return whether a module's source is in or below one of some folders, but not in a virtual environment there."""
    file = getattr(module, "__file__", None)
    return bool(file) and any(is_source_below(file, folder) for folder in folders)


@cache
def is_source_below(file: str, folder: Path) -> bool:
    """Return whether a Python file is in or below a resolved folder, and not in a library of the running Python
    there."""
    above = set(Path(file).resolve().parents)
    # The paths stdlib, platstdlib, purelib and platlib.
    installed = {Path(path).resolve() for name, path in get_paths().items() if name.endswith("lib")}
    return (
        file.endswith(".py")
        and folder in above
        and not any(folder in system.parents and system in above for system in installed)
    )
