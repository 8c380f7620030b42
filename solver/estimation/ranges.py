"""Estimates a solve by ranges of slots on a cluster: the solving process, each worker, the shared folder, the network.

See methods/listed/ranges/tier.py for the method. The amounts follow from the slots of the largest tier in ranges, from
how these are cut, and from the sampled number of children (links) of a slot. What each slot and link takes was measured
with teeko, quixo, six men's morris and dodgem:

    worker    =  fixed + the larger of  building a range's predecessor lists, expanding a block
    folder    =  scores of all slots + state and predecessor lists of the tier
    wire      =  for each remoteness, a task for each range
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import METRICS, Game, Traits
from retrograde.solver.estimation.amounts import CODE_BITS, CYCLIC, MB, NUMBERED, Range
from retrograde.solver.estimation.expected import Estimate
from retrograde.solver.estimation.links import LARGEST, links_in
from retrograde.solver.estimation.numbered import formations
from retrograde.solver.methods.listed.cycles import BLOCK as POSITIONS
from retrograde.solver.methods.listed.explore.tasks import position_type
from retrograde.solver.methods.listed.ranges.tier import cut_into_ranges
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.methods.numbered.room import room_for_tiers
from retrograde.solver.methods.numbered.seeds import BLOCK
from retrograde.solver.rules.examine import start_of
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import LARGER, worth_sending

WORKER = Range(165 * MB, 185 * MB, 230 * MB)
"""Memory of a worker with machine code loaded and no task."""
TURNING = Range(16, 20, 24), Range(6, 11, 25)
"""Bytes for a slot of a range whose predecessor lists are built, and for each link. Some ranges have more links than
others."""
LOOKING = Range(12, 30, 60), Range(8, 32, 40)
"""The same for a slot of a block that is expanded."""
FOLDER = Range(7, 12, 40), Range(4.2, 7, 11)
"""Bytes of scratch files for a slot of a tier in ranges and for a link, besides the scores.

Files that are no longer needed are removed at the next checkpoint.
"""
TASK = Range(1_000, 3_000, 70_000)
"""Bytes sent for a task and back. Data of more than 32 kB in one direction goes by a file."""
SLOWER = Range(1.0, 1.15, 1.4)
"""How much more processor time it takes than on threads."""
MAPPED = Range(0.0, 1.4, 2.0)
"""Bytes of the solving process for each slot of all tiers: scores, as far as the system caches their file."""
OTHERWISE = "solve ", LARGEST
"""How sentences begin that apply only to solves on one machine: where lists and predecessor lists lie."""
LISTS = Range(4, 8, 24)
"""Bytes of the solving process for each record, if positions are listed: lists, symmetry counts and scores."""


class Ranged(NamedTuple):
    """The largest tier that is solved in ranges.

    `slots` of it, `links` of a slot, `usual` slots that are expanded together, and `all_slots` of all tiers.
    """

    slots: int
    links: Range
    usual: int
    all_slots: int


def add_ranges(game: Game, expected: Estimate, workers: int, sharing: int, sizes: Sizes | None = None) -> bool:
    """Add to an estimate what a solve takes on *workers* workers of a cluster; return whether any tier lies in ranges.

    *sharing* workers run on one machine.
    """
    sizes = sizes or Sizes()
    numbered = Traits.of(game).is_numbered
    ranged = (largest_numbered if numbered else largest_listed)(game, expected, sizes.ranged_slots)
    if ranged is None:
        return False
    memory = MemoryBudget().left() // sharing
    shape = cut_into_ranges(ranged.slots, workers, memory, sizes.range_bits)
    block = min(LARGER * ranged.usual, worth_sending(ranged.slots, ranged.usual, workers), 1 << shape.shift)
    # A worker holds one task at a time: of either kind, the larger counts.
    tasks = [
        (a_slot + ranged.links.times(a_link)).times(float(size))
        for size, (a_slot, a_link) in ((1 << shape.shift, TURNING), (block, LOOKING))
    ]
    expected.put("worker", WORKER + Range(*map(max, *tasks)))
    expected.put("wire", TASK.times(float(shape.buckets)))
    put_folder(game, expected, ranged, numbered)
    low, high = expected.ranges["seconds"]
    expected.put("seconds", Range(low, expected.seconds, high).times(SLOWER))
    expected.put("memory", memory_of_solver(game, expected, sizes) if numbered else lists_of(expected))
    expected.rests_on = [
        *(each for each in expected.rests_on if not each.startswith(OTHERWISE)),
        f"the largest tier has {ranged.slots:,} slots in {shape.buckets:,} ranges, and each slot some "
        f"{ranged.links.likely:.1f} predecessor entries; what is sent is for one step, and each remoteness has one",
        "what the system keeps in memory of files that all map is not counted with the workers",
    ]
    return True


def largest_numbered(game: Game, expected: Estimate, least: int) -> Ranged | None:
    """Return the largest tier in ranges of a game that numbers its positions; None if there is none."""
    numbering = Numbering.own(game)
    rows = [row for row, by_sets in formations(game, numbering) if not by_sets and numbering.size(row) >= least]
    if not rows:
        return None
    most = max(rows, key=numbering.size)
    return Ranged(numbering.size(most), links_in(game, numbering, most), BLOCK, numbering.slots)


def largest_listed(game: Game, expected: Estimate, least: int) -> Ranged | None:
    """Return the largest tier in ranges of a game whose positions are listed and can recur; None if there is none."""
    most = max(expected.tiers.values(), default=expected.records)
    if not expected.links or most < least:
        return None
    return Ranged(most, Range(0.5, 1, 1).times(expected.links), POSITIONS, expected.records)


def put_folder(game: Game, expected: Estimate, ranged: Ranged, numbered: bool) -> None:
    """Add the files in the shared folder to an estimate's scratch files."""
    a_slot, a_link = FOLDER
    folder = (a_slot + ranged.links.times(a_link)).times(float(ranged.slots))
    all_of_them = 2 if numbered else 2 + np.dtype(position_type(start_of(game))).itemsize
    low, high = expected.ranges["scratch"]
    expected.put("scratch", Range(low, expected.scratch, high) + folder + all_of_them * ranged.all_slots)


def memory_of_solver(game: Game, expected: Estimate, sizes: Sizes) -> Range:
    """Return the memory of the process that solves a game that numbers its positions."""
    numbering = Numbering.own(game)
    room = room_for_tiers(game, numbering, CODE_BITS, True, METRICS[0], sizes.ranged_slots)
    tier = Range(room.least - room.tasks, room.most - room.tasks, room.most)
    return NUMBERED.fixed_memory + tier + MAPPED.times(float(numbering.slots))


def lists_of(expected: Estimate) -> Range:
    """Return the memory of the process that solves a game whose positions are listed."""
    low, high = expected.ranges["records"]
    return CYCLIC.fixed_memory + Range(low, expected.records, high).times(LISTS)
