"""Arrays passed as raw addresses, to avoid reference counting in inner loops.

Numba counts references to an array with a locked instruction whenever a function receives it. Threads that share the
array then wait for each other. Here the caller of the kernels keeps the arrays alive instead.
"""

import ctypes
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload, register_jitable

from retrograde.games.contract.game import Traits
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import tuple_function, width_of_rules

WORDS = types.CPointer(types.int64)  # type: ignore[attr-defined]  # made at run time
VIEW_WORDS = 1 << 40
"""Words in the view that interpreted code gets; the memory behind it is shorter."""
LOG2_WORD_BYTES = 3
"""Shifting an index left by this gives its offset in bytes."""


def words_at(address: Any) -> Any:
    """Return an indexable view of the int64 words at *address*, without bounds checks."""
    return (ctypes.c_int64 * VIEW_WORDS).from_address(int(address))


def words_of(game: Any) -> int:
    """Return the number of words of a game's positions: 1 if they are ints."""
    return Traits.of(game).width or 1


def words_in(position: Any) -> int:
    """Return the number of words of a position: 1 if it is an int."""
    return len(position) if isinstance(position, tuple) else 1


def changed_bits(position: Any, child: Any) -> int:
    """Return the bits that differ between two positions; if these have several words, a hash of the bits."""
    if isinstance(position, tuple):
        return key_of(tuple(one ^ other for one, other in zip(position, child, strict=True)))
    return int(position ^ child)


@overload(words_of)
def compile_words_of(game):
    count = width_of_rules(game) or 1
    return lambda game: count


@overload(words_in)
def compile_words_in(position):
    count = len(position) if isinstance(position, types.BaseTuple) else 1  # type: ignore[attr-defined]
    return lambda position: count


@overload(changed_bits)
def compile_changed_bits(position, child):
    if isinstance(position, types.BaseTuple):  # type: ignore[attr-defined]  # made at run time
        xors = tuple_function("position, child: position[#] ^ child[#]", len(position))
        bits_of = register_jitable(xors)
        return lambda position, child: key_of(bits_of(position, child))
    return lambda position, child: position ^ child


def prefetch(address: Any, index: Any) -> None:
    """Start loading a word into the cache, so that several cache misses overlap. Does nothing in interpreted code."""


@overload(words_at)
def compile_words_at(address):
    return lambda address: pointer_to(address)


@overload(prefetch)
def compile_prefetch(address, index):
    return lambda address, index: emit_prefetch(address, index)


@intrinsic
def pointer_to(typing: Any, address: Any) -> Any:
    """Convert an integer to a pointer to int64 words."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(WORDS))

    return WORDS(types.int64), generate


@intrinsic
def emit_prefetch(typing: Any, address: Any, index: Any) -> Any:
    """Emit LLVM's prefetch instruction for a word, for reading and with high locality."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Emit the call of `llvm.prefetch` for the word at an address and an index."""
        # Arguments 0, 3, 1 of llvm.prefetch mean read, keep in all cache levels, data cache.
        offset = builder.shl(arguments[1], arguments[1].type(LOG2_WORD_BYTES))
        target = builder.add(arguments[0], offset)
        int32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, int32, int32, int32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.inttoptr(target, cgutils.voidptr_t), int32(0), int32(3), int32(1)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate
