"""The compiled encoder of blocks against the one in NumPy, which is the format's definition."""

import numpy as np
import pytest

from retrograde.databases.encoding import encode_group as by_numpy
from retrograde.solver.values.encode import encode_group as compiled


@pytest.mark.parametrize("seed", range(60))
def test_both_encoders_say_the_same(seed):
    dice = np.random.default_rng(seed)
    length, bits = int(dice.integers(1, 300)), int(dice.choice([1, 5, 20, 32, 33, 62]))
    tiers = []
    for _ in range(int(dice.integers(1, 40))):
        tier = dice.integers(0, 1 << bits, int(dice.choice([1, 2, 50, 2000])))
        tier &= int(dice.integers(0, 1 << bits)) | int(dice.integers(0, 1 << bits))
        tiers.append(np.unique(tier))
    positions = np.concatenate(tiers).astype(np.int64)
    begins = np.cumsum([0, *map(len, tiers)])[:-1]
    begins = begins[int(dice.integers(0, 2)) :]  # the first tier may have begun in a group before
    rows = dice.integers(0, 200, len(positions)).astype(np.uint8)
    expected = by_numpy(positions, rows, begins, length, 1, 8)
    for mine, theirs in zip(compiled(positions, rows, begins, length, 1, 8), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("encode", [by_numpy, compiled])
@pytest.mark.parametrize("positions", [[5, 5], [7, 3], [1, 2, 4, 4]])
def test_positions_that_do_not_ascend_are_refused(encode, positions):
    rows = np.zeros(len(positions), np.uint8)
    with pytest.raises(ValueError, match="do not ascend"):
        encode(np.array(positions, np.int64), rows, np.array([0]), 4096, 1, 4)
