"""Games whose moves carry sets of positions along whole are solved word by word, 64 positions at a time.

In a tier of such a game nothing varies but some bits, all positions have the same moves, and a move writes constants:
then the children of a set are the same set with a bit put into all ranks, and no list is merged or searched. That it is
so is proved for each tier from the rules, which are run once on bits that are not known (see `symbols.py`, `rules.py`);
what is not plain raises Unfit, and the game is solved in another way, to the same bytes.

It is asked further that whose turn it is has lost where the game is over, or else nothing is left to play in the last
wave, which ties; that the first position is its own image; and that all sets fit in memory. Of such a solve, which
takes minutes, a kill leaves nothing.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from retrograde.databases.write import SolvedSteps
from retrograde.games.game import Game, defines
from retrograde.solver.forecast import QUICK, estimate
from retrograde.solver.rules.examine import is_for_a_stream, start_of
from retrograde.solver.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.setwise.forward_kernels import OPEN, TIED, Sets
from retrograde.solver.setwise.rules import Rules, rules_of
from retrograde.solver.setwise.store import SetwiseStore, planes_for
from retrograde.solver.setwise.tier_kernels import GROUPS, LOST, VALUE, WORD, WORDS
from retrograde.solver.setwise.waves import AFTER_TIER, VALUES, Wave, fill, first_wave, next_tiers, tasks_of
from retrograde.solver.streamed.legend import solved_from
from retrograde.solver.streamed.segments import add_up
from retrograde.solver.streamed.steps import POSITIONS, STORED, TALLIED
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.scratch import Scratch
from retrograde.solver.work.work import Unfit, Work

BYTES_A_WORD = 100
"""Memory for a word of the largest wave, about: its planes and those of the wave after."""
LEAST_IN_WORD = 6
"""Positions in a word; there are about ten in Connect Four."""
LOOKED_AHEAD = 1 << 24
"""Positions found after which it is estimated how many there will be, and whether memory suffices."""


@dataclass(frozen=True)
class Setwise:
    """Positions as words of 64, values as planes of bits."""

    name: ClassVar[str] = "setwise"

    def solve(self, game: Game, work: Work) -> SolvedSteps:
        """Return the solved game; raise Unfit where its rules are not plain enough, or there is too little memory."""
        if not is_for_a_stream(game) or not isinstance(work.executor, ThreadPoolExecutor):
            raise Unfit
        start = start_of(game)
        if defines(game, "images") and {*game.images(start)} - {start}:
            raise Unfit
        rules = rules_of(game)
        work.course.plan(exploring=0.4, solving=0.5, writing=0.1)
        found, over = explore(game, start, rules, work, work.phase("exploring"))
        records = int(over[[OPEN, LOST, TIED], STORED].sum())
        if records <= work.sizes.in_memory or planes_for(len(found) - 1) > MOST_PLANES:
            raise Unfit
        scratch = work.until_written(Scratch(work.scratch, 0))
        scratch.begin(fresh=True)
        phase = work.phase("solving", int(over[OPEN, STORED]))
        times = float(over[:, POSITIONS].sum() / over[OPEN, POSITIONS])
        over[OPEN] = 0
        store = SetwiseStore(rules, work, scratch, found, over)
        store.solve(phase, times)
        return solved_from(store)


def explore(game: Game, start: int, rules: Rules, work: Work, phase: Phase) -> tuple[list[Wave], np.ndarray]:
    """Return all waves, and a tally of all positions by primitive value; raise Unfit where it cannot be done so."""
    found = [first_wave(game, start)]
    tally = np.zeros((VALUES, TALLIED), np.int64)
    tally[OPEN, [POSITIONS, STORED]] = 1
    met = {int(found[0].sets.tiers[0, 0])}
    ahead_looked = False
    while True:
        before = found[-1].sets
        ahead = next_tiers(rules, before.tiers)
        if ahead is None:
            raise Unfit
        tiers, links, starts = ahead
        if not met.isdisjoint(tiers[:, 0].tolist()):
            raise Unfit
        met.update(tiers[:, 0].tolist())
        groups = int((tiers[:, GROUPS] + AFTER_TIER).sum())
        expect_room(work, 12 * groups + BYTES_A_WORD * len(before.words))
        children = Sets(tiers, np.empty(groups, np.uint64), np.empty(groups, np.uint32), np.empty(0, np.uint64))
        parts, end = [], 0
        for first, behind, words, over in work.map(fill, tasks_of(rules, before, children, links, starts)):
            tiers[first:behind, WORD] += end
            end += len(words)
            parts.append(words)
            add_up(tally, over)
            phase.advance(int(over[:, STORED].sum()), positions=int(over[:, POSITIONS].sum()))
        if not ahead_looked and phase.positions > LOOKED_AHEAD:
            ahead_looked = True
            waves = np.array(estimate(game, work.workers, *QUICK, work.sizes.in_memory).waves)
            words = waves * phase.positions / phase.done / LEAST_IN_WORD
            expect_room(work, int(8 * words.sum() + BYTES_A_WORD * words.max()))
        found.append(Wave(children._replace(words=np.concatenate(parts)), links, starts))
        values = {*tiers[tiers[:, WORDS] > 0, VALUE].tolist()}
        if not values or values == {TIED}:
            break
        if TIED in values:
            raise Unfit
    phase.end()
    return found, tally


def expect_room(work: Work, more: int) -> None:
    """Raise Unfit where there is less memory left."""
    if more > work.budget.left():
        raise Unfit
