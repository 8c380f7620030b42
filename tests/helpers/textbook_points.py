"""Textbook searches by points, slow and obvious: expectiminimax, max^n and paranoid search; and an order of moves.

Points are what will be paid from a position on, by moves and at the end, to the player to move, less what the other
gets. Where the search stops, an estimate in hundredths of a point takes their place. If it is chance's turn, they are
the mean of the moves, weighted by their odds, from the view of player 0.
"""

from dataclasses import dataclass

from retrograde.games import CHANCE, UNDECIDED, Game
from retrograde.games.contract.game import mover, same_mover
from retrograde.solver.search.depth.scores import POINT
from retrograde.solver.search.trees.textbook import Node, Order


def order_by_promise(game: Game) -> Order:
    """Return the move order by the game's promise; equal promises stay in the order of the rules."""

    def order(node: Node, depth: int) -> list[int]:
        return promising(game, node.position)

    return order


def promising(game: Game, position: int) -> list[int]:
    return sorted(game.generate_moves(position), key=lambda move: -game.promise(position, move))


@dataclass(frozen=True)
class TextbookPoints:
    """Settings of a search by points: the game, and plies of quiescence search."""

    game: Game
    quiescence: int = 0

    def shares_of_leaf(self, position: int, depth: int) -> list[float] | None:
        """Return what each player gets where the search stops; None if it goes on.

        An estimate that is good for one player is shared as a loss among all others.
        """
        game, players = self.game, self.game.players
        if game.primitive(position) != UNDECIDED:
            return [game.payoff(position, player) for player in range(players)]
        if depth > -self.quiescence and (depth > 0 or not game.quiet(position)):
            return None
        points, who = game.estimate(position) / POINT, max(0, mover(game, position))
        return [points if player == who else -points / (players - 1) for player in range(players)]

    def steps(self, position: int) -> list[tuple[int, int]]:
        """Return the moves and the positions they lead to, the most promising first."""
        return [(move, self.game.do_move(position, move)) for move in promising(self.game, position)]

    def odds(self, position: int) -> list[int]:
        """Return the weights of chance's moves; empty if a player is to move."""
        if mover(self.game, position) != CHANCE:
            return []
        return [self.game.odds(position, move) for move, _ in self.steps(position)]


def mean(weights: list[int], values: list[float]) -> float:
    """Return the weighted mean."""
    return sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)


def expectiminimax(rules: TextbookPoints, position: int, depth: int) -> float:
    """Return the points of a position of one player or two (Michie, 1966)."""
    game, who = rules.game, max(0, mover(rules.game, position))
    if game.primitive(position) != UNDECIDED:
        return game.payoff(position, who) - (game.payoff(position, 1 - who) if game.players == 2 else 0)
    if depth <= -rules.quiescence or (depth <= 0 and game.quiet(position)):
        return game.estimate(position) / POINT
    values = []
    for move, child in rules.steps(position):
        gain = game.reward(position, move, who) - (game.reward(position, move, 1 - who) if game.players == 2 else 0)
        below = expectiminimax(rules, child, depth - 1)
        values.append(gain + (below if same_mover(game, position, child) else -below))
    odds = rules.odds(position)
    return mean(odds, values) if odds else max(values)


def max_n(rules: TextbookPoints, position: int, depth: int) -> list[float]:
    """Return what each player gets if each maximises their own share (Luckhardt and Irani, 1986).

    Of equal moves the first counts.
    """
    if (shares := rules.shares_of_leaf(position, depth)) is not None:
        return shares
    game, players = rules.game, range(rules.game.players)
    values = []
    for move, child in rules.steps(position):
        below = max_n(rules, child, depth - 1)
        values.append([game.reward(position, move, player) + below[player] for player in players])
    if odds := rules.odds(position):
        return [mean(odds, [shares[player] for shares in values]) for player in players]
    who = mover(game, position)
    return max(values, key=lambda shares: shares[who])


def paranoid(rules: TextbookPoints, position: int, depth: int, me: int) -> float:
    """Return what player *me* gets if all others only minimise that (Sturtevant and Korf, 2000)."""
    if (shares := rules.shares_of_leaf(position, depth)) is not None:
        return shares[me]
    values = [
        rules.game.reward(position, move, me) + paranoid(rules, child, depth - 1, me)
        for move, child in rules.steps(position)
    ]
    if odds := rules.odds(position):
        return mean(odds, values)
    return max(values) if mover(rules.game, position) == me else min(values)
