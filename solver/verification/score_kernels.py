"""The compiled loop that verifies scores by slot. It shares no code with the solver's. `stored` is a StoredScores."""

from typing import NamedTuple

from retrograde.games.contract.game import UNDECIDED, is_none
from retrograde.solver.rules.positions import as_position, note, swapped
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.verification.kernels import gather_images
from retrograde.solver.verification.storages import find_sorted

LEAST = -(1 << 40)
"""Less than any score."""


class StoredScores(NamedTuple):
    """The scores in a file: the `tiers`, where each tier's slots begin (`starts`), and `rows` of all *global slots*.

    `scores` has the score of each row of the legend. `founded` uint8[slots of the tier that is verified] marks the
    slots whose score is known to be forced, or to be 0.
    """

    tiers: Array
    starts: Array
    rows: Array
    scores: Array
    founded: Array


@lean_kernel
def check_slots(game, stored, k, begin, end, first_pass, wrong, tally, images, trouble):
    """Verify the slots from *begin* to *end* of tier number *k*; return how many became founded (see `scores.py`).

    In the *first_pass* all slots are verified and counted: *tally* int64[rows, 3] gets slots, positions and the first
    slot. Later passes look only at slots that are not founded. *wrong* uint8 becomes 1 for slots that are wrong.
    *images* is a buffer; *trouble* receives the position that the rules are called for.
    """
    tier, first, size = stored.tiers[k], stored.starts[k], stored.starts[k + 1] - stored.starts[k]
    changes = 0
    for slot in range(begin, end):
        if not first_pass and stored.founded[slot]:
            continue
        # Step 1: the slot's position, which must have this slot.
        position = as_position(game.unindex(tier, slot))
        stored.founded[slot] = is_none(position)
        if is_none(position):
            continue
        note(trouble, position)
        row = stored.rows[first + slot]
        score = stored.scores[row]
        if first_pass:
            wrong[slot] |= find_slot(game, stored, position) != first + slot
            if tally[row, 0] == 0:
                tally[row, 2] = first + slot
            tally[row, 0] += 1
            tally[row, 1] += gather_images(game, position, images)
        # Step 2: an end has the score that it pays.
        mover = game.turn(position) + 0
        if game.primitive(position) != UNDECIDED:
            paid = game.payoff(position, mover)
            if game.players == 2:
                paid -= game.payoff(position, 1 - mover)
            wrong[slot] |= paid != score
            stored.founded[slot] = 1
            continue
        # Step 3: the best score by the children, and whether they are founded.
        # *best_is_founded*: a move keeps the best score and leaves the tier, or leads to a founded slot.
        best, best_is_founded, all_founded = LEAST, False, True
        for move in game.generate_moves(position):
            child = as_position(game.do_move(position, move))
            global_slot = find_slot(game, stored, child)
            if global_slot < first:  # in an earlier tier, or without a slot
                wrong[slot] = 1
                continue
            gain = game.reward(position, move, mover)
            if game.players == 2:
                gain -= game.reward(position, move, 1 - mover)
            child_score = stored.scores[stored.rows[global_slot]]
            turn_passes = game.players == 2 and (game.alternates != 0 or game.turn(child) != mover)
            worth = gain - child_score if turn_passes else gain + child_score
            within = global_slot < first + size
            wrong[slot] |= within and gain != 0
            is_founded = not within or stored.founded[global_slot - first] != 0
            if worth > best:
                best, best_is_founded = worth, False
            best_is_founded |= worth == best and is_founded
            all_founded &= is_founded
        # Step 4: the score must be the best one, and be founded.
        wrong[slot] |= best != score
        if score == 0 or (best_is_founded if score > 0 else all_founded):
            stored.founded[slot] = 1
            changes += 1
    return changes


@lean_kernel
def find_slot(game, stored, reached):
    """Return the global slot of a position, or of that with the players exchanged; -1 if neither has one."""
    global_slot = own_slot(game, stored, reached)
    if global_slot < 0 and not is_none(swapped(game, reached)):
        return own_slot(game, stored, as_position(swapped(game, reached)))
    return global_slot


@lean_kernel
def own_slot(game, stored, reached):
    """Return the global slot of a position's canonical one; -1 if it has none, or the slot is another position's."""
    position = as_position(game.canonical(reached))
    tier = game.tier(position) + 0
    k = find_sorted(stored.tiers, 0, len(stored.tiers), tier)
    slot = game.index(position) + 0
    if k < 0 or not 0 <= slot < stored.starts[k + 1] - stored.starts[k]:
        return -1
    return stored.starts[k] + slot if as_position(game.unindex(tier, slot)) == position else -1
