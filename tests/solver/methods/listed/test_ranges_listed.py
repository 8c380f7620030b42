"""Listed games with cycles whose positions lie in ranges: the bytes of threads, whatever becomes of the tasks."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed import cycles, store
from retrograde.solver.methods.listed.ranges import steps
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS
from tests.helpers import reference, tangle, turning
from tests.helpers.elsewhere import Elsewhere, Late
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop, graphs, outcomes

RANGED = Sizes(ranged_slots=1, range_bits=2)
GAMES = [tangle.Tangle(), tangle.TangleWithParents(), turning.Turning()]


@pytest.fixture
def in_small(monkeypatch):
    """Have files written however little is in them, some deltas upon a base, and tasks of a step or a few."""
    monkeypatch.setattr("retrograde.solver.methods.listed.ranges.steps.LEAST", 1)
    monkeypatch.setattr("retrograde.solver.methods.listed.ranges.tier.TOGETHER", 3)
    monkeypatch.setattr(steps, "MOST_DELTAS", 2)
    monkeypatch.setattr(steps, "MOST_CHANGED", 0.8)


@pytest.fixture
def ranged(monkeypatch):
    """Count the tiers that are solved in ranges."""
    found = []
    solve = cycles.solve_by_ranges
    monkeypatch.setattr(store, "solve_by_ranges", lambda *args: found.append(args[1]) or solve(*args))
    return found


@pytest.mark.as_python
@pytest.mark.long
@pytest.mark.usefixtures("solver_alone", "in_small")
@pytest.mark.parametrize("in_scratch", thorough_but([False, True], True))
@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
@settings(max_examples=3)
@given(start=graphs)
def test_random_games(game, in_scratch, tmp_path_factory, start):
    """Tasks that run twice, and too late, do no harm; lists may be in memory or in scratch files."""
    folder, sizes = tmp_path_factory.mktemp("ranges"), replace(RANGED, lists_in_scratch=in_scratch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(game), "start", start)
        solve(game, folder / "ranges.h5", method="listed", executor=Late(), sizes=sizes)
        solve(game, folder / "threads.h5", method="listed", workers=1)
        assert (folder / "ranges.h5").read_bytes() == (folder / "threads.h5").read_bytes()
        slow = turning if isinstance(game, turning.Turning) else reference
        assert outcomes(folder / "ranges.h5", game) == slow.solve(game, symmetric=True)


def test_positions_lie_in_ranges_where_they_are_many(tmp_path, ranged):
    game = load_game("mutorere")
    bytes_of = [
        solve(game, tmp_path / f"{least}.h5", method="listed", executor=Elsewhere(), sizes=Sizes(ranged_slots=least))
        for least in (1, 1 << 20)
    ]
    assert bytes_of[0].read_bytes() == bytes_of[1].read_bytes()
    assert len(ranged) == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone", "in_small")
def test_a_solve_that_was_stopped_goes_on_from_its_last_checkpoint(tmp_path, monkeypatch):
    """Stopped again and again at any checkpoint, before it is saved or behind it, with tasks of other sizes."""
    game, sizes = GAMES[0], replace(RANGED, journal_seconds=0)
    monkeypatch.setattr(tangle.Tangle, "start", tangle.position_of(8, False, 0, 0, 63))
    monkeypatch.setattr("retrograde.solver.runtime.checkpoint.SHARE", 0)
    whole = solve(game, tmp_path / "whole.h5", method="listed").read_bytes()
    dice, resumed, path = Random(7), [], tmp_path / "game.h5"
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
    while not path.exists():
        monkeypatch.setattr(cycles, "BLOCK", dice.choice([1, 2, 4]))
        with suppress(Stop):
            solve(game, path, method="listed", executor=Elsewhere(), sizes=sizes)
    assert path.read_bytes() == whole
    passed = [progress.propagation for progress in filter(None, resumed)]
    assert None in passed  # while positions were looked at
    assert any(passing and passing.group == WIN_CLASS and passing.remoteness > 2 for passing in passed)
    assert any(passing and passing.group == TIE_CLASS for passing in passed)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["game.h5", "whole.h5"]
