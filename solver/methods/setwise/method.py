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
from itertools import chain
from typing import ClassVar

import numpy as np

from retrograde.databases.write import SolvedSteps
from retrograde.games.contract.game import Game, InternalError
from retrograde.solver.methods.setwise.backward import Exploration, SetwiseStore
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.forward import (
    PARENTS,
    TIES_AND_ENDS,
    TOO_LONG,
    VALUES,
    ForwardPass,
    SetsLog,
    add_chunk,
    fill,
    first_wave,
    load_parents,
    most_bits,
    next_tiers,
    plain_rules,
    ranges_of,
    tasks_of,
    tier_rules,
)
from retrograde.solver.methods.setwise.forward_kernels import OPEN, TIED
from retrograde.solver.methods.setwise.mirror import NotSymmetric
from retrograde.solver.methods.setwise.storage import (
    Wave,
    WaveStorage,
    bytes_of_planes,
    planes_for,
    save_memory,
    words_in_task,
)
from retrograde.solver.methods.streamed.legend import solved_from
from retrograde.solver.methods.streamed.segments import add_up
from retrograde.solver.methods.streamed.steps import POSITIONS, STORED, TALLIED
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.plain.rules import NO_MIRROR, Rules
from retrograde.solver.rules.plain.tier_kernels import COUNT, NUMBER, VALUE, WORDS
from retrograde.solver.runtime.cluster.sheets import can_be_had
from retrograde.solver.runtime.driver import drive
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import DamagedScratch, Scratch, TaskData
from retrograde.solver.runtime.tasks import free_workspaces
from retrograde.solver.runtime.work import NotApplicable, Outlook, Work, too_small

BYTES_A_POSITION = 1.0
"""Memory for a position that is not over, in bytes, about: a word holds some ten positions."""
BYTES_IN_WAVE = 2.5
"""Additional memory for a position of the largest wave, in bytes, about: its planes, and those of the wave after."""
STORED_SHARE = 0.55
"""Share of all positions in stored tiers if there is a mirror, about."""
FOR_PLANES = 0.5
"""Share of the free memory that unpacked planes may take. If they take more, planes are packed."""
ESTIMATED_AFTER = 1 << 24
"""Positions found before the total is estimated, to see whether memory suffices..."""
PLENTY = 16
"""...unless this many bytes are free for each of them."""
CACHED = 4
"""The cache of scratch files gets one part in CACHED of the free memory..."""
STEPS_CACHED = 1 << 28
"""...or this many bytes at most if scratch files hold only steps. Tiers are written by number, so those of many
waves alternate. The same number of bytes of steps is held in memory without a file."""


class TooLargeForMemory(Exception):
    """Memory does not suffice to hold all waves."""


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
        """Return the solved game; raise NotApplicable if the rules are not plain enough.

        Raises DamagedScratch if scratch files are missing or differ from the journal.
        """
        rules, start = plain_rules(game), start_of(game)
        if self.early and 1 << most_bits(game, rules) <= work.sizes.in_memory:
            raise NotApplicable("its tiers seem to be small")
        found, solved, asymmetric = work.log("sets"), work.log("worths"), work.log("lopsided")
        if asymmetric.resumed:
            rules = rules._replace(mirror=NO_MIRROR)
        try:
            return solve_by(rules, game, start, work, self.outlook, found, solved)
        except NotSymmetric:
            restart(found, solved)
            asymmetric.add(())  # in this order: tiers found with a mirror cannot be resumed without one
            asymmetric.settle()
            return solve_by(rules._replace(mirror=NO_MIRROR), game, start, work, self.outlook, found, solved)


def solve_by(
    rules: Rules, game: Game, start: int, work: Work, outlook: Callable[[Game, Work], Outlook], found: Log, solved: Log
) -> SolvedSteps:
    """Solve in memory if that suffices and there is nothing to resume, else with scratch files."""
    solved.since_anew()
    resumed = bool(found.since_anew())
    if not resumed and work.shares_memory:
        try:
            return Attempt(game, start, rules, work, outlook(game, work)).solve(
                work.log("sets", False), work.log("worths", False)
            )
        except TooLargeForMemory:
            pass
    try:
        return Attempt(game, start, rules, work, outlook(game, work), in_scratch=True).solve(found, solved)
    except DamagedScratch:
        if not resumed:  # this solve wrote the files itself: the disk is at fault
            raise
        restart(found, solved)
        return Attempt(game, start, rules, work, outlook(game, work), in_scratch=True).solve(found, solved)


def restart(found: Log, solved: Log) -> None:
    """Record that the solve restarts. First in the log of worths: without sets there can be no worths."""
    for log in (solved, found):
        log.begin_anew()


class Attempt:
    """One attempt to solve a game, in memory or with scratch files."""

    def __init__(self, game: Game, start: int, rules: Rules, work: Work, outlook: Outlook, in_scratch: bool = False):
        self.game, self.start, self.rules, self.work, self.outlook = game, start, rules, work, outlook
        cached = max(work.budget.left(), 0) // CACHED
        if not work.shares_memory:  # each worker has a cache, and so has this process
            cached //= work.sharing + 1
        if in_scratch:
            self.scratch = work.until_written(Scratch(work.scratch, cached))
        else:
            steps = min(cached, STEPS_CACHED)
            self.scratch = work.until_written(Scratch(work.scratch, steps, held=steps))
        self.storage = WaveStorage(self.scratch if in_scratch else None, plain=not work.shares_memory)
        self.over = np.zeros((VALUES, TALLIED), np.int64)
        self.is_estimated = False

    def solve(self, found: Log, solved: Log) -> SolvedSteps:
        """Return the solved game, resuming from the logs."""
        log = SetsLog(found)
        self.scratch.begin(fresh=not log.filled)
        log.drop_missing(self.scratch)
        self.work.course.plan(exploring=0.4, solving=0.5, writing=0.1)
        try:
            # Step 1: Find all positions.
            waves = self.explore(log, self.work.phase("exploring"))
        finally:
            free_workspaces(PARENTS)
        # Step 2: Leave small games to other methods, and move the count of undecided positions out of the tally.
        over = self.over
        records = int(over[:, STORED].sum())
        if records <= self.work.sizes.in_memory:
            raise too_small(records, self.work.sizes)
        left = int(over[OPEN, STORED])
        times = float(over[:, POSITIONS].sum() / over[OPEN, POSITIONS])
        over[OPEN] = 0
        self.storage = self.storage._replace(unpacks=self.can_unpack(bytes_of_planes(waves)))
        # Step 3: Solve the waves, last first.
        store = SetwiseStore(self.rules, self.work, solved, self.storage, Exploration(self.scratch, waves, over, times))
        drive(store, solved, self.work.phase("solving", left))
        return solved_from(store)

    def can_unpack(self, planes: int) -> bool:
        """Return whether waves may be unpacked on the way back. *planes* is the number of bytes of two waves' planes.

        With scratch files, planes are unpacked in shared files. All workers must see the same files, and these must
        lie in the system's memory.
        """
        if self.storage.scratch:
            there = self.storage.plain and not self.work.apart and can_be_had()
            if not there or planes > shutil.disk_usage(self.work.scratch).free // 2:
                return False
        return planes < FOR_PLANES * self.work.budget.left()

    def explore(self, log: SetsLog, phase: Phase) -> list[Wave]:
        """Return all waves, and count positions by primitive value.

        Raises NotApplicable if the game does not qualify, and TooLargeForMemory if memory will not suffice.
        """
        found = [first_wave(self.game, self.start, self.storage)]
        self.over[OPEN, [POSITIONS, STORED]] = 1
        met = {int(found[0].tiers[0, NUMBER])}
        while (wave := self.next_wave(found[-1])) is not None:
            numbers = wave.tiers[:, NUMBER].tolist()
            if not met.isdisjoint(numbers):
                raise NotApplicable("play reaches a tier after different numbers of plies")
            if planes_for(wave.number) > MOST_PLANES:
                raise NotApplicable(TOO_LONG)
            met.update(numbers)
            self.fill(found[-1], wave, log, phase)
            self.check_resources(wave, phase)
            found.append(wave)
            # The last wave has only ties or nothing at all. Ties in a wave from which play goes on are not supported.
            values = {*wave.tiers[wave.tiers[:, WORDS] > 0, VALUE].tolist()}
            if not values or values == {TIED}:
                break
            if TIED in values:
                raise NotApplicable(TIES_AND_ENDS)
        else:
            raise InternalError("a wave has positions that are not over, and no moves lead on from them")
        phase.end()
        return found

    def next_wave(self, before: Wave) -> Wave | None:
        """Return the next wave, with its sets still empty; None if there are no moves."""
        ahead = next_tiers(self.rules, before.full_table())
        if ahead is None:
            return None
        wave = Wave(before.number + 1, *ahead)
        if len(self.rules.mirror):
            wave.drop_mirror_images(self.rules.mirror, before)
        return wave

    def fill(self, before: Wave, wave: Wave, log: SetsLog, phase: Phase) -> None:
        """Fill the tiers of a wave, except those in the log."""
        # Step 1: Cut the wave into ranges of tiers, and give those that are not in the log to workers.
        known = log.filled.pop(wave.number, {})
        found = ranges_of(before, wave, self.work.sizes.chunk_words)
        parents = None if self.storage.scratch else load_parents(before, self.storage, wave.links_to_stored())
        forward = ForwardPass(tier_rules(self.rules), self.storage, before.without_links(), wave, parents)
        shared = TaskData(forward, self.storage.scratch, f"shared{wave.number}")
        left = [rows for rows in found if rows[0] not in known]
        least = words_in_task(self.work, sum(words for _, _, words in left), 1)
        fresh = chain.from_iterable(self.work.map(fill, tasks_of(shared, left, least)))
        # Step 2: Take the results in order, from the log or from workers.
        for begin, _, _ in found:
            filled = known.get(begin) or next(fresh)
            add_chunk(wave, filled)
            add_up(self.over, filled.tally)
            done = int(filled.tally[:, STORED].sum()), int(filled.tally[:, POSITIONS].sum())
            if begin in known:
                phase.skip(*done)
                continue
            if self.storage.scratch:
                log.add(wave.number, filled)
            phase.advance(done[0], positions=done[1])
            save_memory(self.work, self.storage)
        # Step 3: Make the wave durable.
        if self.storage.scratch and wave.number not in log.whole:
            self.storage.sync(wave.sets)
            log.add_whole(wave.number)
            log.log.settle()
        self.storage.drop(f"shared{wave.number}")

    def check_resources(self, wave: Wave, phase: Phase) -> None:
        """Check that memory and disk will suffice for the rest of the exploration.

        Raises DiskTooSmall as soon as the estimate says that the disk is too small. Raises TooLargeForMemory
        if memory does not suffice for this wave, or will not for all. Uncompressed scratch files lie in the system's
        memory; if that gets short, further files are compressed.
        """
        written = sum(self.scratch.lengths().values()) if self.storage.scratch else 0
        left = self.work.budget.left() - (written if self.storage.plain else 0)
        more = BYTES_IN_WAVE * int(wave.tiers[:, COUNT].sum())
        scarce = (self.storage.scratch and not self.storage.plain) or PLENTY * phase.positions > left
        if not self.is_estimated and scarce and phase.positions > ESTIMATED_AFTER:
            self.is_estimated = True
            waves = self.outlook.plain_waves(written)
            share = STORED_SHARE if len(self.rules.mirror) else 1
            positions = np.array(waves) * share * phase.positions / phase.done
            more = BYTES_A_POSITION * positions.sum() + BYTES_IN_WAVE * positions.max()
        if self.storage.plain:
            free = min(left, shutil.disk_usage(self.work.scratch).free // 2)
            self.storage = self.storage._replace(plain=more <= free)
        elif more > left and not self.storage.scratch:
            raise TooLargeForMemory
