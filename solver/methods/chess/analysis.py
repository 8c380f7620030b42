"""Retrograde analysis of a chess tier, with sets of positions instead of single ones (after L. Stiller).

All positions lost in the same number of plies form one set, and so do all that are won so. One pass over the words of a
set finds the next set:

    lost in n  ──add_predecessors──>  won in n + 1
    won in n   ──add_predecessors──>  perhaps lost in n + 1  ──remove_escapes──>  lost in n + 1

Captures and promotions lead to later tiers, so their results are known from the start. A result of n plies *falls due*
when the search comes to n plies. `mate.py` and `zeroing.py` say how many plies a result counts, by each metric.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np

from retrograde.solver.methods.chess import kernels
from retrograde.solver.methods.chess.en_passant import EnPassantPositions
from retrograde.solver.methods.chess.en_passant_kernels import DoubleSteps
from retrograde.solver.methods.chess.fit import TooDeep
from retrograde.solver.methods.chess.formation import Formation, Men, geometry
from retrograde.solver.methods.chess.slots import ScoresOf, load_later_codes
from retrograde.solver.runtime.array_type import Array

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Calls a function for each item, on threads."""
Report = Callable[[int, int], object]
"""Reports progress: positions decided so far, and the remoteness of those decided last."""
AnySide = TypeVar("AnySide", bound="Side")
Results = tuple[list[Array], dict[int, DoubleSteps]]
"""The codes of all positions by side to move, and the positions with en passant, by pawn."""

DEEPEST = 254
"""The greatest number of plies that fits into a byte, which has one more than the plies."""


class Side:
    """Codes and sets of the positions with one side to move; the metric says what captures and promotions bring.

    `ply_codes` uint8[positions] is one more than the plies, 0 for undecided. Sets are uint64[words]: `unwon`, legal and
    not won; `unlost`, those that may become losses; `checked`, in check."""

    number: int
    ply_codes: Array
    unwon: Array
    unlost: Array
    checked: Array
    alternates = False
    """Whether wins take an odd number of plies, and losses an even number."""
    lost_flag = 0
    """Added to the codes of losses in arrays that have wins as well."""

    def due(self) -> Iterable[int]:
        """Return all numbers of plies at which results of captures and promotions fall due."""
        raise NotImplementedError

    def add_due_wins(self, plies: int, candidates: Array) -> bool:
        """Add the positions that a capture or promotion wins in *plies* plies to a set. Return False if there are none
        for certain."""
        raise NotImplementedError

    def add_due_losses(self, plies: int, candidates: Array) -> bool:
        """Add the positions whose captures and promotions all lose, the latest in *plies* plies, to a set. Return False
        if there are none for certain."""
        raise NotImplementedError

    def final_codes(self) -> Array:
        """Return the codes of all positions, for the metric's table of scores; free all other arrays."""
        raise NotImplementedError


class WinSearch:
    """The search for the wins of one side, *winner*, and the losses of the other, *loser*, ply by ply.

    *men* are those that move. *winner_en_passant* are the positions in which the winner may capture en passant,
    *loser_en_passant* those in which the loser may.
    """

    def __init__(
        self, men: Men, winner: Side, loser: Side, winner_en_passant: EnPassantPositions,
        loser_en_passant: EnPassantPositions,
    ):  # fmt: skip
        self.men, self.winner, self.loser = men, winner, loser
        self.winner_en_passant, self.loser_en_passant = winner_en_passant, loser_en_passant
        self.plies = self.remoteness = 0
        """The plies of the positions searched last, and of those found last."""
        self.winning, self.won, self.lost = np.zeros((3, len(winner.unwon)), np.uint64)
        # Candidates for losses. If wins and losses alternate, candidates for wins are never there at the same time.
        self.losing = self.winning if winner.alternates else np.zeros_like(self.winning)
        self.losing[:] = loser.checked  # after 0 plies, the losses are mates
        self.found_won, self.found_lost = 0, self.decide_losses()
        self.decided = self.found_lost
        # Captures en passant may fall due at any number of plies up to the greatest, whose code is one more.
        greatest_code = max(winner_en_passant.greatest, loser_en_passant.greatest)
        self.due = {*winner.due(), *loser.due(), *range(1, greatest_code)}

    def step(self) -> bool:
        """Find the wins and the losses that take one ply more. Return whether to go on."""
        # Step 1: Count the plies. If the last step found nothing, skip to the next plies at which results fall due.
        if self.found_won or self.found_lost:
            self.plies += 1
        elif self.due:
            self.plies = min(self.due)
        else:
            return False
        is_due = self.plies in self.due
        self.due.discard(self.plies)
        # Step 2: Candidates are the predecessors of the positions found last, and positions whose captures and
        # promotions fall due now.
        board, winner, loser = geometry(), self.winner, self.loser
        may_win, may_lose = self.found_lost > 0, self.found_won > 0
        if self.found_lost:
            pawns = self.loser_en_passant.capturable
            kernels.add_predecessors(self.men, board, winner.number, pawns, self.lost, self.winning)
        if self.found_won:
            pawns = self.winner_en_passant.capturable
            kernels.add_predecessors(self.men, board, loser.number, pawns, self.won, self.losing)
        if is_due:
            may_win |= winner.add_due_wins(self.plies, self.winning)
            may_lose |= loser.add_due_losses(self.plies, self.losing)
        if self.plies > DEEPEST:
            return self.expect_nothing()
        # Step 3: Decide the candidates. Losses first: they rest on wins in fewer plies, and not on those that this step
        # finds.
        code = self.plies + 1
        self.found_lost = self.decide_losses() if may_lose else 0
        self.found_won = 0
        if may_win:
            self.found_won = int(kernels.decide(self.winning, winner.unwon, self.won, winner.ply_codes, code))
        # Step 4: Decide the positions with en passant. Their predecessors are candidates of the next step. Their codes
        # are in one array, so that of a loss needs the flag.
        self.found_lost += self.loser_en_passant.decide_losses(loser.lost_flag + code, self.lost, self.winning)
        self.found_won += self.winner_en_passant.decide_wins(code, self.won, self.losing)
        if self.found_won or self.found_lost:
            self.decided += self.found_won + self.found_lost
            self.remoteness = self.plies
        return True

    def decide_losses(self) -> int:
        """Decide the candidates that are lost: all moves lead to positions won by the opponent. Return how many."""
        loser, pawns = self.loser, self.winner_en_passant.capturable
        np.bitwise_and(self.losing, loser.unlost, self.losing)
        kernels.remove_escapes(self.men, geometry(), loser.number, pawns, self.winner.unwon, self.losing)
        return int(kernels.decide(self.losing, loser.unlost, self.lost, loser.ply_codes, self.plies + 1))

    def expect_nothing(self) -> bool:
        """Return False if no candidate is left to decide; raise TooDeep if there is one."""
        undecided = (self.winning & self.winner.unwon) | (self.losing & self.loser.unlost)
        if self.due or undecided.any():
            raise TooDeep
        return False


def prepare(
    formation: Formation, scores_of: ScoresOf, run: Map, code_of_score: Array, make_side: Callable[..., AnySide]
) -> tuple[list[AnySide], list[EnPassantPositions]]:
    """Return the state before the first step: both sides to move, and the positions with en passant.

    Item 0 is White's, item 1 Black's; for en passant it is the side whose pawn may be captured. Nothing is known but
    the results of captures and promotions. *code_of_score* has the code of each score of a later tier. `make_side(
    formation, later_codes, number)` makes a side to move.
    """
    later_codes = load_later_codes(formation, scores_of, code_of_score)
    sides = list(run(partial(make_side, formation, later_codes), (0, 1)))
    return sides, [EnPassantPositions(formation).find(formation, later_codes, side, sides[1 - side]) for side in (0, 1)]


def mark_stuck(formation: Formation, sides: Sequence[Side], en_passant: list[EnPassantPositions]) -> None:
    """Mark the positions with en passant in which the side to move has no other move."""
    # `en_passant[k]` is by the side whose pawn may be captured; the other side moves.
    for positions, mover, other in zip(en_passant, reversed(sides), sides, strict=True):
        positions.mark_stuck(formation, mover, other)


def search(
    men: Men, sides: Sequence[Side], en_passant: list[EnPassantPositions], run: Map, report: Report, before: int = 0
) -> int:
    """Search for the wins of both sides in parallel. Return how many positions are decided, plus *before*."""
    # `en_passant[k]` is by the side whose pawn may be captured: the opponent of the side that captures.
    searches = [WinSearch(men, sides[k], sides[1 - k], en_passant[1 - k], en_passant[k]) for k in (0, 1)]
    active = searches
    while active:
        goes_on = list(run(methodcaller("step"), active))
        active = [win_search for win_search, more in zip(active, goes_on, strict=True) if more]
        decided = before + sum(win_search.decided for win_search in searches)
        report(decided, max(win_search.remoteness for win_search in searches))
    return decided


def results_of(sides: Sequence[Side], en_passant: list[EnPassantPositions]) -> Results:
    """Return the results of the analysis, and free the rest."""
    double_steps = {man: items for positions in en_passant for man, items in positions.by_pawn.items()}
    return [side.final_codes() for side in sides], double_steps
