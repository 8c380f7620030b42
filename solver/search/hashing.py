"""Hash functions for table keys: they spread similar numbers over the whole range.

All arithmetic is unsigned. Numba lets the compiler assume that signed products never overflow, and it may then drop a
mask.
"""

import numpy as np

from retrograde.solver.runtime.kernel import kernel

# Odd constants whose bits look random.
FIRST, SECOND = np.uint64(0x1D8E4E27C47D124F), np.uint64(0x6B49D20F59FA6D2B)


@kernel
def hash_of(number, count):
    """Return a hash of *number*, below 2**count (*count* is at most 63)."""
    bits = np.uint64(number)
    bits = (bits ^ (bits >> np.uint64(32))) * FIRST
    bits = (bits ^ (bits >> np.uint64(29))) * SECOND
    return np.int64(bits >> np.uint64(64 - count))


@kernel
def permute(number, count):
    """Return another number of *count* bits, a different one for each *number*. Each step (xor with a right shift,
    multiplication by an odd constant, mask) is invertible."""
    mask, half = np.uint64((1 << count) - 1), np.uint64((count + 1) // 2)
    bits = np.uint64(number)
    bits = ((bits ^ (bits >> half)) * FIRST) & mask
    bits = ((bits ^ (bits >> half)) * SECOND) & mask
    return np.int64(bits ^ (bits >> half))
