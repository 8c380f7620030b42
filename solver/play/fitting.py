"""Fits the weights of a game's features to the truth in a database.

The fit uses a sample of undecided, quiet positions, where searches trust estimates. For scores it is least squares, in
hundredths of points. For values it is a logistic regression: the chance of winning is 1 in a WIN, 0 in a LOSE and ½ in
a TIE or DRAW. A second regression also uses the remoteness: the later the end, the nearer is the chance to ½. Only this
tells which of two wins is nearer.

Of these weights and the game's own, those count with which searches err least in some positions of the sample. Weights
by remoteness come before those by value if they err no more than the game's own. Other positions, held out of the fit,
show the errors before and after.
"""

import math
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

import numpy as np

from retrograde.games import LOSE, UNDECIDED, WIN, Game, RetrogradeError
from retrograde.games.catalog import variant
from retrograde.games.contract.game import REMOTENESS, defines, with_weights
from retrograde.solver.play.judging import error_rate, moves_keeping_value
from retrograde.solver.play.listing import PositionChunk
from retrograde.solver.play.solution import Solution
from retrograde.solver.rules.examine import random_line
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.search.depth.names import AdaptiveDepthSearch

Keeping = dict[int, dict[int, bool]]
"""For each position and move, whether the move keeps the value."""

DEPTHS = 2, 4
"""The depths of the searches whose errors are counted, in plies."""
HELD_OUT = 0.2
"""The share of the sample that is held out of the fit."""
LARGEST = 1000
"""The largest weight of a fit to values, where only proportions matter."""
ROUNDS = 100
"""The most steps of Newton's method; some ten suffice."""
PRECISION = 1e-7
"""A change of weights, for features of size 1, that is as good as none."""
LARGEST_ODDS = 30.0
"""The logarithm of odds that are as good as certain."""
PENALTY = 1e-4
"""What keeps weights finite if features separate wins from losses, for each position and squared weight."""


class CannotFit(RetrogradeError, ValueError):
    """The game has no features, or the database nothing to learn from."""


class Fit(NamedTuple):
    """The result of a fit: *errors* are the error rates before and after, from 0 to 1, by depth.

    *target* is "" if the game's own weights err least.
    """

    weights: tuple[int, ...]
    target: str
    positions: int
    judged: int
    errors: dict[int, tuple[float, float]]


def fit(solution: Solution, positions: int, judged: int, seed: int) -> Fit:
    """Fit the weights of a game's features to a sample of positions, and count errors in up to *judged* of them."""
    game: Game = solution.game
    if not defines(game, "features"):
        raise CannotFit(f"{variant(game)} has no features; define features and feature_weights in its rules")
    if solution.metric not in ("score", REMOTENESS):
        raise CannotFit(f"{solution.variant} is solved by {solution.metric}; give a database of values or scores")
    drawn = solution.positions().sample(positions, seed)
    order = np.random.default_rng(seed).permutation(len(drawn.positions))
    held_out, sample = (drawn.only(rows) for rows in np.split(order, [int(HELD_OUT * len(order))]))
    leaves = draw_leaves(game, sample, Random(seed))
    if not leaves:
        raise CannotFit(f"the database of {solution.variant} has no quiet position in which the game goes on")
    features = np.array([game.features(position) for position in leaves], float)
    weights = {"": game.feature_weights, **dict(fit_weights(solution, leaves, features))}  # by target
    # Choose by positions of the sample, and measure with others.
    choosing = find_keeping(solution, sample, judged // 2)
    measuring = find_keeping(solution, held_out, judged)
    if not choosing or not measuring:
        raise CannotFit(f"in no position of the sample from {solution.variant} can a move give up value")
    errors_of = {target: sum(errors_with(game, each, choosing)) for target, each in weights.items()}
    target = min(weights, key=errors_of.__getitem__)
    if target == "value" and errors_of.get("remoteness", math.inf) <= errors_of[""]:
        target = "remoteness"  # which also says how near the end is, so that players make progress
    before, after = (errors_with(game, each, measuring) for each in (game.feature_weights, weights[target]))
    if any(new > old for old, new in zip(before, after, strict=True)):
        target = ""
    errors = dict(zip(DEPTHS, zip(before, after, strict=True), strict=True))
    return Fit(weights[target], target, len(leaves), len(measuring), errors)


# The sample


def draw_leaves(game: Game, sample: PositionChunk, chance: Random) -> list[int]:
    """Return quiet undecided positions as searches estimate them: up to max(DEPTHS) random plies after the sample's."""
    leaves = []
    for position in sample.each():
        *_, position = islice(random_line(game, position, chance), 1 + chance.randrange(max(DEPTHS) + 1))
        if game.primitive(position) == UNDECIDED and game.quiet(position):
            leaves.append(position)
    return leaves


def find_keeping(solution: Solution, sample: PositionChunk, most: int) -> Keeping:
    """Return, for up to *most* positions with moves of both kinds, whether each move keeps the value."""

    def find() -> Iterator[tuple[int, dict[int, bool]]]:
        for position in sample.each():
            if solution.game.primitive(position) == UNDECIDED:
                keeps = moves_keeping_value(solution, position)
                if len(set(keeps.values())) == 2:
                    yield position, keeps

    return dict(islice(find(), most))


def errors_with(game: Game, weights: tuple[int, ...], keeping: Keeping) -> list[float]:
    """Return the error rates of searches to DEPTHS with these weights."""
    search = AdaptiveDepthSearch(with_weights(game, weights))
    return [
        search.ask(lambda depth_search, depth=depth: error_rate(keeping, depth_search.scores, depth))  # type: ignore[misc]
        for depth in DEPTHS
    ]


# The fit


def fit_weights(solution: Solution, positions: list[int], features: Array) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield (target, weights of the features) for each fit. Targets are "score", or "value" and then "remoteness".

    *features* float[positions, features] are those of *positions*. A fit of weights 0 is left out.
    """
    own_weights = np.array(solution.game.feature_weights, float)
    if solution.metric == "score":
        scores = [solution.database.measures(position)["score"] for position in positions]
        yield "score", round_weights(least_squares(features, 100 * np.array(scores, float), own_weights))
        return
    outcomes = [solution.value(position) for position in positions]
    signs = np.array([(outcome.value == WIN) - (outcome.value == LOSE) for outcome in outcomes], float)
    plies = np.array([outcome.remoteness or 0 for outcome in outcomes])
    nearness = 1 - plies / (2 * max(1, int(plies.max())))  # from ½ for the latest end to 1
    for target, worth in (("value", signs), ("remoteness", signs * nearness)):
        chances = (1 + worth) / 2
        # First fit one factor for the game's own estimate, as a start. Then fit each weight.
        factor = logistic_regression((features @ own_weights)[:, None], chances, np.zeros(1))
        weights = logistic_regression(features, chances, factor * own_weights)
        if weights.any():
            yield target, round_weights(weights * LARGEST / np.abs(weights).max())


def round_weights(weights: Array) -> tuple[int, ...]:
    """Return the weights as the nearest ints."""
    return tuple(int(weight) for weight in np.rint(weights))


def least_squares(features: Array, worth: Array, prior: Array) -> Array:
    """Return weights with which `features @ weights` comes closest to *worth*; of several, those next to *prior*."""
    change: Array = np.linalg.lstsq(features, worth - features @ prior, rcond=None)[0]
    return prior + change


def logistic_regression(features: Array, chances: Array, prior: Array) -> Array:
    """Return the weights with which 1 / (1 + exp(-features @ weights)) fits *chances* best, near *prior* if
    undetermined.

    Newton's method minimises the cross entropy plus a small penalty for changes.
    """
    size = np.where(features.any(axis=0), np.sqrt(np.mean(features**2, axis=0)), 1.0)  # of each feature
    scaled, change = features / size, np.zeros(features.shape[1])
    penalty = PENALTY * len(features)

    def loss(change: Array) -> float:
        log_odds = features @ prior + scaled @ change
        return float(np.sum(np.logaddexp(0, log_odds) - chances * log_odds) + penalty / 2 * change @ change)

    for _ in range(ROUNDS):
        expected = 1 / (1 + np.exp(-np.clip(features @ prior + scaled @ change, -LARGEST_ODDS, LARGEST_ODDS)))
        slope = scaled.T @ (chances - expected) - penalty * change
        curvature = scaled.T @ (scaled * (expected * (1 - expected))[:, None]) + penalty * np.eye(len(change))
        step = np.linalg.solve(curvature, slope)
        # A whole step may lead too far: halve it until the loss falls.
        while np.abs(step).max() > PRECISION and loss(change + step) >= loss(change):
            step /= 2
        if np.abs(step).max() <= PRECISION:
            break
        change += step
    return prior + change / size
