"""Solves a tier of a puzzle breadth first, by tables of its moves (see orientations.py).

The tables replace the rules in the loops. Rules look at each slot once, to find the goals and to check the numbering,
and at the moves of one position in SAMPLED. A solve of this kind is short, and has no checkpoints.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import WIN, RuleError
from retrograde.solver.methods.numbered import order_kernels as kernels
from retrograde.solver.methods.numbered.by_sets import check_slot
from retrograde.solver.methods.numbered.elsewhere import Elsewhere
from retrograde.solver.methods.numbered.orientations import SAMPLED, NotOriented, OrderTables, make_tables, table_bytes
from retrograde.solver.methods.numbered.table import NumberedTable
from retrograde.solver.rules.examine import examine
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.running_kernels import trouble_array
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.progress import Deciding, Telling
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import DRAW_CLASS, RemotenessOverflow, encode, score_type

BLOCK = 1 << 18
"""Slots in a task."""
SAMPLE = 1 << 13
"""Slots in a task that compares tables with the rules."""
BEGUN = 0.5
"""Share of the time that the pass over all slots takes, about."""
CHECKS = 24
"""Slots that are checked with the interpreted rules."""
MIX = 0x9E3779B1
"""An odd number; the upper bits of the products of its multiples look random."""

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


def solve_by_orders(
    table: NumberedTable, k: int, work: Work, phase: Telling, in_file: bool, elsewhere: Elsewhere
) -> tuple[Array, CompressedArray] | None:
    """Return the scores of tier number k and the numbers of symmetric positions.

    Returns None if the tier needs other methods: memory is short, a slot is empty, the game may end otherwise than in a
    win, or too many positions are goals. Raises RuleError.

    Scores are written to the tier's part of the score array; if that is in a file (*in_file*), to an array of its own.
    """
    game, count = table.game, table.numbering.size(k)
    states, digits = game.orientations  # type: ignore[attr-defined]  # the game has declared them
    tier = OrientedTier(table, k, work, phase)
    if in_file and count * table.scores.array.itemsize > work.budget.free_bytes():
        return None
    scores = np.zeros(count, score_type(table.bits)) if in_file else table.scores_of(k).array
    if count % states**digits or not tier.mark_ends(scores):
        return None
    # A goal has a score above 0. The tables need an order without goals, and in each order a position that is none.
    by_order = scores.reshape(-1, states**digits)
    every_order_has_goal, some_order_has_only_goals = by_order.max(axis=1).all(), by_order.min(axis=1).any()
    if every_order_has_goal or some_order_has_only_goals:
        return None
    tier.count_moves(int(scores.argmin()))
    if table_bytes(*by_order.shape, tier.moves) > work.budget.free_bytes():
        return None
    try:
        tables = tier.measure(by_order, states)
    except NotOriented:
        what = "orientations differ from the other rules; correct them or leave them out"
        raise RuleError(f"{variant(game)}: {what}") from None
    tier.decide(scores, tables)
    for slot in np.linspace(0, count - 1, CHECKS).astype(np.int64).tolist():
        check_slot(table, k, slot, scores, elsewhere)
    sizes = CompressedArray(np.uint16)  # all 1, as there are no symmetric positions
    for begin in range(0, count, BLOCK):
        sizes[begin : min(begin + BLOCK, count)] = np.ones(min(BLOCK, count - begin), np.uint16)
    return scores, sizes


class OrientedTier:
    """A tier that is solved by tables of its moves."""

    def __init__(self, table: NumberedTable, k: int, work: Work, phase: Telling):
        self.table, self.k, self.phase = table, k, phase
        self.number, self.count = int(table.numbering.tiers[k]), table.numbering.size(k)
        self.map: Map = work.map_in_process
        self.moves = 0

    def mark_ends(self, scores: Array) -> bool:
        """Write the scores of positions where the game is won, 0 elsewhere. Return False if a slot is empty, or if the
        game ends otherwise."""
        won, rules = encode(WIN, 0, self.table.bits), self.table.rules

        def mark(begin: int) -> bool:
            block, trouble = scores[begin : begin + BLOCK], trouble_array(rules)
            with compiling(self.table.game, trouble):
                done = kernels.mark_ends(rules_for(rules), self.number, begin, block, won, trouble)
            return bool(done == len(block))

        for number, fits in enumerate(self.map(mark, range(0, self.count, BLOCK))):
            if not fits:
                return False
            self.phase.working(BEGUN * number * BLOCK, self.number, Deciding(0, self.count, None))
        return True

    def count_moves(self, slot: int) -> None:
        """Set `moves` to the number of moves of a position that is no goal: all have as many."""
        self.moves = len(examine(self.table.game, self.table.numbering.position_at(self.table.game, self.k, slot))[1])

    def children_of(self, slots: Array) -> Array:
        """Return the slots of the children of some slots: a row for each. Raises NotOriented if the moves differ."""
        rules, children = self.table.rules, np.empty((len(slots), self.moves), np.int64)
        trouble = trouble_array(rules)
        with compiling(self.table.game, trouble):
            done = kernels.children_of(rules_for(rules), self.number, self.count, slots, children, trouble)
        if done < len(slots):
            raise NotOriented
        return children

    def measure(self, scores: Array, states: int) -> OrderTables:
        """Return the tables of the moves, compared with the rules at one position in SAMPLED. Raises NotOriented if
        they differ. *scores* [orders, turns] are 0 except for goals; *states* is the base of the turns' digits."""
        tables = make_tables(scores, states, self.children_of)
        flat = scores.reshape(-1)

        def agrees(begin: int) -> bool:
            """Return whether tables and rules agree at one slot of each SAMPLED, which is chosen as if at random."""
            firsts = np.arange(begin, min(begin + SAMPLED * SAMPLE, self.count), SAMPLED)
            slots = np.minimum(firsts + ((firsts * MIX) >> 20) % SAMPLED, self.count - 1)
            slots = slots[flat[slots] == kernels.UNSOLVED]
            return bool((tables.parents(self.children_of(slots)) == slots[:, None]).all())

        if not all(self.map(agrees, range(0, self.count, SAMPLED * SAMPLE))):
            raise NotOriented
        return tables

    def decide(self, scores: Array, tables: OrderTables) -> None:
        """Score all positions, by their distances to the goals. Raises RemotenessOverflow."""
        size, bits = tables.turns.shape[1], self.table.bits
        orders, rows = self.count // size, -(-BLOCK // size)
        decided = remoteness = 0
        while True:
            if remoteness + 1 >= (1 << bits) - 2:
                raise RemotenessOverflow
            last, score = encode(WIN, remoteness, bits), encode(WIN, remoteness + 1, bits)

            def pass_back(first: int, last: int = last, score: int = score) -> int:
                end, frontier = min(first + rows, orders), np.empty(size, np.uint16)
                return int(kernels.pass_back(scores, tables, first, end, last, score, frontier))

            decided_last = sum(self.map(pass_back, range(0, orders, rows)))  # positions with the score *last*
            if not decided_last:
                break
            decided, remoteness = decided + decided_last, remoteness + 1
            done = BEGUN * self.count + (1 - BEGUN) * decided
            self.phase.working(done, self.number, Deciding(decided, self.count, remoteness - 1))
        for block in (scores[begin : begin + BLOCK] for begin in range(0, self.count, BLOCK)):
            block[block == kernels.UNSOLVED] = DRAW_CLASS << bits
