"""Retrograde analysis of a tier of chess by distance to zeroing, set by set (see `games/contract/zeroing.py`).

Captures, promotions and all other moves of pawns start the count anew, so that within a tier men but pawns move. Pawns
only go forward: positions are solved in *levels*, by how many steps all pawns have taken, those with the most first.

    level     positions from which pawns stand as far ──steps of pawns──> levels before
    in one    won by now ──lead_to──> perhaps lost in 1 more ──take_out──> lost by now ──lead_to──> won in 1 more …

What moves that zero bring is known before a level begins, and counts 1 ply, or 101 where the fifty-move rule makes a
draw of it. Where a pawn may be captured en passant, the position is worth the better of that and of the one without the
right, once its level is done.
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
"""The codes of all positions with either side to move, and what may be captured en passant, by the man who may be."""
Analyse = Callable[[Formation, Callable[[int], Array], Map, Tell], Analysed]
"""As `analysed`."""

DEEPEST = 254
"""The most plies that a byte can tell."""
SOON, LATE = 1, PATIENCE + 1
"""Plies that a zeroing move counts: where its value holds, and where the fifty-move rule makes it a draw."""
NOBODY = 2
"""The side of men who do not move."""


def solve_tier(
    formation: Formation, scores_of: Callable[[int], Array], scores: Array, run: Map, tell: Tell,
    analyse: Analyse | None = None,
) -> Array:  # fmt: skip
    """Write the scores of all slots of a tier, and return how often each is there, as `tiers.solve_tier` does with
    distances to mate; the plies of all scores are those to zeroing, or as another function *analyses* the tier.
    Raises TooDeep."""
    if not formation.codes:
        return collected(formation, [np.zeros(formation.pairs, np.uint8)], scores, {}, table_of_scores())
    known, pawns = (analyse or analysed)(formation, scores_of, run, tell)
    return collected(formation, known, scores, pawns, table_of_scores())


def analysed(formation: Formation, scores_of: Callable[[int], Array], run: Map, tell: Tell) -> Analysed:
    """Return what is known once a tier is analysed by distance to zeroing."""
    sides, passed = laid_out(formation, scores_of, run, codes_of_scores(PATIENCE))
    decided = 0
    for level in levels(formation):
        mask = positions_in(formation, level)
        begin(formation, sides, passed, mask)
        still, nothing = but_pawns(formation.men), nowhere(formation)
        roles = [Role(still, sides[side], sides[1 - side], nothing, nothing) for side in (0, 1)]
        decided = play_out(roles, run, tell, decided)
        for each, mover, other in zip(passed, reversed(sides), sides, strict=True):
            settle(each, mover, other, mask)
            hand_down(formation, each, mover, other, mask)
    del roles, mask  # to make room
    return known_of(sides, passed)


def laid_out(
    formation: Formation, scores_of: Callable[[int], Array], run: Map, table: Array
) -> tuple[list["Side"], list[Passed]]:
    """Return what is known of either side to move before the analysis, and the positions in which either side's pawns
    may be captured en passant; *table* has the code of each score of a later tier."""
    departing = Departures(formation, scores_of, table)
    sides = list(run(partial(Side, formation, departing), (0, 1)))
    return sides, [Passed(formation, departing, side, sides[1 - side]) for side in (0, 1)]


def begin(formation: Formation, sides: list["Side"], passed: list[Passed], mask: Array | np.uint64) -> None:
    """Begin with the positions of a mask, of which all is known that moves to others bring."""
    for side in sides:
        side.begin(mask)
    for each, mover, other in zip(passed, reversed(sides), sides, strict=True):
        each.find_stuck(formation, mover, other)


def play_out(roles: Sequence["Role"], run: Map, tell: Tell, before: int = 0) -> int:
    """Go on until nothing more is found; return how many are decided, those *before* included."""
    under_way = roles
    while under_way:
        under_way = [
            role for role, more in zip(under_way, list(run(methodcaller("step"), under_way)), strict=True) if more
        ]
        tell(before + sum(role.decided for role in roles), max(role.plies for role in roles))
    return before + sum(role.decided for role in roles)


def known_of(sides: list["Side"], passed: list[Passed]) -> Analysed:
    """Return what is known at the end."""
    for side in sides:
        side.let_go()
    pawns = {man: found for each in passed for man, found in each.pawns.items()}
    return [side.codes() for side in sides], pawns


class Side:
    """What is known of the positions with one side to move: one more than the plies of what is decided, uint8 for each
    bit of a set; and sets, uint64[words]."""

    def __init__(self, formation: Formation, departing: Departures, side: int):
        words, self.number = formation.words, side
        self.known = np.empty(64 * words, np.uint8)
        self.unwon, self.checked, self.unlost, delayed = (np.empty(words, np.uint64) for _ in range(4))
        self.brought: Array = np.zeros((5, words), np.uint64)
        """From where some zeroing move brings what: see `zeroing_kernels`."""
        men, board = formation.men, geometry()
        kernels.lay_out(men, board, side, self.unwon, self.checked)
        kernels.leave(
            men, board, side, self.unwon, departing.codes, departing.starts, departing.with_pawns, departing.orders,
            self.known, self.brought[SAVES], delayed, np.zeros(64, np.int64), np.zeros(4, np.int64),
        )  # fmt: skip
        zeroing_kernels.sort_out(self.known, self.brought)

    def begin(self, mask: Array | np.uint64) -> None:
        """Begin a level: with what zeroing moves bring there."""
        brought, here = self.brought, self.unwon & mask
        safe = brought[WINS] | brought[WINS_LATE] | brought[SAVES]
        self.won_by = {SOON: brought[WINS] & here, LATE: brought[WINS_LATE] & ~brought[WINS] & here}
        here &= ~safe
        self.lost_by = {SOON: brought[LOSES] & ~brought[LOSES_LATE] & here, LATE: brought[LOSES_LATE] & here}
        self.unlost = here & ~(brought[LOSES] | brought[LOSES_LATE])

    def let_go(self) -> None:
        """Make room: forget what only the analysis needs."""
        nothing = np.empty(0, np.uint64)
        self.brought, self.checked, self.unlost = nothing, nothing, nothing
        self.won_by, self.lost_by = dict[int, Array](), dict[int, Array]()

    def codes(self) -> Array:
        """Return what `table_of_scores` wants, uint16."""
        found = np.empty(len(self.known), np.uint16)
        zeroing_kernels.tell_apart(self.known, self.unwon, found)
        return found


class Role:
    """The analysis of who wins with one side, of one level: with the men who move within it, and what is told of pawns
    of the winner, and of the loser, that may be captured en passant."""

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
        """Find what is won, and what is lost, in one ply more; tell whether there may be more."""
        if self.found_won or self.found_lost:
            self.plies += 1
        elif self.due:
            self.plies = min(self.due)
        else:
            return False
        if self.plies > DEEPEST:
            raise TooDeep
        board, winner, loser = geometry(), self.winner, self.loser
        if self.found_lost:
            kernels.lead_to(self.men, board, winner.number, self.passing, self.lost, self.winning)
        if self.found_won:
            kernels.lead_to(self.men, board, loser.number, self.passing_by_loser, self.won, self.losing)
        if self.plies in self.due:
            self.due.remove(self.plies)
            self.winning |= winner.won_by[self.plies]
            self.losing |= loser.lost_by[self.plies]
            loser.unlost |= loser.lost_by[self.plies]
        self.found_lost = self.lose()  # before what is won is taken from what is open
        self.found_won = int(kernels.decide(self.winning, winner.unwon, self.won, winner.known, self.plies + 1))
        self.decided += self.found_won + self.found_lost
        return True

    def lose(self) -> int:
        """Decide which of those that may be are lost by now; return how many."""
        loser = self.loser
        kernels.keep_common(self.losing, loser.unlost)
        passing, open_ = self.passing_by_loser, self.winner.unwon
        kernels.take_out(self.men, geometry(), loser.number, passing, open_, self.losing)
        return int(kernels.decide(self.losing, loser.unlost, self.lost, loser.known, self.plies + 1))


# Between levels


def levels(formation: Formation) -> list[int]:
    """Return how many steps all pawns may have taken, the most first."""
    pawns = int((formation.men.kinds == PAWN).sum())
    return [*range(5 * pawns, -1, -1)]


def positions_in(formation: Formation, level: int) -> Array:
    """Return the positions in which all pawns have taken so many steps, uint64[words]."""
    kinds, sides = formation.men.kinds.tolist(), formation.men.sides.tolist()
    rests = np.arange(formation.inner >> 6)
    taken = np.zeros(len(rests), np.int64)
    for man in range(len(kinds) - 1):
        if kinds[man] == PAWN:
            rank = rests >> 6 * (len(kinds) - 2 - man) + 3 & 7
            taken += rank - 1 if sides[man] == 0 else 6 - rank
    if kinds[-1] != PAWN:
        words = np.where(taken == level, EVERYTHING, np.uint64(0))
    else:
        left = level - taken
        rank = left + 1 if sides[-1] == 0 else 6 - left
        on_rank = np.uint64(0xFF) << (8 * np.clip(rank, 0, 7)).astype(np.uint64)
        words = np.where((left >= 0) & (left <= 5), on_rank, np.uint64(0))
    return np.tile(words, formation.pairs)


def hand_down(formation: Formation, passed: Passed, mover: Side, other: Side, mask: Array) -> None:
    """Note for the side that pawns of *passed* belong to, *other*, what their steps to positions of a level bring."""
    men = pawns_alone(formation.men, other.number)
    if not (men.sides == other.number).any():
        return
    reached = np.empty(formation.words, np.uint64)
    for brings in range(len(other.brought)):
        zeroing_kernels.find_bringing(mover.known, mover.unwon, mask, brings, reached)
        kernels.lead_to(men, geometry(), other.number, passed.passing, reached, other.brought[brings])


def settle(passed: Passed, mover: Side, other: Side, mask: Array) -> None:
    """Find what positions of a level are worth in which the *mover* may capture en passant, and what the step before
    brings the other side."""
    for pawns in passed.pawns.values():
        here = np.flatnonzero(bits_at(mask, pawns.spots)).astype(np.int64)
        worths = WORTHS[pawns.codes[here]]
        spots = pawns.spots[here]
        codes = mover.known[spots].astype(np.int64)
        codes += LOST * (bits_at(mover.unwon, spots) & (codes > 0))
        worths = np.where(pawns.stuck[here], worths, np.maximum(worths, worth_of(codes)))
        pawns.values[here] = code_of(worths)
        for brings, (least, most) in BROUGHT.items():
            some = here[(worths >= least) & (worths <= most)]
            passing_kernels.put(pawns.parents, some, len(some), other.brought[brings])


DRAWN, WON = 500, 1000
"""What a draw is worth, and a win but for its plies; a loss its plies."""
BROUGHT = {
    WINS: (0, PATIENCE),
    WINS_LATE: (PATIENCE + 1, DRAWN - 1),
    SAVES: (DRAWN, DRAWN),
    LOSES_LATE: (DRAWN + 1, WON - PATIENCE - 1),
    LOSES: (WON - PATIENCE, WON),
}
"""What a zeroing move brings, by the least and the greatest worth of the position that it leads to."""
WORTHS = np.full(256, DRAWN)
WORTHS[[2, LATE + 1, 3, LATE + 2]] = WON - SOON, WON - LATE, SOON, LATE
"""What captures are worth, by their codes as `kernels.leave` writes them."""


def worth_of(codes: Array) -> Array:
    """Return what positions are worth, by their codes as `Side.codes` gives them."""
    plies = (codes & LOST - 1) - 1
    return np.where(codes == 0, DRAWN, np.where(codes >= LOST, plies, WON - plies))


def code_of(worths: Array) -> Array:
    """Return the codes of what is worth so much, uint16."""
    won, lost = WON - worths + 1, LOST + worths + 1
    return np.where(worths == DRAWN, 0, np.where(worths > DRAWN, won, lost)).astype(np.uint16)


# Men and codes


def but_pawns(men: Men) -> Men:
    """Return men of whom no pawn moves."""
    return men._replace(sides=np.where(men.kinds == PAWN, NOBODY, men.sides))


def pawns_alone(men: Men, side: int) -> Men:
    """Return men of whom only a side's pawns move."""
    moves = (men.kinds == PAWN) & (men.sides == side)
    return men._replace(sides=np.where(moves, side, NOBODY), walks=np.full_like(men.walks, -1))


@cache
def codes_of_scores(late: int) -> Array:
    """Return what a later tier's score counts for who comes there, as `tiers.codes_of_scores` does; uint8[65536].

    Where the fifty-move rule makes a draw, so many plies more: PATIENCE, or none if there is no rule. The codes
    are such that `kernels.leave` makes 2 or 102 of a win in 1 or 101, and of a loss 3 or 103.
    """
    table, plies = np.full(1 << BITS + 2, EMPTY, np.uint8), np.arange(1 << BITS)
    more = np.where(plies > PATIENCE, late, 0)
    table[(LOSE_CLASS << BITS) + plies] = more + 1
    table[(WIN_CLASS + 1 << BITS) - 1 - plies] = more + 2
    table[DRAW_CLASS << BITS] = 0
    return table


@cache
def table_of_scores() -> Array:
    """Return the scores of codes, uint16[512]: 0 is a draw, else they are one more than the plies; of losses LOST is
    added."""
    draw = DRAW_CLASS << BITS
    won, lost = ([draw, *(encode(value, code - 1, BITS) for code in range(1, 256))] for value in (WIN, LOSE))
    return np.array(won + lost, np.uint16)
