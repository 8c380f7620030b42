"""What a solve by ranges of slots takes on a cluster, told beforehand: of the process that solves, of each worker, of
the folder that they share, and of the wire (see methods/listed/ranges/tier.py).

It follows from the slots of the largest tier in ranges, from how these are cut, and from the links of a slot, which are
sampled. What each of these takes was measured, of teeko, quixo, six men's morris and dodgem::

    worker    =  fixed + the larger of  turning a range round, looking at a block        (bytes a slot, and a link)
    folder    =  scores of all + what is known of the slots of a tier, and its links
    wire      =  for each remoteness a task of each range
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import METRICS, Game, is_numbered
from retrograde.solver.estimation.amounts import CODE_BITS, CYCLIC, MB, NUMBERED, Range
from retrograde.solver.estimation.expected import Estimate
from retrograde.solver.estimation.links import LARGEST, links_in
from retrograde.solver.estimation.numbered import formations
from retrograde.solver.methods.listed.cycles import STRETCH
from retrograde.solver.methods.listed.explore.tasks import position_type
from retrograde.solver.methods.listed.ranges.tier import cut
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.methods.numbered.room import room_for_tiers
from retrograde.solver.methods.numbered.seeds import BLOCK
from retrograde.solver.rules.examine import start_of
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import LARGER, worth_sending

WORKER = Range(165 * MB, 185 * MB, 230 * MB)
"""Memory of a worker that has machine code loaded, and no task."""
TURNING = Range(16, 20, 24), Range(6, 11, 25)
"""Bytes for a slot of a range that is turned round, and for each of its links: ranges have more than others."""
LOOKING = Range(12, 30, 60), Range(8, 32, 40)
"""The same for a slot of a block that is looked at."""
FOLDER = Range(7, 12, 40), Range(4.2, 7, 11)
"""Bytes of scratch files for a slot of a tier in ranges and for a link, beside the scores: what is superfluous goes
with the next note."""
TASK = Range(1_000, 3_000, 70_000)
"""Bytes that are sent for a task, and come back; whatever has more than 32 kB each way goes by a file."""
SLOWER = Range(1.0, 1.15, 1.4)
"""What it takes more of the time of processors than on threads."""
MAPPED = Range(0.0, 1.4, 2.0)
"""Bytes for each slot of all tiers in the memory of who solves: scores, as far as the system keeps their file there."""
OTHERWISE = "solve ", LARGEST
"""How sentences begin that are of solves on one machine: where lists lie there, and links."""
LISTS = Range(4, 8, 24)
"""Bytes for each record there where positions are listed: the lists, numbers of symmetric positions, and scores."""


class Ranged(NamedTuple):
    """The largest tier that lies in ranges: its slots, links of a slot, how many are usually looked at together, and
    the slots of all tiers."""

    slots: int
    links: Range
    usual: int
    all_slots: int


def add_ranges(game: Game, expected: Estimate, workers: int, sharing: int, sizes: Sizes | None = None) -> bool:
    """Have an estimate say what a solve takes on so many workers of a cluster, so many *sharing* a machine, where tiers
    lie in ranges; tell whether any does."""
    sizes = sizes or Sizes()
    numbered = is_numbered(game)
    ranged = (largest_numbered if numbered else largest_listed)(game, expected, sizes.ranged_slots)
    if ranged is None:
        return False
    memory = MemoryBudget().left() // sharing
    shape = cut(ranged.slots, workers, memory, sizes.range_bits)
    block = min(LARGER * ranged.usual, worth_sending(ranged.slots, ranged.usual, workers), 1 << shape.shift)
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
        f"{ranged.links.likely:.1f} links; what is sent is for a step, of which each remoteness has one",
        "what the system keeps in memory of files that all map is not counted with the workers",
    ]
    return True


def largest_numbered(game: Game, expected: Estimate, least: int) -> Ranged | None:
    """Return the largest tier in ranges of a game that numbers its positions, None where none is."""
    numbering = Numbering.own(game)
    rows = [row for row, by_sets in formations(game, numbering) if not by_sets and numbering.size(row) >= least]
    if not rows:
        return None
    most = max(rows, key=numbering.size)
    return Ranged(numbering.size(most), links_in(game, numbering, most), BLOCK, numbering.slots)


def largest_listed(game: Game, expected: Estimate, least: int) -> Ranged | None:
    """Return the largest tier in ranges of a game whose positions are listed and come back, None where none does."""
    most = max(expected.tiers.values(), default=expected.records)
    if not expected.links or most < least:
        return None
    return Ranged(most, Range(0.5, 1, 1).times(expected.links), STRETCH, expected.records)


def put_folder(game: Game, expected: Estimate, ranged: Ranged, numbered: bool) -> None:
    """Add to the scratch files of an estimate what lies in the folder that all share."""
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
    """Return the same of a game whose positions are listed."""
    low, high = expected.ranges["records"]
    return CYCLIC.fixed_memory + Range(low, expected.records, high).times(LISTS)
