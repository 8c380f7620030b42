"""The compiled loop that asks the rules for the family of each stored position: its children, its mover, its pay.

It shares no code with the solver's kernels.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED
from retrograde.solver.rules.whole import as_position, put, stands_at
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]


class Sheet(NamedTuple):
    """What is written down, an entry for each record: `primitives`, `movers`, `pays` int64[records, players] of ends,
    `images` (how many positions it stands for; 0 where it is not canonical, or not in its tier), and where among the
    `links` its children end. A link is a record, or -1 for a child that is not stored, and `gains` is what the move
    there pays who makes it at once, less what the other gets. `trouble[1]` is the position that the rules are asked
    about."""

    primitives: Array
    movers: Array
    pays: Array
    images: Array
    ends: Array
    links: Array
    gains: Array
    trouble: Array


class Scales(NamedTuple):
    """What the rules say beside families: the odds of each move of chance, and what each move pays player 0 less what
    it pays player 1, in the order of the children; and the tier of each record."""

    odds: Array
    rewards: Array
    tiers: Array


@kernel
def write_families(game, tiers, bounds, positions, sheet, room):
    """Fill a sheet; return how many links there are, of which those are written that there is room for."""
    count = 0
    for k in range(len(tiers)):
        for record in range(bounds[k], bounds[k + 1]):
            position = positions[record]
            sheet.trouble[1] = position
            least, tier = first_of(game, position)
            sheet.images[record] = many(game, position, room) if least == position and tier == tiers[k] else 0
            value = game.primitive(position) + 0
            sheet.primitives[record] = value
            sheet.movers[record] = game.turn(position)
            if value == UNDECIDED:
                for move in game.generate_moves(position):
                    child, child_tier = first_of(game, game.do_move(position, move))
                    if count < len(sheet.links):
                        mover = max(sheet.movers[record], 0)
                        sheet.gains[count] = game.reward(position, move, mover)
                        if sheet.pays.shape[1] == 2:
                            sheet.gains[count] -= game.reward(position, move, 1 - mover)
                        sheet.links[count] = record_of(tiers, bounds, positions, child, child_tier)
                    count += 1
            else:
                for player in range(sheet.pays.shape[1]):
                    sheet.pays[record, player] = game.payoff(position, player)
            sheet.ends[record] = count
    return count


@kernel
def first_of(game, position):
    """Return the one of the positions equal by symmetry that is least by tier, then by number, and its tier."""
    first = position + 0
    lowest = game.tier(position) + 0
    for image in game.images(position):
        tier = game.tier(image) + 0
        if tier < lowest:
            first, lowest = image + 0, tier
        elif tier == lowest:
            first = min(first, image + 0)
    return first, lowest


@kernel
def many(game, position, room):
    """Return how many positions are equal to one by symmetry."""
    put(room, 0, position)
    count = 1
    for given in game.images(position):
        image = as_position(given)
        place = 0
        while place < count and not stands_at(room, place, image):
            place += 1
        if place == count and count < len(room):
            put(room, count, image)
            count += 1
    return count


@kernel
def record_of(tiers, bounds, positions, position, tier):
    """Return the record of a position of a tier; -1 where there is none."""
    k = np.searchsorted(tiers, tier)
    if k == len(tiers) or tiers[k] != tier:
        return -1
    record = bounds[k] + np.searchsorted(positions[bounds[k] : bounds[k + 1]], position)
    return record if record < bounds[k + 1] and positions[record] == position else -1


@kernel
def write_scales(game, positions, primitives, movers, scales, trouble):
    """Fill scales; `trouble[1]` is the position that the rules are asked about."""
    odds, rewards, tiers = scales
    link = 0
    for record in range(len(positions)):
        position = positions[record]
        trouble[1] = position
        tiers[record] = game.tier(position)
        if primitives[record] != UNDECIDED:
            continue
        for move in game.generate_moves(position):
            if movers[record] == CHANCE:
                odds[link] = game.odds(position, move)
            rewards[link] = game.reward(position, move, 0)
            if game.players == 2:
                rewards[link] -= game.reward(position, move, 1)
            link += 1
