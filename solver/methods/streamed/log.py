"""The journal of the exploration: which lists are complete, and where they are, so that a killed solve resumes.

An entry begins with its kind and the number of the wave. An empty entry means that the exploration was restarted.
"""

from collections import Counter, defaultdict
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.streamed.segments import SEGMENT, Segment, add_up, segment_of
from retrograde.solver.methods.streamed.steps import TALLIED
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import Scratch

Array = np.ndarray[Any, Any]

FOUND, WHOLE, FORGET = range(3)
"""Kinds of entries: segments found; a wave complete; a wave restarted."""


class Made(NamedTuple):
    """A tier, or a part of one, that was found.

    `segment` has length 0 if there is no undecided position. `moves` and `leads` are as in `Tier`. The tier was cut
    into `parts`; `cut` is the random number of that cut, as the tier may be cut differently after a restart.
    """

    tier: int
    part: int
    parts: int
    cut: int
    segment: Segment
    moves: tuple[int, ...] | None
    leads: tuple[int, ...]


class Found(NamedTuple):
    """The result of a task: parts of tiers, and a tally of finished positions by primitive value (see steps.py)."""

    made: list[Made]
    over: Array

    @property
    def positions(self) -> int:
        """The number of positions, finished ones included."""
        return sum(one.segment.length for one in self.made) + int(self.over[:, 0].sum())


MADE = np.dtype([
    *((name, np.int64) for name in ("tier", "part", "parts", "cut")),
    ("segment", SEGMENT),
    ("moves", np.int64),  # how many, -1 if positions have different moves
    ("samples", np.int64),  # how many
])  # fmt: skip
"""A row of an entry: a `Made` without the arrays behind it."""


class StreamLog:
    """The journal of an exploration, and the entries read from it."""

    def __init__(self, log: Log):
        self.log = log
        self.waves: dict[int, list[Found]] = defaultdict(list)
        self.whole: set[int] = set()
        for (kind, wave), *arrays in log.since_anew():
            if kind == FOUND:
                self.waves[int(wave)].append(found_from(f"positions{wave}", *arrays))
            elif kind == WHOLE:
                self.whole.add(int(wave))
            else:
                self.drop(int(wave))

    def believe(self, scratch: Scratch) -> None:
        """Drop the first wave that scratch files do not have completely, and all later ones."""
        for wave in sorted(self.waves):
            if scratch.missing(one.segment.frame for found in self.waves[wave] for one in found.made):
                for later in [known for known in self.waves if known >= wave]:
                    self.forget(later)
                return

    def found(self, wave: int) -> list[Found]:
        """Return what an earlier solve found of a wave.

        Tiers of which only some parts were found are left out. Each part assumes that the children of a list ascend,
        and only all parts together have checked that.
        """
        there = self.waves.get(wave, [])
        parts = Counter(found.made[0].cut for found in there)
        return [found for found in there if found.made[0].parts in (1, parts[found.made[0].cut])]

    def add(self, kind: int, wave: int, *arrays: Array) -> None:
        """Add an entry."""
        self.log.add((np.array([kind, wave], np.int64), *arrays))

    def add_found(self, wave: int, found: Found) -> None:
        """Add an entry for the result of a task."""
        rows = [
            (*one[:4], one.segment.row, -1 if one.moves is None else len(one.moves), len(one.segment.samples))
            for one in found.made
        ]
        moves = [move for one in found.made for move in one.moves or ()]
        leads = [lead for one in found.made for lead in one.leads]
        samples = np.concatenate([one.segment.samples for one in found.made])
        table = np.array(rows, MADE).view(np.int64)
        self.add(FOUND, wave, table, np.array([moves, leads], np.int64).ravel(), samples, found.over.ravel())

    def forget(self, wave: int) -> None:
        """Restart a wave, and make that durable before its lists are dropped."""
        self.drop(wave)
        self.add(FORGET, wave)
        self.log.settle()

    def drop(self, wave: int) -> None:
        """Forget the entries of a wave."""
        self.whole.discard(wave)
        self.waves.pop(wave, None)


def found_from(name: str, table: Array, moves_and_leads: Array, samples: Array, over: Array) -> Found:
    """Return the result of a task from an entry of `StreamLog.add_found`."""
    made = []
    moves, leads = moves_and_leads.reshape(2, -1).tolist()
    at = sample = 0
    for tier, number, parts, cut, segment, count, sampled in table.view(MADE).tolist():
        part = slice(at, at + max(count, 0))
        own = None if count < 0 else tuple(moves[part])
        made.append(
            Made(
                tier,
                number,
                parts,
                cut,
                segment_of(name, segment, samples[sample : sample + sampled]),
                own,
                tuple(leads[part]),
            )
        )
        at, sample = part.stop, sample + sampled
    return Found(made, over.reshape(-1, TALLIED))


def total(tallies: list[Array], rows: int) -> Array:
    """Return the sum of some tallies."""
    tally = np.zeros((rows, TALLIED), np.int64)
    for more in tallies:
        add_up(tally, more)
    return tally
