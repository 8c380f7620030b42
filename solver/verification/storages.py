"""Storages: the arrays that compiled loops read, and how these look up a child in them.

There are three kinds: `RecordStorage`, `SlotStorage` and `StepStorage`, all named tuples. One loop (`kernels.py`) is
compiled for each of them. It goes through *items* of a storage, which are numbers, and calls the methods of `Storage`.
A *location* is the index at which something is stored for a child. `workspace` is a VerifierWorkspace (see
`kernels.py`).

Nothing here is shared with the solver's kernels, so that a bug of theirs cannot hide here.
"""

from inspect import isfunction, signature
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload_method, register_jitable

from retrograde.games.contract.game import MOST_IMAGES, UNDECIDED, Game, defines
from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.rules.examine import key_of
from retrograde.solver.rules.positions import of_positions, position_in, put, stands_at
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.verification.judge import SPREAD

CACHE_SIZE = 64
"""Entries of the cache of canonical children, a power of 2; a position's images have the same children again."""
LISTS, LISTS_END, STEPS, STEPS_END, RUNS, MASK, FIRST, COLUMNS = range(8)
"""Columns of the table of tiers in StepStorage; COLUMNS is their number.

LISTS to LISTS_END: where the tier's positions are in `lists`. STEPS to STEPS_END: where its steps are. RUNS: how many
runs of ones its mask has. MASK: the mask. FIRST: the position at which its first step begins.
"""
TO_END, TO_ZEROING, TO_CONVERSION = range(3)
"""What plies count to: the end, the next zeroing move (as in the fifty-move rule), or the next move to another tier."""
INLINE = {"forceinline": True, "no_cfunc_wrapper": True}
"""Numba's options for functions that receive tuples: a call that is not inlined copies all fields of all arrays."""
inlined = register_jitable(**INLINE)


@inlined
def scatter(number):
    """Return a number of 31 bits that looks random and depends on *number* alone."""
    product = np.uint64(number) * np.uint64(SPREAD)  # unsigned: compiled, a signed one is taken never to wrap
    return np.int64(product >> np.uint64(33)) & 0x7FFFFFFF


def image_buffer(game: Game) -> Array:
    """Return a buffer for a position's images; for a single position if the game has no symmetry."""
    return of_positions(game, MOST_IMAGES if defines(game, "images") else 1)


@inlined
def is_image(game, position, other):
    """Return whether *other* is among the images of a position."""
    for image in game.images(position):  # noqa: SIM110  # any() does not compile
        if image == other:
            return True
    return False


@inlined
def find_sorted(numbers, low, high, number):
    """Return the index of a number in an ascending array, between *low* and *high*; -1 if it is not there."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < end and numbers[low] == number else -1


@inlined
def find_position(game, positions, low, high, position):
    """Return the index of a position in ascending positions, between *low* and *high*; -1 if it is not there."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if position_in(game, positions, middle) < position:
            low = middle + 1
        else:
            high = middle
    return low if low < end and stands_at(positions, low, position) else -1


class Storage:
    """The methods that the loop calls, with the answers for storages that do not define their own."""

    positions: Array
    rows: Array

    def position_at(self, game, item):
        """Return the position of an item; negative if the item stands for none."""
        return position_in(game, self.positions, item)

    def row_at(self, game, item, position):
        """Return the row of the legend stored for an item, or -1."""
        return np.int64(self.rows[item])

    def is_in_place(self, game, item, position, is_image):
        """Return whether an item's position, or an image of it, is stored in the right place."""

    def marks_children(self, item):
        """Return whether to mark an item's children as reached. A storage may record that this happens."""
        return False

    def find(self, game, reached, workspace):
        """Return the location and the row of a child, canonical or not; row -1 if it is not stored. The canonical
        position is looked up. The child must be one of its images."""
        child, tier, fits = game.checked_canonical(reached)
        if not fits:
            return -1, -1
        i = scatter(key_of(child)) & (CACHE_SIZE - 1)
        if not stands_at(workspace.cache, i, child):
            location, row = self.look_up(game, child, tier)
            put(workspace.cache, i, child)
            workspace.cached[i, 0], workspace.cached[i, 1] = location, row
        return workspace.cached[i, 0], workspace.cached[i, 1]

    def look_up(self, game, child, tier):
        """Return the location and the row of a canonical child of a tier; row -1 if it is not stored."""

    def mark(self, location):
        """Record that play reaches what is stored at a location."""

    def holds_child(self, game, location, child, images):
        """Return whether a location holds a child or an image of it, if `find` has not checked that already."""
        return True

    def plies_after(self, game, position, move, reached, plies):
        """Return what the plies stored for a child count for after a move. (After zeroing moves, they begin again.)"""
        return plies


class RecordStorage(NamedTuple):
    """Positions, sorted tier by tier, with their rows and marks of what play reaches (see `RecordsVerifier`). An item
    is a record, and so is a location. `positions` is int64[records], or int64[records, words]."""

    tiers: Array
    bounds: Array
    positions: Array
    rows: Array
    reached: Array
    expanded: Array

    def is_in_place(self, game, item, position, is_image):
        if is_image:
            return True
        k = find_sorted(self.tiers, 0, len(self.tiers), game.tier(position))
        return k >= 0 and self.bounds[k] <= item < self.bounds[k + 1]

    def marks_children(self, item):
        opened = self.reached[item] != 0  # read once: another thread may set it meanwhile
        if opened:
            self.expanded[item] = 1
        return opened

    def look_up(self, game, child, tier):
        k = find_sorted(self.tiers, 0, len(self.tiers), tier)
        location = find_position(game, self.positions, self.bounds[k], self.bounds[k + 1], child) if k >= 0 else -1
        return location, np.int64(self.rows[location]) if location >= 0 else -1

    def mark(self, location):
        self.reached[location] = 1


class SlotStorage(NamedTuple):
    """The rows of all slots, and which of them stand for a position (see `SlotsVerifier`).

    An item is a slot, numbered across all tiers, and so is a location. Items are in `tier`, whose slots begin at
    `first`. `plies_to` says to what plies count: TO_END, TO_ZEROING or TO_CONVERSION.
    """

    plies_to: int
    tier: int
    first: int
    tiers: Array
    bounds: Array
    filled: Array
    rows: Array

    def position_at(self, game, item):
        return game.unindex(self.tier, item - self.first)

    def is_in_place(self, game, item, position, is_image):
        return game.address(position) == (self.tier, item - self.first)

    def find(self, game, reached, workspace):
        """Return the location and the row of a child; row -1 if it has no slot, or an empty one."""
        tier, slot = game.address(reached)
        k = find_sorted(self.tiers, 0, len(self.tiers), tier)
        if k < 0:
            return -1, -1
        first = self.bounds[k]
        if not 0 <= slot < self.bounds[k + 1] - first or not self.filled[first + slot]:
            return -1, -1
        return first + slot, np.int64(self.rows[first + slot])

    def holds_child(self, game, location, child, images):
        k = 0
        while location >= self.bounds[k + 1]:
            k += 1
        holder = game.unindex(self.tiers[k], location - self.bounds[k])
        return holder == child or (len(images) > 1 and is_image(game, holder, child))

    def plies_after(self, game, position, move, reached, plies):
        """Return the plies of a child as they count for the parent."""
        # Case: after a zeroing move, plies count as 0, or as PATIENCE if the fifty-move rule spoils the win.
        if self.plies_to == TO_ZEROING and plies >= 0 and game.zeroes(position, move):
            return PATIENCE if plies > PATIENCE else 0
        # Case: after a move into another tier, plies count as 0.
        if self.plies_to == TO_CONVERSION and plies >= 0 and game.tier(reached) != self.tier:
            return 0
        return plies


class StepStorage(NamedTuple):
    """Listed positions of one tier, with the lists and steps of the tiers that their children are in.

    An item is an index into `positions`, which are in `tier`. A location is an index into `lists`, or -1 if the game is
    over there. `marks` says which of `lists` are reached. `table` has a row for each of `tiers`, and a last row for the
    positions' own tier; `runs` has the runs of ones in each row's mask (see `databases/encoding.py`). Steps are
    `ranks`, ascending, with their `rows`. `end_rows` has the row of the legend of finished games, by value;
    `win_in_one` that of WIN in 1.
    """

    tier: int
    positions: Array
    reached: Array
    tiers: Array
    table: Array
    runs: Array
    lists: Array
    marks: Array
    ranks: Array
    rows: Array
    end_rows: Array
    win_in_one: int

    def row_at(self, game, item, position):
        return stored_row(self, game, position, len(self.tiers))

    def is_in_place(self, game, item, position, is_image):
        return is_image or (self.reached[item] != 0 and game.tier(position) == self.tier)

    def marks_children(self, item):
        return True

    def look_up(self, game, child, tier):
        """Return (where a child is in the lists, its row of the legend). An end is in no list: it has -1 and the row.
        For what is missing, the row is -1."""
        value = game.primitive(child) + 0
        # Case: the game is over. Its row follows from the value.
        if value != UNDECIDED:
            return -1, self.end_rows[value] if 0 <= value < len(self.end_rows) else -1
        # Case: the game goes on. The child must be in a list of its tier.
        k = 0
        while k < len(self.tiers) and self.tiers[k] != tier:
            k += 1
        if k == len(self.tiers):  # an image's child may be in a tier where no child of the position is
            return -1, -1
        location = find_sorted(self.lists, self.table[k, LISTS], self.table[k, LISTS_END], child)
        return location, stored_row(self, game, child, k) if location >= 0 else -1

    def mark(self, location):
        if location >= 0:
            self.marks[location] = 1


@inlined
def stored_row(steps, game, position, k):
    """Return the row of the legend for an undecided position of the tier in row *k* of the table, or -1."""
    # Step 1: a win in one ply is not stored; the rules show it.
    if game.wins_at_once(position):
        return steps.win_in_one
    # Step 2: the tier has steps, and its positions differ from the first one only in bits under the mask.
    low, high = steps.table[k, STEPS], steps.table[k, STEPS_END]
    if low == high or ((position ^ steps.table[k, FIRST]) & ~steps.table[k, MASK]) != 0:
        return -1
    # Step 3: push the bits under the mask together. That is the position's rank.
    rank = 0
    for run in range(steps.table[k, RUNS]):
        rank |= (position & steps.runs[k, run, 0]) >> steps.runs[k, run, 1]
    # Step 4: find the last step that begins at this rank or before, by binary search.
    while low < high:
        middle = (low + high) // 2
        if steps.ranks[middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return steps.rows[low - 1] if low > steps.table[k, STEPS] else -1


def register_with_numba(name: str) -> None:
    """Register a method of storages with numba: each tuple class's own version."""

    # Numba calls this with the type of the storage, which knows its class.
    def resolve(storage, *args):
        return getattr(storage.instance_class, name, None)

    resolve.__signature__ = signature(getattr(Storage, name))  # type: ignore[attr-defined]  # numba compares the two
    overload_method(types.BaseNamedTuple, name, jit_options=INLINE)(resolve)


for name, method in vars(Storage).items():
    if isfunction(method):
        register_with_numba(name)
        for storage in (RecordStorage, SlotStorage, StepStorage):
            if not hasattr(storage, name):
                setattr(storage, name, method)
