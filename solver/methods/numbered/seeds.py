"""Expands the slots of a tier: initial scores and counters of each position, and its children within the tier."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, alternates, defines, is_none
from retrograde.solver.methods.listed.predecessors.sorting import Shape, packed
from retrograde.solver.methods.numbered import kernels
from retrograde.solver.methods.numbered.kernels import Seeds
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.methods.numbered.table import Table, Tier
from retrograde.solver.rules import compiled
from retrograde.solver.rules.active import asked_in, asking, troubles
from retrograde.solver.rules.examine import differ, examine, refuse_chance
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.images import check_image
from retrograde.solver.rules.second_look import check_index
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.rules.turns import turns
from retrograde.solver.rules.whole import room_for_images
from retrograde.solver.runtime.solved_tiers import Unsolved
from retrograde.solver.runtime.tasks import room
from retrograde.solver.values.score import DRAW_CLASS, PRIMITIVE, encode, narrow_counters, score_type
from retrograde.solver.values.score_kernels import pass_on, pass_up

Array = np.ndarray[Any, Any]
Task = tuple[Tier, int, int]
"""A tier, and the bounds of a block of its slots."""
Children = Any
"""Children within a tier: Packed, or (links, number of links for each position)."""

BLOCK = 1 << 14
"""Slots in a task."""
LOOKING = 0.75
"""Share of a tier's solving time that expanding all slots takes, about. (KRPK 0.6, KRKN 0.8, KRBKR 0.85.)"""
PROBES, PROBED = 4, 16
"""Number of probes, and slots in each. They are spread over a tier and nearly always find the later tiers that it
needs."""
LINKS = 1 << 19
"""Size of the buffer for links."""
SPOT_CHECKS = 3
"""Slots of a block that are checked with the interpreted rules."""
TIER_CHECKS = 16
"""Positions of a tier that are checked against a symmetric image, about, spread over its blocks."""
APART = 256
"""At most one position in this number is checked that way, but at least one in a block."""
EVERY = 4
"""In a longer tier one block of this number is checked that way, because interpreted rules are slow."""


def blocks(slots: int, done: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of the blocks of a tier that remain after *done* slots."""
    return ((begin, min(begin + size, slots)) for begin in range(done, slots, size))


def seed(task: tuple[Tier, Shape | None, int, int]) -> tuple[int, Seeds, Children]:
    """Expand a block of slots.

    Returns the first slot, the initial scores and counters, and the children within the tier: packed if *shape* is
    given. Raises Unsolved if a child is in a tier that is not solved yet, and RuleError if the rules break the
    contract.
    """
    tier, shape, begin, end = task
    table, count = tier.table, end - begin
    rules = table.rules
    compiled.prepare(rules)
    seeds = Seeds(np.empty(count, score_type(table.bits)), *np.empty((3, count), np.uint16))
    images, links, trouble = room_for_images(rules), room("links", LINKS), troubles(rules, 3)
    narrow = np.int32 if len(tier.scores.array) < 1 << 31 else np.int64
    done, found = 0, []
    # The buffer for links may be too short for the whole block: continue until all slots are done.
    while done < count:
        rest = Seeds(*(array[done:] for array in seeds))
        with compiling(table.game, trouble):
            more, written = kernels.seed(rules, tier.number, begin + done, table.slots, rest, images, links, trouble)
        if trouble[0] == Trouble.UNSOLVED:
            raise Unsolved(int(trouble[2]))
        # The kernel has stopped at a fault; ask the interpreted rules for the details.
        if trouble[0] != Trouble.FINE:
            table.numbering.position_at(table.game, tier.k, int(trouble[2]))
            complain(table.game, table.numbering, asked_in(rules, trouble))
        found.append(links[:written].astype(narrow))
        done += more
    check_some(tier, begin, seeds)
    seeds, counts = seeds._replace(left=narrow_counters(seeds.left, table.bits)), seeds.counts
    children: Array = np.concatenate(found) if len(found) > 1 else found[0]
    if shape:
        return begin, seeds, packed(shape, children, counts, begin)
    return begin, seeds, (children if alternates(rules) else np.where(children < 0, -1 - children, children), counts)


def expect_solved(table: Table, k: int) -> None:
    """Raise Unsolved if a probed slot of tier number k leads to a tier that is not solved yet.

    Ignores faults of the rules; they are reported when all slots are expanded.
    """
    if table.solved.flags[k + 1 :].all():
        return
    rules, tier, count = table.rules, int(table.numbering.tiers[k]), table.numbering.size(k)
    length = min(PROBED, count)
    compiled.prepare(rules)
    seeds = Seeds(np.empty(length, score_type(table.bits)), *np.empty((3, length), np.uint16))
    images, links, trouble = room_for_images(rules), room("links", LINKS), troubles(rules, 3)
    for begin in np.linspace(0, count - length, PROBES).astype(np.int64).tolist():
        with suppress(Exception), asking(table.game, trouble):
            kernels.seed(rules, tier, begin, table.slots, seeds, images, links, trouble)
        if trouble[0] == Trouble.UNSOLVED:
            raise Unsolved(int(trouble[2]))


def check_some(tier: Tier, begin: int, seeds: Seeds) -> None:
    """Check some slots of a block with the interpreted rules, and some against a symmetric image."""
    table = tier.table
    game, numbering, count = table.game, table.numbering, len(seeds.scores)
    for i in np.linspace(0, count - 1, SPOT_CHECKS).astype(np.int64).tolist():
        found = int(seeds.scores[i]), int(seeds.left[i])
        if found != seed_interpreted(table, tier.k, begin + i):
            raise RuleError(differ(game, game.unindex(tier.number, begin + i)))
    if begin // BLOCK % EVERY:
        return
    # Check canonical positions against a symmetric image, evenly spread over the block's positions.
    there = np.flatnonzero(seeds.scores != table.empty)
    checks = min(len(there), max(1, min(TIER_CHECKS * BLOCK // len(tier.scores.array), len(there) // APART)))
    for k in range(checks):
        i = int(there[(2 * k + 1) * len(there) // (2 * checks)])
        check_image(game, numbering.position_at(game, tier.k, begin + i))


def seed_interpreted(table: Table, k: int, slot: int) -> tuple[int, int]:
    """Return (score, counter) of one slot by the interpreted rules: the values that `seed` must find."""
    game, numbering, bits = table.game, table.numbering, table.bits
    position = game.unindex(int(numbering.tiers[k]), slot)
    if is_none(position):
        return table.empty, PRIMITIVE
    value, moves, children = examine(game, position)
    if value:
        return encode(value, 0, bits), PRIMITIVE
    own, passed = set(), 0
    check_index(game, position, game.do_move(position, moves[slot % len(moves)]))
    for child in children:
        child_k, child_slot = numbering.slot_of(game, child)
        if child_k == k:
            own.add(child_slot)
        else:
            score = int(table.scores.array[numbering.starts[child_k] + child_slot])
            passed = max(passed, (pass_up if turns(game, position, child) else pass_on)(score, bits))
    return passed, len(own) + (passed >= DRAW_CLASS << bits)


def measure(task: Task) -> tuple[int, Array]:
    """Return the first slot of a block, and the number of positions symmetric to each; 0 for empty slots."""
    tier, begin, end = task
    rules = tier.table.rules
    compiled.prepare(rules)
    sizes = np.empty(end - begin, np.uint16)
    kernels.measure(rules, tier.number, begin, room_for_images(rules), sizes)
    return begin, sizes


def complain(game: Game, numbering: Numbering, position: int) -> None:
    """Raise the RuleError for a position with a fault, found with the interpreted rules, which give details."""
    k, slot = numbering.slot_of(game, position)
    tier = int(numbering.tiers[k])
    if (other := game.unindex(tier, slot)) != position:
        what = f"index() gives {slot}, and unindex({tier}, {slot}) gives {other}"
        raise RuleError(f"{variant(game)}, position {position}: {what}")
    refuse_chance(game, position)
    related = examine(game, position)[2]
    related += list(game.parents(position)) if defines(game, "parents") else []
    for one in related:
        numbering.slot_of(game, one)
    check_image(game, position)
    raise RuleError(differ(game, position))
