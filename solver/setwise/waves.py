"""Forward: the tiers of a wave from those of the wave before, and their positions as words."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import Game
from retrograde.solver.setwise.forward_kernels import BIT, FROM, LINK, MANY, NO_PLACE, PLACE, SHARED, Sets, forward
from retrograde.solver.setwise.rules import Rules
from retrograde.solver.setwise.symbols import LANES
from retrograde.solver.setwise.tier_kernels import (
    BASE,
    BITS,
    CHILD_BASE,
    CHILD_MASK,
    FOUND,
    GROUP,
    GROUPS,
    LEAD,
    MASK,
    NUMBER,
    OWNER,
    TIER,
    WORDS,
    find_links,
)
from retrograde.solver.setwise.words import groups_of
from retrograde.solver.streamed.steps import TALLIED
from retrograde.solver.work.tasks import room
from retrograde.solver.work.work import Unfit

Array = np.ndarray[Any, Any]

VALUES = 8
"""Rows of a tally of primitive values."""
AFTER_TIER = 2
"""Groups behind those of a tier."""
TASK_WORDS = 1 << 15
"""Words of the tiers before that are worked on in a task, at least, where there are so many."""
MOST_ONE_BY_ONE = 1 << 24
"""Positions of a tier times groups of the next, at most, where several bits are put into ranks."""


class Wave(NamedTuple):
    """A wave: its sets, and the links into its tiers, int64[n, LINK], those of tier k from `starts[k]` on."""

    sets: Sets
    links: Array
    starts: Array

    @property
    def positions(self) -> int:
        """How many positions there are."""
        return int(np.bitwise_count(self.sets.words).sum())


def first_wave(game: Game, start: int) -> Wave:
    """Return the wave of the start alone."""
    tiers = np.zeros((1, TIER), np.int64)
    tiers[0, [NUMBER, BASE, GROUPS, WORDS]] = int(game.tier(start)), start, 1, 1
    sets = Sets(tiers, np.array([1, 0, 0], np.uint64), np.array([0, 1, 1], np.uint32), np.ones(1, np.uint64))
    return Wave(sets, np.empty((0, LINK), np.int64), np.zeros(2, np.int64))


def next_tiers(rules: Rules, tiers: Array) -> tuple[Array, Array, Array] | None:
    """Return the table of tiers that moves lead to from those of a wave, its links, and where those of each begin; None
    where there are no moves. Raises Unfit where the rules are not plain there."""
    found = np.empty((len(tiers) * (rules.sets.shape[1] - 1), FOUND), np.int64)
    values = np.empty(len(rules.moving.nodes), np.int64)
    count = find_links(rules.moving, rules.roots, rules.sets, tiers, values, found)
    if count < 0:
        raise Unfit
    found = found[np.argsort(found[:count, LEAD], kind="stable")]
    numbers, begins = np.unique(found[:, LEAD], return_index=True)
    if not len(numbers):
        return None
    bases, masks = found[:, CHILD_BASE], found[:, CHILD_MASK]
    ones = np.bitwise_or.reduceat(bases, begins)
    varying = np.bitwise_or.reduceat(masks, begins) | ones ^ np.bitwise_and.reduceat(bases, begins)
    children = np.zeros((len(numbers), TIER), np.int64)
    children[:, NUMBER], children[:, BASE], children[:, MASK] = numbers, ones & ~varying, varying
    children[:, BITS] = np.bitwise_count(varying)
    children[:, GROUPS] = [groups_of(bits) for bits in range(LANES)] @ (np.arange(LANES)[:, None] == children[:, BITS])
    ends = np.cumsum(children[:, GROUPS] + AFTER_TIER)
    children[:, GROUP] = ends - children[:, GROUPS] - AFTER_TIER
    starts = np.append(begins, len(found))
    own = np.repeat(varying, np.diff(starts))
    links = np.empty((len(found), LINK), np.int64)
    links[:, FROM], links[:, SHARED] = found[:, OWNER], bases
    new = own & ~masks
    links[:, PLACE] = np.bitwise_count(own & new - 1)
    links[:, BIT] = bases & new != 0
    links[new == 0, PLACE] = NO_PLACE
    many = new & new - 1 != 0
    links[many, PLACE] = MANY
    if many.any():
        groups = np.repeat(children[:, GROUPS], np.diff(starts))[many]
        if (groups * tiers[links[many, FROM], WORDS] * LANES).max() > MOST_ONE_BY_ONE:
            raise Unfit
    return children, links, starts


class Task(NamedTuple):
    """Some tiers of a wave, from one row to another, to be filled from the wave before."""

    rules: Rules
    parents: Sets
    children: Sets
    links: Array
    starts: Array
    begin: int
    end: int


def fill(task: Task) -> tuple[int, int, Array, Array]:
    """Fill some tiers, in which WORD counts from the first of them on; return which, their words, and a tally of the
    positions where the game is over. Raises Unfit where the rules are not plain there."""
    _, parents, children, links, starts, begin, end = task
    own = starts[begin : end + 1]
    froms = parents.tiers[links[own[0] : own[-1], FROM], WORDS]
    most = min(2 * int(froms.sum()), LANES * int(children.tiers[begin:end, GROUPS].sum()))
    words, tally = room("words", most, np.uint64), np.zeros((VALUES, TALLIED), np.int64)
    count = forward(task.rules.ending, task.rules.imaging, parents, children, begin, links, own, words, tally)
    if count < 0:
        raise Unfit
    return begin, end, words[:count].copy(), tally


def tasks_of(rules: Rules, parents: Sets, children: Sets, links: Array, starts: Array) -> Iterator[Task]:
    """Yield tasks that fill the tiers of a wave."""
    weights = np.add.reduceat(parents.tiers[links[:, FROM], WORDS], starts[:-1]) + children.tiers[:, GROUPS]
    for begin, end in stretches(weights, TASK_WORDS):
        yield Task(rules, parents, children, links, starts, begin, end)


def stretches(weights: Array, least: int) -> Iterator[tuple[int, int]]:
    """Cut a list of weights, yielding from where to where, into stretches of about so much."""
    cuts = np.flatnonzero(np.diff(np.cumsum(weights) // least)) + 1
    return pairwise([0, *cuts.tolist(), len(weights)])
