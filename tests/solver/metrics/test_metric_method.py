"""What all metrics share: the legend of distinct outcomes."""

import numpy as np
import pytest

from retrograde.solver.metrics.method import find_distinct_rows


@pytest.mark.parametrize("block", [1, 7, 100, 999, 1000])
def test_distinct_rows_do_not_depend_on_the_blocks(block):
    """They are numbered as Python sorts them, and an example is the first position with a row."""
    random = np.random.default_rng(block)
    columns = [random.integers(0, 3, 1000, np.uint8), random.integers(-2, 9, 1000), random.integers(0, 2, 1000) << 60]
    rows, firsts = find_distinct_rows(columns, block)
    entries = [*zip(*(column.tolist() for column in columns), strict=True)]
    distinct = sorted({*entries})
    assert [distinct[row] for row in rows.tolist()] == entries
    assert firsts.tolist() == [entries.index(entry) for entry in distinct]
    assert rows.dtype == np.uint8
