"""The source of rule modules as it was at import: what runs, even if the file has changed since.

A rule module that comes from a path is read once, and so are the modules beside it that it imports. The text that was
read is compiled and kept with the module. The source of any other module is read on first use, and then kept.
"""

import linecache
import sys
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import decode_source
from inspect import isfunction, unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

FIELDS = "retrograde.games.contract.fields"
"""The package whose functions a class gets that declares fields."""

RULES = "retrograde_rules_"
"""The first letters of the names of packages that hold a rule module from a path."""

KEPT, ITSELF, BESIDE = "__retrograde_source__", "__retrograde_module__", "__retrograde_neighbours__"
"""Names in a module's namespace: its source, the module itself, and the modules beside it by name."""


def source_of(module: ModuleType) -> bytes:
    """Return the source of a module as it was imported, or as it is now; raise OSError for none."""
    if KEPT not in vars(module):
        if not getattr(module, "__file__", None):
            raise OSError(f"{module.__name__} was typed in, and has no source")
        keep(module, Path(str(module.__file__)).read_bytes())
    return vars(module)[KEPT]


def module_of(definition: Any) -> ModuleType:
    """Return the module where a function or class was made, even if another has its name now. Raise KeyError if there
    is none."""
    for function in (definition, *(vars(definition).values() if isinstance(definition, type) else ())):
        names = getattr(function, "__globals__", {})
        if names.get("__name__") == definition.__module__ and ITSELF in names:
            return names[ITSELF]
    return sys.modules[definition.__module__]


def has_source(cls: type) -> bool:
    """Return whether the source of a class is kept or is in its module's file. Classes typed at a prompt have none."""
    try:
        module = module_of(cls)
    except KeyError:
        return False
    if KEPT in vars(module) or module.__name__ != "__main__":
        return True
    file = vars(module).get("__file__")
    if "get_ipython" in vars(module) or not file or not Path(file).is_file():  # IPython and notebooks define that name
        return False
    # A class typed at the prompt of `python -i file.py` has functions whose code names another file, "<stdin>".
    return all(Path(function.__code__.co_filename).resolve() == Path(file).resolve() for function in functions_of(cls))


def functions_of(definition: Any) -> Iterator[FunctionType]:
    """Yield a function, or the functions in the body of a class, without their wrappers."""
    members = vars(definition).items() if isinstance(definition, type) else [("", definition)]
    for name, value in members:
        value = unwrap_member(value)
        if not isfunction(value) or value.__module__.startswith((FIELDS, "dataclasses")):
            continue  # also what follows from fields, and what dataclasses add
        if not name.startswith("__") or value.__code__.co_filename != "<string>":
            yield value  # but no function that dataclasses have generated


def unwrap_member(member: Any) -> Any:
    """Return the function behind a property, a class method or a decorator; any other value itself."""
    for wrapper in ("fget", "func", "__func__"):
        member = getattr(member, wrapper, member)
    return unwrap(member) if callable(member) else member


def keep(module: ModuleType, source: bytes) -> None:
    """Keep the source of a module, for digests and tracebacks."""
    vars(module).update({KEPT: source, ITSELF: module})
    text = decode_source(source)
    name = str(module.__file__)
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name  # None: never compared with the file


class SourceLoader(SourceFileLoader):
    """Loads a module from its file, reads the file once, and keeps the text."""

    def __init__(self, fullname: str, path: str, source: bytes | None = None):
        super().__init__(fullname, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        if self.source is None:
            self.source = self.get_data(self.path)
        return self.source_to_code(self.source, self.path)  # not from __pycache__, which may hold another state

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        assert self.source is not None
        keep(module, self.source)
        exec(code, vars(module))


class Neighbours:
    """Finds the modules in a folder (only the *known* files, if given), for a `SourceLoader` to load."""

    def __init__(self, folder: Path, known: Set[Path] | None = None):
        self.folder = folder
        self.known = known

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load a module in the folder, or None if it is not there."""
        spec = PathFinder.find_spec(fullname, [str(self.folder)] if path is None else path, target)
        if spec and type(spec.loader) is SourceFileLoader and self.holds(Path(spec.loader.path)):
            spec.loader = SourceLoader(fullname, spec.loader.path)
            return spec
        if spec and spec.origin is None and any(map(self.leads_to, spec.submodule_search_locations or ())):
            return spec  # a package without __init__.py
        return None

    def holds(self, file: Path) -> bool:
        """Return whether a file is one of those to find."""
        return self.folder in file.parents and (self.known is None or file.resolve() in self.known)

    def leads_to(self, folder: str) -> bool:
        """Return whether one of the *known* files is in a folder or below it."""
        return any(Path(folder).resolve() in file.parents for file in self.known or ())


@contextmanager
def neighbours(folder: Path, known: Set[Path] | None = None) -> Iterator[None]:
    """Import modules from a folder, before others of the same names; with *known*, only these files."""
    forget(folder)
    finder = Neighbours(folder, known)
    sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)  # behind the finders of built-in modules
    if known is None:  # extension modules, for which there is no SourceLoader, may come from there too
        sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if known is None:
            sys.path.remove(str(folder))
        sys.meta_path.remove(finder)


def forget(folder: Path) -> None:
    """Remove neighbours of other rule modules, and edited ones, from `sys.modules`. Modules that imported them keep
    them."""
    for name, module in loaded_neighbours().items():
        file = Path(str(module.__file__))
        if folder not in file.parents or not file.is_file() or file.read_bytes() != source_of(module):
            del sys.modules[name]


def is_outdated(module: ModuleType) -> bool:
    """Return whether a file beside a rule module was edited after its import."""
    beside = {Path(str(other.__file__)): source_of(other) for other in vars(module).get(BESIDE, {}).values()}
    return any(file.is_file() and file.read_bytes() != source for file, source in beside.items())


def loaded_neighbours() -> dict[str, ModuleType]:
    """Return the neighbours of rule modules that are in `sys.modules` now, by name."""
    return {
        name: module
        for name, module in sys.modules.items()
        if isinstance(getattr(module, "__loader__", None), SourceLoader) and not name.startswith(RULES)
    }


def load(name: str, beside: ModuleType) -> ModuleType:
    """Import a module by its full name. A module beside a rule module is returned as it was imported then."""
    return vars(beside).get(BESIDE, {}).get(name) or import_module(name)
