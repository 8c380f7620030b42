"""The metric dtz, distance to zeroing: by a rule that makes a draw of so many plies without progress.

Values are those without the rule. How far a win or a loss is tells in how many plies the next move that is progress, or
mate, comes: by who wins as soon as can be, by who loses as late. Such a move that wins or loses only against the rule
counts as if *PATIENCE* plies had gone by before. So what takes more plies than that is a draw by the rule, a *cursed*
win or a *blessed* loss, and all that takes no more is one in fact.

    to win      by a zeroing move to what is lost     1        by one to what is lost in more than 100     101
                by another one to what is lost in n   n + 1
    to lose     all moves win for the other: the greatest of the same
"""

from retrograde.games.game import LOSE, WIN, Value

DTZ = "dtz"
PATIENCE = 100
"""Plies without progress after which a game is a draw: fifty moves of each side."""


def after_zeroing(plies: int) -> int:
    """Return what the plies of a win or a loss count for who comes there by a zeroing move.

    >>> after_zeroing(100), after_zeroing(101)
    (0, 100)
    """
    return PATIENCE if plies > PATIENCE else 0


def signed(value: Value, plies: int | None) -> int:
    """Return a distance to zeroing as it is usual to write it: below 0 for who loses, 0 for a draw.

    >>> signed(WIN, 5), signed(LOSE, 116)
    (5, -116)
    """
    return {WIN: 1, LOSE: -1}.get(value, 0) * (plies or 0)


def category(value: Value, plies: int | None, counter: int = 0) -> str:
    """Return what a position is worth by the rule after so many plies without progress, as tablebases call it.

    >>> category(WIN, 100), category(WIN, 101), category(LOSE, 60, 41)
    ('win', 'cursed-win', 'blessed-loss')
    """
    if value not in (WIN, LOSE):
        return "draw"
    late = (plies or 0) + counter > PATIENCE
    return {WIN: ("win", "cursed-win"), LOSE: ("loss", "blessed-loss")}[value][late]


def in_words(plies: int) -> str:
    """Return how far zeroing is.

    >>> in_words(5), in_words(116)
    ('zeroing in 5', 'against the fifty-move rule, zeroing in 116')
    """
    return f"{'against the fifty-move rule, ' * (plies > PATIENCE)}zeroing in {plies}"
