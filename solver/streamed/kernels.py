"""The compiled loops of the streamed solver that ask the rules of a game, a block of a list at a time.

Each variant has its own. They are many small ones, because compiling takes longer than in proportion.
"""

import numpy as np

from retrograde.games.game import UNDECIDED
from retrograde.solver.outcomes.encode import MOST_RUNS, find_runs
from retrograde.solver.outcomes.score_kernels import pass_up, primitive_score
from retrograde.solver.rules.kernels import LIMIT, canonical, count_images
from retrograde.solver.rules.whole import whole
from retrograde.solver.streamed.lists import ASCENDS, BITS, BLOCK, COUNT, FROM, MASK, MOVE, TO, WHERE, find_step, unpack
from retrograde.solver.work.kernel import kernel

READY = -2
"""Stands for a move where the positions of a list are children already."""
BAD_VALUE = 5
"""Stands for a primitive value that is none."""
MOST_SAME = 64
"""Moves that are remembered of a tier whose positions all have the same."""

DONE, NO_ROOM, OTHER_TIER, UNSORTED, LOST, BROKEN = range(6)
"""How a kernel ended: well; with no room left for children; a move led to another tier than expected; children do not
ascend that must; a child was not found; the rules break the contract."""


@kernel
def move_all(game, positions, count, move, tier, children):
    """Write the children of positions by one move; return DONE, OTHER_TIER where one is of another tier, or BROKEN."""
    other = broken = False
    for i in range(count):
        child = whole(game.do_move(positions[i], move))
        broken |= (child < 0) | (child >= LIMIT)
        child, child_tier = canonical(game, child)
        broken |= child < 0
        other |= child_tier != tier
        children[i] = child
    return BROKEN if broken else OTHER_TIER if other else DONE


@kernel
def values_of(game, positions, count, values):
    """Write the primitive values of positions; BAD_VALUE for what is none."""
    for i in range(count):
        value = whole(game.primitive(positions[i]))
        values[i] = value if 0 <= value < BAD_VALUE else BAD_VALUE


@kernel
def sizes_of(game, positions, count, images, sizes):
    """Write how many positions are equal to each by symmetry."""
    for i in range(count):
        sizes[i] = count_images(game, positions[i], images)


@kernel
def have_moves(game, positions, count, moves):
    """Tell whether all positions have these moves, in this order."""
    for i in range(count):
        k = 0
        for move in game.generate_moves(positions[i]):
            if k == len(moves) or whole(move) != moves[k]:
                return False
            k += 1
        if k != len(moves):
            return False
    return True


@kernel
def child_by(game, position, move):
    """Return the child of a position by a move, and its tier."""
    return canonical(game, whole(game.do_move(position, move)))


@kernel
def scatter(game, positions, count, tier, low, high, numbers, end):
    """Add the children of positions by all moves that are in a tier and a range; return their end, -1 where there is no
    room for them, -2 where the rules break the contract."""
    for i in range(count):
        none = True
        for move in game.generate_moves(positions[i]):
            none = False
            child = whole(game.do_move(positions[i], move))
            if whole(move) < 0 or not 0 <= child < LIMIT:
                return -2
            child, child_tier = canonical(game, child)
            if child < 0:
                return -2
            if child_tier == tier and low <= child < high:
                if end == len(numbers):
                    return -1
                numbers[end] = child
                end += 1
        if none:
            return -2
    return end


@kernel
def pull(game, words, octets, lists, targets, numbers, bounds, unsorted, runs):
    """Write the children of lists, for one target after another.

    *targets* has a row for each list to make: its tier; the rows of *lists* to take the children of, from one to
    another; the least child to take and the one to stop before. The children of each list make a run, whose end goes to
    *bounds*, and to *unsorted* whether it is not in order; after each target the number of runs goes to *runs*.

    Returns how it ended, and the row of the list in trouble.
    """
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    keys, children = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    end = run = 0
    for target in range(len(targets)):
        tier, low, high = targets[target, 0], targets[target, 3], targets[target, 4]
        for row in range(targets[target, 1], targets[target, 2]):
            move = lists[row, MOVE]
            mask_runs = find_runs(lists[row, MASK], bits, shifts)
            begin = end
            before = np.int64(-1)
            disorder = move == -1
            for block in range(lists[row, FROM], lists[row, TO]):
                count = unpack(words, octets, lists, row, block, mask_runs, bits, shifts, keys)
                if move == -1:
                    end = scatter(game, keys, count, tier, low, high, numbers, end)
                    if end < 0:
                        return (NO_ROOM if end == -1 else BROKEN), row
                    continue
                if end + count > len(numbers):
                    return NO_ROOM, row
                if move == READY:
                    for i in range(count):
                        children[i] = keys[i]
                else:
                    ended = move_all(game, keys, count, move, tier, children)
                    if ended != DONE:
                        return ended, row
                for i in range(count):
                    child = children[i]
                    disorder |= child < before
                    before = child
                    numbers[end] = child
                    end += (child >= low) & (child < high)
            if disorder and lists[row, ASCENDS]:
                return UNSORTED, row
            if end > begin:
                bounds[run] = end
                unsorted[run] = disorder
                run += 1
        runs[target] = run
    return DONE, -1


@kernel
def narrow(game, words, lists, row, last, low, high):
    """Leave out the blocks of a list that have no children from *low* to *high*; return whether they may not ascend."""
    begin, end = 0, 0
    first = lists[row, WHERE] >> 3
    before = np.int64(-1)
    move = lists[row, MOVE]
    for block in range(lists[row, TO]):
        child = words[first + block] if move == READY else child_by(game, words[first + block], move)[0]
        if child < before:
            return True
        before = child
        if child < low:
            begin = block
        if child < high:
            end = block + 1
    lists[row, FROM], lists[row, TO] = begin, end
    return move != READY and child_by(game, last, move)[0] < before


@kernel
def settle(game, found, ends, targets, images, moves, leads, shared, tally):
    """Keep of sorted lists, one after another, the undecided positions; move them together, and change the *ends*.

    Those where the game is over are counted in *tally*: row v has for the value v how many there are, how many with
    those equal by symmetry, and the tier and the number of the first. For each list *moves* become those of its first
    position, *leads* the tiers to which they lead, *shared* their number if all positions have them, else -1.

    Returns whether the rules break the contract, with the position that then is the first of all.
    """
    keys = np.empty(BLOCK, np.int64)
    values = np.empty(BLOCK, np.uint8)
    sizes = np.empty(BLOCK, np.int64)
    end = begin = 0
    for k in range(len(ends)):
        tier = targets[k, 0]
        new_begin = end
        for first in range(begin, ends[k], BLOCK):
            count = min(BLOCK, ends[k] - first)
            for i in range(count):
                keys[i] = found[first + i]
            values_of(game, keys, count, values)
            over = 0
            for i in range(count):
                found[end] = keys[i]
                keys[over] = keys[i]
                decided = values[i] != UNDECIDED
                values[over] = values[i]
                end += not decided
                over += decided
            sizes_of(game, keys, over, images, sizes)
            for i in range(over):
                value = values[i]
                if value >= len(tally):
                    found[0] = keys[i]
                    return True
                lower = tier < tally[value, 2] or (tier == tally[value, 2] and keys[i] < tally[value, 3])
                if lower or tally[value, 0] == 0:
                    tally[value, 2] = tier
                    tally[value, 3] = keys[i]
                tally[value, 0] += 1
                tally[value, 1] += sizes[i]
        begin = ends[k]
        ends[k] = end
        shared[k] = 0
        if end > new_begin:
            for move in game.generate_moves(found[new_begin]):
                if move < 0:
                    found[0] = found[new_begin]
                    return True
                if shared[k] < MOST_SAME:
                    moves[k, shared[k]] = move
                    leads[k, shared[k]] = child_by(game, found[new_begin], move)[1]
                shared[k] += 1
            if shared[k] == 0:
                found[0] = found[new_begin]
                return True
            if shared[k] > MOST_SAME or not have_moves(
                game, found[new_begin:end], end - new_begin, moves[k, : min(shared[k], MOST_SAME)]
            ):
                shared[k] = -1
    return False


@kernel
def survey_tiers(game, words, octets, lists, row, tiers):
    """Write the tiers to which the moves of all positions of a list lead, and how many lead there.

    Returns how many tiers there are, or -1 if there are more than rows.
    """
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    runs = find_runs(lists[row, MASK], bits, shifts)
    keys = np.empty(BLOCK, np.int64)
    count = 0
    for block in range((lists[row, COUNT] + BLOCK - 1) // BLOCK):
        length = unpack(words, octets, lists, row, block, runs, bits, shifts, keys)
        for i in range(length):
            for move in game.generate_moves(keys[i]):
                tier = child_by(game, keys[i], move)[1]
                k = 0
                while k < count and tiers[k, 0] != tier:
                    k += 1
                if k == len(tiers):
                    return -1
                if k == count:
                    tiers[k, 0] = tier
                    tiers[k, 1] = 0
                    count += 1
                tiers[k, 1] += 1
    return count


@kernel
def sample_children(game, positions, move, tier, out):
    """Write the children in a tier of some positions, by one move or, where it is -1, all; return how many fit."""
    if move < 0:
        end = scatter(game, positions, len(positions), tier, 0, 1 << 62, out, 0)
        return len(out) if end == -1 else max(end, 0)
    end = 0
    for position in positions:
        child, child_tier = child_by(game, position, move)
        out[end] = child
        end += child_tier == tier
    return end


@kernel
def look_up(positions, values, count, starts, children, row, buckets, hint, passed, worth, best):
    """Raise the *best* scores of positions to what their children are worth; return the last step, -1: one was not
    found.

    The children are given by their positions, and by primitive values, of which *worth* has what they are worth one ply
    earlier. The steps of their tier are those of a row of *children*; behind them stands one that no position reaches.
    """
    lost = False
    for i in range(count):
        child = positions[i]
        hint += starts[hint + 1] <= child  # twice without a branch, which would be guessed wrong half the time
        hint += starts[hint + 1] <= child
        if starts[hint] > child or starts[hint + 1] <= child:
            hint = find_step(starts, children, row, buckets, child)
        score = worth[values[i]]
        step = np.int64(passed[hint])
        score = step if score == 0 else score
        lost |= score == 0
        best[i] = max(best[i], score)
    return -1 if lost else hint


@kernel
def look_up_all(game, positions, count, child_tiers, low, high, children, starts, passed, buckets, best):
    """Raise the *best* scores of positions to what their children by all moves are worth; return how it ended."""
    for i in range(count):
        for move in game.generate_moves(positions[i]):
            child, tier = child_by(game, positions[i], move)
            value = whole(game.primitive(child))
            if value != UNDECIDED:
                score = pass_up(primitive_score(value, BITS), BITS)
            else:
                k = low
                while k < high and child_tiers[k, 0] != tier:
                    k += 1
                if k == high:
                    return OTHER_TIER
                score = np.int64(passed[find_step(starts, children, child_tiers[k, 1], buckets, child)])
                if score == 0:
                    return LOST
            best[i] = max(best[i], score)
    return DONE


@kernel
def sweep(
    game, words, octets, lists, units, slots, child_tiers, children, starts, passed, buckets, images, positions, scores,
    sizes,
):  # fmt: skip
    """Write the positions of lists, one list after another, their scores, and how many are equal by symmetry.

    *units* has a row for each list: its row in *lists*; the rows of *slots*, or for lists whose positions have moves of
    their own those of *child_tiers*, from one to another. A row of *slots* is a move, the tier that it leads to, that
    tier's row in *children*, and 1 and -1 where the children must ascend, else 0s.

    Returns how it ended, and the unit in trouble.
    """
    bits, shifts = np.empty(MOST_RUNS, np.int64), np.empty(MOST_RUNS, np.int64)
    kids = np.empty(BLOCK, np.int64)
    values = np.empty(BLOCK, np.uint8)
    best = np.empty(BLOCK, np.int64)
    hints = np.zeros(len(slots), np.int64)
    worth = np.zeros(256, np.int64)
    for value in range(1, 5):
        worth[value] = pass_up(primitive_score(value, BITS), BITS)
    end = 0
    for unit in range(len(units)):
        row, low, high = units[unit, 0], units[unit, 1], units[unit, 2]
        runs = find_runs(lists[row, MASK], bits, shifts)
        if lists[row, MOVE] >= 0:
            for slot in range(low, high):
                hints[slot] = children[slots[slot, 2], 0]
        for block in range((lists[row, COUNT] + BLOCK - 1) // BLOCK):
            keys = positions[end:]
            count = unpack(words, octets, lists, row, block, runs, bits, shifts, keys)
            for i in range(count):
                best[i] = -1
            if lists[row, MOVE] < 0:
                ended = look_up_all(game, keys, count, child_tiers, low, high, children, starts, passed, buckets, best)
                if ended != DONE:
                    return ended, unit
            else:
                for slot in range(low, high):
                    ended = move_all(game, keys, count, slots[slot, 0], slots[slot, 1], kids)
                    if ended != DONE:
                        return ended, unit
                    if slots[slot, 3]:
                        before = slots[slot, 4]
                        disorder = False
                        for i in range(count):
                            disorder |= kids[i] < before
                            before = kids[i]
                        slots[slot, 4] = before
                        if disorder:
                            return UNSORTED, unit
                    values_of(game, kids, count, values)
                    hints[slot] = look_up(
                        kids, values, count, starts, children, slots[slot, 2], buckets, hints[slot], passed, worth, best
                    )
                    if hints[slot] < 0:
                        return LOST, unit
            for i in range(count):
                if best[i] < 0:
                    return BROKEN, unit
                scores[end + i] = best[i]
            sizes_of(game, keys, count, images, sizes[end:])
            end += count
    return DONE, -1
