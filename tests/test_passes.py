"""Forward passes: tiers whose links fit neither in memory nor on the disk are solved to the same bytes."""

import errno
import multiprocessing
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from random import Random
from types import SimpleNamespace

import pytest

from retrograde.games.contract.game import defines, is_numbered
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed import cycles
from retrograde.solver.methods.listed.predecessors import disk, kept, links, sorting
from retrograde.solver.methods.listed.predecessors.checkpoint import Checkpoint
from retrograde.solver.methods.listed.predecessors.links import LinkWriter
from retrograde.solver.methods.listed.predecessors.log import LinkLog
from retrograde.solver.methods.listed.predecessors.passes import Passes
from retrograde.solver.methods.listed.predecessors.state import State
from retrograde.solver.methods.listed.spill import lists, looking
from retrograde.solver.methods.numbered import by_slots, seeds
from retrograde.solver.runtime import scratch
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import Work

from . import reference, tangle, turning
from .solving import Stop, outcomes
from .test_numbered import NoParents

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
    """Have several of each: blocks, buckets, what is put aside, what is kept."""
    for module, name, size in (
        (seeds, "BLOCK", 16), (links, "BUFFER", 60), (sorting, "BUCKET_BITS", 5), (kept, "MOST_BITS", 3),
        (cycles, "STRETCH", 16), (lists, "BLOCK", 8),
        (looking, "LEAST", 10), (looking, "MOST", 40), (looking, "FIRST", 1),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, size)


@pytest.fixture
def forgone(monkeypatch):
    """Up to which position links had been put aside, whenever they were forgone."""
    found, forgo = [], LinkWriter.forgo
    monkeypatch.setattr(LinkWriter, "forgo", lambda writer: found.append(writer.done) or forgo(writer))
    return found


def without(most=0, **sizes):
    """Return sizes by which links are forgone if they take so many bytes."""
    return Sizes(links_in_scratch=True, links_at_most=most, journal_seconds=0, **sizes)


def solved_by_links(game, path):
    """Return the bytes of a database that is made with links in memory, and is gone then, or its tiers were taken."""
    whole = solve(game, path, way="compiled", fresh=True).read_bytes()
    path.unlink()
    return whole


@pytest.mark.long
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("name", GAMES)
def test_random_games_are_solved_without_links(name, tmp_path, monkeypatch, forgone):
    """At once or from the middle on, by one worker or two, with lists or without; links are taken in the end, or never.
    The same bytes as with links, and the outcomes that the slow and obvious solver finds."""
    game, obvious = GAMES[name]
    dice, keep = Random(7), Passes.keep
    from_scratch = 0.0 if is_numbered(game) else 0.5 + defines(game, "parents")
    for seed in range(12):
        start = tangle.position_of(
            dice.randrange(1 << 20), bool(seed & 1), 0, dice.randrange(3), dice.randrange(20, 64)
        )
        monkeypatch.setattr(type(game), "start", start)
        whole = solved_by_links(game, tmp_path / "whole.h5")
        monkeypatch.setattr(by_slots, "LIST_ITEM_BYTES", dice.choice((4, 1 << 60)))
        monkeypatch.setattr(cycles, "LISTED", dice.choice((64, 1 << 60)))
        monkeypatch.setattr(Passes, "keep", keep if seed % 3 else lambda *_: None)
        in_scratch = {"scores_in_scratch": dice.random() < 0.5, "lists_in_scratch": dice.random() < from_scratch}
        sizes = without(dice.choice((0, 60, 200)), **in_scratch)
        path = solve(game, tmp_path / "game.h5", way="compiled", fresh=True, workers=1 + seed % 2, sizes=sizes)
        assert path.read_bytes() == whole
        nodes = range(start - (start & 127), start - (start & 127) + 2 * game.pairs(start))
        assert outcomes(path, game) == obvious(game, True, nodes if is_numbered(game) else None)
        path.unlink()
    assert 0 in forgone and any(forgone)


def test_once_links_fit_in_memory_nothing_is_looked_at_again(tmp_path, monkeypatch):
    monkeypatch.setattr(tangle.DenseTangle, "start", LARGE)
    game = tangle.DenseTangleWithoutParents()
    whole = solved_by_links(game, tmp_path / "whole.h5")
    passes, told, taken = [], Passes.told, Passes.taken
    monkeypatch.setattr(Passes, "told", lambda self, first: passes.append("told") or told(self, first))
    monkeypatch.setattr(Passes, "taken", lambda self: passes.append("taken") or taken(self))
    assert solve(game, tmp_path / "game.h5", way="compiled", sizes=without()).read_bytes() == whole
    assert passes == ["told", "taken"]


def test_how_far_a_pass_is_is_told(tmp_path, monkeypatch):
    """From before its middle to its end; and nothing of it where there are links."""
    monkeypatch.setattr(tangle.Tangle, "start", LARGE)
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)
    shares = []
    for sizes in (None, without()):
        told = []
        solve(tangle.Tangle(), tmp_path / "game.h5", way="compiled", fresh=True, sizes=sizes, listener=told.append)
        shares.append({progress.deciding.again for progress in told if progress.deciding} - {None})
    assert not shares[0]
    assert min(shares[1]) < 0.5 and max(shares[1]) == 1


class SmallDisk:
    """A disk with room for so many bytes of links."""

    def __init__(self, monkeypatch):
        self.left = 0
        self.write_all = scratch.write_all
        monkeypatch.setattr(scratch, "write_all", self.write)

    def write(self, file, content):
        if "links" in str(file.name):
            if len(content) > self.left:
                self.write_all(file, content[: self.left])
                raise OSError(errno.ENOSPC, "No space left on device")
            self.left -= len(content)
        self.write_all(file, content)


def disk_is_full(game, path, monkeypatch, forgone, **sizes):
    """Solve with room for more and more links, and hold all against a solve with links; return how often links were
    forgone."""
    whole, small_disk = solved_by_links(game, path), SmallDisk(monkeypatch)
    for room in (0, 10, 100, 200, 400, 600, 1 << 30):
        small_disk.left = room
        sized = Sizes(links_in_scratch=True, journal_seconds=0, **sizes)
        assert solve(game, path, way="compiled", sizes=sized).read_bytes() == whole
        assert not path.with_name("game.h5.scratch").exists()
        path.unlink()
    return len(forgone)


def test_where_the_disk_is_full_links_are_forgone(tmp_path, monkeypatch, forgone):
    """While they are put aside, or while they are turned round."""
    monkeypatch.setattr(tangle.DenseTangle, "start", LARGE)
    game = tangle.DenseTangleWithoutParents()
    assert disk_is_full(game, tmp_path / "game.h5", monkeypatch, forgone) == 6
    assert {0, sum(map(game.size, game.tiers))} < set(forgone)


@pytest.mark.long
@pytest.mark.parametrize("aside", [False, True])
def test_where_positions_are_listed_as_well(aside, tmp_path, monkeypatch, forgone):
    """In memory, or in scratch."""
    monkeypatch.setattr(tangle.Tangle, "start", LARGE)
    times = disk_is_full(tangle.Tangle(), tmp_path / "game.h5", monkeypatch, forgone, lists_in_scratch=aside)
    assert times >= 5 and len(set(forgone)) > 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "aside"),
    [(tangle.DenseTangleWithoutParents(), False), (tangle.Tangle(), False), (tangle.Tangle(), True)],
    ids=["numbered", "listed", "listed in scratch"],
)
def test_a_solve_that_is_stopped_as_it_forgoes_links_goes_on(game, aside, tmp_path, monkeypatch, forgone):
    """Stopped before it is noted, and behind: once it is noted no links are taken again."""
    monkeypatch.setattr(type(game), "start", LARGE)
    dice, note = Random(3), LinkLog.forgo
    whole = solved_by_links(game, tmp_path / "whole.h5")
    noted, taken, take = [], [], LinkWriter.take

    def note_and_stop(log):
        if dice.random() < 0.4:
            raise Stop
        note(log)
        noted.append(True)
        if dice.random() < 0.8:
            raise Stop

    def spy(writer, *args):
        taken.append(len(noted))
        take(writer, *args)

    monkeypatch.setattr(LinkLog, "forgo", note_and_stop)
    monkeypatch.setattr(LinkWriter, "take", spy)
    for most in (0, 100, 200) * 3:
        noted.clear(), taken.clear()
        while not (tmp_path / "game.h5").exists():
            with suppress(Stop):
                solve(game, tmp_path / "game.h5", way="compiled", sizes=without(most, lists_in_scratch=aside))
        assert (tmp_path / "game.h5").read_bytes() == whole
        (tmp_path / "game.h5").unlink()
        assert len(noted) == 1 and set(taken) == {0}
    assert len(forgone) > 12


def test_a_checkpoint_of_the_time_before_links_were_forgone_is_none(tmp_path, monkeypatch):
    """Stopped with a checkpoint; then links are gone, and there is no room for them again; then it goes on."""
    monkeypatch.setattr(tangle.DenseTangle, "start", LARGE)
    game, path = tangle.DenseTangleWithoutParents(), tmp_path / "game.h5"
    whole = solved_by_links(game, tmp_path / "whole.h5")
    begun, read = [], State.taken_up
    monkeypatch.setattr(State, "taken_up", lambda state: begun.append(read(state)) or begun[-1])
    for module, name, sizes in ((Checkpoint, "write", without(None)), (LinkLog, "forgo", without())):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, stopping_behind(getattr(module, name)))
            with pytest.raises(Stop):
                solve(game, path, way="compiled", sizes=sizes)
        shutil.rmtree(tmp_path / "game.h5.scratch" / "links14-0")
    assert len(list((tmp_path / "game.h5.scratch").glob("checkpoint*/*"))) == 2
    assert solve(game, path, way="compiled", sizes=without()).read_bytes() == whole
    assert begun == [(0, [])] * 3


def stopping_behind(function):
    """Return what does the same, and stops the solve then."""

    def done(*args):
        function(*args)
        raise Stop

    return done


@pytest.mark.thorough
def test_processes_make_passes_as_well(tmp_path, monkeypatch, forgone):
    game = NoParents()
    whole = solved_by_links(game, tmp_path / "whole.h5")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        path = solve(game, tmp_path / "game.h5", way="compiled", executor=processes, sizes=without())
    assert path.read_bytes() == whole
    assert forgone == [0]


@pytest.mark.parametrize(
    ("aside", "done", "free", "too_many"),
    [
        (0, 0, 100_000, False),
        (999, 10, 100_000, False),  # which would come to more than there is, if so few were to be believed
        (12_500, 100, 100_000, True),
        (12_500, 200, 100_000, False),
        (0, 0, 12_000, True),  # which is taken for other things
    ],
)
def test_links_are_too_many_where_those_to_come_will_not_fit(aside, done, free, too_many, tmp_path, monkeypatch):
    with ThreadPoolExecutor(1) as executor:
        work = Work(executor, 1, MemoryBudget(), None, tmp_path, sizes=Sizes(links_in_scratch=True))
        writer = LinkWriter(work, "links", 1000)
        writer.aside, writer.log.done = aside, done
        usage = SimpleNamespace(free=free - aside)
        monkeypatch.setattr(disk.psutil, "disk_usage", lambda _: usage)
        assert writer.too_many == too_many


def test_what_files_of_scores_have_still_to_be_given_is_not_free(tmp_path):
    with open(tmp_path / "scores14.kept", "wb") as file:
        file.truncate(1 << 20)
    assert disk.holes(tmp_path) == 1 << 20
    with open(tmp_path / "scores14.kept", "r+b") as file:
        file.write(b"1" * (1 << 19))
    assert disk.holes(tmp_path) == 1 << 19
