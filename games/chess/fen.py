"""FEN, the Forsyth-Edwards notation: ranks from the top, side to move, castling, en passant, two counters.

>>> from retrograde.games.chess import Chess
>>> print(picture(Chess("KRKN").read("8/8/8/3k4/8/8/2n5/K6R_w")))
8  . . . . . . . .
7  . . . . . . . .
6  . . . . . . . .
5  . . . k . . . .
4  . . . . . . . .
3  . . . . . . . .
2  . . n . . . . .
1  K . . . . . . R
   a b c d e f g h   White to move
"""

import re
from collections.abc import Collection
from typing import Any

from retrograde.games.chess import fields, men
from retrograde.games.chess.board import BLACK_KING, COLOURS, FOURTH, NO_MAN, PLACES, TURN, code_at, pack, put, sort_men
from retrograde.games.chess.fields import LEGAL
from retrograde.games.chess.men import LETTERS, NOBODY
from retrograde.games.chess.squares import square_name, square_of
from retrograde.games.contract.game import PositionError

# Colours as on the board, not as in the encoding


def seen_square(position: int, square: int) -> int:
    """Return the square on the board of a square in the encoding, or the other way round."""
    return square ^ 56 * (position >> COLOURS & 1)


def white_to_move(position: int) -> bool:
    """Return whether White is to move on the board."""
    return position >> TURN & 1 == position >> COLOURS & 1


def pieces(position: int) -> dict[int, str]:
    """Return the letters of the men by their squares on the board, capitals for White.

    >>> from retrograde.games.chess.rules import Chess
    >>> pieces(Chess("KRK").read("8/8/8/8/8/2k5/1R6/K7 b"))
    {0: 'K', 18: 'k', 9: 'R'}
    """
    letters = {}
    for place in PLACES:
        code = code_at(position, place)
        if code != NOBODY:
            white = code >> 3 == position >> COLOURS & 1
            letter = LETTERS[code & 7]
            letters[seen_square(position, position >> place & 63)] = letter if white else letter.lower()
    return letters


def passed_square_name(position: int) -> str:
    """Return the square on which a pawn may be captured en passant, or a dash."""
    if not position & 15:
        return "-"
    return square_name((position & 15) - 1 + (40 if white_to_move(position) else 16))


# Writing


def write(position: int) -> str:
    """Return a position as FEN."""
    return f"{placement(position)} {'w' if white_to_move(position) else 'b'} - {passed_square_name(position)} 0 1"


def placement(position: int) -> str:
    """Return the first field of FEN."""
    rows = "/".join(rows_of(position))
    return re.sub(r"\.+", lambda empty: str(len(empty[0])), rows)


def rows_of(position: int) -> list[str]:
    """Return the rows of the board from the top, one letter or dot for each square."""
    letters = pieces(position)
    return ["".join(letters.get(square, ".") for square in range(row, row + 8)) for row in range(56, -1, -8)]


def picture(position: int) -> str:
    """Return the board with ranks and files, and the side to move."""
    lines = [f"{8 - number}  {' '.join(row)}" for number, row in enumerate(rows_of(position))]
    who = "White to move" if white_to_move(position) else "Black to move"
    right = f", en passant on {passed_square_name(position)}" if position & 15 else ""
    return "\n".join([*lines, f"   {' '.join('abcdefgh')}   {who}{right}"])


# Reading


def read(game: Any, text: str) -> int:
    """Return the position of a FEN or EPD; raise PositionError if it is not a position of the game."""
    return position_on(game, fields.read(text))


def position_on(game: Any, fen: fields.Fields) -> int:
    """Return the position of the fields of a FEN; raise PositionError if it is not a position of the game."""
    check_number(fen.letters.values())
    if fen.castling != "-":
        rights = fields.written_rights(fen.men, fen.castling)
        raise PositionError(f"castling rights {rights!r} are unknown in endings; put - for them")
    position = position_of(game, fen.letters, 0 if fen.white_to_move else 1)
    check_position(game, position)
    if fen.passed != "-":
        position = with_passed(game, position, fen.passed)
    if game.tier(position) not in game.tiers:
        name = men.name_of_tier(game.tier(position))
        what = f"this is {name}, which does not follow from {game.material}"
        raise PositionError(f"{what}; its database is made by: retrograde solve chess:{name}")
    return position


def check_number(men_of_both: Collection[str]) -> None:
    """Raise PositionError if there are more men than endings have."""
    count = len(men_of_both)
    if count > men.MOST_MEN:
        raise PositionError(f"{count} men are on the board; endings have {men.MOST_MEN} at most")
    if count > men.MOST_WITH_PAWNS and {"P", "p"} & {*men_of_both}:
        what = f"{count} men are on the board, with pawns"
        raise PositionError(f"{what}; endings with pawns have {men.MOST_WITH_PAWNS} at most")


def position_of(game: Any, letters: dict[int, str], turn: int) -> int:
    """Return the position, without en passant, of checked letters."""
    kings = [next(square for square, letter in letters.items() if letter == king) for king in "Kk"]
    codes = [
        (LETTERS.index(letter.upper()) + men.BLACK * letter.islower()) << 6 | square
        for square, letter in letters.items()
        if letter not in "Kk"
    ]
    first, second, third, fourth = [*codes, NO_MAN, NO_MAN, NO_MAN, NO_MAN][:4]
    return game.settled(sort_men(pack(turn, kings[0], kings[1], first, second, third) | put(fourth, FOURTH)))


def check_position(game: Any, position: int) -> None:
    """Raise PositionError if the side not to move is in check."""
    if game.possible(position):
        return
    first, second = position >> BLACK_KING + 6 & 63, position >> BLACK_KING & 63
    if max(abs((first & 7) - (second & 7)), abs((first >> 3) - (second >> 3))) == 1:
        raise PositionError(f"{LEGAL}: the kings stand next to each other")
    side, other = ("White", "Black") if white_to_move(position) else ("Black", "White")
    raise PositionError(f"{LEGAL}: {side} is to move and {other} is in check; should {other} be to move?")


def with_passed(game: Any, position: int, square: str) -> int:
    """Return a position with en passant rights on a square, if a legal move uses them. Raise PositionError if no pawn
    passed it."""
    target = seen_square(position, square_of(square))
    turn = position >> TURN & 1
    forward = 8 - 16 * turn
    letters = {seen_square(position, place): letter.upper() for place, letter in pieces(position).items()}
    # Behind the square from the mover's side is the pawn; the square itself and the pawn's origin are empty.
    passed_it = letters.get(target - forward) == "P" and target not in letters and target + forward not in letters
    is_own = any(code_at(position, place) == men.PAWN + men.BLACK * turn and position >> place & 63 == target - forward
                 for place in PLACES)  # fmt: skip
    if target >> 3 != (2 if turn else 5) or not passed_it or is_own:
        raise PositionError(f"{LEGAL}: no pawn can just have passed {square}; put - for en passant")
    return position | (target & 7) + 1 if game.may_capture(position, target & 7) else position
