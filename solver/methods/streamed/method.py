"""Runs the streamed method: explores a game forward, then solves it backward, with sorted lists in scratch files.

The package's docstring explains the method. It applies if every move leads from one wave of tiers to the next, players
alternate, and there is one start position. Otherwise it raises NotApplicable, and the game is solved in memory (see
`solver/methods/listed/`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from retrograde.databases.write import SolvedRows, SolvedSteps
from retrograde.games.contract.game import Game, Traits
from retrograde.solver.methods.streamed.backward import StreamedStore, frames_in_entry
from retrograde.solver.methods.streamed.forward import ForwardSweep
from retrograde.solver.methods.streamed.journal import ForwardJournal
from retrograde.solver.methods.streamed.rows import solved_rows
from retrograde.solver.methods.streamed.store import drop_incomplete_wave
from retrograde.solver.rules.examine import is_for_a_stream
from retrograde.solver.runtime.driver import drive
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import DamagedScratch
from retrograde.solver.runtime.work import NotApplicable, Outlook, Work, too_small


@dataclass(frozen=True)
class StreamedMethod:
    """The streamed method: positions as sorted lists on disk, values as steps. *outlook* makes the estimates of a
    solve."""

    outlook: Callable[[Game, Work], Outlook]
    name: ClassVar[str] = "streamed"

    def solve(self, game: Game, work: Work) -> SolvedSteps | SolvedRows:
        """Return the solved game; raise NotApplicable if the method does not apply, or the game is small. Raises
        DiskTooSmall. Raises DamagedScratch if scratch files are missing or differ from the journal."""
        if not is_for_a_stream(game):
            raise NotApplicable("players do not alternate, or there are several first positions")
        positions_log, steps_log = work.log("positions"), work.log("steps")
        resumed = bool(positions_log.resumed)
        try:
            return self.attempt(game, work, positions_log, steps_log)
        except DamagedScratch:
            if not resumed:  # this solve wrote the files itself: the disk is at fault
                raise
            for log in (steps_log, positions_log):  # in this order: without positions there can be no steps
                log.restart()
            return self.attempt(game, work, positions_log, steps_log)

    def attempt(self, game: Game, work: Work, positions_log: Log, steps_log: Log) -> SolvedSteps | SolvedRows:
        """Return the solved game, resuming from the logs."""
        # Step 1: See what an earlier solve has left.
        width = Traits.of(game).width
        journal = ForwardJournal(positions_log, width)
        forward = ForwardSweep(game, work, journal)
        work.until_written(forward.scratch)
        drop_incomplete_wave(steps_log, forward.scratch, partial(frames_in_entry, width))
        if not steps_log.resumed:  # else positions of the last waves may be gone, as they should
            journal.check_files(forward.scratch)
        # Step 2: Find all positions.
        outlook = self.outlook(game, work)
        work.course.plan(exploring=0.38, solving=0.57, writing=0.05)  # measured for 6×6: 0.39, 0.57, 0.04
        forward.explore(work.phase("exploring"), outlook.waves)
        total = sum(tier.count for wave in forward.waves for tier in wave.values())
        records = total + int(forward.over[:, 0].sum())
        if records <= work.sizes.in_memory:
            raise too_small(records, work.sizes)
        outlook.check_records(records)
        # Step 3: Solve the waves, last first.
        store = StreamedStore(forward, steps_log)
        work.course.positions_a_record *= store.include_finished(work.course.positions_a_record)
        drive(store, steps_log, work.phase("solving", total))
        return solved_rows(store, forward.finished) if width else store.solved()
