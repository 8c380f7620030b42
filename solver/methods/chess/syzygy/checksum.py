"""The sixteen bytes at the end of Syzygy's tables: G. Pike's and J. Alakuijala's CityHash, as `tbcheck` asks for it.

Every 16 MB have a hash of 32 bytes, which mixes in checksums, CRC-32C; of all of them together there is another one.
"""

from functools import cache
from typing import Any

import numpy as np

from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.methods.chess.syzygy.checksum_kernels import churn

Array = np.ndarray[Any, Any]

CHUNK = 1 << 24
LEAST = 240
"""Bytes to which less is filled up."""
MOST_CHUNKS = 4
"""Of more the last hash is another one; tables of five men have one or two."""
K0, K1, K3, K_PAIR = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0xC949D7C7509E6557, 0x9DDFEA08EB382D69
MASK = (1 << 64) - 1
CRC32C = 0x82F63B78
"""The polynomial of the checksum, its bits reversed."""


def checksum(content: bytes) -> bytes:
    """Return the checksum of a table, whose length is a multiple of 64; raise RetrogradeError where it is too long."""
    hashes = [hash_of(content[begin : begin + CHUNK]) for begin in range(0, len(content), CHUNK)]
    if len(hashes) > MOST_CHUNKS:
        raise RetrogradeError(f"a table of {len(content):,} bytes is too long for its checksum")
    return murmur([word for four in hashes for word in four])


def hash_of(chunk: bytes) -> list[int]:
    """Return four numbers for some bytes."""
    seed = 0
    if len(chunk) < LEAST:
        seed, chunk = len(chunk) ^ 0xFFFFFFFF, chunk + bytes(LEAST - len(chunk))
    words, length = np.frombuffer(chunk, "<u8"), len(chunk)
    b = int(words[12]) + K0
    c, d = pair(b, length), int(words[15]) * K0 + length
    first = [int(words[7]) + K0, b, c, d, int(words[23]) + seed, c + d, seed, 0, 0, 0, 0]
    state = np.array([number & MASK for number in first], np.uint64)
    churn(words.astype(np.uint64), np.uint64(K0), crc_table(), state)
    a, b, c, d, e, t, f, g, h, i, j = state.tolist()
    begun = pair(int(words[12]) + K0, length), int(words[15]) * K0 + length
    j += i << 32
    a = pair(a, j)
    h += g << 32
    b += h
    c = pair(c, f) + i
    d = pair(d, e + begun[0])
    j += e
    i += pair(h, t)
    e = pair(a, d) + j
    f = pair(b, c) + a
    g = pair(j, i) + c
    found = [e + f + g + h]
    a = folded((a + g) * K0) * K0 + b
    found.append(begun[1] + a + found[0])
    a = folded(a * K0) * K0 + c
    found.append(a + found[1])
    a = folded((a + e) * K0) * K0
    found.append(a + found[2])
    return [number & MASK for number in found]


def murmur(words: list[int]) -> bytes:
    """Return sixteen bytes for some words of 64 bits, 4 to 16."""
    a, b, rest = words[0] ^ K3, words[1], words[2:]
    if len(rest) == 2:
        first, last = rest
        a = folded(a * K1) * K1
        around = last + 16 & MASK
        c = b * K1 + (pair(first, around >> 16 | around << 48) ^ last)
        d = folded(a + first)
    else:
        c = pair(rest[-1] + K1, a)
        d = pair(b + 8 * len(rest), c + rest[-2])
        a += d
        for first, second in zip(rest[:-2:2], rest[1:-2:2], strict=True):
            a = (a ^ folded(first * K1) * K1) * K1
            b ^= a
            c = (c ^ folded(second * K1) * K1) * K1
            d ^= c
    a, b = pair(a, c), pair(d, b)
    return ((a ^ b) & MASK).to_bytes(8, "little") + pair(b, a).to_bytes(8, "little")


def pair(low: int, high: int) -> int:
    """Return one number for two."""
    a = folded(((low ^ high) & MASK) * K_PAIR)
    return folded(((high & MASK) ^ a) * K_PAIR) * K_PAIR & MASK


def folded(number: int) -> int:
    """Return a number whose high bits are added to the low ones."""
    number &= MASK
    return number ^ number >> 47


@cache
def crc_table() -> Array:
    """Return what a byte does to a checksum, uint64[256]."""
    table = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        table = (table >> np.uint64(1)) ^ (table & np.uint64(1)) * np.uint64(CRC32C)
    return table
