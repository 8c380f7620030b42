"""Tiers whose slots lie in ranges: the values of the slow and obvious solver, whatever becomes of the tasks."""

from contextlib import suppress
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed.ranges import steps
from retrograde.solver.methods.listed.ranges.steps import RangeState, write_base
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.tier_memory import memory_for_tiers
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.scratch import Scratch
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS
from tests.helpers import reference, tangle, turning
from tests.helpers.elsewhere import Elsewhere, Late
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop, graphs, outcomes

RANGED = Sizes(ranged_slots=1, range_bits=2)
GAME = tangle.DenseTangle()


@pytest.fixture
def in_small(monkeypatch):
    """Have files written however little is in them, some deltas upon a base, and tasks of a step or a few."""
    monkeypatch.setattr("retrograde.solver.methods.listed.ranges.steps.LEAST", 1)
    monkeypatch.setattr("retrograde.solver.methods.listed.ranges.tier.TOGETHER", 3)
    monkeypatch.setattr(steps, "MOST_DELTAS", 2)
    monkeypatch.setattr(steps, "MOST_CHANGED", 0.8)


@pytest.mark.long
@pytest.mark.usefixtures("solver_alone", "in_small")
@pytest.mark.parametrize("game", thorough_but([GAME, turning.DenseTurning()], GAME))
@settings(max_examples=3)
@given(start=graphs)
def test_random_games(game, tmp_path_factory, start):
    """Tasks that run twice, and too late, do no harm."""
    folder = tmp_path_factory.mktemp("ranges")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(game), "start", start)
        solve(game, folder / "ranges.h5", method="numbered", executor=Late(), sizes=RANGED)
        solve(game, folder / "threads.h5", method="numbered")
        assert (folder / "ranges.h5").read_bytes() == (folder / "threads.h5").read_bytes()
        if game is GAME:
            nodes = [start - (start & 127) + node for node in range(2 * game.pairs(start))]
            assert outcomes(folder / "ranges.h5", game) == reference.solve(game, symmetric=True, starts=nodes)


@pytest.mark.long
@pytest.mark.parametrize("in_scratch", thorough_but([False, True], True))
@pytest.mark.usefixtures("solver_alone", "in_small")
def test_a_solve_that_was_stopped_goes_on_from_its_last_checkpoint(in_scratch, tmp_path, monkeypatch):
    """Stopped again and again at any checkpoint, before it is saved or behind it."""
    sizes = Sizes(ranged_slots=1, range_bits=2, scores_in_scratch=in_scratch, journal_seconds=0)
    monkeypatch.setattr(tangle.DenseTangle, "start", tangle.position_of(31, True, 0, 3, 63))
    monkeypatch.setattr("retrograde.solver.runtime.checkpoint.SHARE", 0)
    whole = solve(GAME, tmp_path / "whole.h5", method="numbered").read_bytes()
    (tmp_path / "whole.h5").unlink()  # or its tiers would be taken
    dice, resumed = Random(7), []
    save, read = Checkpoint.save, Checkpoint.read

    def save_and_stop(checkpoint, *args, **options):
        if dice.random() < 0.05:
            raise Stop
        save(checkpoint, *args, **options)
        if dice.random() < 0.1:
            raise Stop

    def spy(checkpoint, frame):
        read(checkpoint, frame)
        resumed.append(checkpoint.progress)

    monkeypatch.setattr(Checkpoint, "save", save_and_stop)
    monkeypatch.setattr(Checkpoint, "read", spy)
    path = tmp_path / "game.h5"
    for _ in range(2):
        while not path.exists():
            with suppress(Stop):
                solve(GAME, path, method="numbered", executor=Elsewhere(), sizes=sizes)
        assert path.read_bytes() == whole
        assert [file.name for file in tmp_path.iterdir()] == ["game.h5"]
        path.unlink()
    passed = [progress.propagation for progress in filter(None, resumed)]
    assert None in passed  # while slots were looked at
    assert any(passing and passing.group == WIN_CLASS and passing.remoteness > 2 for passing in passed)
    assert any(passing and passing.group == TIE_CLASS for passing in passed)


def test_a_range_is_what_it_was_written_as_with_what_has_changed_since(tmp_path):
    scratch, chance = Scratch(tmp_path, 0), np.random.default_rng(0)
    scores, left = chance.integers(0, 1 << 16, 1000).astype(np.uint16), chance.integers(0, 200, 1000).astype(np.uint8)
    state = write_base(scratch, 3, 0, scores, left, 14)
    states: list[RangeState] = []
    for share in [0.02] * 20 + [0.1] * 10 + [0.5] * 3:
        slots = np.flatnonzero(chance.random(1000) < share)
        scores[slots] += 1
        left[slots] -= 1
        state = state.update(scratch, scores, left, slots)
        states.append(state)
        found = state.read(scratch)
        assert all(array.flags.writeable for array in found)
        assert [array.tolist() for array in found] == [scores.tolist(), left.tolist()]
    assert state.update(scratch, scores, left, np.empty(0, np.int64)) is state
    assert 5 < state.edition < 20
    assert max(len(each.deltas) for each in states) == steps.MOST_DELTAS
    assert max(each.changed for each in states) <= steps.MOST_CHANGED * 1000


def test_who_solves_need_not_have_the_slots_in_memory():
    game = load_game("baghchal")
    numbering = SlotNumbering.own(game)
    alone, ranged = (memory_for_tiers(game, numbering, 14, True, ranged=least) for least in (None, 1 << 20))
    assert ranged.most < alone.most / 10
    assert memory_for_tiers(game, numbering, 14, True, ranged=1 << 40) == alone
