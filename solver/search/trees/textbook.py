"""The textbook searches, slow and obvious: minimax, alpha-beta and null windows.

They return the tree of the positions they searched, which can be drawn and counted. The `value` of the tree's root is
the position's value, the same for all of them. Tests compare the compiled search with them.

Values are scores for the player to move (see `depth/scores.py`), in which wins and losses count plies from the root. So
a parent takes a child's value with the opposite sign, unless the same player moves again. The *window* of a position
says which values matter: `low` is what the player to move gets elsewhere for sure, `high` the most that the opponent
will allow here. As soon as a move reaches `high`, the remaining moves are cut.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from retrograde.games.contract.game import UNDECIDED, Game, same_mover
from retrograde.solver.search.depth.scores import INFINITE, score_of

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
    """Settings of a search: move order, estimate, plies of quiescence search, and whether it has null windows."""

    game: Game
    order: Order
    estimate: Callable[[int], int]
    quiescence: int = 0
    null_windows: bool = False

    def leaf(self, position: int, depth: int, low: float, high: float, ply: int) -> Node | None:
        """Return the leaf node of a position where the search ends; None if it goes on."""
        if self.game.primitive(position) != UNDECIDED:
            return Node(position, low, high, score_of(self.game.primitive(position), ply))
        if depth <= -self.quiescence or (depth <= 0 and self.game.quiet(position)):
            return Node(position, low, high, self.estimate(position), estimated=True)
        return None

    def steps(self, position: int, depth: int) -> Iterator[tuple[int, int]]:
        """Yield the moves to search and the positions they lead to."""
        for move in self.order(position, depth):
            yield move, self.game.do_move(position, move)

    def value_of_move(self, node: Node) -> float:
        """Return what the last move of a node is worth to its player to move."""
        child = node.children[-1]
        return child.value if same_mover(self.game, node.position, child.position) else -child.value


def minimax(rules: TextbookScores, position: int, depth: int, ply: int = 0) -> Node:
    """Search everything."""
    if leaf := rules.leaf(position, depth, -INFINITE, INFINITE, ply):
        return leaf
    node = Node(position, -INFINITE, INFINITE)
    for move, child in rules.steps(position, depth):
        node.add(move, minimax(rules, child, depth - 1, ply + 1))
        node.value = max(node.value, rules.value_of_move(node))
    return node


def alpha_beta(
    rules: TextbookScores, position: int, depth: int, low: float = -INFINITE, high: float = INFINITE, ply: int = 0
) -> Node:
    """Search without the moves that cannot matter, because one of the players will avoid the position.

    With null windows, search each move but the first with one, and again if it is better (SCOUT; Pearl, 1980).
    """
    if leaf := rules.leaf(position, depth, low, high, ply):
        return leaf
    node = Node(position, low, high)
    for move, child in rules.steps(position, depth):
        if node.value >= high:
            node.cut.append(move)
            continue
        floor = max(low, node.value)
        windows = [(floor, high)]
        if rules.null_windows and node.children and high - floor > 1:
            windows = [(floor, floor + 1), (floor, high)]
        for least, most in windows:
            # The window from the view of the player to move in the child.
            window = (least, most) if same_mover(rules.game, position, child) else (-most, -least)
            node.add(move, alpha_beta(rules, child, depth - 1, *window, ply + 1))
            value = rules.value_of_move(node)
            if value < most:
                break
        node.value = max(node.value, value)
    return node


# Orders


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
