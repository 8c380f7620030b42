"""Compiled loops for distances to zeroing: translate codes to sets and back.

*by_result* uint64[5, words] has five sets: the positions from which some zeroing move brings the result of that row.
"""

import numpy as np

from retrograde.solver.methods.chess.words import BITS, NOTHING, ONE, lowest
from retrograde.solver.runtime.kernel import lean_kernel

LOSES, LOSES_LATE, SAVES, WINS_LATE, WINS = range(5)
"""Results of a zeroing move for the side that makes it, worst first.

A *late* result is one that the fifty-move rule makes a draw, as the rest takes too many plies.
"""
LOST = 256
"""Added to the codes of losses in arrays that have wins as well."""
LAST_IN_TIME = 101
"""The code of 100 plies: greater codes are draws by the fifty-move rule."""
RESULTS = np.full(2 * LOST, SAVES)
"""What a zeroing move brings, by the code of the position that it leads to; codes of losses have LOST added."""
RESULTS[1 : LAST_IN_TIME + 1], RESULTS[LAST_IN_TIME + 1 : LOST] = LOSES, LOSES_LATE
RESULTS[LOST + 1 : LOST + LAST_IN_TIME + 1], RESULTS[LOST + LAST_IN_TIME + 1 :] = WINS, WINS_LATE


@lean_kernel
def split_by_result(ply_codes, by_result):
    """Add each position to the set of *by_result* that its code says; the codes, of `kernels.find_departures`, become
    0."""
    for index in range(by_result.shape[1]):
        for square in range(64):
            code = ply_codes[index << 6 | square]
            if code:
                # Odd codes are losses, even ones wins; see `CODES_OF_CAPTURES`.
                if code & 1:
                    result = LOSES_LATE if code > LAST_IN_TIME else LOSES
                else:
                    result = WINS_LATE if code > LAST_IN_TIME else WINS
                by_result[result, index] |= BITS[square]
                ply_codes[index << 6 | square] = 0


@lean_kernel
def find_with_result(ply_codes, unwon, mask, result, found):
    """Write to *found* the positions of *mask* whose value gives this result to the side that moved there."""
    for index in range(len(found)):
        word, bits = NOTHING, mask[index]
        while bits:
            square = lowest(bits)
            bits &= bits - ONE
            # Not won by the side to move: a draw or a loss.
            code = ply_codes[index << 6 | square] + (LOST if unwon[index] & BITS[square] else 0)
            if code and RESULTS[code] == result:
                word |= BITS[square]
        found[index] = word


@lean_kernel
def flag_losses(ply_codes, unwon, found):
    """Write to *found*, uint16, the codes of *ply_codes* (the plies plus 1; 0 is a draw), plus LOST for a loss.

    Decided positions in the sets *unwon* are losses.
    """
    for index in range(len(unwon)):
        for square in range(64):
            code = np.uint16(ply_codes[index << 6 | square])
            if code and unwon[index] & BITS[square]:
                code += np.uint16(LOST)
            found[index << 6 | square] = code
