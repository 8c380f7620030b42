"""The compiled search of scores: the best difference of payoffs that the player to move can force.

`at_least` answers one question: is the score of a position at least *bound*? The bound for a child follows from what
the move pays at once, its *gain*, and from who moves next::

    the other's turn     gain - score of the child >= bound     the child's is not gain - bound + 1 at least
    the same player's    gain + score of the child >= bound     the child's is bound - gain at least

As in the search of values, an answer rests only on finished answers and on ends of the game. The transposition table is
the same too, with bounds of scores in place of bounds of worth. Move ordering: the hash move; moves after which the
same player moves again; then the sum of the history and of `promise`, by which rules rank moves.

`memory` and the `row` of a ply are those of `search/kernels.py`, but a child has other fields there.
"""

from retrograde.games.contract.game import LOSE, UNDECIDED, WIN, Game, is_none
from retrograde.solver.rules.examine import is_position
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import as_position, put, whole
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.turns import turns
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search import kernels as search
from retrograde.solver.search.hashing import hash_of
from retrograde.solver.search.memory import changed_bits, prefetch, words_at
from retrograde.solver.search.table import TranspositionTable

NUMBER, ASKED, TURNED, RANK, COUNTER, CHILD = range(6)
"""Fields of a child in a row of the workspace.

    NUMBER      number of the move to it
    ASKED       the bound of the question about it: is its score at least this?
    TURNED      1 if the other player moves there
    RANK        move ordering: the greatest first
    COUNTER     index of its history counter in `counters`
    CHILD       the position, and behind it its key in the transposition table
"""
TOO_FAR, CHANCE_TURN = search.BROKEN + 1, search.BROKEN + 2
"""More reasons to give up: a score out of the table's range; a position in which it is chance's turn."""
CONTRADICTED = 1
"""Mark in the counter ENDS: an end was met whose value does not follow from its payoffs."""
SAME_PLAYER = 1 << 20
"""Bonus in move ordering for a move after which the same player moves again."""


def at_least(
    game: Game, position: int, bound: int, table: TranspositionTable, workspace: search.ThreadWorkspace
) -> bool:
    """Return whether an undecided position has a score of at least *bound*; meaningless if the search gives up."""
    with compilable(game):
        return bool(prove_bound(rules_for(game), position, bound, 0, search.memory_of(table, workspace)))


@kernel
def prove_bound(game, position, bound, ply, memory):
    """Return whether an undecided position has a score of at least *bound*; meaningless if the search gives up."""
    # *row*: the children of this ply, *stride* words of 8 bytes each.
    counters, stride = words_at(memory.counters), search.words_per_child(game, CHILD)
    row = words_at(memory.rows + 8 * stride * ply * memory.moves)
    # Step 1: count the position; give up if the search is stopped or a limit is reached.
    if search.must_give_up(position, ply, memory):
        return False
    counters[search.NODES] += 1
    if not -memory.far < bound < memory.far:  # the table holds no greater scores
        search.give_up(TOO_FAR, position, counters)
        return False
    # Step 2: probe the transposition table.
    key = search.table_key(game, position, memory)
    if is_none(key):
        return False
    low, high, best = search.bounds_of(search.find(key, memory), memory)
    if low >= bound or high < bound:  # an upper bound equal to the one asked for decides nothing
        return low >= bound
    # Step 3: generate the children; an end one move ahead may prove the question. Then sort them.
    proved, count = write_children(game, position, bound, row, memory)
    if count < 0:
        return False
    if not proved:
        proved, count = sort_children(game, position, count, best, row, memory)
    # Step 4: search the children. The first pass defers those that another thread searches now; the second pass
    # searches the deferred ones.
    deferred, best = 0, search.NO_BEST  # bit i of *deferred*: child i
    for second_pass in range(2):
        if proved:
            break
        for i in range(count):
            child, child_key = search.child_at(game, row, i, CHILD), search.key_at(game, row, i, CHILD)
            if search.skips_child(i, second_pass, deferred, child_key, ply, counters):
                deferred |= 0 if second_pass else 1 << i
                continue
            search.publish(child_key, ply, counters)
            answer = prove_bound(game, child, row[stride * i + ASKED], ply + 1, memory)
            search.unpublish(child_key, ply, counters)
            if counters[search.TROUBLE]:
                return False
            # A yes proves the question if the same player moves again, a no if the other player moves.
            proved = answer != (row[stride * i + TURNED] == 1)
            # History: the proving move gains the number of moves, a failing move loses 1.
            counters[row[stride * i + COUNTER]] += count if proved else -1
            if proved:
                best = row[stride * i + NUMBER]
                break
        if deferred == 0:
            break
    # Step 5: store the bound that was proved.
    search.store_answer(key, bound, proved, best, memory)
    return proved


@kernel
def write_children(game, position, bound, row, memory):
    """Return (proved, count). *proved*: an end one move ahead reaches *bound*. *count*: the other children, written to
    *row*; -1 if the search gives up."""
    count, counters, stride = 0, words_at(memory.counters), search.words_per_child(game, CHILD)
    mover = whole(game.turn(position))
    if mover < 0:
        search.give_up(CHANCE_TURN, position, counters)
        return False, -1
    for number, move in enumerate(game.generate_moves(position)):
        child = as_position(game.do_move(position, move))
        if not is_position(child):
            search.give_up(search.BROKEN, position, counters)
            return False, -1
        # The gain: what the move pays the mover, less what it pays the other player.
        gain = whole(game.reward(position, move, mover))
        if game.players == 2:
            gain -= whole(game.reward(position, move, 1 - mover))
        turned = turns(game, position, child)
        # Case: the game is over, and the score of the end is known.
        if whole(game.primitive(child)) != UNDECIDED:
            score = score_of_end(game, child)
            if not has_sign(whole(game.primitive(child)), score):
                counters[search.ENDS] = CONTRADICTED
            if gain + (-score if turned else score) >= bound:
                return True, count
        elif count == memory.moves:
            search.give_up(search.MANY_MOVES, position, counters)
            return False, -1
        else:
            # Case: the game goes on. Write the child with the bound that follows for it (see the module's table).
            key = search.table_key(game, child, memory)
            if is_none(key):
                return False, -1
            prefetch(memory.table, search.bucket_of(key, memory))
            put_child(game, row, count, child, key)
            row[stride * count + NUMBER], row[stride * count + TURNED] = number, 1 if turned else 0
            row[stride * count + ASKED] = gain - bound + 1 if turned else bound - gain
            row[stride * count + RANK] = whole(game.promise(position, move)) + (0 if turned else SAME_PLAYER)
            count += 1
    return False, count


@kernel
def put_child(game, row, i, child, key):
    """Write child number *i* of a row, and its table key."""
    put(row, search.words_per_child(game, CHILD) * i + CHILD, child)
    search.put_key(game, row, i, key, CHILD)


@kernel
def has_sign(value, score):
    """Return whether the value of an end is the sign of its score: WIN if above 0, LOSE if below, else TIE."""
    return (value == WIN) == (score > 0) and (value == LOSE) == (score < 0)


@kernel
def score_of_end(game, position):
    """Return the payoff of the player to move at an end, less the other player's."""
    mover = whole(game.turn(position))
    score = whole(game.payoff(position, mover))
    if game.players == 2:
        score -= whole(game.payoff(position, 1 - mover))
    return score


@kernel
def sort_children(game, position, count, best, row, memory):
    """Sort the children for the search. Return (proved, count).

    *proved*: a child's table entry proves the question. *count*: the children left. The hash move, number *best*, comes
    first. Children known not to prove the question are removed.
    """
    left, counters, stride = 0, words_at(memory.counters), search.words_per_child(game, CHILD)
    for i in range(count):
        child, key = search.child_at(game, row, i, CHILD), search.key_at(game, row, i, CHILD)
        number, child_bound, turned = row[stride * i + NUMBER], row[stride * i + ASKED], row[stride * i + TURNED]
        low, high, _ = search.bounds_of(search.find(key, memory), memory)
        # The table answers this child's question: it proves the parent's, or the child can be skipped.
        if low >= child_bound or high < child_bound:
            if (low >= child_bound) != (turned == 1):
                return True, 0
            continue
        counter = search.HISTORY + hash_of(changed_bits(position, child), search.HISTORY_BITS)
        rank = row[stride * i + RANK] + counters[counter]
        # Insertion sort; rows are short. Children 0 to left - 1 are sorted; child `left` is this one or removed.
        j = left - 1
        while j >= 0 and row[stride * j + NUMBER] != best and (number == best or row[stride * j + RANK] < rank):
            for word in range(stride):
                row[stride * (j + 1) + word] = row[stride * j + word]
            j -= 1
        free = stride * (j + 1)
        row[free + NUMBER], row[free + ASKED], row[free + TURNED] = min(number, search.NO_BEST), child_bound, turned
        row[free + RANK], row[free + COUNTER] = rank, counter
        put_child(game, row, j + 1, child, key)
        left += 1
    return False, left
