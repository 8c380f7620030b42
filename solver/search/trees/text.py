"""Search trees as text: a line for each position and each cut, side by side if the width allows."""

from collections.abc import Iterator

from retrograde.games.contract.game import Game
from retrograde.solver.search.depth.textbook import Node
from retrograde.solver.search.trees.tree import Tree, Trees, depth_within, value_text, window_text

MOST_LINES = 60
"""Greatest number of lines of a tree. Deeper plies are left out first, then later lines."""
GAP = 3
CUT = "╳"


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
        told = " ".join(names) if len(names) <= 3 else f"{names[0]} … {names[-1]}: {len(names)}"
        yield f"{before}└{CUT} {told}"
