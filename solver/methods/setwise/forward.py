"""Explores forward: finds the tiers of a wave from those of the wave before, and fills their sets.

`next_tiers` finds tiers and links from the rules alone. `fill_tiers` then calls the kernel `fill_sets`. The journal of
filled tiers is `SetsLog`. `looks_plain` and `most_bits` follow only a few tiers of each wave, before a solve.
"""

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
    NO_BIT,
    OPEN,
    PLACE,
    SHARED,
    TIED,
    UNLIKE,
    Sets,
    TierRules,
    fill_sets,
)
from retrograde.solver.methods.setwise.mirror import NotSymmetric
from retrograde.solver.methods.setwise.storage import (
    NO_LINKS,
    NO_STARTS,
    Wave,
    WaveStorage,
    groups_of,
    number_groups,
    planes_for,
)
from retrograde.solver.methods.setwise.words import GROUP_BITS
from retrograde.solver.methods.streamed.steps import TALLIED
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.plain.rules import Rules, rules_of
from retrograde.solver.rules.plain.screening import may_be_plain
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
    MOST_CUBES,
    NUMBER,
    OWNER,
    TIER,
    VALUE,
    WORD,
    WORDS,
    ends_of,
    find_links,
)
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Frame, Scratch, TaskData
from retrograde.solver.runtime.tasks import workspace
from retrograde.solver.runtime.work import NotApplicable

Array = np.ndarray[Any, Any]

VALUES = 8
"""Rows of a tally by primitive value."""
NOT_PLAIN = "its rules are not plain: moves do not write the same bits in all positions of a tier"
TOO_LONG = f"play takes more plies than {MOST_PLANES} planes of bits can count"
TIES_AND_ENDS = "ties and other ends come after the same number of plies"
"""Reasons for NotApplicable."""
MOST_ONE_BY_ONE = 1 << 24
"""Limit for links that insert several bits: positions of the parent tier × groups of the child tier."""
PARENTS = "parents"
"""Prefix of the names of workspaces that hold parent tiers."""
SAMPLED = 8
"""Tiers of each wave that are followed before a solve: those with the most varying bits."""
KNOWN = [WORD, WORDS, FIRST, COUNT, VALUE]
"""Columns of a table of tiers that are known only once the tier is filled."""


def first_wave(game: Game, start: int, storage: WaveStorage) -> Wave:
    """Return the wave that has the start position alone."""
    tiers = np.zeros((1, TIER), np.int64)
    tiers[0, [NUMBER, BASE, GROUPS, WORDS, COUNT]] = int(game.tier(start)), start, 1, 1, 1
    wave = Wave(0, tiers, NO_LINKS, NO_STARTS)
    wave.begins.append(0)
    # A chunk of one tier with three groups (two of them empty) and one word. In word 0 of group 0, rank 0 is set.
    wave.sets.append(storage.store("sets0", np.array([1, 0, 0, 1], np.uint64)))
    return wave


def next_tiers(rules: Rules, tiers: Array) -> tuple[Array, Array, Array] | None:
    """Return the tiers that moves from a wave lead to: (table, links, where each tier's links begin).

    None if there are no moves. Raises NotApplicable if the rules are not plain.
    """
    # Step 1: List all moves of all tiers, and sort them by the tier that they lead to.
    found = np.empty((len(tiers) * (rules.sets.shape[1] - 1), FOUND), np.int64)
    values = np.empty(len(rules.moving.nodes), np.int64)
    count = find_links(rules.moving, rules.roots, rules.sets, tiers, values, found)
    if count < 0:
        raise NotApplicable(NOT_PLAIN)
    found = found[np.argsort(found[:count, LEAD], kind="stable")]
    numbers, begins = np.unique(found[:, LEAD], return_index=True)
    if not len(numbers):
        return None
    # Step 2: For each child tier, find the bits that vary: in one parent's children, or between those of several
    # parents. The others are its base.
    bases, masks = found[:, CHILD_BASE], found[:, CHILD_MASK]
    ones = np.bitwise_or.reduceat(bases, begins)
    varying = np.bitwise_or.reduceat(masks, begins) | ones ^ np.bitwise_and.reduceat(bases, begins)
    children = np.zeros((len(numbers), TIER), np.int64)
    children[:, NUMBER], children[:, BASE], children[:, MASK] = numbers, ones & ~varying, varying
    children[:, BITS] = np.bitwise_count(varying)
    children[:, GROUPS] = 1 << np.maximum(children[:, BITS] - GROUP_BITS, 0)
    number_groups(children)  # as if they were one chunk; chunks are cut later
    # Step 3: Describe each link by the bits that it inserts: those that vary in the child tier, but not among its own
    # children.
    starts = np.append(begins, len(found))
    own = np.repeat(varying, np.diff(starts))
    links = np.empty((len(found), LINK), np.int64)
    links[:, FROM], links[:, SHARED] = found[:, OWNER], bases
    new = own & ~masks
    # The bit position in the rank is the number of varying bits below.
    links[:, PLACE] = np.bitwise_count(own & new - 1)
    links[:, BIT] = bases & new != 0
    links[new == 0, PLACE] = NO_BIT
    # Case: several bits are inserted. Each position is moved on its own, which must not take too long.
    many = new & new - 1 != 0
    links[many, PLACE] = MANY
    if many.any():
        groups = np.repeat(children[:, GROUPS], np.diff(starts))[many]
        if (groups * tiers[links[many, FROM], COUNT]).max() > MOST_ONE_BY_ONE:
            raise NotApplicable("too many positions of its tiers would have to be carried along one by one")
    return children, links, starts


class ForwardPass(NamedTuple):
    """Data shared by all tasks of a wave.

    The tiers of `wave` are filled from those of the wave `before`. `parents` holds the latter; if None, each task loads
    its own.
    """

    rules: TierRules
    storage: WaveStorage
    before: Wave
    wave: Wave
    parents: "ParentTiers | None"


class ParentTiers(NamedTuple):
    """Some tiers of a wave and their sets, those of mirror images included. `rows` ascend."""

    rows: Array
    sets: Sets


def tier_rules(rules: Rules) -> TierRules:
    """Return what kernels need of the rules."""
    return TierRules(rules.ending, rules.decided, rules.imaging, rules.mirror)


def load_parents(before: Wave, storage: WaveStorage, links: Array) -> ParentTiers:
    """Return the parent tiers of some links."""
    rows = np.unique(links[:, FROM])
    return ParentTiers(rows, before.load_with_images(storage, rows, PARENTS))


class FillTask(NamedTuple):
    """Ranges of tiers of a wave that are to be filled, each from one row to another."""

    shared: TaskData[ForwardPass]
    ranges: list[tuple[int, int]]


class FilledTiers(NamedTuple):
    """The result of filling the tiers *begin* to *end*, which become a chunk.

    `known` has the KNOWN columns of their table, `sets` says where the sets are stored, and `tally` counts positions
    by primitive value.
    """

    begin: int
    end: int
    known: Array
    sets: Any
    tally: Array


def fill(task: FillTask) -> list[FilledTiers]:
    """Fill the tiers of a task and store them. Raises NotApplicable if the rules are not plain."""
    return [fill_tiers(task.shared.content, *rows) for rows in task.ranges]


def fill_tiers(forward: ForwardPass, begin: int, end: int) -> FilledTiers:
    """Fill the tiers *begin* to *end* and store them as one chunk."""
    rules, storage, before, wave, parents = forward
    # Step 1: Take the links into stored tiers, with parents numbered as in `parents`.
    is_stored = wave.stored[begin:end] == np.arange(begin, end)
    counts = np.diff(wave.starts[begin : end + 1])
    links = wave.links[wave.starts[begin] : wave.starts[end]][np.repeat(is_stored, counts)].copy()
    starts = np.append(0, np.cumsum(counts * is_stored))
    if parents is None:
        parents = load_parents(before, storage, links)
    links[:, FROM] = np.searchsorted(parents.rows, links[:, FROM])
    # Step 2: Reserve space. A parent's word becomes two words at most; a word has a position at least.
    tiers = wave.tiers[begin:end].copy()
    tiers[:, GROUP] -= tiers[0, GROUP]
    groups = groups_of(tiers)
    pulled = parents.sets.tiers[links[:, FROM]]
    most = np.where(links[:, PLACE] == MANY, pulled[:, COUNT], 2 * pulled[:, WORDS]).sum()
    most = min(int(most), LANES * int(tiers[:, GROUPS].sum()))
    content = workspace("content", groups + most, np.uint64)
    children = Sets(tiers, content[:groups], workspace("before", groups, np.uint32), content[groups:])
    # Step 3: Fill the tiers and store them.
    tally = np.zeros((VALUES, TALLIED), np.int64)
    count = fill_sets(rules, parents.sets, children, links, starts, tally)
    if count == UNLIKE:
        raise NotSymmetric
    if count < 0:
        raise NotApplicable(NOT_PLAIN)
    stored = storage.store(f"sets{wave.number}", content[: groups + count])
    return FilledTiers(begin, end, tiers[:, KNOWN], stored, tally)


def add_chunk(wave: Wave, filled: FilledTiers) -> None:
    """Add filled tiers to their wave, as a chunk."""
    rows = slice(filled.begin, filled.end)
    wave.tiers[rows, KNOWN] = filled.known
    wave.tiers[rows, GROUP] -= wave.tiers[filled.begin, GROUP]
    wave.begins.append(filled.begin)
    wave.sets.append(filled.sets)


def ranges_of(before: Wave, wave: Wave, least: int) -> list[tuple[int, int, int]]:
    """Cut the tiers of a wave into ranges to be filled: (first row, end row, words read and written).

    A range has about *least* words.
    """
    words = before.tiers[before.stored[wave.links[:, FROM]], WORDS]
    is_stored = wave.stored == np.arange(len(wave.stored))
    weights = is_stored * np.add.reduceat(words, wave.starts[:-1]) + wave.tiers[:, GROUPS]
    sums = np.append(0, np.cumsum(weights)).tolist()
    return [(begin, end, sums[end] - sums[begin]) for begin, end in cut_ranges(weights, least)]


def tasks_of(shared: TaskData[ForwardPass], some: Iterable[tuple[int, int, int]], least: int) -> Iterator[FillTask]:
    """Yield tasks that fill some ranges of tiers. Each task has at least *least* words, except the last."""
    together: list[tuple[int, int]] = []
    words = 0
    for begin, end, more in some:
        together.append((begin, end))
        words += more
        if words >= least:
            yield FillTask(shared, together)
            together, words = [], 0
    if together:
        yield FillTask(shared, together)


def cut_ranges(weights: Array, least: int) -> Iterator[tuple[int, int]]:
    """Cut a list of weights into consecutive ranges of about *least* each; yield (begin, end)."""
    cuts = np.flatnonzero(np.diff(np.cumsum(weights) // least)) + 1
    return pairwise([0, *cuts.tolist(), len(weights)])


FILLED, WHOLE = range(2)
"""Kinds of journal entries: some tiers are filled; a whole wave is filled."""


class SetsLog:
    """The journal of filled tiers in scratch files, so that a killed solve resumes.

    An entry begins with its kind and the number of the wave. An empty entry means that the exploration was restarted.
    """

    def __init__(self, log: Log):
        self.log = log
        self.filled: dict[int, dict[int, FilledTiers]] = defaultdict(dict)
        """Entries of filled tiers, by wave and first tier."""
        self.whole: set[int] = set()
        for (kind, wave), *arrays in log.since_anew():
            if kind == WHOLE:
                self.whole.add(int(wave))
            else:
                (begin, end, *frame), known, tally = arrays
                where = Frame(f"sets{wave}", *map(int, frame))
                self.filled[int(wave)][int(begin)] = FilledTiers(
                    int(begin), int(end), known.reshape(-1, len(KNOWN)), where, tally.reshape(-1, TALLIED)
                )

    def drop_missing(self, scratch: Scratch) -> None:
        """Drop entries of unfinished waves whose scratch files are gone."""
        for wave in self.filled.keys() - self.whole:
            gone = {*scratch.missing(filled.sets for filled in self.filled[wave].values())}
            self.filled[wave] = {k: filled for k, filled in self.filled[wave].items() if filled.sets not in gone}

    def add(self, wave: int, filled: FilledTiers) -> None:
        """Add an entry for some filled tiers."""
        where = np.array([filled.begin, filled.end, *filled.sets[1:]], np.int64)
        self.log.add((np.array([FILLED, wave], np.int64), where, filled.known.ravel(), filled.tally.ravel()))
        self.log.write()

    def add_whole(self, wave: int) -> None:
        """Add an entry that a wave is filled completely."""
        self.log.add((np.array([WHOLE, wave], np.int64),))


# Before a solve


def looks_plain(game: Game) -> bool:
    """Return False if a sample of tiers shows that the set-wise method does not apply. True proves nothing."""
    try:
        most_bits(game, plain_rules(game))
    except NotApplicable:
        return False
    return True


def plain_rules(game: Game) -> Rules:
    """Return the rules of a game as programs; raise NotApplicable if a quick look shows that they are not plain."""
    if not may_be_plain(game):
        raise NotApplicable(NOT_PLAIN)
    return rules_of(game)


def most_bits(game: Game, rules: Rules) -> int:
    """Return the greatest number of varying bits of a tier, among the SAMPLED widest of each wave.

    Raises NotApplicable if the rules are not plain there.
    """
    tiers, plies, most = first_wave(game, start_of(game), WaveStorage(None)).tiers, 0, 0
    while len(tiers):
        ahead, plies = next_tiers(rules, tiers), plies + 1
        if ahead is None or planes_for(plies) > MOST_PLANES:
            raise NotApplicable(TOO_LONG)
        widest = np.argsort(-ahead[0][:, BITS], kind="stable")[:SAMPLED]
        tiers = ahead[0][np.sort(widest)]
        most = max(most, int(tiers[:, BITS].max()))
        values = np.array([value_of_rest(rules, tier) for tier in tiers])
        if not {*values.tolist()} <= {OPEN, TIED, rules.decided} or {OPEN, TIED} <= {*values.tolist()}:
            raise NotApplicable(TIES_AND_ENDS)
        # Follow only tiers in which the game goes on, and pretend that they have words: nothing is filled here.
        tiers = tiers[values == OPEN]
        tiers[:, WORDS] = 1
    return most


def value_of_rest(rules: Rules, tier: Array) -> int:
    """Return the primitive value of a tier's undecided positions; UNCLEAR if the rules are not plain."""
    cubes, values = np.empty((MOST_CUBES, 2), np.int64), np.empty(len(rules.ending.nodes), np.int64)
    return int(ends_of(rules.ending, rules.decided, tier[BASE], tier[MASK], values, cubes)[1])
