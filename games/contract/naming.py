"""What people call the players of a game and what stands on its board."""

from dataclasses import fields

from retrograde.games.contract.drawing import CHESS_MEN, Board
from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, alternates, mover
from retrograde.games.contract.text import printable

MOST_LOOKED_AT = 1000
"""Positions among which another player's turn is looked for."""


def title(cls: type[Game]) -> str:
    """Return what people call a game: as it says itself, or as its class is called."""
    spaced = "".join(f" {sign}" if sign.isupper() else sign for sign in cls.__name__).lstrip()
    return printable(cls.title or spaced)


def variant_title(game: Game) -> str:
    """Return what people call a game with its options: by default its title, and the options that are not as usual."""
    if own := game.variant_title():
        return printable(own)
    options = fields(game)  # type: ignore[arg-type]  # subclasses are dataclasses
    unusual = [f"{one.name} {getattr(game, one.name)}" for one in options if getattr(game, one.name) != one.default]
    return ", ".join([title(type(game)), *unusual])


def player_to_move(game: Game, position: int) -> str:
    """Return what the player to move is called, such as `Red`; nothing where the game does not tell."""
    sign = game.draw_turn(position)
    return printable(game.words.get(sign, sign))


def first_of_other(game: Game, start: int) -> int | None:
    """Return the first position found after another in which a player is to move who was not there, or could be were it
    not over; None where none is found soon."""
    met, waiting = {start}, [start] if game.players > 1 else []
    for position in waiting:
        if game.primitive(position) != UNDECIDED:
            continue
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            if alternates(game) or mover(game, child) not in (CHANCE, max(0, mover(game, start))):
                return child
            if child not in met and len(met) < MOST_LOOKED_AT:
                met.add(child)
                waiting.append(child)
    return None


def piece_name(game: Game, board: Board, sign: str) -> str:
    """Return what a sign on the board is called: `white rook`, `Red`, or else what it looks like; nothing for a dot."""
    if sign == ".":
        return ""
    look = board.pieces.get(sign, sign)
    return look if look in CHESS_MEN.values() else printable(game.words.get(sign, look))
