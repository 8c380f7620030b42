"""Games whose moves carry sets of positions along whole are solved word by word, 64 positions at a time.

In a tier of such a game nothing varies but some bits, all positions have the same moves, and a move writes constants:
then the children of a set are the same set with a bit put into all ranks, and no list is merged or searched. That it is
so is proved for each tier from the rules, which are run once on bits that are not known (see `symbols.py`, `rules.py`);
what is not plain raises Unfit, and the game is solved in another way, to the same bytes.

It is asked further that whose turn it is has lost where the game is over (or has won, everywhere, as in misère play),
or else nothing is left to play in the last wave, which ties; and that the first position is its own image. Where memory
suffices, all is in memory, and such a solve, which takes minutes, begins anew after a kill; else waves are put aside in
scratch files, and the journal says what is there. So they are where workers share files alone: plain while there is
room, else compressed.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from retrograde.databases.write import SolvedSteps
from retrograde.games.contract.game import Game, InternalError
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.foresight import most_bits, plain_rules
from retrograde.solver.methods.setwise.forward_kernels import OPEN, TIED
from retrograde.solver.methods.setwise.kept import Aside, Wave, bytes_of_planes, planes_for, save_memory, words_together
from retrograde.solver.methods.setwise.store import SetwiseStore
from retrograde.solver.methods.setwise.twins import Lopsided
from retrograde.solver.methods.setwise.waves import (
    ENDS_APART,
    PARENTS,
    TOO_LONG,
    VALUES,
    Forth,
    SetsLog,
    fill,
    first_wave,
    next_tiers,
    parents_in,
    stretches_of,
    take_in,
    tasks_of,
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
from retrograde.solver.runtime.scratch import DamagedScratch, Scratch, Told
from retrograde.solver.runtime.tasks import clear_rooms
from retrograde.solver.runtime.work import Outlook, Unfit, Work, too_small

BYTES_A_POSITION = 1.0
"""Memory for a position of all waves that is not over, about: a word for some ten."""
BYTES_IN_WAVE = 2.5
"""Memory for a position of the largest wave beside, about: its planes, and those of the wave after."""
KEPT = 0.55
"""The part of all positions that is in tiers that are kept where there is a mirror, about."""
FOR_PLANES = 0.5
"""The part of the memory that is left that planes may take as words; more, and they are squeezed."""
LOOKED_AHEAD = 1 << 24
"""Positions found after which it is estimated how many there will be, and whether memory suffices..."""
PLENTY = 16
"""...unless so many bytes are left for each of them."""
CACHED = 4
"""The part of the memory that is left, one in so many, that has what is read of scratch files..."""
STEPS_CACHED = 1 << 28
"""...and bytes of it where only steps are there: tiers are written by number, and those of many waves alternate. As
many bytes of them are in no file at all."""


class TooMuch(Exception):
    """There is not enough memory for all waves."""


@dataclass(frozen=True)
class Setwise:
    """Positions as words of 64, values as planes of bits. *outlook* makes the estimates of a solve.

    Where it is *early*, before positions are listed to see how many there are, games are left to others of which no
    tier seems to have so many.
    """

    outlook: Callable[[Game, Work], Outlook]
    early: bool = False
    name: ClassVar[str] = "setwise"

    def solve(self, game: Game, work: Work) -> SolvedSteps:
        """Return the solved game; raise Unfit where its rules are not plain enough.

        Raises DamagedScratch where what was put aside is not there, or not as the log says.
        """
        rules, start = plain_rules(game), start_of(game)
        if self.early and 1 << most_bits(game, rules) <= work.sizes.in_memory:
            raise Unfit("its tiers seem to be small")
        found, solved, lopsided = work.log("sets"), work.log("worths"), work.log("lopsided")
        if lopsided.resumed:
            rules = rules._replace(mirror=NO_MIRROR)
        try:
            return solve_by(rules, game, start, work, self.outlook, found, solved)
        except Lopsided:
            begin_anew(found, solved)
            lopsided.add(())  # after that: what was found with twins is not gone on from without
            lopsided.settle()
            return solve_by(rules._replace(mirror=NO_MIRROR), game, start, work, self.outlook, found, solved)


def solve_by(
    rules: Rules, game: Game, start: int, work: Work, outlook: Callable[[Game, Work], Outlook], found: Log, solved: Log
) -> SolvedSteps:
    """Return the solved game, in memory if that suffices and nothing has been put aside."""
    solved.since_anew()
    resumed = bool(found.since_anew())
    if not resumed and work.shares_memory:
        try:
            return Attempt(game, start, rules, work, outlook(game, work)).solve(
                work.log("sets", False), work.log("worths", False)
            )
        except TooMuch:
            pass
    try:
        return Attempt(game, start, rules, work, outlook(game, work), in_scratch=True).solve(found, solved)
    except DamagedScratch:
        if not resumed:  # what this very solve has put aside: the disk is at fault
            raise
        begin_anew(found, solved)
        return Attempt(game, start, rules, work, outlook(game, work), in_scratch=True).solve(found, solved)


def begin_anew(found: Log, solved: Log) -> None:
    """Note that all is begun anew: in this order, for without sets there can be no worths."""
    for log in (solved, found):
        log.begin_anew()


class Attempt:
    """A solve in memory, or in scratch files."""

    def __init__(self, game: Game, start: int, rules: Rules, work: Work, outlook: Outlook, in_scratch: bool = False):
        self.game, self.start, self.rules, self.work, self.outlook = game, start, rules, work, outlook
        cached = max(work.budget.left(), 0) // CACHED
        if not work.shares_memory:  # each worker has as much, and so has this process
            cached //= work.sharing + 1
        if in_scratch:
            self.scratch = work.until_written(Scratch(work.scratch, cached))
        else:
            steps = min(cached, STEPS_CACHED)
            self.scratch = work.until_written(Scratch(work.scratch, steps, held=steps))
        self.aside = Aside(self.scratch if in_scratch else None, plain=not work.shares_memory)
        self.over = np.zeros((VALUES, TALLIED), np.int64)
        self.looked_ahead = False

    def solve(self, found: Log, solved: Log) -> SolvedSteps:
        """Return the solved game, going on from what the logs say is there."""
        log = SetsLog(found)
        self.scratch.begin(fresh=not log.filled)
        log.believe(self.scratch)
        self.work.course.plan(exploring=0.4, solving=0.5, writing=0.1)
        try:
            waves = self.explore(log, self.work.phase("exploring"))
        finally:
            clear_rooms(PARENTS)
        over = self.over
        records = int(over[:, STORED].sum())
        if records <= self.work.sizes.in_memory:
            raise too_small(records, self.work.sizes)
        left = int(over[OPEN, STORED])
        times = float(over[:, POSITIONS].sum() / over[OPEN, POSITIONS])
        over[OPEN] = 0
        self.aside = self.aside._replace(spreads=self.spreads(bytes_of_planes(waves)))
        store = SetwiseStore(self.rules, self.work, solved, self.scratch, self.aside, waves, over, times)
        drive(store, solved, self.work.phase("solving", left))
        return solved_from(store)

    def spreads(self, planes: int) -> bool:
        """Tell whether waves are to be spread on the way back, whose planes take so many bytes: workers of other
        processes must see the files that this one does, and these lie in the memory of the system."""
        if self.aside.scratch:
            there = self.aside.plain and not self.work.apart and can_be_had()
            if not there or planes > shutil.disk_usage(self.work.scratch).free // 2:
                return False
        return planes < FOR_PLANES * self.work.budget.left()

    def explore(self, log: SetsLog, phase: Phase) -> list[Wave]:
        """Return all waves, and count positions by primitive value; raise Unfit where it cannot be done so, TooMuch
        where memory will not suffice."""
        found = [first_wave(self.game, self.start, self.aside)]
        self.over[OPEN, [POSITIONS, STORED]] = 1
        met = {int(found[0].tiers[0, NUMBER])}
        while (wave := self.next_wave(found[-1])) is not None:
            numbers = wave.tiers[:, NUMBER].tolist()
            if not met.isdisjoint(numbers):
                raise Unfit("play reaches a tier after different numbers of plies")
            if planes_for(wave.number) > MOST_PLANES:
                raise Unfit(TOO_LONG)
            met.update(numbers)
            self.fill(found[-1], wave, log, phase)
            self.look_ahead(wave, phase)
            found.append(wave)
            values = {*wave.tiers[wave.tiers[:, WORDS] > 0, VALUE].tolist()}
            if not values or values == {TIED}:
                break
            if TIED in values:
                raise Unfit(ENDS_APART)
        else:
            raise InternalError("a wave has positions that are not over, and no moves lead on from them")
        phase.end()
        return found

    def next_wave(self, before: Wave) -> Wave | None:
        """Return the wave after another, still to be filled; None where there are no moves."""
        ahead = next_tiers(self.rules, before.whole())
        if ahead is None:
            return None
        wave = Wave(before.number + 1, *ahead)
        if len(self.rules.mirror):
            wave.keep_first_of_twins(self.rules.mirror, before)
        return wave

    def fill(self, before: Wave, wave: Wave, log: SetsLog, phase: Phase) -> None:
        """Fill the tiers of a wave, but for what is in the log."""
        known = log.filled.pop(wave.number, {})
        found = stretches_of(before, wave, self.work.sizes.chunk_words)
        parents = None if self.aside.scratch else parents_in(before, self.aside, wave.links_to_kept())
        forth = Forth(
            self.rules.ending, self.rules.decided, self.rules.imaging, self.aside, before.without_links(), wave, parents
        )  # fmt: skip
        told = Told(forth, self.aside.scratch, f"told{wave.number}")
        left = [stretch for stretch in found if stretch[0] not in known]
        least = words_together(self.work, sum(words for _, _, words in left), 1)
        fresh = chain.from_iterable(self.work.map(fill, tasks_of(told, left, least)))
        for begin, _, _ in found:
            filled = known.get(begin) or next(fresh)
            take_in(wave, filled)
            add_up(self.over, filled.tally)
            done = int(filled.tally[:, STORED].sum()), int(filled.tally[:, POSITIONS].sum())
            if begin in known:
                phase.skip(*done)
                continue
            if self.aside.scratch:
                log.add(wave.number, filled)
            phase.advance(done[0], positions=done[1])
            save_memory(self.work, self.aside)
        if self.aside.scratch and wave.number not in log.whole:
            self.aside.sync(wave.sets)
            log.add_whole(wave.number)
            log.log.settle()
        self.aside.drop(f"told{wave.number}")

    def look_ahead(self, wave: Wave, phase: Phase) -> None:
        """Raise DiskTooSmall where the disk will not suffice, as soon as that is told; and TooMuch where memory does
        not for this wave, or will not for all. What is plain in files, and so in the memory of the system, no longer
        is from then on."""
        written = sum(self.scratch.lengths().values()) if self.aside.scratch else 0
        left = self.work.budget.left() - (written if self.aside.plain else 0)
        more = BYTES_IN_WAVE * int(wave.tiers[:, COUNT].sum())
        scarce = (self.aside.scratch and not self.aside.plain) or PLENTY * phase.positions > left
        if not self.looked_ahead and scarce and phase.positions > LOOKED_AHEAD:
            self.looked_ahead = True
            waves = self.outlook.plain_waves(written)
            kept = KEPT if len(self.rules.mirror) else 1
            positions = np.array(waves) * kept * phase.positions / phase.done
            more = BYTES_A_POSITION * positions.sum() + BYTES_IN_WAVE * positions.max()
        if self.aside.plain:
            room = min(left, shutil.disk_usage(self.work.scratch).free // 2)
            self.aside = self.aside._replace(plain=more <= room)
        elif more > left and not self.aside.scratch:
            raise TooMuch
