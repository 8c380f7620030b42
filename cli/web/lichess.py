"""Lichess' tablebase API for standard chess: `/standard?fen=…`, field for field; what is not known here is null.

As there, `dtm` is positive for the side that wins and 0 for a draw; of a position that is mate it is null. Moves are
the best first, and what is told of a move is told from the side that answers it.
"""

from typing import Any, Literal

from pydantic import BaseModel

from retrograde.cli.uci.engine import ending_on
from retrograde.cli.web.library import Library
from retrograde.games.chess import Chess, men
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.chess.board import code_on
from retrograde.games.chess.men import NOBODY, PAWN
from retrograde.games.chess.san import kind_of, san, uci
from retrograde.games.game import DRAW, LOSE, UNDECIDED, WIN, PositionError, Value
from retrograde.solver.play.solution import Solution

Category = Literal["win", "draw", "loss", "unknown"]


class About(BaseModel):
    """What is known of a position."""

    category: Category
    dtz: None = None
    precise_dtz: None = None
    dtw: None = None
    dtc: None = None
    dtm: int | None
    checkmate: bool
    stalemate: bool
    variant_win: bool = False
    variant_loss: bool = False
    insufficient_material: bool


class MoveAnswer(About):
    """A move, and what is known of the position after it."""

    uci: str
    san: str
    zeroing: bool


class Answer(About):
    """A position and its moves."""

    moves: list[MoveAnswer]


def standard(library: Library, fen: str) -> Answer:
    """Return what is known of a position.

    Raises PositionError where it is none, and RetrogradeError where it has more men than any ending of ours, or where
    no database can be read that should have it.
    """
    try:
        board = AnyBoard.from_fen(fen.replace("_", " "))
        game = Chess(ending_on(board))
        position = game.read(board.fen())
    except ValueError as error:
        raise PositionError(str(error)) from error
    tier = men.tier_of(game.material)
    unread: Exception | None = None
    for facts in library.of_game(Chess.name):
        if tier in facts.tiers:
            try:
                solution = library.open(facts)
                if position in solution.database:
                    return answer(game, position, solution)
            except Exception as error:  # another database may have the ending as well
                unread = error
    if unread:
        raise unread
    return answer(game, position, None)


def answer(game: Chess, position: int, solution: Solution | None) -> Answer:
    """Return what a solution knows of a position, or without one, what the rules say."""
    if solution:
        moves = [(choice.move, choice.position) for choice in solution.moves(position)]
    elif game.primitive(position) == UNDECIDED:
        moves = [(move, game.do_move(position, move)) for move in game.generate_moves(position)]
    else:
        moves = []
    answers = [
        MoveAnswer(
            uci=uci(position, move), san=san(game, position, move), zeroing=is_zeroing(position, move),
            **about(game, child, solution),
        )
        for move, child in moves
    ]  # fmt: skip
    return Answer(**about(game, position, solution), moves=answers)


def about(game: Any, position: int, solution: Solution | None) -> dict[str, Any]:
    """Return what is known of a position."""
    over = game.primitive(position)
    dead = bool(game.is_dead(position))
    value: Value = over
    remoteness: int | None = 0
    if over == UNDECIDED and solution:
        value, remoteness = solution.value(position)
    category = {LOSE: "loss", DRAW: "draw", WIN: "win", UNDECIDED: "unknown"}[value]
    dtm = {LOSE: -(remoteness or 0) or None, WIN: remoteness, DRAW: 0, UNDECIDED: None}[value]
    return {
        "category": category,
        "dtm": dtm,
        "checkmate": over == LOSE,
        "stalemate": over == DRAW and not dead,
        "insufficient_material": dead,
    }


def is_zeroing(position: int, move: int) -> bool:
    """Tell whether a move captures or is a pawn's."""
    return kind_of(position, move) == PAWN or code_on(position, move >> 6 & 63) != NOBODY
