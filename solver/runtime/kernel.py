"""The decorator of all kernels: loops compiled by numba, without the GIL, and cached on disk for later processes.

Numba's own cache has three faults. It keys machine code by the source of the one file that the function is in, though
the code contains functions and constants of other files too. It trusts that the index describes the data files, which
concurrent or killed compilers make untrue. It fails if the disk is full.

Here the key is a digest of the kernel's file and of all that this file imports. One process at a time reads or writes.
Data files name the sources and the signature that they were made for. Whatever cannot be read or written is compiled
again.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature

from retrograde.databases.lock import lock_file
from retrograde.databases.remote import without_garbage_collector
from retrograde.solver.runtime.sources import kernels_digest

MOST_SIGNATURES = 512
"""The most signatures of a kernel that stay in the cache. Each edit of a rule file adds one to the kernels that call
rules; 512 of all of them take some 250 MB.
"""

ZERO = np.int64(0)
"""A 0 for kernels to count from. A literal 0 has a type of its own: numba compiles the kernels that get it for this
type, and again once it finds that the variable changes.
"""

CACHE_SETTINGS = ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")
"""Numba's settings for the cache folder; not all versions have both."""


def kernel(function: Any) -> Any:
    """Compile a function when it is first called, and cache its machine code if there is a folder for it."""
    return compile_with(function, _nrt=True)


def lean_kernel(function: Any) -> Any:
    """Like `kernel`, for functions that allocate no arrays. They count no references, which takes most of the time of
    short functions whose arrays are shared by threads."""
    return compile_with(function, _nrt=False)


def inlined_kernel(function: Any) -> Any:
    """Like `lean_kernel`, with the code placed in the caller: a call copies seven numbers for each array."""
    return compile_with(function, _nrt=False, forceinline=True)


def entry_kernel(function: Any) -> Any:
    """Like `kernel`, for functions that machine code calls by their address, and Python never."""
    return compile_with(function, CPUDispatcher, EntryCompiler, _nrt=True, no_cpython_wrapper=True)


class EntryLibrary(JITCodeLibrary):
    """The machine code of an entry, with own copies of the functions that it calls.

    Otherwise copies in all libraries share a name, and calls go to the one loaded first, which was optimized alone: in
    the process that compiles, rules took up to twice as long.
    """

    def finalize(self) -> None:
        self.own = {function.name for function in self._final_module.functions if not function.is_declaration}
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Give copies of other functions internal names of their own, then let numba optimize."""
        # LLVM may change the arguments of an internal function. The loader of machine code looks up internal functions
        # by their names too, so a copy must have a name of its own, or others would call it with other arguments.
        owner = min(self.own)
        for function in self._final_module.functions:
            name = function.name
            # Names with NRT_ are of numba's runtime, which all code shares.
            if not function.is_declaration and name not in self.own and not name.startswith("NRT_"):
                function.linkage, function.name = "internal", f"{name}.{owner}"
        super()._optimize_final_module()


class BareLibrary(JITCodeLibrary):
    """The code of a kernel that only kernels call, which is not turned into machine code.

    Numba copies the code of a function into each of its callers, and optimizes it there once more. To optimize the
    function itself too, and to generate machine code for it, would take a tenth more time and serve nothing.
    """

    def _optimize_final_module(self) -> None:
        """Do nothing: the copies in the callers are optimized."""

    def _finalize_final_module(self) -> None:
        """Keep the code for callers, and load only its global variables for numba's environments, which numba sets."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True  # the next call would call this method again
        code = self._get_module_for_linking()  # what callers copy, and what the cache keeps
        variables = [str(variable) for variable in code.global_variables if variable.linkage == llvm.Linkage.common]
        self._final_module = llvm.parse_assembly("\n".join(variables))
        super()._finalize_final_module()


class KernelCompiler(Compiler):
    """Numba's compiler, which runs without the garbage collector and puts code into the libraries above."""

    def library_for(self, name: str) -> JITCodeLibrary | None:
        """Return an empty library for the code of a function; None if it gets one of numba's own."""
        return BareLibrary(self.state.targetctx.codegen(), name) if self.state.flags.no_cpython_wrapper else None

    def compile_extra(self, func: Any) -> Any:
        """Compile a function from its bytecode."""
        self.state.library = self.library_for(func.__qualname__)
        if self.state.library is not None:
            self.state.library.enable_object_caching()  # as numba does for a library of its own
        with without_garbage_collector():  # it would take a tenth of the time, and find little
            return super().compile_extra(func)


class EntryCompiler(KernelCompiler):
    """Numba's compiler, which puts the machine code of a function into an `EntryLibrary`."""

    def library_for(self, name: str) -> JITCodeLibrary:
        return EntryLibrary(self.state.targetctx.codegen(), name)


class KernelDispatcher(CPUDispatcher):
    """A kernel that gets a wrapper for calls from Python only when Python calls it.

    Only other kernels call most kernels. A wrapper unpacks every argument and takes as long to compile as a small
    kernel. If Python calls a kernel without one, the kernel is compiled again, with one.
    """

    def __init__(self, function: Any, **options: Any):
        super().__init__(function, **options)
        self.bare = False
        """Whether a kernel asks for code, not Python. Only a thread that holds numba's lock sets it."""
        self.replaced: list[Any] = []
        """Code without a wrapper of which there is now code with one. Compiled callers may still use it."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a call from another kernel; return numba's template of the call."""
        self.bare = True
        try:
            return super().get_call_template(args, kws)
        finally:
            self.bare = False

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, with a wrapper if Python calls."""
        with global_compiler_lock:
            compiled = self.overloads.get(normalize_signature(sig)[0])
            if compiled is not None and not self.bare and not has_wrapper(compiled):
                self.replaced.append(self.overloads.pop(compiled.signature.args))
            self.targetoptions["no_cpython_wrapper"] = self._cache.bare = self.bare
            return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        """Add compiled code, and let Python call it if it has a wrapper."""
        if has_wrapper(cres):
            super().add_overload(cres)
        else:
            self.overloads[cres.signature.args] = cres


def has_wrapper(compiled: Any) -> bool:
    """Return whether compiled code has a wrapper for calls from Python."""
    return bool(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cpython_wrapper_name))


def compile_with(
    function: Any, dispatcher: Any = KernelDispatcher, compiler: Any = KernelCompiler, **options: bool
) -> Any:
    """Return the function as numba compiles it, with our cache; with NUMBA_DISABLE_JIT, the function itself."""
    if config.DISABLE_JIT:
        return function
    options |= {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
    compiled = dispatcher(function, targetoptions=options, pipeline_class=compiler)
    compiled._cache = KernelCache(function)  # as enable_caching() does
    return compiled


class KernelCache(FunctionCache):
    """Numba's cache of a function, with our key. Its folder is found at the first call: most kernels are never called,
    and trying a folder writes a file."""

    bare = True
    """Whether code without a wrapper for calls from Python is enough."""

    def __init__(self, function: Any):
        self.function = function
        self.stamp = (kernels_digest(Path(function.__code__.co_filename).resolve()), numba.__version__)

    @cached_property
    def is_usable(self) -> bool:
        """Whether there is a writable folder for the cache."""
        try:
            with cache_settings_of_environment():
                super().__init__(self.function)
        except (RuntimeError, OSError):
            return False
        locator = self._impl.locator
        self._cache_file = CacheFile(locator.get_cache_path(), self._impl.filename_base, self.stamp)
        return True

    @property
    def cache_path(self) -> Any:
        return super().cache_path if self.is_usable else None

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the cached machine code for a signature, or None.

        Numba would first fill its registries, which takes a quarter of a second. Cached code needs none of them.
        """
        if not self.is_usable:
            return None
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            kinds = (False, True) if self.bare else (False,)  # code with a wrapper is preferred
            for bare in kinds:
                data = self._cache_file.load(self.key_of(signature, context.codegen(), bare))
                if data is not None:
                    return self._impl.rebuild(context, data)
        return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Cache machine code for a signature, if it can be cached."""
        if self.is_usable and self._impl.check_cachable(data):
            with self._guard_against_spurious_io_errors():
                self._impl.locator.ensure_cache_path()
                key = self.key_of(signature, data.codegen, not has_wrapper(data))
                self._cache_file.save(key, self._impl.reduce(data))

    def key_of(self, signature: Any, codegen: Any, bare: bool) -> Any:
        """Return the key of machine code for a signature; *bare* code has no wrapper for calls from Python."""
        return (*self._index_key(signature, codegen), bare)


def is_cached_for(compiled: Any, argument: Any) -> bool:
    """Return whether machine code is cached for some signature with an *argument* of this type.

    Of a kernel, only code that Python can call counts; of an entry, which Python never calls, any.
    """
    cache = getattr(compiled, "_cache", None)
    if not isinstance(cache, KernelCache) or not cache.is_usable:
        return False
    return cache._cache_file.has(argument, bare=not isinstance(compiled, KernelDispatcher))


class CacheFile(IndexDataCacheFile):
    """A kernel's index and data files; each entry names its sources and signature."""

    def load(self, key: Any) -> Any:
        """Return the data saved under a key; None if they are missing or unreadable."""
        try:
            with lock_folder(Path(self._cache_path)):
                saved = super().load(key)
        except OSError:
            return None
        return saved[1] if saved and saved[0] == (self._source_stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        """Save data under a key; do nothing if that fails."""
        with suppress(OSError), lock_folder(Path(self._cache_path)):
            super().save(key, ((self._source_stamp, key), data))
            self.drop_oldest()

    def drop_oldest(self) -> None:
        """Delete the older half of the data if there are more than MOST_SIGNATURES."""
        index = self._load_index()
        if len(index) <= MOST_SIGNATURES:
            return
        for key in [*index][: len(index) // 2]:
            Path(self._data_path(index.pop(key))).unlink(missing_ok=True)
        self._save_index(index)

    def has(self, argument: Any, bare: bool) -> bool:
        """Return whether some signature saved has an argument of this numba type. Code without a wrapper for calls from
        Python counts only if *bare*."""
        try:
            with lock_folder(Path(self._cache_path)):
                index = self._load_index()
                return any(argument in signature and (bare or not is_bare) for signature, *_, is_bare in index)
        except OSError:
            return False

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # pickle raises anything for a damaged file
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception:  # as above
            return None


@contextmanager
def cache_settings_of_environment() -> Iterator[None]:
    """Ignore `.numba_config.yaml` in the working folder: its author could have machine code of their own loaded."""
    before = {name: getattr(config, name) for name in CACHE_SETTINGS if hasattr(config, name)}
    for name in before:
        setattr(config, name, os.environ.get(f"NUMBA_{name}", ""))
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock the cache folder against other processes; raise OSError if that fails."""
    with open(folder / "retrograde-kernels.lock", "ab") as file:
        lock_file(file, wait=True)
        yield
