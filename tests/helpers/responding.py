"""Best responses computed slowly and plainly, in fractions: a game as who responds to a modelled player sees it.

Each position is a pair with a seat: 0 where the responder is player 0, 1 where he is player 1; where two players
alternate player 0 is who is to move, so that the seat changes with every move. What the modelled player does is chance.
Such a game is no Game, and is never compiled: `expectimax.py` walks through it.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from retrograde.games import CHANCE, LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.contract.game import alternates, defines, mover, same_mover
from tests.helpers import gamble, reference

Weigh = Callable[[int], dict[int, Fraction | int]]
"""With what weight each move of a position is made; a move that is not in it is not made."""


class Seen:
    """A game as the responder sees it; where he plays by weights as well, *own* says so."""

    players = 2

    def __init__(self, game: Game, theirs: Weigh, own: Weigh | None = None):
        self.game, self.theirs, self.own = game, theirs, own
        self.starts = [(start, seat) for start in game.starts for seat in (0, 1)]

    def weights(self, position):
        """Return the weights by which chance or a model moves here; None where the responder chooses."""
        place, seat = position
        turn = 0 if alternates(self.game) else self.game.turn(place)
        if turn == CHANCE:
            return {move: self.game.odds(place, move) for move in self.game.generate_moves(place)}
        by = self.own if turn == seat else self.theirs
        return by and {move: weight for move, weight in by(place).items() if weight}

    def turn(self, position):
        return 0 if self.weights(position) is None else CHANCE

    def generate_moves(self, position):
        return iter(self.weights(position) or self.game.generate_moves(position[0]))

    def odds(self, position, move):
        return self.weights(position)[move]

    def primitive(self, position):
        return self.game.primitive(position[0])

    def do_move(self, position, move):
        place, seat = position
        return self.game.do_move(place, move), 1 - seat if alternates(self.game) else seat

    def payoff(self, position, player):
        place, seat = position
        return self.game.payoff(place, seat if player == 0 else 1 - seat)

    def reward(self, position, move, player):
        place, seat = position
        return self.game.reward(place, move, seat if player == 0 else 1 - seat)


# Models, as plainly as they can be written


def uniform(game: Game) -> Weigh:
    return lambda place: dict.fromkeys(game.generate_moves(place), 1)


def skilled(game: Game, skill: Fraction) -> Weigh:
    """Of a game of two who alternate: with probability *skill* any of the moves that keep value and remoteness, else
    any."""
    solution = reference.solve(game)

    def key(child):
        value, remoteness = solution[child]
        order = {LOSE: 3, TIE: 2, WIN: 0}.get(value, 1)  # of the child, for who moves there
        return order, (remoteness or 0) if value == WIN else -(remoteness or 0)

    def weights(place):
        moves = list(game.generate_moves(place))
        keys = [key(game.do_move(place, move)) for move in moves]
        perfect = [move for move, own in zip(moves, keys, strict=True) if own == max(keys)]
        return {
            move: (skill / len(perfect) if move in perfect else 0) + (1 - skill) / Fraction(len(moves))
            for move in moves
        }

    return weights


def greedy(game: Game) -> Weigh:
    """What pays most at once, and of that what looks best."""

    def weights(place):
        me = 0 if alternates(game) else game.turn(place)
        found = {}
        for move in game.generate_moves(place):
            child = game.do_move(place, move)
            gain = game.reward(place, move, me) - game.reward(place, move, 1 - me)
            after = 1 - me if alternates(game) else me
            if game.primitive(child) != UNDECIDED:
                found[move] = gain + game.payoff(child, after) - game.payoff(child, 1 - after), 0
            else:
                mine = False if alternates(game) else max(0, game.turn(child)) == me
                found[move] = gain, game.estimate(child) * (1 if mine else -1)
        return {move: 1 for move, one in found.items() if one == max(found.values())}

    return weights


def looking(game: Game, depth: int) -> Weigh:
    """What is best by minimax to a depth, of two who alternate: a win or a loss that is seen, the sooner or the later,
    before any estimate; where a position is not quiet, up to eight plies are looked at beyond."""
    more = 8 if defines(game, "quiet") else 0

    def score(place, left):
        value = game.primitive(place)
        if value != UNDECIDED:
            return (value == WIN) - (value == LOSE), 0, 0
        if left <= -more or (left <= 0 and game.quiet(place)):
            return 0, game.estimate(place), 0
        return max((one(place, move, left) for move in game.generate_moves(place)), key=order)

    def one(place, move, left):
        sign, looks, far = score(game.do_move(place, move), left - 1)
        return -sign, -looks, far + 1

    def order(told):
        sign, looks, far = told
        return sign, looks, -sign * far

    return lambda place: best_of({move: order(one(place, move, depth)) for move in game.generate_moves(place)})


def looking_for_points(game: Game, depth: int) -> Weigh:
    """What is best by expectiminimax to a depth, in points and fractions; estimates are hundredths."""

    def score(place, left):
        me = max(0, mover(game, place))
        if game.primitive(place) != UNDECIDED:
            return Fraction(game.payoff(place, me) - game.payoff(place, 1 - me))
        if left == 0:
            return Fraction(game.estimate(place), 100)
        found = {move: one(place, move, left) for move in game.generate_moves(place)}
        if mover(game, place) != CHANCE:
            return max(found.values())
        odds = {move: game.odds(place, move) for move in found}
        return sum(odds[move] * worth for move, worth in found.items()) / sum(odds.values())

    def one(place, move, left):
        me, child = max(0, mover(game, place)), game.do_move(place, move)
        gain = game.reward(place, move, me) - game.reward(place, move, 1 - me)
        return gain + score(child, left - 1) * (1 if same_mover(game, place, child) else -1)

    return lambda place: best_of({move: one(place, move, depth) for move in game.generate_moves(place)})


def best_of(keys: dict[int, Any]) -> dict[int, Fraction | int]:
    """Return equal weights of the moves with the greatest key."""
    return {move: 1 for move, key in keys.items() if key == max(keys.values())}


def lopsided(game: Game, place: int) -> dict[int, Fraction | int]:
    """Return weights by no rule: a third as much for each move as for the one before, the last one left out."""
    moves = list(game.generate_moves(place))
    return {move: Fraction(1, 3**number) for number, move in enumerate(moves[: max(1, len(moves) - 1)])}


# Games


class Duel(gamble.Gamble):
    """A random game with chance, in which who looks ahead has something to go by."""

    def estimate(self, position):
        return self.random(position, 7) % 5 - 2


class Alternating(Duel):
    """The same without chance, in which two players alternate."""

    turn = Game.turn

    def odds(self, position, move):
        return 1


class Paying(Alternating):
    """The same where moves pay as well."""

    def reward(self, position, move, player):
        return self.random(position, 30 + move) % 3 if player == 0 else 1
