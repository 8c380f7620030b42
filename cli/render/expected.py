"""Prints expected payoffs: of a position, of its moves, and of what the dice may bring."""

from decimal import ROUND_UP, Context
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.render.moves import mover
from retrograde.cli.render.words import coloured, heading, indent, plies, table
from retrograde.games import Value

if TYPE_CHECKING:
    from retrograde.solver.play.answer import Answer
    from retrograde.solver.play.oracle import Oracle
    from retrograde.solver.play.solution import Response

EXPECTATION = "expectation"


def within(facts: dict[str, Any]) -> str:
    """Return an expectation, and the greatest distance from it to its proven bounds.

    >>> within({"expectation": 2.5, "low": 2.5, "high": 2.5}), within({"expectation": 0.25, "low": 0, "high": 0.5})
    ('2.5', '0.25 ± 0.3')
    """
    error = (facts["high"] - facts["low"]) / 2
    rounded_up = float(Context(prec=1, rounding=ROUND_UP).create_decimal(error))
    return f"{facts['expectation']:.12g}" + (f" ± {rounded_up:g}" if error else "")


def games_won(solution: "Oracle", facts: dict[str, Any]) -> str:
    """Return how many games the player to move wins, `wins 61.6 % of games`; "" if the expectation does not say."""
    pays_one = getattr(solution, "pays_one", False)  # a win pays 1, a loss -1: only a database of expectations knows it
    return f"wins {50 * (1 + facts['expectation']):.1f} % of games" if pays_one else ""


def print_expectation(answer: "Answer") -> None:
    """Print the expectation of a position, and of each move or each roll of the dice."""
    from retrograde.solver.play.solution import Response

    if isinstance(answer.oracle, Response):
        print_response(answer, answer.oracle)
        return
    game, odds = answer.game, answer.odds
    if answer.is_over:
        click.echo(f"\n{game.ending(answer.position) or 'the game is over'}")
    whose = "" if game.players == 1 else ", for player 0" if odds else ", for the player to move"
    if won := games_won(answer.oracle, answer.measures):
        click.echo(f"\n{'Player 0' if odds else mover(game, answer.position).capitalize()} {won}")
    click.echo(f"{heading('Expectation')}: {within(answer.measures)}{whose}")
    if not answer.moves:
        return
    total = sum(odds.values())
    rows = [
        (heading(choice.name), *([f"{odds[choice.move]} in {total}"] if odds else []), choice.worth)
        for choice in answer.choices
    ]
    head = f"What may come, how often, and what each is worth{whose}:" if odds else "The moves, best first:"
    click.echo(f"\n{head}\n{indent(table(rows, '<>>' if odds else '<>', gap='  '))}")


# Against a model


def print_response(answer: "Answer", solution: "Response") -> None:
    """Print the expectations of a best response to a model, perfect play and each move, and the model's weights."""
    worth = answer.measures
    if answer.is_over:
        click.echo(f"\n{answer.game.ending(answer.position) or 'the game is over'}")
    whose = ("player 0", "player 1") if answer.odds else ("the player to move", "the other player")
    click.echo(f"\n{heading('A best response')} to {solution.against} expects")
    click.echo(indent(table([(whose[0], within(worth)), (whose[1], within(worth["waiting"]))], "<<")))
    if perfect := perfect_text(answer.response):
        click.echo(f"{heading('Between perfect players')}: {perfect}")
    if not answer.moves:
        return
    weights = answer.odds or answer.weights
    total = sum(weights.values())
    rows = [
        (heading(choice.name), choice.worth, *([f"{weights[choice.move]:,} in {total:,}"] if weights else []))
        for choice in answer.choices
    ]
    of_model = f", and how often {solution.against} makes them" if weights else ""
    of_chance = "What may come, what it is worth to player 0, and how often"
    head = of_chance if answer.odds else f"The moves, best first{of_model}"
    click.echo(f"\n{head}:\n{indent(table(rows, '<>>' if weights else '<>', gap='  '))}")


def perfect_text(response: dict[str, Any]) -> str:
    """Return in words the value of a position between perfect players; "" if that has not been solved."""
    if not (perfect := response.get("perfect")):
        return ""
    if EXPECTATION in perfect:
        return within(perfect)
    far = f" in {plies(perfect['remoteness'])}" if perfect["remoteness"] else ""
    return coloured(Value[perfect["value"].upper()]) + far
