"""What tasks over a state space are told, and where in it the children of a block are."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RuleError, defines
from retrograde.solver.listed import kernels
from retrograde.solver.listed.space import StateSpace
from retrograde.solver.rules.examine import examine
from retrograde.solver.rules.expansion import Block, Expander
from retrograde.solver.work.arrays import Shared

Array = np.ndarray[Any, Any]


class Table(NamedTuple):
    """What tasks are told: the game, its state space, and the scores that are known, with so many *bits* for plies."""

    game: Game
    space: StateSpace
    scores: Shared
    bits: int

    @property
    def symmetric(self) -> bool:
        """Whether positions may be equal by symmetry."""
        return defines(self.game, "images")


def expand_located(table: Table, expander: Expander, k: int, begin: int, end: int) -> Block:
    """Return a block with the children, and their places, of a stretch of tier number k.

    The place of a child where the player moves again is -2 less what it is.
    """
    block = expand_placed(table, expander, k, begin, end)
    expander.mark_moves_again(table.space.positions[begin:end], block, block.origins)
    return block


def expand_placed(table: Table, expander: Expander, k: int, begin: int, end: int) -> Block:
    """Return the same, whoever is to move."""
    space = table.space
    positions = space.positions[begin:end]
    block = expander.expand(int(space.tiers[k]), positions, sizes=table.symmetric)
    if locate(table, block):
        missing = ((block.children >= 0) & (block.places < 0))[:, : block.columns].any(axis=0)
        position = int(positions[block.origins[np.flatnonzero(missing)[0]]])
        examine(table.game, position)
        raise RuleError(
            f"{variant(table.game)}, position {position}: the rules give moves that they did not give before; "
            "they must depend on the position alone"
        )
    return block


def locate(table: Table, block: Block) -> int:
    """Fill the places of the children in a block, and return how many have none."""
    space, unsorted = table.space, np.zeros(len(block.children), np.bool_)
    if space.large:
        kernels.disorder(block.columns, block.children, unsorted)
    missing = kernels.locate(block.columns, block.matrix, unsorted, space.lists, space.index, block.places)
    return int(missing)
