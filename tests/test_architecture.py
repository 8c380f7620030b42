"""The way through the house: games, databases, solver, cli; each imports what stands left of it, and nothing else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = ("games", "databases", "solver", "cli")
"""Each may import itself and what stands left of it."""
ELSEWHERE = ("tests", "benchmarks", *ORDER)
"""What is no package of that name once it is installed, and would be imported under two names before."""
NAME = re.compile(r"retrograde(\.\w*)+")
"""A text that is the name of a module, or how one begins."""
GROUPS = {"retrograde.players"}
"""Texts that are the names of groups of entry points, and of no module."""
FILES = [path.relative_to(ROOT) for folder in ORDER for path in sorted((ROOT / folder).rglob("*.py"))]


def names_in(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the full name of each module that a source in a package imports, wherever that stands.

    Texts that are the names of modules count as well, since they could be imported by them.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*around, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
            yield from () if node.value in GROUPS else ((node.lineno, node.value),)


def against_the_arrows(source: str, folder: str, package: str) -> list[str]:
    """Return the imports in a source that no module in a folder may have, with their lines."""
    wrong = []
    for line, name in names_in(source, package):
        first, _, rest = name.partition(".")
        second = rest.partition(".")[0]
        if first in ELSEWHERE or (first == "retrograde" and second not in ORDER[: ORDER.index(folder) + 1]):
            wrong.append(f"line {line}: {name}")
    return wrong


@pytest.mark.parametrize("folder", ORDER)
def test_imports_follow_the_arrows(folder):
    files = [file for file in FILES if file.parts[0] == folder]
    assert len(files) > 10
    wrong = {
        file.as_posix(): found
        for file in files
        if (
            found := against_the_arrows(
                (ROOT / file).read_text(encoding="utf-8"), folder, ".".join(["retrograde", *file.parts[:-1]])
            )
        )
    }
    assert not wrong


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("from retrograde.games import Game", True),
        ("import retrograde.databases.file, numpy", True),
        ("from retrograde import games", True),
        ("from . import dense", True),
        ("from .dense import Dense", True),
        ("from ..games import Game", True),
        ("importlib.import_module(f'retrograde.games.{name}')", True),
        ('"""Of retrograde.cli is spoken here."""', True),
        ("entry_points(group='retrograde.players')", True),
        ("from retrograde.solver import engine", False),
        ("import numpy, retrograde.cli.main", False),
        ("from retrograde import solver", False),
        ("import retrograde", False),  # through which all could be reached
        ("from ..cli import main", False),
        ("def later():\n    from retrograde.solver.engine import solve", False),
        ("if TYPE_CHECKING:\n    from retrograde.solver.engine import solve", False),
        ("import_module('retrograde.solver.engine')", False),
        ("import_module(f'retrograde.cli.{name}')", False),
        ("import_module(f'retrograde.{name}')", False),
        ("import retrograde.players", False),
        ("from tests import reference", False),
        ("import benchmarks.speed", False),
        ("from games import Game", False),
    ],
)
def test_what_goes_against_the_arrows_is_seen(statement, allowed):
    assert (not against_the_arrows(statement, "databases", "retrograde.databases")) is allowed


def test_every_folder_with_modules_is_a_package():
    """Folders without `__init__.py` are not found when a wheel is made, though an editable install has them."""
    folders = {file.parent for file in FILES}
    assert len(folders) > len(ORDER)
    assert not {folder for folder in folders if folder / "__init__.py" not in FILES}
