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
from retrograde.games.identity.normal_form import LOCAL, ImportTarget, Normalizer, bindings
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
    """A `Resolver` that follows a class's rules, or its *hints*, to all that they use, and numbers that.

    *handed_on*: a rule passes the game itself on. To `read` a thing is to return its normal form.
    """

    def __init__(self, cls: type[Game], handed_on: bool, hints: bool = False):
        self.cls: Any = cls
        self.hints = hints
        self.home = module_of(cls)
        self.handed_on = handed_on
        self.classes = lineage(cls)
        self.folders = [folder_of(module_of(base)) for base in self.classes]
        self.bodies = [body_of(base) for base in self.classes]
        self.options: list[str] = [field.name for field in fields(cls)] if is_dataclass(cls) else []
        self.numbers: dict[Any, int] = {}
        """The number of each thing met: members by ("member", name), globals by (id of the module, name)."""
        self.waiting: list[Callable[[], Any]] = []
        """For each number, a function that returns the normal form of the thing."""
        self.module = CONTRACT
        """The module that is being read."""

    def run(self) -> Any:
        """Return (options, what the rules are, the normal form of each thing that they reach, by number)."""
        others = [base.__qualname__ for base in self.cls.__mro__ if base not in (*self.classes, Game, object)]
        roots: list[Any] = [others, *((name, self.resolve_member(name)) for name in sorted(self.rules()))]
        for base in self.classes:
            if changes := changes_of(base):  # what the module does with the class after defining it
                read_changes = partial(self.read, module_of(base), Normalizer(self).normalize, changes)
                roots.append(("", self.number(base, read_changes)))
        if order := tuple(fields_of(self.cls)):  # where the bits of each field are
            roots.append(("Fields", order))
        found = []
        for read in self.waiting:  # the list grows meanwhile
            found.append(read())
        return self.options, roots, found

    def rules(self) -> set[str]:
        """Return the members that are rules: options, and methods that the contract or Python calls; with *hints*, the
        hints."""
        hints = HINTS | CLOCK | (NUMBERS if has_chance(self.cls) else frozenset())
        defined = {name for body in self.bodies for name in body}
        if self.hints:
            return defined & hints
        called = ({*vars(Game)} - FOR_PEOPLE - KEEPING - hints).union(NO_DEFAULT - hints, self.options)
        called |= fields_of(self.cls).keys()
        return {name for name in defined if name in called or is_special(name)}

    def number(self, key: Any, read: Callable[[], Any]) -> int:
        """Return the number of a thing that the rules reach, a new one the first time. *read* will be called later."""
        if key not in self.numbers:
            self.numbers[key] = len(self.waiting)
            self.waiting.append(read)
        return self.numbers[key]

    def read(self, module: ModuleType, normalize: Callable[[Any], Any], node: Any) -> Any:
        """Return what *normalize* returns for a syntax tree, or a list of them, that stands in *module*."""
        before, self.module = self.module, module
        try:
            return normalize(node)
        finally:
            self.module = before

    # Members

    def definitions(self, name: str) -> list[tuple[int, list[ast.stmt]]]:
        """Return (index in `classes`, statements) for each class that defines a member, the nearest class first."""
        return [(number, body[name]) for number, body in enumerate(self.bodies) if name in body]

    def resolve_member(self, name: str) -> Any:
        """Return ("Member", name, its number) for a member of the game, or ("Member", name) without such a member."""
        if name in DYNAMIC_ATTRIBUTES:
            raise Dynamic
        found = self.definitions(name)
        if not found:
            return "Member", name
        return "Member", name, self.number(("member", name), partial(self.read_member, name, *found[0]))

    def resolve_inherited(self, name: str) -> Any:
        """Return ("Super", name, the number of the member in each class that defines it)."""
        definitions = self.definitions(name)
        found = (((name, index), partial(self.read_member, name, index, nodes)) for index, nodes in definitions)
        return "Super", name, tuple(self.number(*one) for one in found)

    def resolve_self(self) -> Any:
        """Return the answer for the game itself; raise HandedOn unless *handed_on*."""
        if not self.handed_on:
            raise HandedOn
        return ("Self",)

    def resolve_attribute(self, name: str) -> Any:
        """Return an attribute's name. If the game is handed on, it may be a member of that name."""
        if name in DYNAMIC_ATTRIBUTES:
            raise Dynamic
        if self.handed_on and self.definitions(name):
            return self.resolve_member(name)
        return ascii(name)

    def read_member(self, name: str, number: int, nodes: list[ast.stmt]) -> Any:
        """Return (annotations, statements or value) of a member, as the class `classes[number]` defines it."""
        base, body = self.classes[number], self.bodies[number]
        module = module_of(base)
        value = vars(base).get(name)
        annotations = [node.annotation for node in nodes if isinstance(node, ast.AnnAssign)]
        annotated = self.read(module, Normalizer(self, body).normalize, annotations)
        if isinstance(value, Field):
            nodes = [without_looks(node) for node in nodes]
        # Case: a constant counts by its value.
        is_value = all(isinstance(node, (ast.Assign, ast.AnnAssign)) for node in nodes)
        if is_value and name in vars(base) and is_plain(value):
            return annotated, value_of(value)
        # Case: anything else counts by its statements.
        functions = [node for node in nodes if isinstance(node, DEFINITIONS)]
        if functions:
            check(value, functions)
        forms = []
        for node in nodes:
            normalizer = Normalizer(self, body)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                forms.append(self.read(module, normalizer.normalize_method, node))
            elif not (isinstance(node, ast.AnnAssign) and node.value is None):
                forms.append(self.read(module, normalizer.normalize, node))
        return annotated, tuple(forms)

    # Globals

    def resolve_global(self, names: list[str]) -> tuple[Any, list[str]]:
        """Return (answer, names that it does not cover) for a global name, or one of Python's own."""
        name, *attributes = names
        if name in vars(self.module):
            return self.resolve_in(self.module, names)
        if hasattr(builtins, name):
            if name in DYNAMIC:
                raise Dynamic
            return ("Builtin", name, getattr(builtins, name) is None), attributes
        return ("Unknown", name), attributes

    def resolve_import(self, target: ImportTarget, names: list[str]) -> tuple[Any, list[str]]:
        """Return (answer, names that it does not cover) for what an import statement binds."""
        module, name = self.imported(self.module, target)
        if module is None:
            return ("Missing", *target), names
        return self.resolve_module(module, names) if name is None else self.resolve_in(module, [name, *names])

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

    def resolve_module(self, module: ModuleType, names: list[str]) -> tuple[Any, list[str]]:
        """Answer for a module; *names* are only its attributes."""
        if names and names[0] in vars(module):
            return self.resolve_in(module, names)
        if names:
            return ("Missing", name_of(module), names[0]), names[1:]
        if self.is_inside(module) or module.__name__.partition(".")[0] in DYNAMIC_MODULES:
            raise Dynamic  # the rule passes the module itself on
        return ("Module", name_of(module)), []

    def resolve_in(self, module: ModuleType, names: list[str]) -> tuple[Any, list[str]]:
        """Answer for a name that a module has, and its attributes."""
        name, *attributes = names
        value = vars(module)[name]
        if isinstance(value, ModuleType):
            return self.resolve_module(value, attributes)
        # Case: a constant that no function changes
        if is_plain(value) and not (self.is_inside(module) and name in globals_of(source_of(module))):
            return value_of(value), attributes
        if vars(CONTRACT).get(name) is value:
            return ("Contract", name), attributes
        # Case: a class of the game's own, or a member named after it
        for number, base in enumerate(self.classes):
            if value is base and attributes:
                return ("Own", number, self.resolve_member(attributes[0])), attributes[1:]
            if value is base:
                self.resolve_self()
                return ("Own", number), []
        # Case: a thing from elsewhere, which counts by its name
        if not self.is_inside(module):
            if {module.__name__.partition(".")[0], name} & (DYNAMIC_MODULES | DYNAMIC_ATTRIBUTES):
                raise Dynamic
            return ("Outside", name_of(module), name), attributes
        # Case: a name imported from a module beside it; else the name is defined here
        if origin := self.origin(module, name):
            source, its_name = origin
            return self.resolve_in(source, [its_name, *attributes])
        return ("Global", self.number((id(module), name), partial(self.read_global, module, name))), attributes

    def is_inside(self, module: ModuleType) -> bool:
        """Return whether the digest follows what is in a module, rather than naming it."""
        return module is not CONTRACT and not module.__name__.startswith(NAMED) and is_beside(module, self.folders)

    def origin(self, module: ModuleType, name: str) -> tuple[ModuleType, str] | None:
        """Return (module, name) from where a module imports a name, or None if it defines the name."""
        bound = outline(source_of(module)).bound
        if name not in bound:  # `import *` binds it, or something else
            stars = [target for bound_name, target in bound.items() if bound_name == "*" and target]
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
        source, its_name = self.imported(module, target)
        if source is None or its_name is None or vars(source)[its_name] is not vars(module)[name]:
            raise Dynamic
        return source, its_name

    def read_global(self, module: ModuleType, name: str) -> Any:
        """Return the normal form of the statements that define a global name."""
        nodes = outline(source_of(module)).makers[name]
        definitions = [node for node in nodes if isinstance(node, DEFINITIONS)]
        if definitions:
            check(vars(module)[name], definitions)
            nodes = [node for node in nodes if name in dict(bindings([node]))]
        return self.read(module, Normalizer(self).normalize, nodes)
