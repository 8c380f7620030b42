"""The compiled loops of the verifiers. They share no code with the solver's kernels, and so none of their bugs.

They get the rules by a port (`rules/port.py`), and release the GIL. Several threads may run them on the same storage
(one of `storages.py`), since marks are only ever set, never cleared. `legend` is a LegendColumns, and `workspace` a
VerifierWorkspace.
"""

from typing import NamedTuple

from retrograde.games.contract.game import CHANCE, DRAW, LOSE, POSITION_LIMIT, TIE, UNDECIDED, WIN, is_none
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.positions import as_position, position_in, put, stands_at
from retrograde.solver.rules.positions import note as note_position
from retrograde.solver.rules.turns import turns
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import lean_kernel
from retrograde.solver.verification.storages import inlined, scatter

TIER, LOW, HIGH, SPANS = range(4)
"""Columns of a table of spans: a tier, and the least and greatest undecided child in it. SPANS is their number."""


class LegendColumns(NamedTuple):
    """The value and the remoteness of each row of the legend."""

    values: Array
    remotenesses: Array


class FamilyTable(NamedTuple):
    """The rules' answers about each record.

    By record: `primitives`, `movers`, `pays` int64[records, players] (payoffs where the game is over), `images` (how
    many positions the record stands for; 0 if it is not canonical or not of its tier), and `link_ends` (where the
    record's links end). By link, which is a move of a record: `links` is the child's record, -1 if it is not stored;
    `odds` is the weight of chance's move, else 1; `gains` is what the move pays the mover at once, less what the other
    player gets. `trouble[1]` is the position that the rules are called for.
    """

    primitives: Array
    movers: Array
    pays: Array
    images: Array
    link_ends: Array
    links: Array
    odds: Array
    gains: Array
    trouble: Array


class VerifierWorkspace(NamedTuple):
    """A task's results and workspace.

    `tally` has counts for each row of the legend, `wrong` receives the wrong items. `images` is a buffer for symmetric
    positions (for one position if the game has no symmetry). `cache` is of canonical children (negative: none), and
    `cached` int64[n, 2] has their locations and rows. `trouble[1]` is the position that the rules are called for.
    """

    tally: Array
    wrong: Array
    images: Array
    cache: Array
    cached: Array
    trouble: Array


@lean_kernel
def verify_items(game, storage, legend, items, workspace, every):
    """Derive the outcomes of some ascending items. Write the wrong ones to `workspace.wrong` and return how many.

    An item is also wrong if an image of its position has another outcome by the image's own moves; *every* image is
    tried, or only one. And it is wrong if `multiplicity` is not the number of its images.
    """
    count = 0
    for item in items:
        position = as_position(storage.position_at(game, item))
        if is_none(position):
            continue
        # Step 1: look up what is stored, and count it.
        note_position(workspace.trouble, position)
        row = storage.row_at(game, item, position)
        size = gather_images(game, position, workspace.images)
        fine = row >= 0 and (game.has_multiplicity == 0 or game.multiplicity(position) == size)
        if row >= 0:
            count_item(workspace.tally, row, size, item)
        # Step 2: derive the outcome, first at the position itself, then at images.
        mark = storage.marks_children(item)
        image, last_primitive = position, UNDECIDED + 0
        other_images = size - 1 if every else min(size - 1, 1)
        for number in range(1 + other_images):  # one call of `derive` in a loop, so that numba inlines it once
            if number:
                image = position_in(game, workspace.images, number if every else choose(key_of(position), size))
            # Each one must be a position, with the item's position as its canonical one, stored in the right place.
            fine &= is_position(image) and game.canonical(image) == position
            fine = fine and storage.is_in_place(game, item, image, number > 0)
            if number and not fine:  # rules called for something that is no position might never return
                break
            # Its outcome must be the stored one. An image must be over exactly if the position is.
            complete, primitive, value, remoteness = derive(game, storage, legend, image, mark, workspace)
            fine &= complete and value == legend.values[row] and remoteness == legend.remotenesses[row]
            fine &= number == 0 or primitive == last_primitive
            last_primitive = primitive
            mark = False  # an image's children are those of the position, or it is wrong
        # Step 3: report the item.
        if not fine:
            workspace.wrong[count] = item
            count += 1
    return count


@inlined
def derive(game, storage, legend, position, marking, workspace):
    """Return (whether all children are stored, primitive value, derived value, derived remoteness).

    What is stored for a child is for the child's own player to move. If *marking*, the children are marked as reached.
    One child, chosen pseudo-randomly, is checked to be stored at a location of its own.
    """
    fine = True
    primitive = game.primitive(position) + 0  # + 0 turns an enum member into an int
    value, remoteness = primitive, -1 if primitive == DRAW else 0
    # Case: the game goes on. Otherwise the primitive value is the outcome, in 0 plies (-1 for a DRAW).
    if primitive == UNDECIDED:
        soonest_lose = soonest_tie = latest_win = -1
        draws = False
        least = POSITION_LIMIT
        chosen, chosen_location = position, 0
        for move, reached in game.children(position):
            if not is_position(reached):
                fine = False
                continue
            # Step 1: look up each child; each must be stored.
            location, row = storage.find(game, reached, workspace)
            if row < 0:
                fine = False
                continue
            if marking:
                storage.mark(location)
            # The child with the least pseudo-random number will have its location checked.
            lot = scatter(key_of(reached) * (key_of(position) | 1))  # by an odd number: no bits of the child are lost
            if lot < least:
                least, chosen, chosen_location = lot, reached, location
            # Step 2: see the child's outcome as the other player does, and keep the best of each kind.
            child_value = legend.values[row]
            plies = storage.plies_after(game, position, move, reached, legend.remotenesses[row])
            if not turns(game, position, reached):
                child_value = WIN + LOSE - child_value if child_value in (WIN + 0, LOSE + 0) else child_value
            # A nearer LOSE or TIE is better for the mover; of WINs, the latest counts.
            if child_value == LOSE and (soonest_lose < 0 or plies < soonest_lose):
                soonest_lose = plies
            elif child_value == TIE and (soonest_tie < 0 or plies < soonest_tie):
                soonest_tie = plies
            elif child_value == WIN and plies > latest_win:
                latest_win = plies
            elif child_value == DRAW:
                draws = True
        # Step 3: conclude the outcome, and check the chosen child's location.
        value, remoteness = conclude(soonest_lose, soonest_tie, draws, latest_win)
        if least < POSITION_LIMIT and not storage.holds_child(game, chosen_location, chosen, workspace.images):
            fine = False
    return fine, primitive, value, remoteness


@inlined
def conclude(soonest_lose, soonest_tie, draws, latest_win):
    """Return (value, remoteness) from the children's extreme remotenesses by value; -1 stands for no such child."""
    # + 0 turns an enum member into an int.
    if soonest_lose >= 0:
        return WIN + 0, soonest_lose + 1
    if soonest_tie >= 0:
        return TIE + 0, soonest_tie + 1
    if draws:
        return DRAW + 0, -1
    return (LOSE + 0, latest_win + 1) if latest_win >= 0 else (UNDECIDED + 0, -1)


@inlined
def count_item(tally, row, size, item):
    """Count an item in a tally, with *size* positions equal to it by symmetry."""
    counts = tally[row]
    if counts.stored == 0:
        counts.first = item
    counts.stored += 1
    counts.positions += size


@inlined
def gather_images(game, position, images):
    """Write the images of a position, itself first, as far as the buffer allows. Return how many."""
    put(images, 0, position)
    if len(images) == 1:
        return 1
    count = 1
    for given in game.images(position):
        image = as_position(given)
        is_known = False
        for i in range(count):
            is_known |= stands_at(images, i, image)
        if not is_known and count < len(images):
            put(images, count, image)
            count += 1
    return count


@inlined
def payment(game, position):
    """Return what player 0 gets at an end, less what player 1 gets."""
    paid = game.payoff(position, 0)
    return paid - game.payoff(position, 1) if game.players == 2 else paid


@lean_kernel
def choose(position, count):
    """Return the same as `judge.choose`."""
    return 1 + scatter(position) % (count - 1)


@lean_kernel
def write_families(game, storage, families, images):
    """Fill a table of families. Return the number of links; those that do not fit are counted and not written."""
    count = 0
    for k in range(len(storage.tiers)):
        for record in range(storage.bounds[k], storage.bounds[k + 1]):
            position = storage.position_at(game, record)
            note_position(families.trouble, position)
            # Step 1: canonical, and stored in its own tier? For how many positions does it stand?
            in_place = game.canonical(position) == position and game.tier(position) == storage.tiers[k]
            families.images[record] = gather_images(game, position, images) if in_place else 0
            # Step 2: is the game over, and who is to move?
            value = game.primitive(position) + 0
            families.primitives[record] = value
            families.movers[record] = mover = game.turn(position)
            if value == UNDECIDED:
                # Step 3 (undecided): the child of each move, its odds, and what the move pays.
                for move in game.generate_moves(position):
                    if count < len(families.links):
                        child = as_position(game.canonical(game.do_move(position, move)))
                        families.links[count] = storage.look_up(game, child, game.tier(child))[0]
                        families.odds[count] = game.odds(position, move) if mover == CHANCE else 1
                        player = max(mover, 0)  # chance counts as player 0
                        families.gains[count] = game.reward(position, move, player)
                        if families.pays.shape[1] == 2:
                            families.gains[count] -= game.reward(position, move, 1 - player)
                    count += 1
            else:
                # Step 3 (over): what each player gets.
                for player in range(families.pays.shape[1]):
                    families.pays[record, player] = game.payoff(position, player)
            families.link_ends[record] = count
    return count


@lean_kernel
def find_filled(game, storage, items):
    """Record in `storage.filled` which items stand for a position."""
    for item in items:
        storage.filled[item] = not is_none(as_position(storage.position_at(game, item)))


@lean_kernel
def span_children(game, positions, spans, trouble):
    """Write to *spans* the least and greatest undecided child by tier. Return how many tiers, -1 if it is full."""
    count = 0
    for position in positions:
        trouble[1] = position
        for _, reached in game.children(position):
            # Only undecided children have steps and locations in lists.
            child = game.canonical(reached)
            if game.primitive(child) != UNDECIDED:
                continue
            tier = game.tier(child)
            # Find the tier's row by linear search (children are in few tiers), or add one.
            k = 0
            while k < count and spans[k, TIER] != tier:
                k += 1
            if k == len(spans):
                return -1
            if k == count:
                spans[k, TIER], spans[k, LOW], spans[k, HIGH] = tier, child, child
                count += 1
            # Extend the span of this tier.
            spans[k, LOW] = min(spans[k, LOW], child)
            spans[k, HIGH] = max(spans[k, HIGH], child)
    return count
