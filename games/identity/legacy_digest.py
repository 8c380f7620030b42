"""The digest of a game's rules in databases of format version 1: of whole modules, without comments and layout.

It covers the syntax trees of the module that defines the game and of the modules beside it that it uses, without
docstrings and without methods that only make texts and pictures. It never changes, so that those databases stay usable.
It also depends on how a module imports its neighbours; `digest.py` has a digest that does not.
"""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from retrograde.games.contract.game import Game
from retrograde.games.contract.snapshot import module_of, source_of
from retrograde.games.identity.outline import in_one_folder

CONTRACT = Game.__module__
DRAWING = "retrograde.games.contract.drawing"
"""The module of boards. The rules' uses of it count by name, like those of the contract."""
PRESENTATION = {  # the members that format version 1 left out, and those added to the contract since
    "variant_title",
    *("write", "read", "show", "move_name", "move", "distance", "ending", "pgn", "tier_name"),
    *("draw_board", "draw_pieces", "draw_move", "draw_turn", "draw_steps", "draw_reach", "draw_end", "read_pieces"),
    *("estimate", "quiet", "promise", "tie_in", "swapped", "signs", "position_of"),
    *("elsewhere", "collection", "zeroes"),
}


NAMES = (["title"], ["words"], ["bits"], ["by_turns"], ["to_move"])
"""Class attributes for people that were added to the contract later."""
SINCE = {("Connect4", "example = '5,4'")}
"""Statements that were added to our own classes later and decide nothing."""


def legacy_digest(game: Game | type[Game]) -> str:
    """Return a hex digest of the source of all modules that hold the rules, as in databases of format version 1."""
    cls: Any = game if isinstance(game, type) else type(game)  # Any: mypy thinks that classes cannot be hashed
    return class_digest(cls)


@cache
def class_digest(cls: type[Game]) -> str:
    """Return the digest of a class, as rules_digest() returned it for databases of format version 1."""
    bases = [base for base in cls.__mro__ if issubclass(base, Game)]
    modules = {module.__name__: module for base in bases for module in used_modules(module_of(base))}
    for name in (CONTRACT, DRAWING):
        modules.pop(name, None)
    trees = [tree_of(source_of(modules[name])) for name in sorted(modules)]
    return sha256(repr((cls.__qualname__, trees)).encode()).hexdigest()[:32]


@cache
def tree_of(source: bytes) -> Any:
    """Return the essence of a source file."""
    return essence(ast.parse(in_one_folder(source)))


def used_modules(module: ModuleType, found: dict[str, ModuleType] | None = None) -> list[ModuleType]:
    """Return *module* and all modules in its folder or below that it uses, directly or indirectly."""
    found = {} if found is None else found
    found[module.__name__] = module
    folder = Path(str(module.__file__)).parent
    for value in list(vars(module).values()):
        try:
            other = value if isinstance(value, ModuleType) else module_of(value)
        except (AttributeError, KeyError, TypeError):
            continue
        file = getattr(other, "__file__", None)
        if file and other.__name__ not in found and folder in Path(file).parents:
            used_modules(other, found)
    return list(found.values())


def essence(node: Any) -> Any:
    """Return a syntax tree as nested tuples, the same in every version of Python, without what does not count."""
    if isinstance(node, ast.ClassDef):
        node.body = [item for item in node.body if not (is_name(item) or (node.name, ast.unparse(item)) in SINCE)]
    if isinstance(node, ast.AST):
        return (type(node).__name__, *fields_of(node))
    if isinstance(node, list):
        return tuple(essence(item) for item in node if not unimportant(item))
    return repr(node)


def fields_of(node: ast.AST) -> Iterator[tuple[str, Any]]:
    for name, value in ast.iter_fields(node):
        if value not in (None, []):
            yield name, essence(value)


def is_name(item: ast.stmt) -> bool:
    """Return whether a statement sets one of NAMES, which did not exist when the digest was defined."""
    return isinstance(item, ast.Assign) and [ast.unparse(target) for target in item.targets] in NAMES


def unimportant(item: Any) -> bool:
    """Return whether a statement is a docstring or a method for people."""
    is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)
    return is_text or (isinstance(item, ast.FunctionDef) and item.name in PRESENTATION)
