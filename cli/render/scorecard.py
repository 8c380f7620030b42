"""The scorecard after a game: the value of each move, and better moves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from retrograde.cli.render.moves import ahead, number_of
from retrograde.cli.render.words import NOUNS, coloured, heading, indent, table
from retrograde.games import LOSE, Game

if TYPE_CHECKING:
    from retrograde.solver.play.match import Review
    from retrograde.solver.play.oracle import Oracle

MOST_BETTER = 3
"""How many better moves are named."""


def scorecard(
    oracle: "Oracle", positions: Sequence[int], moves: Sequence[int], plies: Sequence[int], counts: Sequence[int]
) -> str:  # fmt: skip
    """Return a summary of the moves played at some plies (from 0), and a table of them.

    *counts* are the plies without progress before each, if they count.
    """
    from retrograde.solver.play.oracles.fifty_moves import judge_moves_by_rule

    game, reviews = oracle.game, judge_moves_by_rule(oracle, positions, moves, plies, counts)
    rows = [
        (number_of(game, positions[0], ply), one.played.name, verdict(game, one))
        for ply, one in zip(plies, reviews, strict=True)
    ]
    perfect, thrown = (sum(one.verdict == name for one in reviews) for name in ("best", "mistake"))
    of = f"of {len(rows)} {'move' if len(rows) == 1 else 'moves'}"
    unknown = sum(one.verdict == "unknown" for one in reviews)
    rest = f", of {unknown} it is not known" if unknown else ""
    head = f"Your moves: {perfect} {of} perfect, {thrown} threw something away{rest}"
    return f"{heading(head)}\n{indent(table(rows, '><<'))}"


def verdict(game: Game, review: "Review") -> str:
    """Return in words what a move was worth."""
    played, best = review.played, review.best
    now, could = played.brings, best.brings
    far = ahead(game, played)
    if review.verdict == "unknown":
        return f"brought a {NOUNS[now]}; whether there was more is not known" if now in NOUNS else "not known"
    if review.verdict == "best":
        if could == LOSE:
            return f"{coloured(LOSE, 'the best of a lost game')}, {far}"
        return f"kept the {coloured(could)}, {far}".removesuffix(", ")
    better = f"better {', '.join(review.better[:MOST_BETTER])}{', …' if len(review.better) > MOST_BETTER else ''}"
    if review.verdict == "slower":
        how = {"win": "won, but slower", "lose": "lost sooner", "tie": "tied, but later"}[NOUNS[now]]
        return f"{coloured(now, how)}: {far} rather than {ahead(game, best)}; {better}"
    outcome = " ".join(filter(None, [coloured(now, NOUNS[now]), far]))
    return f"threw the {NOUNS[could]} away: {outcome}; {better}"
