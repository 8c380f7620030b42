"""Distances to zeroing, for people and JSON: the value of a position under the fifty-move rule."""

from typing import TYPE_CHECKING, Any

from retrograde.cli.render.words import coloured, plies
from retrograde.games import DRAW, WIN, Value
from retrograde.games.contract.zeroing import DTZ, by_rule, category, signed

if TYPE_CHECKING:
    from retrograde.solver.play.solution import Solution


def zeroing_facts(solution: "Solution", position: int, count: int = 0) -> dict[str, Any]:
    """Return a position's distance to zeroing and its category after *count* plies without progress, ready for JSON.

    {} if they are not known.
    """
    found = solution.by_zeroing(position)
    return {DTZ: signed(*found), "category": category(*found, count)} if found else {}


def by_the_rule(value: Value, far: int, count: int = 0) -> str:
    """Return the value of a win or loss under the fifty-move rule, and the distance to zeroing.

    *count* is the number of plies without progress before.

    >>> import click
    >>> from retrograde.games import LOSE
    >>> [click.unstyle(by_the_rule(LOSE, *far)) for far in ((1,), (116,), (32, 90))]
    ['a loss, zeroing in 1 ply', 'a draw, zeroing in 116 plies', 'a draw, zeroing in 32 plies after 90']
    """
    worth = by_rule(value, far, count)
    noun = "a draw" if worth == DRAW else "a win" if worth == WIN else "a loss"
    return coloured(worth, f"{noun}, zeroing in {plies(far)}{f' after {count}' if count else ''}")
