"""The digest of a game's rules: equal as long as the rules are, whatever becomes of comments, layout and presentation.

It is taken of the syntax trees of the module that defines the game and of the modules beside it that it uses, without
docstrings and without the methods that only speak to people.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from retrograde.games.game import Game

CONTRACT = Game.__module__
PRESENTATION = {
    *("write", "read", "show", "move_name", "move", "distance", "ending", "pgn", "tier_name"),
    *("draw_board", "draw_pieces", "draw_move", "draw_turn"),
}


def rules_digest(game: Game | type[Game], contract: bool = False) -> str:
    """Return a hex digest of the rules' source; with *contract*, of the base class's source as well."""
    cls: Any = game if isinstance(game, type) else type(game)  # Any: mypy thinks that classes cannot be hashed
    return class_digest(cls, contract)


legacy_digest = rules_digest


@cache
def class_digest(cls: type[Game], contract: bool) -> str:
    """Return the digest of a class, taken once: what has been imported does not change with its file."""
    names = {base.__module__ for base in cls.__mro__ if issubclass(base, Game)}
    modules = {module.__name__: module for name in names for module in used_modules(sys.modules[name])}
    if not contract:
        modules.pop(CONTRACT, None)
    trees = [tree_of(Path(str(modules[name].__file__)).read_bytes()) for name in sorted(modules)]
    return sha256(repr((cls.__qualname__, trees)).encode()).hexdigest()[:32]


@cache
def tree_of(source: bytes) -> Any:
    """Return the essence of a source file."""
    return essence(ast.parse(source))


def used_modules(module: ModuleType, found: dict[str, ModuleType] | None = None) -> list[ModuleType]:
    """Return *module* and those in its folder or below that it, or one of them, takes something from."""
    found = {} if found is None else found
    found[module.__name__] = module
    folder = Path(str(module.__file__)).parent
    for value in list(vars(module).values()):
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        other = sys.modules.get(name) if isinstance(name, str) else None
        file = getattr(other, "__file__", None)
        if other is not None and file and name not in found and folder in Path(file).parents:
            used_modules(other, found)
    return list(found.values())


def essence(node: Any) -> Any:
    """Return a syntax tree as nested tuples, the same in every version of Python, without what does not count."""
    if isinstance(node, ast.AST):
        return (type(node).__name__, *fields_of(node))
    if isinstance(node, list):
        return tuple(essence(item) for item in node if not unimportant(item))
    return repr(node)


def fields_of(node: ast.AST) -> Iterator[tuple[str, Any]]:
    for name, value in ast.iter_fields(node):
        if value not in (None, []):
            yield name, essence(value)


def unimportant(item: Any) -> bool:
    """Tell whether a statement is a docstring or a method for people."""
    is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)
    return is_text or (isinstance(item, ast.FunctionDef) and item.name in PRESENTATION)
