"""The textbook searches by points, slow and obvious: with payoffs, chance, or more than two players.

The points of a position are what will be paid from there on, by moves and at the end: to the player to move, less what
the other gets. Where the search stops, an estimate in hundredths of a point takes their place. If it is chance's turn,
the points are the mean of the moves, weighted by their odds, from the view of player 0.

Tests compare the compiled searches with them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, mover, same_mover

POINT = 100
"""Units of an estimate per point."""
INFINITE = 2.0**50
"""More than any payoff."""


@dataclass(frozen=True)
class View:
    """Settings of a search: estimate, plies of quiescence search, *more*, and a bound on points, *most*, for Star1."""

    game: Game
    estimate: Callable[[int], int]
    more: int = 0
    most: float = INFINITE

    def over(self, position: int) -> bool:
        """Return whether the game is over."""
        return self.game.primitive(position) != UNDECIDED

    def stops(self, position: int, depth: int) -> bool:
        """Return whether the search stops in an undecided position."""
        return depth <= -self.more or (depth <= 0 and self.game.quiet(position))

    def steps(self, position: int) -> list[tuple[int, int]]:
        """Return the moves of a position and the positions they lead to."""
        return [(move, self.game.do_move(position, move)) for move in self.game.generate_moves(position)]

    def odds(self, position: int) -> list[int]:
        """Return the weights of chance's moves; empty if a player is to move."""
        if mover(self.game, position) != CHANCE:
            return []
        return [self.game.odds(position, move) for move in self.game.generate_moves(position)]


def mean(weights: list[int], brings: list[float]) -> float:
    """Return the weighted mean."""
    return sum(weight * bring for weight, bring in zip(weights, brings, strict=True)) / sum(weights)


# One player or two


def less_the_other(game: Game, position: int, paid: Callable[[int], int]) -> int:
    """Return what the player to move is *paid*, less what the other player is paid."""
    player = max(0, mover(game, position))
    return paid(player) - (paid(1 - player) if game.players == 2 else 0)


def gain(game: Game, position: int, move: int) -> int:
    """Return what a move pays at once."""
    return less_the_other(game, position, lambda player: game.reward(position, move, player))


def leaf(view: View, position: int, depth: int) -> float | None:
    """Return the points of a position where the search stops; None if it goes on."""
    game = view.game
    if view.over(position):
        return less_the_other(game, position, lambda player: game.payoff(position, player))
    return view.estimate(position) / POINT if view.stops(position, depth) else None


def expectiminimax(view: View, position: int, depth: int) -> float:
    """Search everything (Michie, 1966)."""
    if (worth := leaf(view, position, depth)) is not None:
        return worth
    brings = []
    for move, child in view.steps(position):
        sign = 1 if same_mover(view.game, position, child) else -1
        brings.append(gain(view.game, position, move) + sign * expectiminimax(view, child, depth - 1))
    return mean(view.odds(position), brings) if view.odds(position) else max(brings)


def star1(view: View, position: int, depth: int, low: float = -INFINITE, high: float = INFINITE) -> float:
    """Search without moves that cannot matter, chance's moves included (Ballard, 1983).

    A move not searched yet is worth between -*most* and *most*. So a move of chance matters as long as the mean can
    still lie between *low* and *high*.
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
    """Return the estimate of each player; what is good for one is shared as a loss among all others."""
    players = view.game.players
    good = view.estimate(position) / POINT
    who = max(0, mover(view.game, position))
    return [good if player == who else -good / (players - 1) for player in range(players)]


def outlook(view: View, position: int, depth: int) -> list[float] | None:
    """Return what each player gets where the search stops; None if it goes on."""
    if view.over(position):
        return [view.game.payoff(position, player) for player in range(view.game.players)]
    return estimates(view, position) if view.stops(position, depth) else None


def max_n(view: View, position: int, depth: int) -> list[float]:
    """Return what each player gets if each maximises their own share (Luckhardt and Irani, 1986).

    Of equal moves the first counts.
    """
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
    """Return what player *me* gets if all others only minimise that (Sturtevant and Korf, 2000)."""
    if (shares := outlook(view, position, depth)) is not None:
        return shares[me]
    brings = [
        view.game.reward(position, move, me) + paranoid(view, child, depth - 1, me)
        for move, child in view.steps(position)
    ]
    if odds := view.odds(position):
        return mean(odds, brings)
    return max(brings) if mover(view.game, position) == me else min(brings)
