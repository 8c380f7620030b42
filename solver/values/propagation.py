"""Outcomes passed back through a tier: from what is decided to the positions that lead there."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from retrograde.solver.runtime.progress import Deciding, Telling
from retrograde.solver.values import edges
from retrograde.solver.values import propagation_kernels as kernels
from retrograde.solver.values.left import decided_from
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, TIE_CLASS, WIN_CLASS, RemotenessOverflow
from retrograde.solver.values.tally import PART

Array = np.ndarray[Any, Any]
Tell = Callable[[int, int, int, float | None], None]
"""Told of how many positions are decided, of how many, the remoteness of those decided last, and what part is done of a
forward pass, if this is one."""
Mark = Callable[[int, int], None]
"""Told of a class, WIN_CLASS or TIE_CLASS, and a remoteness: up to there outcomes have been passed back, and what the
arrays hold is all that must be known to go on."""


def telling(phase: Telling, tier: int, looking: float) -> Tell:
    """Return what tells a phase how far a tier is, of which looking at all of it once has been such a share."""

    def tell(decided: int, total: int, remoteness: int, again: float | None) -> None:
        phase.working(looking * total + (1 - looking) * decided, tier, Deciding(decided, total, remoteness, again))

    return tell


def scores_at(group: int, remoteness: int, bits: int) -> list[int]:
    """Return the scores of what is passed back with a class, WINs and LOSEs or TIEs, from so many plies."""
    scores = [group << bits | (1 << bits) - 1 - remoteness]
    return scores + [LOSE_CLASS << bits | remoteness] * (group == WIN_CLASS)


class Batch:
    """Positions of one score, decided or due: `count` of them, listed as long as there is room, and else to be found by
    that score (then `parts` is None)."""

    def __init__(self) -> None:
        self.count = 0
        self.parts: list[Array] | None = []

    @property
    def listed(self) -> int:
        """How many positions are listed."""
        return self.count if self.parts is not None else 0


class Propagation:
    """Outcomes passed back through a tier, from each remoteness to the next; its positions are numbered from 0.

    `scores` comes with what is primitive, and for what is undecided with the greatest score passed up from later tiers,
    0 for none; `left` says what is decided, and how many distinct children of all others must still turn out to be WINs
    before the position is a LOSE (see left.py). *parents_of* gives the parents within the tier of some positions, a few
    at a time, each as often as it has distinct children there; it is asked once about each position that is decided.
    *tell* is called now and again. If *again*, the same player may move twice: then the complement (`~`) of a parent's
    number stands for the parent where it does, to whom a WIN is a WIN. So many positions are listed as *room* says;
    where more are decided at once they are looked for among all. *mark* is called after each remoteness.
    """

    def __init__(
        self, bits: int, scores: Array, left: Array, parents_of: Callable[[Array], Iterable[Array]],
        tell: Tell = lambda *_: None, again: bool = False, room: int = 1 << 62, mark: Mark = lambda *_: None,
    ):  # fmt: skip
        self.bits, self.scores, self.left, self.parents_of = bits, scores, left, parents_of
        self.tell, self.again, self.room, self.mark = tell, again, room, mark
        self.greatest = (1 << bits) - 1
        self.decided_from = decided_from(left)
        self.narrow = np.uint32 if len(scores) < 1 << 32 else np.int64
        self.due: dict[int, Batch] = {}
        """By score, the undecided positions that will have it at the latest."""
        self.last: dict[int, Batch] = {}
        """By score, the positions that were decided last."""
        self.listed = 0
        """How many positions are listed in these."""
        self.looked_again: float | None = None
        """What part is done of a forward pass, if this is one."""

    def run(self, group: int = WIN_CLASS, remoteness: int = 0) -> None:
        """Score all positions, from the start or from where a *mark* was made, with what the arrays held then.

        A parent of a LOSE is a WIN; an undecided parent of a WIN whose children are all WINs is a LOSE. (Of the same
        player's moves it is the other way round.) Then a parent of a TIE is a TIE, and what is left is a DRAW.
        """
        self.decided = sum(int(np.count_nonzero(left >= self.decided_from)) for _, _, left in self.stretches())
        if group == WIN_CLASS:
            self.propagate(WIN_CLASS, remoteness)
            remoteness = 0
        self.propagate(TIE_CLASS, remoteness)
        self.ask_draws()
        for _, scores, left in self.stretches():
            kernels.leave_draws(scores, left, self.decided_from, DRAW_CLASS << self.bits)

    def propagate(self, group: int, remoteness: int) -> None:
        """Pass back WINs and LOSEs, or TIEs, from those that are decided in so many plies and from what later tiers
        decide."""
        for some in self.found(kernels.find_due, self.decided_from, group, self.bits):
            self.put_off(some)
        self.last = {score: Batch() for score in scores_at(group, remoteness, self.bits)}
        for score, batch in self.last.items():
            for some in self.with_score(score, due=False):
                self.note(batch, some)
        self.remoteness = remoteness
        while any(batch.count for batch in self.last.values()) or self.due:
            if not any(batch.count for batch in self.last.values()):
                self.remoteness = min(map(self.plies, self.due)) - 1
            self.remoteness += 1
            if self.remoteness >= self.greatest - 1:
                raise RemotenessOverflow
            before, self.last = self.last, {}
            now = {score: self.due.pop(score) for score in list(self.due) if self.plies(score) == self.remoteness}
            self.listed -= sum(batch.listed for batch in (*before.values(), *now.values()))
            self.tell_parents(group, before)
            for score, batch in now.items():
                for some in self.positions(score, batch, due=True):
                    self.settle(some, score)
            self.mark(group, self.remoteness)

    def tell_parents(self, group: int, before: dict[int, Batch]) -> None:
        """Tell the parents of what was decided last, by score, where WINs and LOSEs are passed back, or TIEs."""
        for score, batch in before.items():
            self.pass_back(score >> self.bits, self.positions(score, batch, due=False))

    def pass_back(self, group: int, frontier: Iterable[Array]) -> None:
        """Tell the parents of positions of a class, some at a time, that these are decided."""
        score = (TIE_CLASS if group == TIE_CLASS else WIN_CLASS) << self.bits | self.greatest - self.remoteness
        for positions in frontier:
            for parents in self.parents_of(positions):
                others = parents[parents >= 0] if self.again else parents
                own = ~parents[parents < 0] if self.again else parents[:0]
                for to, bad in ((others, group == WIN_CLASS), (own, group == LOSE_CLASS)):
                    if len(to) and bad:
                        self.count_down(to)
                    elif len(to):
                        self.settle(to, score)

    def count_down(self, positions: Array) -> None:
        """Note that a move of each position is lost; those of which all are have lost, now or when the last is."""
        out = np.empty(len(positions), np.int64)
        ready = out[: kernels.count_down(positions, self.decided_from, self.left, out)]
        late = (self.scores[ready] & self.greatest) > self.remoteness  # a child in a later tier holds out longer
        self.put_off(ready[late])
        self.settle(ready[~late], LOSE_CLASS << self.bits | self.remoteness)

    def settle(self, positions: Array, score: int) -> None:
        """Give the undecided ones of some positions a score."""
        out = np.empty(len(positions), np.int64)
        settled = out[: kernels.settle(positions, self.decided_from, score, self.scores, self.left, out)]
        self.note(self.last.setdefault(score, Batch()), settled)
        self.decided += len(settled)
        self.tell(self.decided, len(self.scores), self.remoteness, self.looked_again)

    def put_off(self, positions: Array) -> None:
        """Note that some positions will have the scores that are passed up to them."""
        scores = self.scores[positions]
        order = np.argsort(scores, kind="stable")
        cuts = np.flatnonzero(np.diff(scores[order])) + 1
        for some in np.split(positions[order], cuts):
            if len(some):
                self.note(self.due.setdefault(int(self.scores[some[0]]), Batch()), some)

    def note(self, batch: Batch, positions: Array) -> None:
        """Add positions to a batch; where lists grow too long, forget the longest."""
        if not len(positions):
            return
        batch.count += len(positions)
        if batch.parts is not None:
            batch.parts.append(positions.astype(self.narrow))
            self.listed += len(positions)
        while self.listed > self.room:
            longest = max((*self.due.values(), *self.last.values()), key=lambda each: each.listed)
            self.listed -= longest.listed
            longest.parts = None

    def positions(self, score: int, batch: Batch, due: bool) -> Iterator[Array]:
        """Yield the positions of a batch, ascending, and so many at once."""
        if batch.parts is None:
            yield from self.with_score(score, due)
            return
        positions = np.sort(np.concatenate([np.empty(0, self.narrow), *batch.parts]))
        batch.parts = None
        for begin in range(0, len(positions), PART):
            yield positions[begin : begin + PART].astype(np.int64)

    def with_score(self, score: int, due: bool) -> Iterator[Array]:
        """Yield the positions with a score, ascending, and so many at once: those that are decided, or *due*."""
        low, high = (0, self.decided_from - 1) if due else (self.decided_from, self.decided_from + 1)
        if due and score >> self.bits == LOSE_CLASS:
            high = 0
        yield from self.found(kernels.find_scored, score, low, high)

    def found(self, find: Callable[..., int], *what: int) -> Iterator[Array]:
        """Yield the positions that a kernel finds, stretch by stretch."""
        for first, scores, left in self.stretches():
            out = np.empty(len(left), np.int64)
            yield out[: find(scores, left, first, *what, out)]

    def stretches(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield stretches of all positions: where each begins, its scores, and what is left."""
        for begin in range(0, len(self.scores), PART):
            yield begin, self.scores[begin : begin + PART], self.left[begin : begin + PART]

    def plies(self, score: int) -> int:
        """Return the remoteness that a score says."""
        plies = score & self.greatest
        return plies if score >> self.bits == LOSE_CLASS else self.greatest - plies

    def ask_draws(self) -> None:
        """Ask some draws for their parents, which decide nothing, so that wrong ones are told."""
        places = edges.some_of(len(self.scores))
        undecided = self.left[places] < self.decided_from
        for _ in self.parents_of(places[undecided | (self.scores[places] == DRAW_CLASS << self.bits)]):
            pass
