"""The searches of the textbooks, slow and obvious: minimax, alpha-beta, and null windows.

Each returns the tree of what it has looked at, which can be drawn, and counted; what it thinks of the position is the
`value` of the tree's root. The three agree on it. They are what the compiled search is held against.

Values are for the player to move, so a child's value counts for its parent with the opposite sign, unless the same one
is to move there. Of a position only this much matters, the *window*: `low` is what the player to move is sure of
elsewhere, `high` what the opponent will let it have at most. As soon as a move brings `high`, the others are cut: the
opponent will not let it come to this. Wins and losses count plies from the root.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from retrograde.games.contract.game import UNDECIDED, Game, same_mover
from retrograde.solver.search.depth.scores import INFINITE, score_of

Order = Callable[[int, int], list[int]]
"""The moves of a position that are tried, in that order, where so many plies are looked ahead."""


@dataclass
class Node:
    """A position that was looked at: its window, its value, and a node for each move that was tried, in that order.

    `cut` are the moves that were not; `estimated` is whether the value is an estimate, not that of an end, nor one that
    the children have.
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
        """How many positions were looked at here and below."""
        return 1 + sum(child.positions for child in self.children)

    @property
    def leaves(self) -> int:
        """At how many of them the search went no further."""
        return sum(child.leaves for child in self.children) or 1


@dataclass(frozen=True)
class Sight:
    """How a search looks at a game: which moves in which order, and where it stops, with what estimate.

    Where the estimate may not be trusted, up to so many plies *more* are looked at.
    """

    game: Game
    order: Order
    estimate: Callable[[int], int]
    more: int = 0

    def stop(self, position: int, depth: int, low: int, high: int, ply: int) -> Node | None:
        """Return the node of a position where the search goes no further; None where it does."""
        end = self.game.primitive(position)
        if end != UNDECIDED:
            return Node(position, low, high, score_of(end, ply))
        if depth <= -self.more or (depth <= 0 and self.game.quiet(position)):
            return Node(position, low, high, self.estimate(position), estimated=True)
        return None

    def steps(self, position: int, depth: int) -> Iterator[tuple[int, int]]:
        """Yield the moves that are tried, and where they lead."""
        for move in self.order(position, depth):
            yield move, self.game.do_move(position, move)

    def turned(self, position: int, child: int, value: int) -> int:
        """Return what the value of a child is to who is to move in a position, and the other way round."""
        return value if same_mover(self.game, position, child) else -value

    def window(self, position: int, child: int, low: int, high: int) -> tuple[int, int]:
        """Return a window as who is to move in a child sees it."""
        return (low, high) if same_mover(self.game, position, child) else (-high, -low)


# The searches


def minimax(sight: Sight, position: int, depth: int, ply: int = 0) -> Node:
    """Look at everything."""
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
    """Leave out what cannot matter, since one of the two will not let it come to that."""
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
    """Ask of each move but the first only whether it is better, and look again where it is (Pearl's SCOUT, 1980)."""
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
    """Return the order of what the game promises of its moves, or else that in which the rules generate them."""

    def order(position: int, depth: int) -> list[int]:
        moves: list[int] = list(game.generate_moves(position))
        return sorted(moves, key=lambda move: -game.promise(position, move))

    return order


def without_symmetry(game: Game) -> Order:
    """Return the same order, with one move alone of those that lead to positions that are equal by symmetry."""

    def order(position: int, depth: int) -> list[int]:
        moves: dict[int, int] = {}
        for move in game.generate_moves(position):
            moves.setdefault(game.canonical(game.do_move(position, move)), move)
        return list(moves.values())

    return order


def by_truth(sight: Sight, best_first: bool) -> Order:
    """Return the best order there is, or the worst: by what each move is worth, which only minimax knows."""
    known: dict[tuple[int, int], list[int]] = {}

    def order(position: int, depth: int) -> list[int]:
        if (position, depth) not in known:
            worth = {move: minimax(sight, child, depth - 1).value for move, child in sight.steps(position, depth)}
            known[position, depth] = sorted(worth, key=lambda move: worth[move] if best_first else -worth[move])
        return known[position, depth]

    return order
