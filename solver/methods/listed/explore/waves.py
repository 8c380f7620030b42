"""Waves of positions and their journal entries: one entry for a wave in memory, several for one on disk."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.listed.explore.cutting import cut_into_tasks
from retrograde.solver.methods.listed.explore.tasks import Edges, join, position_type
from retrograde.solver.rules.examine import to_list
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.journal import Entries
from retrograde.solver.runtime.log import decode

Wave = dict[int, Array]
"""Sorted distinct positions by tier."""
AnyWave = dict[int, Any]
"""A wave in memory, or with a SortedList on disk for each tier."""

LOGGED = 1 << 20
"""Positions in a journal entry of a wave on disk, about."""
SAMPLE = 64
"""Positions of a wave that are sampled to estimate properties of all."""


class WaveBlock(NamedTuple):
    """Journal entry: a wave, or block *number* of it. The *last* one has the pairs of tiers, flat. `counts[i]` of the
    positions are in tier `tiers[i]`, one tier after another."""

    tiers: Array
    counts: Array
    positions: Array
    edges: Array
    number: int = 0
    last: bool = True


def lengths(wave: AnyWave) -> list[tuple[int, int]]:
    """Return (tier, number of positions) for each tier of a wave."""
    return [(tier, len(positions)) for tier, positions in wave.items()]


def size(wave: AnyWave) -> int:
    """Return the number of positions in a wave."""
    return sum(map(len, wave.values()))


def first_wave(game: Game, starts: list[int]) -> WaveBlock:
    """Return the wave of the start positions."""
    by_tier: dict[int, list[int]] = {}
    for start in sorted(starts):
        by_tier.setdefault(int(game.tier(start)), []).append(start)
    kind = position_type(max(starts))
    return wave_block({tier: np.array(positions, kind) for tier, positions in by_tier.items()}, set())


def wave_block(wave: Wave, edges: Edges, number: int = 0, last: bool = True) -> WaveBlock:
    """Return a wave, or block *number* of it, as a journal entry; *last* marks the wave's last block."""
    counts = np.array([len(new) for new in wave.values()], np.int64)
    lists = [*wave.values()]
    positions = join(lists or [np.empty(0, np.uint32)])
    pairs = np.array(sorted(edges), np.int64).reshape(-1)
    return WaveBlock(np.array([*wave], np.int64), counts, positions, pairs, number, last)


def blocks_on_disk(wave: AnyWave, edges: Edges) -> Iterator[WaveBlock]:
    """Yield a wave on disk as journal entries. The last one has the pairs of tiers, and no positions."""
    number = -1
    for number, parts in enumerate(cut_into_tasks(lengths(wave), LOGGED)):
        block = {tier: wave[tier][begin:end] for tier, begin, end in parts}
        kind = position_type(max(to_list(positions[-1:])[0] for positions in block.values()))
        yield wave_block({tier: positions.astype(kind) for tier, positions in block.items()}, set(), number, False)
    yield wave_block({}, edges, number + 1)


def waves_in(log: Entries) -> Iterator[Iterator[WaveBlock]]:
    """Yield the complete waves of a log, each as blocks. Skips a wave that a kill left incomplete."""
    numbers: list[int] = []
    for number, entry in enumerate(log):
        block: WaveBlock = decode(entry, [WaveBlock])
        if block.number == 0:  # a new wave begins; earlier blocks were incomplete
            numbers.clear()
        numbers.append(number)
        if block.last:
            # Blocks are read again one at a time, because together they may be large.
            blocks = (decode(log.entry(block_number), [WaveBlock]) for block_number in [*numbers])
            yield blocks if block.number else iter([block])  # the only block is at hand


def sample_of(wave: AnyWave) -> Array:
    """Return up to SAMPLE positions of a wave, evenly spread."""
    ends = np.cumsum([0, *map(len, wave.values())])
    indices = np.linspace(0, ends[-1] - 1, min(SAMPLE, ends[-1])).astype(np.int64)
    lists, tiers = [*wave.values()], ends.searchsorted(indices, "right") - 1
    sample = [lists[k][index : index + 1] for k, index in zip(tiers, (indices - ends[tiers]).tolist(), strict=True)]
    return join(sample or [np.empty(0, np.uint32)])
