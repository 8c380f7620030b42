"""Memory of a tier while it is solved: the least amount, and the most that helps.

More memory makes the solve faster and its checks stronger.

Bytes for each slot:

    scores             2 or 4
    counters           1 or 2        undecided children (see values/score.py)
    parent checksums   1, 2 or 4     if the rules give parents (see values/edges.py): more bytes miss fewer errors
    sizes              about 0.25    numbers of symmetric positions, compressed
    lists              0.25 to 4     newly decided positions: if a list does not fit, they are searched for instead

If predecessor lists do not fit, the frontier of forward passes takes the memory of the lists (see
predecessors/passes.py). A tier that is cut into ranges has only sizes in this process's memory; all else is in files.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrograde.games.catalog import rests_on
from retrograde.games.contract.game import METRICS, Game, defines
from retrograde.games.contract.zeroing import TO_PROGRESS
from retrograde.solver.methods.chess.fit import formation_of, is_chess
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.values.score import counter_type, score_type

if TYPE_CHECKING:
    from retrograde.solver.methods.chess.formation import Formation

SIZES = 0.25
"""Bytes for each slot for the compressed numbers of symmetric positions, at most about."""
LISTED = 0.25, 4.0
"""Bytes for each slot for lists of positions that are decided or due: least and most."""
LISTED_ITEM = 4
"""Bytes for each position in such a list."""
SUMS = np.uint8, np.uint16, np.uint32
"""Types of parent checksums."""
LAST = 1.3
"""Bytes for each position while scores of a tier solved by sets are written.

One byte for its outcome (two with another metric), and bits in two sets.
"""
TASKS = 100_000_000, 1000
"""Bytes for running tasks: at most in all, and for each slot."""


class Room(NamedTuple):
    """The memory of a tier in bytes: the least, and the most that it can use.

    *tasks* is the part of both that is reserved for tasks, which may take less.
    """

    least: int
    most: int
    tasks: int


def room_for(game: Game, count: int, bits: int) -> Room:
    """Return the memory for a tier of *count* slots, its scores included."""
    slot = np.dtype(score_type(bits)).itemsize + np.dtype(counter_type(bits)).itemsize + SIZES
    least, most = (
        slot + listed + defines(game, "parents") * np.dtype(sums).itemsize
        for listed, sums in zip(LISTED, (SUMS[0], SUMS[-1]), strict=True)
    )
    tasks = min(TASKS[0], TASKS[1] * count)
    return Room(int(least * count) + tasks, int(most * count) + tasks, tasks)


def room_of(formation: "Formation", metric: str) -> int:
    """Return the memory for solving a tier by sets, beside its scores, in bytes."""
    return formation.room_by_zeroing if metric in TO_PROGRESS else formation.room


def room_to_the_end(formation: "Formation", metric: str, scores: int) -> int:
    """Return the memory for solving a tier by sets if its scores go to a scratch file, in bytes.

    *scores* is the size of the scores. They are written at the end. Only outcomes of positions with the side to move
    that is written last are in memory then.
    """
    known = LAST + (metric in TO_PROGRESS)
    return max(room_of(formation, metric), int(known * formation.pairs * formation.inner) + scores)


def room_in_ranges(game: Game, count: int, bits: int, ranged: int | None = None) -> Room:
    """Return the memory for a tier in the solving process, which is small for a tier in ranges.

    Tiers of *ranged* slots or more are cut into ranges; a range is in the memory of the worker that has its task.
    """
    if ranged is None or count < ranged:
        return room_for(game, count, bits)
    tasks = min(TASKS[0], TASKS[1] * count)
    return Room(int(SIZES * count) + tasks, int(SIZES * count) + tasks, tasks)


def room_for_tiers(
    game: Game, numbering: Numbering, bits: int, by_sets: bool, metric: str = METRICS[0], ranged: int | None = None
) -> Room:
    """Return the memory for the tiers of a game: the maximum over all of them.

    If *by_sets*, tiers are solved by sets where possible. Tiers of *ranged* slots or more are cut into ranges.
    """
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
                if metric == METRICS[0] and not rests_on(game):  # otherwise sets are the only way
                    least = min(room.least, least)
                room = Room(least, room_of(formation, metric) + room.tasks, room.tasks)
            rooms.append(room)
    return Room(*(max(amounts) for amounts in zip(*rooms, strict=True)))


def sums_type(spare: int, count: int) -> type[np.unsignedinteger[Any]]:
    """Return the widest type of parent checksums that fits in *spare* bytes, beyond one byte a slot."""
    return next(kind for kind in reversed(SUMS) if (np.dtype(kind).itemsize - 1) * count <= max(spare, 0))


def listed_at_most(left: int, count: int) -> int:
    """Return the number of positions that may be listed when *left* bytes are free."""
    return max(int(LISTED[0] * count), left // 2) // LISTED_ITEM
