"""Forward: the tiers of a wave from those of the wave before, and their positions as words."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.game import Game
from retrograde.solver.setwise.forward_kernels import (
    BASE,
    BIT,
    BITS,
    FROM,
    GROUP,
    GROUPS,
    LINK,
    MANY,
    MASK,
    NO_PLACE,
    NUMBER,
    PLACE,
    SHARED,
    TIER,
    VALUE,
    WORDS,
    Sets,
    forward,
)
from retrograde.solver.setwise.rules import LANES, LEAF, Rules, child_of, leaf_of, settle
from retrograde.solver.setwise.words import groups_of
from retrograde.solver.streamed.steps import TALLIED
from retrograde.solver.work.kernel import kernel
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

OWNER, LEAD, CHILD_BASE, CHILD_MASK, FOUND = range(5)
"""Columns of the table of all moves of the tiers of a wave: the row of the tier; the tier that the children are in; the
bits that they share; and those in which they may differ."""


@kernel
def find_links(moving, roots, sets, tiers, values, found):
    """Fill the table of all moves of some tiers; return how many there are, -1: the rules are not so plain."""
    nodes, trees, lanes = moving
    count = 0
    for row in range(len(tiers)):
        if not tiers[row, WORDS]:
            continue
        base, mask = tiers[row, BASE], tiers[row, MASK]
        settle(nodes, base, mask, values)
        leaf = leaf_of(trees, 0, values)
        if leaf < 0:
            return -1
        k = 0
        while sets[leaf, k] != LEAF:
            leaf_of_move = leaf_of(trees, roots[sets[leaf, k]], values)
            if leaf_of_move < 0:
                return -1
            shared, varying, tier, plain = child_of(lanes[leaf_of_move], values, mask)
            if not plain:
                return -1
            found[count, OWNER], found[count, LEAD] = row, tier
            found[count, CHILD_BASE], found[count, CHILD_MASK] = shared, varying
            count += 1
            k += 1
        if k == 0:
            return -1
    return count


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
    places = np.cumsum(weights) // TASK_WORDS
    cuts = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(weights)]
    for begin, end in zip(cuts[:-1], cuts[1:], strict=True):
        yield Task(rules, parents, children, links, starts, begin, end)


__all__ = ["VALUE", "Task", "Wave", "fill", "first_wave", "next_tiers", "tasks_of"]
