"""Tiers solved beside one another, as long as none of them leads to another.

The rules do not say which tiers a tier leads to. So tiers are tried one after another, last first; one that turns out
to lead to a tier that is not solved yet waits until it is, and another has its turn::

    tiers, last first    9        8         7            6        5         4            3   …
                         solved   its turn  waits for 8  solved   its turn  waits for 5

The last one that is not solved leads to none of the others, so there is always one that need not wait. Tiers that are
large are alone: they have tasks for all workers.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.solved_tiers import Solved, Unsolved
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]
SolveTier = Callable[["UnderWay", ExitStack], Done]
"""Solves a tier, and returns what is to be kept of it; what it has put aside stays *until* that *is kept*. Raises
Unsolved where the tier must wait before anything is done."""
RoomFor = Callable[[int], int]
"""Says how many bytes a tier has use for; 0 of one that is to be alone."""

TRIED = 8
"""Tiers for each worker that have been tried and are not solved: of `draughts:4`, on two threads, two have their turn
then for 89 % of the time; for 43 % with two for each worker, and for 90 % with sixteen."""


class Ended(Exception):
    """What is under way is to end, for the solve has."""


class UnderWay(Solved):
    """A tier under way: which ones were solved when it had its turn, and how far it is."""

    def __init__(self, k: int, flags: Array, news: "SimpleQueue[News]"):
        super().__init__(flags)
        self.k, self.news = k, news
        self.told: tuple[float, int | None, Deciding | None] = 0.0, None, None
        self.turn = threading.Event()
        self.half_done = self.ended = False

    def working(self, work: float, tier: int | None = None, deciding: Deciding | None = None) -> None:
        """Take note of how far the tier is."""
        if self.ended:
            raise Ended
        self.told = work, tier, deciding

    def wait_for(self, k: int) -> None:
        """Wait until a later tier is solved, and it is this one's turn again."""
        self.half_done = True
        self.news.put(News(self, waits_for=k))
        self.turn.wait()
        self.turn.clear()
        if self.ended:
            raise Ended

    def go_on(self, flags: Array) -> None:
        """Have it go on, with what is solved now."""
        self.flags = flags
        self.turn.set()

    def end(self) -> None:
        """Have it end as soon as it can."""
        self.ended = True
        self.turn.set()


class News(NamedTuple):
    """What a thread tells of a tier: what is to be kept of it, and closed then; or for which it waits; or an error."""

    tier: UnderWay
    done: tuple[Done, ExitStack] | None = None
    waits_for: int | None = None
    error: BaseException | None = None


class Beside:
    """Solves tiers beside one another, as many at once as there are workers, where memory allows.

    *solved* says which are solved, and is kept up to date by whoever takes what is yielded.
    """

    def __init__(self, work: Work, solved: Solved, room_for: RoomFor, solve: SolveTier):
        self.work, self.solved, self.room_for, self.solve_tier = work, solved, room_for, solve
        self.threads = ThreadPoolExecutor(TRIED * work.workers)
        self.news: SimpleQueue[News] = SimpleQueue()
        self.next: int | None = None
        """The tier to be tried next."""
        self.turns: dict[int, UnderWay] = {}
        """The tiers whose turn it is."""
        self.waiting: dict[int, int | None] = {}
        """Other tiers, and for which one each waits; None where that is only its turn."""
        self.half_done: dict[int, UnderWay] = {}
        """Those of them that have begun."""
        self.failed: dict[int, BaseException] = {}
        work.open.push(lambda kind, *_: self.end(kind is None or not issubclass(kind, KeyboardInterrupt)))

    def until(self, k: int, phase: Phase) -> Iterator[Done]:
        """Yield what is to be kept of tiers, until tier k is solved; all later ones are. Others are solved meanwhile.

        An error is raised when it is the turn of its tier, so it is the same one however tiers are solved.
        """
        while not self.solved.flags[k]:
            if k in self.failed:
                self.end()
                raise self.failed[k]
            self.give_turns(k)
            try:
                tier, done, waits_for, error = self.news.get(timeout=phase.often if phase.listener else None)
            except Empty:
                self.tell(phase)
                continue
            del self.turns[tier.k]
            if error:
                self.failed[tier.k] = error
            elif done:
                self.give_turns(k)  # before that is written down
                with done[1]:
                    yield done[0]
            else:
                self.waiting[tier.k] = waits_for
                if tier.half_done:
                    self.half_done[tier.k] = tier

    def give_turns(self, k: int) -> None:
        """Give tiers their turns, the last ones first: from tier k on, up to one that is to be alone."""
        row = k if self.next is None else min(self.next, k)
        while row >= 0 and self.room_for(row) and len(self.turns) + len(self.waiting) < TRIED * self.work.workers:
            if not self.solved.flags[row]:
                self.waiting[row] = None
            row -= 1
        self.next = row
        for row, later in sorted(self.waiting.items(), reverse=True):
            if later is None or self.solved.flags[later]:
                if not self.may_begin(row):
                    break
                self.give_turn(row)

    def may_begin(self, k: int) -> bool:
        """Tell whether there are a worker and memory for one more tier, or nothing else is under way."""
        if not self.turns:
            return True
        enough = sum(map(self.room_for, (*self.turns, k)))
        return len(self.turns) < self.work.workers and enough <= self.work.budget.left()

    def give_turn(self, k: int) -> None:
        """Have a tier begin, or go on."""
        del self.waiting[k]
        flags = self.solved.flags.copy()  # no kernel is to see it change
        if tier := self.half_done.pop(k, None):
            tier.go_on(flags)
        else:
            tier = UnderWay(k, flags, self.news)
            self.threads.submit(self.solve, tier)
        self.turns[k] = tier

    def solve(self, tier: UnderWay) -> None:
        """Solve a tier, and tell what has come of it."""
        try:
            with ExitStack() as until_kept:
                done = self.solve_tier(tier, until_kept)
                self.news.put(News(tier, (done, until_kept.pop_all())))
        except Unsolved as unsolved:
            self.news.put(News(tier, waits_for=unsolved.k))
        except BaseException as error:
            self.news.put(News(tier, error=error))

    def tell(self, phase: Phase) -> None:
        """Tell how far all that is under way is together, and the last tier in particular."""
        told = [tier.told for _, tier in sorted((self.turns | self.half_done).items(), reverse=True)]
        if begun := [(tier, deciding) for _, tier, deciding in told if tier is not None]:
            phase.working(sum(work for work, *_ in told), *begun[0])

    def end(self, waiting: bool = True) -> None:
        """End what is under way, and wait for that, unless rules may go on for ever."""
        for tier in (self.turns | self.half_done).values():
            tier.end()
        self.threads.shutdown(wait=waiting, cancel_futures=True)
