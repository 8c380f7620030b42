"""The search trees of one position by several searches, and how many positions each searched.

The trees drawn: minimax, which searches everything; alpha-beta with the worst move order, which cuts least; and
alpha-beta with the best order, which cuts most. Null windows with the best order are counted only. Of moves that lead
to symmetric positions, one is searched. All searches find the same value.

The player to move at the root is Max, the other one Min. Texts about a node take Max's view.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from retrograde.games.contract.game import Game, RetrogradeError
from retrograde.solver.rules.examine import refuse_to_search
from retrograde.solver.search.depth.scores import INFINITE, plies_to_end
from retrograde.solver.search.trees.textbook import (
    Node,
    TextbookScores,
    alpha_beta,
    minimax,
    order_by_minimax,
    order_without_symmetry,
)

MOST_POSITIONS = 20_000
"""Greatest number of positions that minimax may search: the textbook searches are slow on purpose."""
USUAL_POSITIONS = 40
"""Positions, at most, of a tree whose depth the user does not choose; and its greatest depth in plies."""
USUAL_DEPTH = 4
MOST_LINES = 60
"""Greatest number of lines of a tree. Deeper plies are left out first, then later lines."""
GAP = 3
CUT = "╳"


class TreeTooLarge(RetrogradeError, ValueError):
    """A tree has more positions than can be drawn."""


class Tree(NamedTuple):
    """A search's name and the root of its tree."""

    name: str
    root: Node


@dataclass(frozen=True)
class Trees:
    """The trees of a position at a depth; all have the same value."""

    game: Game
    position: int
    depth: int
    drawn: tuple[Tree, ...]
    counted: tuple[Tree, ...]
    """The trees drawn, and others of which only the counts are shown."""

    @property
    def value(self) -> int:
        """The position's value by all searches."""
        return int(self.drawn[0].root.value)


def trees_of(game: Game, position: int, depth: int | None = None) -> Trees:
    """Return the trees of a position; without *depth*, as deep as can be drawn easily. Raise TreeTooLarge."""
    refuse_to_search(game)
    rules = TextbookScores(game, order_without_symmetry(game), game.estimate)
    if depth is None:
        depths = [plies for plies in range(1, USUAL_DEPTH + 1) if count(rules, position, plies) <= USUAL_POSITIONS]
        depth = max(depths, default=1)
    if count(rules, position, depth) > MOST_POSITIONS:
        most = f"a tree of {depth} plies has more than {MOST_POSITIONS:,} positions"
        raise TreeTooLarge(f"{most}, too many to be drawn; give a smaller --depth, or a position nearer to the end")
    worst = TextbookScores(game, order_by_minimax(rules, best_first=False), game.estimate)
    best = TextbookScores(game, order_by_minimax(rules, best_first=True), game.estimate)
    drawn = (
        Tree("minimax", minimax(rules, position, depth)),
        Tree("alpha-beta, worst first", alpha_beta(worst, position, depth)),
        Tree("alpha-beta, best first", alpha_beta(best, position, depth)),
    )
    more = Tree("null windows, best first", alpha_beta(replace(best, null_windows=True), position, depth))
    return Trees(game, position, depth, drawn, (*drawn, more))


def count(rules: TextbookScores, position: int, depth: int, so_far: int = 0) -> int:
    """Return how many positions minimax searches; stop soon after MOST_POSITIONS."""
    so_far += 1
    if rules.leaf(position, depth, 0, 0, 0) is None:
        for _, child in rules.steps(position, depth):
            if so_far > MOST_POSITIONS:
                break
            so_far = count(rules, child, depth - 1, so_far)
    return so_far


# Which part of a tree is drawn


def depth_within(root: Node, most: int) -> int:
    """Return the greatest depth, at least 1, at which a tree has at most *most* nodes, cut moves included."""
    depth = 1
    while depth < deepest(root) and nodes_to(root, depth + 1) <= most:
        depth += 1
    return depth


def nodes_to(node: Node, depth: int) -> int:
    """Return the number of nodes below a node down to *depth*; its cut moves count as one."""
    return bool(node.cut) + sum(1 + (nodes_to(child, depth - 1) if depth > 1 else 0) for child in node.children)


def deepest(node: Node) -> int:
    """Return the depth of a tree in plies."""
    return max((1 + deepest(child) for child in node.children), default=0)


# Texts about a node, from Max's view


def number(score: float) -> str:
    """Return a short text for a score: `W3` is a win after 3 plies, `L2` a loss after 2; others are estimates.

    >>> [number(score) for score in (5, 0, -5, INFINITE, -INFINITE, (1 << 40) - 3)]
    ['+5', '0', '−5', '+∞', '−∞', 'W3']
    """
    sign = "+" if score > 0 else "−" if score < 0 else ""
    if abs(score) == INFINITE:
        return f"{sign}∞"
    plies = plies_to_end(int(score))
    return f"{sign}{abs(score)}" if plies is None else f"{'W' if score > 0 else 'L'}{plies}"


def value_text(node: Node, ply: int) -> str:
    """Return the text of a node's value, with ≤ or ≥ if the value is only a bound.

    It is one if the search left the node's window.
    """
    turned = ply % 2 == 1
    bound = "≥" if node.value >= node.high else "≤" if node.value <= node.low else ""
    if node.estimated or not node.children:
        bound = ""
    if turned:
        bound = {"≥": "≤", "≤": "≥"}.get(bound, "")
    return bound + number(-node.value if turned else node.value)


def window_text(node: Node, ply: int) -> str:
    """Return the text of a node's window: α and β."""
    low, high = (-node.high, -node.low) if ply % 2 else (node.low, node.high)
    return f"{number(low)} {number(high)}"


# Trees as text: a line for each position and each cut, side by side if the width allows


def trees_text(trees: Trees, width: int) -> str:
    """Return the trees as text, side by side within *width* columns, else one below the other."""
    blocks = [tree_lines(trees.game, tree) for tree in trees.drawn]
    widths = [max(map(len, block)) for block in blocks]
    if sum(widths) + GAP * (len(blocks) - 1) > width:
        return "\n\n".join("\n".join(block) for block in blocks)
    rows = range(max(map(len, blocks)))
    cells = [
        [(block[row] if row < len(block) else "").ljust(wide) for row in rows]
        for block, wide in zip(blocks, widths, strict=True)
    ]
    return "\n".join((" " * GAP).join(column[row] for column in cells).rstrip() for row in rows)


def tree_lines(game: Game, tree: Tree) -> list[str]:
    """Return the lines of a tree with its name. If it is too large, the last line says what is missing."""
    depth = depth_within(tree.root, MOST_LINES)
    windows = tree.name != "minimax"
    root = f"Max {value_text(tree.root, 0)}" + (f" ({window_text(tree.root, 0)})" if windows else "")
    lines = [tree.name, root, *lines_of(game, tree.root, depth, windows)]
    if len(lines) > MOST_LINES + 2:
        lines = [*lines[: MOST_LINES + 2], f"… and {len(lines) - MOST_LINES - 2:,} more lines"]
    return lines


def lines_of(game: Game, node: Node, depth: int, windows: bool, ply: int = 1, before: str = "") -> Iterator[str]:
    """Yield the lines of everything below a node, *depth* plies deep."""
    for i, (move, child) in enumerate(zip(node.moves, node.children, strict=True)):
        last = i == len(node.moves) - 1 and not node.cut
        window = f" ({window_text(child, ply)})" if windows and child.children else ""
        hidden = f" … {child.positions - 1:,} below" if depth == 1 and child.children else ""
        name = game.move_name(node.position, move)
        yield f"{before}{'└' if last else '├'} {name} {value_text(child, ply)}{window}{hidden}"
        if depth > 1:
            yield from lines_of(game, child, depth - 1, windows, ply + 1, before + ("  " if last else "│ "))
    if node.cut:
        names = [game.move_name(node.position, move) for move in node.cut]
        moves = " ".join(names) if len(names) <= 3 else f"{names[0]} … {names[-1]}: {len(names)}"
        yield f"{before}└{CUT} {moves}"
