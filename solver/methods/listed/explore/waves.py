"""Waves of positions and their journal entries: one entry for a wave in memory, several for one on disk.

entry    tiers int64[t] | positions in each, int64[t] | positions | pairs of tiers, flat | number of the piece, last?
         the fifth array only if the wave is logged in several entries
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.listed.explore.cutting import cut_into_tasks
from retrograde.solver.methods.listed.explore.tasks import concatenate, position_type
from retrograde.solver.runtime.journal import Entries

Array = np.ndarray[Any, Any]
Wave = dict[int, Array]
"""Sorted distinct positions by tier."""
AnyWave = dict[int, Any]
"""A wave in memory, or with a SortedList on disk for each tier."""
Edges = set[tuple[int, int]]
"""Pairs of tiers (from, to) that a move connects."""
Entry = tuple[Array, ...]
"""A wave, or a piece of one, as arrays of a journal entry."""

LOGGED = 1 << 20
"""Positions in a journal entry of a wave on disk, about."""
IN_PIECES = 5
"""Number of arrays in an entry that holds only a piece of a wave."""
SAMPLE = 64
"""Positions of a wave that are sampled to estimate properties of all."""


def lengths(wave: AnyWave) -> list[tuple[int, int]]:
    """Return the number of positions of a wave in each tier."""
    return [(tier, len(positions)) for tier, positions in wave.items()]


def size(wave: AnyWave) -> int:
    """Return the number of positions of a wave."""
    return sum(map(len, wave.values()))


def first_wave(game: Game, starts: list[int]) -> tuple[Array, Array, Array, Array]:
    """Return the wave of the start positions as a journal entry: tiers, counts, positions, no pairs of tiers."""
    by_tier: dict[int, list[int]] = {}
    for start in sorted(starts):
        by_tier.setdefault(int(game.tier(start)), []).append(start)
    counts = [len(some) for some in by_tier.values()]
    positions = [start for some in by_tier.values() for start in some]
    kind = position_type(max(positions))
    return np.array([*by_tier]), np.array(counts), np.array(positions, kind), np.empty(0, np.int64)


def entry_of(wave: AnyWave, edges: Edges) -> Entry:
    """Return a wave in memory as a journal entry: tiers, counts, positions, pairs of tiers."""
    counts = np.array([len(new) for new in wave.values()], np.int64)
    lists = [*wave.values()]
    positions = lists[0] if len(lists) == 1 else np.concatenate([np.empty(0, np.uint32), *lists])
    return np.array([*wave], np.int64), counts, positions, np.array(sorted(edges), np.int64).reshape(-1)


def entries_of_spilled(wave: AnyWave, edges: Edges) -> Iterator[Entry]:
    """Yield a wave on disk as journal entries, piece by piece.

    A fifth array holds the number of the piece, and 1 in the last entry, which has the pairs of tiers.
    """
    number = 0
    for number, parts in enumerate(cut_into_tasks(lengths(wave), LOGGED), 1):
        piece = {tier: wave[tier][begin:end] for tier, begin, end in parts}
        greatest = max(int(positions[-1]) for positions in piece.values())
        narrow = {tier: positions.astype(position_type(greatest)) for tier, positions in piece.items()}
        yield (*entry_of(narrow, set()), np.array([number - 1, 0]))
    yield (*entry_of({}, edges), np.array([number, 1]))


def waves_in(log: Entries) -> Iterator[Iterator[Entry]]:
    """Yield the complete waves of a log, each as entries. Skips a wave that a kill left incomplete."""
    pieces: list[int] = []
    for number, entry in enumerate(log):
        # Case: a wave in a single entry. Earlier pieces were incomplete.
        if len(entry) < IN_PIECES:
            pieces.clear()
            yield iter([tuple(entry)])
            continue
        # Case: the first piece of a wave.
        if entry[-1][0] == 0:
            pieces.clear()
        pieces.append(number)
        # Case: the last piece; the wave is complete.
        if entry[-1][1]:
            yield (tuple(log.entry(which)) for which in pieces)
            pieces.clear()


def sample_of(wave: AnyWave) -> Array:
    """Return up to SAMPLE positions of a wave, evenly spread."""
    ends = np.cumsum([0, *map(len, wave.values())])
    places = np.linspace(0, ends[-1] - 1, min(SAMPLE, ends[-1])).astype(np.int64)
    lists, numbers = [*wave.values()], ends.searchsorted(places, "right") - 1
    some = [lists[k][place : place + 1] for k, place in zip(numbers, (places - ends[numbers]).tolist(), strict=True)]
    return concatenate([np.empty(0, np.uint32), *some])
