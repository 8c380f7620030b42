"""Memory of a tier while it is solved: the least amount, and the most that helps.

A tier that is solved slot by slot has arrays with an entry for each slot: scores, undecided-children counters (see
values/score.py), parent checksums if the rules give parents (see values/edges.py), and numbers of symmetric positions.
More bytes for a checksum miss fewer errors. If a list of newly decided positions does not fit, they are searched for.

If predecessor lists do not fit, the frontier of forward passes takes the memory of the lists (see
predecessors/passes.py). A tier that is cut into ranges has only sizes in this process's memory; all else is in files.
A tier that is solved by shapes in ranges needs memory for a few ranges alone.
"""

from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrograde.games.catalog import rests_on
from retrograde.games.contract.game import METRICS, Game, defines
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.methods.chess.fit import formation_of, is_chess
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.shapes.fit import bytes_of_edges, is_shaped
from retrograde.solver.values.score import counter_type, score_type

if TYPE_CHECKING:
    from retrograde.solver.methods.chess.formation import Formation

SIZE_BYTES = 0.25
"""The most bytes for each slot for the compressed numbers of symmetric positions, about."""
LIST_BYTES = 0.25, 4.0
"""Bytes for each slot for lists of positions that are decided or due: least and most."""
BYTES_A_LISTED = 8
"""One position is listed for each 8 bytes of free memory: lists of 4-byte numbers take half of it."""
CHECKSUM_TYPES = np.uint8, np.uint16, np.uint32
"""Types of parent checksums."""
OUTCOME_BYTES = 1.3
"""Bytes for each position while scores of a tier solved by sets are written: one for its outcome (two with another
metric), and bits in two sets."""
SHAPE_BYTES = 5
"""Bytes for each slot of a tier solved by shapes: two for the score, one for the counter, others for lists."""
SHAPE_TABLES = 20_000_000
"""Bytes for the tables of a tier solved by shapes."""
ROW_BYTES = 50
"""Bytes for each slot of a row of shapes, while it is solved in ranges of one row."""
TASK_BYTES = 100_000_000, 1000
"""Bytes for running tasks: at most in all, and for each slot."""


class TierMemory(NamedTuple):
    """The memory of a tier in bytes: the least, and the most that it can use. *tasks* is the part of both that is
    reserved for tasks, which may take less."""

    least: int
    most: int
    tasks: int


def memory_by_slots(game: Game, slots: int, bits: int, ranged: int | None = None) -> TierMemory:
    """Return the memory for solving a tier slot by slot, its scores included. A tier of *ranged* slots or more is cut
    into ranges, which are in the memory of the workers that have the tasks."""
    least = most = SIZE_BYTES  # bytes for each slot
    if ranged is None or slots < ranged:
        base = SIZE_BYTES + np.dtype(score_type(bits)).itemsize + np.dtype(counter_type(bits)).itemsize
        narrowest, widest = (np.dtype(checksum).itemsize for checksum in (CHECKSUM_TYPES[0], CHECKSUM_TYPES[-1]))
        has_parents = defines(game, "parents")  # otherwise there are no checksums
        least = base + LIST_BYTES[0] + (narrowest if has_parents else 0)
        most = base + LIST_BYTES[1] + (widest if has_parents else 0)
    tasks = min(TASK_BYTES[0], TASK_BYTES[1] * slots)
    return TierMemory(int(least * slots) + tasks, int(most * slots) + tasks, tasks)


def memory_by_shapes(game: Game, tier: int, slots: int) -> int:
    """Return the memory for solving a tier shape by shape, its scores included, in bytes."""
    return SHAPE_BYTES * slots + bytes_of_edges(game, tier) + SHAPE_TABLES


def memory_in_ranges(game: Game, tier: int) -> int:
    """Return the least memory for solving a tier shape by shape in ranges, in bytes."""
    sections = [section for section in game.placements.sections if section.tier == tier]  # type: ignore[attr-defined]
    return ROW_BYTES * max(comb(sum(section.men), section.men[0]) for section in sections) + SHAPE_TABLES


def memory_by_sets(formation: "Formation", metric: str) -> int:
    """Return the memory for solving a tier by sets, beside its scores, in bytes."""
    return formation.memory(by_zeroing=metric in PROGRESS_METRICS)


def memory_for_tiers(
    game: Game, numbering: SlotNumbering, bits: int, by_sets: bool, metric: str = METRICS[0], ranged: int | None = None
) -> TierMemory:
    """Return the memory for the tiers of a game: the maximum over all of them. If *by_sets*, tiers are solved by sets
    where possible. Tiers of *ranged* slots or more are cut into ranges."""
    if by_sets and is_shaped(game):
        return memory_of_shapes(game, numbering, ranged)
    sizes = np.diff(numbering.starts)
    if not by_sets or not is_chess(game):
        # The largest tier of all, and the largest that is not cut into ranges.
        largest = {int(group.max()) for group in (sizes, sizes[sizes < (ranged or 0)]) if len(group)}
        tiers = [memory_by_slots(game, slots, bits, ranged) for slots in largest]
    else:
        tiers = [memory_of_chess(game, numbering, row, bits, metric, ranged) for row in range(len(numbering.tiers))]
    return TierMemory(*(max(amounts) for amounts in zip(*tiers, strict=True)))


def memory_of_shapes(game: Game, numbering: SlotNumbering, ranged: int | None) -> TierMemory:
    """Return the memory for the tiers of a game that are solved shape by shape.

    The least is for ranges, the most for the largest tier in memory. Tiers of *ranged* slots or more are in ranges.
    """
    sizes = dict(zip(numbering.tiers.tolist(), np.diff(numbering.starts).tolist(), strict=True))
    least = max(memory_in_ranges(game, tier) for tier in sizes)
    uncut = [tier for tier, slots in sizes.items() if ranged is None or slots < ranged]
    most = max((memory_by_shapes(game, tier, sizes[tier]) for tier in uncut), default=least)
    return TierMemory(min(least, most), most, 0)


def memory_of_chess(
    game: Game, numbering: SlotNumbering, row: int, bits: int, metric: str, ranged: int | None
) -> TierMemory:
    """Return the memory for a tier of chess, which is solved by sets if possible.

    The least is for scores in a scratch file. They are written at the end, when only outcomes of positions with the
    side to move that is written last are in memory.
    """
    memory = memory_by_slots(game, numbering.size(row), bits, ranged)
    formation = formation_of(game, int(numbering.tiers[row]), bits)
    if not formation:
        return memory
    sets, scores = memory_by_sets(formation, metric), numbering.size(row) * np.dtype(score_type(bits)).itemsize
    outcomes = (OUTCOME_BYTES + (metric in PROGRESS_METRICS)) * formation.pairs * formation.inner
    least = max(sets, int(outcomes) + scores)
    if metric == METRICS[0] and not rests_on(game):  # otherwise the tier cannot be solved slot by slot
        least = min(memory.least, least)
    return TierMemory(least, sets + memory.tasks, memory.tasks)


def checksum_type(spare: int, slots: int) -> type[np.unsignedinteger[Any]]:
    """Return the widest type of parent checksums that fits in *spare* bytes, beyond one byte a slot."""
    return next(kind for kind in reversed(CHECKSUM_TYPES) if (np.dtype(kind).itemsize - 1) * slots <= max(spare, 0))


def least_listed(slots: int) -> int:
    """Return the number of positions that may be listed in any case, 4 bytes each."""
    return int(LIST_BYTES[0] * slots) // 4
