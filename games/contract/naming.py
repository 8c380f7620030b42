"""Names for people: of games, variants, players and pieces."""

from dataclasses import fields

from retrograde.games.contract.drawing import CHESS_MEN, Board
from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, Traits, mover
from retrograde.games.contract.text import printable

MOST_LOOKED_AT = 1000
"""`first_of_other` gives up after this many positions."""

WORDS = {"misere": "misère"}
"""How options are spelled for people."""


def title(cls: type[Game]) -> str:
    """Return the game's name for people: its `title`, or else its class name with spaces."""
    spaced = "".join(f" {sign}" if sign.isupper() else sign for sign in cls.__name__).lstrip()
    return printable(cls.title or spaced)


def variant_title(game: Game) -> str:
    """Return the variant's name for people: by default the title and the options that are not the defaults.

    The size of a square board is written `4 × 4`, and an option that is true as its name.
    """
    if own := game.variant_title():
        return printable(own)
    options = fields(game)  # type: ignore[arg-type]  # subclasses are dataclasses
    unusual = {one.name: getattr(game, one.name) for one in options if getattr(game, one.name) != one.default}
    board, size = game.draw_board(), unusual.get("size")
    square = f" {size} × {size}" if board and isinstance(size, int) and board.rows == (size,) * size else ""
    if square:
        del unusual["size"]
    others = [WORDS.get(name, name) if value is True else f"{name} {value}" for name, value in unusual.items()]
    return ", ".join([title(type(game)) + square, *others])


def player_to_move(game: Game, position: int) -> str:
    """Return the name of the player to move, such as `Red`; "" if the game does not say."""
    sign = game.draw_turn(position)
    return printable(game.words.get(sign, sign))


def first_of_other(game: Game, start: int) -> int | None:
    """Return the first position found after *start* where another player is to move, or None.

    Searches breadth first, and gives up after MOST_LOOKED_AT positions. The position found may be one where the game is
    over.
    """
    met, waiting = {start}, [start] if game.players > 1 else []
    for position in waiting:
        if game.primitive(position) != UNDECIDED:
            continue
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            if Traits.of(game).alternates or mover(game, child) not in (CHANCE, max(0, mover(game, start))):
                return child
            if child not in met and len(met) < MOST_LOOKED_AT:
                met.add(child)
                waiting.append(child)
    return None


def piece_name(game: Game, board: Board, sign: str) -> str:
    """Return the name of a sign on the board: `white rook`, `Red`, or else its look; "" for a dot."""
    if sign == ".":
        return ""
    look = board.pieces.get(sign, sign)
    return look if look in CHESS_MEN.values() else printable(game.words.get(sign, look))
