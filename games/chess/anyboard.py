"""Chess on any board, with any number of men and castling: what an engine needs besides the solved endings.

Plain and slow: a board is 64 letters, and a move is legal if the king is safe after it.

>>> board = AnyBoard.from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
>>> len(board.moves()), board.after("e2e4").fen()
(20, 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1')
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from retrograde.games.chess import fields
from retrograde.games.chess.squares import DIAGONAL, LEAPS, ORTHOGONAL, square_name, square_of, step
from retrograde.games.contract.game import MoveError, PositionError

STARTING_POSITION = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
RIDES = {"R": ORTHOGONAL, "B": DIAGONAL, "Q": ORTHOGONAL + DIAGONAL}
STEPS = {"N": LEAPS, "K": ORTHOGONAL + DIAGONAL}


@dataclass(frozen=True)
class AnyBoard:
    """A position of chess.

    `men` has a letter for each square, numbered as in `squares.py`: capitals for White, dots for empty squares.
    `castling` has the files of the rooks that may castle, capitals for White, or is a dash. `passed` is the square on
    which a pawn may be captured en passant, or a dash. `count` is the number of plies since the last capture or pawn
    move.
    """

    men: str
    white_to_move: bool
    castling: str
    passed: str
    count: int = 0

    @classmethod
    def from_fen(cls, fen: str, chess960: bool = False) -> "AnyBoard":
        """Return the position of a FEN or EPD, read by `fields.read`; raise PositionError if it is not legal."""
        parsed = fields.read(fen, chess960)
        passed = parsed.passed if parsed.passed[1:] in ("3", "6") else "-"
        board = cls(parsed.men, parsed.white_to_move, parsed.castling, passed, parsed.count)
        if board.in_check(not board.white_to_move):
            raise PositionError(f"{fields.LEGAL} {fen!r}: the side that is not to move is in check")
        return board

    def fen(self) -> str:
        """Return the position as FEN; the counters of moves are not kept."""
        rows = [self.men[row : row + 8] for row in range(56, -1, -8)]
        placement = re.sub(r"\.+", lambda empty: str(len(empty[0])), "/".join(rows))
        castling = fields.written_rights(self.men, self.castling.strip("-")) or "-"
        return f"{placement} {'w' if self.white_to_move else 'b'} {castling} {self.capturable()} 0 1"

    def as_fields(self) -> fields.Fields:
        """Return the position as the fields of a FEN; see `fen`."""
        return fields.Fields(self.men, self.white_to_move, self.castling, self.capturable(), 0, 1)

    def capturable(self) -> str:
        """Return the square on which a pawn may legally be captured en passant, or a dash."""
        if self.passed == "-":
            return "-"
        captures = (move for move in self.moves() if self.passed == move[2:4])
        pawn = "P" if self.white_to_move else "p"
        return self.passed if any(self.men[square_of(move[:2])] == pawn for move in captures) else "-"

    def moves(self) -> list[str]:
        """Return the legal moves in UCI notation: `e2e4`, `a7a8q`, `e1g1`. In Chess960 castling is the king taking the
        rook, `f1g1`."""
        return [move for move in self.candidates() if not self.after(move).in_check(self.white_to_move)]

    def candidates(self) -> Iterator[str]:
        """Yield all moves, including those that leave the king in check."""
        for origin, man in enumerate(self.men):
            if man != "." and man.isupper() == self.white_to_move:
                for target in self.targets(origin, man):
                    move = square_name(origin) + square_name(target)
                    if man in "Pp" and target // 8 in (0, 7):
                        yield from (move + promotion for promotion in "qrbn")
                    else:
                        yield move
        yield from (move for move, squares in self.castles().items() if self.may_castle(*squares))

    def castles(self) -> dict[str, tuple[int, int, int, int]]:
        """Return the castling moves, possible or not: king and rook before and after, as in {"e1g1": (4, 7, 6, 5)}."""
        found = {}
        for right in self.castling.strip("-"):
            if right.isupper() == self.white_to_move:
                row = 0 if self.white_to_move else 56  # the first square of the rank
                king, rook = self.men.index("K" if self.white_to_move else "k"), row + "abcdefgh".index(right.lower())
                king_goal, rook_goal = (row + 6, row + 5) if rook > king else (row + 2, row + 3)
                usual = king == row + 4 and rook in (row, row + 7)  # else Chess960: named as the king taking the rook
                found[square_name(king) + square_name(king_goal if usual else rook)] = king, rook, king_goal, rook_goal
        return found

    def may_castle(self, king: int, rook: int, king_goal: int, rook_goal: int) -> bool:
        """Return whether castling is possible: nothing in the way, and no attacked square on the king's path."""
        ends = king, rook, king_goal, rook_goal
        others = {*range(min(ends), max(ends) + 1)} - {king, rook}
        path = range(min(king, king_goal), max(king, king_goal) + 1)
        is_free = all(self.men[square] == "." for square in others)
        return is_free and not any(self.attacked(square, not self.white_to_move) for square in path)

    def targets(self, origin: int, man: str) -> Iterator[int]:
        """Yield the squares that a man can go to, even if that leaves his king in check."""
        if man in "Pp":
            yield from self.pawn_targets(origin, 1 if man == "P" else -1)
            return
        for target in reached(self.men, origin, man):
            other = self.men[target]
            if other == "." or other.isupper() != man.isupper():
                yield target

    def pawn_targets(self, origin: int, north: int) -> Iterator[int]:
        """Yield the squares that a pawn can go to."""
        target = step(origin, (0, north))
        if self.men[target] == ".":
            yield target
            beyond = step(target, (0, north))
            if origin // 8 == (1 if north == 1 else 6) and self.men[beyond] == ".":
                yield beyond
        for way in ((-1, north), (1, north)):
            target = step(origin, way)
            if target >= 0:
                other = self.men[target]
                enemy = other != "." and other.isupper() != (north == 1)
                if enemy or (square_name(target) == self.passed and target // 8 == (5 if north == 1 else 2)):
                    yield target

    def after(self, move: str) -> "AnyBoard":
        """Return the position after a move."""
        if squares := self.castles().get(move):
            return self.after_castling(*squares)
        origin, target = square_of(move[:2]), square_of(move[2:4])
        men = list(self.men)
        man = men[origin]
        count = 0 if man in "Pp" or men[target] != "." else self.count + 1
        if man in "Pp" and origin % 8 != target % 8 and men[target] == ".":  # en passant
            men[target + (-8 if man == "P" else 8)] = "."
        men[origin] = "."
        men[target] = man if len(move) == 4 else (move[4].upper() if man == "P" else move[4])
        double = man in "Pp" and abs(target - origin) == 16
        passed = square_name((origin + target) // 2) if double else "-"
        rights = self.rights_after(origin, target)
        return AnyBoard("".join(men), not self.white_to_move, rights, passed, count)

    def after_castling(self, king: int, rook: int, king_goal: int, rook_goal: int) -> "AnyBoard":
        """Return the position after castling."""
        men = list(self.men)
        men[king] = men[rook] = "."
        men[king_goal], men[rook_goal] = ("K", "R") if self.white_to_move else ("k", "r")
        rights = self.rights_after(king, rook)
        return AnyBoard("".join(men), not self.white_to_move, rights, "-", self.count + 1)

    def rights_after(self, *touched: int) -> str:
        """Return the castling rights that remain after men have left or reached the squares *touched*."""
        kings = [man == "K" for square in touched if (man := self.men[square]) in "Kk"]
        rooks = {fields.name_of(square % 8, square < 8) for square in touched if square // 8 in (0, 7)}
        left = (right for right in self.castling if right not in rooks and right.isupper() not in kings)
        return "".join(left).strip("-") or "-"

    def after_null_move(self) -> "AnyBoard":
        """Return the position after a null move; raise MoveError in check, where it is not allowed."""
        if self.in_check(self.white_to_move):
            raise MoveError(f"no null move in check, in {self.fen()}")
        return replace(self, white_to_move=not self.white_to_move, passed="-", count=self.count + 1)

    def captures(self, move: str) -> bool:
        """Return whether a move captures, including en passant."""
        if move in self.castles():
            return False
        origin, target = square_of(move[:2]), square_of(move[2:4])
        return self.men[target] != "." or (self.men[origin] in "Pp" and (origin - target) % 8 != 0)

    def is_dead(self) -> bool:
        """Return whether no mate is possible: kings alone, or with one knight, or with bishops on one colour."""
        places = [square for square, man in enumerate(self.men) if man not in ".Kk"]
        kinds = {self.men[square].upper() for square in places}
        if kinds == {"N"}:
            return len(places) == 1
        # The colour of a square is whether file + rank is odd. Kings alone pass as well.
        return kinds <= {"B"} and len({(square ^ square >> 3) & 1 for square in places}) < 2

    def in_check(self, white: bool) -> bool:
        """Return whether a side's king is attacked."""
        return self.attacked(self.men.index("K" if white else "k"), not white)

    def attacked(self, square: int, by_white: bool) -> bool:
        """Return whether a side attacks a square."""
        for letter in "QRBNK":
            enemy = letter if by_white else letter.lower()
            if enemy in self.men and any(self.men[origin] == enemy for origin in reached(self.men, square, letter)):
                return True
        south, pawn = (-1, "P") if by_white else (1, "p")
        origins = [step(square, (-1, south)), step(square, (1, south))]
        return any(origin >= 0 and self.men[origin] == pawn for origin in origins)


def reached(men: str, origin: int, man: str) -> Iterator[int]:
    """Yield the squares that a man other than a pawn reaches, including the first man on each line. *men* has a letter
    or a dot for each square from a1, b1 on.

    >>> list(reached("R..p" + 60 * ".", 0, "R"))[-3:]  # from a1, along the first rank
    [1, 2, 3]
    """
    kind = man.upper()
    for way in STEPS.get(kind, ()):
        target = step(origin, way)
        if target >= 0:
            yield target
    for way in RIDES.get(kind, ()):
        target = step(origin, way)
        while target >= 0:
            yield target
            target = step(target, way) if men[target] == "." else -1
