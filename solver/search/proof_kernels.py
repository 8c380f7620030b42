"""Proof-number search, depth first (df-pn), over the plain rules of any game.

A *question* is a position and what is asked of its player to move: does she win (1), or does she not lose (0)? It is
answered by yes if some child's question, the other one of the other player, is answered by no. Its *proof number* is
the least number of leaves that must be answered for a yes, as far as is known, its *disproof number* that for a no:

    proof(question)    = min over children of disproof(child)
    disproof(question) = sum over children of proof(child); here (see `estimated`) it is another estimate

The search always goes on below the leaf where the least is missing to both (Allis, van der Meulen and van den Herik,
1994). Depth first, it stays below a child while both numbers are within limits up to which no other leaf would be the
better one (Nagai, 1999); limits have a half of slack, lest it hop to and fro (the 1 + ε of Pawlewicz and Lew, 2007).
A child that is new begins with the number of its moves as its disproof number: what `estimated` would say of it.

Repetition. Who wants to win gets nothing by coming back to a question that is being asked already, so a child that is
on the path is answered, for now, by what helps the other. Proofs of wins never rest on that. What says that a
win can *not* be forced may, and then it holds on this path alone (the graph-history interaction; Kishimoto and Müller,
2004). So each answer says on which places of the path it rests at most: the highest of them is `HIGH`, the lowest
`LOW`. An answer of a question at a place rests on nothing if what it was made from rests on nothing above that place:
the other player has a plan by which the game goes on for ever below. Only such answers are written to the table;
of others notes are taken, which become answers when what they rest on does (`settle`).

Double counts. Where lines merge, a sum counts the same leaves many times over. `estimated` takes the greatest instead,
and one for each further child (the weak proof-number search of Ueda, Hashimoto, Hashimoto and Iida, 2008).

Endless search. Numbers of questions that are met on several paths may fall as well as rise, and then limits may be
met for ever without anything new (Kishimoto, 2010). Here a child that was looked at many times from the same place
gets limits that double each time, so that each place is left after a bounded number of looks, whatever the table has
forgotten.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, POSITION_LIMIT, TIE, UNDECIDED, WIN
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.whole import whole
from retrograde.solver.runtime.kernel import kernel
from retrograde.solver.search.mixing import mixed
from retrograde.solver.search.proof_table import INFINITE, MIXED_BITS, find, keep
from retrograde.solver.search.worth import BASE, DRAWN, UNTOLD, told

Array = np.ndarray[Any, Any]

KEY, FIRST, END, MOST_PROOF, MOST_DISPROOF, CHOSEN, BEFORE, NOTED = range(8)
"""What is known of a place on the path: its question; where its children begin and end; the limits; the child looked
at; how many positions had been looked at before, and how many notes there were."""
PROOF, DISPROOF, HIGH, LOW, LOOKS = range(5)
"""What is known of a child: its numbers; on which places of the path they rest; how often it was looked at."""
NOTHING = 1 << 30
"""The highest place of an answer that rests on none; its lowest is −1."""
NOTE_HIGH, NOTE_LOW, NOTE_NODES = 1, 2, 3
"""What a note has behind its question: on which places its answer rests, and how many positions it took."""
NODES, TROUBLE, POSITION, MET, NOTES, LEAVES = range(6)
"""What the counts are: positions looked at; why the search was given up, and where; what was met; notes taken; and
positions found in tables."""
STOPPED, DEEP, BROKEN = range(1, 4)
"""Why a search is given up: out of time; deeper or wider than there is room; rules that give what is no position."""
DRAWS, TIES, CIRCLES = 1, 2, 4
"""What can be met: ends that are a draw or a tie, and repetitions."""
NO, YES, OPEN = range(3)
MOST_NOTES = 1 << 16
PATIENCE = 48
"""Looks at a child after which its limits are doubled each time."""
SLACK = 2
"""Limits are more by a SLACK-th than the disproof number of the second best child."""


class Path(NamedTuple):
    """The path that is being looked at: int64[places, 8] `places`; the children of all, one place after another, with
    their questions int64[] `keys` and int64[, 5] `children`.

    `marks` uint16[] counts the places by a hash of their questions; `notes` int64[, 4] are answers that rest on
    places; `counts` int64[6]; `stop` uint8[1], not 0 to stop; `leaves` are tables that are asked, or None.
    """

    places: Array
    keys: Array
    children: Array
    marks: Array
    notes: Array
    counts: Array
    stop: Array
    leaves: Any


def make_path(places: int, children: int, stop: Array, leaves: Any = None) -> Path:
    """Return the memory for a path with so many places and children."""
    return Path(
        np.empty((places, 8), np.int64),
        np.empty(children, np.int64),
        np.empty((children, 5), np.int64),
        np.zeros(1 << 14, np.uint16),
        np.empty((MOST_NOTES, 4), np.int64),
        np.zeros(6, np.int64),
        stop,
        leaves,
    )


@kernel
def prove(game, key, nodes, table, path):
    """Return the answer to a question, or OPEN after so many positions, or if it is given up."""
    places, children, counts = path.places, path.children, path.counts
    path.marks[:] = 0
    counts[NODES] = counts[TROUBLE] = counts[NOTES] = counts[LEAVES] = 0
    place = 0
    enter(game, key, place, INFINITE, INFINITE, table, path)
    while True:
        if counts[TROUBLE]:
            return OPEN
        proof, disproof, best, second, others = estimated(place, places, children)
        if proof >= places[place, MOST_PROOF] or disproof >= places[place, MOST_DISPROOF]:
            high, low = leave(place, proof, disproof, table, path)
            if place == 0:
                return YES if proof == 0 else NO
            place -= 1
            child = places[place, CHOSEN]
            children[child, PROOF], children[child, DISPROOF] = proof, disproof
            children[child, HIGH], children[child, LOW] = high, low
            children[child, LOOKS] += 1
            continue
        child_proof, child_disproof = find(table, path.keys[best])
        if child_proof == 0 or child_disproof == 0:  # answered by now on another path
            children[best, PROOF], children[best, DISPROOF] = child_proof, child_disproof
            continue
        if path.stop[0] or counts[NODES] >= nodes:
            counts[TROUBLE] = STOPPED
            continue
        least = 1 << min(max(children[best, LOOKS] - PATIENCE, 0), 28)
        most_proof = max(
            least, places[place, MOST_DISPROOF] - (others if places[place, MOST_DISPROOF] < INFINITE else 0)
        )
        most_disproof = max(least, min(places[place, MOST_PROOF], second + second // SLACK + 1))
        places[place, CHOSEN] = best
        place += 1
        enter(game, path.keys[best], place, min(most_proof, INFINITE), min(most_disproof, INFINITE), table, path)


@kernel
def estimated(place, places, children):
    """Return the numbers of a question by those of its children, the best of them, the second best's disproof
    number, and how many are open beside one."""
    proof = second = INFINITE
    best, widest, others = -1, 0, -1
    for child in range(places[place, FIRST], places[place, END]):
        number = children[child, DISPROOF]
        if number < proof:
            proof, second, best = number, proof, child
        elif number < second:
            second = number
        if children[child, PROOF]:
            widest = max(widest, children[child, PROOF])
            others += 1
    if proof == 0:
        return 0, INFINITE, best, second, 0
    others = max(others, 0)
    return proof, min(widest + others, INFINITE - 1), best, second, others


@kernel
def enter(game, key, place, most_proof, most_disproof, table, path):
    """Write a question to a place of the path, with its children; one that answers it by yes stands alone, and those
    that are of no use are left out."""
    places, keys, children, counts = path.places, path.keys, path.children, path.counts
    if place == len(places):
        counts[TROUBLE], counts[POSITION] = DEEP, key >> 1
        return
    counts[NODES] += 1
    position, wins = key >> 1, key & 1
    first = places[place - 1, END] if place else 0
    places[place, KEY], places[place, FIRST], places[place, END], places[place, BEFORE] = (
        key,
        first,
        first,
        counts[NODES],
    )
    places[place, NOTED] = counts[NOTES]
    places[place, MOST_PROOF], places[place, MOST_DISPROOF] = most_proof, most_disproof
    path.marks[mark_of(key, path)] += 1
    end = first
    for move in game.generate_moves(position):
        if end == len(keys):
            counts[TROUBLE], counts[POSITION] = DEEP, position
            return
        child = whole(game.do_move(position, move))
        if not 0 <= child < POSITION_LIMIT:
            counts[TROUBLE], counts[POSITION] = BROKEN, position
            return
        value = whole(game.primitive(child))
        if value == UNDECIDED:
            value = value_told(game, child, path)
        if value == TIE:
            counts[MET] |= TIES
        elif value == DRAW:
            counts[MET] |= DRAWS
        if value == LOSE or (not wins and value in (TIE, DRAW)):
            keys[first], places[place, END] = 0, first + 1
            write(children, first, INFINITE, 0, NOTHING, -1)
            return
        if value in (WIN, TIE, DRAW):
            continue
        least, _ = canonical(game, child)
        if least < 0:
            counts[TROUBLE], counts[POSITION] = BROKEN, position
            return
        child_key = least << 1 | 1 - wins
        new = True
        for other in range(first, end):
            new &= keys[other] != child_key
        if not new:
            continue
        proof, disproof = find(table, child_key)
        if disproof == 0:
            keys[first], places[place, END] = child_key, first + 1
            write(children, first, INFINITE, 0, NOTHING, -1)
            return
        if proof == 0:
            continue
        again = place_of(child_key, place, path)
        keys[end] = child_key
        if again >= 0:
            counts[MET] |= CIRCLES
            write(children, end, INFINITE if wins == 0 else 0, 0 if wins == 0 else INFINITE, again, again)
        else:
            if proof == 1 and disproof == 1:
                disproof = mobility(game, least)
            write(children, end, proof, disproof, NOTHING, -1)
        end += 1
    places[place, END] = end


@kernel
def value_told(game, position, path):
    """Return the value of an undecided position that is in a table, which rests on nothing; else UNDECIDED."""
    worth = told(game, position, BASE, path.leaves)
    if worth == UNTOLD:
        return whole(UNDECIDED)
    path.counts[LEAVES] += 1
    if worth in (0, DRAWN):
        return whole(DRAW if worth else TIE)
    return whole(WIN if worth > 0 else LOSE)


@kernel
def mobility(game, position):
    """Return how many moves a position has, 1 at least."""
    count = 0
    for _ in game.generate_moves(position):
        count += 1
    return max(count, 1)


@kernel
def write(children, child, proof, disproof, high, low):
    """Write what is known of a child."""
    children[child, PROOF], children[child, DISPROOF] = proof, disproof
    children[child, HIGH], children[child, LOW], children[child, LOOKS] = high, low, 0


@kernel
def leave(place, proof, disproof, table, path):
    """Write what was found of a question to the table, and return on which places above it rests."""
    places, children = path.places, path.children
    path.marks[mark_of(places[place, KEY], path)] -= 1
    high, low = NOTHING, -1
    if proof == 0:
        high = -1
        for child in range(places[place, FIRST], places[place, END]):
            if children[child, DISPROOF] == 0 and children[child, HIGH] > high:
                high, low = children[child, HIGH], children[child, LOW]
    elif disproof == 0:
        for child in range(places[place, FIRST], places[place, END]):
            high, low = min(high, children[child, HIGH]), max(low, children[child, LOW])
    key, nodes = places[place, KEY], path.counts[NODES] - places[place, BEFORE]
    safe = (proof if key & 1 == 0 else disproof) == 0
    settle(place, safe, high, table, path)
    if high >= place:
        keep(table, key, proof, disproof, nodes)
        return NOTHING, -1
    low = min(low, place - 1)
    note(path, key, high, low, nodes)
    return high, low


@kernel
def note(path, key, high, low, nodes):
    """Take a note of an answer that rests on places of the path, if there is room."""
    at = path.counts[NOTES]
    if at < len(path.notes):
        path.notes[at, KEY], path.notes[at, NOTE_HIGH] = key, high
        path.notes[at, NOTE_LOW], path.notes[at, NOTE_NODES] = low, nodes
        path.counts[NOTES] = at + 1


@kernel
def settle(place, safe, high, table, path):
    """Go through the notes taken below a place that is left: those that rest on it alone become answers if it is *safe*
    on no condition, those that rest on it rest on what it rests on if it is safe on some, and are thrown away else.
    """
    notes, kept = path.notes, path.places[place, NOTED]
    for at in range(kept, path.counts[NOTES]):
        if safe and notes[at, NOTE_HIGH] >= place and high >= place:
            wins = notes[at, KEY] & 1
            keep(table, notes[at, KEY], wins * INFINITE, (1 - wins) * INFINITE, notes[at, NOTE_NODES])
            continue
        if notes[at, NOTE_LOW] >= place:
            if not safe:
                continue
            notes[at, NOTE_LOW] = place - 1
            notes[at, NOTE_HIGH] = min(notes[at, NOTE_HIGH], high)
        for field in range(4):
            notes[kept, field] = notes[at, field]
        kept += 1
    path.counts[NOTES] = kept


@kernel
def place_of(key, place, path):
    """Return the place on the path, up to one, where a question stands; −1 where it does not."""
    if path.marks[mark_of(key, path)]:
        for at in range(place, -1, -1):
            if path.places[at, KEY] == key:
                return at
    return -1


@kernel
def mark_of(key, path):
    """Return where a question is counted."""
    return mixed(key, MIXED_BITS) & len(path.marks) - 1
