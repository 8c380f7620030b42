"""Pushes the bits of a word under a mask together, and spreads them again.

Uses one instruction (pext, pdep of BMI2) if the processor has it, a loop otherwise.
"""

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from retrograde.solver.runtime.kernel import lean_kernel

ONE, NOTHING = np.uint64(1), np.uint64(0)
SLOW = {"bdver4", "znver1", "znver2"}
"""Processors that have the instructions but take longer for them than for a loop."""


def is_quick() -> bool:
    """Return whether machine code is made for a processor on which the instructions are fast."""
    if config.DISABLE_JIT:
        return False
    if config.CPU_NAME or config.CPU_FEATURES is not None:  # numba compiles for another processor
        return "+bmi2" in (config.CPU_FEATURES or "").split(",")
    return bool(binding.get_host_cpu_features().get("bmi2")) and binding.get_host_cpu_name() not in SLOW


IS_QUICK = is_quick()


@lean_kernel
def extract_by_loop(word, mask):
    """Return the bits of a word under a mask, pushed together."""
    found, shift = NOTHING, NOTHING
    while mask:
        # The lowest bit of the mask that is left.
        low = mask & (~mask + ONE)
        if word & low:
            found |= ONE << shift
        shift += ONE
        mask ^= low
    return found


@lean_kernel
def deposit_by_loop(bits, mask):
    """Return a word with the given bits at the ones of a mask, the lowest bit at the lowest one."""
    found = NOTHING
    while mask:
        low = mask & (~mask + ONE)
        if bits & ONE:
            found |= low
        bits >>= ONE
        mask ^= low
    return found


def instruction(name):
    """Return a function of two words for an LLVM instruction of this name."""

    @intrinsic
    def compiled(_, word, mask):
        def generate(context, builder, signature, arguments):
            word = ir.IntType(64)
            function = builder.module.declare_intrinsic(name, (), ir.FunctionType(word, [word, word]))
            return builder.call(function, arguments)

        return types.uint64(types.uint64, types.uint64), generate

    return compiled


if IS_QUICK:
    extract_by_one, deposit_by_one = instruction("llvm.x86.bmi.pext.64"), instruction("llvm.x86.bmi.pdep.64")

    @lean_kernel
    def extract(word, mask):
        """Return the bits of a word under a mask, pushed together."""
        return extract_by_one(word, mask)

    @lean_kernel
    def deposit(bits, mask):
        """Return a word with the given bits at the ones of a mask, the lowest bit at the lowest one."""
        return deposit_by_one(bits, mask)

else:
    extract, deposit = extract_by_loop, deposit_by_loop
