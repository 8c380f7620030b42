"""What rules do for all positions of a tier at once: run on symbols once for a game, and held against each tier.

A tier is known by the bits that all its positions share, its `base`, and those in which they may differ, its `mask`.
With the shared ones put in, most of a circuit comes to constants and single bits, and what is left is plain: which
moves there are, whether each only writes constant bits, in which tier the children are, what has to be so that the game
is over, and when a position comes before its image. Where it is not plain, the game is left to others: nothing is
guessed.
"""

from collections.abc import Callable, Iterator
from operator import index
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import LOSE, Game
from retrograde.solver.setwise.symbols import LANES, Branch, Circuit, Leaf, Symbol, Tree
from retrograde.solver.work.kernel import kernel
from retrograde.solver.work.work import Unfit

Array = np.ndarray[Any, Any]

UNCLEAR = -1
"""Of a literal under a tier: neither constant nor a bit of the rank. Of a tree: what comes of it is not the same for
all positions."""
FIRST_BIT = 2
"""What a literal is under a tier: 0, 1, or from here on twice the bit of the rank, and one more for its complement."""
MOST_CUBES = 1 << 10
MOST_STACKED = 1 << 12
LEAF = -1
LOST = int(LOSE)


class Program(NamedTuple):
    """A circuit, the trees of decisions in it, and the `lanes` of their leaves: int64[n, 3], int64[m, 3], int64[k, l].

    A row of `trees` has a literal and the rows that follow where it is true and where it is false, or LEAF and a number.
    """

    nodes: Array
    trees: Array
    lanes: Array


class Rules(NamedTuple):
    """The programs of a game.

    Of `moving` the first tree is that of the moves, whose leaves are numbers of rows of `sets`, the moves by number and
    LEAF behind the last; then comes one for each of the `moves`, from the row in `roots` on, whose leaves are a child's
    bits and those of its tier. Leaves of `ending` are primitive values; those of `imaging` the bits of all images.
    """

    moving: Program
    moves: Array
    roots: Array
    sets: Array
    ending: Program
    imaging: Program


class Planter:
    """Trees as rows of a table."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int]] = []

    def plant(self, tree: Tree, number_of: Callable[[Any], int]) -> int:
        """Add a tree, with a number for what its leaves have; return its row."""
        row = len(self.rows)
        self.rows.append((LEAF, 0, 0))
        if isinstance(tree, Leaf):
            self.rows[row] = (LEAF, number_of(tree.result), 0)
        else:
            follow = self.plant(tree.if_true, number_of), self.plant(tree.if_false, number_of)
            self.rows[row] = (tree.literal, *follow)
        return row


def results(tree: Tree) -> Iterator[Any]:
    """Yield what is at the leaves of a tree."""
    if isinstance(tree, Branch):
        yield from results(tree.if_true)
        yield from results(tree.if_false)
    else:
        yield tree.result


def program(circuit: Circuit, planter: Planter, lanes: list[list[int]]) -> Program:
    """Return a program of what has been planted."""
    width = max(map(len, lanes), default=0)
    return Program(
        np.array(circuit.nodes, np.int64),
        np.array(planter.rows, np.int64).reshape(-1, 3),
        np.array([row + [0] * (width - len(row)) for row in lanes], np.int64).reshape(len(lanes), width),
    )


def rules_of(game: Game) -> Rules:
    """Return the rules of a game as programs; raise Unfit where they can only be run on positions that are known."""
    return Rules(*moving(game), ending(game), imaging(game))


def moving(game: Game) -> tuple[Program, Array, Array, Array]:
    circuit, planter, lanes = Circuit(), Planter(), []
    tree = circuit.decisions(lambda position: tuple(map(index, game.generate_moves(position))))
    moves = sorted({move for found in results(tree) for move in found})
    sets = {found: number for number, found in enumerate(dict.fromkeys(results(tree)))}
    planter.plant(tree, sets.__getitem__)
    roots = []
    for move in moves:

        def follow(position: Symbol, move: int = move) -> list[int]:
            child = game.do_move(position, move)  # type: ignore[arg-type]  # a symbol stands for an int
            return [*position.bits_of(child), *position.bits_of(game.tier(child))]

        def lane(bits: list[int]) -> int:
            lanes.append(bits)
            return len(lanes) - 1

        roots.append(planter.plant(circuit.decisions(follow), lane))
    table = np.full((len(sets), len(moves) + 1), LEAF, np.int64)
    for found, number in sets.items():
        table[number, : len(found)] = [moves.index(move) for move in found]
    return program(circuit, planter, lanes), np.array(moves, np.int64), np.array(roots, np.int64), table


def ending(game: Game) -> Program:
    circuit, planter = Circuit(), Planter()
    planter.plant(circuit.decisions(lambda position: index(game.primitive(position))), int)  # type: ignore[arg-type]
    return program(circuit, planter, [])


def imaging(game: Game) -> Program:
    circuit, planter, lanes = Circuit(), Planter(), []

    def images(position: Symbol) -> list[int]:
        found = [position, *game.images(position)]  # type: ignore[arg-type, list-item]  # a symbol stands for an int
        return [bit for image in found for one in (image, game.tier(image)) for bit in position.bits_of(one)]

    def lane(bits: list[int]) -> int:
        lanes.append(bits)
        return len(lanes) - 1

    tree = circuit.decisions(images)
    planter.plant(tree, lane)
    if len({*map(len, results(tree))}) > 1:
        raise Unfit
    return program(circuit, planter, lanes)


# Under a tier


@kernel
def settle(nodes, base, mask, values):
    """Write what each node is under a tier."""
    values[0] = 0
    rank = FIRST_BIT
    for bit in range(LANES):
        if mask >> bit & 1:
            values[1 + bit] = rank
            rank += 2
        else:
            values[1 + bit] = base >> bit & 1
    for node in range(1 + LANES, len(nodes)):
        a, b = value_of(values, nodes[node, 1]), value_of(values, nodes[node, 2])
        if nodes[node, 0] == 0:  # AND
            if a == 0 or b == 0 or (a >= 0 and a ^ 1 == b):
                values[node] = 0
            elif a == 1 or a == b:
                values[node] = b
            else:
                values[node] = a if b == 1 else UNCLEAR
        elif a >= 0 and b >= 0 and (a < FIRST_BIT or b < FIRST_BIT or a >> 1 == b >> 1):
            values[node] = a ^ b  # where neither is constant, 0 or 1, for they are the same or complements
        else:
            values[node] = UNCLEAR


@kernel
def value_of(values, literal):
    """Return what a literal is under a tier."""
    value = values[literal >> 1]
    return value if value < 0 else value ^ literal & 1


@kernel
def leaf_of(trees, row, values):
    """Return the number of the leaf that all positions come to from a row, or UNCLEAR."""
    while trees[row, 0] != LEAF:
        value = value_of(values, trees[row, 0])
        if value != 0 and value != 1:
            return UNCLEAR
        row = trees[row, 1] if value else trees[row, 2]
    return trees[row, 1]


@kernel
def child_of(lanes, values, mask):
    """Return the base and the mask of the children that all positions have by a move, their tier, and whether the move
    only writes constants."""
    base = varying = 0
    rank = FIRST_BIT
    tier, plain = constant_of(lanes[LANES:], values)
    for bit in range(LANES if plain else 0):
        value = value_of(values, lanes[bit])
        if value == 1:
            base |= 1 << bit
        elif value != 0:
            if not mask >> bit & 1 or value != rank:
                return base, varying, tier, False
            varying |= 1 << bit
        rank += 2 * (mask >> bit & 1)
    return base, varying, tier, plain


@kernel
def ends_of(ending, base, mask, values, cubes):
    """Write when positions of a tier are lost: a row of *cubes*, int64[n, 2], has bits of the rank, and what they are.

    Return how many rows there are, and the value of all other positions; UNCLEAR where it is not so plain.
    """
    nodes, trees, _ = ending
    settle(nodes, base, mask, values)
    stack = np.empty((2, MOST_STACKED), np.int64)
    count = row = 0
    while trees[row, 0] != LEAF:
        literal = trees[row, 0]
        value = value_of(values, literal)
        if value == 0 or value == 1:
            row = trees[row, 1] if value else trees[row, 2]
            continue
        if leaf_of(trees, trees[row, 1], values) == LOST:
            row = trees[row, 2]
        elif leaf_of(trees, trees[row, 2], values) == LOST:
            row = trees[row, 1]
            literal ^= 1
        else:
            return count, UNCLEAR
        count = add_cubes(nodes, literal, values, stack, cubes, count)
        if count < 0:
            return 0, UNCLEAR
    return count, trees[row, 1]


@kernel
def add_cubes(nodes, literal, values, stack, cubes, count):
    """Add when a literal is true; return how many cubes there are then, or UNCLEAR."""
    stack[0, 0] = literal
    left = 1
    while left:
        left -= 1
        literal = stack[0, left]
        value = value_of(values, literal)
        if value == 0:
            continue
        node = literal >> 1
        if value == UNCLEAR and literal & 1 and nodes[node, 0] == 0:  # not both: one or the other is not
            if left + 2 > MOST_STACKED:
                return UNCLEAR
            stack[0, left], stack[0, left + 1] = nodes[node, 1] ^ 1, nodes[node, 2] ^ 1
            left += 2
            continue
        bits, ones = cube_of(nodes, literal, values, stack[1])
        if bits == UNCLEAR or count == len(cubes):
            return UNCLEAR
        if ones != UNCLEAR:
            cubes[count, 0], cubes[count, 1] = bits, ones
            count += 1
    return count


@kernel
def cube_of(nodes, literal, values, stack):
    """Return the bits of the rank that decide a literal, and which of them must be ones; UNCLEAR where there are no
    such bits, or, for the latter, where nothing makes it true."""
    bits = ones = 0
    stack[0] = literal
    left = 1
    while left:
        left -= 1
        literal = stack[left]
        value = value_of(values, literal)
        if value == 0:
            return 0, UNCLEAR
        if value >= FIRST_BIT:
            bit, one = 1 << (value - FIRST_BIT >> 1), 1 - (value & 1)
            if bits & bit and (ones & bit != 0) != one:
                return 0, UNCLEAR
            bits |= bit
            ones |= bit * one
        elif value == UNCLEAR:
            node = literal >> 1
            if literal & 1 or nodes[node, 0] != 0 or left + 2 > len(stack):
                return UNCLEAR, 0
            stack[left], stack[left + 1] = nodes[node, 1], nodes[node, 2]
            left += 2
    return bits, ones


LESS, SAME, GREATER, IMAGE_PAIRS = -1, 0, 1, 2 + 2 * LANES


@kernel
def pairs_of(imaging, base, mask, values, pairs):
    """Write what decides whether positions of a tier come before their images; return how many images there are, or
    UNCLEAR.

    A row of *pairs*, int64[n, IMAGE_PAIRS], has how many bits decide, what it is where these are equal, and two by two,
    highest first, what a bit is in the position and in the image: twice the bit of the rank, or 2 × LANES for a
    constant 0, and one more for the complement. Of positions in several tiers, the one in the lowest comes first.
    """
    nodes, trees, lanes = imaging
    settle(nodes, base, mask, values)
    leaf = leaf_of(trees, 0, values)
    if leaf == UNCLEAR:
        return UNCLEAR
    count = lanes.shape[1] // (2 * LANES) - 1
    if count > len(pairs):
        return UNCLEAR
    own, plain = constant_of(lanes[leaf, LANES:], values)
    for image in range(count):
        row, bits = pairs[image], lanes[leaf, 2 * LANES * (image + 1) :]
        tier, also_plain = constant_of(bits[LANES:], values)
        if not plain or not also_plain:
            return UNCLEAR
        row[0], row[1] = 0, SAME
        if tier != own:
            row[1] = LESS if own < tier else GREATER
            continue
        for step in range(LANES):
            bit = LANES - 1 - step
            mine, other = values[1 + bit], value_of(values, bits[bit])
            if other == UNCLEAR:
                return UNCLEAR
            if mine == other:
                continue
            if mine < FIRST_BIT and other < FIRST_BIT:
                row[1] = LESS if mine < other else GREATER
                break
            row[2 + row[0]], row[3 + row[0]] = side(mine), side(other)
            row[0] += 2
    return count


@kernel
def constant_of(lanes, values):
    """Return the number that some lanes make for all positions, and whether there is one."""
    number = 0
    for bit in range(LANES):
        value = value_of(values, lanes[bit])
        if value != 0 and value != 1:
            return 0, False
        number |= value << bit
    return number, True


@kernel
def side(value):
    """Return a bit as a row of pairs has it."""
    return value - FIRST_BIT if value >= FIRST_BIT else 2 * LANES + value
