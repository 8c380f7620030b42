"""The compiled loop that calls the rules for the family of each record: its children, its mover, its payoffs.

It shares no code with the solver's kernels. A *link* is one move of a record, to a child.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED
from retrograde.solver.rules.positions import as_position, put, stands_at
from retrograde.solver.runtime.kernel import kernel

Array = np.ndarray[Any, Any]


class Sheet(NamedTuple):
    """What the rules say about each record.

    By record: `primitives`, `movers`, `pays` int64[records, players] (payoffs where the game is over), `images` (how
    many positions the record stands for; 0 if it is not canonical or not of its tier), and `ends` (where the record's
    links end). By link: `links` is the child's record, -1 if it is not stored; `gains` is what the move pays the mover
    at once, less what the other player gets. `trouble[1]` is the position that the rules are called for.
    """

    primitives: Array
    movers: Array
    pays: Array
    images: Array
    ends: Array
    links: Array
    gains: Array
    trouble: Array


class Scales(NamedTuple):
    """What else the rules say about moves and records.

    By link, in the order of the children: the `odds` of chance's moves, and `rewards`, what the move pays player 0 less
    what it pays player 1. By record: `tiers`.
    """

    odds: Array
    rewards: Array
    tiers: Array


@kernel
def write_families(game, tiers, bounds, positions, sheet, room):
    """Fill a sheet. Return the number of links; those that do not fit are counted and not written."""
    count = 0
    for k in range(len(tiers)):
        for record in range(bounds[k], bounds[k + 1]):
            position = positions[record]
            sheet.trouble[1] = position
            # Step 1: canonical, and stored in its own tier? For how many positions does it stand?
            least, tier = first_of(game, position)
            sheet.images[record] = many(game, position, room) if least == position and tier == tiers[k] else 0
            # Step 2: is the game over, and who is to move?
            value = game.primitive(position) + 0
            sheet.primitives[record] = value
            sheet.movers[record] = game.turn(position)
            if value == UNDECIDED:
                # Step 3 (undecided): the child of each move, and what the move pays.
                for move in game.generate_moves(position):
                    child, child_tier = first_of(game, game.do_move(position, move))
                    if count < len(sheet.links):
                        # Chance (-1) counts as player 0.
                        mover = max(sheet.movers[record], 0)
                        sheet.gains[count] = game.reward(position, move, mover)
                        if sheet.pays.shape[1] == 2:
                            sheet.gains[count] -= game.reward(position, move, 1 - mover)
                        sheet.links[count] = record_of(tiers, bounds, positions, child, child_tier)
                    count += 1
            else:
                # Step 3 (over): what each player gets.
                for player in range(sheet.pays.shape[1]):
                    sheet.pays[record, player] = game.payoff(position, player)
            sheet.ends[record] = count
    return count


@kernel
def first_of(game, position):
    """Return the canonical position and its tier: the image of the lowest tier, then of the lowest number."""
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
    """Return how many positions are equal to one by symmetry, itself included."""
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
    """Return the record of a position of a tier; -1 if there is none."""
    k = np.searchsorted(tiers, tier)
    if k == len(tiers) or tiers[k] != tier:
        return -1
    record = bounds[k] + np.searchsorted(positions[bounds[k] : bounds[k + 1]], position)
    return record if record < bounds[k + 1] and positions[record] == position else -1


@kernel
def write_scales(game, positions, primitives, movers, scales, trouble):
    """Fill the scales. `trouble[1]` is the position that the rules are called for."""
    odds, rewards, tiers = scales
    link = 0
    for record in range(len(positions)):
        position = positions[record]
        trouble[1] = position
        tiers[record] = game.tier(position)
        if primitives[record] != UNDECIDED:
            continue
        # The same order of moves as in `write_families`, so that link numbers agree.
        for move in game.generate_moves(position):
            if movers[record] == CHANCE:
                odds[link] = game.odds(position, move)
            rewards[link] = game.reward(position, move, 0)
            if game.players == 2:
                rewards[link] -= game.reward(position, move, 1)
            link += 1
