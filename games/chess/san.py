"""Moves in standard algebraic notation, and in that of the Universal Chess Interface.

>>> from retrograde.games.chess import Chess
>>> chess = Chess("KPK")
>>> position = chess.read("8/4P1k1/8/8/8/8/8/K7 w")
>>> move = chess.move(position, "e7e8n")
>>> chess.move_name(position, move), uci(position, move)
('e8=N+', 'e7e8n')
"""

import re
from typing import Any

from retrograde.games.chess.board import code_on, everybody
from retrograde.games.chess.fen import seen_square
from retrograde.games.chess.men import LETTERS, PAWN
from retrograde.games.chess.squares import square_name
from retrograde.games.contract.game import LOSE, WIN, MoveError, Value

SAN = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)[x:-]?([a-h][1-8])(?:[=/(]?([QRBN])\)?)?(?:e\.?p\.?)?(?:\+\+?|#)?[!?]*")
UCI = re.compile(r"([a-h][1-8])([a-h][1-8])([qrbn]?)")


def origin_of(position: int, move: int) -> str:
    """Return the name of the square that a move leaves."""
    return square_name(seen_square(position, move & 63))


def target_of(position: int, move: int) -> str:
    """Return the name of the square that a move goes to."""
    return square_name(seen_square(position, move >> 6 & 63))


def promoted_to(move: int) -> str:
    """Return the letter that a pawn promotes to, or ""."""
    return LETTERS[(move >> 12) - 1] if move >> 12 else ""


def kind_of(position: int, move: int) -> int:
    """Return the kind of the man that moves."""
    return code_on(position, move & 63) & 7


def uci(position: int, move: int) -> str:
    """Return a move in UCI notation, as in `e7e8q`."""
    return origin_of(position, move) + target_of(position, move) + promoted_to(move).lower()


def san(game: Any, position: int, move: int) -> str:
    """Return a move in standard algebraic notation."""
    child = game.do_move(position, move)
    suffix = ("#" if game.primitive(child) == LOSE else "+") if game.in_check(child) else ""
    promotion = "=" + promoted_to(move) if move >> 12 else ""
    return f"{man_of(game, position, move)}{target_of(position, move)}{promotion}{suffix}"


def man_of(game: Any, position: int, move: int) -> str:
    """Return the part of a SAN before the target square: the man, his origin if needed, and `x` for a capture."""
    kind, origin, target = kind_of(position, move), origin_of(position, move), target_of(position, move)
    if kind == PAWN:
        return origin[0] + "x" if origin[0] != target[0] else ""
    others = [  # the origins of like men that can go to the same square
        origin_of(position, other)
        for other in game.generate_moves(position)
        if other != move and other >> 6 == move >> 6 and kind_of(position, other) == kind
    ]
    if not others:
        needed = ""
    elif all(other[0] != origin[0] for other in others):
        needed = origin[0]
    else:
        needed = origin[1] if all(other[1] != origin[1] for other in others) else origin
    return LETTERS[kind] + needed + "x" * (everybody(position) >> (move >> 6 & 63) & 1)


def parse(game: Any, position: int, text: str) -> int:
    """Return the legal move of a text in SAN or UCI; raise MoveError for none or several."""
    moves = list(game.generate_moves(position))
    text = text.strip()
    if UCI.fullmatch(text):
        found = [move for move in moves if uci(position, move) == text]
    elif match := SAN.fullmatch(text):
        found = [move for move in moves if fits(position, move, match)]
    else:
        found = []
    if len(found) == 1:
        return found[0]
    names = " ".join(game.move_name(position, move) for move in found or moves)
    if found:
        raise MoveError(f"{text!r} may be any of {names}")
    raise MoveError(f"no move {text!r} here; the moves are {names}")


def fits(position: int, move: int, match: re.Match[str]) -> bool:
    """Return whether a move matches a SAN, which may omit capture and check, and give the origin in full."""
    letter, file, rank, target, promotion = match.groups()
    return (
        kind_of(position, move) == LETTERS.index(letter or "P")
        and origin_of(position, move).startswith(file)
        and origin_of(position, move).endswith(rank)
        and target_of(position, move) == target
        and promoted_to(move) == (promotion or "")
    )


def mate_in(value: Value, remoteness: int) -> str:
    """Return the distance to mate in moves, of a WIN or a LOSE.

    >>> mate_in(WIN, 3), mate_in(LOSE, 2), mate_in(LOSE, 0)
    ('mate in 2', 'mated in 1', '')
    """
    if remoteness == 0:
        return ""
    return f"mate in {remoteness // 2 + 1}" if value == WIN else f"mated in {remoteness // 2}"
