"""Blocks of positions as links to their children, with what expectations need of the rules."""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import alternates
from retrograde.solver.listed.table import Table, expand_placed
from retrograde.solver.listed.weights import Weights, weigh
from retrograde.solver.metrics import expectation_kernels as kernels
from retrograde.solver.metrics.expectation_kernels import Links, Sides
from retrograde.solver.models.seats import Seats
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.work.arrays import Shared

Array = np.ndarray[Any, Any]


class PayoffOverflow(Exception):
    """Payoffs leave no room for so many bits after the point."""


class Told(NamedTuple):
    """What tasks are told: where positions are, and the bounds that are known, so many *bits* after the point.

    With *seats*, each position has two places beside one another; see `models/seats.py`.
    """

    table: Table
    bounds: tuple[Shared, Shared]
    bits: int
    seats: Seats | None = None

    @property
    def width(self) -> int:
        """How many places each position has."""
        return 2 if self.seats else 1

    @property
    def arrays(self) -> tuple[Array, Array]:
        """The two rows of bounds."""
        return self.bounds[0].array, self.bounds[1].array


def look_at(task: tuple[Told, int, int, int, int]) -> tuple[Links, Array, Array]:
    """Return the links of a block of a tier, what its places pay where the game is over, and how many positions are
    symmetric to each.

    The places of its own positions are counted from *first* on, those of children among all.
    """
    told, k, begin, end, first = task
    game, space = told.table.game, told.table.space
    block = expand_placed(told.table, expander_of(game), k, begin, end)
    weights = weigh(game, space.positions[begin:end], block)
    check_room(weights, told.bits)
    columns, cells = told.width * block.columns, told.width * block.columns * len(block.children)
    links = Links(
        np.empty(columns, np.int64), np.empty(columns, np.int8), np.empty(columns, np.bool_),
        np.zeros(columns + 1, np.int64),
        np.empty(cells, np.int32 if told.width * len(space) < 1 << 31 else np.int64), np.empty(cells, np.int32),
        np.empty(told.width * weights.rewards.size, np.int64),
    )  # fmt: skip
    if told.seats:
        weighed = told.seats.weigh(game, space.positions[begin:end].astype(np.int64), weights, block)
        sides = Sides(*weighed, alternates(game))
        count = kernels.link_both(block.columns, block.places, block.origins, weights, sides, first, told.bits, links)
    else:
        links.turns[:] = weights.turns
        count = kernels.link(columns, block.places, block.origins, weights, first, told.bits, links)
    links = Links(*links[:4], *(array[:count].copy() for array in links[4:]))
    pays = np.stack([weights.pays, -weights.pays], 1).ravel() if told.seats else weights.pays
    return links, pays, block.matrix.sizes.copy()


def check_room(weights: Weights, bits: int) -> None:
    """Raise PayoffOverflow where what is paid leaves no room for so many bits after the point."""
    for paid in (weights.pays, weights.rewards):
        if paid.size and max(int(paid.max()), -int(paid.min())) >= kernels.LIMIT >> bits:
            raise PayoffOverflow
