"""Masks, compiled: pushes the bits of a position that vary together to a rank, and spreads a rank again.

Uses one instruction (pext, pdep of BMI2) if the processor has it. Otherwise a loop serves a single word, and moves that
are found once serve many words with the same mask.

position   0 1 1 0 1 0 0 1      the lowest bit is on the right
mask       0 1 1 0 0 0 1 1      two runs of ones
rank               1 1 0 1
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import kernel, lean_kernel

ONE, NOTHING = np.uint64(1), np.uint64(0)
SLOW = {"bdver4", "znver1", "znver2"}
"""Processors that have the instructions but take longer for them than for a loop."""


def is_quick() -> bool:
    """Return whether the instructions pay: the processor that numba compiles for has them, and they are fast there."""
    if config.DISABLE_JIT:
        return False
    if config.CPU_NAME or config.CPU_FEATURES is not None:  # numba compiles for another processor
        return "+bmi2" in (config.CPU_FEATURES or "").split(",")
    return bool(binding.get_host_cpu_features().get("bmi2")) and binding.get_host_cpu_name() not in SLOW


IS_QUICK = is_quick()


@lean_kernel
def extract_by_loop(word, mask):
    """Return the bits of a word under the ones of a mask, pushed together: word 0b1011, mask 0b0110 gives 0b01."""
    rank, shift = NOTHING, NOTHING
    while mask:
        low = mask & (~mask + ONE)  # the lowest bit of the mask that is left
        if word & low:
            rank |= ONE << shift
        shift += ONE
        mask ^= low
    return rank


@lean_kernel
def deposit_by_loop(bits, mask):
    """Return a word with the lowest bits of *bits* at the ones of a mask. Bits 0b01 and mask 0b0110 give 0b0010."""
    word = NOTHING
    while mask:
        low = mask & (~mask + ONE)  # the lowest bit of the mask that is left
        if bits & ONE:
            word |= low
        bits >>= ONE
        mask ^= low
    return word


MOVES = 6
"""Length of a buffer for `find_moves`: a bit moves by 1, 2, 4, 8, 16 and 32 places, or stays."""


@lean_kernel
def find_moves(mask, moves):
    """Write to *moves*, uint64[MOVES], which bits move by 2**k places when those under the mask are pushed together.

    One call serves `extract_by_moves` and `deposit_by_moves` for many words with this mask. For some six words this is
    quicker than loops over the ones of the mask, unless these are few. (H. S. Warren, Hacker's Delight, section 7-4.)
    """
    # A bit moves by the number of zeros below it in the mask. Step k finds bit k of this number for all bits at once:
    # the parity of the zeros below. The next step counts every second one of these.
    zeros = ~mask << ONE
    for k in range(MOVES):
        parity = zeros
        for shift in range(MOVES):
            parity ^= parity << np.uint64(1 << shift)
        moves[k] = parity & mask
        mask = (mask ^ moves[k]) | (moves[k] >> np.uint64(1 << k))
        zeros &= ~parity


@lean_kernel
def extract_by_moves(word, mask, moves):
    """Return the bits of a word under the mask, pushed together, by the *moves* of this mask.

    >>> mask, moves = np.uint64(0b0110), np.empty(MOVES, np.uint64)
    >>> find_moves(mask, moves)
    >>> bin(extract_by_moves(np.uint64(0b1011), mask, moves))
    '0b1'
    """
    word &= mask
    for k in range(MOVES):
        moving = word & moves[k]
        word = (word ^ moving) | (moving >> np.uint64(1 << k))
    return word


@lean_kernel
def deposit_by_moves(bits, mask, moves):
    """Return a word with the lowest bits of *bits* at the ones of the mask, by the *moves* of this mask."""
    for k in range(MOVES - 1, -1, -1):
        bits = (bits & ~moves[k]) | ((bits << np.uint64(1 << k)) & moves[k])
    return bits & mask


def make_instruction(name):
    """Return a function of (word, mask) that numba compiles to the LLVM instruction *name*."""

    # numba asks an intrinsic for its types, and for a function that writes its LLVM code.
    @intrinsic
    def call_instruction(_, word, mask):
        def generate(context, builder, signature, arguments):
            int64 = ir.IntType(64)
            function = builder.module.declare_intrinsic(name, (), ir.FunctionType(int64, [int64, int64]))
            return builder.call(function, arguments)

        return types.uint64(types.uint64, types.uint64), generate

    return call_instruction


if IS_QUICK:
    extract_by_one, deposit_by_one = make_instruction("llvm.x86.bmi.pext.64"), make_instruction("llvm.x86.bmi.pdep.64")

    @lean_kernel
    def extract(word, mask):
        """Return the bits of a word under the ones of a mask, pushed together: word 0b1011, mask 0b0110 gives 0b01."""
        return extract_by_one(word, mask)

    @lean_kernel
    def deposit(bits, mask):
        """Return a word with the lowest bits of *bits* at the ones of a mask. Bits 0b01 and mask 0b0110 give 0b0010."""
        return deposit_by_one(bits, mask)

else:
    extract, deposit = extract_by_loop, deposit_by_loop


RUNS_LENGTH = 32
"""Length of a buffer for runs. A mask of 62 bits has at most 31 runs of ones."""


class Runs(NamedTuple):
    """A mask and its runs of ones. `bits` int64[n] has the ones of each run, `shifts` int64[n] how far the run moves to
    the right in a rank."""

    bits: Array
    shifts: Array
    mask: Any


@kernel
def make_runs_buffer():
    """Return a buffer for `find_runs`, long enough for any mask."""
    return Runs(np.empty(RUNS_LENGTH, np.int64), np.empty(RUNS_LENGTH, np.int64), np.int64(0))


@kernel
def find_runs(mask, buffer):
    """Return the Runs of a mask, at least 0, as views of *buffer*; the next call with this buffer overwrites them.

    >>> runs = find_runs(0b1100110, make_runs_buffer())
    >>> [bin(run) for run in runs.bits], runs.shifts
    (['0b110', '0b1100000'], array([1, 3]))
    """
    bits, shifts, _ = buffer
    count = ones = bit = 0  # runs, ones and bits passed so far
    while mask >> bit:
        # Skip zeros. The shift of the next run is the number of all zeros below it.
        while not (mask >> bit) & 1:
            bit += 1
        shifts[count] = bit - ones
        bits[count] = 0
        while (mask >> bit) & 1:
            bits[count] |= 1 << bit
            bit += 1
            ones += 1
        count += 1
    return Runs(bits[:count], shifts[:count], np.int64(mask))


@kernel
def rank_of(position, runs):
    """Return a position's bits under the mask of *runs*, pushed together."""
    # One instruction of the processor (pext); otherwise run by run.
    if IS_QUICK:
        return np.int64(extract(np.uint64(position), np.uint64(runs.mask)))
    rank = 0
    for run in range(len(runs.bits)):
        rank |= (position & runs.bits[run]) >> runs.shifts[run]
    return rank


@kernel
def spread(rank, runs):
    """Return the bits of a position under the mask of *runs*, from their *rank*: the inverse of `rank_of`."""
    # One instruction of the processor (pdep); otherwise run by run.
    if IS_QUICK:
        return np.int64(deposit(np.uint64(rank), np.uint64(runs.mask)))
    position = 0
    for run in range(len(runs.bits)):
        position |= (rank << runs.shifts[run]) & runs.bits[run]
    return position


# Varints: seven bits in each byte, lowest first; the highest bit is set if more bytes follow


@kernel
def write_varint(number, out, at):
    """Write a number below 2**63 as a varint at offset *at*; return the offset behind it.

    >>> out = np.zeros(3, np.uint8)
    >>> write_varint(300, out, 0), out, read_varint(out, 0)
    (2, array([172,   2,   0], dtype=uint8), (300, 2))
    """
    while number >= 128:
        out[at] = (number & 127) | 128
        number >>= 7
        at += 1
    out[at] = number
    return at + 1


@kernel
def read_varint(written, at):
    """Return (the varint at offset *at*, the offset behind it).

    >>> read_varint(np.array([172, 2], np.uint8), 0)  # 172 - 128 + 2 * 128
    (300, 2)
    """
    byte = np.int64(written[at])
    at += 1
    number = byte & 127
    shift = 7
    while byte >= 128:
        byte = np.int64(written[at])
        at += 1
        number |= (byte & 127) << shift
        shift += 7
    return number, at
