"""What is known at first of the slots of a tier: their positions looked at, and all their children."""

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
from retrograde.solver.values.left import PRIMITIVE, narrowed
from retrograde.solver.values.score import DRAW_CLASS, encode, score_type
from retrograde.solver.values.score_kernels import pass_on, pass_up

Array = np.ndarray[Any, Any]
Task = tuple[Tier, int, int]
"""A tier, and from which of its slots to which."""
Children = Any
"""Children within a tier: Packed, or a pair of them one after another, and how many each position has."""

BLOCK = 1 << 14
"""Slots in a task."""
LOOKING = 0.75
"""What looking at all slots once takes of the time that a tier takes, about. (KRPK 0.6, KRKN 0.8, KRBKR 0.85.)"""
PROBES, PROBED = 4, 16
"""So many stretches of so many slots, all over a tier, say which later tiers it must wait for, nearly always."""
LINKS = 1 << 19
"""Children that are written at once."""
SPOT_CHECKS = 3
"""Slots of a block that are looked at a second time, by the interpreted rules."""
TIER_CHECKS = 16
"""Positions of a tier that are held against an image, where it is no longer than a block and..."""
APART = 256
"""... there are so many times as many, or else one."""
EVERY = 4
"""Of a longer tier one block in so many is looked at that way: interpreted rules are slow."""


def blocks(slots: int, done: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of blocks of some size of a tier, from what is done already."""
    return ((begin, min(begin + size, slots)) for begin in range(done, slots, size))


def seed(task: tuple[Tier, Shape | None, int, int]) -> tuple[int, Seeds, Children]:
    """Look at all children of a block of slots; return where it begins, what is known of the slots, and the children
    within the tier: packed if a *shape* is given. Raises Unsolved where one is in a tier that is not solved yet."""
    tier, shape, begin, end = task
    table, count = tier.table, end - begin
    rules = table.rules
    compiled.prepare(rules)
    seeds = Seeds(np.empty(count, score_type(table.bits)), *np.empty((3, count), np.uint16))
    images, links, trouble = room_for_images(rules), room("links", LINKS), troubles(rules, 3)
    narrow = np.int32 if len(tier.scores.array) < 1 << 31 else np.int64
    done, found = 0, []
    while done < count:
        rest = Seeds(*(array[done:] for array in seeds))
        with compiling(table.game, trouble):
            more, written = kernels.seed(rules, tier.number, begin + done, table.slots, rest, images, links, trouble)
        if trouble[0] == Trouble.UNSOLVED:
            raise Unsolved(int(trouble[2]))
        if trouble[0] != Trouble.FINE:
            table.numbering.position_at(table.game, tier.k, int(trouble[2]))
            complain(table.game, table.numbering, asked_in(rules, trouble))
        found.append(links[:written].astype(narrow))
        done += more
    check_some(tier, begin, seeds)
    seeds, counts = seeds._replace(left=narrowed(seeds.left, table.bits)), seeds.counts
    children: Array = np.concatenate(found) if len(found) > 1 else found[0]
    if shape:
        return begin, seeds, packed(shape, children, counts, begin)
    return begin, seeds, (children if alternates(rules) else np.where(children < 0, -1 - children, children), counts)


def expect_solved(table: Table, k: int) -> None:
    """Raise Unsolved where one of a few slots of tier number k leads to a tier that is not solved yet.

    What is wrong with the rules is told when all slots are looked at.
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
    """Hold some slots of a block against what the interpreted rules say, of them and of images."""
    table = tier.table
    game, numbering, count = table.game, table.numbering, len(seeds.scores)
    for i in np.linspace(0, count - 1, SPOT_CHECKS).astype(np.int64).tolist():
        found = int(seeds.scores[i]), int(seeds.left[i])
        if found != seed_interpreted(table, tier.k, begin + i):
            raise RuleError(differ(game, game.unindex(tier.number, begin + i)))
    if begin // BLOCK % EVERY:
        return
    there = np.flatnonzero(seeds.scores != table.empty)
    checks = min(len(there), max(1, min(TIER_CHECKS * BLOCK // len(tier.scores.array), len(there) // APART)))
    for k in range(checks):
        i = int(there[(2 * k + 1) * len(there) // (2 * checks)])
        check_image(game, numbering.position_at(game, tier.k, begin + i))


def seed_interpreted(table: Table, k: int, slot: int) -> tuple[int, int]:
    """Return what `seed` finds out about one slot, by the interpreted rules: score and left."""
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
    """Return where a block of slots begins, and how many positions are symmetric to each; 0 for empty ones."""
    tier, begin, end = task
    rules = tier.table.rules
    compiled.prepare(rules)
    sizes = np.empty(end - begin, np.uint16)
    kernels.measure(rules, tier.number, begin, room_for_images(rules), sizes)
    return begin, sizes


def complain(game: Game, numbering: Numbering, position: int) -> None:
    """Raise the RuleError that is due at a position: that of the interpreted rules, which say it in full."""
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
