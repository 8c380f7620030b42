"""How much memory a tier takes while it is solved: what it must have, and what makes it quicker or surer.

For each slot there must be its score, a byte for what is left of it (see values/left.py), a byte for the sum of its
parents where the rules give these (see values/edges.py), and numbers of symmetric positions, compressed. Where there
is more memory, sums have up to four bytes, and positions are listed when they are decided; else they are looked for.
Without room for links, the frontier of forward passes has what lists need (see predecessors/passes.py).
Where a tier lies in ranges, all but the last is in files.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrograde.games.catalog import rests_on
from retrograde.games.contract.game import METRICS, Game, defines
from retrograde.games.contract.zeroing import TO_PROGRESS
from retrograde.solver.methods.chess.fit import formation_of, is_chess
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.values.left import left_type
from retrograde.solver.values.score import score_type

if TYPE_CHECKING:
    from retrograde.solver.methods.chess.formation import Formation

SIZES = 0.25
"""Bytes a slot for the numbers of symmetric positions, compressed, at most about."""
LISTED = 0.25, 4.0
"""Bytes a slot for lists of positions that are decided, or due: what there must be, and what they come to at most."""
LISTED_ITEM = 4
"""Bytes for a position in such a list."""
SUMS = np.uint8, np.uint16, np.uint32
"""Types of sums of parents."""
LAST = 1.3
"""Bytes for a position while its score is written, of a tier that was solved set by set: one for what is known (two of
another metric), and bits in two sets."""
TASKS = 100_000_000, 1000
"""Bytes that tasks under way take, at most and for a slot."""


class Room(NamedTuple):
    """How many bytes a tier must have, and has use for; and how many of both are put by for tasks, which may take
    less."""

    least: int
    most: int
    tasks: int


def room_for(game: Game, count: int, bits: int) -> Room:
    """Return what a tier of so many slots takes, its scores of so many bits for plies included."""
    slot = np.dtype(score_type(bits)).itemsize + np.dtype(left_type(bits)).itemsize + SIZES
    least, most = (
        slot + listed + defines(game, "parents") * np.dtype(sums).itemsize
        for listed, sums in zip(LISTED, (SUMS[0], SUMS[-1]), strict=True)
    )
    tasks = min(TASKS[0], TASKS[1] * count)
    return Room(int(least * count) + tasks, int(most * count) + tasks, tasks)


def room_of(formation: "Formation", metric: str) -> int:
    """Return what the analysis of a tier set by set takes beside the scores, by a metric."""
    return formation.room_by_zeroing if metric in TO_PROGRESS else formation.room


def room_to_the_end(formation: "Formation", metric: str, scores: int) -> int:
    """Return what a tier takes set by set where its scores, so many bytes, are written to a scratch file at the end: by
    then little is left but what is known of positions with the side to move that is written last."""
    known = LAST + (metric in TO_PROGRESS)
    return max(room_of(formation, metric), int(known * formation.pairs * formation.inner) + scores)


def room_in_ranges(game: Game, count: int, bits: int, ranged: int | None = None) -> Room:
    """Return what a tier of so many slots takes of the memory of who solves; of *ranged* slots or more each range is in
    the memory of who is at it."""
    if ranged is None or count < ranged:
        return room_for(game, count, bits)
    tasks = min(TASKS[0], TASKS[1] * count)
    return Room(int(SIZES * count) + tasks, int(SIZES * count) + tasks, tasks)


def room_for_tiers(
    game: Game, numbering: Numbering, bits: int, by_sets: bool, metric: str = METRICS[0], ranged: int | None = None
) -> Room:
    """Return what the tiers of a game take, those that can be solved *by_sets* that way; the most that one does. Those
    of *ranged* slots or more lie in ranges."""
    sizes = np.diff(numbering.starts)
    largest = {int(some.max()) for some in (sizes, sizes[sizes < (ranged or 0)]) if len(some)}
    rooms = [room_in_ranges(game, size, bits, ranged) for size in largest if not by_sets or not is_chess(game)]
    if not rooms:
        for row, tier in enumerate(numbering.tiers.tolist()):
            room = room_in_ranges(game, numbering.size(row), bits, ranged)
            formation = formation_of(game, tier, bits)
            if formation:
                scores = numbering.size(row) * np.dtype(score_type(bits)).itemsize
                least = room_to_the_end(formation, metric, scores)
                if metric == METRICS[0] and not rests_on(game):  # else there is no other way
                    least = min(room.least, least)
                room = Room(least, room_of(formation, metric) + room.tasks, room.tasks)
            rooms.append(room)
    return Room(*(max(amounts) for amounts in zip(*rooms, strict=True)))


def sums_type(spare: int, count: int) -> type[np.unsignedinteger[Any]]:
    """Return the widest type of sums for so many slots, where so many bytes are there beside those that must be."""
    return next(kind for kind in reversed(SUMS) if (np.dtype(kind).itemsize - 1) * count <= max(spare, 0))


def listed_at_most(left: int, count: int) -> int:
    """Return how many positions of so many may be listed, where so many bytes are left."""
    return max(int(LISTED[0] * count), left // 2) // LISTED_ITEM
