"""Planes of waves in sheets, which workers of one machine share: the bytes of threads, whatever becomes of tasks."""

from contextlib import suppress
from itertools import count

import numpy as np
import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.runtime.cluster import sheets
from retrograde.solver.runtime.cluster.sheets import is_sheet, new_sheet, read_sheet, write_words
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import DamagedScratch, Scratch
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers.elsewhere import Elsewhere, Late
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop

SIZES = Sizes(in_memory=1, chunk_words=20, sent_words=30, journal_seconds=0)
GAME = load_game("connect4:4,3")


@pytest.fixture
def whole(tmp_path):
    """Return the bytes that threads write."""
    path = tmp_path / "threads.h5"
    found = solve(GAME, path, method="setwise", sizes=SIZES).read_bytes()
    path.unlink()
    return found


@pytest.fixture
def made(monkeypatch):
    """Count the sheets that are made."""
    found = []
    monkeypatch.setattr(
        "retrograde.solver.methods.setwise.backward.new_sheet",
        lambda *args: found.append(new_sheet(*args)) or found[-1],
    )
    return found


def test_tasks_that_run_twice_and_too_late_do_no_harm(tmp_path, whole, made):
    path = solve(GAME, tmp_path / "game.h5", method="setwise", sizes=SIZES, executor=Late())
    assert path.read_bytes() == whole
    assert len(made) == 13  # a wave is a ply
    assert [file.name for file in tmp_path.iterdir()] == ["game.h5"]


@pytest.mark.parametrize(
    "then", thorough_but(["goes on", "with little memory", "on a machine that was started anew"], "with little memory")
)
def test_a_solve_that_was_stopped(then, tmp_path, whole, made, monkeypatch):
    """It goes on with the sheets that there are, also where there is no room for more; of an earlier start of the
    machine it takes none."""
    monkeypatch.setattr(Phase, "often", 0)
    path, steps, stops = tmp_path / "game.h5", count(1), 0

    def stop(progress):
        if progress.phase == "solving" and next(steps) % 9 == 0:
            raise Stop

    while not path.exists():
        with suppress(Stop):
            solve(GAME, path, method="setwise", sizes=SIZES, executor=Elsewhere(), listener=stop)
        if (stops := stops + 1) == 2 and then == "with little memory":
            monkeypatch.setattr("retrograde.solver.methods.setwise.method.FOR_PLANES", 0)
        elif stops == 2 and then != "goes on":
            monkeypatch.setattr(sheets, "stamp", lambda: 1)
    assert path.read_bytes() == whole
    assert stops > 2
    waves = {sheet.name for sheet in made}
    assert 1 < len(waves) < 13 if then == "with little memory" else len(waves) == 13


def test_a_sheet_is_what_was_written_to_it_by_this_start_of_the_machine(tmp_path, monkeypatch):
    scratch = Scratch(tmp_path, 0)
    planes = np.random.default_rng(0).integers(0, 1 << 63, (3, 100)).astype(np.uint64)
    sheet = new_sheet(scratch, "planes7", 3, 100)
    for begin, end in ((60, 100), (0, 60), (10, 20)):
        write_words(scratch, sheet, begin, planes[:, begin:end])
    assert is_sheet(sheet) and not is_sheet(scratch.write("planes7", b"other")) and not is_sheet(None)
    assert not scratch.missing([sheet])
    found = read_sheet(scratch, sheet, 3)
    assert found.shape == (3, 101) and (found[:, :100] == planes).all()
    monkeypatch.setattr(sheets, "stamp", lambda: 1)
    with pytest.raises(DamagedScratch):
        read_sheet(scratch, sheet, 3)
