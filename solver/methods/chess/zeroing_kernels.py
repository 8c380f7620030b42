"""Compiled loops for distances to zeroing: translate codes to sets and back.

*brought* uint64[5, words] has five sets: the positions from which some zeroing move brings the result of that row.
"""

import numpy as np

from retrograde.solver.methods.chess.words import BITS, NOTHING, lowest
from retrograde.solver.runtime.kernel import lean_kernel

LOSES, LOSES_LATE, SAVES, WINS_LATE, WINS = range(5)
"""Results of a zeroing move for the side that makes it, worst first.

A *late* result is one that the fifty-move rule makes a draw, as the rest takes too many plies.
"""
LOST = 256
"""Added to the codes of losses in arrays that have wins as well."""
LAST = 101
"""The code of 100 plies: greater codes are draws by the fifty-move rule."""


@lean_kernel
def sort_out(known, brought):
    """Move the codes that `kernels.leave` has written into the sets *brought*; the codes become 0."""
    for place in range(brought.shape[1]):
        for square in range(64):
            code = known[place << 6 | square]
            if code:
                late = code > LAST
                row = (LOSES_LATE if late else LOSES) if code & 1 else WINS_LATE if late else WINS
                brought[row, place] |= BITS[square]
                known[place << 6 | square] = 0


@lean_kernel
def find_bringing(known, unwon, mask, brings, found):
    """Find the positions of *mask* whose value gives this result to the side that moved there."""
    for place in range(len(found)):
        word, bits = NOTHING, mask[place]
        while bits:
            square = lowest(bits)
            bits &= bits - np.uint64(1)
            code = known[place << 6 | square]
            # Not won by the side to move: a draw or a loss, so a draw or a win for the other.
            if unwon[place] & BITS[square]:
                here = SAVES if code == 0 else WINS_LATE if code > LAST else WINS
            elif code:
                here = LOSES_LATE if code > LAST else LOSES
            else:
                continue
            if here == brings:
                word |= BITS[square]
        found[place] = word


@lean_kernel
def tell_apart(known, unwon, found):
    """Write codes that distinguish losses, which have LOST added, from wins, uint16."""
    for place in range(len(unwon)):
        for square in range(64):
            code = np.uint16(known[place << 6 | square])
            if code and unwon[place] & BITS[square]:
                code += np.uint16(LOST)
            found[place << 6 | square] = code
