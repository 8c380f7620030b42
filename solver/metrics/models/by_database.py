"""Models that use a database: a player that is perfect with some probability, and one that plays a best response.

A *perfect move* keeps everything that the game's own solution knows: value and remoteness, or the values of its own
metric. A best response follows a database of expectations against another model. Equally good moves have equal weight.

A player of *skill* p makes one of k perfect moves among n with probability p, and otherwise any of the n. With p = a/b,

    perfect move : other move  =  p/k + (1 - p)/n : (1 - p)/n  =  a n + (b - a) k : (b - a) k
"""

from fractions import Fraction
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.games import DRAW, LOSE, METRICS, TIE, WIN, Game, Value
from retrograde.games.contract.game import Traits, same_mover, value_to_mover
from retrograde.solver.metrics.models.model import Model, NoModel, Weights, first_words
from retrograde.solver.runtime.array_type import Array

FINEST = 10_000
"""Greatest denominator of a skill: 0.8 is 4 of 5."""
NEAR = 1e-9
"""Points within which moves count as equally good in a best response. Bounds of moves that bring exactly as much may
differ in the last bits, which rounding on another machine can change."""
ORDER = (LOSE, DRAW, TIE, WIN)
"""Values for the mover, from worst to best."""


class SkillModel(Model):
    """Makes a perfect move with probability *skill*, otherwise any move."""

    def __init__(self, skill: Fraction, database: Database, name: str = ""):
        self.name = name or f"skill:{skill_text(skill)}"
        self.skill, self.database = skill, database
        self.digest = str(database.file.digest)

    def weights(self, game: Game, position: int) -> Weights:
        """Return the weights by skill; the moves with the greatest `merit` are perfect."""
        keys = [(move, merit(self.database, position, move)) for move in game.generate_moves(position)]
        best = max(key for _, key in keys)
        perfect_weight, other_weight = weights_by_skill(self.skill, sum(key == best for _, key in keys), len(keys))
        return {move: perfect_weight if key == best else other_weight for move, key in keys}

    def weigh(self, game: Game, positions: Array, turns: Array, children: Array) -> Array:
        """Return the same weights for many positions, as `Model.weigh`; at once only by remoteness (METRICS[0])."""
        if self.database.metric != METRICS[0]:
            return super().weigh(game, positions, turns, children)
        from retrograde.solver.rules.weights import movers  # here because numba takes a while to import

        # Step 1: the values after the moves, and whether the same player moves again. Children below 0 are no moves; an
        # extra axis has the words of positions of several words.
        is_child = first_words(children) >= 0
        values, plies = self.database.lookup(children)
        has_words = is_child[..., None] if children.ndim > 2 else is_child
        movers_after = movers(game, np.where(has_words, children, positions).reshape(-1, *positions.shape[1:]))
        movers_after = movers_after.reshape(is_child.shape)
        same_mover_after = np.maximum(movers_after, 0) == np.maximum(turns, 0)
        again = np.zeros_like(is_child) if Traits.of(game).alternates else same_mover_after
        # Step 2: keys that order moves as `merit` does: the rank of the value for the mover in ORDER, then the plies.
        # If the opponent moves next, LOSE and WIN are exchanged.
        ranks = np.array([0, *(ORDER.index(value) for value in (LOSE, DRAW, TIE, WIN))])[values]  # 0: UNDECIDED
        ranks = np.where(again | (values == DRAW) | (values == TIE), ranks, len(ORDER) - 1 - ranks)
        plies = np.where(plies < 0, 0, plies).astype(np.int64)
        # The mover delays a loss (rank 0), and hurries otherwise. 2**31 keeps the lower half of a key positive.
        keys = np.where(is_child, (ranks << 32) + np.where(ranks == 0, plies, -plies) + (1 << 31), -1)
        # Step 3: the weights of the moves with the greatest key, and of all others.
        best = keys == keys.max(0)
        perfect_weight, other_weight = weights_by_skill(self.skill, best.sum(0), is_child.sum(0))
        return np.where(is_child, np.where(best, perfect_weight, other_weight), 0)

    def close(self) -> None:
        self.database.close()


class ExploitModel(Model):
    """Plays a best response to another model, by the database of expectations against it."""

    def __init__(self, database: Database):
        self.against = str(database.file.details["against"])
        self.name = f"exploit:{self.against}"
        self.database = database
        self.digest = str(database.file.digest)
        self.symmetric = database.file.details.get("symmetry", True)

    def weights(self, game: Game, position: int) -> Weights:
        gains = {move: self.least_gain(game, position, move) for move in game.generate_moves(position)}
        enough = max(gains.values()) - NEAR * int(self.database.file.details["scale"])
        return {move: int(gain >= enough) for move, gain in gains.items()}

    def least_gain(self, game: Game, position: int, move: int) -> int:
        """Return what a move is proven to bring the mover, even if play can repeat, in grains (`scale` to a point)."""
        child = game.do_move(position, move)
        name = "low" if same_mover(game, position, child) else "waiting_low"
        gain_in_grains = gain_of(game, position, move) * int(self.database.file.details["scale"])
        return int(self.database.measures(child)[name]) + gain_in_grains

    def close(self) -> None:
        self.database.close()


def weights_by_skill(skill: Fraction, perfect: Any, legal: Any) -> tuple[Any, Any]:
    """Return the weights of a perfect move and of any other, by the numbers of *perfect* and *legal* ones (or arrays).

    >>> weights_by_skill(Fraction(4, 5), 1, 3)  # probabilities 13/15, 1/15 and 1/15
    (13, 1)
    """
    a, b = skill.numerator, skill.denominator
    return a * legal + (b - a) * perfect, (b - a) * perfect


def merit(database: Database, position: int, move: int) -> tuple[int, ...]:
    """Return a key to compare the moves of a position; greater is better. First by score or expectation, if the
    database has them, then by value, then by remoteness: the winner hurries and the loser delays."""
    game = database.game
    child = game.do_move(position, move)
    value, remoteness = database[child]
    value_for_mover = value_to_mover(game, position, child, value)
    plies = remoteness or 0  # a DRAW has no remoteness
    outcome_key = ORDER.index(Value(value_for_mover)), (plies if value_for_mover == LOSE else -plies)
    if database.metric not in ("score", "expectation"):
        return outcome_key
    sign = 1 if same_mover(game, position, child) else -1
    gain_in_grains = gain_of(game, position, move) * int(database.file.details.get("scale", 1))
    bounds = [gain_in_grains + sign * measure for measure in database.measures(child).values()]
    return *sorted(bounds), *outcome_key  # sorted, because negation exchanges low and high


def gain_of(game: Game, position: int, move: int) -> int:
    """Return what a move pays the mover at once, less what the other player gets, in points."""
    mover = max(game.turn(position), 0)
    return game.reward(position, move, mover) - game.reward(position, move, 1 - mover)


def skill_text(skill: Fraction) -> str:
    """Return a skill as users write it.

    >>> skill_text(Fraction(4, 5)), skill_text(Fraction(1, 3)), skill_text(Fraction(1))
    ('0.8', '1/3', '1')
    """
    text = f"{float(skill):g}"
    return text if Fraction(text) == skill else str(skill)


def read_skill(text: str) -> Fraction:
    """Parse a skill: a number from 0 to 1, such as `0.8` or `4/5`; raise NoModel if it is not one."""
    try:
        skill = Fraction(text)
    except (ValueError, ZeroDivisionError):
        skill = Fraction(-1)
    if not 0 <= skill <= 1 or skill.denominator > FINEST:
        raise NoModel(f"no skill {text!r}; it is a number from 0 to 1 of four digits at most, as in skill:0.8")
    return skill
