"""The legend: which outcomes there are in a solved game, how often, and where first."""

from concurrent.futures import Executor
from typing import Any

import numpy as np

from retrograde.databases.layout import LegendRow
from retrograde.databases.write import Solved
from retrograde.solver.listed.tiers import Scores
from retrograde.solver.outcomes import score_kernels
from retrograde.solver.outcomes.score import decode

Array = np.ndarray[Any, Any]

PART = 1 << 22


def solved_from(scores: Scores, executor: Executor) -> Solved:
    """Return a solved game for the database writer from the scores of all positions."""
    space = scores.space
    codes, numbers = narrow(scores)
    room = len(codes)
    positions, stored, first = (np.zeros(room, np.int64) for _ in range(3))
    for part in executor.map(lambda begin: count(numbers, scores.sizes, begin, room), range(0, len(numbers), PART)):
        first = np.where(stored > 0, first, part[2])
        positions, stored = positions + part[0], stored + part[1]
    outcomes = sorted((*decode(int(codes[place]), scores.bits), place) for place in np.flatnonzero(stored).tolist())
    legend = [
        LegendRow(value, remoteness, int(positions[place]), int(stored[place]), int(space.positions[first[place]]))
        for value, remoteness, place in outcomes
    ]
    rows = np.zeros(room, np.min_scalar_type(len(legend)))
    rows[[place for *_, place in outcomes]] = np.arange(len(legend))
    outcome_rows = np.empty(len(numbers), rows.dtype)

    def fill(begin: int) -> None:
        outcome_rows[begin : begin + PART] = rows[numbers[begin : begin + PART]]

    list(executor.map(fill, range(0, len(numbers), PART)))
    greatest = int(space.positions[space.starts[1:] - 1].max())
    return Solved(space.tiers, np.diff(space.starts), legend, (space.positions, outcome_rows), greatest)


def narrow(scores: Scores) -> tuple[Array, Array]:
    """Return small numbers for all scores, and the score that each stands for."""
    if scores.scores.dtype == np.uint16:
        return np.arange(1 << 16), scores.scores
    codes = np.unique(scores.scores)
    return codes, np.searchsorted(codes, scores.scores)


def count(numbers: Array, sizes: Array, begin: int, room: int) -> tuple[Array, Array, Array]:
    """Count a part of the records: positions and records by number, and where each number is first."""
    positions, stored, first = (np.zeros(room, np.int64) for _ in range(3))
    part = slice(begin, begin + PART)
    score_kernels.tally(numbers[part], sizes[part], positions, stored, first, begin)
    return positions, stored, first
