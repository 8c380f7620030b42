"""Checkpoints: what arrays held is read back, and solves that are stopped within a tier go on from there, to the same
bytes, whichever way parents are found."""

import errno
import mmap
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from retrograde.solver.engine import solve
from retrograde.solver.methods.listed.predecessors.passes import ForwardPasses
from retrograde.solver.methods.listed.predecessors.tier import TierSolver
from retrograde.solver.runtime import checkpoint as module
from retrograde.solver.runtime.arrays import CompressedArray
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.journal import Journal, outline
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.scratch import DamagedScratch, Scratch
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import Work
from retrograde.solver.values.score import TIE_CLASS, WIN_CLASS
from tests.helpers import tangle
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop

EAGER = Sizes(journal_seconds=0, predecessors_seconds=0)
FORWARD = replace(EAGER, predecessors_at_most=0)


@pytest.fixture
def begun(tmp_path):
    """What begins the work of another process on the same files."""
    with ThreadPoolExecutor(2) as executor:

        def begin():
            journal = Journal(tmp_path / "journal", "a solve")
            return Work(executor, 2, MemoryBudget(), journal, tmp_path / "scratch", sizes=EAGER)

        yield begin


def arrays_of(count, dice):
    """Return random arrays of some lengths and types, the last one compressed."""
    generator = np.random.default_rng(dice.randrange(1 << 30))
    compressed = CompressedArray(np.uint16)
    compressed[0:count] = generator.integers(0, 99, count).astype(np.uint16)
    return generator.integers(0, 255, count).astype(np.uint8), generator.integers(0, 1 << 40, count // 2), compressed


def empty_like(arrays):
    return tuple(
        CompressedArray(one.dtype) if isinstance(one, CompressedArray) else np.zeros(len(one), one.dtype)
        for one in arrays
    )


def test_what_arrays_held_last_is_read_back(begun, monkeypatch):
    """Written again and again, with one array that settles on the way, by one solve after another."""
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    dice = Random(1)
    written, arrays, settled = None, (), ()
    for step in range(30):
        checkpoint = Checkpoint(begun(), "tier")
        assert checkpoint.progress == written
        if written:
            found = empty_like(arrays)
            checkpoint.load(*found)
            assert all(
                (one[0 : len(one)] == other[0 : len(other)]).all() for one, other in zip(found, arrays, strict=True)
            )
        for again in range(dice.choice((1, 1, 2, 3))):
            written, arrays = [step, again], (*arrays_of(dice.randrange(1, 200), dice)[:2], *settled)
            if step >= 20:
                settled = settled or arrays_of(50, dice)[2:]
                arrays = (*arrays[:2], *settled)
            elif not settled:
                arrays = arrays[:2]
            assert checkpoint.is_due or again
            checkpoint.save(written, arrays, len(settled))
        names = {path.name.rsplit("-", 1)[0] for path in checkpoint.scratch.folder.iterdir()}
        assert len(names) == len(arrays) + 1  # the progress as well; nothing of the one before is left
    with Checkpoint(begun(), "tier") as checkpoint:
        assert checkpoint.progress == written
    assert not any(checkpoint.scratch.folder.iterdir())
    assert not Checkpoint(begun(), "tier").progress


def test_files_that_are_gone_are_no_checkpoint_and_damaged_ones_are_told(begun):
    arrays = arrays_of(1000, Random(2))
    checkpoint = Checkpoint(begun(), "tier")
    checkpoint.save([7], arrays)
    file = next(checkpoint.scratch.folder.glob("array0*"))
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    again = Checkpoint(begun(), "tier")
    assert again.progress == [7]
    with pytest.raises(DamagedScratch, match="is damaged; begin anew with --fresh"):
        again.load(*empty_like(arrays))
    file.write_bytes(content[:-1])
    assert not Checkpoint(begun(), "tier").progress


def test_a_scratch_file_that_cannot_be_mapped_for_want_of_memory_is_not_called_damaged(tmp_path, monkeypatch):
    scratch = Scratch(tmp_path / "scratch", 0)
    scratch.begin(True)
    frame = scratch.write("what", bytes(100), uncompressed=True)

    def full(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", full)
    with pytest.raises(MemoryError):
        scratch.read(frame)


def test_without_a_journal_nothing_is_written(tmp_path):
    with ThreadPoolExecutor(1) as executor:
        work = Work(executor, 1, MemoryBudget(), None, tmp_path / "scratch", sizes=EAGER)
        assert not Checkpoint(work, "tier").is_due


WAYS = {
    "listed, with parents": (tangle.TangleWithParents, EAGER),
    "listed, with predecessor lists": (tangle.Tangle, EAGER),
    "numbered, with parents": (tangle.DenseTangle, EAGER),
    "numbered, with predecessor lists": (tangle.DenseTangleWithoutParents, EAGER),
    "numbered, by forward passes": (tangle.DenseTangleWithoutParents, FORWARD),
    "listed, by forward passes": (tangle.Tangle, FORWARD),
    "listed in scratch, by forward passes": (tangle.Tangle, replace(FORWARD, lists_in_scratch=True)),
}
SEEDS = (31, 32)


@pytest.mark.long
@pytest.mark.parametrize("way", thorough_but(WAYS, "numbered, with predecessor lists"))
def test_a_tier_that_is_stopped_goes_on_from_its_last_checkpoint(way, tmp_path, monkeypatch):
    """Random games, stopped at half of all checkpoints, before one is written or behind it; of forward passes no game
    but the first one has predecessor lists in the end."""
    monkeypatch.setattr("retrograde.solver.methods.listed.cycles.BLOCK", 16)
    monkeypatch.setattr("retrograde.solver.methods.numbered.seeds.BLOCK", 16)
    monkeypatch.setattr("retrograde.solver.methods.listed.predecessors.lists.EVERY", 1)
    monkeypatch.setattr(module, "SHARE", 0)
    dice, resumed, (game, sizes) = Random(5), [], WAYS[way]
    save, read = Checkpoint.save, TierSolver.resume

    def save_and_stop(checkpoint, *args):
        if dice.random() < 0.1:
            raise Stop
        save(checkpoint, *args)
        if dice.random() < 0.4:
            raise Stop

    def spy(solver):
        resumed.append((solver.position_count, *read(solver)))
        return resumed[-1][1:]

    monkeypatch.setattr(TierSolver, "resume", spy)
    for seed in SEEDS:
        if seed > SEEDS[0]:
            monkeypatch.setattr(ForwardPasses, "load_if_they_fit", lambda *_: None)
        monkeypatch.setattr(tangle.Tangle, "start", tangle.position_of(seed, seed % 2 == 0, 0, 0, 63))
        whole = solve(game(), tmp_path / "whole.h5", method="compiled", fresh=True).read_bytes()
        (tmp_path / "whole.h5").unlink()  # or its tiers would be taken
        monkeypatch.setattr(Checkpoint, "save", save_and_stop)
        while not (tmp_path / "game.h5").exists():
            with suppress(Stop):
                solve(game(), tmp_path / "game.h5", method="compiled", sizes=sizes)
        assert (tmp_path / "game.h5").read_bytes() == whole
        assert not (tmp_path / "game.h5.scratch").exists()
        (tmp_path / "game.h5").unlink()
        monkeypatch.setattr(Checkpoint, "save", save)
    went_on = {tuple(marked) for _, _, marked in resumed if marked}
    assert any(group == WIN_CLASS and remoteness > 1 for group, remoteness, *_ in went_on)
    if way.startswith("listed"):  # in the other ones some ties are draws at once
        assert any(group == TIE_CLASS for group, *_ in went_on)
    if way.endswith("passes"):  # within one
        assert any(first and remoteness for _, remoteness, *within in went_on for first in within)
    if not way.endswith("lists"):  # of which test_predecessors.py looks at it
        assert any(0 < done < count for count, done, _ in resumed)


SOLVE = """
import sys

from retrograde.games.catalog import load_game
from retrograde.solver import solve
from retrograde.solver.runtime.sizes import Sizes

solve(load_game("quixo:4"), sys.argv[1], method="numbered", sizes=Sizes(journal_seconds=0.02))
"""


@pytest.mark.thorough
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_solve_that_is_killed_within_a_tier_goes_on_there(tmp_path):
    """Killed once a checkpoint is there, and again behind the next one."""
    (tmp_path / "solve.py").write_text(SOLVE)
    command = [sys.executable, str(tmp_path / "solve.py")]
    subprocess.run([*command, str(tmp_path / "whole.h5")], check=True)
    whole = (tmp_path / "whole.h5").read_bytes()
    (tmp_path / "whole.h5").unlink()  # or its tiers would be taken
    journal = tmp_path / "killed.h5.journal"
    kills = 0
    for _ in range(2):
        found = checkpoints(journal)
        process = subprocess.Popen([*command, str(journal.with_suffix(""))])
        while process.poll() is None and checkpoints(journal) == found:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 2
    subprocess.run([*command, str(journal.with_suffix(""))], check=True)
    assert journal.with_suffix("").read_bytes() == whole


def checkpoints(journal):
    """Return how many checkpoints a journal knows."""
    return sum(name.startswith("checkpoint") for name, *_ in outline(journal)) if journal.exists() else 0
