"""Storages: what a compiled audit reads, as arrays, and how a child is looked up there.

There are three, each a class of tuples, and one loop (`kernels.py`) that is compiled for each of them and each game. It
goes through *items* of a storage, which are numbers, and asks the storage by the methods of `Storage`. Nothing here is
shared with the solver's kernels, so that their faults are not.
"""

from inspect import isfunction, signature
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic, overload_method, register_jitable

from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.solver.verification.faults import SPREAD

Array = np.ndarray[Any, Any]

NEAR = 64
"""Canonical children that are remembered with what is stored for them: those of a position's image are the same."""

LISTS, LISTS_END, STEPS, STEPS_END, RUNS, MASK, FIRST, COLUMNS = range(8)
"""Columns of the table of tiers of Steps: from where to where the positions and the steps of each are; how many runs of
ones its mask has, the mask, and where its first step begins."""


INLINE = {"forceinline": True, "no_cfunc_wrapper": True}
"""What numba is told of functions that take tuples: in calls all fields of all arrays would be copied. C calls none."""

inlined = register_jitable(**INLINE)


@intrinsic
def borrowed(typingctx, arrays):
    """Return a tuple whose arrays are not counted, since the caller keeps them: threads would wait for one another's
    counts, at each look at an array."""

    def codegen(context, builder, signature, args):
        (given,) = args
        for i, kind in enumerate(arrays.types):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, builder.extract_value(given, i))
                array.meminfo = array.meminfo.type(None)
                array.parent = array.parent.type(None)
                given = builder.insert_value(given, array._getvalue(), i)
        return given

    return arrays(arrays), codegen


@inlined
def scattered(number):
    """Return a number of 31 bits that looks random and depends on another alone."""
    product = np.uint64(number) * np.uint64(SPREAD)  # unsigned: compiled, a signed one is taken never to wrap
    return np.int64(product >> np.uint64(33)) & 0x7FFFFFFF


@inlined
def is_image(game, position, other):
    """Tell whether another position is among the images of one."""
    for image in game.images(position):  # noqa: SIM110  # any() does not compile
        if image == other:
            return True
    return False


@inlined
def place_in(numbers, low, high, number):
    """Return where a number is among ascending ones from *low* to *high*; -1 where it is not."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < end and numbers[low] == number else -1


class Storage:
    """What the loop asks, and what is answered where a class of tuples has no answer of its own."""

    positions: Array
    rows: Array

    def position_at(self, game, item):
        """Return the position of an item; negative where it stands for none."""
        return self.positions[item]

    def row_at(self, game, item, position):
        """Return what is stored for an item: a row of the legend, or -1."""
        return np.int64(self.rows[item])

    def belongs(self, game, item, position, is_image):
        """Tell whether an item's position, or an image of it, is kept in the right place."""

    def opens(self, item):
        """Tell whether an item's children are to be marked; that they are may be noted."""
        return False

    def find(self, game, reached, sheet):
        """Return the place and the row of a child, canonical or not; row -1 where it is not stored.

        It is looked up as the canonical position, of which it must be an image.
        """
        child = game.canonical(reached)
        i = scattered(child) & NEAR - 1
        if sheet.near[i, 0] != child:
            place, row = self.look_up(game, child)
            sheet.near[i, 0], sheet.near[i, 1], sheet.near[i, 2] = child, place, row
        if child != reached and len(sheet.images) > 1 and not is_image(game, child, reached):
            return -1, -1
        return sheet.near[i, 1], sheet.near[i, 2]

    def look_up(self, game, child):
        """Return the place and the row of a canonical child; row -1 where it is not stored."""

    def mark(self, place):
        """Note that play reaches what is in a place."""

    def stands_for(self, game, place, child, images):
        """Tell whether a place is that of a child, where `find` has not made sure of it."""
        return True

    def counted(self, game, position, move, reached, plies):
        """Return what the plies that are stored for a child count where a move leads there."""
        return plies


class Records(NamedTuple):
    """Sorted positions, tier by tier, their rows, and what play is seen to reach (see `RecordAudit`).

    An item is a record, and so is a place.
    """

    tiers: Array
    bounds: Array
    positions: Array
    rows: Array
    reached: Array
    expanded: Array

    def belongs(self, game, item, position, is_image):
        if is_image:
            return True
        k = place_in(self.tiers, 0, len(self.tiers), game.tier(position))
        return k >= 0 and self.bounds[k] <= item < self.bounds[k + 1]

    def opens(self, item):
        opened = self.reached[item] != 0  # read once: another thread may set it meanwhile
        if opened:
            self.expanded[item] = 1
        return opened

    def look_up(self, game, child):
        k = place_in(self.tiers, 0, len(self.tiers), game.tier(child))
        place = place_in(self.positions, self.bounds[k], self.bounds[k + 1], child) if k >= 0 else -1
        return place, np.int64(self.rows[place]) if place >= 0 else -1

    def mark(self, place):
        self.reached[place] = 1


class Slots(NamedTuple):
    """The rows of all slots, and which of them stand for a position (see `SlotAudit`).

    An item, and a place, is a slot among those of all tiers; items are in `tier`, the slots of which begin at `first`.
    """

    tier: int
    first: int
    tiers: Array
    bounds: Array
    filled: Array
    rows: Array

    def position_at(self, game, item):
        return game.unindex(self.tier, item - self.first)

    def belongs(self, game, item, position, is_image):
        return game.tier(position) == self.tier and game.index(position) == item - self.first

    def find(self, game, reached, sheet):
        k = place_in(self.tiers, 0, len(self.tiers), game.tier(reached))
        if k < 0:
            return -1, -1
        first, slot = self.bounds[k], game.index(reached)
        if not 0 <= slot < self.bounds[k + 1] - first or not self.filled[first + slot]:
            return -1, -1
        return first + slot, np.int64(self.rows[first + slot])

    def stands_for(self, game, place, child, images):
        k = np.searchsorted(self.bounds, place, "right") - 1
        there = game.unindex(self.tiers[k], place - self.bounds[k])
        return there == child or (len(images) > 1 and is_image(game, there, child))


class ZeroingSlots(Slots):
    """Slots of which the plies are those to a move that zeroes, as by the fifty-move rule."""

    def counted(self, game, position, move, reached, plies):
        if game.zeroes(position, move) and plies >= 0:
            return 100 if plies > 100 else 0
        return plies


class ConvertingSlots(Slots):
    """Slots of which the plies are those to a move that leads to another tier."""

    def counted(self, game, position, move, reached, plies):
        return 0 if plies >= 0 and game.tier(reached) != self.tier else plies


class Steps(NamedTuple):
    """Listed positions of one tier, and of the tiers that their children are in the positions and the steps.

    An item is the number of a position among `positions`, which are in `tier`; a place is one among `lists`, -1 where
    the game is over. `table` has a row for each of `tiers`, and a last one for the positions' own; `runs` has for each
    the runs of ones in its mask (see `databases/encoding.py`). `ends` are the rows of the legend of positions where the
    game is over, by value.
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
    ends: Array
    win_in_one: int

    def row_at(self, game, item, position):
        return stored_row(self, game, position, len(self.tiers))

    def belongs(self, game, item, position, is_image):
        return is_image or (self.reached[item] != 0 and game.tier(position) == self.tier)

    def opens(self, item):
        return True

    def look_up(self, game, child):
        value = game.primitive(child) + 0
        if value != UNDECIDED:
            return -1, self.ends[value] if 0 <= value < len(self.ends) else -1
        tier = game.tier(child)
        k = 0
        while k < len(self.tiers) and self.tiers[k] != tier:
            k += 1
        if k == len(self.tiers):  # an image's child may be in a tier where no child of the position is
            return -1, -1
        place = place_in(self.lists, self.table[k, LISTS], self.table[k, LISTS_END], child)
        return place, stored_row(self, game, child, k) if place >= 0 else -1

    def mark(self, place):
        if place >= 0:
            self.marks[place] = 1


@inlined
def stored_row(steps, game, position, k):
    """Return what the database says of an undecided position of tier number *k*: a row of the legend, or -1."""
    for move in game.generate_moves(position):
        if game.primitive(game.do_move(position, move)) == LOSE:
            return steps.win_in_one
    low, high = steps.table[k, STEPS], steps.table[k, STEPS_END]
    if low == high or (position ^ steps.table[k, FIRST]) & ~steps.table[k, MASK]:
        return -1
    rank = 0
    for run in range(steps.table[k, RUNS]):
        rank |= (position & steps.runs[k, run, 0]) >> steps.runs[k, run, 1]
    while low < high:
        middle = (low + high) // 2
        if steps.ranks[middle] <= rank:
            low = middle + 1
        else:
            high = middle
    return steps.rows[low - 1] if low > steps.table[k, STEPS] else -1


def let_numba_know(name: str) -> None:
    """Let numba compile a method of storages: that of the class that a tuple is of."""

    def resolve(storage, *args):
        return getattr(storage.instance_class, name, None)

    resolve.__signature__ = signature(getattr(Storage, name))  # type: ignore[attr-defined]  # numba compares the two
    overload_method(types.BaseNamedTuple, name, jit_options=INLINE)(resolve)


for name, method in vars(Storage).items():
    if isfunction(method):
        let_numba_know(name)
        for storage in (Records, Slots, Steps):
            if not hasattr(storage, name):
                setattr(storage, name, method)
