"""The compiled loops that copy tiers out of chunks, and that pack planes to one bit a position.

A word of a plane has bits only where the set has positions. Packing drops the others: `pack_planes` extracts the
bits under the set's word, and `unpack_planes` deposits them again.
"""

import numpy as np

from retrograde.solver.methods.setwise.words import AFTER_TIER, NOTHING, ONE, popcount
from retrograde.solver.rules.plain.tier_kernels import FIRST, GROUP, GROUPS, WORD, WORDS
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.values.bits import deposit, extract


@lean_kernel
def copy_groups(content, sets, begin, end, group):
    """Copy the groups of some tiers from a chunk into *sets*, from *group* on; return the next free group.

    Also sets the column GROUP of the tiers, and counts the words before each group. *content* is the chunk, which
    begins with the groups.
    """
    tiers, occupied, before, _ = sets
    for row in range(begin, end):
        from_group = tiers[row, GROUP]
        tiers[row, GROUP] = group
        count = 0
        for k in range(tiers[row, GROUPS] + AFTER_TIER):
            occupied[group + k] = content[from_group + k]
            before[group + k] = count
            count += popcount(content[from_group + k])
        group += tiers[row, GROUPS] + AFTER_TIER
    return group


@lean_kernel
def copy_words(content, head, sets, begin, end, word):
    """Copy the words of some tiers from a chunk into *sets*, from *word* on; return the next free word.

    *head* is the number of groups in the chunk, which come before its words. Also sets the column WORD.
    """
    tiers, _, _, words = sets
    for row in range(begin, end):
        from_word = head + tiers[row, WORD]
        tiers[row, WORD] = word
        for k in range(tiers[row, WORDS]):
            words[word + k] = content[from_word + k]
        word += tiers[row, WORDS]
    return word


@lean_kernel
def pack_planes(words, planes, begin, end, count, out):
    """Pack *count* planes of words *begin* to *end* into *out*, uint64[count × n], a bit for each position."""
    stride = len(out) // count
    for plane in range(count):
        at, filled, bits = plane * stride, 0, NOTHING
        for word in range(begin, end):
            # `filled` bits of the current output word are taken. What does not fit begins the next one.
            own = extract(planes[plane, word], words[word])
            bits |= own << np.uint64(filled)
            more = popcount(words[word])
            if filled + more >= 64:
                out[at] = bits
                at += 1
                bits = (own >> ONE) >> np.uint64(63 - filled)  # two shifts: one by 64 is undefined
                filled -= 64
            filled += more
        # Write the last word, and zeros up to the next plane.
        for rest in range(at, (plane + 1) * stride):
            out[rest] = bits
            bits = NOTHING


@lean_kernel
def unpack_planes(content, count, tiers, sets, begin, planes):
    """Unpack the planes of some tiers of a chunk into *planes*. Their sets are rows *begin* and on of *sets*."""
    stride = len(content) // count
    local, _, _, words = sets
    for k in range(len(tiers)):
        first = local[begin + k, WORD]
        bit = tiers[k, FIRST]
        # FIRST counts positions from the beginning of the chunk, so it is the tier's first bit in each plane.
        for word in range(first, first + local[begin + k, WORDS]):
            at, up = bit >> 6, np.uint64(bit & 63)
            down, own = np.uint64(63) - up, words[word]
            for plane in range(count):
                # 64 bits from `bit` on, from two words. The shift by `63 - up` after one by 1 avoids a shift by 64.
                bits = content[at] >> up | (content[at + 1] << ONE) << down
                planes[plane, word] = deposit(bits, own)
                at += stride
            bit += popcount(own)
