"""Values compressed as in Syzygy's tables: pairs of symbols become symbols, those that are frequent have short codes.

N. J. Larsson and A. Moffat call the first "recursive pairing" (1999), the second is D. A. Huffman's. What is written is
cut into blocks of one size; a table has how many values are in each, another in which block every so-manieth value is.
"""

import heapq
import struct
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.chess.syzygy import kernels

Array = np.ndarray[Any, Any]

MOST_SYMBOLS = VALUE = 4095
"""One less than fit into twelve bits: the last one says that a symbol is a value."""
FEW_SYMBOLS = 384
"""Symbols that tell well enough which order of positions is best; values alone are 256 at most."""
LEAST_BLOCK = 5
"""The logarithm of the bytes that a block has at least: more than a symbol takes."""
LONGEST = 32
"""Bits of a code."""
ALONE = 0x80
"""The flag of a table that has one value throughout."""
AT_ONCE = 0.5
"""Pairs that are joined together are this frequent at least, compared with the most frequent one."""
DEFINITION = 3
"""Bytes that say what a symbol is a pair of."""
WORTHWHILE = 12
"""How often a pair must be there to have a symbol."""
STRIDE_IN_BLOCKS = 8
"""Values between two entries of the index, in those that a block has."""


class Packed(NamedTuple):
    """Compressed values, as parts of a file: the header; where some of the values are; sizes of blocks; blocks."""

    header: bytes
    places: bytes = b""
    sizes: bytes = b""
    blocks: bytes = b""


def packed(values: Array, block_bits: int, flags: int = 0) -> Packed:
    """Return values, uint8[n], compressed in blocks of 2^*block_bits* bytes, or of fewer where that is smaller."""
    if (values == values[0]).all():
        return Packed(bytes([flags | ALONE, values[0]]))
    symbols, pairs, lengths = paired(values)
    bits = code_lengths(np.bincount(symbols, minlength=len(pairs)))
    order = np.lexsort((np.arange(len(bits)), -bits))  # those without a code come last
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    least, most = int(bits[bits > 0].min()), int(bits.max())
    offsets = [int((bits > length).sum()) for length in range(least, most + 1)]
    block_bits, firsts, sizes = blocks_of(symbols, bits, lengths, block_bits)
    data = np.zeros(len(sizes) << block_bits, np.uint8)
    kernels.write_blocks(symbols, bits, codes_of(bits, order, offsets, least, most), firsts, 1 << block_bits, data)
    index, stride, padded = index_of(sizes, len(values))
    header = struct.pack("<BBBBI", flags, block_bits, stride, len(padded) - len(sizes), len(sizes))
    header += struct.pack(f"<BB{len(offsets)}HH", most, least, *offsets, len(pairs))
    for symbol in order.tolist():
        left, right = pairs[symbol]
        left, right = (left, VALUE) if right < 0 else (int(number[left]), int(number[right]))
        header += (left | right << 12).to_bytes(DEFINITION, "little")
    header += bytes(len(pairs) & 1)
    return Packed(header, index, (padded - 1).astype("<u2").tobytes(), data.tobytes())


def room_of(values: Array) -> int:
    """Return about how many bytes values take when they are compressed, with fewer symbols, which is quick."""
    symbols, pairs, _ = paired(values, FEW_SYMBOLS)
    counts = np.bincount(symbols, minlength=len(pairs))
    return int(counts @ code_lengths(counts)) // 8 + DEFINITION * len(pairs)


def blocks_of(symbols: Array, bits: Array, lengths: Array, most: int) -> tuple[int, Array, Array]:
    """Return the logarithm of the bytes of a block, where each begins, int64[blocks + 1], and how many values each has,
    int64[blocks]."""
    firsts, sizes = np.empty(len(symbols) + 1, np.int64), np.empty(len(symbols), np.int64)
    best: tuple[int, tuple[int, Array, Array]] | None = None
    for logarithm in range(LEAST_BLOCK, most + 1):
        blocks = kernels.cut_blocks(symbols, bits, lengths, 8 << logarithm, firsts, sizes)
        cost = (blocks << logarithm) + 2 * blocks
        if best is None or cost < best[0]:
            best = cost, (logarithm, firsts[: blocks + 1].copy(), sizes[:blocks].copy())
    assert best is not None
    return best[1]


# Symbols


def paired(values: Array, most: int = MOST_SYMBOLS) -> tuple[Array, list[tuple[int, int]], Array]:
    """Return symbols, uint16, what each is a pair of, or its value and -1, and how many values each says, int64;
    so many symbols at *most*."""
    count = int(values.max()) + 1
    pairs = [(value, -1) for value in range(count)]
    lengths = np.ones(most, np.int64)
    symbols = values.astype(np.uint16)
    counts = np.zeros((most, most), np.int32)
    joined = np.zeros((most, most), np.uint16)
    while len(pairs) < most:
        known = len(pairs)
        some = counts[:known, :known]
        some[:] = 0
        kernels.count_pairs(symbols, lengths, counts)
        chosen = chosen_pairs(some, most - known)
        if not chosen:
            break
        for left, right in chosen:
            joined[left, right] = len(pairs)
            lengths[len(pairs)] = lengths[left] + lengths[right]
            pairs.append((left, right))
        symbols = symbols[: kernels.join_pairs(symbols, joined)]
        for left, right in chosen:
            joined[left, right] = 0
    return symbols.copy(), pairs, lengths[: len(pairs)]


def chosen_pairs(counts: Array, room: int) -> list[tuple[int, int]]:
    """Return the most frequent pairs, no more than there is *room* for, of which none takes what another would."""
    most = int(counts.max())
    if most < WORTHWHILE:
        return []
    lefts, rights = np.nonzero(counts >= max(WORTHWHILE, most * AT_ONCE))
    order = np.argsort(-counts[lefts, rights], kind="stable")
    found: list[tuple[int, int]] = []
    before, behind = set[int](), set[int]()
    for left, right in zip(lefts[order].tolist(), rights[order].tolist(), strict=True):
        if len(found) == room:
            break
        if left not in behind and right not in before:
            found.append((left, right))
            before.add(left)
            behind.add(right)
    return found


# Codes


def code_lengths(counts: Array) -> Array:
    """Return how many bits the code of each symbol has, int64, 0 where it is nowhere; LONGEST at most."""
    while True:
        lengths = huffman(counts)
        if lengths.max() <= LONGEST:
            return lengths
        counts = (counts + 1) // 2


def huffman(counts: Array) -> Array:
    """Return how many bits each symbol has in a code that is as short as can be."""
    lengths = np.zeros(len(counts), np.int64)
    heap = [(int(count), symbol, [symbol]) for symbol, count in enumerate(counts.tolist()) if count]
    heapq.heapify(heap)
    if len(heap) == 1:
        lengths[heap[0][1]] = 1
    while len(heap) > 1:
        few, _, some = heapq.heappop(heap)
        more, tie, others = heapq.heappop(heap)
        lengths[some] += 1
        lengths[others] += 1
        heapq.heappush(heap, (few + more, tie, some + others))
    return lengths


def codes_of(bits: Array, order: Array, offsets: list[int], least: int, most: int) -> Array:
    """Return the code of each symbol, int64: the longest begin at 0, and those of a length follow one another."""
    codes, base = np.zeros(len(bits), np.int64), 0
    ends = [int((bits > 0).sum()), *offsets]
    for length in range(most, least - 1, -1):
        first, end = offsets[length - least], ends[length - least]
        codes[order[first:end]] = base + np.arange(end - first)
        base = (base + end - first) >> 1
    return codes


# Where what is


def index_of(sizes: Array, count: int) -> tuple[bytes, int, Array]:
    """Return the index, the logarithm of the values between two of its entries, and the values of all blocks, with
    empty ones behind that the last entry may need.

    An entry is of the value in the middle of so many: its block, and how many values of the block come before it.
    """
    stride = max(1, int(STRIDE_IN_BLOCKS * count / len(sizes)).bit_length() - 1)
    entries = -(-count >> stride)
    middles = (np.arange(entries) << stride) + (1 << stride - 1)
    missing = int(middles[-1]) + 1 - count
    sizes = np.concatenate([sizes, np.full(max(0, -(-missing // 65536)), 65536)])
    ends = np.cumsum(sizes)
    blocks = np.searchsorted(ends, middles, "right")
    index = np.empty(entries, np.dtype([("block", "<u4"), ("offset", "<u2")]))
    index["block"], index["offset"] = blocks, middles - (ends - sizes)[blocks]
    return index.tobytes(), stride, sizes
