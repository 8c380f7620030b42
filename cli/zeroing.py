"""Distances to zeroing, for people and for JSON: what a position is worth by the fifty-move rule."""

from typing import TYPE_CHECKING, Any

from retrograde.cli.words import coloured, plies
from retrograde.games import DRAW, WIN, Value
from retrograde.games.zeroing import DTZ, PATIENCE, category, signed

if TYPE_CHECKING:
    from retrograde.solver.play.solution import Solution


def zeroing_facts(solution: "Solution", position: int) -> dict[str, Any]:
    """Return the distance to zeroing of a position and its category, ready for JSON; nothing where it is not known."""
    found = solution.by_zeroing(position)
    return {DTZ: signed(*found), "category": category(*found)} if found else {}


def count_in(fen: str) -> int:
    """Return how many plies have gone by without progress, as FEN says it; 0 where it says nothing.

    >>> count_in("8/8/8/8/8/2k5/1R6/K7 b - - 70 80"), count_in("8/8/8/8/8/2k5/1R6/K7_b")
    (70, 0)
    """
    fields = fen.replace("_", " ").split()
    return int(fields[4][:6]) if len(fields) > 4 and fields[4].isdecimal() else 0


def by_the_rule(value: Value, far: int) -> str:
    """Return what a win or a loss is worth by the fifty-move rule, and how far zeroing is.

    >>> import click
    >>> from retrograde.games import LOSE
    >>> [click.unstyle(by_the_rule(LOSE, far)) for far in (1, 116)]
    ['a loss, zeroing in 1 ply', 'a draw, zeroing in 116 plies']
    """
    worth = DRAW if far > PATIENCE else value
    noun = "a draw" if worth == DRAW else "a win" if worth == WIN else "a loss"
    return coloured(worth, f"{noun}, zeroing in {plies(far)}")
