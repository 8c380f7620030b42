"""How good a position of chess looks, in hundredths of a pawn: material, squares, mobility, pawns, the king's safety.

The terms are Shannon's (1950), blended from opening to endgame by the men that are left. They only guide play.
"""

from functools import cached_property

from retrograde.games.chess.bitboards import TURN, Bitboards, count, kind_on, planes_of, to_signed
from retrograde.games.chess.squares import lowest, ray

PAWN, KNIGHT, BISHOP, KING, ROOK, QUEEN = 1, 2, 3, 4, 5, 7
WORTH = (0, 100, 320, 330, 0, 500, 0, 950)
"""Material by kind: no man, pawn, knight, bishop, king, rook, unused, queen."""
PHASE = (0, 0, 1, 1, 0, 2, 0, 4)
OPENING = 24
"""The sum of PHASE over all men of the first position."""
MOBILITY = (0, 0, 4, 5, 0, 2, 0, 1)
"""For each square that a man attacks, above or below USUAL."""
USUAL = (0, 0, 4, 6, 0, 6, 0, 12)
PAIR, DOUBLED, SHELTER, OPEN = 30, 12, 10, 15
"""Two bishops; a pawn behind another; a pawn before the king; a rook on a file without own pawns."""
PASSED = (0, 5, 10, 20, 40, 70, 120, 0)
"""A passed pawn, by its rank."""
BARE, CLOSE = 20, 8
"""A bare king far from the centre, by the step; the other king close to him, by the step."""
BY_RANK = {
    PAWN: ((0, 0, 0, 5, 12, 25, 45, 0), (0, 0, 5, 12, 25, 50, 80, 0)),
    KNIGHT: ((-25, -10, 5, 10, 15, 15, 0, -20), (-20, -8, 0, 8, 8, 5, -5, -20)),
    BISHOP: ((-12, 5, 6, 5, 5, 5, -2, -10), (-5, 0, 2, 5, 5, 2, 0, -5)),
    KING: ((15, 0, -30, -50, -60, -60, -60, -60), (-30, -10, 5, 15, 20, 20, 5, -20)),
    ROOK: ((0, -5, -5, -5, 0, 5, 20, 8), (0, 0, 0, 0, 3, 5, 12, 5)),
    QUEEN: ((-5, 0, 2, 2, 2, 2, 2, 0), (-12, -5, 2, 8, 10, 8, 5, 0)),
}
"""What a square is worth to each kind by its rank, in the opening and in the endgame."""
BY_FILE = {
    PAWN: ((-5, 0, 3, 15), (0, 0, 0, 0)),
    KNIGHT: ((-20, -5, 5, 8), (-12, -4, 4, 6)),
    BISHOP: ((-6, 2, 2, 4), (-4, 0, 2, 3)),
    KING: ((15, 20, -5, -15), (-20, -5, 5, 10)),
    ROOK: ((-3, 0, 3, 5), (0, 0, 0, 0)),
    QUEEN: ((-4, 0, 2, 2), (-6, 0, 4, 6)),
}
"""The same by its file, from the edge to the centre."""


class Evaluation(Bitboards):
    """The hints for search."""

    exchanges = True

    def squares_by(self, stage):
        """Return the worth of each kind on each square for White, in hundredths of a pawn: `[64 * kind + square]`."""
        return tuple(
            WORTH[kind] + BY_RANK[kind][stage][square >> 3] + BY_FILE[kind][stage][min(square & 7, 7 - (square & 7))]
            if kind in BY_RANK else 0
            for kind in range(8) for square in range(64)
        )  # fmt: skip

    @cached_property
    def in_opening(self):
        return self.squares_by(0)

    @cached_property
    def in_endgame(self):
        return self.squares_by(1)

    @cached_property
    def ahead(self):
        """The squares before a pawn on its own file: `ahead[64 * side + square]`."""
        return tuple(strip(square, way, (0,)) for way in (1, -1) for square in range(64))

    @cached_property
    def passage(self):
        """The squares from which enemy pawns stop a pawn: before it on its own and the next files."""
        return tuple(strip(square, way, (-1, 0, 1)) for way in (1, -1) for square in range(64))

    def estimate(self, position):
        """Return how good a position looks for the side to move, in hundredths of a pawn."""
        white, one, two, four = planes = planes_of(position)
        turn = position[4] >> TURN & 1
        occupied = one | two | four
        pawns = one & ~two & ~four
        opening = endgame = phase = 0
        for side in range(2):
            own = occupied & ~white if side else white
            sign = 1 if side == turn else -1
            early = late = 0
            men = own
            while men:
                square = lowest(men)
                men ^= self.bit[square]
                kind = kind_on(planes, square)
                # `seen` is the entry of tables by kind and square, as White sees it; `way` that by side and square.
                seen = 64 * kind + (square ^ 56 * side)
                early += self.in_opening[seen]
                late += self.in_endgame[seen]
                phase += PHASE[kind]
                way = 64 * side + square
                if kind == PAWN:
                    if not self.passage[way] & pawns & ~own:
                        late += PASSED[seen >> 3 & 7]
                    if self.ahead[way] & pawns & own:
                        early -= DOUBLED
                        late -= DOUBLED
                elif kind == KING:
                    early += SHELTER * count(self.king_reach[square] & self.passage[way] & pawns & own)
                else:
                    free = MOBILITY[kind] * (count(self.targets(kind, square, occupied) & ~own) - USUAL[kind])
                    early += free
                    late += free
                    if kind == ROOK and not self.ahead[way] & pawns & own:
                        early += OPEN
            if count(own & one & two & ~four) == 2:  # bishops
                early += PAIR
                late += PAIR
            if (own & four & ~one) == own:  # a king alone
                late -= self.harried(own, occupied & four & ~one & ~own)
            opening += sign * early
            endgame += sign * late
        phase = min(phase, OPENING)
        return (opening * phase + endgame * (OPENING - phase)) // OPENING

    def harried(self, bare, other):
        """Return how badly a bare king stands: far from the centre, and near the other king."""
        first, second = lowest(bare), lowest(other)
        return BARE * from_centre(first) + CLOSE * (14 - distance(first, second))

    def quiet(self, position):
        """Return whether the side to move is not in check."""
        return not self.in_check(position)

    def promise(self, position, move):
        """Return the material that a move wins, more by a lesser man. It is -1 if a pawn can take a better man back,
        and for promotions to less than a queen."""
        white, one, two, four = planes = planes_of(position)
        target = move >> 6 & 63
        victim = kind_on(planes, target)
        promotion = move >> 12
        if promotion:
            return WORTH[QUEEN] + WORTH[victim] if promotion == 1 else -1
        origin = move & 63
        man = kind_on(planes, origin)
        turn = position[4] >> TURN & 1
        if not victim:
            return WORTH[PAWN] - 1 if man == PAWN and (target ^ origin) & 7 else 0  # en passant
        enemies = (one | two | four) & (white if turn else ~white)
        if WORTH[man] > WORTH[victim] and self.pawn_reach[64 * turn + target] & enemies & one & ~two & ~four:
            return -1
        return WORTH[victim] - WORTH[man] // 100


def strip(square, way, files):
    """Return the squares before a square, to the north (1) or south (-1), on some files, numbered from its own."""
    places = [place + file for place in ray(square, (0, way)) for file in files if 0 <= (square & 7) + file < 8]
    return to_signed(sum(1 << place for place in places))


def from_centre(square):
    """Return the steps from a square to the nearest of d4, e4, d5 and e5, files and ranks added."""
    file, rank = square & 7, square >> 3
    return max(3 - file, file - 4) + max(3 - rank, rank - 4)


def distance(first, second):
    """Return the files and ranks between two squares, added."""
    return abs((first & 7) - (second & 7)) + abs((first >> 3) - (second >> 3))
