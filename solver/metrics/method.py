"""The method that solves a game by another metric than remoteness.

It explores the game, calls the metric, and collects the distinct outcomes in a legend. A metric is a module of this
package, named after it, with a function `measure(explored, options, phase)` that returns a MetricResult.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np

from retrograde.databases.layout import legend_dtype
from retrograde.databases.legend import LegendTable, Measures
from retrograde.databases.write import SolvedRecords, SolvedRows
from retrograde.games.contract.declared import word
from retrograde.games.contract.game import CHANCE, LOSE, UNDECIDED, Game, Traits
from retrograde.games.contract.raised import given_start
from retrograde.solver.metrics.explored_game import ExploredGame, explore
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable, Work
from retrograde.solver.values.score import BLOCK

EXAMINED = 5_000
"""Positions that are examined before a solve by nimbers is advised."""


@dataclass(frozen=True)
class MetricOptions:
    """Options of a solve by a metric: the `metric`, one of METRICS, and its settings."""

    metric: str
    ties: str = ""
    """For utilities: how a player chooses among equally good moves; empty for the first one."""
    against: Model | None = None
    """For expectations: the model of one player, to which the other one plays a best response."""
    playing: Model | None = None
    """The model of the other player; None if it plays a best response."""


@dataclass(frozen=True)
class MetricResult:
    """The result of a metric, with an entry for each position, for the player to move.

    `values` uint8, `remotenesses` int32 (plies, -1 for a DRAW), and further int64 `columns` by name. `details` are
    further facts for the file, as JSON.
    """

    values: Array
    remotenesses: Array
    columns: Mapping[str, Array]
    details: Mapping[str, Any] = field(default_factory=dict)


class Measure(Protocol):
    """The `measure` function of a metric's module."""

    def __call__(self, explored: ExploredGame, options: MetricOptions, phase: Phase) -> MetricResult:
        """Return the measures of all positions; raise MetricNotApplicable if the metric does not apply to the game."""


@dataclass(frozen=True)
class MetricMethod:
    """Solves a game by a metric, with positions as sorted lists in memory."""

    options: MetricOptions

    @property
    def name(self) -> str:
        return self.options.metric

    def solve(self, game: Game, work: Work) -> SolvedRecords | SolvedRows:
        """Return the solved game; raise MetricNotApplicable if the metric does not apply."""
        measure = cast(Measure, import_module(f"retrograde.solver.metrics.{self.options.metric}").measure)
        if self.options.metric == "nimber":
            refuse_partisan(game)
        if self.options.metric == "utilities" and Traits.of(game).alternates:
            raise MetricNotApplicable(
                "utilities need turn(position), which says who is to move; without it compute score or remoteness"
            )
        explored = explore(game, work)
        phase = work.phase("solving", len(explored))
        result = measure(explored, self.options, phase)
        phase.end()
        return solved_from(explored, result, self.options.metric)


def refuse_partisan(game: Game) -> None:
    """Raise MetricNotApplicable if positions or rules tell the players apart, so that their moves may differ."""
    what = "nimbers are of impartial games, in which both players have the same moves"
    for name in ("to_move", "by_turns"):
        if word(game, name):
            raise MetricNotApplicable(f"{what}, and by {name} the players differ here; compute remoteness or score")
    position = given_start(game)
    for image in game.images(position):
        if game.draw_turn(image) != game.draw_turn(position):
            raise MetricNotApplicable(
                f"{what}, and here images(position) swaps the players; compute remoteness or score"
            )


def refuse_nimbers(game: Game) -> None:
    """Raise MetricNotApplicable if a game has no nimbers, as far as its first EXAMINED positions show that.

    A solve meets the same obstacles, but only after it has explored.
    """
    traits = Traits.of(game)
    if game.players != 2:
        raise MetricNotApplicable(f"nimbers are of games for two players, and this one is for {game.players}")
    refuse_partisan(game)
    if traits.has_rewards:
        raise MetricNotApplicable("nimbers are of games in which moves pay nothing; compute scores")
    # Depth first, so that even a large game is examined to its ends.
    ahead = [] if (start := given_start(game)) is None else [start]
    known = set(ahead)
    while ahead and len(known) < EXAMINED:
        position = ahead.pop()
        if traits.has_turn and game.turn(position) == CHANCE:
            raise MetricNotApplicable("nimbers are of games without chance; where there is chance, compute expectation")
        if (end := game.primitive(position)) not in (UNDECIDED, LOSE):
            what = "nimbers need a game in which a player who cannot move loses"
            raise MetricNotApplicable(f"{what}; position {game.write(position)} ends in another way")
        for move in game.generate_moves(position) if end == UNDECIDED else ():
            child = game.do_move(position, move)
            if not traits.alternates and game.turn(child) == game.turn(position):
                raise MetricNotApplicable("nimbers need a game in which players take turns; here a player moves again")
            if child not in known:
                known.add(child)
                ahead.append(child)


def solved_from(explored: ExploredGame, result: MetricResult, metric: str) -> SolvedRecords | SolvedRows:
    """Return the solved game for the database writer, with a legend row for each distinct combination of outcomes.

    The positions of each tier must be sorted, and no tier empty: the last ones are compared to find the greatest.
    """
    space, sizes = explored.space, explored.sizes
    # Step 1: find the legend row of each position, and the first position that has each row.
    columns = [result.values, result.remotenesses, *result.columns.values()]
    legend_rows, examples = find_distinct_rows(columns)
    # Step 2: make the legend. Without symmetry there are no `sizes`: each stored position stands for itself alone.
    names = tuple(result.columns)
    legend = np.zeros(len(examples), legend_dtype(names))
    for name, column in zip(("value", "remoteness", *names), columns, strict=True):
        legend[name] = column[examples]
    for begin in range(0, len(legend_rows), BLOCK):  # in blocks, because `bincount` makes copies of 8 bytes an item
        rows, row_sizes = legend_rows[begin : begin + BLOCK], sizes[begin : begin + BLOCK]
        stored = np.bincount(rows, minlength=len(legend))
        legend["stored"] += stored
        legend["positions"] += np.bincount(rows, row_sizes, len(legend)).astype(np.int64) if len(sizes) else stored
    # An example is a position or, if that has several words, the number of its row.
    in_words = space.positions.ndim > 1
    legend["example"] = examples if in_words else space.positions[examples]

    # Step 3: hand positions and legend rows to the writer, block by block.
    def records() -> Iterator[tuple[Array, Array]]:
        for begin in range(0, len(legend_rows), BLOCK):
            yield space.positions[begin : begin + BLOCK], legend_rows[begin : begin + BLOCK]

    measures = Measures(metric, names, dict(result.details))
    # What both kinds of storage take: tiers, number of positions in each, legend, and records.
    common = space.tiers, np.diff(space.starts), LegendTable(legend), records()
    if in_words:
        return SolvedRows(*common, measures)
    return SolvedRecords(*common, int(space.positions[space.starts[1:] - 1].max()), measures)


def find_distinct_rows(columns: list[Array], block: int = BLOCK) -> tuple[Array, Array]:
    """Return (for each entry of the columns the number of its combination, for each combination its first entry).

    The distinct combinations are numbered in order: sorted by the first column, then the next. Only *block* entries are
    sorted at once, to save memory.

    >>> rows, firsts = find_distinct_rows([np.array([4, 1, 4, 4]), np.array([7, 0, -7, 7])])
    >>> rows.tolist(), firsts.tolist()
    ([2, 0, 1, 2], [1, 2, 0])
    """
    length = len(columns[0])
    if length <= block:
        return sort_distinct_rows(columns)
    # Step 1: find the combinations of each block.
    codes, firsts = [], []
    for begin in range(0, length, block):
        rows, found = sort_distinct_rows([column[begin : begin + block] for column in columns])
        codes.append(rows)
        firsts.append(found + begin)
    # Step 2: number those of all blocks together. An equal combination of an earlier block has the first entry.
    candidates = np.concatenate(firsts)
    numbers, chosen = sort_distinct_rows([column[candidates] for column in columns])
    # Step 3: replace the numbers within each block. Its candidates are those from *first* on.
    all_rows, first = np.empty(length, np.min_scalar_type(len(chosen))), 0
    for k, found in enumerate(firsts):
        all_rows[k * block : (k + 1) * block] = numbers[first : first + len(found)][codes[k]]
        codes[k], first = codes[k][:0], first + len(found)  # frees memory
    return all_rows, candidates[chosen]


def sort_distinct_rows(columns: list[Array]) -> tuple[Array, Array]:
    """Return (combination of each entry, first entry of each combination), as `find_distinct_rows` does, by sorting all
    entries at once.

    >>> sort_distinct_rows([np.array([7, 5, 7, 5]), np.array([1, 2, 1, 0])])
    (array([2, 1, 2, 0], dtype=uint8), array([3, 1, 0]))
    """
    keys = np.zeros(len(columns[0]), np.int64)  # each combination so far has a key below *count*
    count = 1
    for column in columns:
        distinct, codes = np.unique(column, return_inverse=True)
        # If combined keys could exceed 62 bits, number those so far again.
        if count * len(distinct) >= 1 << 62:
            merged, keys = np.unique(keys, return_inverse=True)
            count = len(merged)
        keys = keys * len(distinct) + codes
        count *= len(distinct)
    _, firsts, rows = np.unique(keys, return_index=True, return_inverse=True)
    return rows.astype(np.min_scalar_type(len(firsts)), copy=False), firsts
