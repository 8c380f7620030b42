"""`retrograde search` for scores: proves how much the player to move can win by."""

from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import print_json
from retrograde.cli.progress import COMPILING, listening, polled, search_progress
from retrograde.cli.render.known import facts, how_known, verdict
from retrograde.cli.render.measures import said
from retrograde.cli.render.moves import mover, names_of, print_line
from retrograde.cli.render.words import heading, indent

if TYPE_CHECKING:
    from retrograde.games import Game
    from retrograde.solver.play.oracle import Oracle
    from retrograde.solver.search.scores.searcher import ScoreResult


def tell_score(
    game: "Game", position: int, workers: int, size: int, seconds: float | None, value_only: bool, as_json: bool
) -> None:
    """Search for the score of a position, or with *value_only* for its sign, and print the result."""
    from retrograde.solver.play.oracle import SEARCH, How, Known
    from retrograde.solver.runtime.progress import announce
    from retrograde.solver.search.scores.searcher import ScoreSearch

    with listening(as_json) as line:
        announce(line, COMPILING)
        search = ScoreSearch(game, workers, size)
        with polled(line, search_progress(search)):
            found = search.score(position, seconds, value_only)
            moves = [] if found.score is None else search.best_line(position, found.score, seconds)
    known = Known(found.at_least, found.at_most, None, How(SEARCH, found.nodes, found.seconds))
    names = names_of(game, position, moves)
    if as_json:
        print_json(facts(game, position, known, names) | bounds(found))
        return
    said = verdict(known, mover(game, position))
    click.echo(f"{indent(game.show(position))}\n\n{said}\n{told(found)}{how_known(known)}")
    print_line(game, position, names)


def score_told(oracle: "Oracle", position: int) -> str:
    """Return the line with the score of a position, as far as an oracle knows it; "" if it does not."""
    from retrograde.solver.play.oracles.scoring import ScoringOracle

    return told(oracle.score(position)) if isinstance(oracle, ScoringOracle) else ""


def score_facts(oracle: "Oracle", position: int) -> dict[str, Any]:
    """Return the score of a position and its bounds, ready for JSON; {} if the oracle has no scores."""
    from retrograde.solver.play.oracles.scoring import ScoringOracle

    return bounds(oracle.score(position)) if isinstance(oracle, ScoringOracle) else {}


def bounds(found: "ScoreResult") -> dict[str, Any]:
    """Return the score and its bounds, each None if unknown, ready for JSON."""
    return {"score": found.score, "score_at_least": found.low, "score_at_most": found.high}


def told(found: "ScoreResult") -> str:
    """Return the line with the score, as far as it is known: `Score: +8`, `Score: +2 or more`; or ""."""
    low, high = (None if bound is None else said("score", {"score": bound}) for bound in (found.low, found.high))
    if low is None and high is None:
        return ""
    within = f"{low} or more" if high is None else f"{high} or less" if low is None else f"from {low} to {high}"
    return f"{heading('Score')}: {low if low == high else within}\n"
