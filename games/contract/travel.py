"""Sends games to other processes by pickle.

A pickled game is its options and its class: the class by name or, if the rules come from a file, by their source. So
the receiving process can rebuild the class even if it does not have the file. Within one process equal games that
arrive are one object, so that they share cached tables.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache, reduce
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from retrograde.games.contract.snapshot import BESIDE, ITSELF, RULES, SourceLoader, module_of, source_of


class Source(NamedTuple):
    """The source of a module: its full name, its file, and the file's contents when it was imported."""

    name: str
    file: str
    source: bytes


Rules = tuple[Source, tuple[Source, ...]]
"""A rule module, and the modules beside it that it imports."""


def pickle_parts(game: Any) -> tuple[Any, ...]:
    """Return what pickle stores for a game: `by_class` with the class, or `by_source` with its modules' sources, and
    the options."""
    cls = type(game)
    options = tuple(getattr(game, field.name) for field in fields(cls))
    module = module_of(cls)
    if not module.__name__.startswith(RULES):
        return by_class, (cls, options)
    beside = vars(module).get(BESIDE, {})
    others = tuple(source(other, name) for name, other in sorted(beside.items()))
    return by_source, ((source(module, module.__name__), others), cls.__qualname__, options)


def source(module: ModuleType, name: str) -> Source:
    """Return the source of a module."""
    return Source(name, str(module.__file__), source_of(module))


@lru_cache(64)
def by_class(cls: type, options: tuple[Any, ...]) -> Any:
    """Return a game of a class that can be imported."""
    return cls(*options)


@lru_cache(64)
def by_source(rules: Rules, qualname: str, options: tuple[Any, ...]) -> Any:
    """Return a game whose rules come from a file, built from the contents that the sender's file had."""
    return reduce(getattr, qualname.split("."), module_with(rules))(*options)


def module_with(rules: Rules) -> Any:
    """Return the rule module made from sources; if one with the same sources was imported already, that one."""
    (name, file, text), others = rules
    module = sys.modules.get(name)
    if module and all(source(other, other_name) in others for other_name, other in vars(module)[BESIDE].items()):
        return module
    package = name.rpartition(".")[0]
    sys.modules[package] = ModuleType(package)  # numba imports the module by name, and so the package first
    spec = spec_from_loader(name, SourceLoader(name, file, text), origin=file)
    assert spec and spec.loader
    spec.has_location = True
    module = sys.modules[name] = module_from_spec(spec)
    vars(module)[ITSELF] = module
    with import_from(others):
        spec.loader.exec_module(module)
        vars(module)[BESIDE] = {other.name: __import__(other.name, fromlist=["*"]) for other in others}
    return module


@contextmanager
def import_from(sources: tuple[Source, ...]) -> Iterator[None]:
    """Import modules from some sources, in preference to others of the same names."""

    class ModuleFinder:
        @staticmethod
        def find_spec(fullname: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
            """Return how to load a module from its source, if it has come with the game; None for other modules."""
            for name, file, text in sources:
                if name == fullname:
                    is_package = Path(file).name == "__init__.py"
                    spec = spec_from_loader(name, SourceLoader(name, file, text), origin=file, is_package=is_package)
                    if spec:
                        spec.has_location = True
                    return spec
            return None

    for name, *_ in sources:
        sys.modules.pop(name, None)
    sys.meta_path.insert(sys.meta_path.index(PathFinder), ModuleFinder)
    try:
        yield
    finally:
        sys.meta_path.remove(ModuleFinder)
