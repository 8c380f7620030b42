"""Checks numberings: slots stand for positions, and index() and unindex() are inverses.

In games with chance, a numbering may leave positions out. A position without a slot must be an end, or have a slot with
the players exchanged, or be *in between*: play from it reaches slots and ends, and cannot come back to it before.

The text of a Fault follows the rule that `begin_check` recorded last, as in "tiers at 5: do not have its tier".
"""

import time
from random import Random
from typing import Any

import numpy as np

from retrograde.games import catalog
from retrograde.games.contract.game import CHANCE, UNDECIDED, Game, Traits, is_none
from retrograde.games.kinds.placed import Placed
from retrograde.solver.conformance.pairs import images_of, some_images, text_of
from retrograde.solver.conformance.survey import Survey, expect_again
from retrograde.solver.methods.numbered.numbering import is_int
from retrograde.solver.methods.numbered.orientations import subtract
from retrograde.solver.methods.shapes.fit import steps_agree
from retrograde.solver.rules.examine import Fault, checked_position

ALL_SLOTS = 4000
"""In a numbering with at most this many slots, all are checked."""
MOST_FOLLOWED = 500
"""The most positions without a slot that are followed from one of them."""
SLOTS = 20
"""Positions checked in each tier. Up to twice as many slots are tried, the first and the last included."""


# Numberings of all positions


def check_slots(survey: Survey, position: int) -> None:
    """Check that index() and unindex() are inverses at a position and its images, and that the family agrees."""
    game, numbering, tier = survey.game, survey.numbering, survey.tier(position)
    row, canonical = numbering.row(tier), survey.canonical(position)
    survey.begin_check("tiers", position)
    if row < 0:
        raise Fault(f"do not have its tier, {tier}; list all tiers that play may lead to")
    survey.begin_check("index", position)
    slot = game.index(position)
    check_slot(survey, position, canonical, slot)
    survey.begin_check("index", position)
    for image in some_images(survey, position):
        if survey.tier(image) == tier and (other := game.index(image)) != slot:
            raise Fault(f"gives {slot}, and {other} for {text_of(game, image)}, which is the same by symmetry")
    survey.begin_check("multiplicity", position)
    if (given := game.multiplicity(position)) != (equal := len(images_of(survey, position))):
        raise Fault(f"gives {given}, and with its images there are {equal}")
    survey.begin_check("family", position)
    family = game.family
    answers = family.tier(position), family.index(position), family.unindex(tier, slot), family.primitive(position)
    same = type(family) is type(game) and family.family == family
    if not same or answers != (tier, slot, canonical, survey.primitive(position)):
        raise Fault("is a game in which positions do not mean the same; leave it out, or mend it")


def check_slot(survey: Survey, position: int, canonical: int, slot: int) -> None:
    """Check that a position's slot is below its tier's size, and that unindex() returns the canonical position."""
    tier = survey.tier(position)
    if not 0 <= slot < (size := survey.numbering.size(survey.numbering.row(tier))):
        raise Fault(f"gives {slot}, and size({tier}) is {size}")
    survey.begin_check("unindex", position)
    if (again := survey.game.unindex(tier, slot)) != canonical:
        what = f"gives {again} for its slot, {slot} of tier {tier}"
        raise Fault(f"{what}; it must give the canonical position, {canonical}")


def check_elsewhere(survey: Survey) -> None:
    """Check that each tier said to be in another variant's database is there."""
    game, tiers_of = survey.game, dict[str, set[int]]()  # by variant: the tiers in its database
    survey.begin_check("elsewhere", None)
    for tier in sorted(set(game.tiers)):  # type: ignore[attr-defined]  # a numbered game has tiers
        if name := game.elsewhere(tier):
            if name not in tiers_of:
                holder = catalog.variant_of_same_rules(game, name)
                tiers_of[name] = set(catalog.own_tiers(holder)) if holder.family == game.family else set()
            if tier not in tiers_of[name]:
                raise Fault(f"gives {name!r} for tier {tier}, which is not in the database of that variant either")


def check_numbering(survey: Survey, deadline: float) -> None:
    """Check all slots of a small numbering. With placements, slots and images must cover all that is declared."""
    game, numbering = survey.game, survey.numbering
    if numbering.slots > ALL_SLOTS:
        return
    positions = 0
    for number in range(numbering.slots):
        survey.begin_check("unindex", None)
        position = numbering.position_at(game, *numbering.locate(number))
        positions += len({position, *images_of(survey, position)}) if not is_none(position) else 0
        if time.monotonic() > deadline:
            return
    if isinstance(game, Placed):
        survey.begin_check("placements", None)
        if positions != (declared := game.placements.count):
            raise Fault(f"are {declared:,}, and the positions of all slots and their images {positions:,}")


def check_steps(survey: Survey, position: int) -> None:
    """Check that declared steps are the moves of a position; see `games/kinds/steps.py`."""
    game: Any = survey.game
    canonical, cells = survey.canonical(position), game.placements.cells
    # A position has a bit for each cell with a man of the first kind, then of the second; above them stands the extra.
    all_cells = (1 << cells) - 1
    men = tuple(((canonical >> (kind * cells)) & all_cells).bit_count() for kind in range(2))
    extra = canonical >> (2 * cells)
    survey.begin_check("section_steps", canonical)
    if not steps_agree(game, canonical, game.section_steps(men, extra)):
        raise Fault("differs from the other rules; correct it or leave it out")


def check_orientations(survey: Survey, position: int) -> None:
    """Check that moves treat a position and three others as declared orientations say: two orders and two turns. See
    `solver/methods/numbered/orientations.py`."""
    game: Any = survey.game
    (states, digits), tier = game.orientations, survey.tier(position)
    size, count = states**digits, game.size(tier)
    survey.begin_check("orientations", position)
    if count % size:
        raise Fault(f"have {size} values, and size({tier}) is {count}, no multiple of that")
    # A slot is `order * size + turns`. Take two orders, each with the same two turns.
    order, turns = divmod(game.index(position), size)
    slots = [(order + i) * size % count + (turns + k) % size for i in range(2) for k in range(2)]
    positions = [game.unindex(tier, slot) for slot in slots]
    if any(is_none(each) or game.primitive(each) != UNDECIDED for each in positions):
        return
    children = [[game.index(game.do_move(each, move)) for move in game.generate_moves(each)] for each in positions]
    same_moves = len({*map(len, children)}) == 1
    if same_moves:
        # By order, turns and move: the order and turns after the move. The order must not depend on the turns before,
        # and how two turns differ after a move must not depend on the order before.
        orders_after, turns_after = np.divmod(np.array(children).reshape(2, 2, -1), size)
        differences = subtract(turns_after[:, 0], turns_after[:, 1], states)
        same_orders = (orders_after[:, 0] == orders_after[:, 1]).all()
        same_moves = bool(same_orders and (differences[0] == differences[1]).all())
    if not same_moves:
        raise Fault("differ from the other rules; correct them or leave them out")


# Numberings of games with chance


def leaves_out(game: Game) -> bool:
    """Return whether a game has chance and a numbering, which may then leave positions out. A variant whose `tiers` are
    empty has none."""
    if not Traits.of(game).has_numbering or not Traits.of(game).has_chance:
        return False
    try:
        return bool(game.tiers)  # type: ignore[attr-defined]  # a numbered game has tiers
    except Exception:  # `Survey.read_numbering` reports what is wrong with them
        return True


def check_slotless(survey: Survey, position: int) -> None:
    """Check that index() and unindex() agree at a position or, if it has no slot, that it needs none."""
    game = survey.game
    canonical = survey.canonical(position)
    if Traits.of(game).has_swapped:
        check_swapped(survey, position)
    if slot_of(survey, canonical) >= 0:
        return
    survey.begin_check("index", position)  # slot_of may have begun another check
    if not needs_slot(survey, canonical):
        return
    raise Fault("gives none, and from there play goes round among positions without a slot; give some of them one")


def slot_of(survey: Survey, position: int) -> int:
    """Return the slot of a canonical position, negative for none; raise a Fault if unindex() or the tiers disagree."""
    game, tier = survey.game, survey.tier(position)
    survey.begin_check("index", position)
    slot = game.index(position)
    if not is_int(slot):
        raise Fault(f"gives {slot!r}; it must give an int, negative where there is no slot")
    expect_again(slot, game.index(position))
    if slot < 0:
        return slot
    if survey.numbering.row(tier) < 0:
        survey.begin_check("tiers", position)
        raise Fault(f"do not have its tier, {tier}; list all tiers with slots that play may lead to")
    check_slot(survey, position, position, slot)
    return slot


def check_swapped(survey: Survey, position: int) -> None:
    """Check that swapped() gives the position with the players exchanged: turn, payments and moves."""
    game = survey.game
    survey.begin_check("swapped", position)
    other = game.swapped(position)
    if isinstance(other, tuple | int) and is_none(other):  # there is no such position, which the contract allows
        return
    other = checked_position(game, other, "it")
    expect_again(other, game.swapped(position))
    if is_none(again := game.swapped(other)) or survey.canonical(again) != survey.canonical(position):
        raise Fault(f"gives {other}, for which it gives {again}, not the same again")
    turn, turned = game.turn(position), game.turn(other)
    if turned != (CHANCE if turn == CHANCE else 1 - turn):
        raise Fault(f"gives {other}, where the turn is that of {turned}; here it is that of {turn}")
    if game.index(survey.canonical(position)) < 0 and game.tier(other) < game.tier(position):
        raise Fault(f"gives {other}, of an earlier tier; give one of the same tier")
    is_over = survey.primitive(position) != UNDECIDED
    if is_over != (survey.primitive(other) != UNDECIDED):
        raise Fault(f"gives {other}; the game is over in one of the two only")
    if is_over:
        own, exchanged = ([game.payoff(each, player) for player in (0, 1)] for each in (position, other))
        if own != exchanged[::-1]:
            raise Fault(f"gives {other}, which pays {exchanged}; here it is {own}")
        return
    children = [game.do_move(position, move) for move in game.generate_moves(position)]
    swapped = [game.swapped(child) for child in children]
    if any(map(is_none, swapped)):  # then the moves cannot be compared
        return
    after_moves = {survey.canonical(game.do_move(other, move)) for move in game.generate_moves(other)}
    if after_moves != {*map(survey.canonical, swapped)}:
        raise Fault(f"gives {other}, whose moves do not lead to the same positions with the players exchanged")


def needs_slot(survey: Survey, position: int) -> bool:
    """Return whether play from a position can go round among positions without a slot. It follows up to MOST_FOLLOWED
    of them; False if these have no cycle."""
    game = survey.game
    done: set[int] = set()
    on_path = {position}
    # Depth-first search: `on_path` are the positions of the current path, `done` those from which play cannot go round.
    path = [(position, iter(children_without_slot(game, survey, position)))]
    while path and len(done) < MOST_FOLLOWED:
        parent, children = path[-1]
        child = next(children, None)
        if child is None:
            path.pop()
            on_path.remove(parent)
            done.add(parent)
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
    children = dict.fromkeys(survey.canonical(game.do_move(position, move)) for move in game.generate_moves(position))
    return [child for child in children if game.index(child) < 0 and not has_slot_swapped(game, survey, child)]


def has_slot_swapped(game: Game, survey: Survey, position: int) -> bool:
    """Return whether the position with the players exchanged has a slot."""
    other = game.swapped(position)
    return not is_none(other) and game.index(survey.canonical(other)) >= 0


def check_slots_left(survey: Survey, deadline: float) -> None:
    """Check at some slots of each tier that index() gives the slot of the position of unindex()."""
    for tier, slot, position in survey.sample_slots(SLOTS, 2 * SLOTS, deadline, Random(0)):
        location = survey.tier(position), survey.game.index(position)
        if location != (tier, slot) or survey.canonical(position) != position:
            what = f"gives {position} for slot {slot} of tier {tier}, which is not canonical, or has another slot"
            raise Fault(f"{what}: its tier is {location[0]}, and index() gives {location[1]}")
