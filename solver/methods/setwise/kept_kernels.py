"""The compiled loops that copy tiers out of what was put aside, and squeeze planes to a bit a position."""

import numpy as np

from retrograde.solver.methods.setwise.words import AFTER_TIER, NOTHING, ONE, popcount
from retrograde.solver.rules.plain.tier_kernels import FIRST, GROUP, GROUPS, WORD, WORDS
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.values.extract import deposit, extract


@lean_kernel
def copy_groups(content, sets, begin, end, group):
    """Copy the groups of some tiers out of a chunk into *sets*, behind those that are there; say in their table where
    they are now, and return how many groups there are then."""
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
    """Do the same with their words, before which so many groups come in the chunk; return how many there are then."""
    tiers, _, _, words = sets
    for row in range(begin, end):
        from_word = head + tiers[row, WORD]
        tiers[row, WORD] = word
        for k in range(tiers[row, WORDS]):
            words[word + k] = content[from_word + k]
        word += tiers[row, WORDS]
    return word


@lean_kernel
def squeeze_planes(words, planes, begin, end, count, out):
    """Write so many planes of some words, from one to another, with a bit a position: `out`, uint64[count × n]."""
    apart = len(out) // count
    for plane in range(count):
        at, filled, bits = plane * apart, 0, NOTHING
        for word in range(begin, end):
            own = extract(planes[plane, word], words[word])
            bits |= own << np.uint64(filled)
            more = popcount(words[word])
            if filled + more >= 64:
                out[at] = bits
                at += 1
                bits = (own >> ONE) >> np.uint64(63 - filled)
                filled -= 64
            filled += more
        for rest in range(at, (plane + 1) * apart):
            out[rest] = bits
            bits = NOTHING


@lean_kernel
def unsqueeze_planes(content, count, tiers, sets, begin, planes):
    """Write the planes of some tiers of a chunk, whose sets are those from *begin* on."""
    apart = len(content) // count
    local, _, _, words = sets
    for k in range(len(tiers)):
        first = local[begin + k, WORD]
        bit = tiers[k, FIRST]
        for word in range(first, first + local[begin + k, WORDS]):
            at, up = bit >> 6, np.uint64(bit & 63)
            down, own = np.uint64(63) - up, words[word]
            for plane in range(count):
                bits = content[at] >> up | (content[at + 1] << ONE) << down
                planes[plane, word] = deposit(bits, own)
                at += apart
            bit += popcount(own)
