"""The digest of rules that look up names at run time: of whole modules, without comments and layout.

It covers the syntax trees of all modules that the rules may reach, without docstrings and without methods that only
make texts and pictures. Unlike the digest of `digest.py`, it depends on how a module imports its neighbours.
"""

import ast
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from types import ModuleType
from typing import Any

from retrograde.games.contract.game import Game
from retrograde.games.contract.snapshot import load, module_of, source_of
from retrograde.games.contract.syntax import parse
from retrograde.games.identity.normal_form import bound_by
from retrograde.games.identity.outline import folder_of, in_one_folder, is_beside, outline
from retrograde.games.identity.reach import CONTRACT, lineage

PRESENTATION = {  # members that make texts and pictures
    "variant_title",
    *("write", "read", "show", "move_name", "move", "distance", "ending", "pgn", "tier_name"),
    *("draw_board", "draw_pieces", "draw_move", "draw_turn", "draw_steps", "draw_reach", "draw_end", "read_pieces"),
    *("estimate", "features", "quiet", "promise", "tie_in", "least_plies", "swapped", "signs", "position_of"),
    *("elsewhere", "collection", "zeroes", "plies_to_draw", "abstractions", "abstracted", "heap_code"),
    "options_in",
}
NAMES = tuple(
    [name]
    for name in (
        *("title", "words", "bits", "by_turns", "to_move", "exchanges", "feature_weights", "abstractions_add"),
        *("heap_code", "has_ties", "at_best"),
    )
)
"""Assignments in classes that this digest ignores: the contract got them after the digest was defined."""
SINCE = {("Connect4", "example = '5,4'")}
"""(class, statement) that it ignores for the same reason."""


def whole_modules(cls: type[Game]) -> Any:
    """Return the name of a class, and the syntax trees of all modules that its rules may reach."""
    left = {module for base in lineage(cls) for module in rule_modules(module_of(base))}
    folders = [folder_of(module) for module in left]
    found = {CONTRACT}
    while left := left - found:
        module = left.pop()
        found.add(module)
        left |= {other for other in imported_by(module, module_of(cls)) if is_beside(other, folders)}
    sources = {source_of(module) for module in found - {CONTRACT}}
    return cls.__qualname__, sorted(repr(tree_of(source)) for source in sources)


def imported_by(module: ModuleType, home: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules that a rule module imports, also inside functions."""
    package = vars(module).get("__package__") or module.__name__.rpartition(".")[0]
    nodes = (node for part in outline(source_of(module)).body for node in ast.walk(part))
    targets = [target for node in nodes for _, target in bound_by(node) if target]
    for target in targets:
        # `from a import b` imports the module a, and the module a.b if b is one.
        for name in (target.module, f"{target.module}.{target.name}"):
            with suppress(Exception):  # it would raise in the rule as well, or is no module
                yield load(resolve_name(name, package), home)


def rule_modules(module: ModuleType) -> list[ModuleType]:
    """Return a rule module and all modules beside or below it that it uses, directly or indirectly."""
    folders, found, left = [folder_of(module)], [module], [module]
    while left:
        for value in list(vars(left.pop()).values()):
            other = value if isinstance(value, ModuleType) else home_of(value)
            if other is not None and other not in found and is_beside(other, folders):
                found.append(other)
                left.append(other)
    return found


def home_of(value: Any) -> ModuleType | None:
    """Return the module where a function or a class, or the class of any other value, was made."""
    with suppress(KeyError, AttributeError, TypeError):
        return module_of(value)
    return None


@cache
def tree_of(source: bytes) -> Any:
    """Return the syntax tree of a source file as nested tuples, without what decides nothing."""
    return as_tuples(parse(in_one_folder(source)))


def as_tuples(node: Any) -> Any:
    """Return a syntax tree as nested tuples, the same in every version of Python: `("Pass",)` for `pass`."""
    if isinstance(node, list):
        return tuple(as_tuples(item) for item in node if not is_for_people(item))
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.ClassDef):
        node.body = [item for item in node.body if not is_newer(item, node.name)]
    parts = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return (type(node).__name__, *((name, as_tuples(value)) for name, value in parts))


def is_newer(item: ast.stmt, class_name: str) -> bool:
    """Return whether a statement of a class sets what the contract did not have when the digest was defined."""
    sets_name = isinstance(item, ast.Assign) and [ast.unparse(target) for target in item.targets] in NAMES
    return sets_name or (class_name, ast.unparse(item)) in SINCE


def is_for_people(item: Any) -> bool:
    """Return whether a statement is a docstring or a method that makes texts or pictures."""
    is_text = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str)
    return is_text or (isinstance(item, ast.FunctionDef) and item.name in PRESENTATION)
