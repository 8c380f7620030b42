"""Chooses a move by looking two plies ahead and counting material.

For boards that no database and no search can answer yet. It works on any legal board, needs no compiled code, and takes
some milliseconds.
"""

from collections.abc import Iterator
from typing import NamedTuple

from retrograde.cli.uci.clock import Clock
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.chess.squares import square_of

CENTIPAWNS = {"P": 100, "N": 300, "B": 300, "R": 500, "Q": 900, "K": 0}
MATE = 100_000
"""The score of mate: more than all men on a board."""
LEAST_SECONDS = 0.03
"""Seconds for the look even if the clock leaves less."""


class TwoPlyResult(NamedTuple):
    """What two plies show of a move, for the player who makes it; the greater, the better."""

    centipawns: int
    negated_replies: int
    """Minus the number of replies, illegal ones included: with equal material, fewer replies are better."""
    line: tuple[str, ...]

    @property
    def score(self) -> str:
        """The score as UCI writes it."""
        return "mate 1" if self.centipawns == MATE else f"cp {self.centipawns}"


def best_by_two_plies(board: AnyBoard, moves: list[str], clock: Clock) -> TwoPlyResult:
    """Return the best of some legal moves; see `ranked_by_two_plies`."""
    return ranked_by_two_plies(board, moves, clock)[0]


def ranked_by_two_plies(board: AnyBoard, moves: list[str], clock: Clock) -> list[TwoPlyResult]:
    """Return some legal moves, as many as time allows, the best first, by material after two plies. Captures are looked
    at first."""
    clock = clock.within(max(LEAST_SECONDS, clock.left or 0.0)) if clock.seconds is not None else clock
    results: list[TwoPlyResult] = []
    for move in sorted(moves, key=lambda move: -gain(board, move)):
        results.append(result_of(board, move))
        if clock.is_over:
            break
    return sorted(results, key=lambda result: result[:2], reverse=True)  # of equal ones, the first stays first


def result_of(board: AnyBoard, move: str) -> TwoPlyResult:
    """Return what a move and the reply that wins most material lead to."""
    child = board.after(move)
    replies = sorted(child.candidates(), key=lambda reply: -gain(child, reply))
    best = next(legal(child, replies), None)  # the legal reply that wins most
    if best is None:
        return TwoPlyResult(MATE if child.in_check(child.white_to_move) else 0, 0, (move,))
    return TwoPlyResult(-material(child) - gain(child, best), -len(replies), (move, best))


def legal(board: AnyBoard, moves: list[str]) -> Iterator[str]:
    """Yield the moves that leave the player's own king safe."""
    return (move for move in moves if not board.after(move).in_check(board.white_to_move))


def gain(board: AnyBoard, move: str) -> int:
    """Return the centipawns of what a move captures and promotes to.

    >>> gain(AnyBoard.from_fen("3r3k/2P5/8/8/8/8/8/K7 w - - 0 1"), "c7d8q")
    1300
    """
    captured = board.men[square_of(move[2:4])].upper()
    by_pawn = board.men[square_of(move[:2])] in "Pp" and move[0] != move[2]
    won = CENTIPAWNS["P"] if by_pawn and captured == "." else CENTIPAWNS.get(captured, 0)
    return won + (CENTIPAWNS[move[4].upper()] - CENTIPAWNS["P"] if len(move) > 4 else 0)


def material(board: AnyBoard) -> int:
    """Return the centipawns by which the player to move is ahead."""
    counted = ((CENTIPAWNS[man.upper()], man.isupper()) for man in board.men if man != ".")
    return sum(worth if white == board.white_to_move else -worth for worth, white in counted)
