"""Games between players: random starting positions, play, and the judgement of each move."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
from random import Random
from typing import Any, Literal, NamedTuple

from retrograde.games import CHANCE, DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, RetrogradeError, Value
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.game import Traits, is_none, metric_of, mover, same_mover
from retrograde.games.contract.raised import given_start
from retrograde.games.contract.zeroing import PATIENCE, count_after
from retrograde.solver.play.ending import points_decide, value_for_first
from retrograde.solver.play.oracle import Oracle
from retrograde.solver.play.player import Player
from retrograde.solver.rules.examine import random_line

ENDLESS = 3
"""A game is a draw when a position occurs this often."""
LONGEST_GAME, LONGEST_WITH_CHANCE = 1000, 20_000
"""Plies after which a game is a draw. A game of 2048 has two thousand and more."""
FOR_SCORECARD = 2.0
"""Seconds to judge a whole game: most positions are known from playing it."""
LONGEST_WALK = 20
"""The most random moves before a random position."""
MOST_TRIES, FEW_TRIES = 10_000, 1_000
"""Tries to find a position in which the game goes on: if there must be one, and if another will do."""


class NoBeginning(RetrogradeError, ValueError):
    """No position to begin in was found."""


class FinishedGame(NamedTuple):
    """A finished game: its moves, its value for the player who moved first, and both players' mistakes. Mistakes are
    moves known to have given up value. In a puzzle all moves are the first player's. Where expectations are known,
    mistakes are not counted."""

    moves: list[int]
    value: Value
    mistakes: tuple[int, int]


# Beginnings


def random_position(oracle: Oracle, chance: Random, tries: int = MOST_TRIES) -> int:
    """Return a random position in which the game goes on; raise NoBeginning after *tries* failures. Random moves from
    the start lead to it. If the game has no start, it is a random slot of the first tier."""
    game: Any = oracle.game
    if Traits.of(game).is_numbered and given_start(game) is None:
        tier = min(game.tiers)
        slots = game.size(tier)
        draw: Callable[[], int] = lambda: game.unindex(tier, chance.randrange(slots))  # noqa: E731
    else:
        draw = partial(walk_randomly, game, chance)
    for _ in range(tries):
        position = draw()
        if not is_none(position) and game.primitive(position) == UNDECIDED:
            return position
    raise NoBeginning("no random position was found in which the game goes on; give the first position")


def any_position(oracle: Oracle, chance: Random) -> int:
    """Like `random_position`, or a position where the game is over if there is no other, as for two bare kings."""
    try:
        return random_position(oracle, chance, FEW_TRIES)
    except NoBeginning:
        return oracle.start_or_example


def example_of(game: Any) -> int:
    """Return a position of the first tier of a game that numbers its positions, undecided if possible."""
    tier = min(game.tiers)
    size = game.size(tier)
    # Try slots from a third of the tier on, far apart, then all slots.
    slots = chain(range(size // 3, size, max(1, size // FEW_TRIES)), range(size))
    positions = (position for slot in slots if not is_none(position := game.unindex(tier, slot)))
    first: int = next(positions)
    tries = chain([first], islice(positions, FEW_TRIES))
    return next((position for position in tries if game.primitive(position) == UNDECIDED), first)


def walk_randomly(game: Game, chance: Random) -> int:
    """Return the position after a random number of random moves."""
    *_, position = islice(random_line(game, game.start, chance), 1 + chance.randrange(LONGEST_WALK))
    return position


# Play


def side_of(game: Game, start: int, position: int, plies: int) -> int:
    """Return the side to move, *plies* after a start: 0 for the player who moves first there, else 1."""
    return plies % 2 if Traits.of(game).alternates else int(max(0, mover(game, position)) != max(0, mover(game, start)))


ByRule = Callable[[int, int], Oracle]
"""Returns the oracle for a position after some plies without progress, in a game with such a rule."""


def play(
    oracle: Oracle,
    position: int,
    players: Sequence[Player],
    dice: Random | None = None,
    by_rule: ByRule | None = None,
    count: int = 0,
) -> FinishedGame:
    """Play a game to its end; chance moves by the *dice*.

    With *by_rule*, plies without progress are counted, from *count* on, and the rule may end the game as a draw. In
    games with chance positions may repeat. If expectations are known, no move is called a mistake.
    """
    game, start, dice = oracle.game, position, dice or Random()
    expected = getattr(oracle, "metric", "") == "expectation"
    has_chance = expected or metric_of(game) == "expectation"
    longest = LONGEST_WITH_CHANCE if has_chance else LONGEST_GAME
    pays = Traits.of(game).has_rewards
    without_clock = getattr(game, "without_clock", lambda position: position)  # positions with equal results repeat
    occurrences: Counter[int] = Counter()
    moves: list[int] = []
    mistakes = [0, 0]
    value = game.primitive(position)
    while value == UNDECIDED:
        if game.turn(position) == CHANCE:
            moves.append(roll(game, position, dice))
            position = game.do_move(position, moves[-1])
            value = game.primitive(position)
            continue
        # A draw by repetition, by the rule for play without progress, or by length.
        key = without_clock(position)
        if not has_chance:
            occurrences[key] += 1
        is_drawn_by_rule = by_rule is not None and count >= PATIENCE
        if is_drawn_by_rule or occurrences[key] == ENDLESS or len(moves) == longest:
            return FinishedGame(moves, DRAW, (mistakes[0], mistakes[1]))
        # The player's move, and whether it gave up value by what is known before and after.
        turn, parent = side_of(game, start, position, len(moves)), position
        oracle_before = by_rule(parent, count) if by_rule else oracle
        before = oracle_before.probe(parent, distance=False).value
        move = players[turn](oracle_before, parent)
        moves.append(move)
        count = count_after(game, parent, move, count)
        position = game.do_move(parent, move)
        oracle_after = by_rule(position, count) if by_rule else oracle
        after = oracle_after.probe(position, distance=False).value
        if game.players > 2:
            is_mistake = gives_up_share(oracle, parent, move)
        elif pays:
            # What the move is known to bring the player who makes it, with its immediate reward.
            brings = next(choice.brings for choice in oracle.moves(parent, 0) if choice.move == move)
            is_mistake = UNDECIDED not in (before, brings) and brings != before
        else:
            is_mistake = gives_up_value(before, after, same_mover(game, parent, position))
        mistakes[turn] += is_mistake and not expected
        value = game.primitive(position)
    if game.players > 2:
        return FinishedGame(moves, value_for_first(game, start, moves), (mistakes[0], mistakes[1]))
    if points_decide(game):
        first, second = points_of(game, start, moves)
        value = WIN if first > second else LOSE if first < second else TIE
        return FinishedGame(moves, value, (mistakes[0], mistakes[1]))
    first_is_to_move = side_of(game, start, position, len(moves)) == 0
    return FinishedGame(moves, value if first_is_to_move else FLIPPED[value], (mistakes[0], mistakes[1]))


def points_of(game: Game, position: int, moves: Sequence[int]) -> tuple[int, int]:
    """Return what both players get for moves and the end; the player who moved first comes first."""
    start, points = position, [0, 0]
    for ply, move in enumerate([*moves, None]):  # None: the end, which pays too
        side, player = side_of(game, start, position, ply), max(0, mover(game, position))
        for seat, number in ((side, player), (1 - side, 1 - player)):
            points[seat] += game.payoff(position, number) if move is None else game.reward(position, move, number)
        position = position if move is None else game.do_move(position, move)
    return points[0], points[1]


def roll(game: Game, position: int, dice: Random) -> int:
    """Return a random chance move, by the odds of the game."""
    moves = list(game.generate_moves(position))
    return dice.choices(moves, [game.odds(position, move) for move in moves])[0]


def gives_up_value(before: Value, after: Value, again: bool = False) -> bool:
    """Return whether a move is known to give up value; *again*: the same player moves after it."""
    return UNDECIDED not in (before, after) and (after if again else FLIPPED[after]) != before


def gives_up_share(oracle: Oracle, position: int, move: int) -> bool:
    """Return whether a move is known to bring one of several players less than the best move does."""
    choices = oracle.moves(position, 0)
    (choice,) = (choice for choice in choices if choice.move == move)
    return gets_less(choice, choices[0])


def gets_less(choice: Choice, best: Choice) -> bool:
    """Return whether one of several players gets less by a move than by the best, as far as known."""
    if choice.rank and best.rank:
        return choice.rank[0] > best.rank[0]  # what the others get is no matter of this player's
    return UNDECIDED not in (choice.value, best.value) and choice.brings != best.brings


def points(value: Value) -> float:
    """Return a player's points for a value: a win 1, a tie or a draw ½.

    >>> [points(value) for value in (WIN, TIE, DRAW, LOSE)]
    [1.0, 0.5, 0.5, 0.0]
    """
    return {WIN: 1.0, TIE: 0.5, DRAW: 0.5, LOSE: 0.0}[value]


# Reviews

Verdict = Literal["best", "slower", "mistake", "unknown"]


class Review(NamedTuple):
    """A move as it was played, the best moves there were, and the value that the position had."""

    played: Choice
    choices: list[Choice]
    """The best moves, as far as known."""
    had: Value
    by_share: bool = False
    """Whether it decides what the player gets, and not the value: with several players."""

    @property
    def best(self) -> Choice:
        """The first of the best moves."""
        return self.choices[0]

    @property
    def value(self) -> Value:
        """The value that the move brought the player who made it."""
        return self.played.brings

    @property
    def mistake(self) -> bool:
        """Whether the move gave up value; with several players, whether its player gets less by it."""
        return gets_less(self.played, self.best) if self.by_share else self.value != self.had

    @property
    def slower(self) -> int:
        """Plies by which a move that keeps the value is worse than the best: a win later, a loss sooner."""
        if self.mistake or self.by_share or self.value == DRAW:
            return 0
        later = (self.played.remoteness or 0) - (self.best.remoteness or 0)
        return max(0, -later if self.value == LOSE else later)

    @property
    def verdict(self) -> Verdict:
        """`best`, `slower` (kept the value only), `mistake` (gave it up) or `unknown`."""
        if UNDECIDED in (self.had, self.played.value) or (not self.by_share and self.best.brings != self.had):
            return "unknown"
        if self.mistake:
            return "mistake"
        if self.by_share:
            return "best"
        plies = self.played.remoteness, self.best.remoteness
        return "best" if None in plies or plies[0] == plies[1] else "slower"

    @property
    def better(self) -> list[str]:
        """The names of better moves; empty if the move was one of the best, or that is unknown."""
        return [choice.name for choice in self.choices] if self.verdict in ("slower", "mistake") else []


def review(oracle: Oracle, position: int, move: int) -> Review:
    """Return the review of a legal move; raise NotInDatabase if play never reaches the position."""
    choices = oracle.moves(position)
    played = next(choice for choice in choices if choice.move == move)
    return Review(played, choices[:1], choices[0].brings, oracle.game.players > 2)


def judge(oracle: Oracle, position: int, move: int, seconds: float | None = None) -> Review:
    """Return the review of a move, with all the best moves, as far as *seconds* allow."""
    played = next(choice for choice in oracle.moves(position, seconds) if choice.move == move)
    best, had = oracle.best(position, seconds), oracle.probe(position, 0).value
    return Review(played, best, had, oracle.game.players > 2)


def judge_moves(oracle: Oracle, positions: Sequence[int], moves: Sequence[int], plies: Sequence[int]) -> list[Review]:
    """Return the reviews of a game's moves at these *plies*: `moves[ply]` was made in `positions[ply]`."""
    return [judge(oracle, positions[ply], moves[ply], FOR_SCORECARD / len(plies)) for ply in plies]
