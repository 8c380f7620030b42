"""After a game: what each move was worth, and what would have been better."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from retrograde.cli.words import NOUNS, coloured, heading, indent, table
from retrograde.games import FLIPPED, LOSE

if TYPE_CHECKING:
    from retrograde.solver.play.choice import Choice
    from retrograde.solver.play.match import Mark
    from retrograde.solver.play.solution import Solution

MOST_BETTER = 3
"""Better moves that are named."""


def scorecard(solution: "Solution", positions: Sequence[int], moves: Sequence[int], plies: Sequence[int]) -> str:
    """Return a table of the moves played at some plies, counted from 0, and a line that sums them up."""
    from retrograde.solver.play.match import marked

    marks = marked(solution, positions, moves, plies)
    rows = [(f"{mark.ply + 1}.", mark.judgement.played.name, verdict(mark)) for mark in marks]
    perfect, thrown = (sum(mark.verdict == one for mark in marks) for one in ("best", "mistake"))
    of = f"of {len(rows)} {'move' if len(rows) == 1 else 'moves'}"
    head = f"Your moves: {perfect} {of} perfect, {thrown} threw something away"
    return f"{heading(head)}\n{indent(table(rows, '><<'))}"


def verdict(mark: "Mark") -> str:
    """Return what a move was worth in words."""
    played, best = mark.judgement.played, mark.judgement.best
    now, could = FLIPPED[played.value], FLIPPED[best[0].value]
    if mark.verdict == "best":
        if could == LOSE:
            return f"{coloured(LOSE, 'the best of a lost game')}, {ahead(played)}"
        return f"kept the {coloured(could)}, {ahead(played)}".removesuffix(", ")
    better = f"better {', '.join(mark.better[:MOST_BETTER])}{', …' if len(mark.better) > MOST_BETTER else ''}"
    if mark.verdict == "slower":
        how = {"win": "won, but slower", "lose": "lost sooner", "tie": "tied, but later"}[NOUNS[now]]
        return f"{coloured(now, how)}: {ahead(played)} rather than {ahead(best[0])}; {better}"
    return f"threw the {NOUNS[could]} away: {coloured(now, NOUNS[now])} {ahead(played)}; {better}".replace(" ;", ";")


def ahead(choice: "Choice") -> str:
    """Return how far the end is after a move, for who made it; nothing for a draw."""
    return "" if choice.remoteness is None else f"in {choice.remoteness + 1}"
