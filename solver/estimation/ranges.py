"""Estimates a solve by ranges of slots on a cluster: the solving process, each worker, the shared folder, the network.

See methods/listed/ranges/tier.py for the method. The amounts follow from the slots of the largest tier in ranges, from
how these are cut, and from the sampled number of children of a slot. What each slot and child takes was measured
with teeko, quixo, six men's morris and dodgem:

    worker    =  fixed + the larger of  building a range's predecessor lists, expanding a block
    folder    =  scores of all slots + state and predecessor lists of the tier
    wire      =  for each remoteness, a task for each range

Games that are solved shape by shape (methods/shapes/ranges.py) need no predecessor lists. Their amounts were measured
with teeko and six men's morris.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.estimation.amounts import CYCLIC, MB, NUMBERED, PLIES_BITS, Estimate, Range
from retrograde.solver.estimation.numbered import LARGEST, children_in_tier, list_formations
from retrograde.solver.methods.listed.cycles import BLOCK as POSITIONS
from retrograde.solver.methods.listed.explore.tasks import position_type
from retrograde.solver.methods.listed.ranges.tier import cut_into_ranges
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.seeds import BLOCK
from retrograde.solver.methods.numbered.tier_memory import memory_for_tiers
from retrograde.solver.methods.shapes.fit import is_shaped
from retrograde.solver.methods.shapes.ranges import FRONTIER_SHARE, slots_in_range
from retrograde.solver.rules.examine import start_of
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import LARGER, cluster_task_size

WORKER = Range(165 * MB, 185 * MB, 230 * MB)
"""Memory of a worker with machine code loaded and no task."""
INVERTING = Range(16, 20, 24), Range(6, 11, 25)
"""Bytes for a slot of a range whose predecessor lists are built, and for each of its children in the tier."""
EXPANDING = Range(12, 30, 60), Range(8, 32, 40)
"""Bytes for a slot of a block that is expanded, and for each of its children in the tier."""
FOLDER = Range(7, 12, 40), Range(4.2, 7, 11)
"""Bytes of scratch files for a slot of a tier in ranges and for a child, besides the scores.

Files that are no longer needed are removed at the next checkpoint.
"""
TASK = Range(1_000, 3_000, 70_000)
"""Bytes sent for a task and back. Data of more than 32 kB in one direction goes by a file."""
SLOWDOWN = Range(1.0, 1.15, 1.4)
"""Processor time of a solve in ranges, with that of the same solve on threads as 1."""
MAPPED = Range(0.0, 1.4, 2.0)
"""Bytes of the solving process for each slot of all tiers: scores, as far as the system caches their file."""
SCORE_BYTES = 2
"""Bytes of a score."""
ONE_MACHINE = "solve ", LARGEST
"""How sentences begin that apply only to solves on one machine."""
LISTS = Range(4, 8, 24)
"""Bytes of the solving process for each record, if positions are listed: lists, symmetry counts and scores."""


BY_SHAPES, FRONTIER = Range(4, 12, 24), Range(0.0, 0.5, 3.0)
"""For games solved shape by shape: bytes of a worker for a slot of a range, and for a slot of a tier."""
FOLDER_BY_SHAPES, SLOWDOWN_BY_SHAPES = Range(3, 8, 40), Range(1.0, 1.5, 2.0)
"""For games solved shape by shape: bytes of scratch files for a slot of a tier, and processor time."""


class LargestTier(NamedTuple):
    """The largest tier that is solved in ranges. It has `slots` slots, each with `children` children in the tier. Tasks
    expand `block` slots together. All tiers have `all_slots` slots."""

    slots: int
    children: Range
    block: int
    all_slots: int


def add_ranges(game: Game, expected: Estimate, workers: int, sharing: int, sizes: Sizes | None = None) -> bool:
    """Change an estimate for one machine into one for a cluster. Return False, and change nothing, if no tier is large
    enough to be solved in ranges.

    *workers* run on the cluster, *sharing* of them on one machine.
    """
    sizes = sizes or Sizes()
    numbered = Traits.of(game).is_numbered
    largest = largest_numbered if numbered else largest_listed
    tier = largest(game, expected, sizes.ranged_slots)
    if tier is None:
        return False
    memory = MemoryBudget().free_bytes() // sharing  # of one worker
    cost_of = cost_by_shapes if is_shaped(game) else cost_by_slots
    cost = cost_of(tier, workers, memory, sizes)
    expected.put("worker", WORKER + cost.worker)
    expected.put("wire", TASK.times(float(cost.ranges)))
    # The shared folder has the files of the tier, and for all tiers the scores, and if they are listed the positions.
    bytes_a_slot = SCORE_BYTES if numbered else SCORE_BYTES + np.dtype(position_type(start_of(game))).itemsize
    expected.put("scratch", expected.amount("scratch") + cost.files + bytes_a_slot * tier.all_slots)
    expected.put("seconds", expected.amount("seconds").times(cost.slowdown))
    if numbered:
        expected.put("memory", memory_of_solver(game, sizes))
    else:
        expected.put("memory", CYCLIC.fixed_memory + expected.amount("records").times(LISTS))
    expected.rests_on = [
        *(sentence for sentence in expected.rests_on if not sentence.startswith(ONE_MACHINE)),
        f"the largest tier has {tier.slots:,} slots in {cost.ranges:,} ranges, and each slot about "
        f"{tier.children.likely:.1f} children in the tier; bytes sent are for each ply of remoteness",
        "the memory of workers does not include the system's cache of files that all of them map",
    ]
    return True


class Cost(NamedTuple):
    """What a tier in ranges takes: bytes of memory for a worker's task, number of ranges, and bytes of files.

    `slowdown` is the processor time, with that on threads of one machine as 1.
    """

    worker: Range
    ranges: int
    files: Range
    slowdown: Range


def cost_by_slots(tier: LargestTier, workers: int, memory: int, sizes: Sizes) -> Cost:
    """Return the cost of a tier that is solved slot by slot, for workers with *memory* bytes each."""

    def bytes_for(a_slot: Range, a_child: Range, slots: int) -> Range:
        """Return the bytes that *slots* slots take together with their children in the tier."""
        return (a_slot + tier.children.times(a_child)).times(float(slots))

    shape = cut_into_ranges(tier.slots, workers, memory, sizes.range_bits)
    range_slots = 1 << shape.shift
    block = min(LARGER * tier.block, cluster_task_size(tier.slots, tier.block, workers), range_slots)
    # A worker holds one task at a time, of either kind: the larger one counts.
    worker = Range.greatest([bytes_for(*INVERTING, range_slots), bytes_for(*EXPANDING, block)])
    return Cost(worker, shape.buckets, bytes_for(*FOLDER, tier.slots), SLOWDOWN)


def cost_by_shapes(tier: LargestTier, workers: int, memory: int, sizes: Sizes) -> Cost:
    """Return the cost of a tier that is solved shape by shape, for workers with *memory* bytes each."""
    size = slots_in_range(tier.slots, workers, memory, sizes.range_bits)
    files = FOLDER_BY_SHAPES.times(float(tier.slots))
    frontier = FRONTIER.times(min(float(tier.slots), memory / FRONTIER_SHARE))
    return Cost(BY_SHAPES.times(float(size)) + frontier, -(-tier.slots // size), files, SLOWDOWN_BY_SHAPES)


def largest_numbered(game: Game, expected: Estimate, least: int) -> LargestTier | None:
    """Return the largest tier in ranges of a game that numbers its positions; None if none has *least* slots."""
    numbering = SlotNumbering.own(game)
    rows = [row for row, by_sets in list_formations(game, numbering) if not by_sets and numbering.size(row) >= least]
    if not rows:
        return None
    row = max(rows, key=numbering.size)
    return LargestTier(numbering.size(row), children_in_tier(game, numbering, row), BLOCK, numbering.slots)


def largest_listed(game: Game, expected: Estimate, least: int) -> LargestTier | None:
    """Return the largest tier in ranges of a game whose positions are listed. None if play cannot return to it, or if
    it has fewer than *least* slots."""
    slots = max(expected.tiers.values(), default=expected.records)
    if not expected.links or slots < least:
        return None
    return LargestTier(slots, Range(0.5, 1, 1).times(expected.links), POSITIONS, expected.records)


def memory_of_solver(game: Game, sizes: Sizes) -> Range:
    """Return the bytes that the solving process takes if the game numbers its positions."""
    numbering = SlotNumbering.own(game)
    least, most, tasks = memory_for_tiers(game, numbering, PLIES_BITS, by_sets=True, ranged=sizes.ranged_slots)
    tier = Range(least - tasks, most - tasks, most)
    return NUMBERED.fixed_memory + tier + MAPPED.times(float(numbering.slots))
