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

from retrograde.games.contract.game import LOSE, WIN, Game
from retrograde.solver.rules.plain.symbols import FALSE, LANES, Branch, Circuit, Leaf, Symbol, Tree
from retrograde.solver.runtime.work import Unfit

Array = np.ndarray[Any, Any]

LEAF = -1
NO_MIRROR = np.empty(0, np.int64)


class Program(NamedTuple):
    """A circuit, the trees of decisions in it, and the `lanes` of their leaves: int64[n, 3], int64[m, 3], int64[k, l].

    A row of `trees` has a literal and the rows that follow where it is true and where it is not, or LEAF and a number.
    """

    nodes: Array
    trees: Array
    lanes: Array


class Rules(NamedTuple):
    """The programs of a game.

    Of `moving` the first tree is that of the moves, whose leaves are numbers of rows of `sets`, the moves by number and
    LEAF behind the last; then comes one for each of the `moves`, from the row in `roots` on, whose leaves are a child's
    bits and those of its tier. Leaves of `ending` are primitive values, and `decided` is that of decided games; those
    of `imaging` are the bits of all images. The `mirror` is what `mirror_of` returns.
    """

    moving: Program
    moves: Array
    roots: Array
    sets: Array
    ending: Program
    decided: int
    imaging: Program
    mirror: Array


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
    ends, images = ending(game), imaging(game)
    return Rules(*moving(game), ends, worth_of_decided(ends), images, mirror_of(images))


def moving(game: Game) -> tuple[Program, Array, Array, Array]:
    circuit, planter, lanes = Circuit(), Planter(), []
    tree = circuit.decisions(lambda position: tuple(map(index, game.generate_moves(position))))  # type: ignore[arg-type]
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


def worth_of_decided(ending: Program) -> int:
    """Return what decided games are worth to who is to move: LOSE, or WIN where no leaf says LOSE, as in misère play.

    Where other values are met, programs of tiers tell (see `ends_of`).
    """
    values = {int(row[1]) for row in ending.trees if row[0] == LEAF}
    return int(WIN if WIN in values and LOSE not in values else LOSE)


def imaging(game: Game) -> Program:
    circuit, planter, lanes = Circuit(), Planter(), []

    def images(position: Symbol) -> list[int]:
        found: list[Any] = [position, *game.images(position)]  # type: ignore[arg-type]  # a symbol stands for an int
        return [bit for image in found for one in (image, game.tier(image)) for bit in position.bits_of(one)]

    def lane(bits: list[int]) -> int:
        lanes.append(bits)
        return len(lanes) - 1

    tree = circuit.decisions(images)
    planter.plant(tree, lane)
    if len({*map(len, results(tree))}) > 1:
        raise Unfit("the number of a position's images depends on the position")
    return program(circuit, planter, lanes)


def mirror_of(imaging: Program) -> Array:
    """Return where each bit of a position is in its image, int64[LANES], LANES for those that are in none; NO_MIRROR
    where there is no such image, or more than one."""
    images = imaging.lanes[:, 2 * LANES : 3 * LANES]
    if imaging.lanes.shape[1] != 4 * LANES or (images != images[0]).any():
        return NO_MIRROR
    mirror = np.full(LANES, LANES)
    for place, literal in enumerate(images[0].tolist()):
        if literal == FALSE:
            continue
        if literal & 1 or not 1 <= literal >> 1 <= LANES or mirror[(literal >> 1) - 1] != LANES:
            return NO_MIRROR
        mirror[(literal >> 1) - 1] = place
    there = np.flatnonzero(mirror != LANES)
    return mirror if np.array_equal(mirror[mirror[there]], there) else NO_MIRROR
