"""`retrograde search --tree`: small search trees as in textbooks, for teaching."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import print_json
from retrograde.cli.render.moves import mover
from retrograde.cli.render.words import heading, indent, table, wrap
from retrograde.games import RetrogradeError

if TYPE_CHECKING:
    from retrograde.solver.search.trees.textbook import Node
    from retrograde.solver.search.trees.tree import SearchTree, Trees

WIDTH = 120
"""The width in columns if the output is not a terminal."""


def print_trees(trees: "Trees", out: Path | None, as_json: bool) -> None:
    """Print the trees of a position, or write them as a picture."""
    from retrograde.solver.play.tree_picture import trees_svg

    if out is not None:
        try:
            out.write_text(trees_svg(trees), encoding="utf-8")
        except OSError as error:
            raise RetrogradeError(f"cannot write {str(out)!r}: {error.strerror or error}") from error
    if as_json:
        print_json(trees_json(trees))
    elif out is not None:
        click.echo(str(out))
    else:
        print_as_text(trees)


def print_as_text(trees: "Trees") -> None:
    """Print a position, its trees, and how much each search has visited."""
    from retrograde.solver.search.trees.tree import trees_text

    game = trees.game
    click.echo(indent(game.show(trees.position)) + "\n")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    click.echo(trees_text(trees, width) + "\n")
    rows = [[heading(text) for text in ("looked at", "positions", "at the edge")]]
    rows += [[tree.name, f"{tree.root.positions:,}", f"{tree.root.leaves:,}"] for tree in trees.counted]
    click.echo(table(rows, "<>>") + "\n")
    for note in trees.notes(mover(game, trees.position)):
        click.echo(wrap(note))


def trees_json(trees: "Trees") -> dict[str, Any]:
    """Return trees as JSON: the sizes of all that were counted, and the nodes of those that are drawn."""
    from retrograde.games.catalog import variant

    return {
        "variant": variant(trees.game), "position": trees.game.write(trees.position), "depth": trees.depth,
        "value": trees.value,
        "searches": [
            {"search": tree.name, "positions": tree.root.positions, "leaves": tree.root.leaves}
            for tree in trees.counted
        ],
        "conspiracy": trees.conspiracy(),
        "trees": [{"search": tree.name, **node_json(tree, tree.root)} for tree in trees.drawn],
    }  # fmt: skip


def node_json(tree: "SearchTree", node: "Node") -> dict[str, Any]:
    """Return the facts about a node and those below, ready for JSON."""
    name_of = tree.game.move_name
    return {
        "position": tree.game.write(node.position), "side": tree.side(node), "value": tree.value_of(node),
        "window": tree.window(node).strip("()"),
        "odds": node.odds and "/".join(map(str, node.odds)),
        "moves": {
            name_of(node.position, move): node_json(tree, child)
            for move, child in zip(node.moves, node.children, strict=True)
        },
        "cut": [name_of(node.position, move) for move in node.cut],
    }  # fmt: skip
