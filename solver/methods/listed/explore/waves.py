"""Waves of positions, and what of them is in the journal: an entry for each, or several where it lies in scratch."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.listed.explore.cutting import cut
from retrograde.solver.methods.listed.explore.tasks import as_one, position_type
from retrograde.solver.runtime.journal import Entries

Array = np.ndarray[Any, Any]
Wave = dict[int, Array]
"""Sorted distinct positions by tier."""
AnyWave = dict[int, Any]
"""The same in memory, or as a SortedList in scratch."""
Edges = set[tuple[int, int]]
"""Pairs of tiers that a move leads from and to."""
Entry = tuple[Array, ...]
"""A wave as a log has it, or a piece of one."""

LOGGED = 1 << 20
"""Positions in scratch that make an entry in a log, at least, where a wave has so many."""
IN_PIECES = 5
"""Arrays of an entry that is a piece of a wave."""
SAMPLE = 64
"""Positions of a wave by which all of it is judged."""


def lengths(wave: AnyWave) -> list[tuple[int, int]]:
    """Return how many positions a wave has in each tier."""
    return [(tier, len(positions)) for tier, positions in wave.items()]


def size(wave: AnyWave) -> int:
    """Return how many positions a wave has."""
    return sum(map(len, wave.values()))


def first_wave(game: Game, starts: list[int]) -> tuple[Array, Array, Array, Array]:
    """Return the wave of the first positions as a log has it: tiers, how many of each, positions, and no edges."""
    by_tier: dict[int, list[int]] = {}
    for start in sorted(starts):
        by_tier.setdefault(int(game.tier(start)), []).append(start)
    counts = [len(some) for some in by_tier.values()]
    positions = [start for some in by_tier.values() for start in some]
    kind = position_type(max(positions))
    return np.array([*by_tier]), np.array(counts), np.array(positions, kind), np.empty(0, np.int64)


def entry_of(wave: AnyWave, edges: Edges) -> Entry:
    """Return a wave in memory as a log has it: tiers, how many of each, positions, and edges."""
    counts = np.array([len(new) for new in wave.values()], np.int64)
    lists = [*wave.values()]
    positions = lists[0] if len(lists) == 1 else np.concatenate([np.empty(0, np.uint32), *lists])
    return np.array([*wave], np.int64), counts, positions, np.array(sorted(edges), np.int64).reshape(-1)


def entries_aside(wave: AnyWave, edges: Edges) -> Iterator[Entry]:
    """Yield a wave in scratch as a log has it, piece by piece; a fifth array has the number of the piece, and whether
    it is the last."""
    number = 0
    for number, parts in enumerate(cut(lengths(wave), LOGGED), 1):
        piece = {tier: wave[tier][begin:end] for tier, begin, end in parts}
        greatest = max(int(positions[-1]) for positions in piece.values())
        narrow = {tier: positions.astype(position_type(greatest)) for tier, positions in piece.items()}
        yield (*entry_of(narrow, set()), np.array([number - 1, 0]))
    yield (*entry_of({}, edges), np.array([number, 1]))


def waves_in(log: Entries) -> Iterator[Iterator[Entry]]:
    """Yield the whole waves that a log has, each as entries; what a kill has left of one in pieces is passed over."""
    pieces: list[int] = []
    for number, entry in enumerate(log):
        if len(entry) < IN_PIECES:
            pieces.clear()
            yield iter([tuple(entry)])
            continue
        if entry[-1][0] == 0:
            pieces.clear()
        pieces.append(number)
        if entry[-1][1]:
            yield (tuple(log.entry(which)) for which in pieces)
            pieces.clear()


def sample_of(wave: AnyWave) -> Array:
    """Return some positions of a wave, spread evenly."""
    ends = np.cumsum([0, *map(len, wave.values())])
    places = np.linspace(0, ends[-1] - 1, min(SAMPLE, ends[-1])).astype(np.int64)
    lists, numbers = [*wave.values()], ends.searchsorted(places, "right") - 1
    some = [lists[k][place : place + 1] for k, place in zip(numbers, (places - ends[numbers]).tolist(), strict=True)]
    return as_one([np.empty(0, np.uint32), *some])
