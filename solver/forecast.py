"""What a solve will take, told beforehand: positions by tier, time, memory, scratch files and database.

Positions are counted exactly as long as that is quick, wave by wave from the start. From then on two samples of each
wave, drawn apart, go on from generation to generation. How many children all positions of a wave have follows from the
samples; how many *different* ones, from how often a child of the one sample is a child of the other as well, as the
fish in a lake are counted by catching some twice. The more parents children have, the more often that happens; how it
depends on the number of parents is taken from the last waves that were counted.

The samples lean towards positions with many parents, so that far beyond what was counted the estimate is low: by a
twentieth where ten waves are sampled, by a third where twenty are (benchmarks/README.md has examples).
"""

import shutil
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.game import Game, RetrogradeError, is_numbered
from retrograde.solver.listed.explore import position_type
from retrograde.solver.numbered.numbering import Numbering
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.expansion import Expander
from retrograde.solver.work.memory import format_size

Array = np.ndarray[Any, Any]

COUNTED, SAMPLED = 1_000_000, 300_000
"""Positions up to which a wave is counted, and positions in each of the two samples of a later one."""
STREAM_SECONDS = 3.1
"""Seconds of a processor that a streamed solve takes for what the rules take a second to expand."""
MEMORY_SECONDS = 8.0
"""The same of a solve in memory."""
SECOND_WORKER = 0.75
"""What each further worker adds to the speed."""
STREAM_MEMORY, STREAM_MEMORY_A_WORKER, STREAM_MEMORY_A_RECORD = 250_000_000, 200_000_000, 0.06
MEMORY_A_RECORD = 14
SCRATCH_A_RECORD, STEPS_A_RECORD, BYTES_A_RECORD = 0.25, 0.11, 0.5
"""Bytes for each record in scratch files; in a database of steps; and in one that stores positions."""
SCORE_IN_JOURNAL = 4
"""Bytes for each record in the journal of a solve in memory, beside its position."""
LOWEST = -(1 << 62)
"""A tier below all."""
DENSE_SECONDS, DENSE_MEMORY, DENSE_BYTES = 2e-6, 4, 0.6
"""What a slot of a dense numbering takes."""


QUICK = 100_000, 30_000
"""Positions counted and sampled for an estimate in less than a second."""


class DiskTooSmall(RetrogradeError, OSError):
    """A solve would fill the disk."""


@dataclass
class Estimate:
    """What a solve will take. `records` counts symmetric positions once, `positions` each.

    `waves` are records by the plies from the start, `tiers` by tier. `counted` waves are not estimated; `open` says
    that play comes back to tiers, so that nothing is known beyond the waves counted.
    """

    records: int
    positions: int
    waves: list[int] = field(default_factory=list)
    tiers: dict[int, int] = field(default_factory=dict)
    counted: int = 0
    open: bool = False
    streamed: bool = False
    seconds: float = 0.0
    memory: int = 0
    scratch: int = 0
    database: int = 0


def estimate(
    game: Game, workers: int = 1, counted: int = COUNTED, sampled: int = SAMPLED, in_memory: int = 4_000_000
) -> Estimate:
    """Return what a solve of a game will take with so many *workers*.

    Waves of up to *counted* positions are counted, later ones estimated from *sampled* positions each; games of up to
    *in_memory* records are solved in memory. Raises RuleError where the rules break the contract.
    """
    speed = 1 + SECOND_WORKER * (workers - 1)
    if is_numbered(game):
        slots = Numbering.of(game).slots
        sizes = [int(bytes_a_slot * slots) for bytes_a_slot in (DENSE_MEMORY, DENSE_BYTES)]
        seconds = DENSE_SECONDS * slots / speed
        return Estimate(slots, slots, seconds=seconds, memory=150_000_000 + sizes[0], database=sizes[1])
    sampler = Sampler(game, counted, sampled)
    result = sampler.run()
    expansion = sampler.seconds / max(sampler.expanded, 1) * result.records
    result.streamed = result.records > in_memory and not result.open
    if result.streamed:
        result.seconds = STREAM_SECONDS * expansion / speed
        result.memory = STREAM_MEMORY + STREAM_MEMORY_A_WORKER * workers + int(STREAM_MEMORY_A_RECORD * result.records)
        told = streamed_estimate(result.records)
        result.scratch, result.database = told.scratch, told.database
    else:
        result.seconds = MEMORY_SECONDS * expansion / speed
        result.memory = 200_000_000 + MEMORY_A_RECORD * result.records
        position = np.dtype(position_type(start_of(game))).itemsize
        journal = position + SCORE_IN_JOURNAL
        result.scratch, result.database = (int(b * result.records) for b in (journal, BYTES_A_RECORD))
    return result


def streamed_estimate(records: int) -> Estimate:
    """Return what solving so many records in a stream takes of the disk; all else is left open."""
    return Estimate(
        records, records, scratch=int(SCRATCH_A_RECORD * records), database=int(STEPS_A_RECORD * records), streamed=True
    )


def check_disk(game: Game, folder: Path, expected: Estimate, written: int) -> None:
    """Raise DiskTooSmall where what a solve is expected to write does not fit the disk of a folder.

    So much of it is *written* already.
    """
    need, free = expected.scratch + expected.database, shutil.disk_usage(folder).free
    if need - written > free:
        raise DiskTooSmall(
            f"solving {variant(game)} needs about {format_size(need)} on the disk of {str(folder)!r}, and "
            f"{format_size(free)} are free; give --database on another disk, or choose a smaller variant"
        )


class Sampler:
    """Counts and samples the waves of a game."""

    def __init__(self, game: Game, counted: int, sampled: int):
        self.expander = Expander(game)
        self.counted, self.sampled = counted, sampled
        self.dice = np.random.default_rng(1)
        self.expanded = 0
        self.seconds = 0.0
        self.cyclic = False
        self.sizes = 0

    def run(self) -> Estimate:
        """Return the counts; all else in the estimate is left open."""
        game = self.expander.game
        wave = np.array([start_of(game)])
        waves = [1]
        self.expander.expand(LOWEST, wave, sizes=True)  # compiles
        tiers: dict[int, float] = defaultdict(float, {int(game.tier(int(wave[0]))): 1.0})
        samples: list[Array] = []
        count, factor, counted = 1.0, 1.0, 1
        while True:
            if not samples:
                children, child_tiers, pairs = self.children(wave)
                if len(children) == 0 or self.cyclic:
                    break
                parents = pairs.sum() / len(children)
                both = (pairs * (pairs - 1)).sum() / pairs.sum()
                factor = (parents - 1) / both if both else factor
                count, wave, counted = len(children), children, counted + 1
                self.add(tiers, child_tiers, 1.0)
                if count > self.counted:
                    samples = [self.draw(wave) for _ in range(2)]
            else:
                found = [self.children(sample) for sample in samples]
                edges = count * sum(one[2].sum() / len(sample) for one, sample in zip(found, samples, strict=True)) / 2
                if min(len(one[0]) for one in found) == 0 or self.cyclic:
                    break
                _, first, second = np.intersect1d(found[0][0], found[1][0], assume_unique=True, return_indices=True)
                often = (found[0][2][first] * found[1][2][second]).sum() * count**2
                both = max(often / len(samples[0]) / len(samples[1]) / edges - 1, 0.0)
                count = max(edges / (1 + factor * both), 1.0)
                self.add(tiers, found[0][1], count / len(found[0][0]))
                samples = [self.draw(one[0]) for one in found]
            waves.append(round(count))
        records = sum(waves)
        symmetric = self.sizes / max(self.expanded, 1)
        if self.cyclic:
            counted = len(waves)
        return Estimate(
            records,
            round(records * symmetric),
            waves,
            {k: round(tiers[k]) for k in sorted(tiers)},
            counted,
            self.cyclic,
        )

    def children(self, positions: Array) -> tuple[Array, Array, Array]:
        """Return the distinct children of positions, their tiers, and how often each is one."""
        began = time.thread_time()
        children, tiers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for begin, end in self.expander.blocks(0, len(positions)):
            block = self.expander.expand(LOWEST, positions[begin:end], sizes=True)
            found = block.children[:, : block.columns]
            there = found >= 0
            children.append(found[there])
            tiers.append(block.tiers[:, : block.columns][there])
            self.sizes += int(block.sizes.sum())
        self.expanded += len(positions)
        self.seconds += time.thread_time() - began
        distinct, first, times = np.unique(np.concatenate(children), return_index=True, return_counts=True)
        own = {self.expander.game.tier(position) for position in positions[:: max(1, len(positions) // 64)].tolist()}
        self.cyclic |= not own.isdisjoint(np.unique(np.concatenate(tiers)).tolist())
        return distinct, np.concatenate(tiers)[first], times

    def draw(self, positions: Array) -> Array:
        """Return some positions by chance, in order."""
        if len(positions) <= self.sampled:
            return positions
        return positions[np.sort(self.dice.choice(len(positions), self.sampled, replace=False))]

    @staticmethod
    def add(tiers: dict[int, float], found: Array, weight: float) -> None:
        """Count positions by tier."""
        numbers, counts = np.unique(found, return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            tiers[number] += weight * count
