"""The result of a chess position under the fifty-move rule, in the words of tablebases.

If the ending is solved by dtz, that gives the result. Else only the distance to mate is known, which ignores the rule.
Then the result follows from that distance and the counter of plies without progress:

    win          mate comes before the counter is full
    cursed-win   the counter is full first, and nothing can reset it: the loser has a bare king, and the winner
                 cannot win with fewer men
    maybe-win    neither is known

Losses are alike.
"""

from typing import Literal

from retrograde.games.chess.fen import pieces, white_to_move
from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN, Value
from retrograde.games.contract.zeroing import PATIENCE, signed_distance
from retrograde.games.contract.zeroing import category as by_zeroing
from retrograde.solver.play.solution import Solution

Category = Literal["loss", "unknown", "maybe-loss", "blessed-loss", "draw", "cursed-win", "maybe-win", "win"]
NEGATED: dict[Category, Category] = {
    "loss": "win", "unknown": "unknown", "maybe-loss": "maybe-win", "blessed-loss": "cursed-win", "draw": "draw",
    "cursed-win": "blessed-loss", "maybe-win": "maybe-loss", "win": "loss",
}  # fmt: skip
"""The result for the other side. Its order is that of results for the side that moves, from best to worst."""
ORDER = list(NEGATED)


def dtz_of(position: int, value: Value, solution: Solution | None) -> int | None:
    """Return the distance to zeroing of a position, 0 for a draw and -1 if mated; None if it is not known."""
    if not (found := solution and solution.by_zeroing(position)):
        return None
    return signed_distance(*found) or (-1 if value == LOSE else 0)


def dtc_of(position: int, solution: Solution | None) -> int | None:
    """Return the distance to conversion of a position; None if it is not known, or the position is mate."""
    if not (found := solution and solution.by_conversion(position)):
        return None
    return signed_distance(*found) or (None if found.value == LOSE else 0)


def category(position: int, value: Value, plies: int, counter: int, dtz: int | None) -> Category:
    """Return the result of a position under the fifty-move rule, by *dtz* if known, else by the *plies* to mate.

    *counter* is the number of plies without progress before the position.
    """
    if dtz is not None:
        return by_zeroing(value, abs(dtz) if plies else 0, counter)
    if value in (DRAW, UNDECIDED):
        return "draw" if value == DRAW else "unknown"
    # Case: the mate comes before the rule makes a draw.
    if plies + counter <= PATIENCE:
        category_by_mate: Category = "win"
    # Case: the rule has made a draw already, or there will be no capture and no pawn move that delays it.
    elif counter >= PATIENCE or (plies and needs_every_man(position, value)):
        category_by_mate = "cursed-win"
    # Case: a capture or a pawn move may come in time.
    else:
        category_by_mate = "maybe-win"
    return category_by_mate if value == WIN else NEGATED[category_by_mate]


def needs_every_man(position: int, value: Value) -> bool:
    """Return whether the loser has a bare king, and the winner a queen, a rook, or two bishops or knights. Then no
    capture can reset the counter without giving up the win. *value* is WIN or LOSE."""
    white_wins = white_to_move(position) == (value == WIN)
    loser: list[str] = []
    winner: list[str] = []
    for letter in pieces(position).values():
        if letter not in "Kk":
            is_winners = letter.isupper() == white_wins
            (winner if is_winners else loser).append(letter.upper())
    return not loser and (winner in (["Q"], ["R"]) or (len(winner) == 2 and set(winner) <= {"B", "N"}))
