"""Depth-first proof-number search (df-pn) over the plain rules of any game.

A *question* is a position and what is asked about its player to move: does the player win (1), or does the player not
lose (0)? The answer is yes if the opposite question about some child, for the other player, has the answer no. The
*proof number* of a question is the least number of leaves that must be answered to get a yes, as far as known. The
*disproof number* is the same for a no:

    proof(question)    = min over children of disproof(child)
    disproof(question) = sum over children of proof(child); here (see `combine_numbers`) it is another estimate

The search always expands a leaf that counts in both numbers (Allis, van der Meulen and van den Herik, 1994). Depth
first, it stays below a child while both numbers are within limits, beyond which another leaf would be better (Nagai,
1999). The limit taken from the second best child is half as large again, so that the search does not switch back and
forth (the 1 + ε of Pawlewicz and Lew, 2007): without that, the search of Connect Four on 4 × 4 looks at 20,454
positions, not 10,583, and that of dodgem at 12,959, not 3,328. A new child starts with its number of moves as its
disproof number, which is what `combine_numbers` would return for it.

Repetition. A player who wants to win gains nothing by returning to a question on the search path. So a child on the
path gets, for now, the answer that helps the other player. Proofs of wins never rest on that. A proof that a win can
*not* be forced may rest on it, and then it holds only on this path (the graph-history interaction; Kishimoto and
Müller, 2004).

So each answer carries the range of path levels that it may rest on. Levels count from the root, 0::

    root 0 … TOP … BOTTOM … leaf      TOP: the level nearest to the root, BOTTOM: the one farthest from it

An answer rests on nothing if nothing in its support lies above its own level, that is, nearer to the root: then the
other player has a plan by which the game continues forever below. Only such answers go to the table. The others become
notes, which turn into answers when the answer they rest on does (`settle_notes`).

Double counts. If lines merge, a sum counts the same leaves many times. `combine_numbers` takes the maximum instead, and
adds one for each further child (weak proof-number search; Ueda, Hashimoto, Hashimoto and Iida, 2008).

Endless search. The numbers of questions met on several paths may fall as well as rise, and then the search may reach
its limits forever without progress (Kishimoto, 2010). Here the limits of a child double on each visit after PATIENCE
visits. So the search leaves each level after a bounded number of visits, whatever the table has forgotten.

In the kernels, a question is a `key` (see `question_of`), `path` is a Path, and `table` that of `proof_table.py`.
"""

from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, MOST_WORDS, TIE, UNDECIDED, WIN, Game, is_none
from retrograde.solver.rules.examine import is_position, key_of
from retrograde.solver.rules.kernels import canonical
from retrograde.solver.rules.positions import as_position, of_positions, position_in, put, stands_at, whole
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.kernel import ZERO, lean_kernel
from retrograde.solver.search.endgame_tables import BASE, DRAWN, UNKNOWN, probe_tables
from retrograde.solver.search.hashing import hash_of
from retrograde.solver.search.proof_table import (
    HASH_BITS,
    INFINITE,
    NUMBER_BITS,
    asks_win,
    find,
    position_of_question,
    question_of,
    store,
)

FIRST, END, PROOF_LIMIT, DISPROOF_LIMIT, CHOSEN, BEFORE, NOTED = range(7)
"""Fields of a level on the search path.

    FIRST, END      where its children begin and end
    PROOF_LIMIT      limit of its proof number
    DISPROOF_LIMIT   limit of its disproof number
    CHOSEN          the child being searched
    BEFORE          positions searched up to its entry
    NOTED           notes taken before its entry
"""
PROOF, DISPROOF, TOP, BOTTOM, VISITS = range(5)
"""Fields of a child.

    PROOF, DISPROOF     its numbers
    TOP, BOTTOM         the path levels nearest to and farthest from the root that they rest on
    VISITS              how often the search visited it
"""
NO_LEVEL = 1 << 30
"""TOP of an answer that rests on nothing. Its BOTTOM is −1."""
NOTE_TOP, NOTE_BOTTOM, NOTE_NODES = range(3)
"""Fields of a note: the path levels that the answer rests on, and the positions it took."""
NODES, TROUBLE, MET, NOTES, IN_TABLES, POSITION = range(6)
"""Indices into `counts`.

    NODES       positions searched
    TROUBLE     why the search gave up, 0 if it did not
    MET         kinds of ends and repetitions met: bits DRAWS, TIES, REPETITIONS
    NOTES       notes taken
    IN_TABLES   positions found in endgame tables
    POSITION    the position at which it gave up: up to MOST_WORDS words
"""
STOPPED, TOO_DEEP, BROKEN = range(1, 4)
"""Why a search gave up.

    STOPPED     out of time, or node limit reached
    TOO_DEEP    deeper or wider than the path's memory
    BROKEN      rules that return no valid position
"""
DRAWS, TIES, REPETITIONS = 1, 2, 4
"""Bits of what was met: ends that are a draw, ends that are a tie, repetitions."""
NO, YES, OPEN = range(3)
MOST_NOTES = 1 << 16
"""Greatest number of notes; further ones are dropped."""
PATIENCE = 48
"""Visits of a child after which its limits double each time."""
SLACK = 2
"""Limits exceed the disproof number of the second best child by 1/SLACK of it."""


class Path(NamedTuple):
    """The search path from the root to the current question.

    `questions` are those on the path, with the fields `levels` int64[levels, 7]. Their children, level by level, are
    the questions `keys` with the fields `children` int64[n, 5]. `hash_counts` uint16[] counts the path's questions by
    hash, to detect repetitions quickly. `noted` are questions whose answers rest on path levels, with the fields
    `notes` int64[, 3]. Questions are int64[n] or, if positions have several words, int64[n, words].
    """

    questions: Array
    levels: Array
    keys: Array
    children: Array
    hash_counts: Array
    noted: Array
    notes: Array
    counts: Array
    stop: Array
    endgame_tables: int | None


def make_path(game: Game, levels: int, children: int, stop: Array, tables: int | None = None) -> Path:
    """Return the memory for a path of *levels* questions with *children* children in all.

    *stop* and *tables*: the stop flag uint8[1], and the address of endgame tables.
    """
    return Path(
        questions=of_positions(game, levels),
        levels=np.empty((levels, 7), np.int64),
        keys=of_positions(game, children),
        children=np.empty((children, 5), np.int64),
        hash_counts=np.zeros(1 << 14, np.uint16),
        noted=of_positions(game, MOST_NOTES),
        notes=np.empty((MOST_NOTES, 3), np.int64),
        counts=np.zeros(POSITION + MOST_WORDS, np.int64),
        stop=stop,
        endgame_tables=tables,
    )


@lean_kernel
def prove(game, key, nodes, table, path):
    """Return the answer to a question: YES, NO, or OPEN after *nodes* positions or if the search gives up.

    *key* is a question (see `question_of`) about an undecided position. `path.counts` says how many positions this call
    searched, and why it gave up.
    """
    levels, children, counts = path.levels, path.children, path.counts
    path.hash_counts[:] = 0
    counts[NODES] = counts[TROUBLE] = counts[NOTES] = counts[IN_TABLES] = 0
    level, unlimited = ZERO, np.int64(INFINITE)
    push(game, key, level, unlimited, unlimited, table, path)
    while True:
        if counts[TROUBLE]:
            return OPEN
        # Step 1: compute the numbers of the question at the end of the path from those of its children.
        proof, disproof, best, second, others = combine_numbers(level, levels, children)
        # Step 2: a number has reached its limit. Leave the question and write its numbers to the parent's child.
        if proof >= levels[level, PROOF_LIMIT] or disproof >= levels[level, DISPROOF_LIMIT]:
            top, bottom = pop(game, level, proof, disproof, table, path)
            if level == 0:
                return YES if proof == 0 else NO
            level -= 1
            child = levels[level, CHOSEN]
            children[child, PROOF], children[child, DISPROOF] = proof, disproof
            children[child, TOP], children[child, BOTTOM] = top, bottom
            children[child, VISITS] += 1
            continue
        # Step 3: probe the table for the best child: another path may have answered it.
        best_key = position_in(game, path.keys, best)
        child_proof, child_disproof = find(table, best_key)
        if child_proof == 0 or child_disproof == 0:  # answered by now on another path
            children[best, PROOF], children[best, DISPROOF] = child_proof, child_disproof
            continue
        if path.stop[0] or counts[NODES] >= nodes:
            counts[TROUBLE] = STOPPED
            continue
        # Step 4: set the limits of the best child and enter it. Proof and disproof swap between parent and child.
        # *least* is the doubling limit against endless search. The other open children add *others* to the disproof
        # number of this question, so that less of its limit is left for the child.
        least = 1 << min(max(children[best, VISITS] - PATIENCE, 0), NUMBER_BITS)
        disproof_left = levels[level, DISPROOF_LIMIT]
        if disproof_left < INFINITE:
            disproof_left -= others
        proof_limit = max(least, disproof_left)
        disproof_limit = max(least, min(levels[level, PROOF_LIMIT], second + second // SLACK + 1))
        levels[level, CHOSEN] = best
        level += 1
        push(game, best_key, level, min(proof_limit, INFINITE), min(disproof_limit, INFINITE), table, path)


@lean_kernel
def combine_numbers(level, levels, children):
    """Return a question's (proof number, disproof number, best child, second least disproof number of a child, number
    of open children besides one)."""
    # The proof number is the smallest disproof number of a child. The disproof number is the greatest proof number of a
    # child, plus one for each further open child.
    proof = second = INFINITE
    best, widest, others = -1, 0, -1
    for child in range(levels[level, FIRST], levels[level, END]):
        number = children[child, DISPROOF]
        if number < proof:
            proof, second, best = number, proof, child
        elif number < second:
            second = number
        if children[child, PROOF]:
            widest = max(widest, children[child, PROOF])
            others += 1
    # A child with disproof number 0 proves the question.
    if proof == 0:
        return 0, INFINITE, best, second, 0
    # INFINITE - 1 at most: INFINITE would mean that the question is answered.
    others = max(others, 0)
    return proof, min(widest + others, INFINITE - 1), best, second, others


@lean_kernel
def push(game, key, level, proof_limit, disproof_limit, table, path):
    """Append a question to the path, and write the children that may prove it; only one if it proves the question."""
    levels, keys, children, counts = path.levels, path.keys, path.children, path.counts
    position, wins = position_of_question(key), asks_win(key)
    if level == len(levels):
        give_up(TOO_DEEP, position, counts)
        return
    put(path.questions, level, key)
    write_level(level, proof_limit, disproof_limit, levels, counts)
    path.hash_counts[hash_slot(key, path)] += 1
    first = end = levels[level, FIRST]
    for move in game.generate_moves(position):
        if end == len(keys):
            give_up(TOO_DEEP, position, counts)
            return
        child = as_position(game.do_move(position, move))
        if not is_position(child):
            give_up(BROKEN, position, counts)
            return
        # Case: the game is over, or an endgame table knows the value.
        value = value_of(game, child, counts, path.endgame_tables)
        if value == LOSE or (not wins and value in (TIE, DRAW)):
            write_child(children, first, INFINITE, 0, NO_LEVEL, -1)
            levels[level, END] = first + 1
            return
        if value in (WIN, TIE, DRAW):
            continue
        # Case: undecided. Skip a child that an earlier move or its image has given already.
        least, _ = canonical(game, child)
        if is_none(least):
            give_up(BROKEN, position, counts)
            return
        child_key = question_of(least, 1 - wins)
        is_new = True
        for other in range(first, end):
            is_new &= not stands_at(keys, other, child_key)
        if not is_new:
            continue
        # Case: the table has an answer. A disproved child proves the question; a proved child is of no use.
        proof, disproof = find(table, child_key)
        if disproof == 0:
            write_child(children, first, INFINITE, 0, NO_LEVEL, -1)
            levels[level, END] = first + 1
            return
        if proof == 0:
            continue
        # Case: the child stands on the path. It gets the answer against the player who wants to win, which rests on
        # that level.
        own_level = level_of(child_key, level, path)
        put(keys, end, child_key)
        if own_level >= 0:
            counts[MET] |= REPETITIONS
            proof, disproof = (0, INFINITE) if wins else (INFINITE, 0)
            write_child(children, end, proof, disproof, own_level, own_level)
        else:
            # Case: a new child starts with its number of moves.
            if proof == 1 and disproof == 1:
                disproof = count_moves(game, least)
            write_child(children, end, proof, disproof, NO_LEVEL, -1)
        end += 1
    levels[level, END] = end


@lean_kernel
def give_up(trouble, position, counts):
    """Note why the search gives up, and at which position."""
    counts[TROUBLE] = trouble
    put(counts, POSITION, position)


@lean_kernel
def write_level(level, proof_limit, disproof_limit, levels, counts):
    """Write the fields of a new level, whose children will follow those of the level above."""
    counts[NODES] += 1
    first = levels[level - 1, END] if level else 0
    levels[level, FIRST], levels[level, END] = first, first
    levels[level, BEFORE], levels[level, NOTED] = counts[NODES], counts[NOTES]
    levels[level, PROOF_LIMIT], levels[level, DISPROOF_LIMIT] = proof_limit, disproof_limit


@lean_kernel
def value_of(game, position, counts, tables):
    """Return the value of a child by the rules or the endgame tables, or UNDECIDED; note kinds of drawn ends."""
    value = whole(game.primitive(position))
    if value == UNDECIDED:
        worth = probe_tables(game, position, BASE, tables)
        if worth != UNKNOWN:
            counts[IN_TABLES] += 1
            if worth == DRAWN:
                value = whole(DRAW)
            elif worth == 0:
                value = whole(TIE)
            else:
                value = whole(WIN if worth > 0 else LOSE)
    if value == TIE:
        counts[MET] |= TIES
    elif value == DRAW:
        counts[MET] |= DRAWS
    return value


@lean_kernel
def count_moves(game, position):
    """Return the number of moves of a position; 1 if it has none."""
    count = 0
    for _ in game.generate_moves(position):
        count += 1
    return max(count, 1)


@lean_kernel
def write_child(children, child, proof, disproof, top, bottom):
    """Write the fields of a child that was not searched yet."""
    children[child, PROOF], children[child, DISPROOF] = proof, disproof
    children[child, TOP], children[child, BOTTOM], children[child, VISITS] = top, bottom, 0


@lean_kernel
def pop(game, level, proof, disproof, table, path):
    """Remove the last question from the path and store its numbers; return the (top, bottom) level they rest on."""
    # Step 1: take the question off the path.
    key, nodes = position_in(game, path.questions, level), path.counts[NODES] - path.levels[level, BEFORE]
    path.hash_counts[hash_slot(key, path)] -= 1
    # Step 2: settle the notes taken below it. If the answer is that a win is not forced, it confirms those that took
    # this for granted, because they met the question again.
    top, bottom = support_of(level, proof, disproof, path)
    no_win = disproof == 0 if asks_win(key) else proof == 0
    settle_notes(game, level, no_win, top, table, path)
    # Step 3: numbers that rest on no level above go to the table: answers, and the numbers of open questions.
    if top >= level:
        store(table, key, proof, disproof, nodes)
        return NO_LEVEL, -1
    # Step 4: any other answer holds only on this path and becomes a note. It rests on levels above this one, since what
    # rests on this one is settled now.
    bottom = min(bottom, level - 1)
    add_note(path, key, top, bottom, nodes)
    return top, bottom


@lean_kernel
def support_of(level, proof, disproof, path):
    """Return (top, bottom), the path levels nearest to and farthest from the root that a question's answer rests on.
    (NO_LEVEL, -1) if it rests on none; an open question rests on none."""
    children, top, bottom = path.children, NO_LEVEL, -1
    # Case: a proof needs one child. Choose the one that rests on the levels farthest from the root.
    if proof == 0:
        top = -1  # below any level
        for child in range(path.levels[level, FIRST], path.levels[level, END]):
            if children[child, DISPROOF] == 0 and children[child, TOP] > top:
                top, bottom = children[child, TOP], children[child, BOTTOM]
    # Case: a disproof needs all children, so it rests on what any of them rests on.
    elif disproof == 0:
        for child in range(path.levels[level, FIRST], path.levels[level, END]):
            top, bottom = min(top, children[child, TOP]), max(bottom, children[child, BOTTOM])
    return top, bottom


@lean_kernel
def add_note(path, key, top, bottom, nodes):
    """Note that a win is not forced, an answer that rests on path levels; drop it if the notes are full."""
    i = path.counts[NOTES]
    if i < len(path.notes):
        put(path.noted, i, key)
        path.notes[i, NOTE_TOP], path.notes[i, NOTE_BOTTOM], path.notes[i, NOTE_NODES] = top, bottom, nodes
        path.counts[NOTES] = i + 1


@lean_kernel
def settle_notes(game, level, no_win, top, table, path):
    """Keep, store or drop the notes taken below a level that the search leaves.

    *no_win*: the answer at the level is that a win is not forced, and it rests on levels from *top* on. Each note says
    the same of another question.
    """
    notes, end = path.notes, path.levels[level, NOTED]
    for i in range(end, path.counts[NOTES]):
        # Case: the note and the answer rest on nothing above this level. The note becomes an answer; that a win is not
        # forced is a disproof of "does the player to move win?", and a proof of "does the player to move not lose?".
        if no_win and notes[i, NOTE_TOP] >= level and top >= level:
            key = position_in(game, path.noted, i)
            wins = asks_win(key)
            store(table, key, wins * INFINITE, (1 - wins) * INFINITE, notes[i, NOTE_NODES])
            continue
        # Case: the note rests on this level, whose answer is another one. Drop the note.
        if notes[i, NOTE_BOTTOM] >= level and not no_win:
            continue
        # Case: the note rests on this level and on levels above. From now on it rests on what this level rests on.
        if notes[i, NOTE_BOTTOM] >= level:
            notes[i, NOTE_BOTTOM] = level - 1
            notes[i, NOTE_TOP] = min(notes[i, NOTE_TOP], top)
        # Keep the note: move it down over the removed ones.
        put(path.noted, end, position_in(game, path.noted, i))
        for field in range(3):
            notes[end, field] = notes[i, field]
        end += 1
    path.counts[NOTES] = end


@lean_kernel
def level_of(key, level, path):
    """Return the level of a question on the path, at most *level*; −1 if it is not on the path."""
    if path.hash_counts[hash_slot(key, path)]:
        for i in range(level, -1, -1):
            if stands_at(path.questions, i, key):
                return i
    return -1


@lean_kernel
def hash_slot(key, path):
    """Return the index of a question in `hash_counts`."""
    return hash_of(key_of(key), HASH_BITS) & (len(path.hash_counts) - 1)
