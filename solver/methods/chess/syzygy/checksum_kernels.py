"""The compiled loop of the checksum, over all bytes of a table."""

import numpy as np

from retrograde.solver.runtime.kernel import lean_kernel

PIECE, ROUND = 5, 30
"""Words of 64 bits that are mixed in together, and words in a round.

In full rounds every other group is mixed in another way.
"""


@lean_kernel
def turned(word, bits):
    """Return the word rotated to the right."""
    return word >> np.uint64(bits) | word << np.uint64(64 - bits)


@lean_kernel
def checked(checksum, word, table):
    """Return the CRC-32C with the eight bytes of a word added."""
    for _ in range(8):
        checksum = checksum >> np.uint64(8) ^ table[(checksum ^ word) & np.uint64(255)]
        word >>= np.uint64(8)
    return checksum


@lean_kernel
def churn(words, factor, table, state):
    """Mix words, at least thirty, into *state*, uint64[11]: six words that rotate, then five CRC checksums."""
    spot, count = 0, len(words)
    while spot < count:
        if spot + PIECE > count:
            spot = count - PIECE  # some of them once more
        whole = spot < count // ROUND * ROUND
        odd = 1 if whole and spot % (2 * PIECE) == 0 else 0
        times = np.uint64(1) if odd else factor
        first = state[0]
        for k, bits in enumerate((41, 27, 41, 33, 25)):
            state[k] = turned(state[k + 1], bits ^ odd) * times + words[spot + k]
        state[5] = first
        for k in range(5):
            state[6 + k] = checked(state[6 + k] & np.uint64(0xFFFFFFFF), state[k], table)
        spot += PIECE
