"""Forward passes: tiers whose predecessor lists fit neither in memory nor on the disk are solved to the same bytes."""

import errno
import multiprocessing
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from retrograde.games.contract.game import defines, is_numbered
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed import cycles
from retrograde.solver.methods.listed.predecessors import in_memory, lists, sorting
from retrograde.solver.methods.listed.predecessors.lists import PredecessorWriter
from retrograde.solver.methods.listed.predecessors.passes import ForwardPasses
from retrograde.solver.methods.listed.predecessors.tier import TierSolver
from retrograde.solver.methods.listed.spill import lists as spilled_lists
from retrograde.solver.methods.listed.spill import lookup
from retrograde.solver.methods.numbered import by_slots, seeds
from retrograde.solver.runtime import scratch
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.log import EntryLog
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import Work
from tests.helpers import reference, tangle, turning
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop, outcomes
from tests.solver.methods.numbered.test_numbered import NoParents

LARGE = tangle.position_of(31, True, 0, 0, 63)
GAMES = {
    "numbered, turns alternate": (tangle.DenseTangleWithoutParents(), reference.solve),
    "numbered, turns come anyhow": (turning.DenseTurningWithoutParents(), turning.solve),
    "listed, turns alternate": (tangle.Tangle(), reference.solve),
    "listed, turns come anyhow": (turning.Turning(), turning.solve),
    "listed in scratch, though rules give parents": (tangle.TangleWithParents(), reference.solve),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Have several of each: blocks, buckets, spilled edges, loaded lists."""
    for module, name, size in (
        (seeds, "BLOCK", 16), (lists, "BUFFER", 60), (sorting, "BUCKET_BITS", 5), (in_memory, "MOST_BITS", 3),
        (cycles, "BLOCK", 16), (spilled_lists, "BLOCK", 8),
        (lookup, "LEAST", 10), (lookup, "MOST", 40), (lookup, "FIRST", 1),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, size)


@pytest.fixture
def given_up(monkeypatch):
    """The positions whose edges were on disk, each time that lists were given up."""
    found, give_up = [], PredecessorWriter.give_up
    monkeypatch.setattr(PredecessorWriter, "give_up", lambda writer: found.append(writer.done) or give_up(writer))
    return found


def without(most=0, **sizes):
    """Return sizes by which predecessor lists are given up if they take so many bytes."""
    return Sizes(predecessors_in_scratch=True, predecessors_at_most=most, journal_seconds=0, **sizes)


def solve_by_lists(game, path):
    """Return the bytes of a database made with lists in memory, and delete it, or its tiers would be taken."""
    whole = solve(game, path, method="compiled", fresh=True).read_bytes()
    path.unlink()
    return whole


def test_decided_positions_are_not_expanded_again():
    """In a byte, 254 and 255 mark decided positions."""
    left = np.array([7, 0, 253, 254, 255, 1], np.uint8)
    tier = SimpleNamespace(children_left=SimpleNamespace(array=left))
    assert cycles.undecided_rows(tier, 1, 6).tolist() == [0, 1, 4]


@pytest.mark.long
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize(
    "name",
    thorough_but(GAMES, "numbered, turns come anyhow"),
)
def test_random_games_are_solved_without_predecessor_lists(name, tmp_path, monkeypatch, given_up):
    """At once or from the middle on, by one worker or two. Predecessor lists are built in the end, or never.

    The same bytes as with predecessor lists, and the outcomes that the slow and obvious solver finds.
    """
    game, obvious = GAMES[name]
    dice, load = Random(7), ForwardPasses.load_if_they_fit
    from_scratch = 0.0 if is_numbered(game) else 0.5 + defines(game, "parents")
    for seed in range(5):
        start = tangle.position_of(
            dice.randrange(1 << 20), bool(seed & 1), 0, dice.randrange(3), dice.randrange(20, 64)
        )
        monkeypatch.setattr(type(game), "start", start)
        whole = solve_by_lists(game, tmp_path / "whole.h5")
        monkeypatch.setattr(by_slots, "BYTES_A_LISTED", dice.choice((8, 1 << 60)))
        monkeypatch.setattr(cycles, "BYTES_A_LISTED", dice.choice((64, 1 << 60)))
        monkeypatch.setattr(ForwardPasses, "load_if_they_fit", load if seed % 3 else lambda *_: None)
        in_scratch = {"scores_in_scratch": dice.random() < 0.5, "lists_in_scratch": dice.random() < from_scratch}
        sizes = without(dice.choice((0, 60, 200)), **in_scratch)
        path = solve(game, tmp_path / "game.h5", method="compiled", fresh=True, workers=1 + seed % 2, sizes=sizes)
        assert path.read_bytes() == whole
        nodes = range(start - (start & 127), start - (start & 127) + 2 * game.pairs(start))
        assert outcomes(path, game) == obvious(game, True, nodes if is_numbered(game) else None)
        path.unlink()
    assert 0 in given_up and any(given_up)


def test_once_lists_fit_in_memory_nothing_is_looked_at_again(tmp_path, monkeypatch):
    monkeypatch.setattr(tangle.DenseTangle, "start", LARGE)
    game = tangle.DenseTangleWithoutParents()
    whole = solve_by_lists(game, tmp_path / "whole.h5")
    passes, find, build = [], ForwardPasses.find_parents, ForwardPasses.build_lists
    monkeypatch.setattr(ForwardPasses, "find_parents", lambda self, first: passes.append("find") or find(self, first))
    monkeypatch.setattr(ForwardPasses, "build_lists", lambda self: passes.append("build") or build(self))
    assert solve(game, tmp_path / "game.h5", method="compiled", sizes=without()).read_bytes() == whole
    assert passes == ["find", "build"]


def test_how_far_a_pass_is_is_told(tmp_path, monkeypatch):
    """From before its middle to its end; and nothing of it with predecessor lists."""
    monkeypatch.setattr(tangle.Tangle, "start", LARGE)
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)
    shares = []
    for sizes in (None, without()):
        told = []
        solve(tangle.Tangle(), tmp_path / "game.h5", method="compiled", fresh=True, sizes=sizes, listener=told.append)
        shares.append({progress.deciding.again for progress in told if progress.deciding} - {None})
    assert not shares[0]
    assert min(shares[1]) < 0.5 and max(shares[1]) == 1


class SmallDisk:
    """A disk with room for so many bytes of edges."""

    def __init__(self, monkeypatch):
        self.left = 0
        self.write_all = scratch.write_all
        monkeypatch.setattr(scratch, "write_all", self.write)

    def write(self, file, content):
        if "predecessors" in str(file.name):
            if len(content) > self.left:
                self.write_all(file, content[: self.left])
                raise OSError(errno.ENOSPC, "No space left on device")
            self.left -= len(content)
        self.write_all(file, content)


def solve_on_full_disks(game, path, monkeypatch, given_up, **sizes):
    """Solve with room for more and more edges, and compare the bytes; return how often lists were given up."""
    whole, small_disk = solve_by_lists(game, path), SmallDisk(monkeypatch)
    for room in (0, 10, 100, 200, 400, 600, 1 << 30):
        small_disk.left = room
        sized = Sizes(predecessors_in_scratch=True, journal_seconds=0, **sizes)
        assert solve(game, path, method="compiled", sizes=sized).read_bytes() == whole
        assert not path.with_name("game.h5.scratch").exists()
        path.unlink()
    return len(given_up)


@pytest.mark.thorough
def test_if_the_disk_is_full_lists_are_given_up(tmp_path, monkeypatch, given_up):
    """While edges are written to disk, or while they are inverted."""
    monkeypatch.setattr(tangle.DenseTangle, "start", LARGE)
    game = tangle.DenseTangleWithoutParents()
    assert solve_on_full_disks(game, tmp_path / "game.h5", monkeypatch, given_up) == 6
    assert {0, sum(map(game.size, game.tiers))} < set(given_up)


@pytest.mark.thorough
@pytest.mark.parametrize("spilled", thorough_but([False, True], True))
def test_where_positions_are_listed_as_well(spilled, tmp_path, monkeypatch, given_up):
    """In memory, or in scratch."""
    monkeypatch.setattr(tangle.Tangle, "start", LARGE)
    times = solve_on_full_disks(tangle.Tangle(), tmp_path / "game.h5", monkeypatch, given_up, lists_in_scratch=spilled)
    assert times >= 5 and len(set(given_up)) > 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "spilled"),
    thorough_but(
        [(tangle.DenseTangleWithoutParents(), False), (tangle.Tangle(), False), (tangle.Tangle(), True)],
        (tangle.DenseTangleWithoutParents(), False),
    ),
    ids=["numbered", "listed", "listed in scratch"],
)
def test_a_solve_that_is_stopped_as_it_gives_up_lists_goes_on(game, spilled, tmp_path, monkeypatch, given_up):
    """Stopped before it is noted, and behind: once it is noted no edges are added again."""
    monkeypatch.setattr(type(game), "start", LARGE)
    dice, restart = Random(3), EntryLog.restart
    whole = solve_by_lists(game, tmp_path / "whole.h5")
    noted, added, add = [], [], PredecessorWriter.add

    def restart_and_stop(log, entry):
        if isinstance(entry, lists.NoLists) and dice.random() < 0.4:
            raise Stop
        restart(log, entry)
        if not isinstance(entry, lists.NoLists):
            return
        noted.append(entry)
        if dice.random() < 0.8:
            raise Stop

    def spy(writer, *args):
        added.append(len(noted))
        add(writer, *args)

    monkeypatch.setattr(EntryLog, "restart", restart_and_stop)
    monkeypatch.setattr(PredecessorWriter, "add", spy)
    for most in (0, 100, 200):
        noted.clear(), added.clear()
        while not (tmp_path / "game.h5").exists():
            with suppress(Stop):
                solve(game, tmp_path / "game.h5", method="compiled", sizes=without(most, lists_in_scratch=spilled))
        assert (tmp_path / "game.h5").read_bytes() == whole
        (tmp_path / "game.h5").unlink()
        assert len(noted) == 1 and set(added) == {0}
    assert len(given_up) > 4


def test_a_checkpoint_of_the_time_before_lists_were_given_up_is_none(tmp_path, monkeypatch):
    """Stopped with a checkpoint; then edges are gone, and there is no room for them again; then it goes on."""
    monkeypatch.setattr(tangle.DenseTangle, "start", LARGE)
    game, path = tangle.DenseTangleWithoutParents(), tmp_path / "game.h5"
    whole = solve_by_lists(game, tmp_path / "whole.h5")
    begun, read = [], TierSolver.resume
    monkeypatch.setattr(TierSolver, "resume", lambda solver: begun.append(read(solver)) or begun[-1])
    for module, name, sizes in ((Checkpoint, "save", without(None)), (PredecessorWriter, "give_up", without())):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, stopping_behind(getattr(module, name)))
            with pytest.raises(Stop):
                solve(game, path, method="compiled", sizes=sizes)
        shutil.rmtree(tmp_path / "game.h5.scratch" / "predecessors14-0")
    assert len(list((tmp_path / "game.h5.scratch").glob("checkpoint*/*"))) == 3
    assert solve(game, path, method="compiled", sizes=without()).read_bytes() == whole
    assert begun == [(0, ())] * 3


def stopping_behind(function):
    """Return what does the same, and stops the solve then."""

    def done(*args):
        function(*args)
        raise Stop

    return done


@pytest.mark.thorough
def test_processes_make_passes_as_well(tmp_path, monkeypatch, given_up):
    game = NoParents()
    whole = solve_by_lists(game, tmp_path / "whole.h5")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        path = solve(game, tmp_path / "game.h5", method="compiled", executor=processes, sizes=without())
    assert path.read_bytes() == whole
    assert given_up == [0]


@pytest.mark.parametrize(
    ("on_disk", "done", "free", "exceeds"),
    [
        (0, 0, 100_000, False),
        (999, 10, 100_000, False),  # which would come to more than there is, if so few were to be believed
        (12_500, 100, 100_000, True),
        (12_500, 200, 100_000, False),
        (0, 0, 12_000, True),  # which is taken for other things
    ],
)
def test_lists_are_given_up_if_those_to_come_will_not_fit_on_disk(on_disk, done, free, exceeds, tmp_path, monkeypatch):
    with ThreadPoolExecutor(1) as executor:
        work = Work(executor, 1, MemoryBudget(), None, tmp_path, sizes=Sizes(predecessors_in_scratch=True))
        writer = PredecessorWriter(work, "predecessors", 1000)
        writer.bytes_on_disk, writer.done, writer.on_disk = on_disk, done, True
        usage = SimpleNamespace(free=free - on_disk)
        monkeypatch.setattr(lists.psutil, "disk_usage", lambda _: usage)
        assert writer.exceeds_disk == exceeds


def test_what_files_of_scores_have_still_to_be_given_is_not_free(tmp_path):
    with open(tmp_path / "scores14.kept", "wb") as file:
        file.truncate(1 << 20)
    assert lists.unwritten_bytes(tmp_path) == 1 << 20
    with open(tmp_path / "scores14.kept", "r+b") as file:
        file.write(b"1" * (1 << 19))
    assert lists.unwritten_bytes(tmp_path) == 1 << 19
