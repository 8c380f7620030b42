"""Chess on any board, with any number of men, castling included: what an engine must know beside the endings it solves.

Plain and slow: a board is 64 letters, and a move is legal if the king is safe after it has been made.

>>> board = AnyBoard.from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
>>> len(board.moves()), board.after("e2e4").fen()
(20, 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1')
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrograde.games.chess.squares import DIAGONAL, LEAPS, ORTHOGONAL, square_name, square_of, step
from retrograde.games.zeroing import count_in

STARTING_POSITION = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
RIDES = {"R": ORTHOGONAL, "B": DIAGONAL, "Q": ORTHOGONAL + DIAGONAL}
STEPS = {"N": LEAPS, "K": ORTHOGONAL + DIAGONAL}
CASTLING = {"K": ("e1", "g1", "h1", "f1"), "Q": ("e1", "c1", "a1", "d1"), "k": ("e8", "g8", "h8", "f8"),
            "q": ("e8", "c8", "a8", "d8")}  # fmt: skip
"""For each right, where the king and the rook come from and go to: king from, king to, rook from, rook to."""


@dataclass(frozen=True)
class AnyBoard:
    """A position: `men` has a letter for each square, as squares.py numbers them, capitals for White, dots for nobody.

    `passed` is the square on which a pawn may be captured en passant, or a dash; `count` are the plies since the last
    capture or move of a pawn.
    """

    men: str
    white_to_move: bool
    castling: str
    passed: str
    count: int = 0

    @classmethod
    def from_fen(cls, fen: str) -> "AnyBoard":
        """Return the position that FEN stands for; raise ValueError where it stands for none with legal play."""
        placement, turn, castling, passed, *_ = [*fen.split(), "", "", "", ""][: max(4, len(fen.split()))]
        rows = [re.sub("[1-8]", lambda digit: "." * int(digit[0]), row) for row in placement.split("/")]
        if [len(row) for row in rows] != [8] * 8 or re.search("[^QRBNPKqrbnpk./]", "/".join(rows)):
            raise ValueError(f"no FEN {fen!r}")
        men = "".join(reversed(rows))
        pawns_astray = re.search("[Pp]", men[:8] + men[56:])
        if turn not in ("w", "b") or men.count("K") != 1 or men.count("k") != 1 or pawns_astray:
            raise ValueError(f"no FEN {fen!r} of a legal position")
        rights = "".join(right for right in CASTLING if right in castling and has_stayed(men, right))
        passed = passed if re.fullmatch("[a-h][36]", passed) else "-"
        board = cls(men, turn == "w", rights or "-", passed, count_in(fen))
        if board.in_check(not board.white_to_move):
            raise ValueError(f"no legal position {fen!r}: the side that is not to move is in check")
        return board

    def fen(self) -> str:
        """Return the position as FEN; the counters of moves are not kept."""
        rows = [self.men[row : row + 8] for row in range(56, -1, -8)]
        placement = re.sub(r"\.+", lambda empty: str(len(empty[0])), "/".join(rows))
        return f"{placement} {'w' if self.white_to_move else 'b'} {self.castling} {self.capturable()} 0 1"

    def capturable(self) -> str:
        """Return the square on which a pawn may legally be captured en passant, or a dash."""
        captures = (move for move in self.moves() if self.passed == move[2:4])
        pawn = "P" if self.white_to_move else "p"
        return self.passed if any(self.men[square_of(move[:2])] == pawn for move in captures) else "-"

    def moves(self) -> list[str]:
        """Return the legal moves as UCI has them: `e2e4`, `a7a8q`, `e1g1`."""
        return [move for move in self.candidates() if not self.after(move).in_check(self.white_to_move)]

    def candidates(self) -> Iterator[str]:
        """Yield all moves, those among them that leave the king in check."""
        for origin, man in enumerate(self.men):
            if man != "." and man.isupper() == self.white_to_move:
                for target in self.targets(origin, man):
                    move = square_name(origin) + square_name(target)
                    if man in "Pp" and target // 8 in (0, 7):
                        yield from (move + promotion for promotion in "qrbn")
                    else:
                        yield move
        for right, (king, goal, rook, beside) in CASTLING.items():
            if right in self.castling and right.isupper() == self.white_to_move:
                low, high = sorted((square_of(rook), square_of(king)))
                empty = set(self.men[low + 1 : high]) == {"."}
                if empty and not any(self.attacked(square_of(square), not self.white_to_move)
                                     for square in (king, beside, goal)):  # fmt: skip
                    yield king + goal

    def targets(self, origin: int, man: str) -> Iterator[int]:
        """Yield where a man may go, were his king of no concern."""
        if man in "Pp":
            yield from self.pawn_targets(origin, 1 if man == "P" else -1)
            return
        for target in reached(self.men, origin, man):
            other = self.men[target]
            if other == "." or other.isupper() != man.isupper():
                yield target

    def pawn_targets(self, origin: int, north: int) -> Iterator[int]:
        """Yield where a pawn may go."""
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
        origin, target = square_of(move[:2]), square_of(move[2:4])
        men = list(self.men)
        man = men[origin]
        count = 0 if man in "Pp" or men[target] != "." else self.count + 1
        if man in "Pp" and origin % 8 != target % 8 and men[target] == ".":
            men[target + (-8 if man == "P" else 8)] = "."
        men[origin] = "."
        men[target] = man if len(move) == 4 else (move[4].upper() if man == "P" else move[4])
        for right, (king, goal, rook, beside) in CASTLING.items():
            if right in self.castling and man == ("K" if right.isupper() else "k") and move == king + goal:
                men[square_of(beside)], men[square_of(rook)] = men[square_of(rook)], "."
        after = "".join(men)
        rights = "".join(right for right in self.castling if right != "-" and has_stayed(after, right)) or "-"
        double = man in "Pp" and abs(target - origin) == 16
        passed = square_name((origin + target) // 2) if double else "-"
        return AnyBoard(after, not self.white_to_move, rights, passed, count)

    def in_check(self, white: bool) -> bool:
        """Tell whether a side's king is attacked."""
        return self.attacked(self.men.index("K" if white else "k"), not white)

    def attacked(self, square: int, by_white: bool) -> bool:
        """Tell whether a side attacks a square."""
        for letter in "QRBNK":
            enemy = letter if by_white else letter.lower()
            if enemy in self.men and any(self.men[origin] == enemy for origin in reached(self.men, square, letter)):
                return True
        south, pawn = (-1, "P") if by_white else (1, "p")
        origins = [step(square, (-1, south)), step(square, (1, south))]
        return any(origin >= 0 and self.men[origin] == pawn for origin in origins)


def reached(men: str, origin: int, man: str) -> Iterator[int]:
    """Yield the squares that a man, no pawn, reaches, the first man on each line included."""
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


def has_stayed(men: str, right: str) -> bool:
    """Tell whether king and rook are where a right to castle wants them."""
    king, _, rook, _ = CASTLING[right]
    names = "KR" if right.isupper() else "kr"
    return men[square_of(king)] + men[square_of(rook)] == names
