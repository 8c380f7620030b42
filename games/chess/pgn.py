"""Writes games in PGN, the portable game notation: tags and moves."""

import textwrap
from collections.abc import Sequence
from datetime import date
from typing import Any

from retrograde.games.chess.fen import white_to_move
from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.games.contract.zeroing import PATIENCE, count_after

WIDTH = 79


def pgn(game: Any, position: int, moves: Sequence[int], players: Sequence[str], finished: bool, count: int = 0) -> str:
    """Return a game as PGN, between two *players*, after *count* plies without progress.

    A *finished* game that has not ended on the board is a draw, by the fifty-move rule or by repetition.
    """
    start, white_begins = f"{game.write(position).rsplit(maxsplit=2)[0]} {count} 1", white_to_move(position)
    white, black = players if white_begins else reversed(players)
    words = [] if white_begins or not moves else ["1..."]
    number = 1
    for move in moves:
        if white_to_move(position):
            words.append(f"{number}.")
        else:
            number += 1
        words.append(game.move_name(position, move))
        count = count_after(game, position, move, count)
        position = game.do_move(position, move)
    if finished and count >= PATIENCE and game.primitive(position) == UNDECIDED:
        words.append("{draw by the fifty-move rule}")
    result = result_of(game, position) if finished else "*"
    tags = {
        "Event": f"Chess endgame {game.material}",
        "Site": "?",
        "Date": f"{date.today():%Y.%m.%d}",
        "Round": "-",
        "White": white,
        "Black": black,
        "Result": result,
        "SetUp": "1",
        "FEN": start,
    }
    head = "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
    return f"{head}\n\n{textwrap.fill(' '.join([*words, result]), WIDTH)}\n"


def result_of(game: Any, position: int) -> str:
    """Return the result of a game that ends in a position."""
    if game.primitive(position) != LOSE:
        return "1/2-1/2"
    return "0-1" if white_to_move(position) else "1-0"
