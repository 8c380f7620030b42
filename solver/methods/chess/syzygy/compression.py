"""Compresses values as Syzygy tables do: recursive pairing, then a Huffman code.

Recursive pairing (N. J. Larsson and A. Moffat, 1999) replaces a frequent pair of symbols by a new symbol, again and
again. Frequent symbols then get short codes (D. A. Huffman). The output is cut into blocks of one size. A table has the
number of values in each block, and an index of the block of every 2^stride-th value.

    header   flags, log2 of the block size, stride, padding blocks      a byte each
             number of blocks                                           uint32
             longest and shortest code, in bits                         a byte each
             first symbol of each length                                uint16 each
             number of symbols; two numbers of 12 bits for each         uint16; 3 bytes each
"""

import heapq
import struct
from typing import NamedTuple

import numpy as np

from retrograde.solver.methods.chess.syzygy import kernels
from retrograde.solver.runtime.array_type import Array

MOST_SYMBOLS = VALUE = 4095
"""The most symbols. VALUE, the last number of twelve bits, marks a symbol that is a value and no pair."""
FEW_SYMBOLS = 384
"""The number of symbols used to compare orders of positions. Values alone are at most 256."""
LEAST_BLOCK = 5
"""Log2 of the least block size in bytes: a block holds at least one symbol."""
LONGEST = 32
"""The greatest length of a code, in bits."""
ALONE = 0x80
"""The flag of a table with a single value throughout."""
AT_ONCE = 0.5
"""Pairs joined in one pass are at least this frequent, compared with the most frequent pair."""
DEFINITION = 3
"""Bytes that define a symbol as a pair."""
WORTHWHILE = 12
"""A pair gets a symbol if it appears at least this often."""
STRIDE_IN_BLOCKS = 8
"""Values between two entries of the index, in multiples of the values of an average block."""


class CompressedValues(NamedTuple):
    """Compressed values, as they appear in a file: header, entries of the index, values of each block, and blocks."""

    header: bytes
    entries: bytes = b""
    sizes: bytes = b""
    blocks: bytes = b""


def compress(values: Array, block_bits: int, flags: int = 0) -> CompressedValues:
    """Return values, uint8[n], compressed in blocks of at most 2^*block_bits* bytes, or fewer if the result is smaller.
    The header begins with *flags*."""
    if (values == values[0]).all():
        return CompressedValues(bytes([flags | ALONE, values[0]]))
    # Step 1: Pair symbols, and find the length of each symbol's code.
    symbols, pairs, lengths = pair_symbols(values)
    bits = code_lengths(np.bincount(symbols, minlength=len(pairs)))
    # Step 2: Number the symbols by the length of their codes, the longest first.
    order = np.lexsort((np.arange(len(bits)), -bits))  # those without a code come last
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    shortest, longest = int(bits[bits > 0].min()), int(bits.max())
    offsets = [int((bits > length).sum()) for length in range(shortest, longest + 1)]  # the first number by length
    # Step 3: Write the blocks and the index.
    block_bits, firsts, sizes = blocks_of(symbols, bits, lengths, block_bits)
    data = np.zeros(len(sizes) << block_bits, np.uint8)
    codes = codes_of(bits, order, offsets, shortest, longest)
    kernels.write_blocks(symbols, bits, codes, firsts, 1 << block_bits, data)
    index, stride, padded = index_of(sizes, len(values))
    # Step 4: Write the header.
    header = struct.pack("<BBBBI", flags, block_bits, stride, len(padded) - len(sizes), len(sizes))
    header += struct.pack(f"<BB{len(offsets)}HH", longest, shortest, *offsets, len(pairs))
    for symbol in order.tolist():
        left, right = pairs[symbol]
        left, right = (left, VALUE) if right < 0 else (int(number[left]), int(number[right]))
        header += (left | right << 12).to_bytes(DEFINITION, "little")
    header += bytes(len(pairs) & 1)  # pads to an even length
    sizes_less_one = (padded - 1).astype("<u2")  # so that 65,536 values fit
    return CompressedValues(header, index, sizes_less_one.tobytes(), data.tobytes())


def compressed_size(values: Array) -> int:
    """Return the approximate compressed size of values in bytes, computed quickly with fewer symbols."""
    symbols, pairs, _ = pair_symbols(values, FEW_SYMBOLS)
    counts = np.bincount(symbols, minlength=len(pairs))
    return int(counts @ code_lengths(counts)) // 8 + DEFINITION * len(pairs)


def blocks_of(symbols: Array, bits: Array, lengths: Array, most_bits: int) -> tuple[int, Array, Array]:
    """Return (log2 of the best block size, first symbol of each block, int64[blocks + 1], number of values in each).

    The block size is at most `1 << most_bits` bytes. *bits* has the length of each symbol's code, *lengths* the number
    of values that it stands for.
    """
    firsts, sizes = np.empty(len(symbols) + 1, np.int64), np.empty(len(symbols), np.int64)
    best: tuple[int, tuple[int, Array, Array]] | None = None
    for logarithm in range(LEAST_BLOCK, most_bits + 1):
        blocks = kernels.cut_blocks(symbols, bits, lengths, 8 << logarithm, firsts, sizes)
        cost = (blocks << logarithm) + 2 * blocks  # two bytes say how many values a block has
        if best is None or cost < best[0]:
            best = cost, (logarithm, firsts[: blocks + 1].copy(), sizes[:blocks].copy())
    assert best is not None
    return best[1]


# Symbols


def pair_symbols(values: Array, most_symbols: int = MOST_SYMBOLS) -> tuple[Array, list[tuple[int, int]], Array]:
    """Pair values, uint8[n], into at most *most_symbols* symbols. Return (the text, their meanings, their lengths).

    The text, uint16, is a sequence of symbols that stands for the values. The meaning of a symbol is the pair of
    symbols that it replaces, or (value, -1). Its length is the number of values that it stands for.
    """
    value_count = int(values.max()) + 1
    meanings = [(value, -1) for value in range(value_count)]
    lengths = np.ones(most_symbols, np.int64)
    symbols = values.astype(np.uint16)
    all_counts = np.zeros((most_symbols, most_symbols), np.int32)
    symbol_of_pair = np.zeros((most_symbols, most_symbols), np.uint16)  # 0: this pair is not joined
    while len(meanings) < most_symbols:
        # Each pass counts all pairs, and joins the most frequent ones that do not overlap.
        symbol_count = len(meanings)
        counts = all_counts[:symbol_count, :symbol_count]
        counts[:] = 0
        kernels.count_pairs(symbols, lengths, all_counts)
        chosen = choose_pairs(counts, most_symbols - symbol_count)
        if not chosen:
            break
        for left, right in chosen:
            symbol_of_pair[left, right] = len(meanings)
            lengths[len(meanings)] = lengths[left] + lengths[right]
            meanings.append((left, right))
        symbols = symbols[: kernels.join_pairs(symbols, symbol_of_pair)]
        for left, right in chosen:
            symbol_of_pair[left, right] = 0
    return symbols.copy(), meanings, lengths[: len(meanings)]


def choose_pairs(counts: Array, most_pairs: int) -> list[tuple[int, int]]:
    """Return the most frequent pairs of symbols, at most *most_pairs*, such that no two can overlap in the text.

    *counts* int32[left, right] says how often each pair of adjacent symbols appears. Two pairs can overlap if one ends
    with the symbol with which the other begins. Pairs that appear fewer than WORTHWHILE times are not worth a symbol.
    """
    highest = int(counts.max())
    if highest < WORTHWHILE:
        return []
    lefts, rights = np.nonzero(counts >= max(WORTHWHILE, highest * AT_ONCE))
    by_frequency = np.argsort(-counts[lefts, rights], kind="stable")
    chosen: list[tuple[int, int]] = []
    used_left, used_right = set[int](), set[int]()
    for left, right in zip(lefts[by_frequency].tolist(), rights[by_frequency].tolist(), strict=True):
        if len(chosen) == most_pairs:
            break
        if left not in used_right and right not in used_left:
            chosen.append((left, right))
            used_left.add(left)
            used_right.add(right)
    return chosen


# Codes


def code_lengths(counts: Array) -> Array:
    """Return the length of each symbol's code in bits, int64, by how often the symbols appear (*counts*). It is 0 for
    unused symbols, and at most LONGEST."""
    while True:
        lengths = huffman(counts)
        if lengths.max() <= LONGEST:
            return lengths
        # Flatter counts give a shallower code.
        counts = (counts + 1) // 2


def huffman(counts: Array) -> Array:
    """Return the lengths of a Huffman code for symbols with these *counts*, int64.

    >>> huffman(np.array([8, 1, 0, 4, 2]))
    array([1, 3, 0, 2, 3])
    """
    lengths = np.zeros(len(counts), np.int64)
    # An item is a tree: how often its symbols appear, one of them (so that no two items are equal), and all of them.
    heap = [(int(count), symbol, [symbol]) for symbol, count in enumerate(counts.tolist()) if count]
    heapq.heapify(heap)
    if len(heap) == 1:
        lengths[heap[0][1]] = 1
    while len(heap) > 1:
        less_count, _, less_symbols = heapq.heappop(heap)
        more_count, tie, more_symbols = heapq.heappop(heap)
        lengths[less_symbols] += 1
        lengths[more_symbols] += 1
        heapq.heappush(heap, (less_count + more_count, tie, less_symbols + more_symbols))
    return lengths


def codes_of(bits: Array, order: Array, offsets: list[int], shortest: int, longest: int) -> Array:
    """Return the code of each symbol, int64: a canonical code in which the longest codes begin at 0.

    *order* has the symbols by the length of their codes, *bits*, the longest first. In it, codes of `shortest + k` bits
    begin at `offsets[k]`.

    >>> codes_of(np.array([1, 3, 3, 2]), np.array([1, 2, 3, 0]), [3, 2, 0], 1, 3)  # in bits: 1, 000, 001, 01
    array([1, 0, 1, 1])
    """
    codes, next_code = np.zeros(len(bits), np.int64), 0
    ends = [int((bits > 0).sum()), *offsets]
    for length in range(longest, shortest - 1, -1):
        first, end = offsets[length - shortest], ends[length - shortest]
        codes[order[first:end]] = next_code + np.arange(end - first)
        next_code = (next_code + end - first) >> 1  # the next codes are one bit shorter
    return codes


# The index


def index_of(sizes: Array, count: int) -> tuple[bytes, int, Array]:
    """Return (the index, log2 of its stride, the number of values in each block, which *sizes* has) of *count* values.

    Blocks of padding follow the others if the last entry needs them. Each entry of the index is for the value in the
    middle of its stride: its block, and its offset among the values of the block.
    """
    stride = max(1, int(STRIDE_IN_BLOCKS * count / len(sizes)).bit_length() - 1)
    entries = -(-count >> stride)  # count / 2^stride, rounded up
    middles = (np.arange(entries) << stride) + (1 << (stride - 1))
    missing = int(middles[-1]) + 1 - count
    sizes = np.concatenate([sizes, np.full(max(0, -(-missing // kernels.MOST_VALUES)), kernels.MOST_VALUES)])
    ends = np.cumsum(sizes)
    blocks = np.searchsorted(ends, middles, "right")
    index = np.empty(entries, np.dtype([("block", "<u4"), ("offset", "<u2")]))
    index["block"], index["offset"] = blocks, middles - (ends - sizes)[blocks]
    return index.tobytes(), stride, sizes
