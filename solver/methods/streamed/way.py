"""Games whose tiers follow one another are solved in a stream: sorted lists on disk, and little of them in memory.

Forward, from the start: a wave of tiers is made from the one before. Where a game codes its positions so that a move
keeps their order, the children of a sorted list by one move come out sorted, and those of a tier are merged, doubles
dropped; other children are sorted first. Positions where the game is over are counted and not kept, for the rules
recognise them. Backward, from the last wave: the positions of a list and their children by one move run along
together, so that the children's scores are found as fast as they are read.

What a list is worth is kept as *steps*: positions from which on, in ascending order, the outcome is another one.
Between the positions of a tier nothing needs to be right, so that a step may begin anywhere between two of them. A
list of steps takes a few bits for each position, and is read in order like the list itself. The database holds steps,
too; without those for positions where the player to move wins in one, which the rules recognise as well.

It works where every move leads from one wave of tiers to the next, to the other player, and where there is one first
position. Where it does not, Unfit is raised, and the game is solved in memory (see `solver/methods/listed/`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from retrograde.databases.write import SolvedSteps
from retrograde.games.contract.game import Game
from retrograde.solver.methods.streamed.forward import Forward
from retrograde.solver.methods.streamed.legend import solved_from
from retrograde.solver.methods.streamed.log import StreamLog
from retrograde.solver.methods.streamed.store import StreamedStore, believe
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import is_for_a_stream
from retrograde.solver.runtime.driver import drive
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import DamagedScratch
from retrograde.solver.runtime.work import Outlook, Unfit, Work, too_small


@dataclass(frozen=True)
class Streamed:
    """Positions as sorted lists on disk, values as steps. *outlook* makes the estimates of a solve."""

    outlook: Callable[[Game, Work], Outlook]
    name: ClassVar[str] = "streamed"

    def solve(self, game: Game, work: Work) -> SolvedSteps:
        """Return the solved game; raise Unfit where its tiers do not follow one another, or it is small.

        Raises DiskTooSmall, or DamagedScratch where what was put aside is not there, or not as the log says.
        """
        if not is_for_a_stream(game):
            raise Unfit("players do not alternate, or there are several first positions")
        compiled.prepare(game)
        found, solved = work.log("positions"), work.log("steps")
        resumed = bool(found.resumed)
        try:
            return self.attempt(game, work, found, solved)
        except DamagedScratch:
            if not resumed:  # what this very solve has put aside: the disk is at fault
                raise
            for log in (solved, found):  # in this order: without positions there can be no steps
                log.begin_anew()
            return self.attempt(game, work, found, solved)

    def attempt(self, game: Game, work: Work, found: Log, solved: Log) -> SolvedSteps:
        """Return the solved game, going on from what the logs say is there."""
        log = StreamLog(found)
        forward = Forward(game, work, log)
        work.until_written(forward.scratch)
        believe(solved, forward.scratch)
        if not solved.resumed:  # else the lists of the last waves may be gone, as they should
            log.believe(forward.scratch)
        outlook = self.outlook(game, work)
        work.course.plan(exploring=0.38, solving=0.57, writing=0.05)  # of 6×6 0.39, 0.57, 0.04
        forward.explore(work.phase("exploring"), outlook.waves)
        total = sum(tier.count for wave in forward.waves for tier in wave.values())
        records = total + int(forward.over[:, 0].sum())
        if records <= work.sizes.in_memory:
            raise too_small(records, work.sizes)
        outlook.check_records(records)
        forward.settle()
        store = StreamedStore(forward, solved)
        work.course.positions_a_record *= store.count_ends(work.course.positions_a_record)
        drive(store, solved, work.phase("solving", total))
        return solved_from(store)
