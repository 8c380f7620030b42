"""Retrograde analysis of a chess tier, with sets of positions instead of single ones (after L. Stiller).

All positions lost in the same number of plies form one set. One pass over the words of a set finds the next set:

    mated ──lead_to──> won in 1 ──lead_to──> perhaps lost in 2 ──take_out──> lost in 2 ──lead_to──> won in 3 …
                       ^ captures and promotions that win so soon    ^ and those that lose no later

Steps, of `solve_tier`:

    1. Departures   load the scores of all later tiers that captures and promotions lead to
    2. Side         for each side to move, find the legal positions and the result of their best capture or promotion
    3. Passed       list the positions in which a pawn can be captured en passant
    4. Role         for each side that may win, find sets of wins and losses ply by ply, until no set is found and
                    no capture or promotion is still to count
    5. collected    translate codes of positions into scores of slots, and count them

A code is 0 for a draw, else one more than the plies to mate: 1 is mated, even codes are wins, odd ones losses.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import numpy as np

from retrograde.games.chess.men import BLACK, PAWN
from retrograde.games.contract.game import DRAW, LOSE, WIN
from retrograde.solver.methods.chess import kernels, slot_kernels
from retrograde.solver.methods.chess.fit import BITS
from retrograde.solver.methods.chess.formation import (
    Codes,
    Formation,
    Men,
    arrangement,
    departures,
    geometry,
    groups_of,
    has_pawns,
    later,
    men_of,
    pairs_of_kings,
    positions_of,
    ways_to_stand,
)
from retrograde.solver.methods.chess.passing import Passed, Pawns, slots_of
from retrograde.solver.methods.chess.slot_kernels import EMPTY, STORED
from retrograde.solver.methods.chess.words import EVERYTHING
from retrograde.solver.values.score import DRAW_CLASS, EMPTY_PLIES, LOSE_CLASS, WIN_CLASS, encode

Array = np.ndarray[Any, Any]
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Calls a function for each item, on threads."""
Tell = Callable[[int, int], object]
"""Reports progress: positions decided so far, and the remoteness of those decided last."""

DEEPEST, DEEPEST_LATER = 255, 252
"""The greatest code (plies to mate + 1) of the tier itself, and of a later tier that a move leads to."""

PART = 1 << 24
"""Codes checked at a time, so that the temporary arrays stay small."""
IMAGES = 16, 4
"""Positions that a slot stands for, in both pairs of colours: without pawns, and with pawns."""


class TooDeep(Exception):
    """A mate takes more plies than fit into a byte."""


def solve_tier(formation: Formation, scores_of: Callable[[int], Array], scores: Array, run: Map, tell: Tell) -> Array:
    """Write the scores of all slots of a tier, uint16, and return their counts, int64[n, 5].

    `scores_of` returns the scores of a later tier, by its number. A row of the counts has the part (the side to move),
    a score, the number of slots with it, the number of positions these stand for, and the first such slot. Raises
    TooDeep.
    """
    if not formation.codes:
        return collected(formation, [np.zeros(formation.pairs, np.uint8)], scores, {}, table_of_scores())
    known, pawns = analysed(formation, scores_of, run, tell)
    return collected(formation, known, scores, pawns, table_of_scores())


def analysed(
    formation: Formation, scores_of: Callable[[int], Array], run: Map, tell: Tell
) -> tuple[list[Array], dict[int, Pawns]]:
    """Analyse a tier. Return the codes of all positions by side to move, and the positions with en passant by pawn.

    All other arrays are freed.
    """
    departing = Departures(formation, scores_of, codes_of_scores())
    # Steps 2 and 3: legal positions, captures, and en passant.
    sides = list(run(partial(Side, formation, departing), (0, 1)))
    passed = [Passed(formation, departing, side, sides[1 - side]) for side in (0, 1)]
    if any(each.greatest > DEEPEST for each in passed):
        raise TooDeep
    del departing
    for each, mover, other in zip(passed, reversed(sides), sides, strict=True):
        each.find_stuck(formation, mover, other)
    # Step 4: both roles advance ply by ply, in parallel.
    roles = [Role(formation, sides[side], sides[1 - side], passed[side], passed[1 - side]) for side in (0, 1)]
    under_way = roles
    while under_way:
        under_way = [role for role, more in zip(under_way, list(run(Role.step, under_way)), strict=True) if more]
        tell(sum(role.decided for role in roles), max(role.remoteness for role in roles))
    # Clear the codes of losing captures where another move does not lose. Both roles write to `known`, so this waits
    # until both are done.
    for side in sides:
        kernels.forget(side.known, side.unlost)
    return [side.known for side in sides], {man: found for each in passed for man, found in each.pawns.items()}


class Side:
    """Codes and sets of the positions with one side to move.

    `known` uint8[positions]: codes. Sets, uint64[words]: `unwon`, legal positions not yet won; `unlost`, those that may
    become losses by moves within the tier; `mates`, those in check with no capture or promotion, the first candidates.
    `wins_due` and `losses_due` uint8[words]: see `kernels.fall_due`.
    """

    def __init__(self, formation: Formation, departing: "Departures", side: int):
        words, self.number = formation.words, side
        self.known = np.empty(64 * words, np.uint8)
        self.unwon, checked, saved, delayed = (np.empty(words, np.uint64) for _ in range(4))
        self.wins_due, self.losses_due = np.empty((2, words), np.uint8)
        men, board = formation.men, geometry()
        kernels.lay_out(men, board, side, self.unwon, checked)
        kernels.leave(
            men, board, side, self.unwon, departing.codes, departing.starts, departing.with_pawns, departing.orders,
            self.known, saved, delayed, np.zeros(64, np.int64), np.zeros(4, np.int64),
        )  # fmt: skip
        self.greatest_due = kernels.find_due(self.known, self.wins_due, self.losses_due)
        if self.greatest_due > DEEPEST:
            raise TooDeep
        self.unlost = self.unwon & ~saved & ~delayed
        self.mates = checked & self.unlost


class Role:
    """The search for the wins of one side, *winner*, and the losses of the other, *loser*.

    *passed* are the positions in which the loser may capture a pawn of the winner en passant, *passed_by_loser* those
    in which the winner may capture one of the loser's.
    """

    def __init__(self, formation: Formation, winner: Side, loser: Side, passed: Passed, passed_by_loser: Passed):
        self.men, self.winner, self.loser = formation.men, winner, loser
        self.passed, self.passed_by_loser = passed, passed_by_loser
        self.code = 1
        """The code of the losses searched last; always odd."""
        self.remoteness = 0
        """The plies to mate of the positions found last."""
        # The greatest code that a capture or promotion brings: the search cannot end before.
        self.last = max(winner.greatest_due, loser.greatest_due, passed.greatest, passed_by_loser.greatest)
        self.candidates, self.won, self.lost = np.zeros((3, formation.words), np.uint64)
        self.candidates[:] = loser.mates
        self.found = self.decided = self.lose()

    def step(self) -> bool:
        """Find the wins one ply longer than the last losses, then the losses one ply longer than these wins.

        Returns whether to go on.
        """
        men, board, winner, loser = self.men, geometry(), self.winner, self.loser
        # Step 1: candidates for wins are all positions with a move to a position that was lost last.
        if self.found:
            kernels.lead_to(men, board, winner.number, self.passed.passing, self.lost, self.candidates)
            # Only a candidate that is not won yet is too deep.
            if self.code + 2 > DEEPEST:
                kernels.keep_common(self.candidates, winner.unwon)
                self.found = int(self.candidates.any())
        if not self.found and self.code >= self.last:
            return False
        if self.code + 2 > DEEPEST:
            raise TooDeep
        # Step 2: add the wins by a capture or promotion, and decide all candidates. `decide` overwrites `self.won`,
        # which is only a scratch set for `fall_due`.
        kernels.fall_due(winner.known, winner.wins_due, self.code + 1, self.won, self.candidates)
        won = kernels.decide(self.candidates, winner.unwon, self.won, winner.known, self.code + 1)
        won += self.passed_by_loser.win(self.code + 1, self.won, self.candidates)
        self.code += 2
        # Step 3: candidates for losses are all positions with a move to a position won just now, and those whose last
        # losing capture or promotion counts now.
        if won:
            self.remoteness = self.code - 2
            kernels.lead_to(men, board, loser.number, self.passed_by_loser.passing, self.won, self.candidates)
        kernels.fall_due(loser.known, loser.losses_due, self.code, loser.unlost, self.candidates)
        # Step 4: keep the candidates that have no better move.
        self.found = self.lose() if won or self.candidates.any() or self.passed.pawns else 0
        if self.found:
            self.remoteness = self.code - 1
        self.decided += won + self.found
        return True

    def lose(self) -> int:
        """Decide which candidates are lost. Return how many."""
        loser = self.loser
        # A candidate is lost if no move leads to a position that is not yet won by the opponent.
        kernels.keep_common(self.candidates, loser.unlost)
        kernels.take_out(
            self.men, geometry(), loser.number, self.passed_by_loser.passing, self.winner.unwon, self.candidates
        )
        lost = int(kernels.decide(self.candidates, loser.unlost, self.lost, loser.known, self.code))
        return lost + self.passed.lose(self.code, self.lost, self.candidates)


# Later tiers


class Departures:
    """The codes of all later tiers that captures and promotions lead to, in the layout of `kernels.leave`."""

    def __init__(self, formation: Formation, scores_of: Callable[[int], Array], table: Array):
        """Load them.

        *table* uint8[65536] has the code of each score of a later tier, EMPTY for no position. Raises TooDeep.
        """
        count = len(formation.codes)
        self.starts = np.full((count + 1, 4 * count + 1), -1, np.int64)
        self.with_pawns = np.zeros_like(self.starts)
        self.orders = np.full((*self.starts.shape, count), -1, np.int64)
        # Several captures may lead to the same men with the same side to move: their codes are loaded once.
        begins: dict[tuple[Codes, int], int] = {}
        end = 0
        for captured, change, order, left, turn in departures(formation.codes):
            if (left, turn) not in begins:
                begins[left, turn] = end
                end += positions_of(left)
            self.starts[captured + 1, change] = begins[left, turn]
            self.with_pawns[captured + 1, change] = has_pawns(left)
            self.orders[captured + 1, change, : len(order)] = order
        self.codes = np.empty(end, np.uint8)
        for (left, turn), begin in begins.items():
            expand(left, turn, scores_of, table, self.codes[begin : begin + positions_of(left)])
        # Codes between DEEPEST_LATER and EMPTY are marks of scores that are too deep.
        for part in (self.codes[first : first + PART] for first in range(0, end, PART)):
            if ((part > DEEPEST_LATER) & (part < EMPTY)).any():
                raise TooDeep


def expand(codes: Codes, turn: int, scores_of: Callable[[int], Array], table: Array, found: Array) -> None:
    """Write the codes of all positions of a later tier with one side to move, uint8[pairs * inner].

    Men are in the order of *codes*, like men told apart.
    """
    tier, own, exchanged, order = later(codes)
    there = turn ^ exchanged[turn]
    slot_kernels.expand(
        geometry(), pairs_of_kings(has_pawns(codes)), scores_of(tier), table,
        np.array([code & 7 for code in own], np.int64), ways_of_groups(own), arrangement(own).kept, order[turn], there,
        exchanged[turn], int(has_pawns(codes)), legal_positions(men_of(codes), turn), found, np.zeros(3, np.int64),
    )  # fmt: skip


def legal_positions(men: Men, turn: int) -> Array:
    """Return the legal positions of the men with one side to move, as a set."""
    if not len(men.kinds):
        return np.full(-(-len(men.squares) // 64), EVERYTHING, np.uint64)
    words = np.empty(len(men.squares) * len(men.rests.bits), np.uint64)
    kernels.lay_out(men, geometry(), turn, words, np.empty_like(words))
    return words


def ways_of_groups(codes: Codes) -> Array:
    """Return the number of placements of each man's group, int64[men]; 1 for a man like the one before him."""
    ways = []
    for group in groups_of(codes):
        ways += [len(ways_to_stand(codes[group[0]] & 7 == PAWN, len(group))), *[1] * (len(group) - 1)]
    return np.array(ways, np.int64)


@cache
def codes_of_scores() -> Array:
    """Return the code of each score, uint8[65536]. Codes above DEEPEST_LATER mark scores that are too deep."""
    table, plies = np.full(1 << BITS + 2, EMPTY, np.uint8), np.arange(1 << BITS)
    # 253 or 254 for too deep, of the right parity; EMPTY stays for what is no position.
    codes = np.minimum(plies + 1, DEEPEST_LATER + 1 + plies % 2)
    table[(LOSE_CLASS << BITS) + plies] = codes
    table[(WIN_CLASS + 1 << BITS) - 1 - plies] = codes
    table[DRAW_CLASS << BITS] = 0
    return table


# Slots


def collected(formation: Formation, known: list[Array], scores: Array, pawns: dict[int, Pawns], table: Array) -> Array:
    """Write the scores of all slots and return their counts, as `solve_tier` does.

    *known* has the codes by side to move; its arrays are freed one by one. *pawns* has the positions with en passant,
    by pawn. *table* has the score of each code.
    """
    places, kept = arrangement(formation.codes)
    empty = scores.dtype.type(DRAW_CLASS << BITS | EMPTY_PLIES)
    squares, numbers = formation.men.squares, geometry().kings[4096 * formation.has_pawns :]
    diagonal = numbers[squares[:, 0] << 6 | squares[:, 1]] & 8 != 0
    turns = 2 - formation.is_symmetric
    size = len(places) * formation.pairs
    rows = []
    for turn in range(turns):
        counts, begin = np.zeros((len(table), 3), np.int64), turn * size
        slot_kernels.collect(
            known[turn], legal_positions(formation.men, turn), diagonal, places, kept, formation.inner, table, empty,
            IMAGES[formation.has_pawns], begin, scores[begin : begin + size], counts,
        )  # fmt: skip
        known[turn] = np.empty(0, np.uint8)  # frees memory for the scores of the other side
        there = np.flatnonzero(counts[:, STORED])
        rows.append(np.column_stack([np.full(len(there), turn), table[there].astype(np.int64), counts[there]]))
    # Slots with en passant rights come after all others.
    passed = scores[turns * size :].reshape(turns, -1)
    passed[:] = empty
    for man, each in pawns.items():
        if not formation.is_symmetric or formation.codes[man] & BLACK:
            passed.reshape(-1)[slots_of(formation, man, each)] = table[each.values]
    for turn, part in enumerate(passed):
        there, first, stored = (column.astype(np.int64) for column in np.unique(part, True, return_counts=True))
        first += turns * size + turn * len(part)
        columns = np.full(len(there), turns + turn), there, stored, IMAGES[True] * stored, first
        rows.append(np.column_stack(columns)[there != empty])
    found = np.concatenate(rows)
    return found[np.lexsort((found[:, 1], found[:, 0]))]


@cache
def table_of_scores() -> Array:
    """Return the score of each code of a tier, uint16[256]."""
    return np.array([score_of(code) for code in range(256)], np.uint16)


def score_of(code: int) -> int:
    """Return the score of a code of a tier."""
    if code == 0:
        return encode(DRAW, 0, BITS)
    return encode(LOSE if code & 1 else WIN, code - 1, BITS)
