"""Packages import downwards only: games, then databases, then solver, then cli."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

ORDER = ("games", "databases", "solver", "cli")
"""Each may import itself and what stands left of it."""
ELSEWHERE = ("tests", "benchmarks", *ORDER)
"""What is no package of that name once it is installed, and would be imported under two names before."""
NAME = re.compile(r"retrograde(\.\w*)+")
"""A text that is the name of a module, or how one begins."""
GROUPS = {"retrograde.players", "retrograde.bulk"}
"""Texts that are the names of groups of entry points, and of no module."""
FACES = [path.relative_to(ROOT) for folder in ORDER for path in sorted((ROOT / folder).rglob("__init__.py"))]
"""The first file of each package."""
FILES = dict.fromkeys(path.relative_to(ROOT) for folder in ORDER for path in sorted((ROOT / folder).rglob("*.py")))


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """Return the imports and the constants of a source."""
    return [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom | ast.Constant)
    ]


def names_in(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the full name of each module that a source in a package imports, wherever that stands.

    Texts that are the names of modules count as well, since they could be imported by them.
    """
    for node in nodes_of(source):
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


@pytest.mark.long
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


def test_what_is_offered_by_import_retrograde_comes_from_below_the_command_line():
    files = sorted((ROOT / "retrograde").glob("*.py"))
    assert {file.name for file in files} == {"__init__.py", "__main__.py", "offered.py", "old_names.py"}
    for file in files:
        used = {
            name.split(".")[1] for _, name in names_in(file.read_text(encoding="utf-8"), "retrograde") if "." in name
        }
        assert used & set(ORDER) <= ({"cli"} if file.name == "__main__.py" else set(ORDER) - {"cli"})


# Packages

PACKAGES = {
    "solver": (
        *("runtime", "runtime/cluster", "values", "rules", "rules/plain"),
        *("methods/chess", "methods/chess/syzygy"),
        *("methods/listed/predecessors", "methods/listed/ranges", "methods/listed/spill", "methods/listed/explore"),
        *(
            "methods/listed",
            "methods/shapes",
            "methods/numbered",
            "methods/numbered/compact",
            "methods/streamed",
            "methods/setwise",
        ),
        *("search", "search/probing", "search/scores", "search/certificates", "search/depth", "search/trees"),
        *("metrics/models", "metrics", "metrics/slots", "estimation", "verification"),
        *("conformance", "play", "play/tablebase", "play/oracles", "interpreted"),
        *("options", "selection", "replacing", "engine", "variants", "warm"),
    ),
    "databases": (
        *(
            "errors",
            "location",
            "remote",
            "durable",
            "lock",
            "encoding",
            "layout",
            "legend",
            "header",
            "frames",
            "checked",
            "reader",
        ),
        *(
            "*/read",
            "*/compact",
            "file",
            "plain",
            "chart",
            "database",
            "numbered",
            "*/database",
            "*/derive",
            "open",
            "book",
            "*/write",
            "write",
        ),
    ),
}
"""The packages and modules of a folder, in order: each may import itself and what stands before it.

The packages of `databases` are alike, a kind of storage each, and their modules stand at three places.
"""
KINDS = ("records", "rows", "steps", "slots", "bounds", "certificates")
MOST_MODULES = 20
"""Modules directly in a package."""


@cache
def imports_of(file: Path) -> set[Path]:
    """Return the files of this project that a source imports, lazily or for type checkers as well."""
    found = set()
    for _, name in names_in((ROOT / file).read_text(encoding="utf-8"), ".".join(["retrograde", *file.parts[:-1]])):
        parts = name.split(".")[1:]
        while parts:
            for path in (Path(*parts).with_suffix(".py"), Path(*parts, "__init__.py")):
                if path in FILES and path != file:
                    found.add(path)
                    parts = []
                    break
            parts = parts[:-1]
    return found


def package_of(file: Path) -> str:
    """Return the package of a file, below its top folder; for a file in the top folder itself, its module."""
    if file.parts[1] in KINDS:
        return f"*/{file.stem}"
    return "/".join(file.parts[1:-1]) or file.stem


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_packages_follow_the_arrows(package):
    order = PACKAGES[package]
    files = [file for file in FILES if file.parts[0] == package and file.name != "__init__.py"]
    assert {package_of(file) for file in files} == set(order)
    wrong = [
        (file.as_posix(), other.as_posix())
        for file in files
        for other in imports_of(file)
        if other.parts[0] == package
        and other in files
        and order.index(package_of(other)) > order.index(package_of(file))
    ]
    assert not wrong


def test_a_kind_of_storage_knows_no_other():
    for kind in KINDS:
        others = {other for file in FILES if file.parts[:2] == ("databases", kind) for other in imports_of(file)}
        assert not [other for other in others if other.parts[1] in set(KINDS) - {kind}]


@pytest.mark.thorough
def test_nothing_imports_in_a_circle():
    """Not even lazily, or for type checkers alone; what a package offers by its name counts as imported by none."""
    graph = {file: {other for other in imports_of(file) if other.name != "__init__.py"} for file in FILES}
    while graph:
        free = {file for file, others in graph.items() if not others & graph.keys()}
        assert free, sorted(file.as_posix() for file in graph)
        graph = {file: others for file, others in graph.items() if file not in free}


def test_no_package_has_too_many_modules():
    packages = {file.parent for file in FILES if len(file.parts) > 2 and file.parts[0] in PACKAGES}
    assert len(packages) > 10
    for package in packages:
        assert sum(file.parent == package and file.name != "__init__.py" for file in FILES) <= MOST_MODULES, package


def test_the_solver_has_twelve_packages_at_most():
    assert len({file.parts[1] for file in FILES if file.parts[0] == "solver" and len(file.parts) > 2}) <= 12


# The map

MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SENTENCES = dict(re.findall(r"^\| `([a-z/]+)/` \| (.+) \|$", MAP, re.MULTILINE))
"""What each package is for, as the map says it."""


def test_the_map_has_every_package_and_says_of_it_what_it_says_itself():
    packages = {file.parent.as_posix(): ast.get_docstring(ast.parse((ROOT / file).read_bytes())) for file in FACES}
    assert packages.keys() - {"solver", "cli"} <= SENTENCES.keys()
    for package, sentence in packages.items():
        if package in SENTENCES and len(Path(package).parts) >= 2 and not package.startswith("games"):
            assert sentence and sentence.splitlines()[0] == SENTENCES[package], package


def test_the_glossary_is_short():
    words = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert 20 < len(re.findall(r"^\| \w", words, re.MULTILINE)) - 2 <= 42


def test_files_that_the_map_names_are_there():
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", MAP))
    assert len(named) > 10
    homes = ("", "solver/", "databases/", "cli/")
    assert not [name for name in named if not any((ROOT / f"{home}{name}").is_file() for home in homes)]
