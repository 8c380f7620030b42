"""Counts the positions of a game wave by wave as long as that is quick, then samples.

A *wave* is all positions first reached after the same number of plies. From the first wave that is too large to count,
two independent samples are carried from wave to wave. The number of children follows from the samples. How many of
these are *different* follows from how often a child of one sample is a child of the other too, as the number of fish in
a lake is estimated by catching some twice. The more parents children have, the more often that happens; how it depends
on the number of parents is taken from the last waves that were counted:

    children of all     =  wave · children of a sample / sample
    parents each has    =  1 + factor · (what both samples have, scaled up, / children of all - 1)
    the next wave       =  children of all / parents each has

If few children are in both samples, chance would decide; then the waves before count as well. The samples lean towards
positions with many parents, more so the deeper they go. The result is too low, by an amount known from Connect Four
(`LEAN`).

If play can return to a wave, no wave beyond the counted ones can be predicted. Such games are counted for a limited
time. What lies beyond is estimated only if waves get smaller.
"""

import math
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import Game, Traits
from retrograde.solver.estimation.amounts import Range
from retrograde.solver.rules.examine import starts_of, to_list
from retrograde.solver.rules.expansion import Expander
from retrograde.solver.rules.positions import from_items, to_items
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Course, Listener, Phase, announce

LOWEST = -(1 << 62)
"""A tier below all others."""
TRUSTED = 100.0
"""The weight of the estimate from earlier waves, as a number of children that are in both samples."""
LEAN = 0.002
"""A wave d waves beyond the last one counted is estimated too low by a factor of e to the power of LEAN · d².

Measured with Connect Four 5×5 to 6×6: 0.0018 to 0.0024 for a million counted and 300,000 sampled positions, 0.0015 to
0.0031 for a tenth of these.
"""
SHRINKING = 0.8
"""If waves are smaller than this fraction of the wave before, they will soon end."""


@dataclass
class PositionCounts:
    """What is known about the positions of a game: records by wave and by tier, counted or estimated.

    All records are between `low` and `high`; *high* is None if unknown. The first `counted` waves are counted.
    `complete`: these are all. `open`: nothing is known about any wave beyond. `returns`: play can come back. A record
    stands for `symmetric` positions, has `links` children, and takes the rules `expansion` seconds, on average.
    """

    waves: list[float]
    tiers: dict[int, float]
    counted: int
    low: float
    high: float | None
    complete: bool
    open: bool
    returns: bool
    symmetric: float
    expansion: float
    links: float

    @property
    def records(self) -> float:
        """The likely number of records."""
        return sum(self.waves)

    @property
    def range(self) -> Range:
        """The least, likely and greatest number of records."""
        return Range(self.low, self.records, self.high)


class PositionSet:
    """A set of positions, as a few sorted arrays."""

    def __init__(self, positions: Array):
        self.runs = [positions]

    def add(self, positions: Array) -> Array:
        """Add some sorted positions; return bool[n]: which of them are new."""
        present = np.zeros(len(positions), bool)
        for run in self.runs:
            indices = np.minimum(run.searchsorted(positions), len(run) - 1)
            present |= run[indices] == positions
        new = ~present
        if new.any():
            self.runs.append(positions[new])
        # Merge arrays so that each is at least twice as long as the next: few arrays, and few merges.
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            self.runs[-2:] = [np.sort(np.concatenate(self.runs[-2:]))]
        return new


class DistinctChildren(NamedTuple):
    """The distinct children of some positions, ascending, with their tiers and how many times each is a child."""

    positions: Array
    tiers: Array
    times: Array


class Sampler:
    """Counts and samples the waves of a game.

    Waves of up to *counted* positions are counted; later ones are estimated from two samples of *sampled* positions. If
    play can return, up to four times as many positions are counted in all. Counting takes at most *seconds*.
    """

    def __init__(self, game: Game, counted: int, sampled: int, seconds: float, listener: Listener | None = None):
        announce(listener, "compiling the rules")
        self.expander = Expander(game)
        self.counted, self.sampled, self.seconds = counted, sampled, seconds
        self.phase = Phase("counting", listener, course=Course({"counting": 0.5, "sampling": 0.5}))
        self.random = np.random.default_rng(1)
        self.expanded = self.sizes = self.links = 0
        """The positions expanded so far, all positions symmetric to them, and their children."""
        self.timed, self.expansion_seconds, self.is_compiled = 0, 0.0, False
        """How many positions were timed, the seconds they took, and whether the rules were machine code then."""
        self.returns = False
        """Whether play was seen to return to a tier, or to a position of an earlier wave."""
        self.out_of_time = False
        """Whether time for counting is over."""
        self.tiers: dict[int, float] = defaultdict(float)
        self.waves: list[float] = []
        self.variance = 0.0
        """The variance of the logarithm of the last wave's size, as far as chance decides it."""

    def run(self) -> PositionCounts:
        """Count waves, then sample the others if play cannot return; return all counts."""
        game = self.expander.game
        starts = np.array(sorted(starts_of(game)))
        self.expander.expand(LOWEST, starts, sizes=True)  # compiles
        self.waves = [float(len(starts))]
        for start in to_list(starts):
            self.tiers[int(game.tier(start))] += 1.0
        last_wave, parents, factor = self.count_waves(to_items(starts))
        counted, complete = len(self.waves), len(last_wave) == 0
        # A last wave smaller than `counted` ended the count only because time was over: too small to sample.
        too_small = self.out_of_time and len(last_wave) < self.counted
        if not (complete or self.returns or too_small):
            log_spread = self.sample_waves(last_wave, parents, factor)
            records = sum(self.waves)
            # Without the correction for the lean, the sum is too low: it serves as the least.
            low = min(records * math.exp(-log_spread), sum(self.uncorrected))
            high: float | None = records * math.exp(log_spread)
        else:
            low, high = self.bounds_beyond(complete)
        expanded = max(self.expanded, 1)
        return PositionCounts(
            waves=self.waves,
            tiers=dict(sorted(self.tiers.items())),
            counted=counted,
            low=low,
            high=high,
            complete=complete,
            open=not complete and counted == len(self.waves),
            returns=self.returns,
            symmetric=self.sizes / expanded,
            expansion=self.expansion_seconds / max(self.timed, 1),
            links=self.links / expanded,
        )

    def count_waves(self, wave: Array) -> tuple[Array, float, float]:
        """Count wave after wave, from *wave* on. Return (last wave, its mean number of parents, factor). The last wave
        is empty if all were counted. The factor is that of the module's docstring."""
        visited, deadline = PositionSet(wave), time.monotonic() + self.seconds
        parents = factor = 1.0
        while True:
            children = self.find_children(wave)
            is_new = visited.add(children.positions)
            self.returns |= not is_new.all()
            wave, tiers, parent_counts = (array[is_new] for array in children)
            if not len(wave):
                return wave, parents, factor
            parents = float(parent_counts.sum() / len(wave))
            # How many other parents a child has, on average over all edges.
            others = float((parent_counts * (parent_counts - 1)).sum() / parent_counts.sum())
            factor = (parents - 1) / others if others else factor
            self.add_to_tiers(tiers, 1.0)
            self.waves.append(float(len(wave)))
            self.out_of_time = time.monotonic() > deadline
            too_many = sum(self.waves) > 4 * self.counted if self.returns else len(wave) > self.counted
            if too_many or self.out_of_time:
                return wave, parents, factor

    def sample_waves(self, wave: Array, parents: float, factor: float) -> float:
        """Estimate all waves after *wave*, the last one counted. Return the spread of the logarithm of their sum.

        *parents* and *factor* are those that `count_waves` returns.
        """
        self.phase = Phase("sampling", self.phase.listener, course=self.phase.course)
        self.uncorrected = list(self.waves)
        samples = [self.draw(wave) for _ in range(2)]
        count, depth, weighted_spread = float(len(wave)), 0, 0.0
        logs = [math.log(max((parents - 1) / factor, 1e-9))]  # logarithms of *others* below, wave by wave
        while True:
            # Step 1: expand both samples. Scale up the mean of their numbers of children: the edges to the next wave.
            one, other = (self.find_children(sample) for sample in samples)
            edges = count * (one.times.sum() / len(samples[0]) + other.times.sum() / len(samples[1])) / 2
            if not len(one.positions) or not len(other.positions) or self.returns:
                break
            # Step 2: count how often both samples have the same child, and infer the number of parents.
            _, i, j = np.intersect1d(one.positions, other.positions, assume_unique=True, return_indices=True)
            hits = int((one.times[i] * other.times[j]).sum())
            # How many other parents a child has, scaled up to all positions of the wave.
            others = hits * count**2 / len(samples[0]) / len(samples[1]) / edges - 1
            others = self.smooth(logs, others, hits)
            parents = 1 + factor * others
            # Step 3: the next wave, corrected for the lean.
            self.variance += (factor * others / parents) ** 2 / (TRUSTED + hits)
            count, depth = max(edges / parents, 1.0), depth + 1
            lean = math.exp(LEAN * depth**2)
            self.uncorrected.append(count)
            self.waves.append(count * lean)
            self.add_to_tiers(one.tiers, count * lean / len(one.positions))
            # Two standard deviations, and half of the correction.
            weighted_spread += count * lean * (2 * self.variance**0.5 + LEAN * depth**2 / 2)
            # Step 4: draw the next samples from the children.
            samples = [self.draw(one.positions), self.draw(other.positions)]
        return weighted_spread / sum(self.waves)

    @staticmethod
    def smooth(logs: list[float], others: float, hits: int) -> float:
        """Return the weighted geometric mean of *others* and its last two means; append its logarithm to *logs*."""
        before = sum(logs[-2:]) / len(logs[-2:])
        now = math.log(others) if others > 0 else before
        logs.append((TRUSTED * before + hits * now) / (TRUSTED + hits))
        return math.exp(logs[-1])

    def bounds_beyond(self, complete: bool) -> tuple[float, float | None]:
        """Return the least and greatest number of all records; they are equal if the counted ones are *complete*.

        Waves that shrink are assumed to go on shrinking, at worst half as fast. If they do not shrink, the greatest is
        None.
        """
        low = sum(self.waves)
        if complete:
            return low, low
        ratio = max(self.waves[-1] / self.waves[-2], self.waves[-2] / self.waves[-3]) if len(self.waves) > 3 else 1.0
        if ratio > SHRINKING:
            return low, None
        slowest = (1 + ratio) / 2
        return low, low + self.waves[-1] * slowest / (1 - slowest)  # the sum of a geometric series

    def find_children(self, positions: Array) -> "DistinctChildren":
        """Return the distinct children of some positions; add up symmetric positions, children and time."""
        # Rules are interpreted at first. What these took says nothing about a solve that compiles them.
        is_compiled = not getattr(self.expander.rules, "interpreted", True)
        if is_compiled != self.is_compiled:
            self.timed, self.expansion_seconds, self.is_compiled = 0, 0.0, is_compiled
        began, width = time.thread_time(), Traits.of(self.expander.game).width
        children, tiers = [positions[:0]], [np.empty(0, np.int64)]
        for begin, end in self.expander.blocks(0, len(positions)):
            block = self.expander.expand(LOWEST, from_items(positions[begin:end], width), sizes=True)
            table = block.children[:, : block.columns]  # a row for each position, padded with negative numbers
            exists = (table[..., 0] if width else table) >= 0
            children.append(to_items(table[exists]))
            tiers.append(block.tiers[:, : block.columns][exists])
            self.sizes += int(block.sizes.sum())
            self.phase.advance(end - begin, positions=int(block.sizes.sum()))
        self.expanded += len(positions)
        self.links += sum(map(len, children))
        self.timed += len(positions)
        self.expansion_seconds += time.thread_time() - began
        distinct, first, times = np.unique(np.concatenate(children), return_index=True, return_counts=True)
        # If a child is in the tier of one of 64 positions or so, play returns to a tier.
        examples = from_items(positions[:: max(1, len(positions) // 64)], width)
        own_tiers = {self.expander.game.tier(position) for position in to_list(examples)}
        self.returns |= not own_tiers.isdisjoint(np.unique(np.concatenate(tiers)).tolist())
        return DistinctChildren(distinct, np.concatenate(tiers)[first], times)

    def draw(self, positions: Array) -> Array:
        """Return `sampled` random positions, ascending; all if there are fewer."""
        if len(positions) <= self.sampled:
            return positions
        return positions[np.sort(self.random.choice(len(positions), self.sampled, replace=False))]

    def add_to_tiers(self, tiers: Array, weight: float) -> None:
        """Add *weight* to the records of a tier for each time that it is in *tiers*."""
        numbers, counts = np.unique(tiers, return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            self.tiers[number] += weight * count
