"""The searches of the textbooks where moves pay, dice have a say, or more than two play, slow and obvious.

Here a position is worth points: what is paid from there on, at the end and by moves on the way, to the player to move
less what the other gets. Where the search goes no further, an estimate stands for that, in hundredths of a point. Where
it is chance's turn, a position is worth the mean of what its moves bring, by their odds; it counts as player 0's.

They are what the compiled searches are held against.
"""

from collections.abc import Callable
from dataclasses import dataclass

from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, mover, same_mover

POINT = 100
"""Estimates count hundredths."""
INFINITE = 2.0**50
"""More than can be paid."""


@dataclass(frozen=True)
class View:
    """How a search looks at a game: by which estimate, how many plies *more* where that may not be trusted, and how
    much a position is worth at most, which Star1 goes by."""

    game: Game
    estimate: Callable[[int], int]
    more: int = 0
    most: float = INFINITE

    def over(self, position: int) -> bool:
        """Tell whether the game is over."""
        return self.game.primitive(position) != UNDECIDED

    def stops(self, position: int, depth: int) -> bool:
        """Tell whether the search goes no further in an undecided position."""
        return depth <= -self.more or (depth <= 0 and self.game.quiet(position))

    def steps(self, position: int) -> list[tuple[int, int]]:
        """Return the moves of a position, and where they lead."""
        return [(move, self.game.do_move(position, move)) for move in self.game.generate_moves(position)]

    def odds(self, position: int) -> list[int]:
        """Return the weights of the moves of a position in which it is chance's turn; none in any other."""
        if mover(self.game, position) != CHANCE:
            return []
        return [self.game.odds(position, move) for move in self.game.generate_moves(position)]


def mean(weights: list[int], brings: list[float]) -> float:
    """Return the mean of some numbers by their weights."""
    return sum(weight * bring for weight, bring in zip(weights, brings, strict=True)) / sum(weights)


# One player or two


def less_the_other(game: Game, position: int, paid: Callable[[int], int]) -> int:
    """Return what is *paid* to who is to move in a position, less what is to the other."""
    player = max(0, mover(game, position))
    return paid(player) - (paid(1 - player) if game.players == 2 else 0)


def gain(game: Game, position: int, move: int) -> int:
    """Return what a move pays at once."""
    return less_the_other(game, position, lambda player: game.reward(position, move, player))


def leaf(view: View, position: int, depth: int) -> float | None:
    """Return the worth of a position where the search goes no further; None where it does."""
    game = view.game
    if view.over(position):
        return less_the_other(game, position, lambda player: game.payoff(position, player))
    return view.estimate(position) / POINT if view.stops(position, depth) else None


def expectiminimax(view: View, position: int, depth: int) -> float:
    """Look at everything (Michie, 1966)."""
    if (worth := leaf(view, position, depth)) is not None:
        return worth
    brings = []
    for move, child in view.steps(position):
        sign = 1 if same_mover(view.game, position, child) else -1
        brings.append(gain(view.game, position, move) + sign * expectiminimax(view, child, depth - 1))
    return mean(view.odds(position), brings) if view.odds(position) else max(brings)


def star1(view: View, position: int, depth: int, low: float = -INFINITE, high: float = INFINITE) -> float:
    """Leave out what cannot matter, of chance's moves too (Ballard, 1983).

    What is not looked at yet is worth *most* to one player or to the other; so a move of chance matters as far as the
    mean can still come to lie between *low* and *high*.
    """
    if (worth := leaf(view, position, depth)) is not None:
        return worth
    odds = view.odds(position)
    best, known, rest = -INFINITE, 0.0, sum(odds)
    for number, (move, child) in enumerate(view.steps(position)):
        floor, ceiling = max(low, best), high
        if odds:
            rest -= odds[number]
            floor = (low * sum(odds) - known - rest * view.most) / odds[number]
            ceiling = (high * sum(odds) - known + rest * view.most) / odds[number]
        paid = gain(view.game, position, move)
        if same_mover(view.game, position, child):
            brings = paid + star1(view, child, depth - 1, floor - paid, ceiling - paid)
        else:
            brings = paid - star1(view, child, depth - 1, paid - ceiling, paid - floor)
        if not odds:
            best = max(best, brings)
            if best >= high:
                break
            continue
        known += odds[number] * brings
        if brings <= floor:
            return (known + rest * view.most) / sum(odds)
        if brings >= ceiling:
            return (known - rest * view.most) / sum(odds)
    return known / sum(odds) if odds else best


# Any number of players


def estimates(view: View, position: int) -> list[float]:
    """Return for each player what an estimate stands for: what is good for one is as bad for all others together."""
    players = view.game.players
    good = view.estimate(position) / POINT
    who = max(0, mover(view.game, position))
    return [good if player == who else -good / (players - 1) for player in range(players)]


def outlook(view: View, position: int, depth: int) -> list[float] | None:
    """Return what each player gets where the search goes no further; None where it does."""
    if view.over(position):
        return [view.game.payoff(position, player) for player in range(view.game.players)]
    return estimates(view, position) if view.stops(position, depth) else None


def max_n(view: View, position: int, depth: int) -> list[float]:
    """Return what each player gets if each makes the move, the first of the best, by which he gets the most himself
    (Luckhardt and Irani, 1986)."""
    if (shares := outlook(view, position, depth)) is not None:
        return shares
    game, players = view.game, range(view.game.players)
    brings = []
    for move, child in view.steps(position):
        below = max_n(view, child, depth - 1)
        brings.append([game.reward(position, move, player) + below[player] for player in players])
    if odds := view.odds(position):
        return [mean(odds, [shares[player] for shares in brings]) for player in players]
    who = mover(game, position)
    return max(brings, key=lambda shares: shares[who])


def paranoid(view: View, position: int, depth: int, me: int) -> float:
    """Return what a player gets if all others play for nothing but that he gets little (Sturtevant and Korf, 2000)."""
    if (shares := outlook(view, position, depth)) is not None:
        return shares[me]
    brings = [
        view.game.reward(position, move, me) + paranoid(view, child, depth - 1, me)
        for move, child in view.steps(position)
    ]
    if odds := view.odds(position):
        return mean(odds, brings)
    return max(brings) if mover(view.game, position) == me else min(brings)
