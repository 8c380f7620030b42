"""The textbook searches, slow and obvious: minimax, alpha-beta and null windows, max^n and paranoid search.

The first three return the tree of the positions they searched, which can be drawn and counted. The `value` of the
tree's root is the position's value, the same for all of them. Tests compare the compiled search with them.

Values are for the player to move. So a parent takes a child's value with the opposite sign, unless the same player
moves again. The *window* of a position says which values matter: `low` is what the player to move gets elsewhere for
sure, `high` the most that the opponent will allow here. As soon as a move reaches `high`, the remaining moves are cut.

A value is a score (see `scores.py`), in which wins and losses count plies from the root. Or it is *points*: what will
be paid from there on, by moves and at the end, to the player to move, less what the other gets. Where the search stops,
an estimate in hundredths of a point takes their place. If it is chance's turn, the points are the mean of the moves,
weighted by their odds, from the view of player 0.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, mover, same_mover
from retrograde.solver.search.depth.scores import INFINITE, MOST_POINTS, POINT, score_of

Order = Callable[[int, int], list[int]]
"""Returns the moves to search, in order, of a position at a remaining depth."""


@dataclass
class Node:
    """A searched position: its window, its value, and a child node for each move searched, in order.

    `cut` are the moves that were not searched. `estimated` is True if the value is the position's own estimate.
    """

    position: int
    low: float
    high: float
    value: float = -INFINITE
    moves: list[int] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    estimated: bool = False

    def add(self, move: int, child: "Node") -> None:
        """Append the child node of a move."""
        self.moves.append(move)
        self.children.append(child)

    @property
    def positions(self) -> int:
        """Number of positions searched here and below."""
        return 1 + sum(child.positions for child in self.children)

    @property
    def leaves(self) -> int:
        """Number of leaves of the tree below."""
        return sum(child.leaves for child in self.children) or 1


@dataclass(frozen=True)
class TextbookScores:
    """Settings of a search by scores: move order, estimate, and plies of quiescence search."""

    game: Game
    order: Order
    estimate: Callable[[int], int]
    quiescence: int = 0

    def leaf(self, position: int, depth: int, low: float, high: float, ply: int) -> Node | None:
        """Return the leaf node of a position where the search ends; None if it goes on."""
        if self.game.primitive(position) != UNDECIDED:
            return Node(position, low, high, self.end_value(position, ply))
        if self.stops(position, depth):
            return Node(position, low, high, self.estimated_value(position), estimated=True)
        return None

    def stops(self, position: int, depth: int) -> bool:
        """Return whether the search stops in an undecided position."""
        return depth <= -self.quiescence or (depth <= 0 and self.game.quiet(position))

    def end_value(self, position: int, ply: int) -> float:
        """Return the value of a position in which the game is over."""
        return score_of(self.game.primitive(position), ply)

    def estimated_value(self, position: int) -> float:
        """Return the estimate of a position as a value."""
        return self.estimate(position)

    def gain(self, position: int, move: int) -> float:
        """Return what a move pays at once."""
        return 0

    def odds(self, position: int, depth: int) -> list[int]:
        """Return the weights of chance's moves; empty if a player is to move."""
        return []

    def steps(self, position: int, depth: int) -> Iterator[tuple[int, int]]:
        """Yield the moves to search and the positions they lead to."""
        for move in self.order(position, depth):
            yield move, self.game.do_move(position, move)

    def value_of_move(self, position: int, move: int, child: Node) -> float:
        """Return what a move is worth to the player to move in *position*."""
        value = child.value if same_mover(self.game, position, child.position) else -child.value
        return self.gain(position, move) + value

    def window(self, position: int, move: int, child: int, low: float, high: float) -> tuple[float, float]:
        """Return the window of a child, from the view of the player to move there."""
        gain = self.gain(position, move)
        return (low - gain, high - gain) if same_mover(self.game, position, child) else (gain - high, gain - low)


@dataclass(frozen=True)
class TextbookPoints(TextbookScores):
    """Settings of a search by points; *most* bounds the points of any position, for Star1."""

    most: float = MOST_POINTS

    def end_value(self, position: int, ply: int) -> float:
        return self.less_the_other(position, lambda player: self.game.payoff(position, player))

    def estimated_value(self, position: int) -> float:
        return self.estimate(position) / POINT

    def gain(self, position: int, move: int) -> float:
        return self.less_the_other(position, lambda player: self.game.reward(position, move, player))

    def odds(self, position: int, depth: int) -> list[int]:
        if mover(self.game, position) != CHANCE:
            return []
        return [self.game.odds(position, move) for move in self.order(position, depth)]

    def less_the_other(self, position: int, paid: Callable[[int], int]) -> int:
        """Return what the player to move is *paid*, less what the other player is paid."""
        player = max(0, mover(self.game, position))
        return paid(player) - (paid(1 - player) if self.game.players == 2 else 0)


# One player or two


def minimax(rules: TextbookScores, position: int, depth: int, ply: int = 0) -> Node:
    """Search everything; with chance it is expectiminimax (Michie, 1966)."""
    if leaf := rules.leaf(position, depth, -INFINITE, INFINITE, ply):
        return leaf
    node, values = Node(position, -INFINITE, INFINITE), []
    for move, child in rules.steps(position, depth):
        node.add(move, minimax(rules, child, depth - 1, ply + 1))
        values.append(rules.value_of_move(position, move, node.children[-1]))
    odds = rules.odds(position, depth)
    node.value = mean(odds, values) if odds else max(values)
    return node


def alpha_beta(
    rules: TextbookScores, position: int, depth: int, low: float = -INFINITE, high: float = INFINITE, ply: int = 0
) -> Node:
    """Search without the moves that cannot matter, because one of the players will avoid the position."""
    if leaf := rules.leaf(position, depth, low, high, ply):
        return leaf
    if odds := rules.odds(position, depth):
        return star1(rules, odds, Node(position, low, high), depth, ply)
    node = Node(position, low, high)
    for move, child in rules.steps(position, depth):
        if node.value >= high:
            node.cut.append(move)
            continue
        window = rules.window(position, move, child, max(low, node.value), high)
        node.add(move, alpha_beta(rules, child, depth - 1, *window, ply + 1))
        node.value = max(node.value, rules.value_of_move(position, move, node.children[-1]))
    return node


def star1(rules: TextbookScores, odds: list[int], node: Node, depth: int, ply: int) -> Node:
    """Search chance's moves without those that cannot matter (Ballard, 1983).

    A move not searched yet is worth between -*most* and *most*. So a move matters as long as the mean can still lie
    within the window.
    """
    total, rest, known = sum(odds), sum(odds), 0.0
    most = getattr(rules, "most", MOST_POINTS)
    for weight, (move, child) in zip(odds, rules.steps(node.position, depth), strict=True):
        rest -= weight
        floor = (node.low * total - known - rest * most) / weight
        ceiling = (node.high * total - known + rest * most) / weight
        window = rules.window(node.position, move, child, floor, ceiling)
        node.add(move, alpha_beta(rules, child, depth - 1, *window, ply + 1))
        value = rules.value_of_move(node.position, move, node.children[-1])
        known += weight * value
        node.value = known / total
        if value <= floor or value >= ceiling:
            node.value = (known + (rest * most if value <= floor else -rest * most)) / total
            break
    return node


def null_windows(
    rules: TextbookScores, position: int, depth: int, low: float = -INFINITE, high: float = INFINITE, ply: int = 0
) -> Node:
    """Search each move but the first with a null window, and again if it is better (SCOUT; Pearl, 1980)."""
    if leaf := rules.leaf(position, depth, low, high, ply):
        return leaf
    node = Node(position, low, high)
    for move, child in rules.steps(position, depth):
        if node.value >= high:
            node.cut.append(move)
            continue
        floor = max(low, node.value)
        windows = [(floor, floor + 1), (floor, high)] if node.children and high - floor > 1 else [(floor, high)]
        for least, most in windows:
            window = rules.window(position, move, child, least, most)
            node.add(move, null_windows(rules, child, depth - 1, *window, ply + 1))
            value = rules.value_of_move(position, move, node.children[-1])
            if value < most:
                break
        node.value = max(node.value, value)
    return node


def mean(weights: list[int], values: list[float]) -> float:
    """Return the weighted mean."""
    return sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)


# Any number of players


def shares_of_leaf(rules: TextbookPoints, position: int, depth: int) -> list[float] | None:
    """Return what each player gets where the search stops; None if it goes on.

    An estimate that is good for one player is shared as a loss among all others.
    """
    game, players = rules.game, rules.game.players
    if game.primitive(position) != UNDECIDED:
        return [game.payoff(position, player) for player in range(players)]
    if not rules.stops(position, depth):
        return None
    points, who = rules.estimated_value(position), max(0, mover(game, position))
    return [points if player == who else -points / (players - 1) for player in range(players)]


def max_n(rules: TextbookPoints, position: int, depth: int) -> list[float]:
    """Return what each player gets if each maximises their own share (Luckhardt and Irani, 1986).

    Of equal moves the first counts.
    """
    if (shares := shares_of_leaf(rules, position, depth)) is not None:
        return shares
    game, players = rules.game, range(rules.game.players)
    values = []
    for move, child in rules.steps(position, depth):
        below = max_n(rules, child, depth - 1)
        values.append([game.reward(position, move, player) + below[player] for player in players])
    if odds := rules.odds(position, depth):
        return [mean(odds, [shares[player] for shares in values]) for player in players]
    who = mover(game, position)
    return max(values, key=lambda shares: shares[who])


def paranoid(rules: TextbookPoints, position: int, depth: int, me: int) -> float:
    """Return what player *me* gets if all others only minimise that (Sturtevant and Korf, 2000)."""
    if (shares := shares_of_leaf(rules, position, depth)) is not None:
        return shares[me]
    values = [
        rules.game.reward(position, move, me) + paranoid(rules, child, depth - 1, me)
        for move, child in rules.steps(position, depth)
    ]
    if odds := rules.odds(position, depth):
        return mean(odds, values)
    return max(values) if mover(rules.game, position) == me else min(values)


# Orders


def order_by_promise(game: Game) -> Order:
    """Return the move order by the game's promise; equal promises stay in the order of the rules."""

    def order(position: int, depth: int) -> list[int]:
        moves: list[int] = list(game.generate_moves(position))
        return sorted(moves, key=lambda move: -game.promise(position, move))

    return order


def order_without_symmetry(game: Game) -> Order:
    """Return the order of the rules, with one move of those that lead to symmetric positions."""

    def order(position: int, depth: int) -> list[int]:
        moves: dict[int, int] = {}
        for move in game.generate_moves(position):
            moves.setdefault(game.canonical(game.do_move(position, move)), move)
        return list(moves.values())

    return order


def order_by_minimax(rules: TextbookScores, best_first: bool) -> Order:
    """Return the order by the minimax value of each move, best or worst first."""
    known: dict[tuple[int, int], list[int]] = {}

    def order(position: int, depth: int) -> list[int]:
        if (position, depth) not in known:
            worth = {move: minimax(rules, child, depth - 1).value for move, child in rules.steps(position, depth)}
            known[position, depth] = sorted(worth, key=lambda move: worth[move] if best_first else -worth[move])
        return known[position, depth]

    return order
