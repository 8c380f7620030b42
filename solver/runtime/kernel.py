"""The decorator of all kernels: loops compiled by numba, without the GIL, and kept on disk for later processes.

Numba keeps machine code by the source of the one file that the function is in, though what is compiled holds the
functions and constants of other files too; it takes for granted that what an index says of a data file is so, which
processes that compile at once and those that are killed make untrue; and it fails where a disk is full. Here machine
code is kept by a digest of the kernel's file and of all that this file imports. Indices and data are read and written
one process at a time. Data name the sources and the signature that they were made for. What cannot be read or written
is compiled again.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys

from retrograde.databases.lock import lock_file
from retrograde.solver.runtime.sources import kernels_digest

WHERE = ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")
"""Numba's settings that say where machine code is kept; not all versions have both."""


def kernel(function: Any) -> Any:
    """Return a function compiled when it is called; machine code is kept where there is a folder for it."""
    return kept(function, numba.njit(nogil=True, _nrt=True, no_cfunc_wrapper=True)(function))


def lean_kernel(function: Any) -> Any:
    """Return the same of a function that makes no arrays: who else looks at those that it is given is not counted.

    Numba counts at each call, for each array, also those in named tuples; where threads share them that is most of the
    time of short functions that call one another.
    """
    return kept(function, numba.njit(nogil=True, _nrt=False, no_cfunc_wrapper=True)(function))


def kept(function: Any, compiled: Any) -> Any:
    """Return a compiled function whose machine code is kept, where there is a folder for it."""
    if isinstance(compiled, Dispatcher):  # with NUMBA_DISABLE_JIT it is the function
        with suppress(RuntimeError, OSError):  # no folder that numba would use can be written to
            compiled._cache = KernelCache(function)  # type: ignore[attr-defined]  # as enable_caching() does
    return compiled


class KernelCache(FunctionCache):
    """Numba's cache of a function, with another idea of what is fresh."""

    def __init__(self, function: Any):
        with settings_of_the_person():
            super().__init__(function)
        locator = self._impl.locator
        stamp = (kernels_digest(Path(function.__code__.co_filename).resolve()), numba.__version__)
        self._cache_file = CacheFile(locator.get_cache_path(), self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return machine code that is kept for a signature, None where there is none.

        Numba would first fill the registries of all that it can compile, which takes a quarter of a second. Machine
        code needs none of them: the modules of the functions in it are imported as it is read. Who compiles fills them
        in any case.
        """
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)


def is_kept_for(compiled: Any, argument: Any) -> bool:
    """Tell whether machine code of a kernel is kept for arguments one of which is of a numba type."""
    cache = getattr(compiled, "_cache", None)
    return isinstance(cache, KernelCache) and cache._cache_file.has(argument)


class CacheFile(IndexDataCacheFile):
    """The index of a function and its data, each of which says for which sources and which signature it was made."""

    def load(self, key: Any) -> Any:
        """Return what was saved with a key; None where it is not there, or cannot be read."""
        try:
            with locked(Path(self._cache_path)):
                found = super().load(key)
        except OSError:
            return None
        return found[1] if found and found[0] == (self._source_stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        """Save data with a key, if it can be done."""
        with suppress(OSError), locked(Path(self._cache_path)):
            super().save(key, ((self._source_stamp, key), data))

    def has(self, argument: Any) -> bool:
        """Tell whether there is data for arguments one of which is of a type."""
        try:
            with locked(Path(self._cache_path)):
                return any(argument in signature for signature, *_ in self._load_index())
        except OSError:
            return False

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # whatever a damaged file makes pickle raise
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception:  # as above
            return None


@contextmanager
def settings_of_the_person() -> Iterator[None]:
    """Let only the environment say where machine code is kept.

    Numba would also read `.numba_config.yaml` in the working folder, which may be anybody's, and so would the machine
    code be that is loaded from where it says.
    """
    before = {name: getattr(config, name) for name in WHERE if hasattr(config, name)}
    for name in before:
        setattr(config, name, os.environ.get(f"NUMBA_{name}", ""))
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of the machine code in a folder; raise OSError where that cannot be done."""
    with open(folder / "retrograde-kernels.lock", "ab") as file:
        lock_file(file, wait=True)
        yield
