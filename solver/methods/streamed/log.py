"""What the exploration notes in the journal: which lists are whole, and where; so that a killed one goes on from there.

An entry begins with its kind and the number of the wave. An entry of nothing says that all is begun anew.
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
"""Kinds of entries: segments found; a wave all found; a wave to be begun anew."""


class Made(NamedTuple):
    """A tier, or a part of one, that is found: a segment of length 0 where it has no undecided position; as in a Tier,
    moves and leads. It was cut into so many `parts`; a later `cut` of the same tier may be another."""

    tier: int
    part: int
    parts: int
    cut: int
    segment: Segment
    moves: tuple[int, ...] | None
    leads: tuple[int, ...]


class Found(NamedTuple):
    """What a task has found of a wave: parts of tiers; and a tally of the positions where the game is over, by value
    (see steps.py)."""

    made: list[Made]
    over: Array

    @property
    def positions(self) -> int:
        """How many there are."""
        return sum(one.segment.length for one in self.made) + int(self.over[:, 0].sum())


MADE = np.dtype([
    *((name, np.int64) for name in ("tier", "part", "parts", "cut")),
    ("segment", SEGMENT),
    ("moves", np.int64),  # how many, -1 for none that all positions have
    ("samples", np.int64),  # how many
])  # fmt: skip


class StreamLog:
    """The log of an exploration, and what has been read in it."""

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
        """Forget the waves from the first on of which the scratch files no longer hold all."""
        for wave in sorted(self.waves):
            if scratch.missing(one.segment.frame for found in self.waves[wave] for one in found.made):
                for later in [known for known in self.waves if known >= wave]:
                    self.forget(later)
                return

    def found(self, wave: int) -> list[Found]:
        """Return what an earlier solve has found of a wave.

        What there is of a tier whose parts have not all been found does not count: whether the children of a list
        ascend, which each part takes for granted, only all of them together have seen.
        """
        there = self.waves.get(wave, [])
        parts = Counter(found.made[0].cut for found in there)
        return [found for found in there if found.made[0].parts in (1, parts[found.made[0].cut])]

    def add(self, kind: int, wave: int, *arrays: Array) -> None:
        """Add an entry."""
        self.log.add((np.array([kind, wave], np.int64), *arrays))

    def add_found(self, wave: int, found: Found) -> None:
        """Note what has been found."""
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
        """Note that a wave is begun anew, and see to it that this is known before its lists are dropped."""
        self.drop(wave)
        self.add(FORGET, wave)
        self.log.settle()

    def drop(self, wave: int) -> None:
        """Forget what has been read of a wave."""
        self.whole.discard(wave)
        self.waves.pop(wave, None)


def found_from(name: str, table: Array, moves_and_leads: Array, samples: Array, over: Array) -> Found:
    """Return what `StreamLog.add_found` has noted."""
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
    """Return tallies added up."""
    tally = np.zeros((rows, TALLIED), np.int64)
    for more in tallies:
        add_up(tally, more)
    return tally
