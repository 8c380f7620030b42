"""The metrics dtz and dtc: in how many plies the next move comes that is progress, or mate.

Values are what they are without these. How far a win or a loss is tells in how many plies the next such move comes: by
who wins as soon as can be, by who loses as late.

dtz is the distance to zeroing, by a rule that makes a draw of so many plies without progress. Such a move that wins or
loses only against the rule counts as if *PATIENCE* plies had gone by before. So what takes more plies than that is a
draw by the rule, a *cursed* win or a *blessed* loss, and all that takes no more is one in fact.

    to win      by a zeroing move to what is lost     1        by one to what is lost in more than 100     101
                by another one to what is lost in n   n + 1
    to lose     all moves win for the other: the greatest of the same

dtc is the distance to conversion, with no such rule: progress is what leads to another tier, as captures and promotions
lead to another ending of chess. It counts 1 whatever comes after, and moves of pawns are moves like others.
"""

from collections.abc import Iterable
from typing import Literal

from retrograde.games.contract.game import DRAW, LOSE, WIN, Game, Value, defines

DTZ, DTC = "dtz", "dtc"
TO_PROGRESS = DTZ, DTC
"""The metrics whose plies are those to the next move that is progress."""
Decided = Literal["loss", "blessed-loss", "draw", "cursed-win", "win"]
"""What a position is worth by a rule that makes draws, as tablebases call it."""
PATIENCE = 100
"""Plies without progress after which a game is a draw: fifty moves of each side."""


# The count of plies without progress


def count_after(game: Game, position: int, move: int, count: int) -> int:
    """Return how many plies have gone by without progress once a move is made; in games in which nothing is progress
    all of them count."""
    return 0 if defines(game, "zeroes") and game.zeroes(position, move) else count + 1


def counts_along(game: Game, positions: Iterable[int], moves: Iterable[int], first: int) -> list[int]:
    """Return after how many plies without progress each of some positions comes, the *first* of which after so many,
    and the one that the last move leads to."""
    counts = [first]
    for position, move in zip(positions, moves, strict=False):
        counts.append(count_after(game, position, move, counts[-1]))
    return counts


# Distances and values


def after_zeroing(plies: int) -> int:
    """Return what the plies of a win or a loss count for who comes there by a zeroing move.

    >>> after_zeroing(100), after_zeroing(101)
    (0, 100)
    """
    return PATIENCE if plies > PATIENCE else 0


def counted(game: Game, metric: str, position: int, move: int, child: int, plies: int) -> int:
    """Return what the plies of a win or a loss count, by a metric of these, for who comes there by a move."""
    if metric == DTZ:
        return after_zeroing(plies) if game.zeroes(position, move) else plies
    return 0 if game.tier(child) != game.tier(position) else plies


def signed(value: Value, plies: int | None) -> int:
    """Return a distance to progress as it is usual to write it: below 0 for who loses, 0 for a draw.

    >>> signed(WIN, 5), signed(LOSE, 116)
    (5, -116)
    """
    return {WIN: 1, LOSE: -1}.get(value, 0) * (plies or 0)


def by_rule(value: Value, plies: int | None, count: int = 0) -> Value:
    """Return what a position is worth by the rule after so many plies without progress.

    >>> [by_rule(WIN, plies, 60).name for plies in (40, 41)]
    ['WIN', 'DRAW']
    """
    return DRAW if value in (WIN, LOSE) and (plies or 0) + count > PATIENCE else value


def category(value: Value, plies: int | None, counter: int = 0) -> Decided:
    """Return what a position is worth by the rule after so many plies without progress, as tablebases call it.

    >>> category(WIN, 100), category(WIN, 101), category(LOSE, 60, 41)
    ('win', 'cursed-win', 'blessed-loss')
    """
    if value not in (WIN, LOSE):
        return "draw"
    late = by_rule(value, plies, counter) != value
    if value == WIN:
        return "cursed-win" if late else "win"
    return "blessed-loss" if late else "loss"


def in_words(plies: int, metric: str = DTZ) -> str:
    """Return how far progress is.

    >>> in_words(5), in_words(116), in_words(116, DTC)
    ('zeroing in 5', 'against the fifty-move rule, zeroing in 116', 'converting in 116')
    """
    if metric == DTC:
        return f"converting in {plies}"
    return f"{'against the fifty-move rule, ' * (plies > PATIENCE)}zeroing in {plies}"
