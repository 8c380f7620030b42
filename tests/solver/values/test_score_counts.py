"""Counting a tier's scores: piece by piece, so that compressed sizes never lie in memory whole."""

from collections import Counter

import numpy as np
import pytest

from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.values import score_kernels
from retrograde.solver.values.score import DRAW_CLASS, LOSE_CLASS, WIN_CLASS

BITS = 14


class Watched(CompressedArray):
    """A compressed array that notes the longest slice read."""

    longest = 0

    def __getitem__(self, where):
        self.longest = max(self.longest, where.stop - where.start)
        return super().__getitem__(where)


@pytest.mark.parametrize(("begin", "end"), [(0, 10_000), (700, 9_999), (5, 6), (40, 40)])
def test_scores_are_counted_piece_by_piece(begin, end, monkeypatch):
    monkeypatch.setattr(score_kernels, "COUNT_BLOCK", 999)
    random = np.random.default_rng(20261126)
    scores = (
        random.choice([LOSE_CLASS, DRAW_CLASS, WIN_CLASS], 10_000) << BITS | random.integers(0, 9, 10_000)
    ).astype(np.uint16)
    sizes, kept = random.integers(0, 9, 10_000), Watched(np.uint16)
    for first in range(0, 10_000, 512):
        kept[first : min(first + 512, 10_000)] = sizes[first : first + 512].astype(np.uint16)
    rows = score_kernels.count_by_score(scores, kept, slice(begin, end), BITS)
    slots, positions, firsts = Counter(), Counter(), {}
    for at in range(begin, end):
        score = int(scores[at])
        slots[score] += 1
        positions[score] += int(sizes[at])
        firsts.setdefault(score, at - begin)
    assert rows.tolist() == [[score, slots[score], positions[score], firsts[score]] for score in sorted(slots)]
    assert kept.longest == min(999, end - begin)
