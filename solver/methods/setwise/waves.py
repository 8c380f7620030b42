"""Forward: the tiers of a wave from those of the wave before, and their positions as words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.forward_kernels import (
    BIT,
    FROM,
    LINK,
    MANY,
    NO_PLACE,
    PLACE,
    SHARED,
    UNLIKE,
    Sets,
    forward,
)
from retrograde.solver.methods.setwise.kept import NO_LINKS, NO_STARTS, Aside, Wave, groups_of, number_groups
from retrograde.solver.methods.setwise.twins import Lopsided
from retrograde.solver.methods.setwise.words import GROUP_BITS
from retrograde.solver.methods.streamed.steps import TALLIED
from retrograde.solver.rules.plain.rules import Program, Rules
from retrograde.solver.rules.plain.symbols import LANES
from retrograde.solver.rules.plain.tier_kernels import (
    BASE,
    BITS,
    CHILD_BASE,
    CHILD_MASK,
    COUNT,
    FIRST,
    FOUND,
    GROUP,
    GROUPS,
    LEAD,
    MASK,
    NUMBER,
    OWNER,
    TIER,
    VALUE,
    WORD,
    WORDS,
    find_links,
)
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Frame, Scratch, Told
from retrograde.solver.runtime.tasks import room
from retrograde.solver.runtime.work import Unfit

Array = np.ndarray[Any, Any]

VALUES = 8
"""Rows of a tally of primitive values."""
NOT_PLAIN = "its rules are not plain: moves do not write the same bits in all positions of a tier"
TOO_LONG = f"play takes more plies than {MOST_PLANES} planes of bits can count"
ENDS_APART = "ties and other ends come after the same number of plies"
"""Why games are not solved word by word."""
MOST_ONE_BY_ONE = 1 << 24
"""Positions of a tier times groups of the next, at most, where several bits are put into ranks."""
PARENTS = "parents"
"""How the names of rooms begin for the tiers that moves come from."""
KNOWN = [WORD, WORDS, FIRST, COUNT, VALUE]
"""Columns of a table of tiers that are not known before these are filled."""


def first_wave(game: Game, start: int, aside: Aside) -> Wave:
    """Return the wave of the start alone."""
    tiers = np.zeros((1, TIER), np.int64)
    tiers[0, [NUMBER, BASE, GROUPS, WORDS, COUNT]] = int(game.tier(start)), start, 1, 1, 1
    wave = Wave(0, tiers, NO_LINKS, NO_STARTS)
    wave.begins.append(0)
    wave.sets.append(aside.put("sets0", np.array([1, 0, 0, 1], np.uint64)))
    return wave


def next_tiers(rules: Rules, tiers: Array) -> tuple[Array, Array, Array] | None:
    """Return the table of tiers that moves lead to from those of a wave, its links, and where those of each begin; None
    where there are no moves. Raises Unfit where the rules are not plain there."""
    found = np.empty((len(tiers) * (rules.sets.shape[1] - 1), FOUND), np.int64)
    values = np.empty(len(rules.moving.nodes), np.int64)
    count = find_links(rules.moving, rules.roots, rules.sets, tiers, values, found)
    if count < 0:
        raise Unfit(NOT_PLAIN)
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
    children[:, GROUPS] = 1 << np.maximum(children[:, BITS] - GROUP_BITS, 0)
    number_groups(children)  # all, until they are cut into chunks
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
        if (groups * tiers[links[many, FROM], COUNT]).max() > MOST_ONE_BY_ONE:
            raise Unfit("too many positions of its tiers would have to be carried along one by one")
    return children, links, starts


class Forth(NamedTuple):
    """What the tasks of a wave are told: the program of ends, and what decided games are worth; that of images; where
    things are put aside; the wave before, and the wave, whose tiers are to be filled; and the parents of all these, if
    tasks are not to take their own."""

    ending: Program
    decided: int
    imaging: Program
    aside: Aside
    before: Wave
    wave: Wave
    parents: "Parents | None"


class Parents(NamedTuple):
    """Tiers of a wave, by ascending rows of its table, and their sets, with those of twins made."""

    rows: Array
    sets: Sets


def parents_in(before: Wave, aside: Aside, links: Array) -> Parents:
    """Return the tiers that some links come from."""
    rows = np.unique(links[:, FROM])
    return Parents(rows, before.take_whole(aside, rows, PARENTS))


class Task(NamedTuple):
    """The number of a wave, and stretches of its tiers to be filled, each from one row to another."""

    told: Told[Forth]
    wave: int
    stretches: list[tuple[int, int]]


class Filled(NamedTuple):
    """Tiers that are filled, from one row to another: of each what was not KNOWN before, where their sets were put, and
    a tally of the positions where the game is over."""

    begin: int
    end: int
    known: Array
    sets: Any
    tally: Array


def fill(task: Task) -> list[Filled]:
    """Fill some tiers, and put them aside. Raises Unfit where the rules are not plain there."""
    return [fill_tiers(task.told.content, *stretch) for stretch in task.stretches]


def fill_tiers(forth: Forth, begin: int, end: int) -> Filled:
    """Fill the tiers from one row to another, and put them aside together."""
    ending, decided, imaging, aside, before, wave, parents = forth
    kept = wave.kept[begin:end] == np.arange(begin, end)
    counts = np.diff(wave.starts[begin : end + 1])
    links = wave.links[wave.starts[begin] : wave.starts[end]][np.repeat(kept, counts)].copy()
    starts = np.append(0, np.cumsum(counts * kept))
    if parents is None:
        parents = parents_in(before, aside, links)
    links[:, FROM] = np.searchsorted(parents.rows, links[:, FROM])
    tiers = wave.tiers[begin:end].copy()
    tiers[:, GROUP] -= tiers[0, GROUP]
    groups = groups_of(tiers)
    pulled = parents.sets.tiers[links[:, FROM]]
    most = np.where(links[:, PLACE] == MANY, pulled[:, COUNT], 2 * pulled[:, WORDS]).sum()
    most = min(int(most), LANES * int(tiers[:, GROUPS].sum()))
    content = room("content", groups + most, np.uint64)
    children = Sets(tiers, content[:groups], room("before", groups, np.uint32), content[groups:])
    tally = np.zeros((VALUES, TALLIED), np.int64)
    count = forward(ending, decided, imaging, wave.mirror, parents.sets, children, links, starts, tally)
    if count == UNLIKE:
        raise Lopsided
    if count < 0:
        raise Unfit(NOT_PLAIN)
    return Filled(begin, end, tiers[:, KNOWN], aside.put(f"sets{wave.number}", content[: groups + count]), tally)


def take_in(wave: Wave, filled: Filled) -> None:
    """Note tiers of a wave that are filled, as a chunk."""
    rows = slice(filled.begin, filled.end)
    wave.tiers[rows, KNOWN] = filled.known
    wave.tiers[rows, GROUP] -= wave.tiers[filled.begin, GROUP]
    wave.begins.append(filled.begin)
    wave.sets.append(filled.sets)


def stretches_of(before: Wave, wave: Wave, least: int) -> list[tuple[int, int, int]]:
    """Return the stretches in which the tiers of a wave are filled, from where to where, and how many words each takes,
    read and written: so many at *least*, where there are so many."""
    words = before.tiers[before.kept[wave.links[:, FROM]], WORDS]
    kept = wave.kept == np.arange(len(wave.kept))
    weights = kept * np.add.reduceat(words, wave.starts[:-1]) + wave.tiers[:, GROUPS]
    sums = np.append(0, np.cumsum(weights)).tolist()
    return [(begin, end, sums[end] - sums[begin]) for begin, end in stretches(weights, least)]


def tasks_of(told: Told[Forth], some: Iterable[tuple[int, int, int]], least: int) -> Iterator[Task]:
    """Yield tasks that fill some stretches of a wave, so many together that they take so many words at *least*."""
    number = told.content.wave.number
    together: list[tuple[int, int]] = []
    words = 0
    for begin, end, more in some:
        together.append((begin, end))
        words += more
        if words >= least:
            yield Task(told, number, together)
            together, words = [], 0
    if together:
        yield Task(told, number, together)


def stretches(weights: Array, least: int) -> Iterator[tuple[int, int]]:
    """Cut a list of weights, yielding from where to where, into stretches of about so much."""
    cuts = np.flatnonzero(np.diff(np.cumsum(weights) // least)) + 1
    return pairwise([0, *cuts.tolist(), len(weights)])


FILLED, WHOLE = range(2)
"""Kinds of entries in the log: tiers filled; a wave all filled."""


class SetsLog:
    """The log of an exploration into scratch files, and what has been read in it.

    An entry begins with its kind and the number of the wave. An entry of nothing says that all is begun anew.
    """

    def __init__(self, log: Log):
        self.log = log
        self.filled: dict[int, dict[int, Filled]] = defaultdict(dict)
        """What was filled, by wave and first tier."""
        self.whole: set[int] = set()
        for (kind, wave), *arrays in log.since_anew():
            if kind == WHOLE:
                self.whole.add(int(wave))
            else:
                (begin, end, *frame), known, tally = arrays
                where = Frame(f"sets{wave}", *map(int, frame))
                self.filled[int(wave)][int(begin)] = Filled(
                    int(begin), int(end), known.reshape(-1, len(KNOWN)), where, tally.reshape(-1, TALLIED)
                )

    def believe(self, scratch: Scratch) -> None:
        """Forget what was filled of waves that were not whole and is no longer in the scratch files."""
        for wave in self.filled.keys() - self.whole:
            gone = {*scratch.missing(filled.sets for filled in self.filled[wave].values())}
            self.filled[wave] = {k: filled for k, filled in self.filled[wave].items() if filled.sets not in gone}

    def add(self, wave: int, filled: Filled) -> None:
        """Note what was filled."""
        where = np.array([filled.begin, filled.end, *filled.sets[1:]], np.int64)
        self.log.add((np.array([FILLED, wave], np.int64), where, filled.known.ravel(), filled.tally.ravel()))
        self.log.write()

    def add_whole(self, wave: int) -> None:
        """Note that a wave is all filled."""
        self.log.add((np.array([WHOLE, wave], np.int64),))
