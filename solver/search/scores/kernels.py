"""The compiled search of scores: the best difference of payoffs that the player to move can force.

`at_least` proves or refutes one question about a position: is its score so much at least? What is asked of a child
follows from it, by what the move pays at once and by whose turn it is then::

    the other's turn     gain - score of the child >= bound     the child's is not gain - bound + 1 at least
    the same player's    gain + score of the child >= bound     the child's is bound - gain at least

A proof rests on proofs that were ended before it and on ends of the game alone, as in the search of values, in whose
kind of table bounds of scores stand for bounds of worth. Moves are tried in the order: the best one that the table
knows; those after which the same player is to move again; then by what the game promises, and by history.
"""

from numba.extending import overload

from retrograde.games.contract.game import LOSE, POSITION_LIMIT, UNDECIDED, WIN, Game
from retrograde.solver.rules.turns import turns
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.kernels import (
    BROKEN,
    ENDS,
    HISTORY,
    HISTORY_BITS,
    MANY_MOVES,
    MOST_LATE,
    NO_BEST,
    NO_KEY,
    NODES,
    POSITION,
    TROUBLE,
    Stack,
    begin_with,
    bounds_of,
    bucket_of,
    end_with,
    find,
    is_elsewhere,
    keep,
    key_of,
    no_room,
    shape_of,
)
from retrograde.solver.search.memory import prefetch, words_at
from retrograde.solver.search.mixing import mixed
from retrograde.solver.search.table import Table

CHILD, NUMBER, ASKED, TURNED, KEY, GOOD, PLACE = range(7)
"""What stands in the room of a ply for each child: itself, the number of its move, the question about it, whether the
turn was handed over, its key in the table, how good it looks, its place in the history."""
PARTS = 7
FAR, CHANCES = BROKEN + 1, BROKEN + 2
"""More reasons to give a search up: a score that the table has no room for; a position in which it is chance's turn."""
CONTRADICTED = 1
"""Stands among the ends met where one goes to who has fewer points."""
AGAIN = 1 << 20
"""How much better a move looks after which the same player is to move."""


def opposed(game: Game) -> bool:
    """Tell whether there is another player, whose gains are losses; known when rules are compiled."""
    return int(game.players) == 2


@overload(opposed)
def _(game):
    told = int(game.game.players) == 2
    return lambda game: told


def at_least(game: Game, position: int, bound: int, table: Table, stack: Stack) -> bool:
    """Return whether the score of an undecided position is *bound* at least; False, too, if the search is given up."""
    shape = shape_of(table, stack)
    room, marks = stack.room.ctypes.data, stack.marks.ctypes.data
    return bool(by_children(game, position, bound, 0, shape, table.words.ctypes.data, room, marks))


@kernel
def by_children(game, position, bound, ply, shape, words, room, marks):
    """Return whether the score of an undecided position is *bound* at least; False, too, if the search is given up."""
    mark, row = words_at(marks), words_at(room + 8 * PARTS * ply * shape.moves)
    if no_room(position, ply, shape, marks):
        return False
    mark[NODES] += 1
    if not -shape.far < bound < shape.far:
        mark[TROUBLE], mark[POSITION] = FAR, position
        return False
    key = key_of(game, position, shape, marks)
    if key == NO_KEY:
        return False
    low, high, best = bounds_of(find(words, key, shape), shape)
    if low >= bound or high < bound:
        return low >= bound
    proved, count = children_of(game, position, bound, row, shape, words, marks)
    if count < 0:
        return False
    if not proved:
        proved, count = put_in_order(game, position, count, best, row, shape, words, marks)
    late, best = 0, NO_BEST
    for again in range(2):
        if proved:
            break
        for i in range(count):
            its_key, asked = row[PARTS * i + KEY], row[PARTS * i + ASKED]
            if again:
                if late >> min(i, MOST_LATE) & 1 == 0:
                    continue
            elif 0 < i < MOST_LATE and is_elsewhere(its_key, ply, mark):
                late |= 1 << i
                continue
            begin_with(its_key, ply, mark)
            answer = by_children(game, row[PARTS * i + CHILD], asked, ply + 1, shape, words, room, marks)
            end_with(its_key, ply, mark)
            if mark[TROUBLE]:
                return False
            proved = answer != (row[PARTS * i + TURNED] == 1)
            mark[row[PARTS * i + PLACE]] += count if proved else -1
            if proved:
                best = row[PARTS * i + NUMBER]
                break
        if late == 0:
            break
    keep(words, key, bound if proved else -shape.far, shape.far if proved else bound - 1, best, shape)
    return proved


@kernel
def children_of(game, position, bound, row, shape, words, marks):
    """Return whether an end one move ahead proves the question, and how many other children were written.

    The count is negative where the search is given up.
    """
    count, mark = 0, words_at(marks)
    mover = whole(game.turn(position))
    if mover < 0:
        mark[TROUBLE], mark[POSITION] = CHANCES, position
        return False, -1
    for number, move in enumerate(game.generate_moves(position)):
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            mark[TROUBLE], mark[POSITION] = BROKEN, position
            return False, -1
        gain = whole(game.reward(position, move, mover))
        if opposed(game):
            gain -= whole(game.reward(position, move, 1 - mover))
        turned = turns(game, position, child)
        if whole(game.primitive(child)) != UNDECIDED:
            paid = score_of_end(game, child)
            if not agrees(whole(game.primitive(child)), paid):
                mark[ENDS] = CONTRADICTED
            if gain + (-paid if turned else paid) >= bound:
                return True, count
        elif count == shape.moves:
            mark[TROUBLE], mark[POSITION] = MANY_MOVES, position
            return False, -1
        else:
            key = key_of(game, child, shape, marks)
            if key == NO_KEY:
                return False, -1
            prefetch(words, bucket_of(key, shape))
            row[PARTS * count + CHILD], row[PARTS * count + KEY] = child, key
            row[PARTS * count + NUMBER], row[PARTS * count + TURNED] = number, 1 if turned else 0
            row[PARTS * count + ASKED] = gain - bound + 1 if turned else bound - gain
            row[PARTS * count + GOOD] = whole(game.promise(position, move)) + (0 if turned else AGAIN)
            count += 1
    return False, count


@kernel
def agrees(value, paid):
    """Return whether the value of an end is what follows from what it pays."""
    return (value == WIN) == (paid > 0) and (value == LOSE) == (paid < 0)


@kernel
def score_of_end(game, position):
    """Return what the player to move in a position that is over gets less what the other does."""
    mover = whole(game.turn(position))
    paid = whole(game.payoff(position, mover))
    if opposed(game):
        paid -= whole(game.payoff(position, 1 - mover))
    return paid


@kernel
def put_in_order(game, position, count, best, row, shape, words, marks):
    """Return whether the table knows a child that proves the question, and how many are left to be searched.

    They are sorted by how good they look, the one whose move has the number *best* first; those of which the table
    knows that they do not prove it are left out.
    """
    left, mark = 0, words_at(marks)
    for i in range(count):
        child, number, asked = row[PARTS * i + CHILD], row[PARTS * i + NUMBER], row[PARTS * i + ASKED]
        turned, key, good = row[PARTS * i + TURNED], row[PARTS * i + KEY], row[PARTS * i + GOOD]
        low, high, _ = bounds_of(find(words, key, shape), shape)
        if low >= asked or high < asked:
            if (low >= asked) != (turned == 1):
                return True, 0
            continue
        place = HISTORY + mixed(position ^ child, HISTORY_BITS)
        good += mark[place]
        j = left - 1
        while j >= 0 and row[PARTS * j + NUMBER] != best and (number == best or row[PARTS * j + GOOD] < good):
            for part in range(PARTS):
                row[PARTS * (j + 1) + part] = row[PARTS * j + part]
            j -= 1
        row[PARTS * (j + 1) + CHILD], row[PARTS * (j + 1) + NUMBER] = child, min(number, NO_BEST)
        row[PARTS * (j + 1) + ASKED], row[PARTS * (j + 1) + TURNED] = asked, turned
        row[PARTS * (j + 1) + KEY], row[PARTS * (j + 1) + GOOD], row[PARTS * (j + 1) + PLACE] = key, good, place
        left += 1
    return False, left
