"""Chess from the start, by all its rules but repetition, which belongs to the history of a game.

A position is five ints: the four planes of `games/chess/bitboards.py`, and the state::

    23 … 17   16 … 13      12 … 9          8      7 … 0
    clock     en passant   castling qkQK   turn   g8 and h8 of the planes

`clock` counts plies without capture or pawn move; the game is a draw at 100. `en passant` is the file, from 1, of a
pawn that may legally be captured en passant, else 0. `turn` is 0 if White is to move.

A move is a number as in endings: origin, target and promotion. Castling is a move of the king by two squares.

`tier` and `index` of a position of few men are those of the endings, so that searches find it in their databases.
"""

from functools import cached_property

from retrograde.games.chess.bitboards import TURN, count, joined, kind_on, planes_of
from retrograde.games.chess.evaluation import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Evaluation
from retrograde.games.chess.probed import CASTLING, CLOCK, PASSED, EndingSlots
from retrograde.games.chess.squares import lowest, square_name, square_of
from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, Game, PositionError
from retrograde.games.contract.zeroing import PATIENCE

PROMOTIONS = (0, QUEEN, ROOK, BISHOP, KNIGHT)
LETTERS = ".PNBKR?Q"
RIGHTS = "HAha"
"""The castling rights, the lowest bit first, as `fields` writes them: by the files of the rooks."""


class WholeChess(Evaluation, EndingSlots, Game):
    """Mate the king. All rules of chess count, from castling to the fifty-move rule."""

    name = "chess"
    title = "Chess"
    words = {"K": "White", "k": "Black"}

    @cached_property
    def start(self):
        from retrograde.games.chess.anyboard import STARTING_POSITION

        return self.read(STARTING_POSITION)

    @cached_property
    def kept_rights(self):
        """For each square, the castling rights that remain after a man has left or reached it, as bits of `RIGHTS`."""
        lost = {0: 2, 7: 1, 4: 3, 56: 8, 63: 4, 60: 12}
        return tuple(15 ^ lost.get(square, 0) for square in range(64))

    # The rules

    def generate_moves(self, position):
        """Yield `origin | target << 6 | promotion << 12` for each legal move.

        *one*, *two* and *four* are the planes of the bits of each man's kind.
        """
        planes = planes_of(position)
        white, one, two, four = planes
        turn = position[4] >> TURN & 1
        occupied = one | two | four
        own = occupied & ~white if turn else white
        king = lowest(own & four & ~one)
        checkers, pinned = self.checkers_and_pinned(planes, turn, king, own, occupied)
        # In check, men other than the king must capture the checking man or step in between. In check by two, only the
        # king moves.
        goals = ~own
        if checkers:
            first = lowest(checkers)
            goals = checkers | self.between[64 * king + first] if checkers == self.bit[first] else 0
        men = own
        while men:
            origin = lowest(men)
            men ^= self.bit[origin]
            kind = kind_on(planes, origin)
            if kind == PAWN:
                targets = self.pawn_targets(position, origin, turn, occupied, occupied ^ own) & goals
            elif kind == KING:
                targets = self.safe_targets(planes, turn, king, own, occupied)
            else:
                targets = self.targets(kind, origin, occupied) & goals
            if pinned & self.bit[origin]:
                targets &= self.lines[64 * king + origin]
            while targets:
                target = lowest(targets)
                targets ^= self.bit[target]
                promotes = kind == PAWN and (target < 8 or target >= 56)
                for promotion in range(promotes, 5 if promotes else 1):  # 1 to 4, or 0 alone
                    yield origin | target << 6 | promotion << 12
        file = position[4] >> PASSED & 15
        if file:
            target = 39 + file - 24 * turn  # on the sixth rank for White, the third for Black; files count from 1
            pawns = own & self.pawn_reach[64 * (1 - turn) + target] & one & ~two & ~four
            while pawns:
                origin = lowest(pawns)
                pawns ^= self.bit[origin]
                if self.may_capture(planes, turn, origin, target):
                    yield origin | target << 6
        rights = position[4] >> CASTLING + 2 * turn & 3
        if rights and not checkers:
            for side in range(2):
                # Side 0 is the king's: the rook stands three squares to the right; side 1, four to the left.
                step = 1 - 2 * side
                way = occupied & self.between[64 * king + king + 3 * step - side]
                if rights >> side & 1 and not way:
                    enemies = occupied ^ own
                    passes = self.attacked(planes, king + step, 1 - turn, enemies, occupied)
                    if not passes and not self.attacked(planes, king + 2 * step, 1 - turn, enemies, occupied):
                        yield king | king + 2 * step << 6

    def checkers_and_pinned(self, planes, turn, king, own, occupied):
        """Return the enemies that give check, and the king's own men that may only move on a line with him."""
        _, one, two, four = planes
        enemies = occupied ^ own
        pawns = self.pawn_reach[64 * turn + king] & one & ~two & ~four
        checkers = enemies & (self.knight_reach[king] & two & ~one | pawns)
        pinned = 0
        sliders = enemies & one & (self.diagonals[king] & two | self.straights[king] & four)
        while sliders:
            origin = lowest(sliders)
            sliders ^= self.bit[origin]
            shield = self.between[64 * origin + king] & occupied
            if not shield:
                checkers |= self.bit[origin]
            elif not shield & shield - 1:  # one man
                pinned |= shield & own
        return checkers, pinned

    def pawn_targets(self, position, origin, turn, occupied, enemies):
        """Return the squares that a pawn can go to, as bits, without captures en passant.

        *turn* is 0 for White, 1 for Black. *occupied* and *enemies* are squares, as bits.
        """
        # White's pawns go up the board by 8 squares, from rank 1 (counted from 0); Black's down by 8, from rank 6.
        forward = 8 - 16 * turn
        targets = self.pawn_reach[64 * turn + origin] & enemies
        ahead = self.bit[origin + forward]
        if not occupied & ahead:
            targets |= ahead
            if origin >> 3 == 1 + 5 * turn and not occupied & self.bit[origin + 2 * forward]:
                targets |= self.bit[origin + 2 * forward]
        return targets

    def safe_targets(self, planes, turn, king, own, occupied):
        """Return the squares next to the king to which he can go."""
        safe = 0
        targets = self.king_reach[king] & ~own
        while targets:
            target = lowest(targets)
            targets ^= self.bit[target]
            if not self.attacked(planes, target, 1 - turn, occupied ^ own, occupied ^ self.bit[king]):
                safe |= self.bit[target]
        return safe

    def may_capture(self, planes, turn, origin, target):
        """Return whether a pawn's capture en passant leaves its king safe."""
        white, one, two, four = planes
        occupied = one | two | four
        own = occupied & ~white if turn else white
        victim = self.bit[target - 8 + 16 * turn]  # the pawn just behind the target
        after = occupied ^ self.bit[origin] ^ victim | self.bit[target]
        king = lowest(own & four & ~one)
        return not self.attacked(planes, king, 1 - turn, occupied & ~own & ~victim, after)

    def do_move(self, position, move):
        """Return the position after a move."""
        planes = planes_of(position)
        white, one, two, four = planes
        state = position[4]
        turn = state >> TURN & 1
        origin, target, promotion = move & 63, move >> 6 & 63, move >> 12
        kind = kind_on(planes, origin)
        after = PROMOTIONS[promotion] if promotion else kind
        captures = (one | two | four) & self.bit[target] != 0
        # Step 1: clear both squares, and that of a pawn captured en passant, and put down the man. The planes *one*,
        # *two* and *four* have the men whose kind has bit 0, 1 or 2.
        cleared = self.bit[origin] | self.bit[target]
        if kind == PAWN and origin & 7 != target & 7 and not captures:
            cleared |= self.bit[target - 8 + 16 * turn]
        put = self.bit[target]
        white = white & ~cleared | (0 if turn else put)
        one = one & ~cleared | (put if after & 1 else 0)
        two = two & ~cleared | (put if after & 2 else 0)
        four = four & ~cleared | (put if after & 4 else 0)
        # Step 2: castling moves the rook as well.
        if kind == KING and abs(target - origin) == 2:
            corner, beside = (target + 1, target - 1) if target > origin else (target - 2, target + 1)
            moved = self.bit[corner] | self.bit[beside]
            one ^= moved
            four ^= moved
            white ^= 0 if turn else moved
        # Step 3: rights, clock and turn. A double step gives the right to capture only if a capture is legal.
        rights = state >> CASTLING & self.kept_rights[origin] & self.kept_rights[target]
        clock = 0 if kind == PAWN or captures else (state >> CLOCK) + 1
        passed = 0
        if kind == PAWN and abs(target - origin) == 16:
            middle = (origin + target) // 2
            new = (white, one, two, four)
            # Enemy pawns that could capture on the middle square stand where a pawn of the mover could capture from it.
            enemies = (white if turn else ~white) & one & ~two & ~four & self.pawn_reach[64 * turn + middle]
            while enemies:
                pawn = lowest(enemies)
                enemies ^= self.bit[pawn]
                if self.may_capture(new, 1 - turn, pawn, middle):
                    passed = (target & 7) + 1
        state = (1 - turn) << TURN | rights << CASTLING | passed << PASSED | clock << CLOCK
        return joined(white, one, two, four, state)

    def primitive(self, position):
        """Return LOSE for mate, DRAW for stalemate, by the fifty-move rule or without mating material, else
        UNDECIDED."""
        for _ in self.generate_moves(position):
            return DRAW if position[4] >> CLOCK >= PATIENCE or is_dead(planes_of(position)) else UNDECIDED
        return LOSE if self.in_check(position) else DRAW

    def zeroes(self, position, move):
        """Return whether a move captures or is a pawn's."""
        planes = planes_of(position)
        return kind_on(planes, move & 63) == PAWN or kind_on(planes, move >> 6 & 63) != 0

    # For people

    def ending(self, position):
        """Return how the game has ended."""
        if not any(self.generate_moves(position)):
            return "checkmate" if self.in_check(position) else "stalemate"
        return "a dead position, no mate is possible" if is_dead(planes_of(position)) else "draw by the fifty-move rule"

    def distance(self, value, remoteness):
        """Return the distance to mate in moves."""
        from retrograde.games.chess.san import mate_in

        return mate_in(value, remoteness)

    def pgn(self, position, moves, players, finished, count=0, resigned=False):
        """Return a game as PGN; see `games/chess/pgn.py`."""
        from retrograde.games.chess.pgn import pgn

        return pgn(self, position, moves, players, finished, count, resigned)

    def board_of(self, position):
        """Return the position as `AnyBoard`, which knows its texts."""
        from retrograde.games.chess.anyboard import AnyBoard

        planes, state = planes_of(position), position[4]
        men = "".join(
            letter if planes[0] >> square & 1 else letter.lower()
            for square in range(64)
            for letter in LETTERS[kind_on(planes, square)]
        )
        rights = "".join(right for place, right in enumerate(RIGHTS) if state >> CASTLING + place & 1)
        file, turn = state >> PASSED & 15, state >> TURN & 1
        passed = square_name(39 + file - 24 * turn) if file else "-"
        return AnyBoard(men, not turn, rights or "-", passed, state >> CLOCK)

    def write(self, position):
        """Return a position as FEN, with an en passant square only if the capture is legal."""
        board = self.board_of(position)
        return f"{board.fen().rsplit(maxsplit=2)[0]} {board.count} 1"

    def read(self, text):
        """Return the position of a FEN. Underscores may stand for spaces."""
        from retrograde.games.chess.anyboard import AnyBoard

        return self.position_on(AnyBoard.from_fen(text))

    def position_on(self, board):
        """Return the position on an `AnyBoard`. Raise PositionError for castling rights of Chess960, and if no pawn can
        just have passed the en passant square."""
        men, rights, passed = board.men, board.castling.strip("-"), board.capturable()
        # By each right, for the rook's file: the square and the letter of the king that may castle.
        homes = {"H": (4, "K"), "A": (4, "K"), "h": (60, "k"), "a": (60, "k")}
        if any(right not in homes or men[homes[right][0]] != homes[right][1] for right in rights):
            raise PositionError(f"castling rights {rights!r} are those of Chess960; put KQkq, or some of these")
        if passed != "-":
            target, forward = square_of(passed), 8 if board.white_to_move else -8
            pawn = "p" if board.white_to_move else "P"
            if [men[target + step] for step in (-forward, 0, forward)] != [pawn, ".", "."]:
                raise PositionError(f"no pawn can just have passed {passed}; put - for en passant")
        kinds = [LETTERS.index(man.upper()) for man in men]
        one, two, four = (
            sum(self.bit[square] for square, kind in enumerate(kinds) if kind >> place & 1) for place in range(3)
        )
        white = sum(self.bit[square] for square, man in enumerate(men) if man.isupper())
        state = (not board.white_to_move) << TURN | "-abcdefgh".index(passed[0]) << PASSED
        state |= sum(1 << RIGHTS.index(right) for right in rights) << CASTLING
        return joined(white, one, two, four, state | min(board.count, PATIENCE) << CLOCK)

    def show(self, position):
        men, state = self.board_of(position).men, position[4]
        lines = [f"{rank + 1}  {' '.join(men[8 * rank : 8 * rank + 8])}" for rank in range(7, -1, -1)]
        return "\n".join([*lines, f"   {' '.join('abcdefgh')}   {'Black' if state >> TURN & 1 else 'White'} to move"])

    def move_name(self, position, move):
        """Return a move in standard algebraic notation, as in `Nxe4+` or `O-O`."""
        from retrograde.games.chess.movetext import san_on

        return san_on(self.board_of(position), self.uci(move))

    def uci(self, move):
        """Return a move in UCI notation, as in `e7e8q`."""
        return square_name(move & 63) + square_name(move >> 6 & 63) + LETTERS[PROMOTIONS[move >> 12]].lower().strip(".")

    def move(self, position, text):
        """Return the move with this name, in standard algebraic notation or as in UCI: `a7a8q`, `e1g1`."""
        from retrograde.games.chess.movetext import legal_move

        name = legal_move(self.board_of(position), text.strip())
        return next(move for move in self.generate_moves(position) if self.uci(move) == name)

    def draw_board(self):
        from retrograde.games.contract.drawing import CHESS_MEN, grid

        return grid(8, 8, CHESS_MEN, "chequered", down="87654321")

    def draw_pieces(self, position):
        men = self.board_of(position).men
        return "".join(men[rank : rank + 8] for rank in range(56, -1, -8))

    def draw_move(self, position, move):
        return (move & 63 ^ 56, move >> 6 & 63 ^ 56)

    def draw_turn(self, position):
        return "Kk"[position[4] >> TURN & 1]

    def draw_end(self, position):
        """Return the cell of the mated king."""
        if any(self.generate_moves(position)) or not self.in_check(position):
            return ()
        return (self.draw_pieces(position).index(self.draw_turn(position)),)

    def read_pieces(self, pieces, turn):
        """Return the position of a picture. Kings and rooks at home may castle: no picture shows that they moved."""
        rows = "/".join(pieces[row : row + 8].replace(".", "1") for row in range(0, 64, 8))
        return self.read(f"{rows} {'w' if turn == 'K' else 'b'} KQkq -")


def is_dead(planes):
    """Return whether the men cannot mate: none, one knight, or bishops on squares of one colour."""
    _, one, two, four = planes
    if one & ~two | one & four:  # a pawn, a rook or a queen
        return False
    knights, bishops = two & ~one, one
    if knights:
        return not bishops and count(knights) == 1
    return not bishops & DARK or not bishops & ~DARK


DARK = 0xAA55AA55AA55AA55 - (1 << 64)
"""The dark squares, such as a1."""
