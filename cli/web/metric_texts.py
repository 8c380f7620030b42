"""Texts for the page about games with metrics, dice, paid moves, or rules about long play without progress."""

from typing import Literal

from retrograde.cli.render.expected import EXPECTATION, games_won
from retrograde.cli.render.measures import Facts, measure_in_words
from retrograde.cli.render.words import NOUNS, plies
from retrograde.games.chess.fields import count_in
from retrograde.games.contract.game import LOSE, REMOTENESS, Game, Traits, Value
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.play.answer import Answer, distance_text
from retrograde.solver.play.oracle import Oracle
from retrograde.solver.play.oracles.fifty_moves import knows_fifty_move_rule

Seats = Literal["one", "two", "several"]


def seats_of(game: Game) -> Seats:
    """Return whether a game has one player, two, or several."""
    return "one" if game.players == 1 else "two" if game.players == 2 else "several"


def measure_text(answer: Answer) -> str:
    """Return the metric's text for a position, such as `+3` or `wins 61.6 % of games`; "" for remoteness, dtz and
    dtc."""
    metric = answer.oracle.metric
    if metric == REMOTENESS or metric in PROGRESS_METRICS:
        return ""
    return games_won(answer.oracle, answer.measures) or rounded_measure(metric, answer.measures)


def rounded_measure(metric: str, facts: Facts) -> str:
    """Return what a metric says of a position, in words. An expectation has four digits if its bounds agree on these.

    >>> rounded_measure("expectation", {"expectation": 2 / 3, "low": 0.66666, "high": 0.66667})
    '0.6667'
    >>> rounded_measure("expectation", {"expectation": 0.25, "low": 0, "high": 0.5})
    '0.25 ± 0.3'
    """
    if "expectation" not in facts:
        return measure_in_words(metric, facts)
    low, middle, high = (f"{facts.get(name, facts['expectation']):.4g}" for name in ("low", "expectation", "high"))
    return middle if low == high else measure_in_words(metric, facts)


def expectation_of(oracle: Oracle, position: int) -> float | None:
    """Return the expectation of the player to move, or of player 0 at chance; None if it is not known."""
    return oracle.worth(position)[EXPECTATION] if oracle.metric == EXPECTATION else None


def payoffs(game: Game, position: int, move: int | None) -> list[int]:
    """Return what a move, or the end if None, pays the player to move and the other player.

    The list has one number if there is one player, and is empty if moves pay nothing. Of several players it has one for
    each, by their numbers, also for an end of a game whose moves pay nothing: the payoffs say who has won.
    """
    several = game.players > 2
    if not Traits.of(game).has_rewards and not (several and move is None):
        return []
    mover = max(0, game.turn(position))
    seats = range(game.players) if game.players != 2 else [mover, 1 - mover]
    return [game.payoff(position, seat) if move is None else game.reward(position, move, seat) for seat in seats]


# The fifty-move rule


def count_at(oracle: Oracle, text: str | None, count: int | None) -> int | None:
    """Return the plies without progress at a position: *count*, or without it the counter in a FEN, *text*. Return None
    if the rule does not apply."""
    if not knows_fifty_move_rule(oracle):
        return None
    return count_in(text or "") if count is None else count


def without_rule(oracle: Oracle, position: int, value: Value) -> str:
    """Return the value of a position without the rule, such as `win in 131 plies`; "" if it is the same."""
    plain = oracle.probe(position, 0)
    if plain.value == value:
        return ""
    far = distance_text(oracle.game, *plain.outcome)
    noun = "loss" if plain.value == LOSE else NOUNS[plain.value]
    return f"{noun} in {plies(plain.remoteness or 0)}{f' ({far})' if far else ''}"
