"""Arrays as addresses, for loops in which even to count references to an array would be too slow.

Compiled code counts whoever holds an array, with an instruction that locks the bus, whenever one is passed on; where
threads share it, they wait for one another. Here whoever calls the kernels keeps the arrays alive instead.
"""

import ctypes
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

WORDS = types.CPointer(types.int64)  # type: ignore[attr-defined]  # made at run time
MOST = 1 << 40


def words_at(address: Any) -> Any:
    """Return what can be indexed as the int64 words that begin at an address; no index is looked at."""
    return (ctypes.c_int64 * MOST).from_address(address)


def prefetch(address: Any, index: Any) -> None:
    """Begin to bring a word into the cache, so that several misses are waited for at once; compiled code does."""


@overload(words_at)
def compiled_words_at(address: Any) -> Any:
    """Return what numba compiles in the place of `words_at`."""

    def compiled(address: Any) -> Any:
        return pointer(address)

    return compiled


@overload(prefetch)
def compiled_prefetch(address: Any, index: Any) -> Any:
    """Return what numba compiles in the place of `prefetch`."""

    def compiled(address: Any, index: Any) -> None:
        touch(address, index)

    return compiled


@intrinsic
def pointer(typing: Any, address: Any) -> Any:
    """Take an int for the address that it is."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(WORDS))

    return WORDS(types.int64), code


@intrinsic
def touch(typing: Any, address: Any, index: Any) -> Any:
    """Give the instruction by the function that LLVM has for it: to read, to be kept in all caches."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = builder.add(arguments[0], builder.shl(arguments[1], arguments[1].type(3)))
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.inttoptr(byte, cgutils.voidptr_t), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code
