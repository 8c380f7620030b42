"""The 16-byte checksum at the end of a Syzygy table: CityHash by G. Pike and J. Alakuijala, as `tbcheck` expects it.

Each chunk of 16 MB has a hash of 32 bytes, which mixes in CRC-32C checksums. The hashes of all chunks are hashed once
more, to 16 bytes.
"""

from functools import cache

import numpy as np

from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel

CHUNK = 1 << 24
LEAST = 240
"""Shorter chunks are padded with zeros to this many bytes."""
MOST_CHUNKS = 4
"""For more chunks the last hash is another function, not implemented. Tables of five men have one or two."""
K0, K1, K3, K_PAIR = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0xC949D7C7509E6557, 0x9DDFEA08EB382D69
MASK = (1 << 64) - 1
CRC32C = 0x82F63B78
"""The polynomial of CRC-32C, bits reversed."""
MIXED, ROUND = 5, 30
"""Words of 64 bits that are mixed in together, and words in a round. In full rounds every other group differs."""


def checksum(content: bytes) -> bytes:
    """Return the checksum of a table, whose length is a multiple of 64. Raise RetrogradeError if it is too long."""
    hashes = [hash_of(content[begin : begin + CHUNK]) for begin in range(0, len(content), CHUNK)]
    if len(hashes) > MOST_CHUNKS:
        raise RetrogradeError(f"a table of {len(content):,} bytes is too long for its checksum")
    return murmur([word for words in hashes for word in words])


def hash_of(chunk: bytes) -> list[int]:
    """Return the hash of a chunk, as four words of 64 bits."""
    seed = 0
    if len(chunk) < LEAST:
        seed, chunk = len(chunk) ^ 0xFFFFFFFF, chunk + bytes(LEAST - len(chunk))
    words, length = np.frombuffer(chunk, "<u8"), len(chunk)
    b = int(words[12]) + K0
    c, d = pair(b, length), int(words[15]) * K0 + length
    first = [int(words[7]) + K0, b, c, d, int(words[23]) + seed, c + d, seed, 0, 0, 0, 0]
    state = np.array([number & MASK for number in first], np.uint64)
    mix_in(words.astype(np.uint64), np.uint64(K0), crc_table(), state)
    # Mix the final state into four words, with the constants and the order of CityHash.
    a, b, c, d, e, t, f, g, h, i, j = state.tolist()
    initial = pair(int(words[12]) + K0, length), int(words[15]) * K0 + length
    j += i << 32
    a = pair(a, j)
    h += g << 32
    b += h
    c = pair(c, f) + i
    d = pair(d, e + initial[0])
    j += e
    i += pair(h, t)
    e = pair(a, d) + j
    f = pair(b, c) + a
    g = pair(j, i) + c
    found = [e + f + g + h]
    a = fold((a + g) * K0) * K0 + b
    found.append(initial[1] + a + found[0])
    a = fold(a * K0) * K0 + c
    found.append(a + found[1])
    a = fold((a + e) * K0) * K0
    found.append(a + found[2])
    return [number & MASK for number in found]


def murmur(words: list[int]) -> bytes:
    """Return 16 bytes for 4 to 16 words of 64 bits."""
    a, b, rest = words[0] ^ K3, words[1], words[2:]
    # Case: four words, from a table of one chunk.
    if len(rest) == 2:
        first, last = rest
        a = fold(a * K1) * K1
        around = last + 16 & MASK
        c = b * K1 + (pair(first, around >> 16 | around << 48) ^ last)
        d = fold(a + first)
    # Case: more words.
    else:
        c = pair(rest[-1] + K1, a)
        d = pair(b + 8 * len(rest), c + rest[-2])
        a += d
        for first, second in zip(rest[:-2:2], rest[1:-2:2], strict=True):
            a = (a ^ fold(first * K1) * K1) * K1
            b ^= a
            c = (c ^ fold(second * K1) * K1) * K1
            d ^= c
    a, b = pair(a, c), pair(d, b)
    return ((a ^ b) & MASK).to_bytes(8, "little") + pair(b, a).to_bytes(8, "little")


def pair(low: int, high: int) -> int:
    """Return the hash of two words of 64 bits, as CityHash combines them; one word."""
    a = fold(((low ^ high) & MASK) * K_PAIR)
    return fold(((high & MASK) ^ a) * K_PAIR) * K_PAIR & MASK


def fold(number: int) -> int:
    """Return a word with its high bits mixed into the low ones."""
    number &= MASK
    return number ^ number >> 47


@cache
def crc_table() -> Array:
    """Return the CRC table of bytes, uint64[256]."""
    table = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        table = (table >> np.uint64(1)) ^ (table & np.uint64(1)) * np.uint64(CRC32C)
    return table


# Compiled loops over all bytes of a table


@lean_kernel
def rotate(word, bits):
    """Return the word rotated to the right."""
    return word >> np.uint64(bits) | word << np.uint64(64 - bits)


@lean_kernel
def add_to_crc(checksum, word, table):
    """Return the CRC-32C with the eight bytes of a word added."""
    for _ in range(8):
        checksum = checksum >> np.uint64(8) ^ table[(checksum ^ word) & np.uint64(255)]
        word >>= np.uint64(8)
    return checksum


@lean_kernel
def mix_in(words, factor, table, state):
    """Mix words, at least thirty, into *state*, uint64[11]: six words that rotate, then five CRC checksums. *table* is
    that of `crc_table`. The constants, such as *factor*, and the order are those of CityHash."""
    start, count = 0, len(words)
    while start < count:
        if start + MIXED > count:
            start = count - MIXED  # the last group is full, too: it has words of the group before once more
        # In full rounds, every other group is rotated by one bit more or less, and not multiplied.
        in_round = start < count // ROUND * ROUND
        odd = 1 if in_round and start % (2 * MIXED) == 0 else 0
        multiplier = np.uint64(1) if odd else factor
        first = state[0]
        for k, bits in enumerate((41, 27, 41, 33, 25)):
            state[k] = rotate(state[k + 1], bits ^ odd) * multiplier + words[start + k]
        state[5] = first
        for k in range(5):
            state[6 + k] = add_to_crc(state[6 + k] & np.uint64(0xFFFFFFFF), state[k], table)
        start += MIXED
