"""Retrograde analysis of a chess tier by distance to zeroing, or to conversion (see `games/contract/zeroing.py`).

Captures, promotions and all other moves of pawns start the count of the fifty-move rule again. So within a tier only
men other than pawns move. Pawns only go forward, so positions are solved in *levels*, by the number of steps that all
pawns have taken, the most advanced first:

    level     positions from which pawns stand as far ──steps of pawns──> levels before
    in one    won by now ──> perhaps lost in 1 more ──> lost by now ──> won in 1 more …

The results of zeroing moves are known before a level begins. Such a move counts 1 ply, or 101 if the fifty-move rule
turns its result into a draw. A position with en passant is worth the better of the capture and the position without the
right, once its level is done.

Steps, of `analyse`:

    1. prepare         legal positions, captures and promotions, positions with en passant
    2. start_level     the wins and losses that zeroing moves bring in a level
    3. search          the level, ply by ply, for both sides that may win
    4. settle          its positions with en passant
    5. hand_down       what steps of pawns to this level bring to the next ones

Distance to conversion has a single level: all men move within the tier, pawns too, and captures and promotions count 1
ply. Positions with en passant are decided along with the others.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np

from retrograde.games.chess.men import PAWN
from retrograde.games.contract.game import LOSE, WIN
from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.methods.chess import analysis, en_passant_kernels, kernels, zeroing_kernels
from retrograde.solver.methods.chess.analysis import Map, Report, Results
from retrograde.solver.methods.chess.en_passant import EnPassantPositions, bits_at
from retrograde.solver.methods.chess.fit import BITS
from retrograde.solver.methods.chess.formation import Formation, geometry
from retrograde.solver.methods.chess.kernels import NO_POSITION, LaterCodes
from retrograde.solver.methods.chess.slots import ScoresOf, find_departures, table_by_score
from retrograde.solver.methods.chess.words import EVERYTHING
from retrograde.solver.methods.chess.zeroing_kernels import LOSES, LOSES_LATE, LOST, RESULTS, SAVES, WINS, WINS_LATE
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score import DRAW_CLASS, encode

SOON, LATE = 1, PATIENCE + 1
"""Plies that a zeroing move counts: normally, and where the fifty-move rule makes its result a draw."""
MOST_STEPS = 5
"""The most steps of a pawn before it promotes: from the second rank to the seventh."""
NO_SIDE = 2
"""The side of men that do not move."""


def analyse(formation: Formation, scores_of: ScoresOf, run: Map, report: Report) -> Results:
    """Return the results of a tier by distance to zeroing; *scores_of* has the scores of later tiers."""
    sides, en_passant = analysis.prepare(formation, scores_of, run, codes_of_scores(PATIENCE), ZeroingSide)
    men, none = formation.men, [EnPassantPositions(formation) for _ in (0, 1)]
    others = men._replace(sides=np.where(men.kinds == PAWN, NO_SIDE, men.sides))  # pawns do not move within a level
    decided = 0
    for level in levels(formation):
        mask = positions_in(formation, level)
        start_level(formation, sides, en_passant, mask)
        decided = analysis.search(others, sides, none, run, report, decided)
        for positions, mover, other in zip(en_passant, reversed(sides), sides, strict=True):
            decide_en_passant(positions, mover, other, mask)
            record_pawn_steps(formation, positions, mover, other, mask)
    del mask  # frees memory
    return analysis.results_of(sides, en_passant)


def analyse_by_conversion(formation: Formation, scores_of: ScoresOf, run: Map, report: Report) -> Results:
    """Return the results of a tier by distance to conversion."""
    sides, en_passant = analysis.prepare(formation, scores_of, run, codes_of_scores(0), ZeroingSide)
    start_level(formation, sides, en_passant, EVERYTHING)
    analysis.search(formation.men, sides, en_passant, run, report)
    return analysis.results_of(sides, en_passant)


class ZeroingSide(analysis.Side):
    """A side to move whose zeroing moves count 1 or 101 plies, as distance to zeroing has it."""

    lost_flag = LOST

    def __init__(self, formation: Formation, later: LaterCodes, side: int):
        self.number = side
        self.unwon, self.checked, found = find_departures(formation, later, side)
        self.ply_codes = found.ply_codes  # at first departure codes, which become sets below
        self.by_result: Array = np.zeros((5, formation.words), np.uint64)
        """The positions from which some zeroing move brings each result: see `zeroing_kernels`."""
        self.by_result[SAVES] = found.saved
        zeroing_kernels.split_by_result(self.ply_codes, self.by_result)

    def start(self, mask: Array | np.uint64) -> None:
        """Start a level, the positions in *mask*, with the results of its zeroing moves."""
        by_result, unwon = self.by_result, self.unwon & mask  # `&` of two sets: the positions in both
        self.won_by = {SOON: by_result[WINS] & unwon, LATE: by_result[WINS_LATE] & ~by_result[WINS] & unwon}
        # A loss needs all zeroing moves to lose; the latest of them counts.
        unsaved = unwon & ~(by_result[WINS] | by_result[WINS_LATE] | by_result[SAVES])
        lost, late = by_result[LOSES] & unsaved, by_result[LOSES_LATE] & unsaved
        self.lost_by = {SOON: lost & ~late, LATE: late}
        self.unlost = unsaved & ~(by_result[LOSES] | by_result[LOSES_LATE])

    def due(self) -> Iterable[int]:
        return [plies for plies in (SOON, LATE) if self.won_by[plies].any() or self.lost_by[plies].any()]

    def add_due_wins(self, plies: int, candidates: Array) -> bool:
        if plies in self.won_by:
            candidates |= self.won_by[plies]
        return plies in self.won_by

    def add_due_losses(self, plies: int, candidates: Array) -> bool:
        if plies in self.lost_by:
            candidates |= self.lost_by[plies]
            self.unlost |= self.lost_by[plies]
        return plies in self.lost_by

    def final_codes(self) -> Array:
        nothing = np.empty(0, np.uint64)
        self.by_result, self.checked, self.unlost = nothing, nothing, nothing
        self.won_by, self.lost_by = dict[int, Array](), dict[int, Array]()
        found = np.empty(len(self.ply_codes), np.uint16)
        zeroing_kernels.flag_losses(self.ply_codes, self.unwon, found)
        return found


def start_level(
    formation: Formation, sides: list[ZeroingSide], en_passant: list[EnPassantPositions], mask: Array | np.uint64
) -> None:
    """Start the analysis of the positions in *mask*. All results that moves to other positions bring are known."""
    for side in sides:
        side.start(mask)
    analysis.mark_stuck(formation, sides, en_passant)


# Between levels


def levels(formation: Formation) -> list[int]:
    """Return the numbers of steps that all pawns together may have taken, the greatest first."""
    pawns = int((formation.men.kinds == PAWN).sum())
    return [*range(MOST_STEPS * pawns, -1, -1)]


def positions_in(formation: Formation, level: int) -> Array:
    """Return the set of positions in which all pawns together have taken *level* steps, uint64[words].

    A word is for the squares of the last man. The squares of the outer men, all but the last, select it by their *rest*
    (see `words.py`).
    """
    kinds, sides = formation.men.kinds.tolist(), formation.men.sides.tolist()
    outer = len(kinds) - 1
    # With pawns, men are never grouped. So a rest is the squares of the outer men, 6 bits each, the first man highest.
    rests = np.arange(formation.inner >> 6)
    taken_by_outer = np.zeros(len(rests), np.int64)  # steps of the outer pawns, for each rest
    for man in range(outer):
        if kinds[man] == PAWN:
            square = rests >> 6 * (outer - 1 - man) & 63
            rank = square >> 3
            taken_by_outer += rank - 1 if sides[man] == 0 else 6 - rank
    if kinds[-1] != PAWN:
        words = np.where(taken_by_outer == level, EVERYTHING, np.uint64(0))
    else:
        # If the last man is a pawn, he has taken the other steps: his squares are one rank.
        remaining = level - taken_by_outer
        rank = remaining + 1 if sides[-1] == 0 else 6 - remaining
        on_rank = np.uint64(0xFF) << (8 * np.clip(rank, 0, 7)).astype(np.uint64)
        words = np.where((remaining >= 0) & (remaining <= MOST_STEPS), on_rank, np.uint64(0))
    return np.tile(words, formation.pairs)


def record_pawn_steps(
    formation: Formation, en_passant: EnPassantPositions, mover: ZeroingSide, other: ZeroingSide, mask: Array
) -> None:
    """Record what steps of pawns to positions of this level bring to positions of the next levels. The pawns are those
    of the side *other*; *mover* is the side to move after the step."""
    men = formation.men
    moving = (men.kinds == PAWN) & (men.sides == other.number)
    if not moving.any():
        return
    men = men._replace(sides=np.where(moving, other.number, NO_SIDE), king_moves=np.full_like(men.king_moves, -1))
    reached, pawns = np.empty(formation.words, np.uint64), en_passant.capturable
    for result in range(len(other.by_result)):
        # The positions of this level with the result, and then those from which steps lead there.
        zeroing_kernels.find_with_result(mover.ply_codes, mover.unwon, mask, result, reached)
        kernels.add_predecessors(men, geometry(), other.number, pawns, reached, other.by_result[result])


def decide_en_passant(en_passant: EnPassantPositions, mover: ZeroingSide, other: ZeroingSide, mask: Array) -> None:
    """Decide the positions of *mask* with en passant, and record what the double steps that lead to them bring.

    *mover* is the side to move in these positions, *other* the side whose pawn has just moved.
    """
    scores = table_of_scores()
    for items in en_passant.by_pawn.values():
        in_level = np.flatnonzero(bits_at(mask, items.positions)).astype(np.int64)
        positions, captures = items.positions[in_level], CODES_OF_CAPTURES[items.codes[in_level]]
        without_right = mover.ply_codes[positions].astype(np.uint16)
        without_right[bits_at(mover.unwon, positions) & (without_right > 0)] += LOST
        # Without another move only the captures count, else the better of both.
        capture_counts = items.stuck[in_level] | (scores[captures] > scores[without_right])
        codes = np.where(capture_counts, captures, without_right)
        items.values[in_level] = codes
        # The double step is a pawn's move, so for the other side it is a zeroing move with this result.
        for result, by_result in enumerate(other.by_result):
            en_passant_kernels.add_positions(by_result, items.parents[in_level[RESULTS[codes] == result]])


CODES_OF_CAPTURES = np.zeros(256, np.uint16)
"""Translates departure codes to flagged codes (see `zeroing_kernels`)."""
CODES_OF_CAPTURES[[2, LATE + 1, 3, LATE + 2]] = SOON + 1, LATE + 1, LOST + SOON + 1, LOST + LATE + 1


# Men and codes


@cache
def codes_of_scores(late: int) -> Array:
    """Return the code that each score of a later tier counts for the side that moves there, uint8[65536].

    It is 1 for a loss and 2 for a win. If the fifty-move rule makes the result a draw, it is more by *late* plies:
    PATIENCE, or 0 without that rule. From these codes `kernels.find_departures` makes 2 or 102 for a win (in 1 or 101),
    and 3 or 103 for a loss.
    """
    more = np.where(np.arange(1 << BITS) > PATIENCE, late, 0).astype(np.uint8)
    return table_by_score(more + 1, more + 2, 0, NO_POSITION)


@cache
def table_of_scores() -> Array:
    """Return the score of each flagged code (see `zeroing_kernels`), uint16[512]."""
    draw = DRAW_CLASS << BITS
    won, lost = ([draw, *(encode(value, code - 1, BITS) for code in range(1, 256))] for value in (WIN, LOSE))
    return np.array(won + lost, np.uint16)
