"""Outcomes passed back through a tier: from what is decided to the positions that lead there."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from retrograde.games.game import LOSE, TIE, WIN
from retrograde.solver.outcomes import edges, propagation_kernels
from retrograde.solver.outcomes.score import DRAW_CLASS, TIE_CLASS, WIN_CLASS, RemotenessOverflow
from retrograde.solver.outcomes.score_kernels import primitive_score
from retrograde.solver.work.progress import Deciding, Phase

Array = np.ndarray[Any, Any]
Tell = Callable[[int, int, int], None]
"""Told of how many positions are decided, of how many, and the remoteness of those decided last."""


def telling(phase: Phase, tier: int, looking: float) -> Tell:
    """Return what tells a phase how far a tier is, of which looking at all of it once has been such a share."""

    def tell(decided: int, total: int, remoteness: int) -> None:
        phase.working(looking * total + (1 - looking) * decided, tier, Deciding(decided, total, remoteness))

    return tell


class Propagation:
    """Outcomes passed back through a tier, from each remoteness to the next; its positions are numbered from 0.

    `scores` comes with what is primitive, and UNDECIDED else; `best` of its type has the greatest score passed up from
    later tiers, 0 for none; `left` says how many distinct children must still turn out to be WINs before the position
    is a LOSE. *parents_of* gives the parents within the tier of some positions, a few at a time, each as often as it
    has distinct children there; it is asked once about each position that is decided. *tell* is called now and again.
    If *again*, the same player may move twice: then the complement (`~`) of a parent's number stands for the parent
    where it does, to whom a WIN is a WIN.
    """

    def __init__(
        self, bits: int, scores: Array, best: Array, left: Array,
        parents_of: Callable[[Array], Iterable[Array]], tell: Tell = lambda *_: None, again: bool = False,
    ):  # fmt: skip
        self.bits, self.scores, self.best, self.left, self.parents_of = bits, scores, best, left, parents_of
        self.tell, self.again = tell, again
        self.greatest = (1 << bits) - 1
        self.draw = DRAW_CLASS << bits
        self.undecided = self.draw | 1

    def run(self) -> None:
        """Score all positions.

        A parent of a LOSE is a WIN; an undecided parent of a WIN whose children are all WINs is a LOSE. (Of the same
        player's moves it is the other way round.) Then a parent of a TIE is a TIE, and what is left is a DRAW.
        """
        self.decided = len(self.scores) - int(np.count_nonzero(self.scores == self.undecided))
        self.propagate_wins_and_losses()
        self.propagate_ties()
        self.ask_draws()
        self.scores[self.scores == self.undecided] = self.draw

    def propagate_wins_and_losses(self) -> None:
        pending = Pending()
        undecided = self.scores == self.undecided
        lost = np.flatnonzero(undecided & (self.left == 0))
        pending.add_all(lost, self.best[lost] & self.greatest, "lose")
        won = np.flatnonzero(undecided & (self.best >> self.bits == WIN_CLASS))
        pending.add_all(won, self.greatest - (self.best[won] & self.greatest), "win")
        del undecided, lost, won
        loses = np.flatnonzero(self.scores == primitive_score(LOSE, self.bits))
        wins = np.flatnonzero(self.scores == primitive_score(WIN, self.bits))
        remoteness = 0
        while len(loses) or len(wins) or pending:
            if not len(loses) and not len(wins):
                remoteness = pending.first() - 1
            remoteness += 1
            self.check(remoteness)
            worse, better = self.led_there(wins, loses)
            ready = together([self.count_down(parents) for parents in worse])
            last = self.best[ready] & self.greatest
            late = last > remoteness  # a child in a later tier holds out longer
            pending.add_all(ready[late], last[late], "lose")
            win = WIN_CLASS << self.bits | self.greatest - remoteness
            wins = self.settle(chain(pending.take(remoteness, "win"), better), win)
            loses = self.settle([ready[~late], *pending.take(remoteness, "lose")], remoteness)

    def led_there(self, wins: Array, loses: Array) -> tuple[Iterable[Array], Iterable[Array]]:
        """Return the positions to whose movers a move has turned out bad, and good, by what was decided last.

        The first are each there as often as they have such moves. They are to be gone through in that order.
        """
        if not self.again:
            return self.parents_of(wins), self.parents_of(loses)
        worse: list[Array] = []
        better: list[Array] = []
        for frontier, to_others, to_the_same in ((wins, worse, better), (loses, better, worse)):
            for parents in self.parents_of(frontier):
                to_others.append(parents[parents >= 0])
                to_the_same.append(~parents[parents < 0])
        return worse, better

    def led_to(self, ties: Array) -> Iterable[Array]:
        """Return the positions that lead to ties, whoever is to move there."""
        parents = self.parents_of(ties)
        return (np.where(some < 0, ~some, some) for some in parents) if self.again else parents

    def propagate_ties(self) -> None:
        pending = Pending()
        seeds = np.flatnonzero((self.scores == self.undecided) & (self.best >> self.bits == TIE_CLASS))
        pending.add_all(seeds, self.greatest - (self.best[seeds] & self.greatest), "tie")
        ties = np.flatnonzero(self.scores == primitive_score(TIE, self.bits))
        remoteness = 0
        while len(ties) or pending:
            if not len(ties):
                remoteness = pending.first() - 1
            remoteness += 1
            self.check(remoteness)
            candidates = chain(pending.take(remoteness, "tie"), self.led_to(ties))
            ties = self.settle(candidates, TIE_CLASS << self.bits | self.greatest - remoteness)

    def ask_draws(self) -> None:
        """Ask some draws for their parents, which decide nothing, so that wrong ones are told."""
        places = edges.some_of(len(self.scores))
        scores = self.scores[places]
        for _ in self.parents_of(places[(scores == self.undecided) | (scores == self.draw)]):
            pass

    def check(self, remoteness: int) -> None:
        """Go on to a remoteness; raise RemotenessOverflow where there are not enough bits for it."""
        self.remoteness = remoteness
        if remoteness >= self.greatest - 1:
            raise RemotenessOverflow

    def settle(self, candidates: Iterable[Array], score: int) -> Array:
        """Give the undecided ones of some positions a score, and return them."""
        settled = []
        for positions in candidates:
            out = np.empty(len(positions), np.int64)
            settled.append(out[: propagation_kernels.settle(positions, self.undecided, score, self.scores, out)])
            self.decided += len(settled[-1])
            self.tell(self.decided, len(self.scores), self.remoteness)
        return together(settled)

    def count_down(self, positions: Array) -> Array:
        """Note that a child of each position is a WIN, and return those of which all children are."""
        out = np.empty(len(positions), np.int64)
        return out[: propagation_kernels.count_down(positions, self.undecided, self.scores, self.left, out)]


def together(parts: list[Array]) -> Array:
    """Return arrays of positions as one."""
    return np.concatenate([np.empty(0, np.int64), *parts])


class Pending:
    """Positions whose value is certain and due at a remoteness to come, by remoteness and kind."""

    def __init__(self) -> None:
        self.due: dict[int, dict[str, list[Array]]] = {}

    def __bool__(self) -> bool:
        return bool(self.due)

    def first(self) -> int:
        return min(self.due)

    def add_all(self, positions: Array, remoteness: Array, kind: str) -> None:
        """Add positions of one kind, each with its remoteness."""
        order = np.argsort(remoteness, kind="stable")
        positions, remoteness = positions[order], remoteness[order]
        cuts = np.flatnonzero(remoteness[1:] != remoteness[:-1]) + 1
        for part, plies in zip(np.split(positions, cuts), np.split(remoteness, cuts), strict=True):
            if len(part):
                self.due.setdefault(int(plies[0]), {}).setdefault(kind, []).append(part)

    def take(self, remoteness: int, kind: str) -> list[Array]:
        """Remove and return what is due."""
        due = self.due.get(remoteness, {})
        taken = due.pop(kind, [])
        if not due:
            self.due.pop(remoteness, None)
        return taken
