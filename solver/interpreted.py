"""Solves small games in plain Python, which is faster than compiling their rules.

1. `explore`: finds all positions and their children, breadth first, and gives up if that takes too long.
2. `propagate`: decides positions by increasing remoteness, from the primitive ones backwards over the predecessors.
3. `solve_interpreted` counts the outcomes, and returns them for the writer.

The algorithm is that of `methods/listed/cycles.py`, with dictionaries and without tiers.
"""

import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from retrograde.databases.layout import LegendRow
from retrograde.databases.write import SolvedRecords, SolvedRows, SolvedSlots
from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Traits, Value, is_none
from retrograde.solver.methods.numbered.legend import counts_of, solved_slots
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.rules.consistency import by_tier, check_consistency
from retrograde.solver.rules.examine import examine, movers_of, starts_of
from retrograde.solver.rules.images import SAMPLE_SIZE, mean_size
from retrograde.solver.runtime.memory import MemoryBudget, used_memory
from retrograde.solver.runtime.progress import Growth, Phase

BETWEEN_CHECKS = 1_000
"""Positions explored between two checks of the memory in use."""

THIN = 6
"""Positions per wave, on average, up to which this is faster than compiled code, which takes 70 µs for each wave."""

GROWING = 1.9, 1.3
"""Limits of found positions for each explored one, beyond which exploring takes too long.

The first limit applies at first, the second after the first seconds. Measured ratios at these times: connect4:4,4 1.2
and 0.8, othello:4 1.55 and 1.13; connect4:5,4 1.9 and 1.6, awari 2.3 and 1.85, pocketcube 4.6 and 4.3.
"""
AHEAD = 2
"""Positions still to come, roughly, for each found and unexplored one, after the first seconds."""
LAST = 0.25
"""The share of `longest` that the remaining work may always take, so that no solve gives up near its end."""

Children = dict[int, list[int]]
Outcomes = dict[int, tuple[Value, int]]


@dataclass
class Patience:
    """How many CPU seconds exploring may take: the *first* ones, and then about as long as the compiler would take.

    `limit()` returns the compiler's time. It is called once, after the first seconds, because it takes a third of a
    second. From then on its result is `longest`; before, that is the most that the compiler may take.
    """

    first: float
    longest: float
    limit: Callable[[], float]
    asked: bool = False

    def ends(self, passed: float, explored: int, waiting: int, all_found: bool) -> bool:
        """Return whether to give up after *passed* seconds; *explored* positions are done, and *waiting* ones are not.

        *all_found*: no others will be found.
        """
        # The more positions wait for each explored one, the longer it will still take.
        ratio = waiting / explored
        # Case: within the first seconds. Give up only after a quarter of them, if far too much is left.
        if passed <= self.first:
            too_much_left = passed * ratio > self.longest if all_found else ratio > GROWING[0]
            return too_much_left and 4 * passed > self.first
        # Case: after the first seconds. Estimate the seconds left. Going on pays only if compiling would take longer.
        if ratio > GROWING[1] and not all_found:
            return True
        if not self.asked:
            self.longest, self.asked = self.limit(), True
        seconds_left = passed * ratio * (1 if all_found else AHEAD)
        return seconds_left > max(self.longest - passed, LAST * self.longest)


def solve_interpreted(
    game: Game, budget: MemoryBudget, phase: Phase, patience: Patience | None = None
) -> SolvedRecords | SolvedRows | SolvedSlots | None:
    """Return the solved game, or None if exploring takes longer than *patience* allows. *phase* gets the progress."""
    # Step 1: explore.
    explored = explore(game, budget, phase, patience)
    if explored is None:
        return None
    phase.end()
    children, outcomes = explored
    Phase("solving", phase.listener, len(children), phase.course).tell()
    # Step 2: ask the rules a second time at some positions, then decide all positions.
    check_consistency(game, children, {position: value for position, (value, _) in outcomes.items()})
    propagate(children, outcomes, movers_of(game, children))
    if Traits.of(game).is_numbered:
        return arrange_by_slot(game, outcomes)
    # Step 3: sort by tier and position, and count the outcomes for the legend.
    members = by_tier(game, children)
    tiers = sorted(members)
    positions = [position for tier in tiers for position in sorted(members[tier])]
    by_outcome: dict[tuple[Value, int], list[int]] = {}
    for position in positions:
        by_outcome.setdefault(outcomes[position], []).append(position)
    # A legend row names one position as an example or, if positions have several words, its index in the file.
    indices = {position: index for index, position in enumerate(positions)} if Traits.of(game).width else {}
    legend = [
        LegendRow(*outcome, count(game, same), len(same), indices.get(same[0], same[0]))
        for outcome, same in sorted(by_outcome.items())
    ]
    row_of = {row[:2]: number for number, row in enumerate(legend)}  # by value and remoteness
    tables = np.array(tiers, np.int64), np.array([len(members[tier]) for tier in tiers], np.int64), legend
    outcome_rows = np.array([row_of[outcomes[position]] for position in positions], np.uint32)
    records = np.array(positions, np.int64), outcome_rows
    return SolvedRows(*tables, records) if Traits.of(game).width else SolvedRecords(*tables, records, max(positions))


def every_position(game: Game) -> list[int]:
    """Return the positions of all slots of a game that numbers its positions."""
    numbering = SlotNumbering.of(game)
    slots = ((row, i) for row in range(len(numbering.tiers)) for i in range(numbering.size(row)))
    return [position for position in (numbering.position_at(game, *slot) for slot in slots) if not is_none(position)]


def arrange_by_slot(game: Game, outcomes: Outcomes) -> SolvedSlots:
    """Return the solved game slot by slot, without the tiers that other databases have."""
    numbering = SlotNumbering.own(game)
    tiers = {*numbering.tiers.tolist()}
    outcomes = {position: outcome for position, outcome in outcomes.items() if game.tier(position) in tiers}
    code_of = {outcome: code for code, outcome in enumerate(sorted(set(outcomes.values())))}
    codes = np.full(numbering.slots, len(code_of), np.int64)  # slots without a position keep this code
    sizes = np.zeros(numbering.slots, np.int64)
    for position, outcome in outcomes.items():
        row, slot = numbering.slot_of(game, position)
        codes[numbering.starts[row] + slot] = code_of[outcome]
        sizes[numbering.starts[row] + slot] = count(game, [position])
    counts = {
        row: counts_of(game, numbering, row, codes[slots], sizes[slots])
        for row, slots in enumerate(map(numbering.slice_of, range(len(numbering.tiers))))
    }
    return solved_slots(game, numbering, {code: outcome for outcome, code in code_of.items()}, counts, codes)


def count(game: Game, positions: list[int]) -> int:
    """Return how many positions these canonical ones stand for, their images included."""
    if not Traits.of(game).has_images:
        return len(positions)
    return sum(len({position, *game.images(position)}) for position in positions)


def explore(
    game: Game, budget: MemoryBudget, phase: Phase, patience: Patience | None = None
) -> tuple[Children, Outcomes] | None:
    """Return each position's distinct children, and the outcomes of primitive ones; None when *patience* is exhausted.

    Long thin games never give up: a wave of few positions takes longer compiled.
    """
    traits = Traits.of(game)
    children: Children = {}
    outcomes: Outcomes = {}
    queue = deque(every_position(game) if traits.is_numbered else starts_of(game))
    found = set(queue)
    plies, wave, growth = 0, len(queue), Growth()
    began, before = time.thread_time(), used_memory()
    budget.check(0, "retrograde itself")
    while queue:
        # Step 1: ask the rules about the next position.
        position = queue.popleft()
        value, _, reached = examine(game, position)
        children[position] = list(dict.fromkeys(reached))
        if value != UNDECIDED:
            outcomes[position] = value, (-1 if value == DRAW else 0)
        # Step 2: queue its new children. `wave` counts the positions left in this wave.
        new = [child for child in children[position] if child not in found]
        queue += new
        found.update(new)
        wave -= 1
        if not wave:
            plies, wave = plies + 1, len(queue)
            growth.count_wave(wave, len(found))
        # Step 3: give up if that takes too long, and report now and then.
        passed = time.thread_time() - began
        is_thick = len(found) > THIN * plies
        if patience and is_thick and patience.ends(passed, len(children), len(queue), traits.is_numbered):
            return None
        if len(children) % BETWEEN_CHECKS == 0:
            phase.learn(partial(mean_size, game, list(islice(queue, SAMPLE_SIZE))))
            phase.advance(BETWEEN_CHECKS)
            budget.check(0, f"going on from {len(children):,} positions, interpreted,")
    phase.count(len(children) - phase.done)
    # The predecessor lists will need about as much memory as the lists of children.
    budget.check(used_memory() - before, f"solving {len(children):,} positions, interpreted,")
    return children, outcomes


def propagate(children: Children, outcomes: Outcomes, movers: dict[int, int] | None = None) -> None:
    """Add the outcomes of undecided positions to those of the primitive ones, in order of remoteness.

    *movers* has the player to move at each position; None if two players alternate.
    """
    # Step 1: predecessor lists, and `children_left`, the counters of undecided children.
    parents: defaultdict[int, list[int]] = defaultdict(list)
    for position, reached in children.items():
        for child in reached:
            parents[child].append(position)
    children_left = {position: len(reached) for position, reached in children.items()}
    primitive = dict(outcomes)
    # Step 2: wins and losses, one ply of remoteness after another.
    frontier = [position for position, (value, _) in primitive.items() if value in (WIN, LOSE)]
    remoteness = 0
    while frontier:
        remoteness += 1
        new_outcomes: dict[int, Value] = {}
        for position in frontier:
            for parent in parents[position]:
                # `moves_again`: the same player moves in parent and child, so a WIN stays a WIN.
                moves_again = movers is not None and movers[parent] == movers[position]
                if outcomes[position][0] == (WIN if moves_again else LOSE):
                    new_outcomes[parent] = WIN
                    continue
                # The child is a win for the opponent: the parent is a LOSE once all its children are.
                children_left[parent] -= 1
                if children_left[parent] == 0:
                    new_outcomes[parent] = LOSE
        frontier = [position for position in new_outcomes if position not in outcomes]
        outcomes.update((position, (new_outcomes[position], remoteness)) for position in frontier)
    # Step 3: ties spread backwards to all positions that are still undecided.
    frontier = [position for position, (value, _) in primitive.items() if value == TIE]
    remoteness = 0
    while frontier:
        remoteness += 1
        frontier = list({parent for position in frontier for parent in parents[position] if parent not in outcomes})
        outcomes.update((position, (TIE, remoteness)) for position in frontier)
    # Step 4: whatever is still undecided goes on forever.
    outcomes.update((position, (DRAW, -1)) for position in children if position not in outcomes)
