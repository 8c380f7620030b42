"""Moves of chess, forward and backward.

A move is a number of 15 bits. Its squares are those of the encoded position, where the first-named side is White::

    14 … 12        11 … 6   5 … 0
    promotion      target   origin        promotion: 0 none, 1 queen, 2 rook, 3 bishop, 4 knight
"""

from retrograde.games.chess.board import (
    BLACK_KING,
    MEN,
    NOWHERE,
    PLACES,
    TURN,
    WHITE_KING,
    Board,
    code_at,
    everybody,
    king_of,
    occupied_by,
    place_of,
    side_has_pawns,
    sort_men,
    without,
)
from retrograde.games.chess.men import KING, KNIGHT, NOBODY, PAWN
from retrograde.games.chess.squares import FIRST_WAY, LAST_WAY, lowest


class Moves(Board):
    """Moves and their inverses."""

    # Forward

    def generate_moves(self, position):
        """Yield the legal moves as ints: origin, target, and the man of a promotion."""
        turn = position >> TURN & 1
        own = occupied_by(position, turn)
        occupied = own | occupied_by(position, 1 - turn)
        # A man that is not on a shielding square can move without a check of the king's safety.
        shield = self.shield(position, king_of(position, turn), 1 - turn, occupied)
        for place in PLACES:
            code = code_at(position, place)
            if code >> 3 == turn and code != NOBODY:
                origin = position >> place & 63
                targets = self.legal_targets(position, code, origin, own, occupied, shield, False)
                while targets:
                    target = lowest(targets)
                    targets &= targets - 1
                    promotes = code & 7 == PAWN and (target < 8 or target >= 56)
                    for promotion in range(promotes, 5 if promotes else 1):
                        yield origin | target << 6 | promotion << 12

    def can_move(self, position):
        """Return whether the side to move has a legal move."""
        turn = position >> TURN & 1
        own = occupied_by(position, turn)
        occupied = own | occupied_by(position, 1 - turn)
        shield = self.shield(position, king_of(position, turn), 1 - turn, occupied)
        for place in (*MEN, WHITE_KING, BLACK_KING):  # kings, whose moves take longer, last
            code, origin = code_at(position, place), position >> place & 63
            own_man = code >> 3 == turn and code != NOBODY
            if own_man and self.legal_targets(position, code, origin, own, occupied, shield, True):
                return True
        return False

    def legal_targets(self, position, code, origin, own, occupied, shield, one):
        """Return the squares that a man may go to, as bits; only the first if *one*. *shield* is the result of
        `Board.shield`."""
        if code & 7 == PAWN:
            targets = self.pawn_targets(position, code, origin, own, occupied)
        else:
            targets = self.open_squares(code, origin, occupied, own)
        # Not pinned, no check to answer, no en passant: every move is legal.
        if code & 7 != KING and position & 15 == 0 and shield >> origin & 1 == 0:
            return targets
        legal = 0
        while targets:
            target = lowest(targets)
            targets &= targets - 1
            if self.is_safe(position, code, origin, target, occupied):
                legal |= 1 << target
                if one:
                    break
        return legal

    def open_squares(self, code, origin, occupied, closed):
        """Return the squares that a man other than a pawn reaches, as bits, up to and without *closed* ones."""
        kind = code & 7
        squares = 0
        for way in range(FIRST_WAY[kind], LAST_WAY[kind]):
            square = self.steps[origin << 4 | way]
            while square >= 0 and not closed >> square & 1:
                squares |= 1 << square
                stop = kind >= KNIGHT or occupied >> square & 1
                square = NOWHERE if stop else self.steps[square << 4 | way]
        return squares

    def pawn_targets(self, position, code, origin, own, occupied):
        """Return the squares that a pawn can go to, as bits, legal or not."""
        targets = 0
        forward = 8 - 2 * (code & 8)  # 8 for White, -8 for Black
        target = origin + forward
        if not occupied >> target & 1:
            targets |= 1 << target
            if origin >> 3 == (6 if code & 8 else 1) and not occupied >> target + forward & 1:
                targets |= 1 << target + forward
        taken = (occupied ^ own) | passed_square(position)
        for target in range(origin + forward - 1, origin + forward + 2, 2):
            if self.reaches[origin << 6 | target] >> code & 1 and taken >> target & 1:
                targets |= 1 << target
        return targets

    def is_safe(self, position, code, origin, target, occupied):
        """Return whether the king of the side to move is safe after a move."""
        side = code >> 3
        victim = victim_of(position, code, target)
        after = (occupied | 1 << target) ^ 1 << origin
        if victim != target:
            after ^= 1 << victim
        king = king_of(position, side)
        return not self.attacked(position, target if king == origin else king, 1 - side, after, victim)

    def do_move(self, position, move):
        """Return the position after a legal move, with the sides exchanged if the new ending has its stronger side in
        Black."""
        origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
        place = place_of(position, origin)
        code = code_at(position, place)
        victim = place_of(position, victim_of(position, code, target))
        # Clear the right to capture en passant and move the man: his square changes by exclusive or.
        after = position >> 4 << 4 ^ (origin ^ target) << place
        if promotion:
            after ^= (PAWN ^ promotion - 1) << place + 6
        if victim != NOWHERE:
            after = without(after, victim)
        after = sort_men(after ^ 1 << TURN)
        # A double step gives the right to capture en passant only if such a capture is legal.
        pushed = code & 7 == PAWN and (target - origin == 16 or origin - target == 16)
        if pushed and self.may_capture(after, target & 7):
            after |= (target & 7) + 1
        return self.settled(after)

    def zeroes(self, position, move):
        """Return whether a move captures or is a pawn's."""
        code = code_at(position, place_of(position, move & 63))
        return code & 7 == PAWN or place_of(position, move >> 6 & 63) != NOWHERE

    # Backward

    def parents(self, position):
        """Yield the positions of the same tier with a move to this one: no captures or promotions.

        A parent may have had a right to capture en passant, which the move gave up.
        """
        turn = position >> TURN & 1
        # The turn given back, and no right to capture en passant.
        before = position >> 4 << 4 ^ 1 << TURN
        occupied = everybody(position)
        shield = self.shield(position, king_of(position, turn), 1 - turn, occupied)
        both_have_pawns = side_has_pawns(position, 0) and side_has_pawns(position, 1)
        for place in PLACES:
            code = code_at(position, place)
            if code >> 3 != turn and code != NOBODY:
                target = position >> place & 63
                origins = self.legal_origins(position, before, place, occupied, shield)
                while origins:
                    origin = lowest(origins)
                    origins &= origins - 1
                    parent = sort_men(before ^ (origin ^ target) << place)
                    for right in range(9 if both_have_pawns else 1):  # a right to capture that this move gave up
                        if right == 0 or self.may_capture(parent, right - 1):
                            yield self.settled(parent | right)

    def legal_origins(self, position, before, place, occupied, shield):
        """Return the squares, as bits, from which the man on *place* may have come without capture or promotion.

        It is a man of the side that has just moved. From the squares that are left out, the king now to move would
        have been in check already. *before* is the position with the turn given back; *shield* is `Board.shield` of
        that king.
        """
        turn = position >> TURN & 1
        code, target = code_at(position, place), position >> place & 63
        if code & 7 == PAWN:
            origins = self.pawn_origins(position, code, target, occupied)
        else:
            # With a right to capture en passant, the last move was a pawn's.
            origins = self.open_squares(code, target, occupied, occupied) if position & 15 == 0 else 0
        king = king_of(position, turn)
        rest = occupied ^ 1 << target
        legal = 0
        while origins:
            origin = lowest(origins)
            origins &= origins - 1
            line = origin << 6 | king
            if self.reaches[line] >> code & 1 and not self.between[line] & rest:
                continue  # there he gave check, and it was not the king's turn
            if shield >> target & 1:
                parent = before ^ (origin ^ target) << place
                if self.attacked(parent, king, 1 - turn, rest | 1 << origin, NOWHERE):
                    continue  # another gave check before he came
            legal |= 1 << origin
        return legal

    def pawn_origins(self, position, code, target, occupied):
        """Return the squares, as bits, whence a pawn may have come without capture: two back if it just passed one."""
        passed = position & 15
        backward = 2 * (code & 8) - 8
        rank = target >> 3 if backward < 0 else 7 - (target >> 3)
        origin = target + backward
        origins = 0
        if rank >= 2 and not occupied >> origin & 1:
            if passed == 0:
                origins |= 1 << origin
            # A double step leads here only if the position's right is what that step would give.
            right = (target & 7) + 1 if rank == 3 and self.may_capture(position, target & 7) else 0
            if rank == 3 and passed == right and not occupied >> origin + backward & 1:
                origins |= 1 << origin + backward
        return origins


def passed_square(position):
    """Return the square on which a pawn may be captured en passant, as a bit; 0 if no pawn may."""
    file = position & 15
    return 1 << (39 if position >> TURN & 1 == 0 else 15) + file if file else 0


def victim_of(position, code, target):
    """Return the square on which a man that goes to *target* captures."""
    if code & 7 == PAWN and passed_square(position) >> target & 1:
        return target - 8 + 2 * (code & 8)
    return target
