"""Finds the statements that define a class or a constant, and checks that the live object still matches them."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from inspect import isfunction
from typing import Any

from retrograde.games.contract.game import DERIVED, Value
from retrograde.games.contract.snapshot import module_of, source_of, unwrap_member
from retrograde.games.identity.normal_form import bindings
from retrograde.games.identity.outline import DEFINITIONS, makers, outline


class Dynamic(Exception):
    """The source does not say what the rules reach."""


# Classes


@cache
def node_of(cls: Any) -> ast.ClassDef:
    """Return the syntax tree of a class; raise Dynamic if it is not at module or class level."""
    body: list[ast.stmt] = outline(source_of(module_of(cls))).body
    for name in cls.__qualname__.split("."):
        found = [node for node in classes_in(body) if node.name == name]
        if len(found) != 1:
            raise Dynamic
        body = found[0].body
    return found[0]


def classes_in(body: Iterable[ast.AST]) -> Iterator[ast.ClassDef]:
    """Yield the classes that statements define, also under conditions, but not those inside functions and classes."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node
        elif not isinstance(node, DEFINITIONS):
            yield from classes_in(part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr))


def body_of(cls: type) -> dict[str, list[ast.stmt]]:
    """Return the statements in the body of a class, by the names that they bind or change.

    `{"ends": [the statement ends = 0], "tier": [def tier …]}`. Raise Dynamic if the class is not found, or has members
    from elsewhere.
    """
    body = node_of(cls).body
    names = {name for name, _ in bindings(body)}
    set_by_contract = {"name", DERIVED, *vars(cls).get(DERIVED, ())}
    if any(name not in names and not name.startswith(("__", "_abc_")) for name in vars(cls).keys() - set_by_contract):
        raise Dynamic
    return {name: nodes for name, nodes in makers(body).items() if name in names}


def changes_of(cls: type) -> list[ast.AST]:
    """Return what else in the module acts on a class: decorators, keywords, and later statements that use its name."""
    statements = outline(source_of(module_of(cls))).makers.get(cls.__name__, [])
    node = node_of(cls)
    return [*node.decorator_list, *node.keywords, *(one for one in statements if not isinstance(one, DEFINITIONS))]


def is_special(name: str) -> bool:
    """Return whether a name is one that Python itself calls."""
    return name.startswith("__") and name.endswith("__")


def check(value: Any, nodes: list[Any]) -> None:
    """Raise Dynamic unless *value*, a function or class, is one that the source defines under its name, by *nodes*."""
    value = unwrap_member(value)
    lines = {min([node.lineno, *(part.lineno for part in node.decorator_list)]) for node in nodes}
    if is_plain(value) or (isfunction(value) and value.__code__.co_firstlineno not in lines):
        raise Dynamic


# Values


def is_plain(value: Any) -> bool:
    """Return whether a value is a constant that its text describes fully."""
    if type(value) in (tuple, frozenset):
        return all(map(is_plain, value))
    return value is None or type(value) in (int, bool, float, complex, str, bytes, range, Value)


def value_of(value: Any) -> Any:
    """Return a constant as nested tuples, the same in every version of Python: `("int", "3")` for 3.

    >>> value_of((3, "a"))
    ('tuple', ('int', '3'), ('str', "'a'"))
    """
    if type(value) is tuple:
        return "tuple", *map(value_of, value)
    if type(value) is frozenset:
        return "frozenset", *sorted(map(value_of, value), key=repr)
    return type(value).__name__, ascii(value)
