"""Texts, move names and pictures that follow from a declared board.

A game declares a board, and `bits` or `signs(position)` (see `drawing.py`). The contract's default methods call these
functions::

    signs      X.O.X....        a sign for each place that holds pieces, in the order of the board's places
    text       X.O/.X./...      the same in the rows of the board; then the player to move, if there is `to_move`
    show       X . O            the same in lines
               . X .
               . . .
    move       4, or b2         a place; or b2-c3, if `draw_move` says which places a move touches
"""

import re
from typing import TYPE_CHECKING, Any

from retrograde.games.contract.text import printable

if TYPE_CHECKING:
    from retrograde.games.contract.drawing import Board

EMPTY = "."
BOARD = "board that is drawn"
"""The key under which a game caches its board in its `__dict__`."""


def word(game: Any, name: str) -> str:
    """Return the signs that a game declares as `bits`, `by_turns` or `to_move`; "" if it declares none."""
    signs = getattr(game, name, "")
    return signs if isinstance(signs, str) else ""


def board_of(game: Any) -> "Board | None":
    """Return the board that a game draws, made once and then cached."""
    kept = vars(game)
    if BOARD not in kept:
        kept[BOARD] = game.draw_board()
    board: Board | None = kept[BOARD]
    return board


# Bits


def signs_of_bits(game: Any, position: int) -> str:
    """Return the sign of each place, read from the bits of a position. The lowest bits belong to the first sign.

    >>> from retrograde.games.catalog import load_game
    >>> signs_of_bits(load_game("tictactoe"), 0b1_000_000_010)
    'OX.......'
    """
    count = places(game)
    signs = [EMPTY] * count
    for sign in word(game, "bits"):
        for place in range(count):
            if position >> place & 1:
                signs[place] = sign
        position >>= count
    return "".join(signs)


def bits_of(game: Any, signs: str, turn: str) -> int:
    """Return the position whose bits are these signs, with the player to move as the number above them."""
    count, bits = places(game), word(game, "bits")
    stones = sum(1 << place + count * bits.index(sign) for place, sign in enumerate(signs) if sign != EMPTY)
    return stones | word(game, "to_move").index(turn) << count * len(bits)


def places(game: Any) -> int:
    """Return how many places of the board hold pieces."""
    board = board_of(game)
    if board is None:
        raise ValueError(f"{type(game).__name__} has bits and no board; let board be one, as grid(3, 3, …) gives it")
    return board.count


# Texts


def signs_of(game: Any, position: int) -> str:
    """Return the sign of each place, as text."""
    return printable("".join(game.signs(position)))


def write(game: Any, board: "Board", position: int) -> str:
    """Return the rows of the board, and the player to move if needed: `X.O/.X./.../O`."""
    turn = [game.draw_turn(position)] if word(game, "to_move") else []
    return "/".join([*board.in_rows(signs_of(game, position)), *turn])


def read(game: Any, board: "Board", text: str) -> int:
    """Return the position of a text whose rows are separated by slashes, commas or line ends; raise ValueError if
    wrong."""
    rows = re.split(r"[/,\n]", text.strip().replace(" ", ""))
    to_move = word(game, "to_move")
    turn = rows.pop() if to_move else ""
    signs = "".join(rows)
    is_board = tuple(map(len, rows)) == board.rows and not set(signs) - set(signs_known(game, board))
    if not is_board or (to_move and turn not in tuple(to_move)):
        raise ValueError(shape(game, board))
    return understood(game, signs, turn)


def shape(game: Any, board: "Board") -> str:
    """Return a sentence that says what the text of a position looks like."""
    rows, to_move = board.rows, word(game, "to_move")
    lengths = str(rows[0]) if len(set(rows)) == 1 else f"{', '.join(map(str, rows[:-1]))} and {rows[-1]}"
    count = f"{len(rows)} lines" if len(set(rows)) == 1 else "lines"
    lines = f"{count} of {lengths} signs of {signs_known(game, board)}"
    behind = f" and who is to move, {' or '.join(to_move)}" if to_move else ""
    return f"a {'position' if to_move else 'board'} is {lines}{behind}, parted by /"


# The digest of `foxandhounds` depends on the name of this function.
def signs_known(game: Any, board: "Board") -> str:
    """Return all signs that may stand on a board."""
    bits = word(game, "bits")
    return EMPTY + (bits or "".join(sign for sign in board.pieces if sign != EMPTY))


def understood(game: Any, signs: str, turn: str) -> int:
    """Return the position with these signs and this player to move ("" for any); raise ValueError if there is none.

    Steps: refuse signs that play by turns cannot reach, let the game make a position, and compare what that shows.
    """
    expect_turns(game, signs)
    to_move = word(game, "to_move")  # the signs of the players, or "" if texts do not say who is to move
    position = game.position_of(signs, turn if to_move else "")
    if signs_of(game, position) != signs:
        raise ValueError(f"no position looks like {signs}; what comes next to it is {signs_of(game, position)}")
    mover = game.draw_turn(position)  # the sign of the player to move, as the position says
    if turn and turn != mover:
        names = [game.words.get(player, player) for player in word(game, "by_turns")]
        reason = f"the number of {' and '.join(names)}" if names else "what stands on the board"
        raise ValueError(f"{game.words.get(mover, mover)} is to move, by {reason}")
    return position


def expect_turns(game: Any, signs: str) -> None:
    """Raise ValueError if these pieces cannot result from players who put down one piece in turn, as `by_turns` says.
    Without `by_turns` all pieces pass."""
    players = word(game, "by_turns")
    counts = [signs.count(player) for player in players]
    # Of n pieces, player number `at` has put down (n - at) / number of players, rounded up.
    if not counts or counts == [(sum(counts) + len(players) - 1 - at) // len(players) for at in range(len(players))]:
        return
    names = [called(game, player) for player in players]
    if len(players) == 2:
        raise ValueError(f"there must be as many {names[0]} as {names[1]}, or one {players[0]} more")
    have = ", ".join(map(str, counts[:-1]))
    raise ValueError(
        f"{', '.join(names[:-1])} and {names[-1]} move by turns, and here they have {have} and {counts[-1]}"
    )


def called(game: Any, sign: str) -> str:
    """Return a sign, followed by its name if that differs: `X (Red)`."""
    return f"{sign} ({game.words[sign]})" if game.words.get(sign, sign) != sign else sign


def show(game: Any, board: "Board", position: int) -> str:
    """Return the rows of the board in lines, and the player to move if only the position says so."""
    lines = [" ".join(row) for row in board.in_rows(signs_of(game, position))]
    return "\n".join([*lines, *([f"{game.draw_turn(position)} to move"] if word(game, "to_move") else [])])


# Moves and pictures


def move_name(game: Any, board: "Board", position: int, move: int) -> str:
    """Return the names of the places that a move touches; the move's number if it touches none."""
    return printable("-".join(board.names[place] for place in game.draw_move(position, move))) or str(move)


def draw_move(board: "Board", move: int) -> tuple[int, ...]:
    """Return the place whose number is the move; an empty tuple if there is no such place."""
    return (move,) if move < board.count else ()


def draw_pieces(game: Any, board: "Board", position: int) -> str:
    """Return the signs of all places. Places beyond the cells are empty."""
    return signs_of(game, position) + EMPTY * (len(board.places) - board.count)


def draw_turn(game: Any, position: int) -> str:
    """Return the sign of the player to move, from the number of pieces or from the number above the bits."""
    if players := word(game, "by_turns"):
        signs = signs_of(game, position)
        return players[sum(signs.count(player) for player in players) % len(players)]
    to_move, bits = word(game, "to_move"), word(game, "bits")
    return to_move[(position >> places(game) * len(bits)) % len(to_move)] if to_move and bits else ""


def read_pieces(game: Any, board: "Board", pieces: str, turn: str) -> int:
    """Return the position that is drawn with these pieces; raise ValueError if there is none."""
    signs = pieces[: board.count]
    if strange := set(signs) - set(signs_known(game, board)):
        raise ValueError(f"{min(strange)!r} cannot stand on the board")
    to_move = word(game, "to_move")
    if to_move and turn not in tuple(to_move):
        raise ValueError(f"it must be the turn of {' or '.join(to_move)}")
    position = understood(game, signs, turn)
    if game.draw_pieces(position) != pieces:
        raise ValueError("nothing can be put beyond the cells")
    return position
