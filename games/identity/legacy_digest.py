"""The digest of a game's rules as databases of format version 1 have it: of whole modules, but for comments and layout.

It is taken of the syntax trees of the module that defines the game and of the modules beside it that it uses, without
docstrings and without the methods that only speak to people. It is kept as it was, so that those databases go on being
used; how a module imports its neighbours decides it too, which is why there is another one now (see `digest.py`).
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
"""What rules ask of boards counts by its name, as the contract does."""
PRESENTATION = {  # as it was, and what has come since
    "variant_title",
    *("write", "read", "show", "move_name", "move", "distance", "ending", "pgn", "tier_name"),
    *("draw_board", "draw_pieces", "draw_move", "draw_turn", "draw_steps", "draw_reach", "draw_end", "read_pieces"),
    *("estimate", "quiet", "promise", "tie_in", "swapped", "signs", "position_of"),
    *("elsewhere", "collection", "zeroes"),
}


NAMES = (["title"], ["words"], ["bits"], ["by_turns"], ["to_move"])
"""What a class may say since of what people see."""
SINCE = {("Connect4", "example = '5,4'")}
"""What has been written into classes of ours since, and decides nothing."""


def legacy_digest(game: Game | type[Game]) -> str:
    """Return a hex digest of the source of all modules that rules are in, as databases of format version 1 have it."""
    cls: Any = game if isinstance(game, type) else type(game)  # Any: mypy thinks that classes cannot be hashed
    return class_digest(cls)


@cache
def class_digest(cls: type[Game]) -> str:
    """Return the digest of a class, as rules_digest() gave it for databases of format version 1."""
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
    """Return *module* and those in its folder or below that it, or one of them, takes something from."""
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
    """Tell whether a statement says what people see; there was none when the digest was."""
    return isinstance(item, ast.Assign) and [ast.unparse(target) for target in item.targets] in NAMES


def unimportant(item: Any) -> bool:
    """Tell whether a statement is a docstring or a method for people."""
    is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)
    return is_text or (isinstance(item, ast.FunctionDef) and item.name in PRESENTATION)
