"""Compiled loops for distances to zeroing: translate codes of positions to sets of positions, and back.

A *code* says in one number what a position is worth to its player to move. 0 is a draw, or not known yet. There are
three encodings, and `zeroing.CODES_OF_CAPTURES` translates the first to the third:

    departure code    uint8     2 or 102 for a win in 1 or 101 plies, 3 or 103 for a loss; of `kernels.find_departures`
    ply code          uint8     plies + 1; it is a loss if the position is in the set `unwon`
    flagged code      uint16    plies + 1, plus LOST for a loss

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
"""Added to the flagged codes of losses."""
LAST_IN_TIME = 101
"""The ply code of 100 plies: greater codes are draws by the fifty-move rule."""
RESULTS = np.full(2 * LOST, SAVES)
"""The result of a zeroing move, by the flagged code of the position after it: if that is won, the move loses."""
RESULTS[1 : LAST_IN_TIME + 1], RESULTS[LAST_IN_TIME + 1 : LOST] = LOSES, LOSES_LATE
RESULTS[LOST + 1 : LOST + LAST_IN_TIME + 1], RESULTS[LOST + LAST_IN_TIME + 1 :] = WINS, WINS_LATE


@lean_kernel
def split_by_result(departure_codes, by_result):
    """Add each position to the set of *by_result* that its departure code says, and set its code to 0.

    The zeroing move of a position with a departure code is the best capture or promotion there.
    """
    for index in range(by_result.shape[1]):
        for square in range(64):
            code = departure_codes[index << 6 | square]
            if code:
                # Odd codes are losses for the player who makes the move, even ones wins.
                if code & 1:
                    result = LOSES_LATE if code > LAST_IN_TIME else LOSES
                else:
                    result = WINS_LATE if code > LAST_IN_TIME else WINS
                by_result[result, index] |= BITS[square]
                departure_codes[index << 6 | square] = 0


@lean_kernel
def find_with_result(ply_codes, unwon, mask, result, found):
    """Write to *found* the positions of *mask* that give this result to the side whose move led to them."""
    for index in range(len(found)):
        word, bits = NOTHING, mask[index]
        while bits:
            square = lowest(bits)
            bits &= bits - ONE
            # The flagged code: a decided position in *unwon* is a loss for its side to move.
            code = ply_codes[index << 6 | square] + (LOST if unwon[index] & BITS[square] else 0)
            if code and RESULTS[code] == result:
                word |= BITS[square]
        found[index] = word


@lean_kernel
def flag_losses(ply_codes, unwon, found):
    """Write to *found* the flagged codes of *ply_codes*: decided positions in the set *unwon* are losses."""
    for index in range(len(unwon)):
        for square in range(64):
            code = np.uint16(ply_codes[index << 6 | square])
            if code and unwon[index] & BITS[square]:
                code += np.uint16(LOST)
            found[index << 6 | square] = code
