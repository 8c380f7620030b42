"""Numbers mixed, so that alike ones come to lie far apart.

All is unsigned: numba lets the compiler take it that products of signed numbers never wrap, and then drop a mask.
"""

import numpy as np

from retrograde.solver.runtime.kernel import kernel

FIRST, SECOND = np.uint64(0x1D8E4E27C47D124F), np.uint64(0x6B49D20F59FA6D2B)


@kernel
def mixed(number, count):
    """Return *count* bits, at most 63, that depend on all bits of a number."""
    bits = np.uint64(number)
    bits = (bits ^ bits >> np.uint64(32)) * FIRST
    bits = (bits ^ bits >> np.uint64(29)) * SECOND
    return np.int64(bits >> np.uint64(64 - count))


@kernel
def permuted(number, count):
    """Return another number of *count* bits for a number of so many: one for each, by a bijection."""
    mask, half = np.uint64((1 << count) - 1), np.uint64((count + 1) // 2)
    bits = np.uint64(number)
    bits = (bits ^ bits >> half) * FIRST & mask
    bits = (bits ^ bits >> half) * SECOND & mask
    return np.int64(bits ^ bits >> half)
