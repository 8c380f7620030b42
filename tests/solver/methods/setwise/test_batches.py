"""The plan of a wave's batches: which tiers are loaded when, and where."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrograde.solver.methods.setwise.batches import cut_into, plan_batches
from retrograde.solver.methods.setwise.words import AFTER_TIER
from retrograde.solver.rules.plain.tier_kernels import GROUP, GROUPS, TIER, WORD, WORDS


@given(
    st.lists(st.sets(st.integers(0, 9), max_size=4), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), min_size=10, max_size=10),
    st.integers(1, 6),
)
def test_a_tier_is_loaded_once_and_kept_until_its_last_task(read, sizes, count):
    tiers = np.zeros((10, TIER), np.int64)
    tiers[:, [WORDS, GROUPS]] = sizes
    count, tasks = min(count, len(read)), [*range(len(read))]
    plan = cut_into(count, tasks, [np.array(sorted(rows), np.int64) for rows in read], tiers)
    assert len(plan.batches) == count and [task for batch in plan.batches for task in batch.tasks] == tasks
    assert sorted(row for batch in plan.batches for row in batch.rows.tolist()) == sorted(set().union(*read))
    # Play the loading: each group and each word of the buffers has the number of the tier that was written there last.
    groups, words = np.full(plan.groups, -1), np.full(plan.words, -1)

    def parts(row):
        yield groups, plan.tiers[row, GROUP], tiers[row, GROUPS] + AFTER_TIER
        yield words, plan.tiers[row, WORD], tiers[row, WORDS]

    for batch in plan.batches:
        for row in batch.rows.tolist():
            for buffer, begin, size in parts(row):
                assert begin + size <= len(buffer)
                buffer[begin : begin + size] = row
        for row in set().union(*(read[task] for task in batch.tasks)):
            assert all((buffer[begin : begin + size] == row).all() for buffer, begin, size in parts(row))


def test_a_wave_has_as_few_batches_as_memory_allows(monkeypatch):
    monkeypatch.setattr("retrograde.solver.methods.setwise.batches.FOR_LOADED", 1.0)
    tiers = np.zeros((8, TIER), np.int64)
    tiers[:, WORDS] = 1000
    tasks, read = [*range(8)], [np.array([row]) for row in range(8)]
    one = 12 * AFTER_TIER + 3 * 8 * 1000  # bytes of a tier with three planes
    for free, wanted in ((8 * one, 1), (5 * one, 2), (one, 8)):
        assert len(plan_batches(tasks, read, tiers, 3, free).batches) == wanted
    assert plan_batches(tasks, read, tiers, 3, one - 1) is None
