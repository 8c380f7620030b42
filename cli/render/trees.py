"""`retrograde search --tree`: small search trees as in textbooks, for teaching."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrograde.cli.common import print_json
from retrograde.cli.render.moves import mover
from retrograde.cli.render.words import heading, indent, table, wrap

if TYPE_CHECKING:
    from retrograde.games import Game
    from retrograde.solver.search.trees.textbook import Node
    from retrograde.solver.search.trees.tree import Trees

WIDTH = 120
"""The width in columns if the output is not a terminal."""


def tell_trees(game: "Game", position: int, depth: int | None, out: Path | None, as_json: bool) -> None:
    """Print the trees of a position, or write them as a picture."""
    from retrograde.games import UNDECIDED, RetrogradeError
    from retrograde.solver.play.tree_picture import trees_svg
    from retrograde.solver.search.trees.tree import trees_of

    if out is not None and out.suffix != ".svg":
        raise click.UsageError(f"the picture must be .svg, not {out.name!r}", click.get_current_context())
    if game.primitive(position) != UNDECIDED:
        raise RetrogradeError(f"the game is over in {game.write(position)!r}; a tree begins where it goes on")
    trees = trees_of(game, position, depth)
    if out is not None:
        try:
            out.write_text(trees_svg(trees), encoding="utf-8")
        except OSError as error:
            raise RetrogradeError(f"cannot write {str(out)!r}: {error.strerror or error}") from error
    if as_json:
        print_json(facts(trees))
    elif out is not None:
        click.echo(str(out))
    else:
        print_trees(trees)


def print_trees(trees: "Trees") -> None:
    """Print a position, its trees, and how much each search has visited."""
    from retrograde.solver.search.trees.tree import trees_text

    game = trees.game
    click.echo(indent(game.show(trees.position)) + "\n")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    click.echo(trees_text(trees, width) + "\n")
    rows = [[heading(text) for text in ("looked at", "positions", "at the edge")]]
    rows += [[tree.name, f"{tree.root.positions:,}", f"{tree.root.leaves:,}"] for tree in trees.counted]
    click.echo(table(rows, "<>>") + "\n")
    told = "W3 is a win after 3 plies and L2 a loss after 2, other numbers are estimates"
    notes = [
        f"Max is {mover(game, trees.position)}, and values are as Max sees them: {told}, or 0 for a tie.",
        "In brackets α and β, between which a value matters; ╳ are moves that were cut.",
        "Of moves that are equal by symmetry one is looked at." if is_symmetric(game) else "",
    ]
    click.echo(wrap(" ".join(filter(None, notes))))


def is_symmetric(game: "Game") -> bool:
    from retrograde.games.contract.game import Traits

    return Traits.of(game).has_images


def facts(trees: "Trees") -> dict[str, Any]:
    from retrograde.games.catalog import variant
    from retrograde.solver.search.trees.tree import number

    game = trees.game
    return {
        "variant": variant(game), "position": game.write(trees.position), "depth": trees.depth,
        "value": number(trees.value),
        "searches": [
            {"search": name, "positions": root.positions, "leaves": root.leaves} for name, root in trees.counted
        ],
        "trees": [{"search": tree.name, **node_facts(game, tree.root, 0)} for tree in trees.drawn],
    }  # fmt: skip


def node_facts(game: "Game", node: "Node", ply: int) -> dict[str, Any]:
    from retrograde.solver.search.trees.tree import value_text, window_text

    return {
        "position": game.write(node.position), "value": value_text(node, ply), "window": window_text(node, ply),
        "moves": {
            game.move_name(node.position, move): node_facts(game, child, ply + 1)
            for move, child in zip(node.moves, node.children, strict=True)
        },
        "cut": [game.move_name(node.position, move) for move in node.cut],
    }  # fmt: skip
