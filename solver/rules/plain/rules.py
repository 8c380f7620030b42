"""The rules of a game as programs: arrays that compiled loops evaluate for a whole tier at once.

Each rule is run on symbols once for a game (see symbols.py), and the program is evaluated for each tier (see
tier_kernels.py). A tier is described by its `base`, the bits that all its positions share, and its `mask`, the bits
that may differ.
"""

from collections.abc import Callable, Iterator
from operator import index
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import LOSE, WIN, Game
from retrograde.solver.rules.plain.symbols import FALSE, LANES, Branch, Circuit, Leaf, Symbol, Tree
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.work import NotApplicable

LEAF = -1
"""In a row of `trees`: this row is a leaf. In a row of `sets`: no more moves."""
NO_MIRROR = np.empty(0, np.int64)
"""The game has no mirror."""


class Program(NamedTuple):
    """A circuit, decision trees on its literals, and the bits that leaves return.

    `nodes`, int64[n, 3]: (AND or XOR, literal, literal). `trees`, int64[m, 3]: (literal, row if true, row if false), or
    (LEAF, number, 0). `lanes`, int64[k, l]: for each number of a leaf the literals of its bits, 64 for each int.
    """

    nodes: Array
    trees: Array
    lanes: Array


class Rules(NamedTuple):
    """The programs of a game.

    `moving`: its first tree decides which moves there are; leaves are row numbers of `sets`, which lists indices into
    `moves`, ended by LEAF. The tree of move number k begins at row `roots[k]`; its leaves have the bits of the child
    and of the child's tier. Leaves of `ending` are primitive values; `decided` is that of decided games. Leaves of
    `imaging` have the bits of the position and of all its images, each followed by its tier. `mirror` is the result of
    `mirror_of`.
    """

    moving: Program
    moves: Array
    roots: Array
    sets: Array
    ending: Program
    decided: int
    imaging: Program
    mirror: Array


TreeRows = list[tuple[int, int, int]]
"""Rows of `trees` in a Program."""
Lanes = list[list[int]]
"""Rows of `lanes` in a Program."""


def add_tree(rows: TreeRows, tree: Tree, number_of: Callable[[Any], int]) -> int:
    """Append a tree to the rows of a program; return its first row. *number_of* turns the result at a leaf into a
    number.

    Branch(6, Leaf(7), Leaf(8)) becomes the rows (6, 1, 2), (LEAF, 7, 0), (LEAF, 8, 0), if these are the first ones.
    """
    row = len(rows)
    rows.append((LEAF, 0, 0))
    if isinstance(tree, Leaf):
        rows[row] = (LEAF, number_of(tree.result), 0)
    else:
        rows[row] = (tree.literal, add_tree(rows, tree.if_true, number_of), add_tree(rows, tree.if_false, number_of))
    return row


def results_in(tree: Tree) -> Iterator[Any]:
    """Yield the results at the leaves of a tree."""
    if isinstance(tree, Branch):
        yield from results_in(tree.if_true)
        yield from results_in(tree.if_false)
    else:
        yield tree.result


def add_tree_of_bits(rows: TreeRows, tree: Tree, lanes: Lanes) -> int:
    """Like `add_tree`, for leaves that are lists of literals: append these to *lanes*."""

    def number_of(bits: list[int]) -> int:
        lanes.append(bits)
        return len(lanes) - 1

    return add_tree(rows, tree, number_of)


def make_program(circuit: Circuit, rows: TreeRows, lanes: Lanes) -> Program:
    """Return a program of a circuit, trees and lanes; short rows of *lanes* are padded with 0 (false)."""
    width = max(map(len, lanes), default=0)
    return Program(
        np.array(circuit.nodes, np.int64),
        np.array(rows, np.int64).reshape(-1, 3),
        np.array([row + [0] * (width - len(row)) for row in lanes], np.int64).reshape(len(lanes), width),
    )


def rules_of(game: Game) -> Rules:
    """Return the rules of a game as programs; raise NotApplicable if they cannot be run on symbols."""
    ends, images = ending_program(game), image_program(game)
    return Rules(*move_program(game), ends, value_of_decided(ends), images, mirror_of(images))


def move_program(game: Game) -> tuple[Program, Array, Array, Array]:
    """Run the rules of moves on symbols; return the first four fields of `Rules`."""
    circuit = Circuit()
    rows: TreeRows = []
    lanes: Lanes = []
    # Step 1: The tree of moves. Positions with equal lists of moves share a leaf number.
    tree = circuit.decisions(lambda position: tuple(map(index, game.generate_moves(position))))  # type: ignore[arg-type]
    moves = sorted({move for move_list in results_in(tree) for move in move_list})
    sets = {move_list: number for number, move_list in enumerate(dict.fromkeys(results_in(tree)))}
    add_tree(rows, tree, sets.__getitem__)
    # Step 2: A tree for each move. Its leaves have 64 literals of the child and 64 of the child's tier.
    roots = []
    for move in moves:

        def follow(position: Symbol, move: int = move) -> list[int]:
            child = game.do_move(position, move)  # type: ignore[arg-type]  # a symbol stands for an int
            return [*position.bits_of(child), *position.bits_of(game.tier(child))]

        roots.append(add_tree_of_bits(rows, circuit.decisions(follow), lanes))
    # Step 3: The lists of moves, as a table.
    table = np.full((len(sets), len(moves) + 1), LEAF, np.int64)
    for move_list, number in sets.items():
        table[number, : len(move_list)] = [moves.index(move) for move in move_list]
    return make_program(circuit, rows, lanes), np.array(moves, np.int64), np.array(roots, np.int64), table


def ending_program(game: Game) -> Program:
    """Return the program of primitive values."""
    circuit = Circuit()
    rows: TreeRows = []
    add_tree(rows, circuit.decisions(lambda position: index(game.primitive(position))), int)  # type: ignore[arg-type]
    return make_program(circuit, rows, [])


def value_of_decided(ending: Program) -> int:
    """Return the primitive value of decided games: WIN if some leaf is WIN and none LOSE (misère play), else LOSE."""
    values = {int(row[1]) for row in ending.trees if row[0] == LEAF}
    return int(WIN if WIN in values and LOSE not in values else LOSE)


def image_program(game: Game) -> Program:
    """Return the program of a position and its images, each followed by its tier."""
    circuit = Circuit()
    rows: TreeRows = []
    lanes: Lanes = []

    def images(position: Symbol) -> list[int]:
        all_images: list[Any] = [position, *game.images(position)]  # type: ignore[arg-type]  # a symbol stands for an int
        return [bit for image in all_images for number in (image, game.tier(image)) for bit in position.bits_of(number)]

    tree = circuit.decisions(images)
    add_tree_of_bits(rows, tree, lanes)
    if len({*map(len, results_in(tree))}) > 1:
        raise NotApplicable("the number of a position's images depends on the position")
    return make_program(circuit, rows, lanes)


def mirror_of(imaging: Program) -> Array:
    """Return, for each bit of a position, the bit of the mirror image to which it moves (LANES: none), int64[LANES].

    NO_MIRROR unless there is a single image, it only moves bits, and it is its own inverse.
    """
    # Literals of the image's bits: the lanes are position, its tier, image, its tier.
    images = imaging.lanes[:, 2 * LANES : 3 * LANES]
    if imaging.lanes.shape[1] != 4 * LANES or (images != images[0]).any():
        return NO_MIRROR
    mirror = np.full(LANES, LANES)
    for image_bit, literal in enumerate(images[0].tolist()):
        if literal == FALSE:
            continue
        # Each bit of the image must be an uncomplemented bit of the position, and each of these may be used once.
        bit = (literal >> 1) - 1  # node 1 is bit 0
        if literal & 1 or not 0 <= bit < LANES or mirror[bit] != LANES:
            return NO_MIRROR
        mirror[bit] = image_bit
    # The mirror must be its own inverse.
    bits = np.flatnonzero(mirror != LANES)
    return mirror if np.array_equal(mirror[mirror[bits]], bits) else NO_MIRROR
