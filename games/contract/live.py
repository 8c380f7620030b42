"""Rules typed at a prompt or in a notebook: the same class, in a rule module made for it.

Such a class has no file. What runs is the present meaning of its names, whichever cell each came from. So this module
writes a source from the live class and all that it uses, not from the text of the cells::

    In [1]: SIZE = 7                             SIZE = 7
    In [2]: def most(heap): …           -->      def most(heap): …
    In [3]: class Heap(Game): …                  class Heap(Game): …

The same source makes the same module, and so the same digest of rules, in every session.
"""

import __future__

import ast
import dis
import linecache
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from hashlib import sha256
from inspect import isclass, isfunction
from pathlib import Path
from textwrap import dedent
from types import CodeType, ModuleType
from typing import Any

from retrograde.games.contract.game import Game
from retrograde.games.contract.snapshot import RULES, functions_of, has_source
from retrograde.games.contract.syntax import parse
from retrograde.games.contract.travel import Source, module_with
from retrograde.games.identity.definitions import classes_in, is_special

CONSTANTS = (int, bool, str, bytes, range, type(None))
HOLDERS = (tuple, list, set, frozenset, dict)
LATE = __future__.annotations.compiler_flag
IMPORT_CONTRACT = f"from {Game.__module__} import "


class NoSource(Exception):
    """The reason why the source of a class cannot be written."""


def with_source(game: Any) -> tuple[Any, str]:
    """Return (the game with rules that have a source, ""), or (the game itself, the reason why it has none)."""
    cls = type(game)
    if has_source(cls):
        return game, ""
    try:
        return class_with_source(cls)(*(getattr(game, field.name) for field in fields(game))), ""
    except NoSource as error:
        return game, f"the source of {cls.__name__} is not known: {error}; put its rules in a file, {game.name}.py"


def with_source_if_known(cls: Any) -> Any:
    """Return the same class with a source; the class itself if it cannot have one."""
    try:
        return cls if has_source(cls) else class_with_source(cls)
    except NoSource:
        return cls


def class_with_source(cls: type) -> Any:
    """Return the same class, defined in a rule module made for it; raise NoSource if that fails."""
    text = Writer(cls).text().encode()
    name = getattr(cls, "name", cls.__name__)
    package = f"{RULES}{sha256(text).hexdigest()[:16]}"
    file = Path.cwd() / f"<{name}>.py"  # so that modules in this folder count as beside it
    try:
        rebuilt = getattr(module_with((Source(f"{package}.{name}", str(file), text), ())), cls.__name__)
    except Exception as error:
        raise NoSource(f"defined anew, it raises {type(error).__name__}: {error}") from error
    if constants(rebuilt) != constants(cls):
        raise NoSource("what it was made of has changed; define it again")
    return rebuilt


def constants(cls: type) -> dict[str, str]:
    """Return the members of a class by name: constants as text, all others as ""."""
    members = {name: value for name, value in vars(cls).items() if not name.startswith("__") and name != "name"}
    return {name: repr(value) if is_constant(value) else "" for name, value in members.items()}


class Writer:
    """Writes the source of a class and of all that it uses. Each definition comes after those that it needs."""

    def __init__(self, cls: type):
        self.cls = cls
        self.names: dict[str, Any] = {}
        """The meaning of names where the class was defined."""
        self.written: dict[str, str] = {}

    def text(self) -> str:
        """Return the source."""
        self.names = next((function.__globals__ for function in functions_of(self.cls)), vars(sys.modules["__main__"]))
        self.write(self.cls.__name__, self.cls)
        flags = [function.__code__.co_flags for function in functions_of(self.cls)]
        future = ["from __future__ import annotations"] if any(flag & LATE for flag in flags) else []
        return "\n\n".join([*future, *self.written.values()]) + "\n"

    def write(self, name: str, value: Any) -> None:
        """Write the definition of a name, unless it is written already."""
        if name in self.written:
            return
        if imported := import_of(name, value):
            self.written[name] = imported
        elif is_constant(value):
            self.written[name] = f"{name} = {value!r}"
        elif isfunction(value) or isclass(value):
            text = text_of(value)
            if name != value.__name__:
                raise NoSource(f"{name} is another name of {value.__name__}")
            self.written[name] = ""  # a placeholder ends the recursion for functions that call themselves
            for used in names_in(code_of(text)):
                if used in self.names and not is_special(used):  # as is __name__
                    self.write(used, self.names[used])
            del self.written[name]  # to put it behind what it needs
            self.written[name] = text
        else:
            raise NoSource(f"{name} is a {type(value).__name__}, which is made as the program runs")


def import_of(name: str, value: Any) -> str:
    """Return the statement that imports a value under a name; "" if it cannot be imported."""
    if isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value and hasattr(value, "__spec__"):
        return f"import {value.__name__} as {name}" if value.__name__ != "__main__" else ""
    if vars(sys.modules[Game.__module__]).get(name) is value:
        return IMPORT_CONTRACT + name
    module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if module in (None, "__main__") or not own.isidentifier():
        return ""
    return f"from {module} import {own} as {name}" if vars(sys.modules.get(module, sys)).get(own) is value else ""


def is_constant(value: Any) -> bool:
    """Return whether the `repr` of a value is its source."""
    if type(value) in HOLDERS:
        items = [*value, *value.values()] if isinstance(value, dict) else value
        return all(map(is_constant, items)) and repr(value) not in ("set()", "frozenset()")
    if type(value) in (float, complex):
        return value - value == 0  # finite
    return type(value) in CONSTANTS


def text_of(definition: Any) -> str:
    """Return the text of a function or class as it was typed; raise NoSource if it is not available."""
    functions = list(functions_of(definition))
    for function in functions:  # some functions of a class may be defined elsewhere
        lines = linecache.getlines(function.__code__.co_filename)
        for node in definitions_in("".join(lines)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if node.name == definition.__name__ and first <= function.__code__.co_firstlineno <= node.end_lineno:
                text = dedent("".join(lines[first - 1 : node.end_lineno]))
                gists = set(map(gist, codes_in(code_of(text, function.__code__.co_flags & LATE))))
                if not all(gist(other.__code__) in gists for other in functions):
                    raise NoSource(f"the text of {definition.__name__} has changed since")
                return text
    raise NoSource(f"nothing keeps the text of {definition.__name__}")


def code_of(text: str, flags: int = 0) -> CodeType:
    """Return the code object of a text, with only the future imports that *flags* name."""
    return compile(text, "<text>", "exec", flags, dont_inherit=True)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all code objects inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes_in(inner)


def gist(code: CodeType) -> Any:
    """Return what decides what a code object does, as nested tuples, without its lines in a file."""
    constants = tuple(gist(item) if isinstance(item, CodeType) else repr(item) for item in code.co_consts)
    return code.co_name, code.co_code, code.co_names, code.co_varnames, constants


@cache
def definitions_in(text: str) -> list[Any]:
    """Return the functions and classes that a cell defines."""
    try:
        body = parse(text).body
    except SyntaxError:
        return []
    return [*(node for node in body if isinstance(node, ast.FunctionDef)), *classes_in(body)]


def names_in(code: CodeType) -> list[str]:
    """Return the global names that a code object reads, each once."""
    instructions = (each for inner in codes_in(code) for each in dis.get_instructions(inner))
    return list(dict.fromkeys(each.argval for each in instructions if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")))
