"""The compiled loops that are needed for distances to zeroing alone: which positions are what, as sets.

*brought* uint64[5, words] are the positions from which some zeroing move brings what its row says.
"""

import numpy as np

from retrograde.solver.methods.chess.words import BITS, NOTHING, lowest
from retrograde.solver.runtime.kernel import lean_kernel

LOSES, LOSES_LATE, SAVES, WINS_LATE, WINS = range(5)
"""What a zeroing move brings: a loss; one that the fifty-move rule makes a draw, for who loses has taken more plies; a
draw; a win that it makes one; a win."""
LOST = 256
"""Added to the codes of losses where they are with those of wins."""
LAST = 101
"""The code of the last plies before the fifty-move rule makes a draw."""


@lean_kernel
def sort_out(known, brought):
    """Turn the codes that `kernels.leave` has written into sets; they become 0."""
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
    """Find the positions of a *mask* to which a zeroing move brings a thing, for who makes it."""
    for place in range(len(found)):
        word, bits = NOTHING, mask[place]
        while bits:
            square = lowest(bits)
            bits &= bits - np.uint64(1)
            code = known[place << 6 | square]
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
    """Write the codes of both wins and losses, which have LOST added."""
    for place in range(len(unwon)):
        for square in range(64):
            code = np.uint16(known[place << 6 | square])
            if code and unwon[place] & BITS[square]:
                code += np.uint16(LOST)
            found[place << 6 | square] = code
