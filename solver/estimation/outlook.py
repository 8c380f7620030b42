"""Estimates made while a solve runs, so that a solve that cannot fit the disk stops early."""

import shutil
import time
from concurrent.futures import Future

from retrograde.games.contract.game import Game
from retrograde.solver.estimation.estimate import COUNTED, QUICK, SAMPLED, estimate
from retrograde.solver.estimation.expected import Estimate, check_disk, streamed_estimate
from retrograde.solver.runtime.work import Work


class RunningOutlook:
    """The outlook of one running solve (see `Outlook` in `runtime/work.py`).

    The first estimate is quick. If it says that the disk is too small, a careful one decides: the same that
    `solve --estimate` prints.
    """

    def __init__(self, game: Game, work: Work):
        self.game, self.work, self.about = game, work, (game, work.workers)
        self.began = time.monotonic()
        self.expected: Future[Estimate] | None = None
        self.careful = False
        self.known: list[int] = []

    def waves(self) -> list[int]:
        """Return the positions of each wave once a worker has estimated them, an empty list before."""
        if self.expected is None and time.monotonic() - self.began >= self.work.sizes.estimate_seconds:
            self.expected = self.work.executor.submit(estimate, *self.about, *QUICK, self.work.sizes.in_memory)
        elif self.expected and self.expected.done() and not self.known:
            expected = self.expected.result()
            if not self.careful and expected.disk > self.free():
                self.careful = True
                self.expected = self.work.executor.submit(
                    estimate, *self.about, COUNTED, SAMPLED, self.work.sizes.in_memory
                )
                return self.known
            self.check(expected)
            self.known = expected.waves
        return self.known

    def check_records(self, records: int) -> None:
        """Raise DiskTooSmall if the disk cannot hold *records* records as runs."""
        self.check(streamed_estimate(records))

    def plain_waves(self, written: int) -> list[int]:
        """Return the positions of each wave of a game with plain rules.

        Raises DiskTooSmall if the disk cannot hold them.
        """
        expected = estimate(*self.about, *QUICK, self.work.sizes.in_memory, is_plain=lambda game: True)
        check_disk(self.game, self.work.scratch.parent, expected, written)
        return expected.waves

    def free(self) -> int:
        """Return the free bytes of the disk, plus those that this solve has written."""
        return shutil.disk_usage(self.work.scratch.parent).free + self.written()

    def written(self) -> int:
        """Return how many bytes this solve has written."""
        return sum(file.stat().st_size for file in self.work.scratch.iterdir())

    def check(self, expected: Estimate) -> None:
        """Raise DiskTooSmall if an estimate does not fit the disk."""
        check_disk(self.game, self.work.scratch.parent, expected, self.written())
