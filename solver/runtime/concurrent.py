"""Solves tiers concurrently, as long as none of them leads to another.

The rules do not say which tiers a tier leads to. So tiers are tried one after another, last first. A tier that turns
out to lead to an unsolved tier waits until that one is solved, and another takes its turn::

    tiers, last first    9        8         7            6        5         4            3   …
                         solved   its turn  waits for 8  solved   its turn  waits for 5

The last unsolved tier leads to none of the others, so at least one need never wait. A large tier is solved alone: it
has tasks for all workers.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from typing import NamedTuple

from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.progress import Deciding, Phase
from retrograde.solver.runtime.work import Work

SolveTier = Callable[["RunningTier", ExitStack], Done]
"""Solves a tier, and returns what to keep of it; the ExitStack closes its temporary data after that is kept. Raises
Unsolved if the tier must wait before anything is done.
"""
BytesFor = Callable[[int], int]
"""Returns the bytes that a tier needs; 0 for a tier to be solved alone."""

TRIED = 8
"""The most unsolved tiers tried, for each worker. Measured with `draughts:4` on two threads: both are busy 89 % of the
time with 8, 43 % with 2, and 90 % with 16.
"""


class Unsolved(Exception):
    """A tier leads to tier number *k*, which is not solved yet."""

    def __init__(self, k: int):
        super().__init__(k)
        self.k = k


class SolvedTiers:
    """Which tiers are solved: `flags` is bool[tiers]. Here tiers are solved one after another, and none ever waits."""

    def __init__(self, flags: Array):
        self.flags = flags

    def wait_for(self, k: int) -> None:
        """Wait until tier k is solved; here, raise Unsolved."""
        raise Unsolved(k)


class SolveEnded(Exception):
    """Stops the thread of a tier because the solve has ended."""


class RunningTier(SolvedTiers):
    """A tier whose thread solves it: the tiers solved at its last turn, and its progress."""

    def __init__(self, k: int, flags: Array, messages: "SimpleQueue[TierMessage]"):
        super().__init__(flags)
        self.k, self.messages = k, messages
        self.progress: tuple[float, int | None, Deciding | None] = 0.0, None, None
        self.turn = threading.Event()
        self.suspended = self.ended = False

    def working(self, work: float, tier: int | None = None, deciding: Deciding | None = None) -> None:
        """Record the tier's progress for `ConcurrentTiers.tell`; the parameters are those of `Phase.working`."""
        if self.ended:
            raise SolveEnded
        self.progress = work, tier, deciding

    def wait_for(self, k: int) -> None:
        """Suspend the thread until tier k is solved and this tier has its turn; then `flags` are up to date. Raises
        SolveEnded if the solve ends first."""
        self.suspended = True
        self.messages.put(TierMessage(self, waits_for=k))
        self.turn.wait()
        self.turn.clear()
        if self.ended:
            raise SolveEnded

    def go_on(self, flags: Array) -> None:
        """Resume the suspended thread; *flags* say which tiers are solved by now."""
        self.flags = flags
        self.turn.set()

    def end(self) -> None:
        """Make the tier's thread stop as soon as it can."""
        self.ended = True
        self.turn.set()


class TierMessage(NamedTuple):
    """A message from a tier's thread: its result, the tier it waits for, or an error."""

    tier: RunningTier
    done: tuple[Done, ExitStack] | None = None
    """The result, and a stack that closes its temporary data."""
    waits_for: int | None = None
    error: BaseException | None = None


class ConcurrentTiers:
    """Solves as many tiers at once as workers and memory allow; the consumer of `until` updates *solved* for each
    result."""

    def __init__(self, work: Work, solved: SolvedTiers, bytes_for: BytesFor, solve: SolveTier):
        self.work, self.solved, self.bytes_for, self.solve_tier = work, solved, bytes_for, solve
        self.threads = ThreadPoolExecutor(TRIED * work.workers)
        self.messages: SimpleQueue[TierMessage] = SimpleQueue()
        self.next: int | None = None
        """The tier to try next."""
        self.turns: dict[int, RunningTier] = {}
        """The tiers whose threads run now."""
        self.waiting: dict[int, int | None] = {}
        """Other tiers that were tried or will be, and the tier that each waits for. None: it waits only for its turn.
        """
        self.suspended: dict[int, RunningTier] = {}
        """Those of `waiting` that have a suspended thread."""
        self.failed: dict[int, BaseException] = {}
        # When the solve ends: wait for the threads, except after Ctrl-C, because rules may run forever.
        work.open.push(lambda kind, *_: self.end(kind is None or not issubclass(kind, KeyboardInterrupt)))

    def until(self, k: int, phase: Phase) -> Iterator[Done]:
        """Yield the results of tier k and of the tiers solved meanwhile. All tiers above k must be solved.

        A tier's error is raised when k is that tier, so that the same error is raised in whatever order tiers are
        solved.
        """
        while not self.solved.flags[k]:
            if k in self.failed:
                self.end()
                raise self.failed[k]
            self.give_turns(k)
            try:
                tier, done, waits_for, error = self.messages.get(timeout=phase.often if phase.listener else None)
            except Empty:
                self.tell(phase)
                continue
            del self.turns[tier.k]
            if error:
                self.failed[tier.k] = error
            elif done:
                self.give_turns(k)  # before the consumer spends time writing it down
                result, temporary_data = done
                with temporary_data:
                    yield result
            else:
                # The tier leads to an unsolved one.
                self.waiting[tier.k] = waits_for
                if tier.suspended:
                    self.suspended[tier.k] = tier

    def give_turns(self, k: int) -> None:
        """Start or resume tiers, highest first, from tier k down to the first that must be solved alone."""
        # Step 1: put more tiers on the waiting list, from the highest down.
        tier = k if self.next is None else min(self.next, k)
        while tier >= 0 and self.bytes_for(tier) and len(self.turns) + len(self.waiting) < TRIED * self.work.workers:
            if not self.solved.flags[tier]:
                self.waiting[tier] = None
            tier -= 1
        self.next = tier
        # Step 2: start or resume those that need not wait, while there are workers and memory.
        for tier, waits_for in sorted(self.waiting.items(), reverse=True):
            if waits_for is None or self.solved.flags[waits_for]:
                if not self.may_begin(tier):
                    break
                self.give_turn(tier)

    def may_begin(self, k: int) -> bool:
        """Return whether tier k may run now: no other tier runs, or there are a worker and memory for one more."""
        if not self.turns:
            return True
        needed = sum(map(self.bytes_for, (*self.turns, k)))
        return len(self.turns) < self.work.workers and needed <= self.work.budget.free_bytes()

    def give_turn(self, k: int) -> None:
        """Start a tier, or resume it."""
        del self.waiting[k]
        flags = self.solved.flags.copy()  # a copy: no kernel may see it change
        if tier := self.suspended.pop(k, None):
            tier.go_on(flags)
        else:
            tier = RunningTier(k, flags, self.messages)
            self.threads.submit(self.solve, tier)
        self.turns[k] = tier

    def solve(self, tier: RunningTier) -> None:
        """Solve a tier in its thread, and report the result."""
        try:
            with ExitStack() as until_kept:
                done = self.solve_tier(tier, until_kept)
                self.messages.put(TierMessage(tier, (done, until_kept.pop_all())))
        except Unsolved as unsolved:
            self.messages.put(TierMessage(tier, waits_for=unsolved.k))
        except BaseException as error:
            self.messages.put(TierMessage(tier, error=error))

    def tell(self, phase: Phase) -> None:
        """Report the summed progress of all running tiers, and the details of the highest."""
        reports = [tier.progress for _, tier in sorted((self.turns | self.suspended).items(), reverse=True)]
        if details := [(tier, deciding) for _, tier, deciding in reports if tier is not None]:
            phase.working(sum(records for records, *_ in reports), *details[0])

    def end(self, waiting: bool = True) -> None:
        """Stop all tiers; wait for their threads unless rules may run forever."""
        for tier in (self.turns | self.suspended).values():
            tier.end()
        self.threads.shutdown(wait=waiting, cancel_futures=True)
