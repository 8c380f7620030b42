"""Derives outcomes that a compact database leaves out, for many positions at once, from their children.

Children that are kept are looked up as usual, sorted by block. Children that are left out, too, are in later tiers and
are derived first.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from retrograde.databases import Database, NoDatabase
from retrograde.databases.layout import LegendRow
from retrograde.games.contract.game import Game
from retrograde.solver.methods.numbered.compact import kernels
from retrograde.solver.methods.numbered.compact.kernels import LEFT_OUT, NOWHERE, ParentTable, PartTable
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.reason import compilable
from retrograde.solver.rules.running_kernels import trouble_array, watch_kernel
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score import GREATEST_BITS as BITS
from retrograde.solver.values.score import encode
from retrograde.solver.values.score_kernels import pass_up

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""A function like the builtin `map`, which may run in parallel."""
Find = Callable[[Array, Array, Array, Map], None]
"""Looks up the rows of slots that are kept: takes their indices, tiers, the array for rows, and a `map`."""

TOGETHER = 1 << 16
"""Positions that are derived together. Each takes one or two kilobytes of memory."""
TASK = 1 << 13
"""Positions whose children a thread looks up at a time."""


class Deriver:
    """Derives the legend rows of positions that a compact database leaves out."""

    def __init__(self, database: Database, rules: Any, find: Find):
        """*rules* is the game whose rules kernels call, which may be guarded. *find* looks up slots that are kept."""
        self.database, self.rules, self.find = database, rules, find
        self.game: Game = database.game
        columns = np.array(database.file.contents.parts, np.int64).T  # one for each field of PartTable
        self.parts = PartTable(*map(np.ascontiguousarray, columns))
        legend_scores = np.array([*map(score_of, database.file.legend)], np.int64)
        self.rows_by_score = np.argsort(legend_scores)
        """The rows of the legend, in ascending order of their scores."""
        self.sorted_scores = legend_scores[self.rows_by_score]
        self.passed_up = {database: passed_up_by(database)}
        """For each database that children were found in: `passed_up_by` of it."""

    def rows(self, positions: Array) -> Array:
        """Return the row of each position. Raises DamagedDatabase if no row follows."""
        rows = np.empty(len(positions), np.int32)
        with ThreadPoolExecutor(os.cpu_count() or 1) as executor:
            for begin in range(0, len(positions), TOGETHER):
                group = positions[begin : begin + TOGETHER]
                rows[begin : begin + TOGETHER] = self.rows_of(group, executor.map if len(group) > TASK else map)
        return rows

    def rows_of(self, positions: Array, map_tasks: Map) -> Array:
        """Return the row of each position, like `rows`, for positions that fit in memory together."""
        parents, children, tiers, slots = self.expand(positions, map_tasks)
        scores = self.scores_of(parents, children, tiers, slots, map_tasks)
        if len(scores) and scores.min() < 0:
            raise self.database.file.damaged("a position is left out, and a child has no outcome")
        # The best score among the children must be that of an outcome in the legend.
        best = np.empty(len(positions), np.int64)
        kernels.best_scores(parents.begins, parents.values, scores, BITS, best)
        indices = np.minimum(self.sorted_scores.searchsorted(best), len(self.sorted_scores) - 1)
        if (self.sorted_scores[indices] != best).any():
            raise self.database.file.damaged("an outcome that follows from the children is not in the legend")
        return self.rows_by_score[indices]

    def expand(self, positions: Array, map_tasks: Map) -> tuple[ParentTable, Array, Array, Array]:
        """Return (data about positions, their children, the children's tiers, their slots)."""
        parents = ParentTable(*np.empty((3, len(positions)), np.int64))
        stored_tiers = self.database.file.contents.tiers

        def expand_task(begin: int) -> tuple[Array, Array, Array]:
            """Expand TASK positions from *begin* on into *parents*; return their (children, tiers, slots)."""
            task = slice(begin, begin + TASK)
            task_parents, trouble = ParentTable(*(column[task] for column in parents)), trouble_array(self.game)
            with compilable(self.game), watch_kernel(self.game, trouble):
                expanded: tuple[Array, Array, Array] = kernels.expand(
                    rules_for(self.rules), positions[task], *stored_tiers, task_parents, trouble
                )
            return expanded

        results, before = list(map_tasks(expand_task, range(0, len(positions), TASK))), 0
        for number, (children, *_) in enumerate(results):
            parents.begins[number * TASK : (number + 1) * TASK] += before
            before += len(children)
        children, tiers, slots = map(np.concatenate, zip(*results, strict=True))
        return parents, children, tiers, slots

    def scores_of(self, parents: ParentTable, children: Array, tiers: Array, slots: Array, map_tasks: Map) -> Array:
        """Return the scores that children pass up to their parents, -1 if unknown. Replaces *slots* by indices
        among kept slots."""
        rows = np.full(len(children), NOWHERE, np.int32)
        # Step 1: look up the children that the file keeps.
        kernels.index_stored(self.parts, slots, rows)
        self.find(slots, tiers, rows, map_tasks)
        # Step 2: derive the children that it leaves out; they must be in later tiers.
        later = np.flatnonzero(rows == LEFT_OUT)
        if len(later):
            parent_indices = parents.begins.searchsorted(later, "right") - 1
            if (tiers[later] <= parents.tiers[parent_indices]).any():
                raise self.database.file.damaged("a position is left out, and so is a child not in a later tier")
            rows[later] = self.rows(children[later])
        scores: Array = self.passed_up[self.database][rows]  # NOWHERE (-1) selects the last entry, -1: unknown
        # Step 3: look up the children in tiers that other databases have.
        missing = np.flatnonzero(rows == NOWHERE)
        for tier in np.unique(tiers[missing]).tolist():
            in_tier = missing[tiers[missing] == tier]
            scores[in_tier] = self.scores_elsewhere(tier, children[in_tier])
        return scores

    def scores_elsewhere(self, tier: int, children: Array) -> Array:
        """Return the scores that children in a tier of another database pass up, -1 for a child without an outcome."""
        try:
            holder = self.database.holder(tier)
        except NoDatabase:  # positions where the game is over need none; others raise NoDatabase here
            outcomes = [self.database[child] for child in children.tolist()]
            return np.array([pass_up(encode(value, plies or 0, BITS), BITS) for value, plies in outcomes], np.int64)
        if holder is self.database:  # it should have their slots, and does not
            return np.full(len(children), NOWHERE, np.int64)
        if holder not in self.passed_up:
            self.passed_up[holder] = passed_up_by(holder)
        scores: Array = self.passed_up[holder][holder._bulk.rows(children)]
        return scores


def score_of(row: LegendRow) -> int:
    """Return the score of a legend row's outcome."""
    return encode(row.value, row.remoteness, BITS)


def passed_up_by(database: Database) -> Array:
    """Return int64[rows + 1]: for each row of a legend, the score that a child with this outcome passes up to its
    parent. The last entry, -1, is for children without a row."""
    return np.array([*(pass_up(score_of(row), BITS) for row in database.file.legend), NOWHERE], np.int64)
