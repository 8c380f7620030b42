"""The compiled loops of scores by slot: seed a tier by the rules, then decide slots from the greatest amount down.

A slot has two bytes. `best` is the code of a score: NONE, or the score plus EVEN. At first it is the best score that
moves out of the tier bring, in the end the slot's own. `children_left` is the number of children in the tier that have
not yet turned out to be bad for the player to move, or one of the states below.

With amount *a*, from the greatest down to 1, a slot is worth

    a     if a move out of the tier brings a, or a child within the tier is worth -a to the opponent
    -a    if no move brings more: all children within the tier are decided, and the last one brings -a

A player who could get more than *a* has been given it before. What is not decided in the end is worth 0, because both
players can play on forever. Each slot is expanded once and asked for its parents once. A sum over the edges within the
tier shows whether `parents` and `do_move` agree. An argument *scored* is a ScoredTiers; *links* and *images* are
buffers.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import CHANCE, UNDECIDED, is_none
from retrograde.solver.methods.listed.predecessors.kernels import append_edge, number_of
from retrograde.solver.rules.kernels import canonical, count_less, multiplicity
from retrograde.solver.rules.positions import as_position, note, swapped, whole
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.rules.turns import turns
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.values.edges import mark_of

NONE, EVEN = 0, 128
"""Codes in `best`: no score, and a score of 0."""
GREATEST = 127
"""The greatest score that has a code."""
DECIDED, END, WAITING, OVER, MOST_LEFT = 255, 254, 253, 252, 251
"""States in `children_left`, above the greatest counter, MOST_LEFT. DECIDED: by its children. WAITING: decided, but the
stack was full, so that its parents do not know yet. END and OVER: no moves, before and after its parents know.
"""
STEP = 1 << 23
"""Slots whose parents are visited in one call, a few seconds, so that Ctrl-C is heard."""
PAYS_WITHIN, TOO_GREAT, NO_SLOT, BY_CHANCE, TOO_MANY = range(100, 105)
"""Trouble of this module, beside the codes of `trouble_codes`; none of it breaks the contract."""
EDGE_SUM, STACK_FULL = 0, 1
"""Indices of `state`: the sum over the edges to parents; 1 if the stack was full, so that decided slots wait."""


class ScoredTiers(NamedTuple):
    """The scores of all slots: tier `tiers[k]` has the *global slots* from `starts[k]` to `starts[k + 1]`. Tier number
    `own` is being solved."""

    tiers: Array
    starts: Array
    scores: Array
    own: int


@lean_kernel
def seed(game, scored, begin, best, children_left, links, trouble):
    """Expand the slots of the own tier from *begin* on, and write *best* and *children_left*.

    Return the sum over the edges within the tier. *links* is a buffer for the children of a slot. Stops at trouble.
    """
    edge_sum, own = np.uint64(0), scored.own
    first, size = scored.starts[own], scored.starts[own + 1] - scored.starts[own]
    for i in range(len(best)):
        # Step 1: the slot's position. An empty slot and an end have no children.
        best[i], children_left[i] = NONE, END
        position = as_position(game.unindex(scored.tiers[own], begin + i))
        if is_none(position):
            continue
        note(trouble, position)
        who = whole(game.turn(position))
        if who == CHANCE:
            trouble[0] = BY_CHANCE
        if find_slot(game, scored, position, trouble) != first + begin + i:
            trouble[0] = Trouble.BAD_INDEX
        if whole(game.primitive(position)) != UNDECIDED:
            best[i] = code_of(balance(game.payoff(position, who), game.payoff(position, 1 - who), game), trouble)
            if trouble[0] != Trouble.FINE:
                return edge_sum
            continue
        # Step 2: the children. Those in later tiers bring their score, the others are counted.
        count, moves = 0, 0
        for given in game.generate_moves(position):
            move = whole(given)
            child = as_position(game.do_move(position, move))
            global_slot = find_slot(game, scored, child, trouble)
            gain = balance(game.reward(position, move, who), game.reward(position, move, 1 - who), game)
            if 0 <= global_slot - first < size:  # in this tier
                if gain != 0:
                    trouble[0] = PAYS_WITHIN
                count = append_edge(links, 0, count, global_slot - first)  # unless it is there already
            elif global_slot < first and trouble[0] == Trouble.FINE:
                trouble[0] = Trouble.TIER_FALLS
            elif global_slot >= first:
                score = int(scored.scores[global_slot]) - EVEN
                gain += -score if turns(game, position, child) else score
                best[i] = max(best[i], code_of(gain, trouble))
            moves += 1
            if count == MOST_LEFT:
                trouble[0] = TOO_MANY
            if trouble[0] != Trouble.FINE:
                return edge_sum
        if moves == 0:
            trouble[0] = Trouble.NO_MOVES
            return edge_sum
        # Step 3: the counter, and the sum over the edges.
        children_left[i] = count
        for link in range(count):
            edge_sum += np.uint64(mark_of((begin + i) * size + links[link]))
    return edge_sum


@lean_kernel
def balance(own, other, game):
    """Return what a player gets, less what the other one gets if there are two."""
    return whole(own) - (whole(other) if game.players == 2 else 0)


@lean_kernel
def code_of(score, trouble):
    """Return the code of a score; trouble if it has none."""
    if not -GREATEST <= score <= GREATEST:
        trouble[0] = TOO_GREAT
        return NONE
    return score + EVEN


@lean_kernel
def find_slot(game, scored, reached, trouble):
    """Return the global slot of a position; if it has none, that of the position with the players exchanged."""
    position, tier = canonical(game, reached)
    slot = whole(game.index(position))
    if slot < 0 and not is_none(swapped(game, reached)):
        position, tier = canonical(game, swapped(game, reached))
        slot = whole(game.index(position))
    k = count_less(scored.tiers, tier)
    if slot < 0:
        trouble[0] = NO_SLOT
    elif k == len(scored.tiers) or scored.tiers[k] != tier or slot >= scored.starts[k + 1] - scored.starts[k]:
        trouble[0] = Trouble.BAD_INDEX
    return scored.starts[k] + slot if trouble[0] == Trouble.FINE else np.int64(0)


@lean_kernel
def spread(game, scored, amount, begin, stack, count, best, children_left, links, state, trouble):
    """Decide the slots of the own tier that are worth *amount* or minus that, and those that follow from them.

    Looks for slots from *begin* on; *stack* has *count* decided slots whose parents do not know. Returns the next slot
    to look at and the new count, after STEP slots at the latest. If *state* says that the stack was full, another call
    must begin at slot 0. *links* is a buffer for parents.
    """
    for _ in range(STEP):
        # Step 1: find the next slot if the stack is empty.
        if count == 0:
            while begin < len(best) and not is_due(amount, begin, best, children_left):
                begin += 1
            if begin == len(best):
                break
            children_left[begin] = OVER if children_left[begin] == END else DECIDED
            stack[0], count = begin, 1
            begin += 1
        # Step 2: pass the score of a decided slot to its parents.
        count -= 1
        slot = stack[count]
        parent_count = find_parents(game, scored, slot, children_left, links, state, trouble)
        if trouble[0] != Trouble.FINE:
            break
        for link in range(parent_count):
            parent = number_of(links[link])
            score = int(best[slot]) - EVEN
            # What the score is worth in the parent. A complement means: the same player moves there.
            worth = -score if links[link] >= 0 else score
            if children_left[parent] > MOST_LEFT:  # decided, or an end
                continue
            # A bad child decides the parent if it is the last one and no move out of the tier brings more.
            if worth < 0:
                children_left[parent] -= 1
                if children_left[parent] or best[parent] > EVEN + worth:
                    continue
            best[parent] = EVEN + worth
            if count < len(stack):
                children_left[parent] = DECIDED
                stack[count] = parent
                count += 1
            else:
                children_left[parent] = WAITING
                state[STACK_FULL] = 1
    return begin, count


@lean_kernel
def is_due(amount, slot, best, children_left):
    """Return whether a slot is worth *amount* or minus that, and its parents do not know.

    A slot whose best move out of the tier brings -amount is worth that only if no child within the tier is left.
    """
    code, counter = best[slot], children_left[slot]
    if code == EVEN - amount:
        return counter == 0 or counter in (END, WAITING)
    return code == EVEN + amount and counter != DECIDED and counter != OVER


@lean_kernel
def find_parents(game, scored, slot, children_left, links, state, trouble):
    """Write the distinct parents of a slot within the tier to *links*; return their number. Add their edges to *state*.

    A parent is its slot in the tier; its complement (`~`) if the player to move there moves again after the move.
    """
    own = scored.own
    first, size = scored.starts[own], scored.starts[own + 1] - scored.starts[own]
    position = as_position(game.unindex(scored.tiers[own], slot))
    note(trouble, position)
    count = 0
    for given in game.parents(position):
        parent = as_position(given)
        parent_slot = find_slot(game, scored, parent, trouble) - first
        if count == len(links):
            trouble[0] = Trouble.BAD_PARENTS
        if trouble[0] != Trouble.FINE:
            return 0
        # Parents in other tiers do not count, and ends have no moves.
        if 0 <= parent_slot < size and children_left[parent_slot] != END and children_left[parent_slot] != OVER:
            before = count
            count = append_edge(links, 0, count, parent_slot if turns(game, parent, position) else ~parent_slot)
            if count > before:
                state[EDGE_SUM] += np.uint64(mark_of(parent_slot * size + slot))
    return count


@lean_kernel
def finish(game, scored, begin, best, children_left, links, state, counts, images, trouble):
    """Give the slots of the own tier that are not decided a score of 0, from *begin* on, and count slots by score.

    *counts* int64[256, 3] gets for each code the number of slots, the number of positions, and the first slot. *state*
    gets the edges to parents of slots worth 0.
    """
    for slot in range(begin, min(begin + STEP, len(best))):
        if children_left[slot] <= MOST_LEFT:
            best[slot] = EVEN
        if best[slot] == NONE:
            continue
        if best[slot] == EVEN:  # nobody has asked for its parents yet
            find_parents(game, scored, slot, children_left, links, state, trouble)
            if trouble[0] != Trouble.FINE:
                return
        code = best[slot]
        if counts[code, 0] == 0:
            counts[code, 2] = slot
        counts[code, 0] += 1
        position = as_position(game.unindex(scored.tiers[scored.own], slot))
        counts[code, 1] += multiplicity(game, position, images)
