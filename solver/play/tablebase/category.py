"""What a position of chess is worth by the fifty-move rule, in the words of tablebases.

Where its ending is solved by dtz, that says it. Else all that is known is how far mate is, without the rule. By the
counter of plies without progress and that distance a win may be sure: mate comes before the counter is full. It is a
`cursed-win` where the counter will be full first, and nothing may set it back: the loser is bare, and the winner's men
can win only all together. Else it is a `maybe-win`. Losses are alike.
"""

from typing import Literal

from retrograde.games.chess.fen import pieces, white_to_move
from retrograde.games.contract.game import DRAW, LOSE, UNDECIDED, WIN, Value
from retrograde.games.contract.zeroing import PATIENCE, signed
from retrograde.games.contract.zeroing import category as by_zeroing
from retrograde.solver.play.solution import Solution

Category = Literal["loss", "unknown", "maybe-loss", "blessed-loss", "draw", "cursed-win", "maybe-win", "win"]
NEGATED: dict[Category, Category] = {
    "loss": "win", "unknown": "unknown", "maybe-loss": "maybe-win", "blessed-loss": "cursed-win", "draw": "draw",
    "cursed-win": "blessed-loss", "maybe-win": "maybe-loss", "win": "loss",
}  # fmt: skip
"""What is told of a side, told of the other; for the side that moves, from the best to the worst."""
ORDER = list(NEGATED)


def dtz_of(position: int, value: Value, solution: Solution | None) -> int | None:
    """Return the distance to zeroing of a position; None where it is not known."""
    if not (found := solution and solution.by_zeroing(position)):
        return None
    return signed(*found) or (-1 if value == LOSE else 0)


def dtc_of(position: int, solution: Solution | None) -> int | None:
    """Return the distance to conversion of a position; None where it is not known, and of one that is mate."""
    if not (found := solution and solution.by_conversion(position)):
        return None
    return signed(*found) or (None if found.value == LOSE else 0)


def category(position: int, value: Value, plies: int, counter: int, dtz: int | None) -> Category:
    """Return what a position is worth by the fifty-move rule: by its distance to zeroing, if that is known, or as far
    as *plies* to mate tell."""
    if dtz is not None:
        return by_zeroing(value, abs(dtz) if plies else 0, counter)
    if value in (DRAW, UNDECIDED):
        return "draw" if value == DRAW else "unknown"
    if plies + counter <= PATIENCE:
        told: Category = "win"
    elif counter >= PATIENCE or (plies and wins_all_together(position, value)):
        told = "cursed-win"
    else:
        told = "maybe-win"
    return told if value == WIN else NEGATED[told]


def wins_all_together(position: int, value: Value) -> bool:
    """Tell whether nothing sets the counter back: the loser is bare, and fewer men than the winner's could not win.

    They are a queen, a rook, two bishops, or a bishop and a knight.
    """
    white_wins = white_to_move(position) == (value == WIN)
    sides: tuple[list[str], list[str]] = ([], [])
    for letter in pieces(position).values():
        if letter not in "Kk":
            sides[letter.isupper() == white_wins].append(letter.upper())
    loser, winner = sides
    return not loser and (winner in (["Q"], ["R"]) or (len(winner) == 2 and set(winner) <= {"B", "N"}))
