"""Finds what the rules of a game reach: from the members of its class through the modules beside it.

`digest.py` explains what this is for.
"""

import ast
import builtins
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.util import resolve_name
from types import ModuleType
from typing import Any

from retrograde.games.contract.fields import Field, fields_of
from retrograde.games.contract.game import CLOCK, FOR_PEOPLE, HINTS, KEEPING, NUMBERS, Game, has_chance
from retrograde.games.contract.snapshot import load, module_of, source_of
from retrograde.games.identity.definitions import Dynamic, body_of, changes_of, check, is_plain, is_special, value_of
from retrograde.games.identity.essence import LOCAL, Essence, ImportTarget, bindings
from retrograde.games.identity.outline import DEFINITIONS, folder_of, globals_of, imports, is_beside, name_of, outline

CONTRACT = sys.modules[Game.__module__]
NAMED = ("retrograde.games.contract.drawing", "retrograde.games.contract.fields")
"""The module of boards, and the package of fields. Rules that use them count them by name, as with the contract."""
NO_DEFAULT = {"start", "tiers", "size"}
"""Members that the contract knows without having a default for them."""

# Names that look up other names at run time: rules that use one are Dynamic.
DYNAMIC = {
    *("getattr", "hasattr", "setattr", "delattr", "globals", "locals", "vars", "dir"),
    *("eval", "exec", "compile", "__import__"),
}
DYNAMIC_MODULES = {"importlib", "inspect", "sys", "gc", "ctypes", "pickle"}
DYNAMIC_ATTRIBUTES = {"__dict__", "__globals__", "__getattribute__", "__getattr__", "attrgetter", "methodcaller"}
"""Attributes that look up names at run time."""


class HandedOn(Exception):
    """Raised when a rule passes the game itself on, so that any attribute anywhere may be the game's."""


def lineage(cls: type) -> list[type]:
    """Return a class and its base classes that are rules: games, and classes in modules beside them."""
    games = [base for base in cls.__mro__ if issubclass(base, Game) and base is not Game]
    folders = [folder_of(module_of(base)) for base in games]
    return [base for base in cls.__mro__ if base in games or (base is not Game and is_beside(module_of(base), folders))]


def without_looks(statement: ast.stmt) -> ast.stmt:
    """Return the statement that declares a field, with signs that have no looks: pictures are no rules."""
    statement = deepcopy(statement)
    for node in ast.walk(statement):
        if isinstance(node, ast.keyword) and node.arg and len(node.arg) == 1:
            node.value = ast.Constant(None)
    return statement


class Trace:
    """What the rules of a class reach: a `Resolver` that follows every name it is asked for.

    *handed_on* says that a rule passes the game itself on; *hints* selects the hints instead of the rules.
    """

    def __init__(self, cls: type[Game], handed_on: bool, hints: bool = False):
        self.cls: Any = cls
        self.hints = hints
        self.home = module_of(cls)
        self.handed_on = handed_on
        self.line = lineage(cls)
        self.folders = [folder_of(module_of(base)) for base in self.line]
        self.bodies = [body_of(base) for base in self.line]
        self.options: list[str] = [field.name for field in fields(cls)] if is_dataclass(cls) else []
        self.numbers: dict[Any, int] = {}
        self.left: list[Callable[[], Any]] = []
        self.module = CONTRACT
        """The module that is being read."""

    def run(self) -> Any:
        """Return the essence of everything that the rules reach."""
        others = [base.__qualname__ for base in self.cls.__mro__ if base not in (*self.line, Game, object)]
        roots: list[Any] = [others, *((name, self.member(name)) for name in sorted(self.rules()))]
        changed = [base for base in self.line if changes_of(base)]
        roots += [("", self.number(base, partial(self.of_changes, base))) for base in changed]
        if order := tuple(fields_of(self.cls)):  # where the bits of each field are
            roots.append(("Fields", order))
        found = []
        for essence in self.left:  # the list grows meanwhile
            found.append(essence())
        return self.options, roots, found

    def rules(self) -> set[str]:
        """Return the members that are rules themselves: options, and methods that the contract or Python calls.

        With *hints*, return the hints instead.
        """
        hints = HINTS | CLOCK | (NUMBERS if has_chance(self.cls) else frozenset())
        rules = ({*vars(Game)} - FOR_PEOPLE - KEEPING - hints).union(NO_DEFAULT - hints, self.options)
        known = hints if self.hints else rules
        known |= set() if self.hints else fields_of(self.cls).keys()
        return {name for body in self.bodies for name in body if name in known or (is_special(name) and not self.hints)}

    # Members

    def definitions(self, name: str) -> list[tuple[int, list[ast.stmt]]]:
        """Return the classes that define a member, by number and nearest first, each with the member's statements."""
        return [(number, body[name]) for number, body in enumerate(self.bodies) if name in body]

    def member(self, name: str) -> Any:
        if name in DYNAMIC_ATTRIBUTES:
            raise Dynamic
        found = self.definitions(name)
        if not found:
            return "Member", name
        return "Member", name, self.number(("member", name), partial(self.of_member, name, *found[0]))

    def inherited(self, name: str) -> Any:
        found = [((name, at), partial(self.of_member, name, at, nodes)) for at, nodes in self.definitions(name)]
        return "Super", name, tuple(self.number(*one) for one in found)

    def of_member(self, name: str, number: int, nodes: list[ast.stmt]) -> Any:
        """Return the essence of a member as one of the classes defines it."""
        base, body = self.line[number], self.bodies[number]
        module = module_of(base)
        value = vars(base).get(name)
        annotations = [node.annotation for node in nodes if isinstance(node, ast.AnnAssign)]
        annotated = self.reading(module, Essence(self, body), annotations)
        if isinstance(value, Field):
            nodes = [without_looks(node) for node in nodes]
        is_value = all(isinstance(node, (ast.Assign, ast.AnnAssign)) for node in nodes)
        if is_value and name in vars(base) and is_plain(value):
            return annotated, value_of(value)
        functions = [node for node in nodes if isinstance(node, DEFINITIONS)]
        if functions:
            check(value, functions)
        essences = []
        for node in nodes:
            if isinstance(node, ast.AnnAssign) and node.value is None:
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                is_static = "staticmethod" in map(ast.unparse, node.decorator_list)
                kind = "staticmethod" if is_static else "method"
                essences.append(self.reading(module, Essence(self, body), node, kind))
            else:
                essences.append(self.reading(module, Essence(self, body), node))
        return annotated, tuple(essences)

    def of_changes(self, base: type) -> Any:
        """Return the essence of what a module does with a class after defining it."""
        return self.reading(module_of(base), Essence(self), list(changes_of(base)))

    def reading(self, module: ModuleType, essence: Essence, node: Any, kind: str = "") -> Any:
        """Return the essence of a node that stands in *module*."""
        before, self.module = self.module, module
        try:
            return essence.of_method(node, kind) if kind else essence.of(node)
        finally:
            self.module = before

    def number(self, key: Any, essence: Callable[[], Any]) -> int:
        """Return the number of a thing that the rules reach, a new one the first time."""
        if key not in self.numbers:
            self.numbers[key] = len(self.left)
            self.left.append(essence)
        return self.numbers[key]

    def itself(self) -> Any:
        if not self.handed_on:
            raise HandedOn
        return ("Self",)

    def attribute(self, name: str) -> Any:
        if name in DYNAMIC_ATTRIBUTES:
            raise Dynamic
        if self.handed_on and self.definitions(name):
            return self.member(name)
        return ascii(name)

    # Globals

    def resolve(self, names: list[str]) -> tuple[Any, int]:
        name = names[0]
        if name in vars(self.module):
            return self.reach(self.module, names, 0)
        if (whole_name := vars(builtins).get(name)) is not None or hasattr(builtins, name):
            if name in DYNAMIC:
                raise Dynamic
            return ("Builtin", name, whole_name is None), 1
        return ("Unknown", name), 1

    def resolve_import(self, target: ImportTarget, names: list[str]) -> tuple[Any, int]:
        module, found = self.imported(self.module, target)
        if module is None:
            return ("Missing", *target), 0
        if found is None:
            answer, used = self.through(module, names, 0)
            return answer, used
        answer, used = self.reach(module, [found, *names], 0)
        return answer, used - 1

    def imported(self, module: ModuleType, target: ImportTarget) -> tuple[ModuleType | None, str | None]:
        """Return (the module that an import statement takes something from, the name there or None)."""
        package = vars(module).get("__package__") or module.__name__.rpartition(".")[0]
        try:
            name = resolve_name(target.module, package) if target.module.startswith(".") else target.module
            source = load(name, self.home)
            if target.name is None or target.name in vars(source):
                return source, target.name
            return load(f"{name}.{target.name}", self.home), None
        except Exception:  # the import would fail in the rule as well
            return None, None

    def through(self, module: ModuleType, names: list[str], used: int) -> tuple[Any, int]:
        """Return the answer for the names that follow a module."""
        if used < len(names):
            if names[used] in vars(module):
                return self.reach(module, names, used)
            return ("Missing", name_of(module), names[used]), used + 1
        if self.is_inside(module) or module.__name__.partition(".")[0] in DYNAMIC_MODULES:
            raise Dynamic  # the rule passes the module itself on
        return ("Module", name_of(module)), used

    def reach(self, module: ModuleType, names: list[str], used: int) -> tuple[Any, int]:
        """Return (the answer for a name of a module, how many of *names* it covers)."""
        name = names[used]
        value = vars(module)[name]
        if isinstance(value, ModuleType):
            return self.through(value, names, used + 1)
        # Case: a constant that no function changes
        if is_plain(value) and not (self.is_inside(module) and name in globals_of(source_of(module))):
            return value_of(value), used + 1
        if vars(CONTRACT).get(name) is value:
            return ("Contract", name), used + 1
        if any(value is base for base in self.line):
            return self.reach_class(self.line.index(value), names, used + 1)
        # Case: a thing from elsewhere, which counts by its name
        if not self.is_inside(module):
            if {module.__name__.partition(".")[0], name} & (DYNAMIC_MODULES | DYNAMIC_ATTRIBUTES):
                raise Dynamic
            return ("Outside", name_of(module), name), used + 1
        # Case: a name imported from a module beside it; else the name is defined here
        if origin := self.origin(module, name):
            source, found = origin
            answer, more = self.reach(source, [found, *names[used + 1 :]], 0)
            return answer, used + more
        return ("Global", self.number((id(module), name), lambda: self.of_global(module, name))), used + 1

    def reach_class(self, number: int, names: list[str], used: int) -> tuple[Any, int]:
        """Return the answer for a class of the game's own, or for a member named after it."""
        if used < len(names):
            return ("Own", number, self.member(names[used])), used + 1
        self.itself()
        return ("Own", number), used

    def is_inside(self, module: ModuleType) -> bool:
        """Return whether the digest follows what is in a module, rather than naming it."""
        return module is not CONTRACT and not module.__name__.startswith(NAMED) and is_beside(module, self.folders)

    def origin(self, module: ModuleType, name: str) -> tuple[ModuleType, str] | None:
        """Return (module, name) from where a module imports a name, or None if it defines the name."""
        bound = outline(source_of(module)).bound
        if name not in bound:  # `import *` binds it, or something else
            stars = [target for at, target in bound.items() if at == "*" and target]
            targets = (ImportTarget(star.module, None) for star in stars)
            sources = [self.imported(module, target)[0] for target in targets]
            found = [source for source in sources if source and vars(source).get(name) is vars(module)[name]]
            if not found:
                raise Dynamic
            return found[0], name
        target = bound[name]
        if target is LOCAL:
            if any(imports(node, name) for node in outline(source_of(module)).makers[name]):
                raise Dynamic  # imported or defined, depending on a condition
            return None
        source, there = self.imported(module, target)
        if source is None or there is None or vars(source)[there] is not vars(module)[name]:
            raise Dynamic
        return source, there

    def of_global(self, module: ModuleType, name: str) -> Any:
        """Return the essence of the statements that define a global name."""
        nodes = outline(source_of(module)).makers[name]
        definitions = [node for node in nodes if isinstance(node, DEFINITIONS)]
        if definitions:
            check(vars(module)[name], definitions)
            nodes = [node for node in nodes if name in dict(bindings([node]))]
        return self.reading(module, Essence(self), nodes)
