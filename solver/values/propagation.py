"""Retrograde analysis of a tier: passes outcomes from decided positions back to their predecessors.

The algorithm, for the positions of one tier, numbered from 0 (`Propagation.run`):

1. Positions that are primitive are decided. Undecided ones have the best score from children in later tiers, and a
   counter of undecided children in this tier.
2. For remoteness 1, 2, 3, …: each position decided at the remoteness before updates its parents (`pass_back`). A LOSE
   makes an undecided parent a WIN. A WIN decrements the parent's counter; at zero the parent is a LOSE.
3. A position *due* at this remoteness, because a child in a later tier decides it, is decided as well.
4. When no more is to come, the same is done for TIEs: a TIE makes an undecided parent a TIE.
5. All that is still undecided is a DRAW.

Since remotenesses come in order, each position is decided once, with its least remoteness for a WIN or TIE and its
greatest for a LOSE.

`propagate_at_once` does the same in one call of machine code, for tiers whose predecessor lists are in memory.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Deciding, Telling
from retrograde.solver.values import edges
from retrograde.solver.values import propagation_kernels as kernels
from retrograde.solver.values.score import (
    BLOCK,
    DRAW_CLASS,
    LOSE_CLASS,
    TIE_CLASS,
    WIN_CLASS,
    RemotenessOverflow,
    decided_from,
)

MOST_AT_ONCE, BITS_AT_ONCE = 1 << 21, 14
"""Positions of a tier, and bits for the remoteness in its scores, at most, where `propagate_at_once` is used. In larger
tiers several workers look up parents, and progress is reported."""

ReportProgress = Callable[[int, int, int, float | None], None]
"""Called with the number of decided positions, that of all, the remoteness decided last, and the share of a forward
pass that is done (None if there is none)."""
Mark = Callable[[int, int], None]
"""Called with WIN_CLASS or TIE_CLASS and a remoteness, after each remoteness.

What the arrays hold is then all that a checkpoint needs in order to resume.
"""


def make_reporter(phase: Telling, tier: int, first_share: float) -> ReportProgress:
    """Return a function that reports the progress of a tier, *first_share* of which the first look at it took."""

    def report(decided: int, total: int, remoteness: int, share: float | None) -> None:
        done = first_share * total + (1 - first_share) * decided
        phase.working(done, tier, Deciding(decided, total, remoteness, share))

    return report


def can_propagate_at_once(positions: int, bits: int) -> bool:
    """Return whether `propagate_at_once` suits a tier of so many positions."""
    return positions <= MOST_AT_ONCE and bits <= BITS_AT_ONCE


def propagate_at_once(begins: Array, parents: Array, bits: int, scores: Array, children_left: Array) -> None:
    """Decide all positions of a tier in one call of machine code; the result is that of `Propagation.run`.

    The parents of position i are `parents[begins[i]:begins[i + 1]]`, complements (`~`) where the same player moves
    again. Raise RemotenessOverflow if *bits* bits do not suffice for each remoteness.
    """
    tier = kernels.WholeTier(begins, parents, scores, children_left, bits, decided_from(children_left))
    for group in (WIN_CLASS, TIE_CLASS):
        if not kernels.propagate(tier, group):
            raise RemotenessOverflow
    scores[children_left < tier.decided_mark] = DRAW_CLASS << bits


def scores_at(group: int, remoteness: int, bits: int) -> list[int]:
    """Return the scores at a remoteness that are propagated together: WIN and LOSE, or only TIE."""
    scores = [(group << bits) | ((1 << bits) - 1 - remoteness)]
    return [*scores, (LOSE_CLASS << bits) | remoteness] if group == WIN_CLASS else scores


def due_mask(scores: Array, children_left: Array, group: int, bits: int) -> Array:
    """Return, for each position, whether it is undecided and has a score of this group from later tiers.

    With the WINs of group WIN_CLASS come LOSEs: positions whose counter of undecided children is 0. (A child of a later
    tier that saves a position from losing counts as one that stays undecided.)
    """
    is_due: Array = (scores >> bits) == group
    if group == WIN_CLASS:
        is_due |= children_left == 0
    return is_due & (children_left < decided_from(children_left))


class ScoredPositions:
    """The positions with one score: their number, and blocks of them. `blocks` is None if memory did not suffice for
    the list; then a search of all scores finds them."""

    def __init__(self) -> None:
        self.count = 0
        self.blocks: list[Array] | None = []

    @property
    def listed(self) -> int:
        """Return how many positions are listed."""
        return self.count if self.blocks is not None else 0


class Propagation:
    """Passes outcomes back through one tier, remoteness by remoteness. Positions are numbered from 0.

    A *group* of scores is propagated together: WIN_CLASS stands for WINs and LOSEs, TIE_CLASS for TIEs. The *arrays*
    are `scores` and `children_left`, as `score.py` describes them.

    *parents_of* takes decided positions, each once, and yields arrays of their parents in the tier, each parent as
    often as it has distinct children among them. With *again*, the same player may move twice: a parent whose player
    moves again is given as the complement (`~`) of its number, and for it a WIN is a WIN. At most *most_listed*
    positions are listed; searches find the others.
    """

    def __init__(
        self, bits: int, arrays: tuple[Array, Array], parents_of: Callable[[Array], Iterable[Array]],
        report: ReportProgress = lambda *_: None, again: bool = False, most_listed: int = 1 << 62,
        mark: Mark = lambda *_: None,
    ):  # fmt: skip
        self.bits, self.parents_of = bits, parents_of
        self.scores, self.children_left = arrays
        self.report, self.again, self.most_listed, self.mark = report, again, most_listed, mark
        self.greatest = (1 << bits) - 1
        """The greatest number of plies in a score, and the mask of the plies."""
        self.decided_mark = decided_from(self.children_left)
        """The least counter that marks a decided position."""
        self.position_type = np.uint32 if len(self.scores) < 1 << 32 else np.int64
        """The type of positions in lists: 4 bytes instead of 8 if the tier is small enough."""
        self.remoteness = 0
        """The remoteness that is being decided."""
        self.decided = 0
        """How many positions are decided; `run` counts them."""
        self.due: dict[int, ScoredPositions] = {}
        """By score: the undecided positions that get this score unless a better one comes earlier."""
        self.last: dict[int, ScoredPositions] = {}
        """By score: the positions decided last."""
        self.listed = 0
        """How many positions are listed in all batches."""
        self.pass_share: float | None = None
        """The share of a forward pass that is done; None if there is none."""

    def run(self, group: int = WIN_CLASS, remoteness: int = 0) -> None:
        """Decide all positions, from the start, or from the group and remoteness of the last checkpoint."""
        self.decided = sum(int(np.count_nonzero(counters >= self.decided_mark)) for _, _, counters in self.blocks())
        if group == WIN_CLASS:
            self.propagate(WIN_CLASS, remoteness)
            remoteness = 0
        self.propagate(TIE_CLASS, remoteness)
        self.check_draws()
        for _, scores, counters in self.blocks():
            scores[counters < self.decided_mark] = DRAW_CLASS << self.bits

    def propagate(self, group: int, remoteness: int) -> None:
        """Pass back WINs and LOSEs, or TIEs. Begin with the positions decided at *remoteness*."""
        # Step 1: collect what later tiers will decide, by score.
        for positions in self.find(lambda scores, counters: due_mask(scores, counters, group, self.bits)):
            self.postpone(positions)
        # Step 2: collect what is decided at the first remoteness.
        self.last = {score: ScoredPositions() for score in scores_at(group, remoteness, self.bits)}
        for score, batch in self.last.items():
            for positions in self.with_score(score, due=False):
                self.add_to_batch(batch, positions)
        self.remoteness = remoteness
        # Step 3: go from each remoteness to the next.
        while any(batch.count for batch in self.last.values()) or self.due:
            # Nothing was decided last: skip to the least remoteness at which something is due.
            if not any(batch.count for batch in self.last.values()):
                self.remoteness = min(map(self.plies, self.due)) - 1
            self.remoteness += 1
            # Scores have no bits for this remoteness; the caller starts again with more.
            if self.remoteness >= self.greatest - 1:
                raise RemotenessOverflow
            decided_last, self.last = self.last, {}
            due_now = {score: self.due.pop(score) for score in list(self.due) if self.plies(score) == self.remoteness}
            self.listed -= sum(batch.listed for batch in (*decided_last.values(), *due_now.values()))
            # Parents of what was decided last, then what is due now and still undecided.
            self.update_parents(group, decided_last)
            for score, batch in due_now.items():
                for positions in self.take_positions(score, batch, due=True):
                    self.settle(positions, score)
            self.mark(group, self.remoteness)

    def update_parents(self, group: int, decided_last: dict[int, ScoredPositions]) -> None:
        """Update the parents of the positions decided last; *decided_last* has them by score."""
        for score, batch in decided_last.items():
            self.pass_back(score >> self.bits, self.take_positions(score, batch, due=False))

    def pass_back(self, score_class: int, frontier: Iterable[Array]) -> None:
        """Update the parents of positions decided at the last remoteness, whose scores have this class."""
        parent_class = TIE_CLASS if score_class == TIE_CLASS else WIN_CLASS
        score = (parent_class << self.bits) | (self.greatest - self.remoteness)  # of parents with a good outcome
        for positions in frontier:
            # Numbers below 0 are complements: parents whose player moves again.
            for parents in self.parents_of(positions):
                turn_passes = parents[parents >= 0] if self.again else parents
                same_player = ~parents[parents < 0] if self.again else parents[:0]
                # The outcome is bad for the parent's player if it is a WIN of the other player, or a LOSE of the same.
                self.update(turn_passes, score, bad=score_class == WIN_CLASS)
                self.update(same_player, score, bad=score_class == LOSE_CLASS)

    def update(self, parents: Array, score: int, bad: bool) -> None:
        """Update parents of decided positions: a *bad* outcome decrements counters, any other one gives the score."""
        if len(parents) and bad:
            self.count_down(parents)
        elif len(parents):
            self.settle(parents, score)

    def count_down(self, positions: Array) -> None:
        """Decrement the counters of *positions*. One that reaches 0 is a LOSE now, or later if a child in a later tier
        lasts longer. Such a child's score is in `scores` already."""
        out = np.empty(len(positions), np.int64)
        ready = out[: kernels.count_down(positions, self.decided_mark, self.children_left, out)]
        late = (self.scores[ready] & self.greatest) > self.remoteness
        self.postpone(ready[late])
        self.settle(ready[~late], (LOSE_CLASS << self.bits) | self.remoteness)

    def settle(self, positions: Array, score: int) -> None:
        """Give this score to those of the positions that are undecided."""
        out = np.empty(len(positions), np.int64)
        settled = out[: kernels.settle(positions, self.decided_mark, score, self.scores, self.children_left, out)]
        self.add_to_batch(self.last.setdefault(score, ScoredPositions()), settled)
        self.decided += len(settled)
        self.report(self.decided, len(self.scores), self.remoteness, self.pass_share)

    def postpone(self, positions: Array) -> None:
        """Record undecided positions as due at the scores that they have from later tiers."""
        scores = self.scores[positions]
        order = np.argsort(scores, kind="stable")
        cuts = np.flatnonzero(np.diff(scores[order])) + 1
        for same_score in np.split(positions[order], cuts):
            if len(same_score):
                batch = self.due.setdefault(int(self.scores[same_score[0]]), ScoredPositions())
                self.add_to_batch(batch, same_score)

    def add_to_batch(self, batch: ScoredPositions, positions: Array) -> None:
        """Add positions to a batch. While too many are listed, drop the longest list of any batch; a search of all
        scores finds its positions later (see `take_positions`)."""
        if not len(positions):
            return
        batch.count += len(positions)
        if batch.blocks is not None:
            batch.blocks.append(positions.astype(self.position_type))
            self.listed += len(positions)
        while self.listed > self.most_listed:
            longest = max((*self.due.values(), *self.last.values()), key=lambda each: each.listed)
            self.listed -= longest.listed
            longest.blocks = None

    def take_positions(self, score: int, batch: ScoredPositions, due: bool) -> Iterator[Array]:
        """Yield the positions of a batch in blocks, ascending, and drop its list. *score* is theirs; *due*: they are
        undecided."""
        if batch.blocks is None:
            yield from self.with_score(score, due)
            return
        positions = np.sort(np.concatenate([np.empty(0, self.position_type), *batch.blocks]))
        batch.blocks = None
        for begin in range(0, len(positions), BLOCK):
            yield positions[begin : begin + BLOCK].astype(np.int64)

    def with_score(self, score: int, due: bool) -> Iterator[Array]:
        """Yield the positions with a score in blocks, ascending: the decided ones, or with *due* the undecided ones."""
        low, high = (0, self.decided_mark - 1) if due else (self.decided_mark, self.decided_mark + 1)  # of the counters
        # A LOSE is due only when no undecided child is left.
        if due and score >> self.bits == LOSE_CLASS:
            high = 0
        yield from self.find(lambda scores, counters: (scores == score) & (counters >= low) & (counters <= high))

    def find(self, condition: Callable[[Array, Array], Array]) -> Iterator[Array]:
        """Yield the positions whose scores and counters meet a condition, block by block."""
        for first, scores, counters in self.blocks():
            yield first + np.flatnonzero(condition(scores, counters))

    def blocks(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield blocks of all positions: the first number, the scores and the counters."""
        for begin in range(0, len(self.scores), BLOCK):
            yield begin, self.scores[begin : begin + BLOCK], self.children_left[begin : begin + BLOCK]

    def plies(self, score: int) -> int:
        """Return the remoteness of a score."""
        plies = score & self.greatest
        return plies if score >> self.bits == LOSE_CLASS else self.greatest - plies

    def check_draws(self) -> None:
        """Request the parents of a sample of draws: `parents_of` raises if they do not agree with the children."""
        sample = edges.sample_of(len(self.scores))
        undecided = self.children_left[sample] < self.decided_mark
        for _ in self.parents_of(sample[undecided | (self.scores[sample] == DRAW_CLASS << self.bits)]):
            pass  # where the rules give parents, `parents_of` compares them with the children
