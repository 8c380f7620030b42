"""Packed positions: in the same order as positions, back to the same positions, and of no effect on any byte."""

from random import Random

import numpy as np
import pytest

from retrograde.games.contract.game import POSITION_BITS, POSITION_LIMIT
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed.explore import space
from retrograde.solver.methods.listed.explore.space import LARGE
from retrograde.solver.methods.listed.spill import packing as packing_module
from retrograde.solver.methods.listed.spill.packing import MOST_BITS, packing_of
from retrograde.solver.methods.listed.spill.row_kernels import pack, pack_children, unpack
from tests.helpers.marks import thorough_but
from tests.helpers.wide import TallPawns, WideConnectFour

pytestmark = pytest.mark.long


def positions_with(differing, chance, count=300):
    """Return random positions that differ in these bits, given for each word, and a mask of those in which they do."""
    base = [chance.getrandbits(POSITION_BITS) for _ in differing]
    rows = [
        [word ^ sum(chance.getrandbits(1) << bit for bit in bits) for word, bits in zip(base, differing, strict=True)]
        for _ in range(count)
    ]
    return np.array(rows, np.int64)


@pytest.mark.as_python
@pytest.mark.parametrize(
    "differing",
    [
        [[3, 4, 5], [0, 61]],
        [[], [7], []],
        [range(61), []],
        [range(30, 62), range(29)],
        [range(0, 62, 2), range(1, 61, 2)],  # too long as blocks
        [[0, 61], [0, 61], [0, 61], range(10, 20)],
    ],
    ids=str,
)
def test_packed_positions_have_the_same_order_and_come_back(differing):
    chance = Random(str(differing))
    rows = positions_with(differing, chance)
    packing = packing_of(rows)
    keys, back = np.empty(len(rows), np.int64), np.empty_like(rows)
    pack(rows, packing, keys)
    unpack(keys, packing, back)
    assert (back == rows).all() and keys.min() >= 0 and keys.max() < 1 << MOST_BITS
    order = sorted(range(len(rows)), key=lambda i: (*rows[i].tolist(), i))
    assert order == sorted(range(len(rows)), key=lambda i: (int(keys[i]), i))
    # Children: one that does not exist, one that differs elsewhere, and one that is packed like a position.
    children = np.stack([rows[:3], np.full_like(rows[:3], -1), rows[:3]])
    free = [(w, bit) for w, bits in enumerate(differing) for bit in {*range(POSITION_BITS)} - {*bits}]
    packed = np.empty(children.shape[:2], np.int64)
    outside = 0
    for word, bit in chance.sample(free, 20):
        children[2] = rows[:3]
        children[2, :, word] ^= 1 << bit
        pack_children(3, children, packing, packed)
        assert packed[0].tolist() == keys[:3].tolist() and packed[1].tolist() == [-1] * 3
        for key in packed[2].tolist():
            outside += key == POSITION_LIMIT
            assert key == POSITION_LIMIT or key not in keys.tolist()
    assert outside > 0


@pytest.mark.parametrize("differing", [[range(31), range(31)], [range(62), [], range(62)], [[5], range(62), [0, 9]]])
def test_bits_are_left_out_of_positions_that_differ_in_too_many(differing):
    rows = positions_with(differing, Random(0))
    assert packing_of(rows) is None
    packing = packing_of(rows, is_exact=False)
    assert not packing.is_exact
    keys = np.empty(len(rows), np.int64)
    pack(rows, packing, keys)
    order = sorted(range(len(rows)), key=lambda i: rows[i].tolist())
    assert (np.diff(keys[order]) >= 0).all() and len(np.unique(keys)) > 100
    pack_children(1, rows[None], packing, packed := np.empty((1, len(rows)), np.int64))
    assert packed[0, 0] == keys[0]


def test_nothing_is_packed_of_no_positions():
    assert packing_of(np.empty((0, 2), np.int64), is_exact=False) is None


GAMES = [(WideConnectFour(4, 4), LARGE), (TallPawns(), LARGE), (WideConnectFour(4, 4), 1), (TallPawns(), 1)]
"""Games, and the size of a tier from which on keys have an index. Pawns differ in more bits than an int has."""


@pytest.mark.as_python
@pytest.mark.parametrize(("game", "large"), thorough_but(GAMES, GAMES[-1]), ids=str)
def test_packing_changes_no_byte(game, large, tmp_path, monkeypatch):
    monkeypatch.setattr(space, "LARGE", large)
    packings = []
    monkeypatch.setattr(space, "packing_of", lambda *args, **options: noted(packings, packing_of(*args, **options)))
    packed = solve(game, tmp_path / "packed.h5", method="listed").read_bytes()
    assert [packing.is_exact for packing in packings] == [game.name != TallPawns.name]
    for module in (space, packing_module):
        monkeypatch.setattr(module, "packing_of", lambda *_, **options: None)
    assert solve(game, tmp_path / "rows.h5", method="listed").read_bytes() == packed


def noted(found, packing):
    """Add a packing to those found, and return it."""
    found.append(packing)
    return packing
