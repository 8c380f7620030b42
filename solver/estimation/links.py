"""Estimates predecessor lists: needed if play can return to a tier and the rules do not give parents.

in memory  <-- if they fit --  predecessor lists  -- else -->  in scratch files  -- else -->  time: forward passes
"""

import time
from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game, Traits, is_none
from retrograde.solver.estimation.amounts import LINK, NUMBERED, Range
from retrograde.solver.estimation.expected import Estimate
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.methods.numbered.seeds import LOOKING
from retrograde.solver.rules.examine import examine
from retrograde.solver.runtime.memory import format_size

SLOTS, SECONDS = 1_000, 0.5
"""Slots of a tier that are sampled at most, and the seconds for it."""
LARGEST = "the largest tier has"
"""The beginning of the sentence about predecessor lists."""


def add_links(game: Game, expected: Estimate, numbering: Numbering, slow: list[int]) -> None:
    """Add the predecessor lists of the largest tier to the estimate of a game that numbers its positions.

    *slow* are the rows of the tiers that are solved slot by slot.
    """
    if Traits.of(game).has_parents or not slow:
        return
    most = max(slow, key=numbering.size)
    each, slots = links_in(game, numbering, most), numbering.size(most)
    links = each.times(LINK).times(float(slots))
    expected.links = each.likely
    for name, more in (("memory", links), ("scratch", Range(0.0, 0.0, links.high))):
        low, high = expected.ranges[name]
        expected.put(name, Range(low, getattr(expected, name), high) + more)
    expected.rests_on += where_links_lie(links, LOOKING * NUMBERED.seconds.likely * slots)


def where_links_lie(links: Range, seconds: float) -> list[str]:
    """Return a sentence that says where the largest tier's predecessor lists lie, and the cost of doing without them.

    *links* are their bytes, *seconds* the processor time of one forward pass.
    """
    if not links.likely:
        return []
    return [
        f"{LARGEST} about {format_size(links.likely)} of predecessor lists, in memory if they fit, otherwise in "
        "scratch files; if the disk is too small for them, undecided positions are expanded again for each ply of "
        f"remoteness, up to {seconds:,.1f} processor seconds each time, until the rest of the lists fits in memory"
    ]


def links_in(game: Game, numbering: Numbering, row: int) -> Range:
    """Return how many children in the same tier a slot of a tier has, by a sample.

    The range is the mean plus and minus three standard errors.
    """
    dice, deadline = Random(0), time.monotonic() + SECONDS
    found: list[int] = []
    while len(found) < SLOTS and (len(found) < 2 or time.monotonic() < deadline):
        position = numbering.position_at(game, row, dice.randrange(numbering.size(row)))
        children: Iterable[Any] = () if is_none(position) else examine(game, position)[2]
        slots = [numbering.slot_of(game, child) for child in children]
        found.append(len({slot for where, slot in slots if where == row}))
    # Three standard errors on either side.
    mean, chance = float(np.mean(found)), 3 * float(np.std(found)) / len(found) ** 0.5
    return Range(max(mean - chance, 0.0), mean, mean + chance)
