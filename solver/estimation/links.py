"""Links, told beforehand: where play comes back to a tier and the rules do not give the parents of its positions.

in memory  <-- where there is room --  links  -- else -->  in scratch files  -- else -->  time: forward passes
"""

import time
from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game, defines, is_none
from retrograde.solver.estimation.amounts import LINK, NUMBERED, Range
from retrograde.solver.estimation.expected import Estimate
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.methods.numbered.seeds import LOOKING
from retrograde.solver.rules.examine import examine
from retrograde.solver.runtime.memory import format_size

SLOTS, SECONDS = 1_000, 0.5
"""Slots that are looked at, of a tier, and time for it."""
LARGEST = "the largest tier has"
"""How the sentence about links begins."""


def add_links(game: Game, expected: Estimate, numbering: Numbering, slow: list[int]) -> None:
    """Have an estimate of a game that numbers its positions say what links take of the largest of the tiers that are
    solved slot by slot, given by their rows."""
    if defines(game, "parents") or not slow:
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
    """Return in a sentence where links of the largest tier lie, so many bytes, and what is done without them, which
    takes so many seconds of a processor."""
    if not links.likely:
        return []
    return [
        f"{LARGEST} {format_size(links.likely)} of links, about, in memory where there is room, else in "
        "scratch files; where the disk has none either, what is undecided is looked at again for each ply of "
        f"remoteness, up to {seconds:,.1f} seconds of a processor each time, until the rest of the links fits in memory"
    ]


def links_in(game: Game, numbering: Numbering, row: int) -> Range:
    """Return how many children a slot of a tier has there, by some that are looked at."""
    dice, deadline = Random(0), time.monotonic() + SECONDS
    found: list[int] = []
    while len(found) < SLOTS and (len(found) < 2 or time.monotonic() < deadline):
        position = numbering.position_at(game, row, dice.randrange(numbering.size(row)))
        children: Iterable[Any] = () if is_none(position) else examine(game, position)[2]
        slots = [numbering.slot_of(game, child) for child in children]
        found.append(len({slot for where, slot in slots if where == row}))
    mean, chance = float(np.mean(found)), 3 * float(np.std(found)) / len(found) ** 0.5
    return Range(max(mean - chance, 0.0), mean, mean + chance)
