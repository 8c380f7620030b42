"""Small games solved in plain Python: quicker than compiling their rules.

The method is that of `cyclic.py`, on dictionaries and without tiers.
"""

import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from retrograde.databases.layout import LegendRow
from retrograde.databases.write import SolvedRecords, SolvedSlots
from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value, defines, is_none, is_numbered
from retrograde.solver.methods.listed.explore.growth import Growth
from retrograde.solver.methods.numbered.legend import counts_of, solved_slots
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.rules.examine import examine, movers_of, starts_of
from retrograde.solver.rules.images import SOME, mean_size
from retrograde.solver.rules.second_look import by_tier, look_again
from retrograde.solver.runtime.memory import MemoryBudget, used_memory
from retrograde.solver.runtime.progress import Phase

BETWEEN_CHECKS = 1_000
"""Positions explored between two looks at the memory in use."""

THIN = 6
"""Positions in a wave, on average, up to which it is explored sooner than compiled, which takes some 70 µs a wave."""

GROWING = 1.9, 1.3
"""Positions found and not looked at, for each one that was, from which more is to come than can be waited for: at
first, and when the first seconds have passed. (connect4:4,4 1.2 and 0.8, othello:4 1.55 and 1.13; connect4:5,4 1.9 and
1.6, awari 2.3 and 1.85, pocketcube 4.6 and 4.3.)"""
AHEAD = 2
"""Positions that there will be for each of those, about, when the first seconds have passed."""
LAST = 0.25
"""The part of the longest time that may always be spent on what is left: so near the end none gives up."""

Children = dict[int, list[int]]
Outcomes = dict[int, tuple[Value, int]]


@dataclass
class Patience:
    """How many seconds of the processor's time exploring may take: the first ones at any rate, and up to the *longest*,
    about, where the rules are *unknown* to the compiler, which would take longer; that is asked once, after those."""

    first: float
    longest: float
    unknown: Callable[[], bool]
    asked: bool = False

    def ends(self, passed: float, looked_at: int, found: int, all_found: bool) -> bool:
        """Tell whether to give up after some seconds, by how many positions were *looked at*, and *found* beside them:
        all that there are, or those from which others will be."""
        share = found / looked_at
        if passed <= self.first:
            begun = 4 * passed > self.first
            return begun and (passed * share > self.longest if all_found else share > GROWING[0])
        left = passed * share * (1 if all_found else AHEAD)
        if left > max(self.longest - passed, LAST * self.longest) or (share > GROWING[1] and not all_found):
            return True
        first_time, self.asked = not self.asked, True
        return first_time and not self.unknown()


def solve_interpreted(
    game: Game, budget: MemoryBudget, phase: Phase, patience: Patience | None = None
) -> SolvedRecords | SolvedSlots | None:
    """Return the solved game; None where exploring it takes longer than there is *patience*.

    The *phase* is told of what is explored, and then of what is solved.
    """
    explored = explore(game, budget, phase, patience)
    if explored is None:
        return None
    phase.end()
    children, outcomes = explored
    Phase("solving", phase.listener, len(children), phase.course).tell()
    look_again(game, children, {position: value for position, (value, _) in outcomes.items()})
    propagate(children, outcomes, movers_of(game, children))
    if is_numbered(game):
        return by_slot(game, outcomes)
    found = by_tier(game, children)
    tiers = sorted(found)
    positions = [position for tier in tiers for position in sorted(found[tier])]
    rows: dict[tuple[Value, int], list[int]] = {}
    for position in positions:
        rows.setdefault(outcomes[position], []).append(position)
    legend = [LegendRow(*outcome, count(game, some), len(some), some[0]) for outcome, some in sorted(rows.items())]
    places = {row[:2]: place for place, row in enumerate(legend)}
    return SolvedRecords(
        np.array(tiers, np.int64),
        np.array([len(found[tier]) for tier in tiers], np.int64),
        legend,
        (np.array(positions, np.int64), np.array([places[outcomes[position]] for position in positions], np.uint32)),
        max(positions),
    )


def every_position(game: Game) -> list[int]:
    """Return all positions of a game with a dense numbering."""
    numbering = Numbering.of(game)
    slots = ((row, i) for row in range(len(numbering.tiers)) for i in range(numbering.size(row)))
    return [position for position in (numbering.position_at(game, *slot) for slot in slots) if not is_none(position)]


def by_slot(game: Game, outcomes: Outcomes) -> SolvedSlots:
    """Return a solved game with a dense numbering, without what other databases have."""
    numbering = Numbering.own(game)
    tiers = {*numbering.tiers.tolist()}
    outcomes = {position: outcome for position, outcome in outcomes.items() if game.tier(position) in tiers}
    places = {outcome: place for place, outcome in enumerate(sorted(set(outcomes.values())))}
    codes = np.full(numbering.slots, len(places), np.int64)
    sizes = np.zeros(numbering.slots, np.int64)
    for position, outcome in outcomes.items():
        row, slot = numbering.slot_of(game, position)
        codes[numbering.starts[row] + slot] = places[outcome]
        sizes[numbering.starts[row] + slot] = count(game, [position])
    counts = {
        k: counts_of(game, numbering, k, codes[part], sizes[part])
        for k, part in enumerate(map(numbering.stretch, range(len(numbering.tiers))))
    }
    return solved_slots(game, numbering, {place: outcome for outcome, place in places.items()}, counts, codes)


def count(game: Game, positions: list[int]) -> int:
    """Return how many positions there are with the symmetric ones of some canonical ones."""
    if not defines(game, "images"):
        return len(positions)
    return sum(len({position, *game.images(position)}) for position in positions)


def explore(
    game: Game, budget: MemoryBudget, phase: Phase, patience: Patience | None = None
) -> tuple[Children, Outcomes] | None:
    """Return the distinct children of every position that can be reached, and the outcomes of primitive ones.

    Returns None when there is no *patience* left. Long thin games go on all the same: a wave of few positions takes
    longer compiled.
    """
    children: Children = {}
    outcomes: Outcomes = {}
    found = deque(every_position(game) if is_numbered(game) else starts_of(game))
    known = set(found)
    plies, wave, growth = 0, len(found), Growth()
    began, before = time.thread_time(), used_memory()
    budget.check(0, "retrograde itself")
    while found:
        position = found.popleft()
        value, _, reached = examine(game, position)
        children[position] = list(dict.fromkeys(reached))
        if value != UNDECIDED:
            outcomes[position] = value, 0 if value != DRAW else -1
        new = [child for child in children[position] if child not in known]
        found += new
        known.update(new)
        wave -= 1
        if not wave:
            plies, wave = plies + 1, len(found)
            growth.wave(wave, len(known))
        passed = time.thread_time() - began
        thick = len(known) > THIN * plies
        if patience and thick and patience.ends(passed, len(children), len(found), is_numbered(game)):
            return None
        if len(children) % BETWEEN_CHECKS == 0:
            phase.learn(partial(mean_size, game, list(islice(found, SOME))))
            phase.advance(BETWEEN_CHECKS)
            budget.check(0, f"going on from {len(children):,} positions, interpreted,")
    phase.count(len(children) - phase.done)
    budget.check(used_memory() - before, f"solving {len(children):,} positions, interpreted,")  # as much for parents
    return children, outcomes


def propagate(children: Children, outcomes: Outcomes, movers: dict[int, int] | None = None) -> None:
    """Add the outcomes of all positions to those of the primitive ones, from each remoteness to the next.

    *movers* says who is to move in each; None where two players alternate.
    """
    parents: defaultdict[int, list[int]] = defaultdict(list)
    for position, reached in children.items():
        for child in reached:
            parents[child].append(position)
    left = {position: len(reached) for position, reached in children.items()}
    primitive = dict(outcomes)
    frontier = [position for position, (value, _) in primitive.items() if value in (WIN, LOSE)]
    remoteness = 0
    while frontier:
        remoteness += 1
        reached_now: dict[int, Value] = {}
        for position in frontier:
            for parent in parents[position]:
                again = movers is not None and movers[parent] == movers[position]
                if outcomes[position][0] == (WIN if again else LOSE):
                    reached_now[parent] = WIN
                    continue
                left[parent] -= 1
                if left[parent] == 0:
                    reached_now[parent] = LOSE
        frontier = [position for position in reached_now if position not in outcomes]
        outcomes.update((position, (reached_now[position], remoteness)) for position in frontier)
    frontier = [position for position, (value, _) in primitive.items() if value == TIE]
    remoteness = 0
    while frontier:
        remoteness += 1
        frontier = list({parent for position in frontier for parent in parents[position] if parent not in outcomes})
        outcomes.update((position, (TIE, remoteness)) for position in frontier)
    outcomes.update((position, (DRAW, -1)) for position in children if position not in outcomes)
