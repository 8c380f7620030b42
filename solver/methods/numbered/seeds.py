"""Expands the slots of a tier: initial scores and counters of each position, and its children within the tier."""

from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, Traits, alternates, is_none
from retrograde.solver.methods.listed.predecessors.kernels import Seeds
from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout, pack_edges
from retrograde.solver.methods.listed.predecessors.tier import CyclicTier
from retrograde.solver.methods.numbered import kernels
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.table import NumberedTable
from retrograde.solver.rules.consistency import check_index
from retrograde.solver.rules.examine import describe_difference, examine, refuse_chance
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.images import check_image
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import room_for_images
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.running_kernels import noted_position, trouble_array, watch_kernel
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.rules.turns import turns
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.concurrent import Unsolved
from retrograde.solver.runtime.tasks import workspace
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import DRAW_CLASS, PRIMITIVE, encode, narrow_counters, score_type
from retrograde.solver.values.score_kernels import pass_on, pass_up

SlotTask = tuple[CyclicTier, BucketLayout | None, int, int]
"""Task: expand slots *begin* to *end* of a tier."""

BLOCK = 1 << 14
"""Slots in a task."""
EXPANDING_SHARE = 0.75
"""Share of a tier's solving time that expanding all slots takes, about. (KRPK 0.6, KRKN 0.8, KRBKR 0.85.)"""
PROBES, PROBE_SLOTS = 4, 16
"""Number of probes of a tier, and slots in each. They nearly always find the later tiers that it needs."""
LINKS = 1 << 19
"""Size of the buffer for links."""
SPOT_CHECKS = 3
"""Slots of a tier's first block that are checked with the interpreted rules; of each other block, one is."""
IMAGE_CHECKS = 16
"""Positions of a tier that are checked against a symmetric image, about, spread over its blocks."""
IMAGE_CHECK_DISTANCE = 1024
"""At most one in this many positions of a block is checked that way, but at least one in each block checked."""
IMAGE_CHECK_BLOCKS = 4
"""Positions are checked that way in one of this many blocks, because interpreted rules are slow."""


def seed_buffers(table: NumberedTable, slots: int) -> tuple[Seeds, Array, Array, Array]:
    """Return the arrays that `kernels.seed` writes to: seeds, images, links and trouble."""
    seeds = Seeds(np.empty(slots, score_type(table.bits)), *np.empty((3, slots), np.uint16))
    return seeds, room_for_images(table.rules), workspace("links", LINKS), trouble_array(table.rules, 3)


def seed(task: SlotTask) -> tuple[int, Seeds, Any]:
    """Expand a block of slots (see `TierExpansion`). Raises Unsolved if a child is in a tier that is not solved yet,
    and RuleError if the rules break the contract."""
    tier, layout, begin, end = task
    table, count = tier.table, end - begin
    rules, slots = table.rules, table.for_kernels
    seeds, images, links, trouble = seed_buffers(table, count)
    narrow = np.int32 if tier.size < 1 << 31 else np.int64
    done, links_of_calls = 0, []
    # The buffer for links may be too short for the whole block: continue until all slots are done.
    while done < count:
        remaining_seeds = Seeds(*(array[done:] for array in seeds))
        with compiling(table.game, trouble):
            slots_done, link_count = kernels.seed(
                rules_for(rules), tier.number, begin + done, slots, remaining_seeds, images, links, trouble
            )
        if trouble[0] == Trouble.UNSOLVED:
            raise Unsolved(int(trouble[2]))
        # The kernel has stopped at a fault; ask the interpreted rules for the details.
        if trouble[0] != Trouble.FINE:
            table.numbering.position_at(table.game, tier.k, int(trouble[2]))
            raise_fault(table.game, table.numbering, noted_position(rules, trouble))
        links_of_calls.append(links[:link_count].astype(narrow))
        done += slots_done
    check_block(tier, begin, seeds)
    seeds, counts = seeds._replace(children_left=narrow_counters(seeds.children_left, table.bits)), seeds.counts
    children: Array = np.concatenate(links_of_calls) if len(links_of_calls) > 1 else links_of_calls[0]
    if layout:
        return begin, seeds, pack_edges(layout, children, counts, begin)
    # A child is a complement if the same player moves again. Checksums of parents do not depend on who moves: undo it.
    return begin, seeds, (children if alternates(rules) else np.where(children < 0, ~children, children), counts)


def expect_solved(table: NumberedTable, k: int) -> None:
    """Raise Unsolved if a probed slot of tier number k leads to a tier that is not solved yet. Ignores faults of the
    rules; they are reported when all slots are expanded."""
    if table.solved.flags[k + 1 :].all():
        return
    rules, tier, count = table.rules, int(table.numbering.tiers[k]), table.numbering.size(k)
    length = min(PROBE_SLOTS, count)
    seeds, images, links, trouble = seed_buffers(table, length)
    for begin in np.linspace(0, count - length, PROBES).astype(np.int64).tolist():
        with suppress(Exception), compilable(table.game), watch_kernel(table.game, trouble):
            kernels.seed(rules_for(rules), tier, begin, table.for_kernels, seeds, images, links, trouble)
        if trouble[0] == Trouble.UNSOLVED:
            raise Unsolved(int(trouble[2]))


def check_block(tier: CyclicTier, begin: int, seeds: Seeds) -> None:
    """Check some slots of a block with the interpreted rules, and some against a symmetric image."""
    table = tier.table
    game, numbering, count = table.game, table.numbering, len(seeds.scores)
    # Step 1: compare slots with the interpreted rules: several of a tier's first block, a random one of each other.
    slots = np.linspace(0, count - 1, SPOT_CHECKS).astype(np.int64).tolist()
    for slot in slots if begin == 0 else [Random(begin).randrange(count)]:
        compiled = int(seeds.scores[slot]), int(seeds.children_left[slot])
        if compiled != seed_interpreted(table, tier.k, begin + slot):
            raise RuleError(describe_difference(game, game.unindex(tier.number, begin + slot)))
    # Only every fourth block (see IMAGE_CHECK_BLOCKS): interpreted rules are slow.
    if (begin // BLOCK) % IMAGE_CHECK_BLOCKS:
        return
    # Step 2: compare canonical positions with a symmetric image, evenly spread over the block's positions.
    filled = np.flatnonzero(seeds.scores != table.empty)
    wanted = min(IMAGE_CHECKS * BLOCK // tier.size, len(filled) // IMAGE_CHECK_DISTANCE)
    checks = min(len(filled), max(1, wanted))
    for check in range(checks):
        # The middle of part number `check` of equal parts.
        slot = int(filled[(2 * check + 1) * len(filled) // (2 * checks)])
        check_image(game, numbering.position_at(game, tier.k, begin + slot))


def seed_interpreted(table: NumberedTable, k: int, slot: int) -> tuple[int, int]:
    """Return (score, counter) of a slot of tier number k by the interpreted rules: the values that `seed` must find."""
    game, numbering, bits = table.game, table.numbering, table.bits
    position = game.unindex(int(numbering.tiers[k]), slot)
    if is_none(position):
        return table.empty, PRIMITIVE
    value, moves, children = examine(game, position)
    if value:
        return encode(value, 0, bits), PRIMITIVE
    slots_in_tier, later_best = set(), 0
    check_index(game, position, game.do_move(position, moves[slot % len(moves)]))  # one child, another for each slot
    for child in children:
        child_k, child_slot = numbering.slot_of(game, child)
        if child_k == k:
            slots_in_tier.add(child_slot)
        else:
            score = int(table.scores.array[numbering.starts[child_k] + child_slot])
            later_best = max(later_best, (pass_up if turns(game, position, child) else pass_on)(score, bits))
    return later_best, len(slots_in_tier) + (later_best >= DRAW_CLASS << bits)


def count_symmetric(table: NumberedTable, k: int, work: Work) -> Array:
    """Return the number of positions symmetric to each slot's position of tier number k; 0 for empty slots."""
    blocks = range(0, table.numbering.size(k), BLOCK)
    tier = CyclicTier.with_scores_only(table, k)
    return np.concatenate([*work.map(count_block, ((tier, begin) for begin in blocks))])


def count_block(task: tuple[CyclicTier, int]) -> Array:
    """Return what `count_symmetric` does, for one block of slots. The task is (tier, first slot)."""
    tier, begin = task
    rules = tier.table.rules
    sizes = np.empty(min(BLOCK, tier.size - begin), np.uint16)
    with compilable(rules):
        kernels.count_symmetric(rules_for(rules), tier.number, begin, room_for_images(rules), sizes)
    return sizes


def raise_fault(game: Game, numbering: SlotNumbering, position: int) -> None:
    """Raise the RuleError for a position with a fault, found with the interpreted rules, which give details."""
    k, slot = numbering.slot_of(game, position)
    tier = int(numbering.tiers[k])
    if (other := game.unindex(tier, slot)) != position:
        what = f"index() gives {slot}, and unindex({tier}, {slot}) gives {other}"
        raise RuleError(f"{variant(game)}, position {position}: {what}")
    refuse_chance(game, position)
    related = examine(game, position)[2]  # the children
    related += list(game.parents(position)) if Traits.of(game).has_parents else []
    for neighbour in related:
        numbering.slot_of(game, neighbour)  # raises RuleError if its tier or index is wrong
    check_image(game, position)
    raise RuleError(describe_difference(game, position))
