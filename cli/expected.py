"""Expected payoffs where people ask: of a position, of its moves, and of what the dice may bring."""

from collections.abc import Sequence
from decimal import ROUND_UP, Context
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.words import heading, indent, table
from retrograde.games.game import CHANCE, UNDECIDED, Game

if TYPE_CHECKING:
    from retrograde.solver.play.choice import Choice
    from retrograde.solver.play.solution import Solution

EXPECTATION = "expectation"


def within(facts: dict[str, Any]) -> str:
    """Return an expectation and how far from it the proven bounds are, at most.

    >>> within({"expectation": 2.5, "low": 2.5, "high": 2.5}), within({"expectation": 0.25, "low": 0, "high": 0.5})
    ('2.5', '0.25 ± 0.3')
    """
    error = (facts["high"] - facts["low"]) / 2
    rounded_up = float(Context(prec=1, rounding=ROUND_UP).create_decimal(error))
    return f"{facts['expectation']:.12g}" + (f" ± {rounded_up:g}" if error else "")


def is_chances(game: Game, position: int) -> bool:
    """Tell whether dice or cards decide what comes next."""
    return bool(game.primitive(position) == UNDECIDED and game.turn(position) == CHANCE)


def odds_of(game: Game, position: int) -> dict[int, int]:
    """Return the weight of each move of chance; none where it is a player's turn."""
    if not is_chances(game, position):
        return {}
    return {move: game.odds(position, move) for move in game.generate_moves(position)}


def print_expectation(solution: "Solution", position: int, choices: "Sequence[Choice]") -> None:
    """Print what a position is worth and to whom, and what each move, or each throw, makes of it."""
    game = solution.game
    if game.primitive(position) != UNDECIDED:
        click.echo(f"\n{game.ending(position) or 'the game is over'}")
    chance = is_chances(game, position)
    whose = "" if game.players == 1 else ", for player 0" if chance else ", for the player to move"
    click.echo(f"{heading('Expectation')}: {within(solution.worth(position))}{whose}")
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
