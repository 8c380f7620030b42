"""Prints expected payoffs: of a position, of its moves, and of what the dice may bring."""

from collections.abc import Sequence
from decimal import ROUND_UP, Context
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.render.moves import mover
from retrograde.cli.render.words import coloured, heading, indent, plies, table
from retrograde.games.contract.game import CHANCE, UNDECIDED, Game

if TYPE_CHECKING:
    from retrograde.solver.play.choice import Choice
    from retrograde.solver.play.solution import Response, Solution

EXPECTATION = "expectation"


def within(facts: dict[str, Any]) -> str:
    """Return an expectation, and the greatest distance from it to its proven bounds.

    >>> within({"expectation": 2.5, "low": 2.5, "high": 2.5}), within({"expectation": 0.25, "low": 0, "high": 0.5})
    ('2.5', '0.25 ± 0.3')
    """
    error = (facts["high"] - facts["low"]) / 2
    rounded_up = float(Context(prec=1, rounding=ROUND_UP).create_decimal(error))
    return f"{facts['expectation']:.12g}" + (f" ± {rounded_up:g}" if error else "")


def games_won(solution: "Solution", facts: dict[str, Any]) -> str:
    """Return how many games the player to move wins, `wins 61.6 % of games`; "" if the expectation does not say."""
    return f"wins {50 * (1 + facts['expectation']):.1f} % of games" if solution.pays_one else ""


def is_chances(game: Game, position: int) -> bool:
    """Return whether it is CHANCE's turn."""
    return bool(game.primitive(position) == UNDECIDED and game.turn(position) == CHANCE)


def odds_of(game: Game, position: int) -> dict[int, int]:
    """Return the weight of each chance move; {} if a player is to move."""
    if not is_chances(game, position):
        return {}
    return {move: game.odds(position, move) for move in game.generate_moves(position)}


def print_expectation(solution: "Solution", position: int, choices: "Sequence[Choice]") -> None:
    """Print the expectation of a position, and of each move or each roll of the dice."""
    from retrograde.solver.play.solution import Response

    if isinstance(solution, Response):
        print_response(solution, position, choices)
        return
    game = solution.game
    if game.primitive(position) != UNDECIDED:
        click.echo(f"\n{game.ending(position) or 'the game is over'}")
    chance = is_chances(game, position)
    whose = "" if game.players == 1 else ", for player 0" if chance else ", for the player to move"
    worth = solution.worth(position)
    if won := games_won(solution, worth):
        click.echo(f"\n{'Player 0' if chance else mover(game, position).capitalize()} {won}")
    click.echo(f"{heading('Expectation')}: {within(worth)}{whose}")
    if not choices:
        return
    odds = odds_of(game, position)
    total = sum(odds.values())
    rows = [
        (heading(choice.name), *([f"{odds[choice.move]} in {total}"] if chance else []), choice.worth)
        for choice in choices
    ]
    head = f"What may come, how often, and what each is worth{whose}:" if chance else "The moves, best first:"
    click.echo(f"\n{head}\n{indent(table(rows, '<>>' if chance else '<>', gap='  '))}")


# Against a model


def print_response(solution: "Response", position: int, choices: "Sequence[Choice]") -> None:
    """Print the expectations of a best response to a model, of perfect play, and of each move.

    Also prints how often the model makes each move.
    """
    game, worth = solution.game, solution.worth(position)
    chance = is_chances(game, position)
    if game.primitive(position) != UNDECIDED:
        click.echo(f"\n{game.ending(position) or 'the game is over'}")
    whose = ("player 0", "player 1") if chance else ("the player to move", "the other player")
    click.echo(f"\n{heading('A best response')} to {solution.against} expects")
    click.echo(indent(table([(whose[0], within(worth)), (whose[1], within(worth["waiting"]))], "<<")))
    if perfect := of_perfect_play(solution, position):
        click.echo(f"{heading('Between perfect players')}: {perfect}")
    if not choices:
        return
    weights = odds_of(game, position) or solution.weights(position)
    total = sum(weights.values())
    rows = [
        (heading(choice.name), choice.worth, *([f"{weights[choice.move]:,} in {total:,}"] if weights else []))
        for choice in choices
    ]
    of_model = f", and how often {solution.against} makes them" if weights else ""
    head = (
        "What may come, what it is worth to player 0, and how often" if chance else f"The moves, best first{of_model}"
    )
    click.echo(f"\n{head}:\n{indent(table(rows, '<>>' if weights else '<>', gap='  '))}")


def of_perfect_play(solution: "Response", position: int) -> str:
    """Return in words the value of a position between perfect players; "" if that has not been solved."""
    if solution.perfect is None or position not in solution.perfect:
        return ""
    if solution.perfect.metric == EXPECTATION:
        return within(solution.perfect.worth(position))
    value, remoteness = solution.perfect.value(position)
    return coloured(value) + (f" in {plies(remoteness)}" if remoteness else "")


def facts_of_response(solution: "Solution", position: int) -> dict[str, Any]:
    """Return the model that a best response is against, and the value of perfect play, ready for JSON; else {}."""
    from retrograde.solver.play.solution import Response

    if not isinstance(solution, Response):
        return {}
    if solution.perfect is None or position not in solution.perfect:
        return {"against": solution.against}
    value, remoteness = solution.perfect.value(position)
    worth = solution.perfect.worth(position)
    perfect = {"value": value.name.lower(), "remoteness": remoteness, **worth}
    return {"against": solution.against, "perfect": perfect}


def weights_of(solution: "Solution", position: int) -> dict[int, int]:
    """Return the weights of the model's moves, for a best response to a model; else {}."""
    from retrograde.solver.play.solution import Response

    return solution.weights(position) if isinstance(solution, Response) else {}
