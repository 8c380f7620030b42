"""Prints what metrics other than remoteness say: of the start, and how many positions have each measure."""

from typing import Any

import click

from retrograde.cli.render.expected import within
from retrograde.cli.render.words import coloured, heading, indent, plies, table
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Value
from retrograde.solver.values.measures import draw_text

Facts = dict[str, Any]

COLUMNS = {"score": "score", "nimber": "nimber", "drawlevel": "draws", "utilities": "what each player gets"}
"""Names of the measures that are counted, by metric. Expected payoffs have too many different values."""
NAMES = {"drawlevel": "As a draw"}
"""Headings of metrics, where they differ from the metric's name."""
MOST_ROWS = 40


def said(metric: str, facts: Facts) -> str:
    """Return what a metric says of a position or a count, in words.

    >>> said("nimber", {"nimber": None, "infinite": [0, 2]}), said("utilities", {"utilities": [1, 0.5]})
    ('∞(0, 2)', '1 : 0.5')
    """
    if metric == "score":
        return f"{facts['score']:+}" if facts["score"] else "0"
    if metric == "nimber":
        numbers = ", ".join(map(str, facts.get("infinite", [])))
        return f"*{facts['nimber']}" if facts["nimber"] is not None else f"∞({numbers})" if numbers else "∞"
    if metric == "drawlevel":
        level, far = (-1 if facts[name] is None else facts[name] for name in ("drawlevel", "drawremoteness"))
        return draw_text(Value[facts["draw"].upper()] if facts["draw"] else UNDECIDED, level, far) or "no draw"
    if metric == "utilities":
        return " : ".join(f"{paid:g}" for paid in facts["utilities"])
    return within(facts)


def shared(value: Value, remoteness: int | None, player: str = "the first player", ties: str = "") -> str:
    """Return what a player of several gets, `the first player gets the most in 5 plies`; with paranoid *ties*, can
    force."""
    gets = "can force" if ties == "paranoid" else "gets"
    what = {
        WIN: f"{player} {gets} the most",
        LOSE: f"another {gets} more than {player}",
        TIE: f"nobody {gets} more than {player}",
    }
    return coloured(value, what[value] + (f" in {plies(remoteness)}" if remoteness else ": the game is over"))


def print_start_measure(facts: Facts) -> None:
    """Print what the metric says of the start; nothing for remoteness, or if there is no start."""
    metric, start = facts["metric"], facts["start"]
    if against := facts.get("against"):
        click.echo(f"{heading('A best response')} to {against} expects")
        rows = [("moving first", within(start)), ("moving second", within(start["waiting"]))] if start else []
        click.echo(indent(table(rows, "<<")))
    elif metric != "remoteness" and start:
        ties = f" (of moves as good: {facts['ties']})" if "ties" in facts else ""
        ties = " (what each can force)" if facts.get("ties") == "paranoid" else ties
        click.echo(f"{heading(NAMES.get(metric, metric.capitalize()))}: {said(metric, start)}{ties}")


def print_measures(facts: Facts) -> None:
    """Print how many positions have each measure, if there are not too many different ones."""
    rows = facts.get("by_measure", [])
    if not 0 < len(rows) <= MOST_ROWS or facts["metric"] not in COLUMNS:
        return
    head = heading(COLUMNS[facts["metric"]]), heading("positions")
    lines = [(said(facts["metric"], row), f"{row['count']:,}") for row in rows]
    click.echo(f"{indent(table([head, *lines], '>>', gap='   '))}\n")
