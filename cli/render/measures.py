"""Prints what metrics other than remoteness say: of a position, of the start, and how often each measure occurs."""

from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.render.expected import within
from retrograde.cli.render.words import coloured, heading, indent, plies, table
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Value
from retrograde.games.contract.game import METRICS
from retrograde.games.contract.zeroing import DTZ, PROGRESS_METRICS, by_rule
from retrograde.solver.values.measures import draw_text

if TYPE_CHECKING:
    from retrograde.solver.play.answer import Answer

Facts = dict[str, Any]

COLUMNS = {"score": "score", "nimber": "nimber", "drawlevel": "draws", "utilities": "what each player gets"}
"""Names of the measures that are counted, by metric. Expected payoffs have too many different values."""
NAMES = {"drawlevel": "As a draw"}
"""Headings of metrics, where they differ from the metric's name."""
MOST_ROWS = 40


def measure_in_words(metric: str, facts: Facts) -> str:
    """Return what a metric says of a position or a count, in words.

    >>> measure_in_words("nimber", {"nimber": None, "infinite": [0, 2]})
    '∞(0, 2)'
    >>> measure_in_words("utilities", {"utilities": [1, 0.5]})
    '1 : 0.5'
    """
    if metric == "score":
        return f"{facts['score']:+}" if facts["score"] else "0"
    if metric == "nimber":
        if facts["nimber"] is not None:
            return f"*{facts['nimber']}"
        numbers = ", ".join(map(str, facts.get("infinite", [])))
        return f"∞({numbers})" if numbers else "∞"
    if metric == "drawlevel":
        level, far = (-1 if facts[name] is None else facts[name] for name in ("drawlevel", "drawremoteness"))
        return draw_text(Value[facts["draw"].upper()] if facts["draw"] else UNDECIDED, level, far) or "no draw"
    if metric == "utilities":
        return " : ".join(f"{paid:g}" for paid in facts["utilities"])
    if "low" not in facts:  # a search gives no bounds
        return f"{facts['expectation']:.12g}"
    return within(facts)


def shared_text(value: Value, remoteness: int | None, player: str = "the first player", ties: str = "") -> str:
    """Return what one of several players gets: `the first player gets the most in 5 plies`. If *ties* is "paranoid", it
    is what the player can force."""
    gets = "can force" if ties == "paranoid" else "gets"
    what = {
        WIN: f"{player} {gets} the most",
        LOSE: f"another {gets} more than {player}",
        TIE: f"nobody {gets} more than {player}",
    }
    return coloured(value, what[value] + (f" in {plies(remoteness)}" if remoteness else ": the game is over"))


def score_line(facts: dict[str, Any]) -> str:
    """Return the line with a score, as far as it is known: `Score: +8`, `Score: +2 or more`; or ""."""
    bounds = facts.get("score_at_least"), facts.get("score_at_most")
    low, high = (None if bound is None else measure_in_words("score", {"score": bound}) for bound in bounds)
    if low is None and high is None:
        return ""
    between = f"{low} or more" if high is None else f"{high} or less" if low is None else f"from {low} to {high}"
    return f"{heading('Score')}: {low if low == high else between}\n"


def fifty_move_text(value: Value, far: int, count: int = 0) -> str:
    """Return the value of a win or loss under the fifty-move rule, and the distance to zeroing, after *count* plies.

    >>> import click
    >>> from retrograde.games import LOSE
    >>> [click.unstyle(fifty_move_text(LOSE, *far)) for far in ((1,), (116,), (32, 90))]
    ['a loss, zeroing in 1 ply', 'a draw, zeroing in 116 plies', 'a draw, zeroing in 32 plies after 90']
    """
    worth = by_rule(value, far, count)
    noun = "a draw" if worth == DRAW else "a win" if worth == WIN else "a loss"
    return coloured(worth, f"{noun}, zeroing in {plies(far)}{f' after {count}' if count else ''}")


def print_measure(answer: "Answer") -> None:
    """Print what the metric says of a position. Remoteness has the result under the fifty-move rule, if known."""
    metric, dtz = answer.oracle.metric, answer.measures.get(DTZ, 0)
    if metric == METRICS[0] and dtz:
        rule = fifty_move_text(WIN if dtz > 0 else LOSE, abs(dtz), answer.count)
        click.echo(f"{heading('By the fifty-move rule')}: {rule}")
    elif metric != METRICS[0] and metric not in PROGRESS_METRICS:
        click.echo(f"{heading(NAMES.get(metric, metric.capitalize()))}: {measure_in_words(metric, answer.measures)}")


def print_start_measure(facts: Facts) -> None:
    """Print what the metric says of the start; nothing for remoteness, or if there is no start."""
    metric, start = facts["metric"], facts["start"]
    if against := facts.get("against"):
        click.echo(f"{heading('A best response')} to {against} expects")
        rows = [("moving first", within(start)), ("moving second", within(start["waiting"]))] if start else []
        click.echo(indent(table(rows, "<<")))
    elif metric != METRICS[0] and metric not in PROGRESS_METRICS and start:
        ties = f" (of equally good moves: {facts['ties']})" if "ties" in facts else ""
        ties = " (what each can force)" if facts.get("ties") == "paranoid" else ties
        click.echo(f"{heading(NAMES.get(metric, metric.capitalize()))}: {measure_in_words(metric, start)}{ties}")


def print_measures(facts: Facts) -> None:
    """Print how many positions have each measure, if there are not too many different ones."""
    rows = facts.get("by_measure", [])
    if not 0 < len(rows) <= MOST_ROWS or facts["metric"] not in COLUMNS:
        return
    head = heading(COLUMNS[facts["metric"]]), heading("positions")
    lines = [(measure_in_words(facts["metric"], row), f"{row['count']:,}") for row in rows]
    click.echo(f"{indent(table([head, *lines], '>>', gap='   '))}\n")
