"""The textbook searches, slow and obvious: minimax, alpha-beta, null windows, max^n and proof numbers.

They return the tree of the positions they searched, which can be drawn and counted. The `value` of the tree's root is
the position's value, the same for minimax and alpha-beta. Tests compare the compiled search with them.

The player to move at the root is *Max*; the other player, or all others together, are *Min*. Values are as Max sees
them: scores, in which wins and losses count plies from the root (see `depth/scores.py`), or points, which count what
the moves from the root on have paid. At a move of chance the value is the mean (*expectiminimax*).

The *window* of a position says which values matter: `low` (alpha) is what Max gets elsewhere for sure, `high` (beta)
the most that Min will allow. As soon as they meet, the remaining moves are cut.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from retrograde.games.catalog import variant
from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, Traits, mover
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.depth.scores import FAR, INFINITE, POINT, score_of

MAX, MIN = 0, 1
"""The sides; a node may also be CHANCE's."""


@dataclass
class Node:
    """A searched position: its side, window and value, and a child node for each move searched, in order.

    `player` is Max's number. `paid` is what the moves from the root on have paid each player. `odds` is the probability
    of chance's move to this node, as (weight, sum of weights). `best` is the index of the best child. `cut` are the
    moves that were not searched. `estimated`: the value is the position's own estimate. `numbers` are each player's
    points for max^n, or the proof and disproof number. `marked`: this is the most-proving node.
    """

    position: int
    side: int
    player: int
    ply: int = 0
    paid: tuple[float, ...] = ()
    odds: tuple[int, int] | None = None
    low: float = -INFINITE
    high: float = INFINITE
    value: float = 0
    numbers: tuple[float, ...] = ()
    best: int | None = None
    moves: list[int] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    estimated: bool = False
    marked: bool = False

    def add(self, move: int, child: "Node") -> "Node":
        """Append a move and its child; return the child."""
        self.moves.append(move)
        self.children.append(child)
        return child

    def nodes(self) -> Iterator["Node"]:
        """Yield this node and all below it."""
        waiting = [self]
        while waiting:
            yield (node := waiting.pop())
            waiting += reversed(node.children)

    @property
    def positions(self) -> int:
        """Number of positions searched here and below."""
        return sum(1 for _ in self.nodes())

    @property
    def leaves(self) -> int:
        """Number of leaves of the tree below."""
        return sum(not node.children for node in self.nodes())


Order = Callable[[Node, int], list[int]]
"""Returns the moves to search, in order, of a node at a remaining depth."""


@dataclass(frozen=True)
class TextbookRules:
    """Settings of a search; *most* is the greatest number of points of a position."""

    game: Game
    order: Order
    estimate: Callable[[int], int]
    quiescence: int = 0
    null_windows: bool = False
    by_points: bool = False
    most: float = INFINITE

    def make_root(self, position: int) -> Node:
        """Return the node of a position in which Max, or chance, is to move."""
        player = mover(self.game, position)
        side = CHANCE if player == CHANCE else MAX
        return Node(position, side, max(0, player), paid=(0.0,) * self.game.players)

    def make_children(self, node: Node, depth: int) -> Iterator[tuple[int, Node]]:
        """Yield the moves to search and the nodes they lead to."""
        for move in self.order(node, depth):
            yield move, self.make_child(node, move)

    def make_child(self, node: Node, move: int) -> Node:
        """Return the node after a move: its side, and the points paid on the way or the odds of chance."""
        game, position = self.game, self.game.do_move(node.position, move)
        side = MIN if node.side == MAX else MAX
        if not Traits.of(game).alternates:
            player = mover(game, position)
            side = MAX if player == node.player else MIN
            if player == CHANCE:
                side = CHANCE
        paid, odds = node.paid, None
        if self.by_points:
            gains = [game.reward(node.position, move, player) for player in range(game.players)]
            paid = tuple(map(sum, zip(paid, self.put_max_first(node, gains), strict=True)))
        if node.side == CHANCE:
            total = sum(game.odds(node.position, other) for other in game.generate_moves(node.position))
            odds = game.odds(node.position, move), total
        return Node(position, side, node.player, node.ply + 1, paid, odds)

    def put_max_first(self, node: Node, points: Sequence[float]) -> Sequence[float]:
        """Return points by player, reordered if two players alternate: then rules put the player to move first."""
        return points[::-1] if node.side == MIN and Traits.of(self.game).alternates else points

    def evaluate_leaf(self, node: Node, depth: int) -> bool:
        """Return whether the search ends at a node. If so, or if the player may stop there, set its value, and each
        player's numbers by points."""
        game, position, players = self.game, node.position, range(self.game.players)
        end = game.primitive(position)
        if end == UNDECIDED and depth > -self.quiescence and (depth > 0 or not game.quiet(position)):
            return False
        node.estimated = end == UNDECIDED
        score = self.estimate(position) if node.estimated else score_of(end, node.ply)
        if not self.by_points:
            node.value = -score if node.side == MIN else score
            return not self.exchange_moves(node, depth)
        if node.estimated:
            # All others share the estimate of the player to move as a loss; of two players, each takes half.
            turn, own = max(0, mover(game, position)), score / POINT / (2 if len(players) == 2 else 1)
            points = [own if player == turn else -own / (len(players) - 1) for player in players]
        else:
            points = [float(game.payoff(position, player)) for player in players]
        node.numbers = tuple(map(sum, zip(node.paid, self.put_max_first(node, points), strict=True)))
        node.value = node.numbers[node.player] - (node.numbers[1 - node.player] if len(players) == 2 else 0)
        return True

    def exchange_moves(self, node: Node, depth: int) -> list[int]:
        """Return the moves with which quiescence search goes on though the player may stop. Their `promise` is above 0.
        Without `exchanges` there are none."""
        if not (node.estimated and depth > -self.quiescence and self.game.exchanges) or node.side == CHANCE:
            return []
        return [move for move in self.order(node, depth) if self.game.promise(node.position, move) > 0]


def is_better(side: int, value: float, other: float) -> bool:
    """Return whether a value is better for a side, MAX or MIN, than another."""
    return value < other if side == MIN else value > other


# Minimax and alpha-beta


def minimax(rules: TextbookRules, node: Node, depth: int) -> Node:
    """Search everything below a node; return it with its value, children and best child. Chance takes the mean."""
    if rules.evaluate_leaf(node, depth):
        return node
    for i, (move, child) in enumerate(rules.make_children(node, depth)):
        value = node.add(move, minimax(rules, child, depth - 1)).value
        if node.side != CHANCE and (i == 0 or is_better(node.side, value, node.value)):
            node.best, node.value = i, value
    if node.side == CHANCE:
        node.value = mean(node, [child.value for child in node.children])
    return node


def mean(node: Node, values: list[float]) -> float:
    """Return the mean of the values of chance's moves, weighted by their odds."""
    odds = [child.odds for child in node.children if child.odds]
    return sum(weight * value for (weight, _), value in zip(odds, values, strict=True)) / odds[0][1]


def alpha_beta(rules: TextbookRules, node: Node, depth: int, low: float = -INFINITE, high: float = INFINITE) -> Node:
    """Search without the moves that cannot matter, because one of the sides will avoid the position. With null windows,
    search each move but the first with one, and again if it is better (SCOUT; Pearl, 1980)."""
    node.low, node.high = low, high
    if rules.evaluate_leaf(node, depth):
        return node
    if node.side == CHANCE:
        return star1(rules, node, depth)
    if node.estimated:  # the player may stop here and take the estimate
        low, high = (max(low, node.value), high) if node.side == MAX else (low, min(high, node.value))
    for move in rules.exchange_moves(node, depth) if node.estimated else rules.order(node, depth):
        if low >= high:
            node.cut.append(move)
            continue
        windows = [(low, high)]
        if rules.null_windows and node.children and high - low > 1:
            windows.insert(0, (low, low + 1) if node.side == MAX else (high - 1, high))
        for least, most in windows:
            value = node.add(move, alpha_beta(rules, rules.make_child(node, move), depth - 1, least, most)).value
            # Beyond a null window, the value is a bound that may hide a better move: search again.
            if (value < most) if node.side == MAX else (value > least):
                break
        if (node.best is None and not node.estimated) or is_better(node.side, value, node.value):
            node.best, node.value = len(node.children) - 1, value
        low, high = (max(low, value), high) if node.side == MAX else (low, min(high, value))
    return node


def star1(rules: TextbookRules, node: Node, depth: int) -> Node:
    """Search chance's moves until the mean must leave the window (Ballard, 1983). No move brings more than `most`."""
    weighted_sum = odds_left = 0.0
    left_window = False
    for move, child in rules.make_children(node, depth):
        if left_window:
            node.cut.append(move)
            continue
        weight, total = child.odds or (1, 1)
        odds_left = (odds_left if node.children else total) - weight
        # Beyond these bounds of the move, the mean is below `low` or above `high`, whatever the moves left bring.
        least = max(-INFINITE, (node.low * total - weighted_sum - odds_left * rules.most) / weight)
        most = min(INFINITE, (node.high * total - weighted_sum + odds_left * rules.most) / weight)
        value = node.add(move, alpha_beta(rules, child, depth - 1, least, most)).value
        weighted_sum += weight * value
        left_window = not least < value < most
        node.value = weighted_sum / total
        if left_window and odds_left:  # the value is a bound
            node.value += (odds_left if value <= least else -odds_left) * rules.most / total
    return node


# Several players


def max_n(rules: TextbookRules, node: Node, depth: int) -> Node:
    """Search everything below a node; each player maximises their own points (Luckhardt and Irani, 1986)."""
    if rules.evaluate_leaf(node, depth):
        return node
    player = mover(rules.game, node.position)
    for i, (move, child) in enumerate(rules.make_children(node, depth)):
        numbers = node.add(move, max_n(rules, child, depth - 1)).numbers
        if node.side != CHANCE and (i == 0 or numbers[player] > node.numbers[player]):
            node.best, node.numbers = i, numbers
    if node.side == CHANCE:
        node.numbers = tuple(
            mean(node, list(points)) for points in zip(*(c.numbers for c in node.children), strict=True)
        )
    node.value = node.numbers[node.player]
    return node


# Proof numbers: how many open leaves must become wins of Max, at least, to prove that Max wins; and how many must
# become something else to disprove it


def proof_tree(rules: TextbookRules, root: Node, depth: int | None, most: int) -> Node:
    """Return the tree of proof-number search (Allis, 1994) for the question whether Max wins.

    With *depth*, positions that many plies deep are open leaves. Else the most-proving node is expanded, until the root
    is decided or the tree has *most* positions.
    """
    classify(rules, root, [])
    if depth and is_open(root):
        expand(rules, [root], depth)
    line = count_proofs(root)
    while depth is None and is_open(line[-1]) and root.positions < most:
        expand(rules, line)
        line = count_proofs(root)
    line[-1].marked = 0 not in root.numbers
    return root


def is_open(node: Node) -> bool:
    """Return whether proof-number search can expand a leaf: it has no answer, and leads to other positions."""
    return 0 not in node.numbers and not node.estimated


def expand(rules: TextbookRules, line: list[Node], depth: int = 1) -> None:
    """Add the children of the last node of a line from the root, and what is below them, *depth* plies deep."""
    for move, child in rules.make_children(line[-1], 1):
        classify(rules, line[-1].add(move, child), line)
        if depth > 1 and is_open(child):
            expand(rules, [*line, child], depth - 1)


def classify(rules: TextbookRules, node: Node, line: list[Node]) -> None:
    """Set the proof numbers of a new leaf; *line* are the nodes from the root to its parent. A leaf that repeats one of
    their positions is no win, and one that leads only to itself stays open."""
    if node.side == CHANCE:
        raise NotForSearch(f"proof numbers are for games without chance; draw {variant(rules.game)} without --method")
    repeats = any((node.position, node.side) == (above.position, above.side) for above in line)
    over = rules.evaluate_leaf(node, 1) or repeats
    node.estimated = not over and all(child.position == node.position for _, child in rules.make_children(node, 1))
    node.numbers = 1, 1
    if over:
        node.numbers = (0, INFINITE) if node.value > 0 else (INFINITE, 0)


def count_proofs(node: Node) -> list[Node]:
    """Set the proof and disproof number of a node and of all below; return the line to its most-proving node."""
    if not node.children:
        return [node]
    lines = [count_proofs(child) for child in node.children]
    # Max needs one proved child (proof numbers, index 0), Min one disproved child (index 1).
    own_number = 0 if node.side == MAX else 1
    node.best = min(range(len(lines)), key=lambda i: node.children[i].numbers[own_number])
    least = node.children[node.best].numbers[own_number]
    total = min(INFINITE, sum(child.numbers[1 - own_number] for child in node.children))
    node.numbers = (least, total) if own_number == 0 else (total, least)
    node.value = FAR if node.numbers[0] == 0 else 0
    if node.numbers[1] == 0:
        node.value = -FAR
    return [node, *lines[node.best]]


# Conspiracy numbers


def count_conspirators(node: Node, goal: float, up: bool) -> float:
    """Return how many estimates must change, at least, to move a node's minimax value up (or down) to a goal. These are
    the conspiracy numbers of McAllester (1988). INFINITE if no change of estimates does it."""
    if (node.value >= goal) if up else (node.value <= goal):
        return 0
    if not node.children:
        return 1 if node.estimated else INFINITE
    counts = [count_conspirators(child, goal, up) for child in node.children]
    # The player who gains by the change needs one child for it; against the other player all children must change.
    return min(counts) if up == (node.side == MAX) else min(INFINITE, sum(counts))


# Orders


def order_without_symmetry(game: Game) -> Order:
    """Return an Order: that of the rules, with one of the moves that pay the same and lead to symmetric positions."""
    pays = Traits.of(game).has_rewards

    def order(node: Node, depth: int) -> list[int]:
        """Return the moves as the rules generate them, of symmetric ones only the first."""
        if node.side == CHANCE:
            return list(game.generate_moves(node.position))
        moves: dict[tuple[int, ...], int] = {}
        for move in game.generate_moves(node.position):
            gains = [game.reward(node.position, move, player) for player in range(game.players)] if pays else []
            moves.setdefault((game.canonical(game.do_move(node.position, move)), *gains), move)
        return list(moves.values())

    return order


def order_by_minimax(rules: TextbookRules, best_first: bool) -> Order:
    """Return an Order by the minimax value of each move, best or worst first; chance's moves stay as they are."""
    orders: dict[tuple[int, int, int], list[int]] = {}

    def order(node: Node, depth: int) -> list[int]:
        """Return the moves by the value that minimax finds for each, the best or the worst first."""
        if node.side == CHANCE:
            return rules.order(node, depth)
        if (node.position, node.side, depth) not in orders:
            found = Node(node.position, node.side, node.player, node.ply, node.paid)
            for move, child in rules.make_children(node, depth):
                found.add(move, minimax(rules, child, depth - 1))
            save_orders(found, depth)
        return orders[node.position, node.side, depth]

    def save_orders(root: Node, depth: int) -> None:
        """Save the orders of the moves of a searched node and of all below it, for later searches of them."""
        for node in root.nodes():
            key = node.position, node.side, depth - (node.ply - root.ply)
            if node.children and key not in orders:
                worth = {move: child.value for move, child in zip(node.moves, node.children, strict=True)}
                is_descending = best_first == (node.side == MAX)
                orders[key] = sorted(worth, key=worth.__getitem__, reverse=is_descending)

    return order
