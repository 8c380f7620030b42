"""The textbook searches, slow and obvious: minimax, alpha-beta, and null windows.

Each returns the tree of the positions it searched, which can be drawn and counted. The `value` of the tree's root is
the position's score, the same for all three. Tests compare the compiled search with them.

Values are for the player to move. So a parent takes a child's value with the opposite sign, unless the same player
moves again. The *window* of a position says which values matter: `low` is what the player to move gets elsewhere for
sure, `high` the most that the opponent will allow here. As soon as a move reaches `high`, the remaining moves are cut.
Wins and losses count plies from the root.
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
    low: int
    high: int
    value: int = -INFINITE
    moves: list[int] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    estimated: bool = False

    @property
    def positions(self) -> int:
        """Number of positions searched here and below."""
        return 1 + sum(child.positions for child in self.children)

    @property
    def leaves(self) -> int:
        """Number of leaves of the tree below."""
        return sum(child.leaves for child in self.children) or 1


@dataclass(frozen=True)
class Sight:
    """Settings of a search: move order, estimate, and plies of quiescence search, *more*."""

    game: Game
    order: Order
    estimate: Callable[[int], int]
    more: int = 0

    def stop(self, position: int, depth: int, low: int, high: int, ply: int) -> Node | None:
        """Return the leaf node of a position where the search ends; None if it goes on."""
        end = self.game.primitive(position)
        if end != UNDECIDED:
            return Node(position, low, high, score_of(end, ply))
        if depth <= -self.more or (depth <= 0 and self.game.quiet(position)):
            return Node(position, low, high, self.estimate(position), estimated=True)
        return None

    def steps(self, position: int, depth: int) -> Iterator[tuple[int, int]]:
        """Yield the moves to search and the positions they lead to."""
        for move in self.order(position, depth):
            yield move, self.game.do_move(position, move)

    def turned(self, position: int, child: int, value: int) -> int:
        """Convert a value between the views of the players to move in *position* and *child*."""
        return value if same_mover(self.game, position, child) else -value

    def window(self, position: int, child: int, low: int, high: int) -> tuple[int, int]:
        """Return a window from the view of the player to move in *child*."""
        return (low, high) if same_mover(self.game, position, child) else (-high, -low)


# The searches


def minimax(sight: Sight, position: int, depth: int, ply: int = 0) -> Node:
    """Search everything."""
    if leaf := sight.stop(position, depth, -INFINITE, INFINITE, ply):
        return leaf
    node = Node(position, -INFINITE, INFINITE)
    for move, child in sight.steps(position, depth):
        below = minimax(sight, child, depth - 1, ply + 1)
        node.moves.append(move)
        node.children.append(below)
        node.value = max(node.value, sight.turned(position, child, below.value))
    return node


def alpha_beta(
    sight: Sight, position: int, depth: int, low: int = -INFINITE, high: int = INFINITE, ply: int = 0
) -> Node:
    """Search without the moves that cannot matter, because one of the players will avoid the position."""
    if leaf := sight.stop(position, depth, low, high, ply):
        return leaf
    node = Node(position, low, high)
    for move, child in sight.steps(position, depth):
        if node.value >= high:
            node.cut.append(move)
            continue
        window = sight.window(position, child, max(low, node.value), high)
        below = alpha_beta(sight, child, depth - 1, *window, ply + 1)
        node.moves.append(move)
        node.children.append(below)
        node.value = max(node.value, sight.turned(position, child, below.value))
    return node


def null_windows(
    sight: Sight, position: int, depth: int, low: int = -INFINITE, high: int = INFINITE, ply: int = 0
) -> Node:
    """Search each move but the first with a null window, and again if it is better (SCOUT; Pearl, 1980)."""
    if leaf := sight.stop(position, depth, low, high, ply):
        return leaf
    node = Node(position, low, high)
    for move, child in sight.steps(position, depth):
        if node.value >= high:
            node.cut.append(move)
            continue
        floor = max(low, node.value)
        windows = [(floor, floor + 1), (floor, high)] if node.children and high - floor > 1 else [(floor, high)]
        for least, most in windows:
            below = null_windows(sight, child, depth - 1, *sight.window(position, child, least, most), ply + 1)
            node.moves.append(move)
            node.children.append(below)
            value = sight.turned(position, child, below.value)
            if value < most:
                break
        node.value = max(node.value, value)
    return node


# Orders


def as_given(game: Game) -> Order:
    """Return the move order by the game's promise; equal promises stay in the order of the rules."""

    def order(position: int, depth: int) -> list[int]:
        moves: list[int] = list(game.generate_moves(position))
        return sorted(moves, key=lambda move: -game.promise(position, move))

    return order


def without_symmetry(game: Game) -> Order:
    """Return the order of the rules, with one move of those that lead to symmetric positions."""

    def order(position: int, depth: int) -> list[int]:
        moves: dict[int, int] = {}
        for move in game.generate_moves(position):
            moves.setdefault(game.canonical(game.do_move(position, move)), move)
        return list(moves.values())

    return order


def by_truth(sight: Sight, best_first: bool) -> Order:
    """Return the order by the minimax value of each move, best or worst first."""
    known: dict[tuple[int, int], list[int]] = {}

    def order(position: int, depth: int) -> list[int]:
        if (position, depth) not in known:
            worth = {move: minimax(sight, child, depth - 1).value for move, child in sight.steps(position, depth)}
            known[position, depth] = sorted(worth, key=lambda move: worth[move] if best_first else -worth[move])
        return known[position, depth]

    return order
