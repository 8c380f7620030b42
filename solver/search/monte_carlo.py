"""Monte Carlo tree search: a player who tries moves by playing the game to its end at random, many times.

This is UCT (L. Kocsis and C. Szepesvári, *Bandit based Monte-Carlo planning*, 2006). Each playout

1. goes down the tree, at each position to the move with the greatest mean payoff plus a bonus for few tries;
2. adds the first position that has an untried move, and tries it;
3. goes on by random moves to the end, or for `LONGEST` plies, which pay nothing more;
4. adds what each player got to all moves on the way; of two players, how much more than the other.

The move that was tried most often is played. Nothing is proved, and nothing is asked but the rules.
"""

import math
from collections.abc import Callable
from random import Random

from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, Traits, mover

LONGEST = 500
"""The most plies of a playout."""
HASTE = 1 / 4 / LONGEST
"""The share of the payoff that each ply costs, so that a player wins soon; not where moves pay."""
CURIOSITY = 0.7
"""The weight of the bonus, in units of the range of payoffs seen so far; the square root of 2 for payoffs of ±1."""


class TriedMove:
    """A move in the tree: how often it was tried, what its player got, and the moves tried after it."""

    __slots__ = ("after", "total", "visits")

    def __init__(self) -> None:
        self.visits, self.total = 0, 0.0
        self.after: dict[int, TriedMove] = {}


def by_monte_carlo(game: Game, playouts: int, chance: Random) -> Callable[[int], int]:
    """Return a function from a position to the move with which most of *playouts* playouts began. Of several such moves
    it is the one tried first. The position must not be over."""

    def choose(position: int) -> int:
        search = MonteCarloSearch(game, chance)
        for _ in range(playouts):
            search.play_out(position)
        return max(search.root.after, key=lambda move: search.root.after[move].visits)

    return choose


class MonteCarloSearch:
    """A tree of tried moves, grown by the playouts from one position."""

    def __init__(self, game: Game, chance: Random):
        self.game, self.chance = game, chance
        self.alternates = Traits.of(game).alternates
        self.pays = Traits.of(game).has_rewards
        self.root = TriedMove()
        self.least, self.most = math.inf, -math.inf

    def play_out(self, position: int) -> None:
        """Play one game to its end, first along the tree, and add its payoffs to the moves on the way."""
        payoffs = [0.0] * self.game.players
        path: list[tuple[int, TriedMove]] = []
        node, plies = self.root, 0
        has_grown = False  # whether the tree has got its new move; after it, moves are random
        while plies < LONGEST and self.game.primitive(position) == UNDECIDED:
            player = self.player_to_move(position, plies)
            moves = [*self.game.generate_moves(position)]
            if player == CHANCE:
                move = self.chance.choices(moves, [self.game.odds(position, each) for each in moves])[0]
            elif has_grown:
                move = self.chance.choice(moves)
            else:
                untried = [move for move in moves if move not in node.after]
                move = self.chance.choice(untried) if untried else self.choose_tried(node)
            if not has_grown:
                has_grown = player != CHANCE and move not in node.after
                node = node.after.setdefault(move, TriedMove())
                path.append((player, node))
            if self.pays:
                self.pay(payoffs, plies, [self.game.reward(position, move, i) for i in range(len(payoffs))])
            position = self.game.do_move(position, move)
            plies += 1
        if self.game.primitive(position) != UNDECIDED:
            self.pay(payoffs, plies, [self.game.payoff(position, i) for i in range(len(payoffs))])
        if not self.pays:
            payoffs = [each * (1 - HASTE * plies) for each in payoffs]
        # Of two players, each wants to have more than the other.
        if len(payoffs) == 2:
            payoffs = [payoffs[0] - payoffs[1], payoffs[1] - payoffs[0]]
        self.least, self.most = min(self.least, *payoffs), max(self.most, *payoffs)
        for player, tried in path:
            tried.visits += 1
            tried.total += payoffs[player] if player != CHANCE else 0
        self.root.visits += 1

    def player_to_move(self, position: int, plies: int) -> int:
        """Return the player to move, or CHANCE. If two players alternate, player 0 moves at the root."""
        return plies % 2 if self.alternates else mover(self.game, position)

    def pay(self, payoffs: list[float], plies: int, amounts: list[int]) -> None:
        """Add what a move or an end pays to each player's total. *amounts* begin with the player to move if two
        alternate."""
        for player, amount in enumerate(amounts):
            payoffs[(player + plies) % 2 if self.alternates else player] += amount

    def choose_tried(self, node: TriedMove) -> int:
        """Return the tried move with the greatest mean payoff plus bonus."""
        curiosity = CURIOSITY * (self.most - self.least or 1)
        logarithm = math.log(node.visits)

        def upper_bound(move: int) -> float:
            tried = node.after[move]
            return tried.total / tried.visits + curiosity * math.sqrt(logarithm / tried.visits)

        return max(node.after, key=upper_bound)
