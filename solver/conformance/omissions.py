"""Checks numberings of games with chance, which may leave positions out.

A position without a slot must be over, or have a slot with the players exchanged, or be *in between*: whatever the
moves, play reaches positions that need no following, and cannot go round among positions without a slot.
"""

import time
from itertools import chain
from random import Random

from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, Traits, is_none
from retrograde.solver.conformance.pairs import check_slot
from retrograde.solver.conformance.survey import Survey, expect_again, is_int
from retrograde.solver.rules.examine import Fault, checked_position

MOST_FOLLOWED = 500
"""Positions in between that are followed from one of them, at most."""
SLOTS = 20
"""Positions of a tier's slots that are checked, including the first and the last. Up to twice as many slots are
tried."""


def check_omission(survey: Survey, position: int) -> None:
    """Check that index() and unindex() agree at a position or, if it has no slot, that it needs none."""
    game = survey.game
    canonical = survey.canonical(position)
    if Traits.of(game).has_swapped:
        check_swapped(survey, position)
    if slot_of(survey, canonical) >= 0:
        return
    survey.at("index", position)
    if not needs_slot(survey, canonical):
        return
    raise Fault("gives none, and from there play goes round among positions without a slot; give some of them one")


def slot_of(survey: Survey, position: int) -> int:
    """Return the slot of a canonical position, checked against unindex() and the tiers; negative if it has none."""
    game, tier = survey.game, survey.tier(position)
    survey.at("index", position)
    slot = game.index(position)
    if not is_int(slot):
        raise Fault(f"gives {slot!r}; it must give an int, negative where there is no slot")
    expect_again(slot, game.index(position))
    if slot < 0:
        return slot
    if survey.numbering.row(tier) < 0:
        survey.at("tiers", position)
        raise Fault(f"do not have its tier, {tier}; list all tiers with slots that play may lead to")
    check_slot(survey, position, position, slot)
    return slot


def check_swapped(survey: Survey, position: int) -> None:
    """Check that swapped() gives the position with the players exchanged: turn, payments and moves."""
    game = survey.game
    survey.at("swapped", position)
    other = game.swapped(position)
    if isinstance(other, tuple | int) and is_none(other):
        return
    other = checked_position(game, other, "it")
    expect_again(other, game.swapped(position))
    if is_none(again := game.swapped(other)) or survey.canonical(again) != survey.canonical(position):
        raise Fault(f"gives {other}, for which it gives {again}, not the same again")
    turn, turned = game.turn(position), game.turn(other)
    if turned != (CHANCE if turn == CHANCE else 1 - turn):
        raise Fault(f"gives {other}, where the turn is that of {turned}; here it is that of {turn}")
    over = survey.primitive(position) != UNDECIDED
    if over != (survey.primitive(other) != UNDECIDED):
        raise Fault(f"gives {other}; the game is over in one of the two only")
    if over:
        pays, paid = ([game.payoff(each, player) for player in (0, 1)] for each in (position, other))
        if pays != paid[::-1]:
            raise Fault(f"gives {other}, which pays {paid}; here it is {pays}")
        return
    children = [game.do_move(position, move) for move in game.generate_moves(position)]
    swapped = [game.swapped(child) for child in children]
    if any(map(is_none, swapped)):
        return
    after_moves = {survey.canonical(game.do_move(other, move)) for move in game.generate_moves(other)}
    if after_moves != {*map(survey.canonical, swapped)}:
        raise Fault(f"gives {other}, whose moves do not lead to the same positions with the players exchanged")


def needs_slot(survey: Survey, position: int) -> bool:
    """Return whether play may return to a position through positions without a slot. Search is limited to
    MOST_FOLLOWED."""
    game = survey.game
    done: set[int] = set()
    on_path = {position}
    # Depth-first search: `on_path` are the positions of the current path, `done` those from which play cannot go round.
    path = [(position, iter(children_without_slot(game, survey, position)))]
    while path and len(done) < MOST_FOLLOWED:
        at, rest = path[-1]
        child = next(rest, None)
        if child is None:
            path.pop()
            on_path.remove(at)
            done.add(at)
        elif child in on_path:
            return True
        elif child not in done:
            on_path.add(child)
            path.append((child, iter(children_without_slot(game, survey, child))))
    return False


def children_without_slot(game: Game, survey: Survey, position: int) -> list[int]:
    """Return the canonical children of a position that have no slot, even with the players exchanged."""
    if survey.primitive(position) != UNDECIDED:
        return []
    found = dict.fromkeys(survey.canonical(game.do_move(position, move)) for move in game.generate_moves(position))
    return [child for child in found if game.index(child) < 0 and not has_other(game, survey, child)]


def has_other(game: Game, survey: Survey, position: int) -> bool:
    """Return whether the position with the players exchanged has a slot."""
    other = game.swapped(position)
    return not is_none(other) and game.index(survey.canonical(other)) >= 0


def check_slots(survey: Survey, deadline: float) -> None:
    """Compare unindex() with index() at some slots of each tier: the first, the last and random others."""
    game = survey.game
    numbering, chance = survey.numbering, Random(0)
    for row, tier in enumerate(numbering.tiers.tolist()):
        size, found = numbering.size(row), 0
        random_slots = (chance.randrange(size) for _ in range(2 * SLOTS))
        for slot in chain((0, size - 1), random_slots):
            survey.at("unindex", None)
            position = game.unindex(tier, slot)
            expect_again(position, game.unindex(tier, slot))
            if is_none(position):
                continue
            checked_position(game, position, f"for slot {slot} of tier {tier} it")
            location = survey.tier(position), game.index(position)
            if location != (tier, slot) or survey.canonical(position) != position:
                what = f"gives {position} for slot {slot} of tier {tier}, which is not canonical, or has another slot"
                raise Fault(f"{what}: its tier is {location[0]}, and index() gives {location[1]}")
            found += 1
            if found >= SLOTS:
                break
        if time.monotonic() > deadline:
            return
