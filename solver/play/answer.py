"""`Answer`: what an oracle knows of a position and of each of its moves. Terminal, JSON and the server show answers.

>>> from retrograde.solver.play.solution import open_solution
>>> with open_solution("tictactoe") as solution:
...     answer = answer_of(solution, solution.game.read("X.O/.X./..."))
...     answer.bounds.outcome, answer.moves[0].choice.name, answer.moves[0].bounds.value
(Outcome(value=<Value.TIE: 3>, remoteness=6), 'c3', <Value.TIE: 3>)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from retrograde.games.catalog import variant
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.fields import fields_of
from retrograde.games.contract.game import CHANCE, LOSE, REMOTENESS, UNDECIDED, WIN, Game, Value
from retrograde.games.contract.zeroing import DTZ, PROGRESS_METRICS, category, count_after, in_words, signed_distance
from retrograde.solver.play.oracle import DATABASE, Oracle, ValueBounds, bounds_for_mover
from retrograde.solver.play.solution import Response, Solution
from retrograde.solver.search.depth.scores import score_of_move

Json = dict[str, Any]

FOR_MOVES = 0.5
"""The share of the seconds for the moves of a position; the rest is for the position itself."""


@dataclass(frozen=True)
class MoveAnswer:
    """A move, and the bounds of the position that it leads to, for the player to move there."""

    oracle: Oracle
    choice: Choice
    bounds: ValueBounds
    count: int
    """The plies without progress after the move."""

    @property
    def plies(self) -> int | None:
        """The distance to the end from before the move; None if there is none, or it is unknown."""
        return None if self.choice.remoteness is None else self.choice.remoteness + 1

    @property
    def mover_bounds(self) -> ValueBounds:
        """The same bounds for the player who makes the move."""
        return bounds_for_mover(self.bounds, self.choice.again)

    @property
    def estimate(self) -> int | None:
        """What a book of estimates says of the position after the move, if its value is unknown; or None."""
        return None if self.bounds.proved else self.oracle.estimate(self.choice.position)

    @property
    def mover_estimate(self) -> int | None:
        """The same for the player who makes the move."""
        return None if self.estimate is None else score_of_move(self.estimate)

    @cached_property
    def measures(self) -> Json:
        """What the metric says of the position after the move."""
        return measures_of(self.oracle, self.choice.position, self.count)


@dataclass(frozen=True)
class Answer:
    """What an oracle knows of a position and of its moves, the best first."""

    oracle: Oracle
    position: int
    bounds: ValueBounds
    moves: list[MoveAnswer]
    line: list[str]
    """The names of the moves of best play, as far as it is known."""
    count: int = 0
    """The plies without progress before the position, for a rule such as the fifty-move rule."""

    @property
    def game(self) -> Game:
        return self.oracle.game

    @property
    def choices(self) -> list[Choice]:
        """The moves alone, the best first."""
        return [answer.choice for answer in self.moves]

    @property
    def estimate(self) -> int | None:
        """What a book of estimates says of the position, if its value is unknown; or None."""
        return None if self.bounds.proved else self.oracle.estimate(self.position)

    @property
    def is_over(self) -> bool:
        return bool(self.game.primitive(self.position) != UNDECIDED)

    @property
    def distance(self) -> str:
        """The distance to the end in the words of the game, or ""."""
        return distance_text(self.game, *self.bounds.outcome, self.oracle.metric)

    @cached_property
    def measures(self) -> Json:
        """What the metric says of the position, such as `{"score": 3}`; bounds of the score if it was searched."""
        return measures_of(self.oracle, self.position, self.count)

    @cached_property
    def odds(self) -> dict[int, int]:
        """The weight of each chance move; {} if a player is to move."""
        return odds_of(self.game, self.position)

    @cached_property
    def weights(self) -> dict[int, int]:
        """The weight with which a model makes each move, for a best response to it; else {}."""
        return self.oracle.weights(self.position) if isinstance(self.oracle, Response) else {}

    @cached_property
    def response(self) -> Json:
        """The model that a best response is against, and the value of perfect play; {} for other solutions."""
        if not isinstance(self.oracle, Response):
            return {}
        against, perfect = {"against": self.oracle.against}, self.oracle.perfect
        if perfect is None or self.position not in perfect:
            return against
        value = outcome_json(*perfect.value(self.position)) | perfect.worth(self.position)
        return {**against, "perfect": value}

    def to_json(self) -> Json:
        """Return the answer, ready for JSON. A move has the facts of the position after it, for the player to move
        there."""
        moves = [self._move_json(answer) for answer in self.moves]
        if self.oracle.source != DATABASE:
            known = bounds_json(self.game, self.position, self.bounds)
            estimate = estimate_json(self.estimate)
            return {**known, **estimate, "line": self.line, **self.measures, "moves": moves}
        return {
            "variant": self.oracle.variant,
            **position_json(self.game, self.position),
            **({"chance": True} if self.oracle.metric == "expectation" and self.odds else {}),
            **outcome_json(*self.bounds.outcome),
            **({"distance": self.distance} if self.distance else {}),
            **self.measures,
            **self.response,
            "moves": moves,
            "line": self.line,
        }

    def _move_json(self, answer: MoveAnswer) -> Json:
        """Return a move with the facts of the position after it, ready for JSON."""
        move, child = answer.choice.move, answer.bounds
        odds = self.odds if self.oracle.metric == "expectation" else {}
        searched = {"at_least": name_of(child.at_least), "at_most": name_of(child.at_most)}
        # A choice from a database has the plies that its metric counts.
        by_choice = answer.choice.value, answer.choice.remoteness
        return {
            "move": answer.choice.name,
            "position": self.game.write(answer.choice.position),
            **outcome_json(*(by_choice if self.oracle.source == DATABASE else child.outcome)),
            **({} if self.oracle.source == DATABASE else searched),
            **({"again": True} if answer.choice.again else {}),
            **estimate_json(answer.estimate),
            **({"odds": odds[move]} if odds else {}),
            **({"weight": self.weights[move]} if self.weights else {}),
            **answer.measures,
        }


def answer_of(
    oracle: Oracle, position: int, seconds: float | None = None, count: int = 0, with_line: bool = True
) -> Answer:
    """Return what an oracle knows of a position and its moves, after *seconds* of search (default: the oracle's own).

    *count* is the number of plies without progress before the position. Without *with_line* there is no line of play.
    Raise NotInDatabase if play never reaches the position.
    """
    seconds = oracle.seconds if seconds is None else seconds
    # Search the position, then its moves. Then read what both searches found, which takes 0 seconds.
    if seconds:
        oracle.probe(position, (1 - FOR_MOVES) * seconds)
    choices, game = oracle.moves(position, FOR_MOVES * seconds), oracle.game
    moves = [
        MoveAnswer(oracle, choice, oracle.probe(choice.position, 0), count_after(game, position, choice.move, count))
        for choice in choices
    ]
    bounds = oracle.probe(position, 0)
    line = [choice.name for choice in oracle.line(position)] if with_line else []
    return Answer(oracle, position, bounds, moves, line, count)


def measures_of(oracle: Oracle, position: int, count: int) -> Json:
    """Return a metric's measures, the distance to zeroing, and the category after *count* plies without progress."""
    found = oracle.by_zeroing(position) if isinstance(oracle, Solution) else None
    by_rule = {DTZ: signed_distance(*found), "category": category(*found, count)} if found else {}
    return {**oracle.worth(position), **by_rule}


def is_chances(game: Game, position: int) -> bool:
    return bool(game.primitive(position) == UNDECIDED and game.turn(position) == CHANCE)


def odds_of(game: Game, position: int) -> dict[int, int]:
    """Return the weight of each chance move; {} if a player is to move."""
    if not is_chances(game, position):
        return {}
    return {move: game.odds(position, move) for move in game.generate_moves(position)}


def distance_text(game: Game, value: Value, remoteness: int | None, metric: str = REMOTENESS) -> str:
    """Return the distance to the end (dtz, dtc: to progress) in the game's words, such as `mate in 16`, or ""."""
    if not remoteness or value not in (WIN, LOSE):
        return ""
    return in_words(remoteness, metric) if metric in PROGRESS_METRICS else game.distance(value, remoteness)


def name_of(value: Value) -> Any:
    """Return the name of a value, as in JSON; None if it is not known."""
    return value.name.lower() if value else None


def outcome_json(value: Value, remoteness: int | None) -> Json:
    """Return a value and a remoteness, ready for JSON."""
    return {"value": name_of(value), "remoteness": remoteness}


def estimate_json(estimate: int | None) -> Json:
    """Return an estimate for the player to move, ready for JSON as in the book; {} if there is none."""
    return {} if estimate is None else {"estimate": estimate}


def position_json(game: Game, position: int) -> Json:
    """Return a position as text and, if the game declares fields, what each of them holds."""
    parts = {"fields": cast(Any, game).fields(position)} if fields_of(type(game)) else {}
    return {"position": game.write(position), **parts}


def bounds_json(game: Game, position: int, bounds: ValueBounds) -> Json:
    """Return what a search knows of a position, and its effort, ready for JSON."""
    far, evidence = distance_text(game, *bounds.outcome), bounds.evidence
    return {
        "variant": variant(game),
        **position_json(game, position),
        **outcome_json(*bounds.outcome),
        **({"distance": far} if far else {}),
        "at_least": name_of(bounds.at_least),
        "at_most": name_of(bounds.at_most),
        "proved": bounds.proved,
        "no_end_within": bounds.no_end_within,
        "source": evidence.source,
        "nodes": evidence.nodes,
        **({"in_tables": evidence.in_tables} if evidence.in_tables else {}),
        "seconds": round(evidence.seconds, 3),
    }
