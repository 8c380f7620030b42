"""The compiled loops of the solver: positions expanded, sorted, and found again.

Only `expand` and `expand_parents` know a game, and are compiled for each variant; all else, here and in the kernels of
scores and cycles, is about arrays and is compiled once. All release the GIL and write to arrays that the caller gives:
blocks run on threads without locks.

The children of a block of positions, in the order in which the rules generate the moves, make a matrix with a column
for each position that is undecided (`origins` has its place in the block)::

    slot 0   child of one position by its first move, of the next one by its first move, …       -1: no such move
    slot 1   … by its second move, …

Where a game codes its positions so that a move keeps their order (see the guide for authors), a slot is sorted when the
positions are, and whatever is done with it runs along memory.
"""

from retrograde.games.game import DRAW, LOSE, MOST_IMAGES, POSITION_BITS, TIE, UNDECIDED, WIN
from retrograde.solver.rules.whole import whole
from retrograde.solver.work.kernel import kernel

LIMIT = 1 << POSITION_BITS
MOST_MOVES = 1 << 16

FINE, NO_MOVES, OUT_OF_RANGE, TIER_FALLS, BAD_PRIMITIVE, BAD_TIER, BAD_MOVE, BAD_IMAGES = range(8)
"""What a kernel that runs rules found; anything but FINE breaks the contract, at the position in `trouble[1]`."""


# Rules at work


@kernel
def expand(game, tier, positions, primitives, sizes, images, origins, children, tiers, trouble):
    """Write primitive values, numbers of symmetric positions (if *sizes* has room), children, and their tiers.

    Returns the numbers of columns written and slots needed; where the matrices have fewer slots, the call was in vain.
    *trouble* becomes what is wrong, and the last position looked at. *images* is room for MOST_IMAGES positions.
    """
    slots = children.shape[0]
    columns = 0
    needed = 0
    for i in range(len(positions)):
        position = positions[i]
        trouble[0] = FINE
        trouble[1] = position
        if len(sizes):
            sizes[i] = count_images(game, position, images)
            if sizes[i] == MOST_IMAGES:
                trouble[0] = BAD_IMAGES
                return columns, needed
        value = whole(game.primitive(position))
        primitives[i] = value
        slot = 0
        if value == UNDECIDED:
            for move in game.generate_moves(position):
                if whole(move) < 0:
                    trouble[0] = BAD_MOVE
                    return columns, needed
                if slot < slots:
                    child = whole(game.do_move(position, move))
                    if not 0 <= child < LIMIT:
                        trouble[0] = OUT_OF_RANGE
                        return columns, needed
                    child, child_tier = canonical(game, child)
                    if child < 0:  # an image is no position
                        trouble[0] = OUT_OF_RANGE
                        return columns, needed
                    if child_tier < tier:
                        trouble[0] = TIER_FALLS
                        return columns, needed
                    children[slot, columns] = child
                    tiers[slot, columns] = child_tier
                slot += 1
                if slot == MOST_MOVES:
                    return columns, slot
            if slot == 0:
                trouble[0] = NO_MOVES
                return columns, needed
            for rest in range(slot, slots):
                children[rest, columns] = -1
            origins[columns] = i
            columns += 1
            needed = max(needed, slot)
        elif value != WIN and value != LOSE and value != TIE and value != DRAW:
            trouble[0] = BAD_PRIMITIVE
            return columns, needed
    return columns, needed


@kernel
def canonical(game, position):
    """Return what `Game.canonical` does, and its tier."""
    least, least_tier = position, whole(game.tier(position))
    for image in game.images(position):
        tier = whole(game.tier(whole(image)))
        if tier < least_tier or (tier == least_tier and image < least):
            least, least_tier = image, tier
    return least, least_tier


@kernel
def count_images(game, position, images):
    """Return how many positions are equal to one by symmetry, itself included (at most MOST_IMAGES)."""
    images[0] = position
    count = 1
    for given in game.images(position):
        image = whole(given)
        new = count < MOST_IMAGES
        for j in range(count):
            new &= images[j] != image
        if new:
            images[count] = image
            count += 1
    return count


@kernel
def expand_parents(game, tier, positions, parents, trouble):
    """Write the distinct canonical parents of each position that are in its tier, slot by slot; -1 for none.

    Returns the numbers of columns written, one for each position, and slots needed, as `expand` does.
    """
    slots = parents.shape[0]
    needed = 0
    for i in range(len(positions)):
        trouble[0] = FINE
        trouble[1] = positions[i]
        slot = 0
        for given in game.parents(positions[i]):
            parent = whole(given)
            if not 0 <= parent < LIMIT:
                trouble[0] = OUT_OF_RANGE
                return i, needed
            parent, parent_tier = canonical(game, parent)
            if parent < 0:
                trouble[0] = OUT_OF_RANGE
                return i, needed
            new = parent_tier == tier
            for other in range(min(slot, slots)):
                new &= parents[other, i] != parent
            if new:
                if slot < slots:
                    parents[slot, i] = parent
                slot += 1
                if slot == MOST_MOVES:
                    return i, slot
        needed = max(needed, slot)
        for rest in range(slot, slots):
            parents[rest, i] = -1
    return len(positions), needed


# Sorted lists


@kernel
def gather(columns, children, tiers, runs, out):
    """Copy the children of each slot to *out*, slot after slot, without the gaps.

    Row k of *runs* becomes: where slot k ends in *out*; its tier; 1 where all of it is of that tier, else 0; and the
    greatest child.
    """
    end = 0
    for slot in range(children.shape[0]):
        begin = end
        tier = greatest = -1
        plain = True
        for i in range(columns):
            child = children[slot, i]
            if child >= 0:
                greatest = max(greatest, child)
                if end == begin:
                    tier = tiers[slot, i]
                plain &= tiers[slot, i] == tier
                out[end] = child
                end += 1
        runs[slot, 0] = end
        runs[slot, 1] = tier
        runs[slot, 2] = plain
        runs[slot, 3] = greatest


@kernel
def unique(numbers):
    """Move the distinct ones of sorted numbers to the front, and return how many there are."""
    if len(numbers) == 0:
        return 0
    end = 1
    for i in range(1, len(numbers)):
        if numbers[i] != numbers[end - 1]:
            numbers[end] = numbers[i]
            end += 1
    return end


@kernel
def subtract(numbers, known):
    """Move those of sorted distinct *numbers* that are not in sorted *known* to the front, and return how many."""
    end = 0
    hint = 0
    for number in numbers:
        hint = find(known, 0, len(known), number, hint)
        if hint == len(known) or known[hint] != number:
            numbers[end] = number
            end += 1
    return end


@kernel
def find(numbers, low, high, number, hint):
    """Return where *number* is, or would be, in sorted *numbers* from *low* to *high*, galloping from *hint*."""
    hint = min(max(hint, low), high)
    step = 1
    if hint < high and numbers[hint] < number:
        low = hint + 1
        while low + step <= high and numbers[low + step - 1] < number:
            low += step
            step *= 2
        high = min(high, low + step - 1)
    else:
        high = hint
        while high - step >= low and numbers[high - step] >= number:
            high -= step
            step *= 2
        low = max(low, high - step + 1)
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def disorder(columns, children, unsorted):
    """Write for each slot whether its children are not in ascending order."""
    for slot in range(children.shape[0]):
        unsorted[slot] = False
        for i in range(1, columns):
            if children[slot, i] < children[slot, i - 1]:
                unsorted[slot] = True
                break


@kernel
def locate(columns, children, tiers, unsorted, order, all_tiers, starts, positions, places):
    """Write where each child is among all *positions*, which are sorted tier by tier from *starts*; -1 for no child.

    The children of an unsorted slot are taken in the *order* given. Returns how many children are nowhere.
    """
    missing = 0
    for slot in range(children.shape[0]):
        tier = low = high = hint = 0
        looked_up = False
        for number in range(columns):
            i = order[slot, number] if unsorted[slot] else number
            child = children[slot, i]
            if child < 0:
                places[slot, i] = -1
                continue
            if tiers[slot, i] != tier or not looked_up:
                tier = tiers[slot, i]
                looked_up = True
                row = find(all_tiers, 0, len(all_tiers), tier, 0)
                if row < len(all_tiers) and all_tiers[row] == tier:
                    low, high, hint = starts[row], starts[row + 1], starts[row]
                else:
                    low, high, hint = 0, 0, 0
            hint = find(positions, low, high, child, hint)
            if hint < high and positions[hint] == child:
                places[slot, i] = hint
            else:
                places[slot, i] = -1
                missing += 1
    return missing
