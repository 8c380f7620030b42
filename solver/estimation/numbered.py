"""Estimates a solve of a game that numbers its positions: the number of slots is known.

Predecessor lists are needed if play can return to a tier and the rules do not give parents:

in memory  <-- if they fit --  predecessor lists  -- else -->  in scratch files  -- else -->  time: forward passes
"""

import time
from collections.abc import Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from retrograde.games.catalog import rests_on
from retrograde.games.contract.game import METRICS, Game, defines, is_none
from retrograde.solver.estimation import amounts
from retrograde.solver.estimation.amounts import (
    BY_ORDERS,
    BY_SETS,
    BY_SHAPES,
    BY_SLOT,
    NUMBERED,
    PLIES_BITS,
    Estimate,
    Range,
    put_disk,
    speed_of,
)
from retrograde.solver.methods.chess.fit import formation_of
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.orientations import is_oriented
from retrograde.solver.methods.numbered.seeds import EXPANDING_SHARE
from retrograde.solver.methods.numbered.tier_memory import (
    memory_by_sets,
    memory_by_shapes,
    memory_by_slots,
    memory_for_tiers,
)
from retrograde.solver.methods.shapes.fit import is_shaped
from retrograde.solver.metrics.slots.store import memory_of
from retrograde.solver.rules.examine import examine
from retrograde.solver.runtime.memory import format_size
from retrograde.solver.runtime.sizes import Sizes

if TYPE_CHECKING:
    from retrograde.solver.methods.chess.formation import Formation

SLOTS, SLOT_SECONDS = 2_000, 0.5
"""The most slots that are sampled of a numbering, and the seconds for it."""
TIER_SLOTS, TIER_SECONDS = 1_000, 0.5
"""The most slots of the largest tier that are sampled for their children, and the seconds for it."""
STANDARD_ERRORS = 3
"""Standard errors on either side of a sampled mean that a range includes."""
LARGEST = "the largest tier has"
"""The beginning of the sentence about predecessor lists."""


def estimate_numbered(game: Game, workers: int, metric: str = METRICS[0]) -> Estimate:
    """Return the estimate for a game that numbers its positions, by remoteness or a metric of PROGRESS_METRICS."""
    numbering = SlotNumbering.own(game)
    slots = numbering.slots
    # Step 1: sample how many slots stand for a position.
    sample = numbering.sample(game, SLOTS, SLOT_SECONDS)
    result = Estimate(0, 0, complete=sample.slots >= slots)
    # The relative standard error of a sampled share of slots.
    error = ((sample.slots - sample.records) / max(sample.records, 1) / sample.slots) ** 0.5 * STANDARD_ERRORS
    for name, sampled in (("records", sample.records), ("positions", sample.positions)):
        likely = sampled / sample.slots * slots
        result.put(name, Range(likely * max(1 - error, 0), likely, likely * (1 + error)))
    # Step 2: time. Tiers solved set by set or shape by shape are much faster than tiers solved slot by slot.
    formations = dict(list_formations(game, numbering))
    by_sets = sum(numbering.size(row) for row, formation in formations.items() if formation)
    others = BY_ORDERS if is_oriented(game) else NUMBERED
    if is_shaped(game):
        others = BY_SHAPES
    shares = [(ratios, count) for ratios, count in ((others, slots - by_sets), (BY_SETS, by_sets)) if count]
    work = sum((Range.exactly(count).times(ratios.seconds) for ratios, count in shares), amounts.NOTHING)
    result.put("seconds", work.times(1 / speed_of(workers)) + NUMBERED.start)
    # Step 3: memory and disk.
    result.put("memory", memory_of_numbered(game, numbering, metric) + NUMBERED.fixed_memory)
    put_disk(result, Range.exactly(slots), NUMBERED, 1)
    of_tiers = memory_for_tiers(game, numbering, PLIES_BITS, by_sets=True, metric=metric).least
    least = max(of_tiers + NUMBERED.fixed_memory.likely, amounts.COMPILED)
    result.least_memory = round(least) if slots > Sizes().interpreted_slots else 0
    # Step 4: where the numbers come from.
    result.rests_on = [
        f"{slots:,} slots in the game's own numbering, {sample.slots:,} of them sampled",
        *(f"{f'{count:,} slots: ' if len(shares) > 1 else ''}ratios of {ratios.source}" for ratios, count in shares),
        f"solve uses the memory named above if it is free; with less, but {format_size(least)} for the largest tier, "
        "scores lie in a scratch file",
    ]
    add_predecessors(game, result, numbering, [row for row, formation in formations.items() if not formation])
    if needed := rests_on(game):
        result.rests_on.append(f"the databases of {', '.join(needed)}, which are solved first if they do not exist yet")
    return result


def list_formations(game: Game, numbering: SlotNumbering) -> Iterator[tuple[int, "Formation | None"]]:
    """Yield (row, pieces on the board) for each tier; None instead of pieces if it is not solved set by set."""
    for row, tier in enumerate(numbering.tiers.tolist()):
        yield row, formation_of(game, tier, PLIES_BITS)


def memory_of_numbered(game: Game, numbering: SlotNumbering, metric: str) -> Range:
    """Return the memory that a solve of a numbered game takes in addition to the process. It is two bytes for the score
    of each slot, and the workspace of the tier that takes most."""
    tiers = []
    for row, formation in list_formations(game, numbering):
        slots = numbering.size(row)
        if is_shaped(game):
            tiers.append(Range(slots, 3 * slots, memory_by_shapes(game, int(numbering.tiers[row]), slots)))
        elif is_oriented(game):
            tiers.append(Range(0, slots // 2, memory_by_slots(game, slots, PLIES_BITS).most))
        elif formation and (sets := memory_by_sets(formation, metric)):
            tiers.append(Range(0, max(sets - 2 * slots, slots // 2), sets))
        else:
            least, most, tasks = memory_by_slots(game, slots, PLIES_BITS)
            tiers.append(Range(least - tasks, (least + most) // 2 - tasks, most))
    return Range.greatest(tiers) + 2 * numbering.slots


def estimate_by_slot(game: Game, workers: int) -> Estimate:
    """Return the estimate for computing the expectations of a game that numbers its positions."""
    numbering = SlotNumbering.of(game)
    slots = Range.exactly(numbering.slots)
    result = Estimate(0, 0, complete=True)
    for name in ("records", "positions"):
        result.put(name, slots)
    result.put("seconds", slots.times(BY_SLOT.seconds).times(1 / speed_of(workers)) + BY_SLOT.start)
    least = memory_of(game, numbering)
    largest = int(np.diff(numbering.starts).max())  # slots of the largest tier
    result.least_memory = round(least + amounts.COMPILED)
    scripts = Range(0, 60, 120).times(float(largest))  # the recorded moves of a tier with cycles
    result.put("memory", scripts + least + BY_SLOT.fixed_memory)
    put_disk(result, slots, BY_SLOT, 1)
    result.rests_on = [
        f"{numbering.slots:,} slots in the game's own numbering; the time for a slot depends on the rules",
        f"ratios of {BY_SLOT.source}; scripts of a tier with cycles are recorded if memory suffices",
    ]
    return result


# Predecessor lists


def add_predecessors(game: Game, expected: Estimate, numbering: SlotNumbering, rows: list[int]) -> None:
    """Add the predecessor lists of the largest tier that is solved slot by slot. *rows* are those of such tiers."""
    if defines(game, "parents") or not rows:
        return
    largest = max(rows, key=numbering.size)
    children, slots = children_in_tier(game, numbering, largest), numbering.size(largest)
    lists = children.times(amounts.PREDECESSOR).times(float(slots))
    expected.links = children.likely
    expected.put("memory", expected.amount("memory") + lists)
    expected.put("scratch", expected.amount("scratch") + Range(0.0, 0.0, lists.high))
    expected.rests_on += explain_lists(lists, EXPANDING_SHARE * NUMBERED.seconds.likely * slots)


def explain_lists(lists: Range, seconds: float) -> list[str]:
    """Return a sentence that says where the largest tier's predecessor lists lie, or [] if there are none. *lists* are
    their bytes, *seconds* the processor time of one forward pass, which replaces lists that fit nowhere."""
    if not lists.likely:
        return []
    return [
        f"{LARGEST} about {format_size(lists.likely)} of predecessor lists, in memory if they fit, else in scratch "
        "files; if the disk is full as well, each ply of remoteness expands undecided positions again, which takes up "
        f"to {seconds:,.1f} seconds of processor time, until the remaining lists fit in memory"
    ]


def children_in_tier(game: Game, numbering: SlotNumbering, row: int) -> Range:
    """Return the mean number of distinct children in the same tier of the slots of a tier, from a random sample.

    *row* is the tier's row in the numbering. Empty slots count as slots without children.
    """
    random, deadline = Random(0), time.monotonic() + TIER_SECONDS
    counts: list[int] = []
    while len(counts) < TIER_SLOTS and (len(counts) < 2 or time.monotonic() < deadline):
        position = numbering.position_at(game, row, random.randrange(numbering.size(row)))
        children: Iterable[Any] = () if is_none(position) else examine(game, position)[2]
        slots = [numbering.slot_of(game, child) for child in children]
        counts.append(len({slot for child_row, slot in slots if child_row == row}))
    mean, error = float(np.mean(counts)), STANDARD_ERRORS * float(np.std(counts)) / len(counts) ** 0.5
    return Range(max(mean - error, 0.0), mean, mean + error)
