"""Stands for packages that Python in a browser does not have, while modules that import them are loaded.

`install` lets such imports succeed. Each name in them is then an `Absent`, which may be called, indexed and combined,
as modules do while they are loaded. After `seal` every use is an ImportError, so that no answer can rest on one.
"""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGES = ("click", "h5py", "numba", "numpy", "platformdirs", "psutil", "zstandard")


class Absent(ModuleType):
    """A package, or anything in one."""

    __path__: list[str] = []  # noqa: RUF012  # as packages have it
    sealed = False

    def use(self, *_: Any, **__: Any) -> Any:
        """Return another `Absent`; raise ImportError once modules are loaded."""
        if Absent.sealed:
            raise ImportError(f"{self.__name__} is not in the browser")
        return Absent(self.__name__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self.use()

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Decorate: return a function alone, anything else as an `Absent`."""
        result = self.use()
        return args[0] if len(args) == 1 and callable(args[0]) and not named else result

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[()]:
        return ()

    def __iter__(self) -> Any:
        self.use()
        return iter(())

    __getitem__ = __or__ = __ror__ = __add__ = __mul__ = __lshift__ = use


class Finder:
    """Finds the packages that are absent."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.partition(".")[0] in PACKAGES else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is nothing to run."""


def install() -> None:
    """Let absent packages be imported."""
    sys.meta_path.insert(0, Finder())


def seal() -> None:
    """Let each use of an absent package raise ImportError from now on."""
    Absent.sealed = True
