"""Tiers solved beside one another, as long as none of them leads to another.

The rules do not say which tiers a tier leads to. So tiers are begun one after another, last first, and several are
under way at once; one that turns out to lead to a tier that is not solved yet waits there until it is::

    tiers, last first    9        8         7              6      5        4   …
                         solved   its turn  waits for 8    solved its turn waits for its turn

The last one under way leads to none of the others, so there is always one that does not wait. Tiers that are large are
alone: they have blocks enough for all workers.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any

import numpy as np

from retrograde.solver.numbered.table import Solved
from retrograde.solver.work.driver import Done
from retrograde.solver.work.progress import Deciding, Phase
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]
SolveTier = Callable[[int, "UnderWay", ExitStack], Done]
"""Solves a tier, and returns what is to be kept of it; what it has put aside stays *until* that *is kept*."""
RoomFor = Callable[[int], int]
"""Says how many bytes a tier has use for; 0 of one that is to be alone."""

UNDER_WAY = 8
"""Tiers under way for each worker, those that wait included."""


class Ended(Exception):
    """What is under way is to end, for the solve has."""


class UnderWay(Solved):
    """A tier under way: what is told of it, how it takes its turn, and which others were solved when it did."""

    def __init__(self, beside: "Beside", k: int):
        super().__init__(beside.solved.flags)
        self.beside, self.k = beside, k
        self.told: tuple[float, int | None, Deciding | None] = 0.0, None, None

    def working(self, work: float, tier: int | None = None, deciding: Deciding | None = None) -> None:
        """Take note of how far the tier is."""
        if self.beside.ended:
            raise Ended
        self.told = work, tier, deciding

    def take_turn(self, later: int | None = None) -> None:
        """Go on when it is the tier's turn, and a *later* one is solved."""
        beside = self.beside
        with beside.changed:
            beside.changed.wait_for(lambda: beside.ended or later is None or beside.solved.flags[later])
            beside.wanting.add(self.k)
            beside.changed.wait_for(lambda: beside.ended or beside.has_turn(self.k))
            beside.wanting.discard(self.k)
            if beside.ended:
                raise Ended
            beside.turns[self.k] = beside.room_for(self.k)
            self.flags = beside.solved.flags.copy()  # no kernel is to see it change
            beside.changed.notify_all()

    def end_turn(self) -> None:
        """Let another tier have its turn."""
        with self.beside.changed:
            self.beside.turns.pop(self.k, None)
            self.beside.changed.notify_all()

    def wait_for(self, k: int) -> None:
        """Let others have their turn until a later tier is solved."""
        self.end_turn()
        self.take_turn(k)


class Beside:
    """Solves tiers beside one another, as many at once as there are workers, where memory allows.

    *solved* says which are solved, and is kept up to date by whoever takes what is yielded.
    """

    def __init__(self, work: Work, solved: Solved, room_for: RoomFor, solve: SolveTier):
        self.work, self.solved, self.room_for, self.solve_tier = work, solved, room_for, solve
        self.changed = threading.Condition()
        """Held while these are looked at or changed by several threads:"""
        self.turns: dict[int, int] = {}
        """The tiers whose turn it is, and for how many bytes they have use..."""
        self.wanting: set[int] = set()
        """...those that only wait for their turn..."""
        self.ended = False
        """...and whether all are to end."""
        self.threads = ThreadPoolExecutor(UNDER_WAY * work.workers)
        self.under_way: dict[int, UnderWay] = {}
        self.running: dict[int, Future[tuple[Done, ExitStack]]] = {}
        self.failed: dict[int, BaseException] = {}
        self.next: int | None = None
        """The tier to be begun next."""
        work.open.push(lambda kind, *_: self.end(kind is None or not issubclass(kind, KeyboardInterrupt)))

    def until(self, k: int, phase: Phase) -> Iterator[Done]:
        """Yield what is to be kept of tiers, until tier k is solved; all later ones are. Others are begun meanwhile.

        An error is raised when it is the turn of its tier: the same error however tiers are solved.
        """
        while not self.solved.flags[k]:
            if k in self.failed:
                self.end()
                raise self.failed[k]
            self.begin(k)
            wait(self.running.values(), phase.often if phase.listener else None, FIRST_COMPLETED)
            self.tell(phase)
            for row in [row for row, future in self.running.items() if future.done()]:
                future = self.running.pop(row)
                del self.under_way[row]
                if error := future.exception():
                    self.failed[row] = error
                    continue
                done, until_kept = future.result()
                with until_kept:
                    yield done
                with self.changed:
                    self.changed.notify_all()

    def begin(self, k: int) -> None:
        """Begin tier k, and those before it up to one that is to be alone."""
        row = k if self.next is None else min(self.next, k)
        while row >= 0 and self.room_for(row) and len(self.running) < UNDER_WAY * self.work.workers:
            if not self.solved.flags[row]:
                self.under_way[row] = UnderWay(self, row)
                self.running[row] = self.threads.submit(self.solve, self.under_way[row])
            row -= 1
        self.next = row

    def solve(self, tier: UnderWay) -> tuple[Done, ExitStack]:
        """Solve a tier when it is its turn; return what is to be kept of it, and what to close then."""
        with ExitStack() as until_kept:
            tier.take_turn()
            try:
                return self.solve_tier(tier.k, tier, until_kept), until_kept.pop_all()
            finally:
                tier.end_turn()

    def has_turn(self, k: int) -> bool:
        """Tell whether it is the turn of a tier that waits for it: the last one's, if there is a worker and memory."""
        if k != max(self.wanting):
            return False
        if not self.turns:
            return True
        enough = sum(self.turns.values()) + self.room_for(k)
        return len(self.turns) < self.work.workers and enough <= self.work.budget.left()

    def tell(self, phase: Phase) -> None:
        """Tell how far all that is under way is together, and the last tier in particular."""
        told = [self.under_way[row].told for row in sorted(self.under_way, reverse=True)]
        if begun := [(tier, deciding) for _, tier, deciding in told if tier is not None]:
            phase.working(sum(work for work, *_ in told), *begun[0])

    def end(self, waiting: bool = True) -> None:
        """End what is under way, and wait for that, unless rules may go on for ever."""
        with self.changed:
            self.ended = True
            self.changed.notify_all()
        self.threads.shutdown(wait=waiting, cancel_futures=True)
