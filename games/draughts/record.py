"""Writes a game in PDN: tags and moves."""

import textwrap
from collections.abc import Sequence
from datetime import date
from typing import Any

from retrograde.games.contract.game import LOSE, is_numbered

WIDTH = 79


def pdn(
    game: Any, position: int, moves: Sequence[int], players: Sequence[str], finished: bool, resigned: bool = False
) -> str:  # fmt: skip
    """Return a game as PDN, between two *players*, of whom the first is to move in *position*.

    A *finished* game that has not ended on the board is a draw. With *resigned*, the player to move after the moves has
    resigned.
    """
    start, first = game.write(position), game.draw_turn(position)
    white, black = players if first == "w" else reversed(players)
    words: list[str] = []
    # Each number stands before a move of the player named first in `game.words`: White in endings, Black in the whole
    # game. If the other player begins, the first move has a number and dots.
    for ply, move in enumerate(moves, 0 if first == next(iter(game.words)) else 1):
        number = f"{ply // 2 + 1}{'...' if ply % 2 else '.'}"
        if not words or ply % 2 == 0:
            words.append(number)
        words.append(game.move_name(position, move))
        position = game.do_move(position, move)
    result = "*"
    if resigned or (finished and game.primitive(position) == LOSE):
        result = "0-1" if game.draw_turn(position) == "w" else "1-0"
    elif finished:
        result = "1/2-1/2"
    if resigned:
        words.append(f"{{{game.words[game.draw_turn(position)]} resigns}}")
    tags = {
        "Event": f"Draughts ending {game.pieces}" if is_numbered(game) else "Draughts",
        "Date": f"{date.today():%Y.%m.%d}",
        "White": white,
        "Black": black,
        "Result": result,
        "GameType": "21",  # English draughts
        "SetUp": "1",
        "FEN": start,
    }
    head = "\n".join(f'[{name} "{text}"]' for name, text in tags.items())
    body = textwrap.fill(" ".join([*words, result]), WIDTH, break_on_hyphens=False)
    return f"{head}\n\n{body}\n"
