"""Retrograde analysis of a chess tier by distance to zeroing (see `games/contract/zeroing.py`).

Captures, promotions and all other moves of pawns start the count of the fifty-move rule again. So within a tier only
men other than pawns move. Pawns only go forward, so positions are solved in *levels*, by the number of steps that all
pawns have taken, the most advanced first:

    level     positions from which pawns stand as far ──steps of pawns──> levels before
    in one    won by now ──lead_to──> perhaps lost in 1 more ──take_out──> lost by now ──lead_to──> won in 1 more …

What zeroing moves bring is known before a level begins. Such a move counts 1 ply, or 101 if the fifty-move rule turns
its result into a draw. A position with en passant is worth the better of the capture and the position without the
right, once its level is done.

Steps, of `analysed`:

    1. laid_out     legal positions, captures and promotions, positions with en passant
    2. begin        a level: the wins and losses that zeroing moves bring there
    3. play_out     the level, ply by ply, for both sides that may win
    4. settle       its positions with en passant
    5. hand_down    what steps of pawns to this level bring to the next ones
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import methodcaller
from typing import Any

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.games.contract.game import LOSE, WIN
from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.methods.chess import kernels, passing_kernels, zeroing_kernels
from retrograde.solver.methods.chess.fit import BITS
from retrograde.solver.methods.chess.formation import Formation, Men, geometry
from retrograde.solver.methods.chess.passing import Passed, Passing, Pawns, bits_at, nowhere
from retrograde.solver.methods.chess.slot_kernels import EMPTY
from retrograde.solver.methods.chess.tiers import Departures, Map, Tell, TooDeep, collected
from retrograde.solver.methods.chess.words import EVERYTHING
from retrograde.solver.methods.chess.zeroing_kernels import LOSES, LOSES_LATE, LOST, SAVES, WINS, WINS_LATE
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, WIN_CLASS, encode

Array = np.ndarray[Any, Any]
Analysed = tuple[list[Array], dict[int, Pawns]]
"""The codes of all positions by side to move, and the positions with en passant, by pawn."""
Analyse = Callable[[Formation, Callable[[int], Array], Map, Tell], Analysed]
"""A function with the signature of `analysed`."""

DEEPEST = 254
"""The greatest number of plies that fits into a byte."""
SOON, LATE = 1, PATIENCE + 1
"""Plies that a zeroing move counts: normally, and where the fifty-move rule makes its result a draw."""
NOBODY = 2
"""The side of men that do not move."""


def solve_tier(
    formation: Formation, scores_of: Callable[[int], Array], scores: Array, run: Map, tell: Tell,
    analyse: Analyse | None = None,
) -> Array:  # fmt: skip
    """Write the scores of all slots of a tier, and return their counts, as `tiers.solve_tier` does.

    The plies of all scores are those to zeroing; or another metric's, if a function is given to *analyse* the tier.
    Raises TooDeep.
    """
    if not formation.codes:
        return collected(formation, [np.zeros(formation.pairs, np.uint8)], scores, {}, table_of_scores())
    known, pawns = (analyse or analysed)(formation, scores_of, run, tell)
    return collected(formation, known, scores, pawns, table_of_scores())


def analysed(formation: Formation, scores_of: Callable[[int], Array], run: Map, tell: Tell) -> Analysed:
    """Analyse a tier by distance to zeroing."""
    sides, passed = laid_out(formation, scores_of, run, codes_of_scores(PATIENCE))
    decided = 0
    # Steps 2 to 5, level by level.
    for level in levels(formation):
        mask = positions_in(formation, level)
        begin(formation, sides, passed, mask)
        still, nothing = but_pawns(formation.men), nowhere(formation)
        roles = [Role(still, sides[side], sides[1 - side], nothing, nothing) for side in (0, 1)]
        decided = play_out(roles, run, tell, decided)
        for each, mover, other in zip(passed, reversed(sides), sides, strict=True):
            settle(each, mover, other, mask)
            hand_down(formation, each, mover, other, mask)
    del roles, mask  # frees memory
    return known_of(sides, passed)


def laid_out(
    formation: Formation, scores_of: Callable[[int], Array], run: Map, table: Array
) -> tuple[list["Side"], list[Passed]]:
    """Return what is known before the analysis: both sides to move, and the positions with en passant.

    *table* has the code of each score of a later tier.
    """
    departing = Departures(formation, scores_of, table)
    sides = list(run(partial(Side, formation, departing), (0, 1)))
    return sides, [Passed(formation, departing, side, sides[1 - side]) for side in (0, 1)]


def begin(formation: Formation, sides: list["Side"], passed: list[Passed], mask: Array | np.uint64) -> None:
    """Start the analysis of the positions in *mask*. All results that moves to other positions bring are known."""
    for side in sides:
        side.begin(mask)
    for each, mover, other in zip(passed, reversed(sides), sides, strict=True):
        each.find_stuck(formation, mover, other)


def play_out(roles: Sequence["Role"], run: Map, tell: Tell, before: int = 0) -> int:
    """Run both roles until they find nothing more. Return how many positions are decided, plus *before*."""
    under_way = roles
    while under_way:
        under_way = [
            role for role, more in zip(under_way, list(run(methodcaller("step"), under_way)), strict=True) if more
        ]
        tell(before + sum(role.decided for role in roles), max(role.plies for role in roles))
    return before + sum(role.decided for role in roles)


def known_of(sides: list["Side"], passed: list[Passed]) -> Analysed:
    """Return the results of the analysis, and free the rest."""
    for side in sides:
        side.let_go()
    pawns = {man: found for each in passed for man, found in each.pawns.items()}
    return [side.codes() for side in sides], pawns


class Side:
    """Codes and sets of the positions with one side to move.

    `known` uint8[positions] is one more than the plies, 0 for undecided. Sets are uint64[words]: `unwon`, legal and not
    won; `unlost`, those that may still become losses; `checked`, in check.
    """

    def __init__(self, formation: Formation, departing: Departures, side: int):
        words, self.number = formation.words, side
        self.known = np.empty(64 * words, np.uint8)
        self.unwon, self.checked, self.unlost, delayed = (np.empty(words, np.uint64) for _ in range(4))
        self.brought: Array = np.zeros((5, words), np.uint64)
        """From where some zeroing move brings each kind of result: see `zeroing_kernels`."""
        men, board = formation.men, geometry()
        kernels.lay_out(men, board, side, self.unwon, self.checked)
        kernels.leave(
            men, board, side, self.unwon, departing.codes, departing.starts, departing.with_pawns, departing.orders,
            self.known, self.brought[SAVES], delayed, np.zeros(64, np.int64), np.zeros(4, np.int64),
        )  # fmt: skip
        zeroing_kernels.sort_out(self.known, self.brought)

    def begin(self, mask: Array | np.uint64) -> None:
        """Start a level with the results of its zeroing moves."""
        brought, here = self.brought, self.unwon & mask
        safe = brought[WINS] | brought[WINS_LATE] | brought[SAVES]
        self.won_by = {SOON: brought[WINS] & here, LATE: brought[WINS_LATE] & ~brought[WINS] & here}
        # A loss needs all zeroing moves to lose; the latest of them counts.
        here &= ~safe
        self.lost_by = {SOON: brought[LOSES] & ~brought[LOSES_LATE] & here, LATE: brought[LOSES_LATE] & here}
        self.unlost = here & ~(brought[LOSES] | brought[LOSES_LATE])

    def let_go(self) -> None:
        """Free the arrays that only the analysis needs."""
        nothing = np.empty(0, np.uint64)
        self.brought, self.checked, self.unlost = nothing, nothing, nothing
        self.won_by, self.lost_by = dict[int, Array](), dict[int, Array]()

    def codes(self) -> Array:
        """Return the codes for `table_of_scores`, uint16."""
        found = np.empty(len(self.known), np.uint16)
        zeroing_kernels.tell_apart(self.known, self.unwon, found)
        return found


class Role:
    """The search for the wins of one side in one level.

    *men* are those that move within it. *passing* and *passing_by_loser* are the pawns of the winner and of the loser
    that may be captured en passant.
    """

    def __init__(self, men: Men, winner: Side, loser: Side, passing: Passing, passing_by_loser: Passing):
        self.men, self.winner, self.loser = men, winner, loser
        self.passing, self.passing_by_loser = passing, passing_by_loser
        self.plies = 0
        self.winning, self.losing, self.won, self.lost = np.zeros((4, len(winner.unwon)), np.uint64)
        self.losing[:] = loser.checked
        self.found_lost = self.lose()
        self.found_won, self.decided = 0, self.found_lost
        self.due = {plies for plies in (SOON, LATE) if winner.won_by[plies].any() or loser.lost_by[plies].any()}

    def step(self) -> bool:
        """Find the wins and the losses that take one ply more. Return whether to go on."""
        # Step 1: the next number of plies; skip to the next zeroing results if the last step found nothing.
        if self.found_won or self.found_lost:
            self.plies += 1
        elif self.due:
            self.plies = min(self.due)
        else:
            return False
        if self.plies > DEEPEST:
            raise TooDeep
        board, winner, loser = geometry(), self.winner, self.loser
        # Step 2: candidates are the predecessors of what was found last, and the zeroing results due now.
        if self.found_lost:
            kernels.lead_to(self.men, board, winner.number, self.passing, self.lost, self.winning)
        if self.found_won:
            kernels.lead_to(self.men, board, loser.number, self.passing_by_loser, self.won, self.losing)
        if self.plies in self.due:
            self.due.remove(self.plies)
            self.winning |= winner.won_by[self.plies]
            self.losing |= loser.lost_by[self.plies]
            loser.unlost |= loser.lost_by[self.plies]
        # Step 3: decide the candidates.
        self.found_lost = self.lose()  # before `decide` removes the new wins from `unwon`, which `lose` looks at
        self.found_won = int(kernels.decide(self.winning, winner.unwon, self.won, winner.known, self.plies + 1))
        self.decided += self.found_won + self.found_lost
        return True

    def lose(self) -> int:
        """Decide which candidates are lost by now. Return how many."""
        loser = self.loser
        kernels.keep_common(self.losing, loser.unlost)
        passing, open_ = self.passing_by_loser, self.winner.unwon
        kernels.take_out(self.men, geometry(), loser.number, passing, open_, self.losing)
        return int(kernels.decide(self.losing, loser.unlost, self.lost, loser.known, self.plies + 1))


# Between levels


def levels(formation: Formation) -> list[int]:
    """Return the numbers of steps that all pawns together may have taken, the greatest first."""
    pawns = int((formation.men.kinds == PAWN).sum())
    return [*range(5 * pawns, -1, -1)]


def positions_in(formation: Formation, level: int) -> Array:
    """Return the positions in which all pawns together have taken *level* steps, uint64[words]."""
    kinds, sides = formation.men.kinds.tolist(), formation.men.sides.tolist()
    rests = np.arange(formation.inner >> 6)
    # `taken` are the steps of the outer pawns, by rest. Bits 3 to 5 of a square are its rank.
    taken = np.zeros(len(rests), np.int64)
    for man in range(len(kinds) - 1):
        if kinds[man] == PAWN:
            rank = rests >> 6 * (len(kinds) - 2 - man) + 3 & 7
            taken += rank - 1 if sides[man] == 0 else 6 - rank
    if kinds[-1] != PAWN:
        words = np.where(taken == level, EVERYTHING, np.uint64(0))
    else:
        # If the last man is a pawn, he has taken the other steps: his squares are one rank.
        left = level - taken
        rank = left + 1 if sides[-1] == 0 else 6 - left
        on_rank = np.uint64(0xFF) << (8 * np.clip(rank, 0, 7)).astype(np.uint64)
        words = np.where((left >= 0) & (left <= 5), on_rank, np.uint64(0))
    return np.tile(words, formation.pairs)


def hand_down(formation: Formation, passed: Passed, mover: Side, other: Side, mask: Array) -> None:
    """Record what steps of pawns to positions of this level bring to positions of the next levels.

    The pawns are those of *passed*, of the side *other*; *mover* is the side to move after the step.
    """
    men = pawns_alone(formation.men, other.number)
    if not (men.sides == other.number).any():
        return
    reached = np.empty(formation.words, np.uint64)
    for brings in range(len(other.brought)):
        zeroing_kernels.find_bringing(mover.known, mover.unwon, mask, brings, reached)
        kernels.lead_to(men, geometry(), other.number, passed.passing, reached, other.brought[brings])


def settle(passed: Passed, mover: Side, other: Side, mask: Array) -> None:
    """Decide the positions with en passant in a level, and record what the double step before brings."""
    for pawns in passed.pawns.values():
        here = np.flatnonzero(bits_at(mask, pawns.spots)).astype(np.int64)
        worths = WORTHS[pawns.codes[here]]
        spots = pawns.spots[here]
        codes = mover.known[spots].astype(np.int64)
        codes += LOST * (bits_at(mover.unwon, spots) & (codes > 0))
        # Without another move only the captures count, else the better of both.
        worths = np.where(pawns.stuck[here], worths, np.maximum(worths, worth_of(codes)))
        pawns.values[here] = code_of(worths)
        # The double step before is a pawn's move, so for the other side it is a zeroing move with this result.
        for brings, (least, most) in BROUGHT.items():
            some = here[(worths >= least) & (worths <= most)]
            passing_kernels.put(pawns.parents, some, len(some), other.brought[brings])


DRAWN, WON = 500, 1000
"""The worth of a draw; a win is WON less its plies, a loss just its plies."""
BROUGHT = {
    WINS: (0, PATIENCE),
    WINS_LATE: (PATIENCE + 1, DRAWN - 1),
    SAVES: (DRAWN, DRAWN),
    LOSES_LATE: (DRAWN + 1, WON - PATIENCE - 1),
    LOSES: (WON - PATIENCE, WON),
}
"""What a zeroing move brings, by the least and the greatest worth of the position it leads to.

That worth is for the side to move there.
"""
WORTHS = np.full(256, DRAWN)
WORTHS[[2, LATE + 1, 3, LATE + 2]] = WON - SOON, WON - LATE, SOON, LATE
"""The worth of captures, by their codes as `kernels.leave` writes them."""


def worth_of(codes: Array) -> Array:
    """Return the worth of positions by their codes, as `Side.codes` gives them."""
    plies = (codes & LOST - 1) - 1
    return np.where(codes == 0, DRAWN, np.where(codes >= LOST, plies, WON - plies))


def code_of(worths: Array) -> Array:
    """Return the codes for these worths, uint16."""
    won, lost = WON - worths + 1, LOST + worths + 1
    return np.where(worths == DRAWN, 0, np.where(worths > DRAWN, won, lost)).astype(np.uint16)


# Men and codes


def but_pawns(men: Men) -> Men:
    """Return the Men with pawns that do not move."""
    return men._replace(sides=np.where(men.kinds == PAWN, NOBODY, men.sides))


def pawns_alone(men: Men, side: int) -> Men:
    """Return the Men of whom only one side's pawns move."""
    moves = (men.kinds == PAWN) & (men.sides == side)
    return men._replace(sides=np.where(moves, side, NOBODY), walks=np.full_like(men.walks, -1))


@cache
def codes_of_scores(late: int) -> Array:
    """Return the code that each score of a later tier counts for the side that moves there, uint8[65536].

    If the fifty-move rule makes the result a draw, it counts *late* plies more: PATIENCE, or 0 without that rule. From
    these codes `kernels.leave` makes 2 or 102 for a win (in 1 or 101), and 3 or 103 for a loss.
    """
    table, plies = np.full(1 << BITS + 2, EMPTY, np.uint8), np.arange(1 << BITS)
    more = np.where(plies > PATIENCE, late, 0)
    table[(LOSE_CLASS << BITS) + plies] = more + 1
    table[(WIN_CLASS + 1 << BITS) - 1 - plies] = more + 2
    table[DRAW_CLASS << BITS] = 0
    return table


@cache
def table_of_scores() -> Array:
    """Return the score of each code, uint16[512]: 0 is a draw, else plies + 1, plus LOST for losses."""
    draw = DRAW_CLASS << BITS
    won, lost = ([draw, *(encode(value, code - 1, BITS) for code in range(1, 256))] for value in (WIN, LOSE))
    return np.array(won + lost, np.uint16)
