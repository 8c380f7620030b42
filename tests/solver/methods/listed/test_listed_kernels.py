"""The loops over sorted lists: children are found where plain dictionaries say, and merged lists are sorted ones."""

from itertools import pairwise
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from retrograde.solver.methods.listed.explore import kernels, space
from retrograde.solver.methods.listed.explore.kernels import Index, TierLists
from retrograde.solver.methods.listed.explore.tasks import merge_sorted
from retrograde.solver.rules.kernels import Matrix

WORK = SimpleNamespace(zeros=lambda name, length, dtype: SimpleNamespace(array=np.zeros(length, dtype)))
GREATEST = {np.uint32: (1 << 32) - 1, np.int64: (1 << 62) - 1}


def clumped(random, count, greatest):
    """Return so many sorted numbers or fewer, most of which are near others."""
    centres = [random.randrange(greatest) for _ in range(3)]
    found = {min(greatest, random.choice(centres) + random.randrange(4 * count)) for _ in range(count)}
    return sorted(found | {random.randrange(greatest)})


@pytest.mark.as_python
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("dtype", GREATEST)
@pytest.mark.parametrize("spread", [1, 8, 300])
def test_children_are_where_dictionaries_say(dtype, spread, in_order, monkeypatch):
    """Those of all tiers, and some that are nowhere: near others, beyond all, and in tiers that there are not."""
    random = Random(f"{dtype} {spread}")
    monkeypatch.setattr(space, "LARGE", 0)
    monkeypatch.setattr(space, "SPREAD", spread)
    tiers = [3, 5, 8]
    own = {tier: clumped(random, count, GREATEST[dtype]) for tier, count in zip(tiers, (700, 1, 90), strict=True)}
    starts = np.cumsum([0, *map(len, own.values())])
    positions = np.array([position for some in own.values() for position in some], dtype)
    where = {(tier, p): int(starts[k]) + i for k, tier in enumerate(tiers) for i, p in enumerate(own[tier])}
    index = space.index_of_positions(starts, positions, WORK)
    asked = [random.choice([*where]) for _ in range(400)] + [(random.randrange(10), -1) for _ in range(40)]
    asked += [(tier, max(0, p + random.choice((-1, 1)))) for tier, p in random.sample([*where], 40)]
    asked += [(tier, p) for tier in range(10) for p in (0, own[3][0], GREATEST[dtype])]
    random.shuffle(asked)
    rows = [sorted(asked[begin : begin + 30]) for begin in range(0, 510, 30)]
    rows = rows if in_order else [random.sample(row, len(row)) for row in rows]
    child_tiers, children = np.moveaxis(np.array(rows, np.int64), 2, 0).copy()
    nothing = np.empty(0, np.int64)
    matrix = Matrix(children, child_tiers, nothing, nothing, nothing, nothing)
    lists, index = (
        TierLists(np.array(tiers), starts, positions),
        Index(*index[:3], index.begins.array, index.samples.array),
    )
    places = np.zeros(children.shape, np.int64)
    missing = kernels.locate(30, matrix, np.full(len(rows), not in_order), lists, index, places)
    expected = [[where.get(pair, -1) for pair in row] for row in rows]
    assert places.tolist() == expected
    assert missing == sum(pair[1] >= 0 and pair not in where for row in rows for pair in row)


@pytest.mark.parametrize("sizes", [[1], [0, 3], [5, 5], [900, 1], [70, 300, 0, 2, 2, 41]])
@pytest.mark.parametrize("mixed", [False, True])
def test_sorted_lists_together_are_what_all_of_them_sort_to(sizes, mixed):
    random = Random(f"{sizes}")
    numbers = random.sample(range(10_000), sum(sizes))
    ends = np.cumsum([0, *sizes])
    kinds = [np.uint32, np.int64 if mixed else np.uint32]
    lists = [np.array(sorted(numbers[begin:end]), kinds[k % 2]) for k, (begin, end) in enumerate(pairwise(ends))]
    whole = merge_sorted(lists)
    assert whole.tolist() == sorted(numbers)
    assert whole.dtype == (np.int64 if mixed and len(sizes) > 1 else np.uint32)
