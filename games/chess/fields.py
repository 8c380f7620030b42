"""Parses FEN and EPD into checked fields. All code that takes chess positions as text uses this parser.

FEN has six fields: men, side to move, castling, en passant, and two counters. EPD has the first four, and operations;
its operations `hmvc` and `fmvn` are the same counters. Underscores may stand for spaces, and a semicolon may end either
format. The fields after the side to move may be left out.

>>> read("8/8/6k1/3B4/3K4/4N3/8/8 w - - hmvc 54; fmvn 106;").count
54
>>> read("r3k2r/8/8/8/8/8/8/R3K3 w KQkq - 0 1").castling
'Aha'
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from retrograde.games.chess.squares import square_name
from retrograde.games.contract.game import PositionError

LEGAL, EXAMPLE = "no legal position", "8/8/8/3k4/8/8/2n5/K6R w - - 0 1"
NUMBER = re.compile("[0-9]{1,6}")
OPERATION = re.compile(r'([A-Za-z]\w*)((?:"[^"]*"|[^;"])*)(;|$)')
USUAL = re.compile("ac[dns]|[abdps]m|c[0-9e]|eco|id|nic|pv|v[0-9]|hmvc|fmvn")
"""Operations of EPD that cannot be misspelt counters, so that the last one needs no semicolon."""
COUNTERS = ("hmvc", "fmvn")
"""The operations of EPD that are counters of FEN."""


@dataclass(frozen=True)
class Fields:
    """The fields of a FEN or EPD: `men`, `castling` and `count` as in `AnyBoard`."""

    men: str
    white_to_move: bool
    castling: str
    passed: str
    count: int
    number: int

    @property
    def letters(self) -> dict[int, str]:
        """The letters of the men by square."""
        return {square: man for square, man in enumerate(self.men) if man != "."}


def of_board(board: Any) -> Fields | None:
    """Return the fields of a board of python-chess, much faster than by FEN; None with castling or en passant."""
    if not hasattr(board, "occupied_co") or board.castling_rights or board.ep_square is not None:
        return None
    men, white = ["."] * 64, board.occupied_co[True]
    kinds = board.queens, board.rooks, board.bishops, board.knights, board.pawns, board.kings
    for letter, squares in zip("qrbnpk", kinds, strict=True):
        while squares:
            square = squares.bit_length() - 1
            squares ^= 1 << square
            men[square] = letter.upper() if white >> square & 1 else letter
    check_men("".join(men))
    return Fields("".join(men), board.turn, "-", "-", board.halfmove_clock, board.fullmove_number)


def read(text: str, chess960: bool = False) -> Fields:
    """Return the fields of a FEN or EPD; raise PositionError if it is faulty.

    Impossible castling rights are left out. King and rooks may start anywhere on their rank if *chess960*, or if files
    name the rooks.
    """
    words = text.replace("_", " ").replace(";", " ; ").split()
    first, rest = words[:4], words[4:]
    if ";" in first:
        first, rest = first[: first.index(";")], first[first.index(";") :] + rest
    board, turn, castling, passed = [*first, *["", "", "-", "-"][len(first) :]]
    if not board or turn not in ("w", "b"):
        raise PositionError(f"no FEN {text!r}; it should look like {EXAMPLE}")
    if not re.fullmatch(r"-|[KQkqA-Ha-h]{1,4}", castling) or not re.fullmatch(r"-|[a-h][1-8]", passed):
        raise PositionError(f"no FEN {text!r}; castling and en passant, the third and fourth fields, are mostly -")
    men = men_on(board)
    check_men(men)
    rights = rights_of(men, castling.strip("-"), chess960 or not set(castling) <= set("KQkq-"))
    return Fields(men, turn == "w", rights or "-", passed, *counters(rest, text))


def count_in(text: str) -> int:
    """Return the number of plies without progress in a FEN or EPD; 0 if the text is neither.

    >>> count_in("8/8/8/8/8/2k5/1R6/K7 b - - 70 80"), count_in("8/8/8/8/8/2k5/1R6/K7_b"), count_in("X../.O./...")
    (70, 0, 0)
    """
    try:
        return read(text).count
    except PositionError:
        return 0


def counters(words: list[str], text: str) -> tuple[int, int]:
    """Return both counters from the words after the fourth field."""
    numbers: list[str] = []
    while words and len(numbers) < 2 and NUMBER.fullmatch(words[0]):
        numbers.append(words.pop(0))
    values = dict(zip(COUNTERS, numbers, strict=False))
    rest = " ".join(words).lstrip("; ")
    while rest:
        operation = OPERATION.match(rest)
        if not operation or not (operation[3] or USUAL.fullmatch(operation[1])):
            raise PositionError(f"no FEN {text!r}; {fault_in(words[0])}")
        name, value = operation[1], operation[2].strip()
        if name in COUNTERS and (not NUMBER.fullmatch(value) or values.setdefault(name, value) != value):
            raise PositionError(f"no EPD {text!r}; {name} is a whole number, told once, and not {value!r}")
        rest = rest[operation.end() :].lstrip("; ")
    count, number = (int(values.get(name, default)) for name, default in zip(COUNTERS, (0, 1), strict=True))
    return count, number


def fault_in(word: str) -> str:
    """Return what is wrong with the first word in the place of counters or operations."""
    if re.fullmatch(r"\+?\d\+\d", word):
        return f"{word!r} counts checks, as three-check chess does; leave it out"
    return f"counters are whole numbers, as in 0 1, and operations end with semicolons; here stands {word!r}"


def men_on(board: str) -> str:
    """Return the men of the first field, a letter for each square; raise PositionError unless it has 64 squares."""
    rows = [re.sub("[1-8]", lambda digit: "." * int(digit[0]), row) for row in board.split("/")]
    if [len(row) for row in rows] != [8] * 8 or re.search("[^QRBNPKqrbnpk./]", "/".join(rows)):
        raise PositionError(f"no board {board!r}; it takes eight rows of eight squares, as in {EXAMPLE.split()[0]}")
    return "".join(reversed(rows))


def check_men(men: str) -> None:
    """Raise PositionError unless each side has one king and pawns stand on their ranks."""
    count = Counter(men)
    for king, side in (("K", "White"), ("k", "Black")):
        if count[king] != 1:
            raise PositionError(f"{LEGAL}: {side} has {count[king] or 'no'} king{'s' * (count[king] > 1)}; put one")
    for square in [*range(8), *range(56, 64)]:
        if men[square] in "Pp":
            name = square_name(square)
            raise PositionError(f"{LEGAL}: a pawn stands on {name}; pawns stand on the second to seventh ranks")


# Castling


def rights_of(men: str, text: str, chess960: bool) -> str:
    """Return the castling rights of a third field that the men can have, by the files of the rooks."""
    return "".join(dict.fromkeys(right for sign in text for right in files_of(men, sign, chess960)))


def files_of(men: str, sign: str, chess960: bool) -> Iterator[str]:
    """Yield the file of the rook that a letter of the third field means, if there is one."""
    white = sign.isupper()
    row = men[:8] if white else men[56:]
    king = row.find("K" if white else "k")
    rooks = [file for file, man in enumerate(row) if man == ("R" if white else "r")]
    if sign.upper() in "KQ":
        rooks = [file for file in rooks if (file > king) == (sign.upper() == "K")]
        rooks = rooks[-1:] if sign.upper() == "K" else rooks[:1]
    else:
        rooks = [file for file in rooks if file == ord(sign.upper()) - ord("A")]
    if king >= 0:
        yield from (name_of(file, white) for file in rooks if chess960 or (king == 4 and file in (0, 7)))


def name_of(file: int, white: bool) -> str:
    """Return the letter of a file, a capital for White."""
    return "ABCDEFGH"[file] if white else "abcdefgh"[file]


def written_rights(men: str, castling: str) -> str:
    """Return the third field: KQkq for the outermost rooks, else the letters of files.

    >>> written_rights(read("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -").men, "HAha")
    'KQkq'
    """
    return "".join(
        next((sign for sign in ("KQ" if right.isupper() else "kq") if right in files_of(men, sign, True)), right)
        for right in castling
    )
