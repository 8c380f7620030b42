"""Writes games in PGN, the portable game notation: tags and moves."""

import textwrap
from collections.abc import Sequence
from datetime import date
from typing import Any

from retrograde.games.chess.anyboard import STARTING_POSITION
from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.games.contract.zeroing import PATIENCE, count_after

WIDTH = 79


def pgn(
    game: Any, position: int, moves: Sequence[int], players: Sequence[str], finished: bool, count: int = 0,
    resigned: bool = False,
) -> str:  # fmt: skip
    """Return a game of chess or of an ending as PGN, between two *players*, after *count* plies without progress.

    A *finished* game that has not ended on the board is a draw, by the fifty-move rule or by repetition. With
    *resigned*, the player to move after the moves has resigned.
    """
    *board, clock, _ = game.write(position).split()
    count = max(count, int(clock))  # endings do not store it
    start, white_begins = f"{' '.join(board)} {count} 1", is_white(game, position)
    white, black = players if white_begins else reversed(players)
    words = [] if white_begins or not moves else ["1..."]
    number = 1
    for move in moves:
        if is_white(game, position):
            words.append(f"{number}.")
        else:
            number += 1
        words.append(game.move_name(position, move))
        count = count_after(game, position, move, count)
        position = game.do_move(position, move)
    if resigned:
        words.append(f"{{{'White' if is_white(game, position) else 'Black'} resigns}}")
    elif finished and count >= PATIENCE and game.primitive(position) == UNDECIDED:
        words.append("{draw by the fifty-move rule}")
    result = result_of(game, position, resigned) if finished or resigned else "*"
    material = getattr(game, "material", "")
    tags = {
        "Event": f"Chess endgame {material}" if material else "Chess",
        "Site": "?",
        "Date": f"{date.today():%Y.%m.%d}",
        "Round": "-",
        "White": white,
        "Black": black,
        "Result": result,
        **({} if start == STARTING_POSITION else {"SetUp": "1", "FEN": start}),
    }
    head = "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
    return f"{head}\n\n{textwrap.fill(' '.join([*words, result]), WIDTH, break_on_hyphens=False)}\n"


def is_white(game: Any, position: int) -> bool:
    """Return whether White is to move."""
    return bool(game.draw_turn(position) == "K")


def result_of(game: Any, position: int, resigned: bool = False) -> str:
    """Return the result of a game that ends in a position. *resigned*: the player to move there has given up."""
    if not resigned and game.primitive(position) != LOSE:
        return "1/2-1/2"
    return "0-1" if is_white(game, position) else "1-0"
