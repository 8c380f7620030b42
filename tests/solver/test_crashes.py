"""Solves that are killed, refused, and at it together: what is left is whole or not there, and is gone on from."""

import errno
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from random import Random

import pytest

from retrograde.databases import CannotWrite, DatabaseFile, InUse, durable, lock, open_database, write
from retrograde.databases.lock import Lock, lock_file
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.runtime import journal, scratch
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.journal import outline
from tests.helpers.command_line import COMMAND, environment, retrograde
from tests.helpers.crashing import wrong_everywhere
from tests.helpers.disk import KINDS
from tests.helpers.marks import thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.powercut import PowerCut, spread

pytestmark = pytest.mark.long

CUTS = 16
"""Moments, about, at which the power fails here and there: enough to find each fault of UNSAFE."""

# The power fails, the disk is full, memory is short


@pytest.mark.parametrize("kind", thorough_but(KINDS, "given up", "book"))
def test_a_power_cut_here_and_there_loses_nothing_that_was_synced(kind, tmp_path):
    cut = PowerCut(KINDS[kind], tmp_path)
    assert cut.wrong_everywhere(CUTS // 2) == []
    assert cut.tried >= CUTS // 4


def test_of_a_wave_that_was_not_synced_no_more_is_lost_than_this_wave(tmp_path):
    """The journal has entries of files whose names are lost."""
    cut = PowerCut(KINDS["setwise in scratch"], tmp_path)
    moments = list(enumerate(cut.recorder.moments))
    syncs = spread([number for number, moment in moments if moment.operation == "fsync" and moment.promised], 5)
    assert [why for number in syncs if (why := cut.wrong_after(moments[number][1], number, "names"))] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_power_cut_anywhere_loses_nothing_that_was_synced(kind, tmp_path):
    assert PowerCut(KINDS[kind], tmp_path).wrong_everywhere() == []


@pytest.mark.parametrize("kind", thorough_but(KINDS, "cycles, with predecessor lists"))
def test_a_solve_that_is_refused_something_here_and_there_is_gone_on_with(kind, tmp_path):
    assert wrong_everywhere(KINDS[kind], tmp_path, "refuse", 4) == []
    assert wrong_everywhere(KINDS[kind], tmp_path, "memory", 2) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["refuse", "memory"])
def test_a_solve_that_is_refused_anything_is_gone_on_with(kind, mode, tmp_path):
    assert wrong_everywhere(KINDS[kind], tmp_path, mode) == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("kind", KINDS)
def test_a_solve_that_crashes_anywhere_is_gone_on_with(kind, tmp_path):
    command = [sys.executable, "-m", "tests.helpers.crashing", kind, str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3000)
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr


class Unsynced:
    """The module `os` as it would be if it synced nothing."""

    fsync = staticmethod(os.fstat)

    def __getattr__(self, name):
        return getattr(os, name)


def save_too_late(checkpoint, *args):
    """Save a checkpoint, and let the journal know of it once the one before is deleted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint.log.log, "settle", lambda: None)
        SAVE(checkpoint, *args)
    checkpoint.log.settle()


SAVE = Checkpoint.save
UNSAFE = {
    "scratch files are not synced": ("stream", scratch, "os", Unsynced()),
    "the journal is not synced": ("slots, with parents", journal, "os", Unsynced()),
    "a database is not synced": ("listed", write, "os", Unsynced()),
    "the folder of a database is not synced": ("listed", durable, "sync_folder", lambda folder: None),
    "the folder of the journal is not synced": ("book", journal, "sync_folder", lambda folder: None),
    "the folder of scratch files is not synced": ("stream", scratch, "sync_folder", lambda folder: None),
    "a checkpoint is deleted too early": ("slots, with parents", Checkpoint, "save", save_too_late),
}


@pytest.mark.parametrize("fault", thorough_but(UNSAFE, "the folder of scratch files is not synced"))
def test_power_cuts_find_what_is_not_safe(fault, tmp_path, monkeypatch):
    kind, owner, name, unsafe = UNSAFE[fault]
    monkeypatch.setattr(owner, name, unsafe)
    assert PowerCut(KINDS[kind], tmp_path).wrong_everywhere(CUTS)


# Together


def start(home, *args):
    return subprocess.Popen(
        [*COMMAND, *args], env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def together(home, variant, processes, rounds):
    """Solve the same game in several processes at once, while it is read; return what went wrong."""
    wrong = []
    for _ in range(rounds):
        path = home / f"{variant.replace(':', ',')}.h5"
        path.unlink(missing_ok=True)
        running = [start(home, "solve", variant) for _ in range(processes)]
        while any(process.poll() is None for process in running):
            if path.exists():
                with DatabaseFile(path) as file:
                    file.check()
            time.sleep(0.005)
        for process in running:
            _, said = process.communicate()
            if process.returncode:
                wrong.append(said)
        if sorted(file.name for file in home.iterdir()) != [path.name]:
            wrong.append(str(sorted(home.iterdir())))
    return wrong


@pytest.mark.thorough
@pytest.mark.parametrize(("variant", "processes"), [("tictactoe", 3), ("connect4:width=4,height=4", 2)])
def test_solves_of_one_game_at_once_do_not_hurt_each_other(variant, processes, tmp_path):
    assert together(tmp_path, variant, processes, 2) == []


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 3])
@pytest.mark.parametrize("variant", ["tictactoe", "dodgem", "connect4:width=4,height=4", "chess,KRK".replace(",", ":")])
def test_many_solves_at_once_do_not_hurt_each_other(variant, processes, tmp_path):
    assert together(tmp_path, variant, processes, 15) == []


def test_a_database_being_written_by_another_is_waited_for_and_then_refused(tmp_path):
    path = tmp_path / "x.h5"
    with Lock(path), pytest.raises(InUse, match=r"x\.h5' is being written by another process"), Lock(path, 0.1):
        pass
    with Lock(path):
        assert (tmp_path / "x.h5.lock").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_whose_file_was_deleted_is_none(tmp_path):
    with Lock(tmp_path / "x.h5"):
        (tmp_path / "x.h5.lock").unlink()
        with Lock(tmp_path / "x.h5", 0.1):
            assert (tmp_path / "x.h5.lock").exists()


@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file cannot be deleted")
def test_a_lock_on_a_file_that_was_deleted_meanwhile_does_not_count(tmp_path, monkeypatch):
    """Its holder deletes the file between our opening and our locking it, and a third process locks a new one."""
    path, third = tmp_path / "x.h5.lock", []

    def late(file):
        if not third:
            path.unlink()
            third.append(open(path, "ab"))  # noqa: SIM115  # closed below
            lock_file(third[0])
        lock_file(file)

    monkeypatch.setattr(lock, "lock_file", late)
    with pytest.raises(InUse), Lock(tmp_path / "x.h5", 0.1):
        pass
    third[0].close()
    with Lock(tmp_path / "x.h5", 0.1):
        assert path.exists()
    assert not path.exists()


def test_where_there_are_no_locks_none_of_their_files_is_left(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(lock, "lock_file", no_locks)
    with pytest.raises(CannotWrite, match=r"No locks available \(at the lock 'x.h5.lock'\)"), Lock(tmp_path / "x.h5"):
        pass
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x.h5.lock").touch()  # another's, perhaps
    with pytest.raises(CannotWrite), Lock(tmp_path / "x.h5"):
        pass
    assert (tmp_path / "x.h5.lock").exists()


@pytest.mark.parametrize("command", [["solve", "tictactoe"], ["book", "tictactoe", "--plies", "1"]])
def test_what_a_kill_after_the_last_renaming_has_left_is_cleared_by_the_next_solve(command, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    retrograde(*command)
    (database,) = tmp_path.iterdir()
    content = database.read_bytes()
    beside = [database.with_name(database.name + ending) for ending in (".journal", ".scratch", ".lock")]
    for one in beside:
        one.mkdir() if one.suffix == ".scratch" else one.touch()
    with Lock(database):  # of a process that solves it anew
        retrograde(*command)
        assert all(one.exists() for one in beside)
    beside[2].touch()
    retrograde(*command)
    assert list(tmp_path.iterdir()) == [database] and database.read_bytes() == content


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CannotWrite, match="ermission denied"):
        solve(load_game("tictactoe"), tmp_path / "x.h5")


def test_what_a_process_that_is_gone_has_left_is_cleared_away(tmp_path):
    left = tmp_path / "x.h5.123-abcdef01.partial"
    left.write_bytes(b"half")
    solve(load_game("tictactoe"), tmp_path / "x.h5")
    assert [file.name for file in tmp_path.iterdir()] == ["x.h5"]


# Killed

KILLED = {
    "connect4:width=5,height=4": 12.0,  # a stream is begun and given up
    "connect4:width=5,height=5": 12.0,
    "chess:KRKN": 3.0,
    "lgame": 4.0,
    "dodgem": 1.0,
}
"""Variants, and seconds within which they are killed."""


def kill(variant, home, seconds, kills, chance):
    """Kill a solve several times, then let it end; return the names and digests of the databases."""
    for _ in range(kills):
        process = start(home, "solve", variant)
        try:
            process.communicate(timeout=chance.uniform(0.3, seconds))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    process = start(home, "solve", variant)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    for path in home.iterdir():
        with open_database(path) as database:
            database.file.check()
    return frozenset((path.name, sha256(path.read_bytes()).hexdigest()) for path in home.iterdir())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_a_killed_solve_ends_in_the_same_bytes(tmp_path, solved):
    digests = kill("connect4:width=4,height=4", tmp_path / "home", 1.2, 1, Random(1))
    path = solved("connect4:4,4")
    assert digests == {(path.name, sha256(path.read_bytes()).hexdigest())}


@pytest.mark.slow
@pytest.mark.parametrize("variant", KILLED)
def test_a_solve_killed_again_and_again_ends_in_the_same_bytes(variant, tmp_path):
    seconds = KILLED[variant]
    digests = {kill(variant, tmp_path / str(n), seconds, 6 * (n > 0), Random(n)) for n in range(3)}
    assert len(digests) == 1


ONE_TIER = '''
import sys
from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.game import Game
from retrograde.games.kinds.placed import placements
from retrograde.games.teeko import Teeko
from retrograde.solver.engine import solve
from retrograde.solver.runtime.journal import outline
from retrograde.solver.methods.listed.predecessors import lists, sorting
from retrograde.solver.methods.numbered import seeds
from retrograde.solver.runtime.sizes import Sizes


class Slide(Teeko):
    """Teeko with all men on the board, and parents that the solver finds itself."""

    start = 0b1111_0000 << 16 | 0b1111
    parents = Game.parents

    @cached_property
    def placements(self):
        return placements(16, [(0, (4, 4))], grid(4, 4).symmetries, swap=(1, 0))


if __name__ == "__main__":
    sorting.BUCKET_BITS, lists.BUFFER, seeds.BLOCK, resume = 12, 1 << 15, 1 << 10, lists.PredecessorWriter.resume

    def spy(writer):
        found = resume(writer)
        print(writer.done, len(writer.inverted), flush=True)
        return found

    lists.PredecessorWriter.resume = spy
    sizes = Sizes(predecessors_in_scratch=True, scores_in_scratch=True, journal_seconds=0)
    solve(Slide(4, 4), sys.argv[1], method="compiled", workers=1, sizes=sizes)
'''


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_a_tier_that_is_killed_goes_on_with_what_was_put_aside(tmp_path):
    """The only tier of a game is killed as its journal grows: no run begins before where the one before was killed."""
    (tmp_path / "slide.py").write_text(ONE_TIER)
    command = [sys.executable, tmp_path / "slide.py"]
    whole, killed = (tmp_path / name / "slide.h5" for name in ("whole", "killed"))
    whole.parent.mkdir()  # one of its own: a tier that is in a database beside is taken from there
    killed.parent.mkdir()
    subprocess.run([*command, whole], check=True, stdout=subprocess.DEVNULL)
    journal = killed.with_name("slide.h5.journal")
    dice, taken_up, left = Random(5), [], []
    for _ in range(8):
        process = subprocess.Popen([*command, killed], stdout=subprocess.PIPE, text=True)
        enough = (journal.stat().st_size if journal.exists() else 0) + dice.randrange(1, 200_000)
        while process.poll() is None and not (journal.exists() and journal.stat().st_size >= enough):
            time.sleep(0.002)
        process.kill()
        said, _ = process.communicate()
        taken_up += [tuple(map(int, line.split())) for line in said.splitlines()]
        left += [list(outline(journal))] if journal.exists() else []
    subprocess.run([*command, killed], check=True, stdout=subprocess.DEVNULL)
    assert killed.read_bytes() == whole.read_bytes()
    assert taken_up == sorted(taken_up)
    assert len({done for done, _ in taken_up}) > 3
    assert [len(entries) for entries in left] == sorted(len(entries) for entries in left)
