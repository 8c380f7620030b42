"""Runs the set-wise method: explores a game forward, then solves it backward, in memory or with scratch files.

The package's docstring explains the method. A game qualifies if:

- The rules are plain in every tier: all positions have the same moves, and each move writes constants. The rules are
  run once on symbolic bits (see `symbols.py` and `rules.py` in rules/plain/), and this is proved for each tier.
- When the game is over, the player to move has lost. Misère play is the reverse. Ties occur only in the last wave.
- The start position is its own image.

Otherwise the method raises NotApplicable, and another method solves the game and writes the same bytes.

If memory suffices, everything stays in memory. Such a solve takes minutes, and after a kill it starts from the
beginning. Otherwise waves are stored in scratch files, and a journal lists them, so that a killed solve resumes.
Workers that share only files always use scratch files: uncompressed while there is workspace, then compressed.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from retrograde.databases.write import SolvedSteps
from retrograde.games.contract.game import Game
from retrograde.solver.methods.setwise.backward import SetwiseStore, frames_in_entry
from retrograde.solver.methods.setwise.forward import Exploration, SetsLog, TooLargeForMemory
from retrograde.solver.methods.setwise.mirror import NotSymmetric
from retrograde.solver.methods.setwise.storage import WaveStorage, bytes_of_planes
from retrograde.solver.methods.setwise.tiers import most_bits, plain_rules
from retrograde.solver.methods.streamed.steps import STORED
from retrograde.solver.methods.streamed.store import drop_incomplete_wave
from retrograde.solver.rules.plain.rules import NO_MIRROR, Rules
from retrograde.solver.runtime.cluster.sheets import are_usable
from retrograde.solver.runtime.driver import drive
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import DamagedScratch, Scratch
from retrograde.solver.runtime.work import NotApplicable, Outlook, Work, too_small

FOR_PLANES = 0.5
"""Share of the free memory that unpacked planes may take. If they take more, planes are packed."""
CACHED = 4
"""The cache of scratch files gets one part in CACHED of the free memory..."""
STEPS_CACHED = 1 << 28
"""...or this many bytes at most if scratch files hold only steps. Tiers are written by number, so those of many
waves alternate. The same number of bytes of steps is held in memory without a file."""


@dataclass(frozen=True)
class Setwise:
    """The set-wise method: sets of positions as 64-bit words, values as bit planes.

    *outlook* makes the estimates of a solve. *early* means that the method is tried before positions are counted. Then
    it refuses games in which no tier seems to be large.
    """

    outlook: Callable[[Game, Work], Outlook]
    early: bool = False
    name: ClassVar[str] = "setwise"

    def solve(self, game: Game, work: Work) -> SolvedSteps:
        """Return the solved game; raise NotApplicable if the rules are not plain enough, or DamagedScratch."""
        rules = plain_rules(game)
        if self.early and 1 << most_bits(game, rules) <= work.sizes.in_memory:
            raise NotApplicable("its tiers seem to be small")
        sets_log, worths_log, asymmetric = work.log("sets"), work.log("worths"), work.log("lopsided")
        if asymmetric.resumed:
            rules = rules._replace(mirror=NO_MIRROR)
        try:
            return self.solve_by(rules, game, work, sets_log, worths_log)
        except NotSymmetric:
            restart(sets_log, worths_log)
            asymmetric.add(())  # in this order: tiers found with a mirror cannot be resumed without one
            asymmetric.settle()
            return self.solve_by(rules._replace(mirror=NO_MIRROR), game, work, sets_log, worths_log)

    def solve_by(self, rules: Rules, game: Game, work: Work, sets_log: Log, worths_log: Log) -> SolvedSteps:
        """Solve in memory if that suffices and there is nothing to resume, else with scratch files."""
        worths_log.since_restart()
        resumed = bool(sets_log.since_restart())
        if not resumed and work.shares_memory:
            try:
                logs = work.log("sets", kept=False), work.log("worths", kept=False)
                return self.attempt(rules, game, work, *logs, in_scratch=False)
            except TooLargeForMemory:
                pass
        try:
            return self.attempt(rules, game, work, sets_log, worths_log)
        except DamagedScratch:
            if not resumed:  # this solve wrote the files itself: the disk is at fault
                raise
            restart(sets_log, worths_log)
            return self.attempt(rules, game, work, sets_log, worths_log)

    def attempt(
        self, rules: Rules, game: Game, work: Work, sets_log: Log, worths_log: Log, in_scratch: bool = True
    ) -> SolvedSteps:
        """Return the solved game, resuming from the logs, with scratch files or (not *in_scratch*) in memory.

        In memory, steps go to a Scratch all the same: it holds the first STEPS_CACHED bytes, and others are in files.
        """
        # Step 1: Open the scratch files, and see what an earlier solve has left.
        cached = max(work.budget.free_bytes(), 0) // CACHED
        if not work.shares_memory:  # each worker has a cache, and so has this process
            cached //= work.sharing + 1
        step_bytes = min(cached, STEPS_CACHED)
        files = Scratch(work.scratch, cached) if in_scratch else Scratch(work.scratch, step_bytes, held=step_bytes)
        scratch = work.until_written(files)
        log = SetsLog(sets_log)
        scratch.begin(fresh=not log.filled)
        log.drop_missing(scratch)
        drop_incomplete_wave(worths_log, scratch, frames_in_entry)
        work.course.plan(exploring=0.4, solving=0.5, writing=0.1)
        # Step 2: Find all positions. Leave small games to other methods: only now is the number of positions known.
        storage = WaveStorage(scratch if in_scratch else None, uncompressed=not work.shares_memory)
        exploration = Exploration(game, rules, work, self.outlook(game, work), storage, scratch)
        exploration.explore(log, work.phase("exploring"))
        records = int(exploration.over[:, STORED].sum())  # of all primitive values, undecided ones included
        if records <= work.sizes.in_memory:
            raise too_small(records, work.sizes)
        # Step 3: Solve the waves, last first.
        unpacks = can_unpack(exploration.storage, work, bytes_of_planes(exploration.waves))
        store = SetwiseStore(exploration, exploration.storage._replace(unpacks=unpacks), worths_log)
        drive(store, worths_log, work.phase("solving", store.unfinished))
        return store.solved()


def restart(sets_log: Log, worths_log: Log) -> None:
    """Record that the solve restarts. First in the log of worths: without sets there can be no worths."""
    for log in (worths_log, sets_log):
        log.restart()


def can_unpack(storage: WaveStorage, work: Work, planes: int) -> bool:
    """Return whether waves may be unpacked on the way back. *planes* is the number of bytes of two waves' planes.

    With scratch files, planes are unpacked in shared files. All workers must see the same files, and these must lie in
    the system's memory.
    """
    if storage.scratch:
        can_share = storage.uncompressed and not work.apart and are_usable()
        if not can_share or planes > shutil.disk_usage(work.scratch).free // 2:
            return False
    return planes < FOR_PLANES * work.budget.free_bytes()
