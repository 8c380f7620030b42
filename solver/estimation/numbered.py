"""Estimates a solve of a game that numbers its positions: the number of slots is known."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from retrograde.games.catalog import rests_on
from retrograde.games.contract.game import METRICS, Game
from retrograde.solver.estimation.amounts import (
    BY_SETS,
    BY_SLOT,
    CODE_BITS,
    COMPILED,
    NOTHING,
    NUMBERED,
    Range,
    speed_of,
)
from retrograde.solver.estimation.expected import Estimate, put_disk
from retrograde.solver.estimation.links import add_links
from retrograde.solver.methods.chess.fit import formation_of
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.methods.numbered.room import room_for, room_for_tiers, room_of
from retrograde.solver.metrics.slots.store import memory_of
from retrograde.solver.runtime.memory import format_size
from retrograde.solver.runtime.sizes import Sizes

if TYPE_CHECKING:
    from retrograde.solver.methods.chess.formation import Formation

SLOTS, SLOT_SECONDS = 2_000, 0.5
"""Slots of a numbering that are sampled at most, and the seconds for it."""


def of_numbered(game: Game, workers: int, metric: str = METRICS[0]) -> Estimate:
    """Return what a solve of a game that numbers its positions will take, by remoteness or a metric of TO_PROGRESS."""
    numbering = Numbering.own(game)
    slots = numbering.slots
    sample = numbering.sample(game, SLOTS, SLOT_SECONDS)
    result = Estimate(0, 0, complete=sample.slots >= slots)
    # Three standard errors of the share of slots that stand for a position.
    chance = 3 * ((sample.slots - sample.records) / max(sample.records, 1) / sample.slots) ** 0.5
    for name, seen in (("records", sample.records), ("positions", sample.positions)):
        likely = seen / sample.slots * slots
        result.put(name, Range(likely * max(1 - chance, 0), likely, likely * (1 + chance)))
    # Tiers solved set by set are much faster than tiers solved slot by slot.
    rows = dict(formations(game, numbering))
    by_sets = sum(numbering.size(row) for row, formation in rows.items() if formation)
    kinds = [(ratios, part) for ratios, part in ((NUMBERED, slots - by_sets), (BY_SETS, by_sets)) if part]
    work = sum((Range(part, part, part).times(ratios.seconds) for ratios, part in kinds), NOTHING)
    result.put("seconds", work.times(1 / speed_of(workers)) + NUMBERED.start)
    result.put("memory", memory_of_numbered(game, numbering, metric) + NUMBERED.fixed_memory)
    put_disk(result, Range(slots, slots, slots), NUMBERED, 1)
    least = room_for_tiers(game, numbering, CODE_BITS, True, metric).least + NUMBERED.fixed_memory.likely
    least = max(least, COMPILED)
    result.least_memory = round(least) if slots > Sizes().interpreted_slots else 0
    result.rests_on = [
        f"{slots:,} slots in the game's own numbering, {sample.slots:,} of them looked at",
        *(f"{f'{part:,} slots: ' * (len(kinds) > 1)}ratios of {ratios.source}" for ratios, part in kinds),
        f"solve asks for the most memory that is named; where there is less, but {format_size(least)} for the largest "
        "tier, scores lie in a scratch file",
    ]
    add_links(game, result, numbering, [row for row, formation in rows.items() if not formation])
    if others := rests_on(game):
        result.rests_on.append(f"the databases of {', '.join(others)}, which are solved first where they are not there")
    return result


def formations(game: Game, numbering: Numbering) -> Iterator[tuple[int, "Formation | None"]]:
    """Yield (row, pieces on the board) for each tier; the pieces are None if the tier is not solved set by set."""
    for row, tier in enumerate(numbering.tiers.tolist()):
        yield row, formation_of(game, tier, CODE_BITS)


def memory_of_numbered(game: Game, numbering: Numbering, metric: str) -> Range:
    """Return the memory that a solve of a numbered game takes in addition to the process.

    Two bytes for the score of each slot, and the workspace of the tier that takes most.
    """
    beside = [NOTHING]
    # The tier that takes most decides; tiers are solved one after another.
    for row, formation in formations(game, numbering):
        size = numbering.size(row)
        room = room_for(game, size, CODE_BITS)
        slow = Range(room.least - room.tasks, (room.least + room.most) // 2 - room.tasks, room.most)
        taken = formation and room_of(formation, metric)
        quick = taken and Range(0, max(taken - 2 * size, size // 2), taken)
        beside.append(quick or slow)
    return Range(*(max(amounts) for amounts in zip(*beside, strict=True))) + 2 * numbering.slots


def of_slots(game: Game, workers: int) -> Estimate:
    """Return what it will take to compute expectations slot by slot."""
    numbering = Numbering.of(game)
    slots = Range(numbering.slots, numbering.slots, numbering.slots)
    result = Estimate(0, 0, complete=True)
    for name in ("records", "positions"):
        result.put(name, slots)
    result.put("seconds", slots.times(BY_SLOT.seconds).times(1 / speed_of(workers)) + BY_SLOT.start)
    least = memory_of(game, numbering)
    most = int(np.diff(numbering.starts).max())
    result.least_memory = round(least + COMPILED)
    scripts = Range(0, 60, 120).times(float(most))
    result.put("memory", Range(least, least, least) + scripts + BY_SLOT.fixed_memory)
    put_disk(result, slots, BY_SLOT, 1)
    result.rests_on = [
        f"{numbering.slots:,} slots in the game's own numbering; how long one takes is a matter of the rules",
        f"ratios of {BY_SLOT.source}; scripts of a tier with cycles are written where there is memory for them",
    ]
    return result
