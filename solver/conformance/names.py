"""Finds misspelt members: nothing calls a rule under a wrong name, and the default applies silently."""

import ast
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from inspect import get_annotations
from typing import Any

from retrograde.games.contract.game import FOR_PEOPLE, Game
from retrograde.games.contract.snapshot import module_of, source_of
from retrograde.games.contract.syntax import parse
from retrograde.games.identity.digest import rule_modules
from retrograde.games.identity.normal_form import FUNCTIONS
from retrograde.games.identity.reach import CONTRACT, NO_DEFAULT, lineage
from retrograde.solver.conformance.survey import Survey
from retrograde.solver.rules.examine import Fault

CLOSE = 0.8
"""The least similarity, from 0 to 1, at which a name counts as a misspelt name of the contract."""


def check_names(survey: Survey) -> None:
    """Raise a Fault if a member of the game looks like a misspelt name of the contract."""
    cls: Any = type(survey.game)  # mypy thinks that classes cannot be hashed
    if found := find_misspelt(cls):
        name, meant = found
        survey.begin_check(name, None)
        raise Fault(f"did you mean {meant}? no rule reads {name}; rename it, or begin its name with an underscore")


@cache
def find_misspelt(cls: Any) -> tuple[str, str] | None:
    """Return (member, similar name of the contract) for the first member that no rule reads; None if there is none."""
    line = lineage(cls)
    for number, base in enumerate(line):
        # Each class is compared with the contract and with all classes it is derived from.
        defined = public_names(base)
        contract = public_names(Game).union(FOR_PEOPLE, NO_DEFAULT, *map(public_names, line[number + 1 :]))
        by_spelling = {spelling(name): name for name in sorted(contract - defined)}
        for name in sorted(defined - contract):
            near = get_close_matches(spelling(name), by_spelling, 1, CLOSE) or same_letters(spelling(name), by_spelling)
            if near and not is_read(name, line):
                return name, by_spelling[near[0]]
    return None


def same_letters(name: str, others: Iterable[str]) -> list[str]:
    """Return those of *others* that have the letters of a name in another order, as `teir` and `tier`."""
    return [other for other in others if sorted(other) == sorted(name)]


def public_names(cls: type) -> set[str]:
    """Return the names that a class itself defines or annotates, without those that begin with an underscore."""
    return {name for name in {*vars(cls), *get_annotations(cls)} if not name.startswith("_")}


def spelling(name: str) -> str:
    """Return a name in the form in which names are compared: `doMove` and `domove` equal `do_move`."""
    return name.replace("_", "").lower()


def is_read(name: str, line: list[type]) -> bool:
    """Return whether a class's modules, or modules of their folder that they import, read a member."""
    modules = {module for base in line for module in rule_modules(module_of(base))} - {CONTRACT}
    with suppress(OSError, AttributeError, KeyError):
        return any(name in names_read(source_of(module)) for module in modules)
    return True  # without a source, assume that it is read


@cache
def names_read(source: bytes) -> frozenset[str]:
    """Return the names of members that a source reads: attributes, texts, and bare names in the body of a class."""
    return frozenset(names_read_in(parse(source), False))


def names_read_in(node: ast.AST, in_class: bool) -> set[str]:
    """Return the names of members that a node and all nodes below it read. Bare names count only if the code runs
    *in_class*, in the body of a class. A function that only calls itself does not count.

    >>> import ast
    >>> sorted(names_read_in(ast.parse("self.size + getattr(self, 'tiers')"), False))
    ['size', 'tiers']
    """
    found = set()
    for child in ast.iter_child_nodes(node):
        in_function = isinstance(node, FUNCTIONS) and child in bodies(node)
        found |= names_read_in(child, isinstance(node, ast.ClassDef) or (in_class and not in_function))
    match node:
        case ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            found.add(name)
        case ast.Name(id=name, ctx=ast.Load()) if in_class:
            found.add(name)
        case ast.FunctionDef(name=name):
            found.discard(name)
    return found


def bodies(function: Any) -> list[ast.AST]:
    """Return the nodes of a function's or lambda's body, without decorators and defaults."""
    return function.body if isinstance(function.body, list) else [function.body]
