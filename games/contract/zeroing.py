"""The metrics dtz and dtc: plies to the next move that makes progress, or to mate.

These metrics do not change values. For a win or a loss they give the plies to the next move of progress: the winner
plays to make it soon, the loser to make it late.

dtz is the distance to zeroing, under a rule that makes a draw of *PATIENCE* plies without progress. A zeroing move that
wins or loses only if the rule is ignored counts as if *PATIENCE* plies had passed before it. So a distance above
*PATIENCE* is a draw by the rule, a *cursed* win or a *blessed* loss. Any other distance is a real win or loss.

    to win      by a zeroing move to what is lost     1        by one to what is lost in more than 100     101
                by another one to what is lost in n   n + 1
    to lose     all moves win for the other: the greatest of the same

dtc is the distance to conversion; it has no such rule. Progress is a move into another tier, such as a capture or a
promotion, which leads to another ending of chess. It counts 1 whatever follows. Other pawn moves are not progress.
"""

from collections.abc import Iterable
from typing import Literal

from retrograde.games.contract.game import DRAW, LOSE, WIN, Game, Value, defines

DTZ, DTC = "dtz", "dtc"
PROGRESS_METRICS = DTZ, DTC
"""The metrics whose plies count to the next move of progress, not to the end."""
Decided = Literal["loss", "blessed-loss", "draw", "cursed-win", "win"]
"""The value of a position under a rule that makes draws, in the words of tablebases."""
PATIENCE = 100
"""The game is a draw after this many plies without progress: fifty moves by each side."""


# The count of plies without progress


def count_after(game: Game, position: int, move: int, count: int) -> int:
    """Return the plies without progress after a move. In games without `zeroes` every ply counts."""
    return 0 if defines(game, "zeroes") and game.zeroes(position, move) else count + 1


def counts_along(game: Game, positions: Iterable[int], moves: Iterable[int], first: int) -> list[int]:
    """Return the plies without progress at each position of a line, from *first* on, and after its last move."""
    counts = [first]
    for position, move in zip(positions, moves, strict=False):
        counts.append(count_after(game, position, move, counts[-1]))
    return counts


# Distances and values


def after_zeroing(plies: int) -> int:
    """Return what the distance of a win or loss counts before a zeroing move that leads to it.

    >>> after_zeroing(100), after_zeroing(101)
    (0, 100)
    """
    return PATIENCE if plies > PATIENCE else 0


def child_distance(game: Game, metric: str, position: int, move: int, child: int, plies: int) -> int:
    """Return the plies that a child, won or lost in *plies*, counts by this metric before the move to it is added.
    Progress resets them."""
    if metric == DTZ:
        return after_zeroing(plies) if game.zeroes(position, move) else plies
    return 0 if game.tier(child) != game.tier(position) else plies


def signed_distance(value: Value, plies: int | None) -> int:
    """Return a distance to progress with the usual sign: negative for a loss, 0 for a draw.

    >>> signed_distance(WIN, 5), signed_distance(LOSE, 116)
    (5, -116)
    """
    return {WIN: 1, LOSE: -1}.get(value, 0) * (plies or 0)


def by_rule(value: Value, plies: int | None, count: int = 0) -> Value:
    """Return the value of a position under the rule, after *count* plies without progress.

    >>> [by_rule(WIN, plies, 60).name for plies in (40, 41)]
    ['WIN', 'DRAW']
    """
    return DRAW if value in (WIN, LOSE) and (plies or 0) + count > PATIENCE else value


def category(value: Value, plies: int | None, counter: int = 0) -> Decided:
    """Return the value of a position under the rule in the words of tablebases, after *counter* plies without progress.

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
    """Return the distance to progress in words.

    >>> in_words(5), in_words(116), in_words(116, DTC)
    ('zeroing in 5', 'against the fifty-move rule, zeroing in 116', 'converting in 116')
    """
    if metric == DTC:
        return f"converting in {plies}"
    return f"{'against the fifty-move rule, ' * (plies > PATIENCE)}zeroing in {plies}"
