"""On Dask and on MPI a solve writes the bytes of one thread, whatever becomes of its workers meanwhile."""

import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from retrograde.databases import CannotWrite, database_path
from retrograde.databases.lock import Lock
from retrograde.games.catalog import load_game, variants_in
from retrograde.games.contract.game import METRICS
from retrograde.solver.engine import executor_over, solve
from retrograde.solver.methods.listed.ranges import steps
from retrograde.solver.methods.setwise.forward import fill
from retrograde.solver.options import CannotSolve
from retrograde.solver.runtime import tasks
from retrograde.solver.runtime.arrays import SharedArray, publish
from retrograde.solver.runtime.cluster import site
from retrograde.solver.runtime.cluster.site import ClusterError, Facts, facts, machine
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.runtime.scratch import UNCOMPRESSED, Scratch
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.variants import VariantTask, prerequisites, solve_variants
from tests.helpers.command_line import COMMAND, LATE, Child, environment, process, retrograde
from tests.helpers.lacking import in_ci, need_cluster
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.solving import small_enough

need_cluster("cluster.dask")
distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("retrograde.solver.runtime.cluster.dask")
pytestmark = pytest.mark.long

MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
has_mpi = pytest.mark.skipif(MPIEXEC is None and not in_ci(), reason="there is no mpiexec")
has_signals = pytest.mark.skipif(os.name == "nt", reason="there are no such signals there")
GAMES = [
    ("connect4:4,4", "streamed"),
    ("connect4:4,4", "setwise"),
    ("dodgem", "listed"),  # with cycles, whose predecessor lists it finds
    ("mutorere", "listed"),  # with parents()
    ("chess:KQK", "numbered"),
    ("teeko:4,3", "setwise"),  # shape by shape
]
EARLY = {"streamed": 5, "setwise": 2}
"""Steps after which there is still much to be done."""
in_waves = pytest.mark.parametrize("way", ["setwise", pytest.param("streamed", marks=pytest.mark.thorough)])
KINGS = "chess,KK.h5"
"""The database on which all endings of chess rest; it is made beside theirs unless it lies in the usual place."""


@pytest.fixture(scope="module")
def executor():
    """An executor over two processes."""
    with dask.connected("local:2") as executor:
        yield executor


@pytest.fixture(scope="module")
def by_threads(tmp_path_factory, solved):
    """Return a function from a variant and a way, None for any, to the bytes that threads write."""
    found = {}

    def bytes_of(variant, way):
        if way is None:
            return solved(variant).read_bytes()
        if (variant, way) not in found:
            path = tmp_path_factory.mktemp("threads") / "game.h5"
            found[variant, way] = solve(load_game(variant), path, method=way, sizes=small_enough(way)).read_bytes()
        return found[variant, way]

    return bytes_of


class Apart(dask.DaskExecutor):
    """An executor that takes its workers to be on other machines."""

    apart = True


class Stopped(Exception):
    """A solve was ended from outside."""


def at_step(step, act):
    """Return a listener that acts when it is told the so-manieth time how far exploring or solving is."""
    steps = iter(range(step + 1))

    def listen(progress):
        if progress.phase in ("exploring", "solving") and next(steps, None) == step:
            act()

    return listen


# The same bytes


@pytest.mark.parametrize(("variant", "way"), thorough_but(GAMES, GAMES[2]))
def test_dask_writes_the_bytes_of_threads(variant, way, tmp_path, executor, by_threads):
    path = solve(load_game(variant), tmp_path / "game.h5", method=way, sizes=small_enough(way), executor=executor)
    assert path.read_bytes() == by_threads(variant, way)
    assert {file.name for file in tmp_path.iterdir()} - {KINGS} == {"game.h5"}


@pytest.mark.parametrize(("variant", "way"), thorough_but(GAMES[2:], GAMES[2]))
def test_where_machines_share_files_alone_the_bytes_are_the_same(variant, way, tmp_path, executor, by_threads):
    there = Apart(executor.client)
    for sizes in (small_enough(way), Sizes(predecessors_in_scratch=True, scores_in_scratch=True)):
        path = solve(load_game(variant), tmp_path / "game.h5", method=way, fresh=True, sizes=sizes, executor=there)
        assert path.read_bytes() == by_threads(variant, way)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "amount"), [("BYTES_IN_WAVE", 1 << 40), ("MOST_SENT", 100)])
def test_words_are_compressed_where_there_is_little_room_and_the_bytes_are_the_same(
    name, amount, tmp_path, executor, by_threads, monkeypatch
):
    """And so they are in tasks of any size."""
    monkeypatch.setattr(
        f"retrograde.solver.methods.setwise.{'forward' if name == 'BYTES_IN_WAVE' else 'storage'}.{name}", amount
    )
    variant, way = "connect4:4,4", "setwise"
    plain = []
    there = Scratch(tmp_path / "game.h5.scratch", 0)

    def listen(progress):
        files = list(there.folder.glob("sets9-*")) if progress.phase == "solving" else []
        plain.extend(file.read_bytes()[:4] == UNCOMPRESSED for file in files)

    path = solve(
        load_game(variant),
        tmp_path / "game.h5",
        method=way,
        sizes=small_enough(way),
        executor=executor,
        listener=listen,
    )
    assert path.read_bytes() == by_threads(variant, way)
    assert plain and {*plain} == {name != "BYTES_IN_WAVE"}


@pytest.mark.thorough
@has_signals
def test_a_worker_killed_in_the_middle_of_a_wave_of_words(tmp_path, executor, by_threads, monkeypatch):
    """It has put aside half of what its task makes; the task runs again elsewhere, and that half is never read."""
    once = tmp_path / "once"
    once.touch()
    monkeypatch.setattr(
        "retrograde.solver.methods.setwise.forward.fill", partial(fill_or_end, once=once, ours=os.getpid())
    )
    way = "setwise"
    path = solve(
        load_game("connect4:4,4"), tmp_path / "game.h5", method=way, sizes=small_enough(way), executor=executor
    )
    assert not once.exists()
    assert path.read_bytes() == by_threads("connect4:4,4", way)


def fill_or_end(shared, ranges, once, ours):
    """Fill some tiers; the first worker to have filled several ranges ends before it can tell of them."""
    found = fill(shared, ranges)
    if len(ranges) > 1 and os.getpid() != ours and once.exists():
        once.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return found


@pytest.mark.thorough
@has_signals
def test_a_worker_killed_in_the_middle_of_a_step(tmp_path, executor, by_threads, monkeypatch):
    """It has written down what becomes of a range; the task runs again elsewhere, and that is never read."""
    once = tmp_path / "once"
    once.touch()
    monkeypatch.setattr("retrograde.solver.methods.listed.ranges.tier.TOGETHER", 1)
    name = "retrograde.solver.methods.listed.ranges.tier.run_steps"
    monkeypatch.setattr(name, partial(steps_or_end, once=once, ours=os.getpid()))
    variant, way = "chess:KQK", "numbered"
    path = solve(load_game(variant), tmp_path / "game.h5", method=way, sizes=small_enough(way), executor=executor)
    assert not once.exists()
    assert path.read_bytes() == by_threads(variant, way)


def steps_or_end(name, together, once, ours):
    """Do a step; the first worker to have done one that is not the first ends before it can tell of it."""
    done = steps.run_steps(name, together)
    if together[0].remoteness > 2 and os.getpid() != ours and once.exists():
        once.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return done


@pytest.mark.parametrize("given", [thorough(lambda client: client), lambda client: client.get_executor()])
def test_a_client_or_its_executor_will_do(given, tmp_path, executor, by_threads, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the workers are not
    path = solve(load_game("chess:KQK"), "game.h5", method="numbered", executor=given(executor.client))
    assert path.read_bytes() == by_threads("chess:KQK", "numbered")


def test_what_is_no_executor_is_refused():
    with pytest.raises(TypeError, match="'tcp://there:1' is no executor"):
        executor_over("tcp://there:1")
    with ThreadPoolExecutor(1) as threads:
        assert executor_over(threads) is threads


@has_mpi
@pytest.mark.parametrize(("count", "games"), [(2, GAMES[2:3]), thorough((3, GAMES[2:3] + GAMES[5:]))])
def test_mpi_writes_the_bytes_of_threads(count, games, tmp_path, by_threads):
    asked = [f"{variant}/{way}" for variant, way in games]
    command = [MPIEXEC, "-n", str(count), sys.executable, "-m", "tests.helpers.ranks", str(tmp_path), *asked]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LATE)
    assert run.returncode == 0, run.stderr
    for number, (variant, way) in enumerate(games):
        assert (tmp_path / f"{number}.h5").read_bytes() == by_threads(variant, way)
    files = {file.name for file in tmp_path.iterdir()}
    assert files - {KINGS} == {f"{number}.h5" for number in range(len(games))}


# The command line


def test_the_command_solves_on_processes_of_its_own(tmp_path, by_threads):
    path = tmp_path / "game.h5"
    run = process("solve", "chess:KQK", "--cluster", "local:2", "--database", path)
    assert run.returncode == 0, run.stderr
    assert "2 workers on 1 machine" in run.stderr
    assert path.read_bytes() == by_threads("chess:KQK", "numbered")


@pytest.mark.thorough
@has_mpi
@pytest.mark.parametrize("ranks", ["1", "3"])
def test_the_command_solves_under_mpiexec(ranks, tmp_path, by_threads):
    command = [MPIEXEC, "-n", ranks, *COMMAND, "solve", "chess:KQK", "--mpi", "--database", str(tmp_path / "game.h5")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LATE)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("chess:KQK: every position") == 1
    assert (tmp_path / "game.h5").read_bytes() == by_threads("chess:KQK", "numbered")


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (["--cluster", "nowhere.json"], 1, "error: 'nowhere.json' is no cluster; give tcp://host:port"),
        (["--cluster", "local:0"], 1, "error: 'local:0' is no cluster"),
        (["--cluster", "tcp://127.0.0.1:9"], 1, "error: no scheduler answers at 'tcp://127.0.0.1:9': "),
        (["--cluster", "local:2", "--workers", "2"], 2, "give --cluster or --workers, not both"),
    ],
)
def test_what_is_no_cluster_is_told_in_one_line(args, status, said, tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "ANSWER", 0.3)
    result = retrograde("solve", "connect4:4,4", "--database", tmp_path / "game.h5", *args, status=status)
    assert said in result.stderr
    assert result.stderr.strip().count("\n") == 0
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
@has_mpi
def test_one_rank_alone_complains(tmp_path):
    command = [MPIEXEC, "-n", "3", *COMMAND, "solve", "connect4:0,4", "--mpi"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LATE, env=environment(tmp_path))
    assert run.returncode
    assert run.stderr.count("retrograde: error:") == 1


def test_against_a_model_there_are_threads_alone(tmp_path, executor):
    from retrograde.solver.metrics.models.model import UniformModel

    with pytest.raises(CannotSolve, match="on threads only"):
        solve(load_game("tictactoe"), tmp_path / "game.h5", against=UniformModel(), executor=executor)


@pytest.mark.thorough
def test_an_estimate_is_of_the_workers_of_the_cluster(tmp_path):
    run = process("solve", "teeko", "--cluster", "local:1", "--estimate", env=environment(tmp_path))
    assert run.returncode == 0, run.stderr
    for said in ("1 worker on 1 machine", "of each worker", "for each ply of remoteness", "12,176,873 slots in "):
        assert said in run.stdout


# Sets of endings

THREE = ["chess:KRK", "chess:KQK", "chess:KNK", "chess:KBK", "chess:KPK"]


def tasks_for(folder, *names, memory=1 << 40):
    """Return tasks that solve some variants into a folder."""
    return [VariantTask(name, database_path(name, folder), METRICS[0], False, memory) for name in names]


def test_a_variant_waits_for_those_whose_positions_it_leads_to():
    waits = prerequisites(variants_in("chess:all=4"))
    assert not any(waits[name] for name in THREE[:4])
    assert waits["chess:KPK"] == {*THREE[:4]}
    assert waits["chess:KRKN"] == {"chess:KRK", "chess:KNK"}
    assert waits["chess:KPKP"] >= {"chess:KPK", "chess:KQKP", "chess:KQKQ"}
    assert "chess:KRKB" not in waits["chess:KRKN"]
    assert prerequisites(["tictactoe", "nim"])["nim"] == {"tictactoe"}, "of which nothing is known"


def test_variants_of_different_families_do_not_wait_for_each_other():
    names = ["teeko:3,2", "teeko:4,2", "quixo", "draughts:KvK,4", "draughts:KvK,6", "draughts:KKvK,6"]
    assert all(0 in load_game(name).tiers for name in names[:3])
    waits = prerequisites(names)
    assert waits.pop("draughts:KKvK,6") == {"draughts:KvK,6"}
    assert not any(waits.values())


@pytest.mark.thorough
@pytest.mark.parametrize("how", [["--cluster", "local:2"], pytest.param(["--mpi"], marks=has_mpi)])
def test_a_set_is_solved_by_the_workers_each_variant_by_one(how, tmp_path, by_threads):
    before = [MPIEXEC, "-n", "3"] if how == ["--mpi"] else []
    command = [*before, *COMMAND, "solve", "chess:all=3", *how]
    for status in ("done", "before"):
        run = subprocess.run(command, capture_output=True, text=True, timeout=LATE, env=environment(tmp_path))
        assert run.returncode == 0, run.stderr
        lines = run.stdout.splitlines()
        assert [line.split()[0] for line in lines[:5]] == THREE
        assert all(("before" in line) == (status == "before") for line in lines[:5])
        assert lines[-1].startswith("5 of 5 solved, 3.89 M positions")
    files = {path.name: path for path in tmp_path.rglob("chess,*")}
    assert {*files} == {KINGS, *(f"chess,{name[6:]}.h5" for name in THREE)}
    for name in THREE:
        assert files[f"chess,{name[6:]}.h5"].read_bytes() == by_threads(name, None)


@has_signals
def test_an_ending_whose_worker_is_killed_is_solved_by_another(tmp_path, executor, by_threads):
    told = []

    def kill_one(text):
        told.append(text)
        if len(told) == 1:
            os.kill(next(iter(executor.client.run(os.getpid).values())), signal.SIGKILL)

    with solve_variants(executor, tmp_path / "set.h5", tasks_for(tmp_path, *THREE)) as ahead:
        for name in THREE:
            assert ahead.result(name, kill_one).seconds > 0
    assert told
    for name in THREE:
        assert database_path(name, tmp_path).read_bytes() == by_threads(name, None)
    assert {file.name for file in tmp_path.iterdir()} - {KINGS} == {f"chess,{name[6:]}.h5" for name in THREE}


def test_what_is_too_large_for_one_worker_is_left_to_all(tmp_path, executor, by_threads):
    """While others are solved; and these go on behind it."""
    tasks = [*tasks_for(tmp_path, "chess:KRK", memory=1), *tasks_for(tmp_path, "chess:KQK", "chess:KPK")]
    with solve_variants(executor, tmp_path / "set.h5", tasks) as ahead:
        with pytest.raises(MemoryLimit):
            ahead.result("chess:KRK", print)
        site = executor.site
        solve(load_game("chess:KRK"), tmp_path / "chess,KRK.h5", executor=executor)
        assert executor.site == site
        assert ahead.result("chess:KPK", print).seconds > 0
    for name in ("KRK", "KQK", "KPK"):
        assert (tmp_path / f"chess,{name}.h5").read_bytes() == by_threads(f"chess:{name}", None)


# Who is fit


def of_another(held, **other):
    return pickle.dumps(site.site_of(held, True)._replace(**other))


def test_who_is_not_fit_is_refused(tmp_path):
    with Lock(tmp_path / "game.h5") as lock:
        for other, said in (
            ({"facts": facts()._replace(numba="0.1")}, "has numba .* and not 0.1; install the same everywhere"),
            ({"facts": facts()._replace(retrograde="sources 0", python="3.1")}, "retrograde sources .*, python 3"),
            ({"lock": tmp_path / "elsewhere.h5.lock"}, "does not see '.*', the folder of the solve"),
            ({"word": b"another"}, "does not see"),
            ({"machine": "another"}, "is on another machine"),
        ):
            with pytest.raises(ClusterError, match=said):
                site.run(of_another(lock, **other), b"this is not even unpacked")
        assert site.run(of_another(lock), pickle.dumps((divmod, (7, 2), {}))) == (3, 1)
        assert site.greet(pickle.dumps(site.site_of(lock, False))) == machine()


def test_sources_are_told_apart():
    mine = Facts("sources 1", "3.11", "2.0", "0.61", "1.5.6")
    assert mine.differences(mine) == ""
    assert mine._replace(zstd="1.5.5").differences(mine) == "zstd 1.5.5 and not 1.5.6"


def test_workers_of_other_sources_are_refused_before_anything_is_done(tmp_path, executor, monkeypatch):
    monkeypatch.setattr(site, "facts", lambda: facts()._replace(retrograde="sources 0"))
    with pytest.raises(ClusterError, match=r"has retrograde sources .* and not sources 0"):
        solve(load_game("chess:KQK"), tmp_path / "game.h5", method="numbered", executor=executor)


# What happens to workers


@pytest.mark.thorough
@has_signals
@in_waves
def test_a_worker_that_is_killed_is_done_without(way, tmp_path, executor, by_threads):
    before = executor.client.run(os.getpid)
    victim = next(iter(before.values()))
    listener = at_step(EARLY[way], lambda: os.kill(victim, signal.SIGKILL))
    path = solve(
        load_game("connect4:4,4"), tmp_path / "game.h5", method=way, sizes=small_enough(way),
        listener=listener, executor=executor,
    )  # fmt: skip
    assert path.read_bytes() == by_threads("connect4:4,4", way)
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


@pytest.mark.thorough
@has_signals
@in_waves
def test_a_full_disk_at_a_worker_is_told_and_gone_on_from(way, tmp_path, executor, by_threads):
    import resource

    def may_write(most):
        executor.client.run(resource.setrlimit, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    sizes = small_enough(way)
    game, path = load_game("connect4:4,4"), tmp_path / "game.h5"
    try:
        with pytest.raises(CannotWrite, match="what is done is kept"):
            solve(
                game, path, method=way, sizes=sizes, executor=executor,
                listener=at_step(EARLY[way], lambda: may_write(4096)),
            )  # fmt: skip
    finally:
        may_write(resource.RLIM_INFINITY)
    told = []
    solve(game, path, method=way, sizes=sizes, executor=executor, listener=told.append)
    assert path.read_bytes() == by_threads("connect4:4,4", way)
    assert any(progress.resumed for progress in told)


def test_a_task_that_ends_one_worker_after_another_is_given_up(tmp_path, executor):
    with Lock(tmp_path / "game.h5") as lock, executor.attached(lock):
        with pytest.raises(
            ClusterError, match=r"workers ended at one task, the last at tcp://.*; have they enough memory"
        ):
            executor.submit(os._exit, 1).result(LATE)
        assert executor.submit(divmod, 7, 2).result(LATE) == (3, 1)  # others have taken their place


@pytest.mark.thorough
@in_waves
def test_workers_may_join_and_leave(way, tmp_path, by_threads):
    with dask.connected("local:1") as executor:
        assert executor.workers == 1
        steps = {8: 3, 20: 2}
        listeners = [at_step(step, lambda to=to: executor.client.cluster.scale(to)) for step, to in steps.items()]
        path = solve(
            load_game("connect4:4,4"), tmp_path / "game.h5", method=way, sizes=small_enough(way),
            listener=lambda progress: [listen(progress) for listen in listeners], executor=executor,
        )  # fmt: skip
    assert path.read_bytes() == by_threads("connect4:4,4", way)


@pytest.mark.thorough
@has_signals
@in_waves
def test_where_the_scheduler_goes_away_the_solve_ends_and_is_gone_on_from(way, tmp_path, by_threads):
    file = tmp_path / "scheduler.json"
    start = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen(
        [*start, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        stderr=subprocess.DEVNULL,
    )
    worker = subprocess.Popen(
        [*start, "worker", "--scheduler-file", str(file), "--no-dashboard", "--no-nanny", "--nthreads", "1"],
        stderr=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    game, path = load_game("connect4:4,4"), tmp_path / "game.h5"
    sizes = small_enough(way)
    try:
        while not file.exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        with (
            pytest.raises(ClusterError, match=r"the scheduler at tcp://127.* has gone\. What is done is kept"),
            dask.connected(str(file)) as executor,
        ):
            solve(game, path, method=way, sizes=sizes, executor=executor, listener=at_step(EARLY[way], scheduler.kill))
    finally:
        for one in (scheduler, worker):
            one.kill()
            one.wait()
    told = []
    solve(game, path, method=way, sizes=sizes, listener=told.append)
    assert path.read_bytes() == by_threads("connect4:4,4", way)
    assert any(progress.resumed for progress in told)


@pytest.mark.thorough
@has_mpi
@has_signals
@in_waves
def test_a_rank_that_is_lost_ends_the_job_and_the_same_command_goes_on(way, tmp_path, by_threads):
    command = [MPIEXEC, "-n", "3", sys.executable, "-m", "tests.helpers.ranks", str(tmp_path), f"connect4:4,4/{way}"]
    journal = tmp_path / "0.h5.journal"
    with Child(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
        while not (journal.exists() and journal.stat().st_size > 20_000):
            assert job.poll() is None
            time.sleep(0.01)
        ranks = [
            one for one in psutil.Process(job.pid).children(recursive=True) if "tests.helpers.ranks" in one.cmdline()
        ]
        ranks[-1].kill()
        assert job.wait(LATE)
    assert journal.exists() and not (tmp_path / "0.h5").exists()
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LATE)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "0.h5").read_bytes() == by_threads("connect4:4,4", way)
    assert [file.name for file in tmp_path.iterdir()] == ["0.h5"]


@pytest.mark.thorough
@has_signals
def test_ctrl_c_ends_it_soon_with_one_line(tmp_path):
    command = [
        *COMMAND,
        "solve",
        "chess:KPKP",
        "--cluster",
        "local:2",
        "--json",
        "--database",
        str(tmp_path / "game.h5"),
    ]
    with Child(command, stdout=-1, stderr=-1, text=True, start_new_session=True) as run:
        for line in run.stderr:
            if (told := json.loads(line)).get("phase") == "solving" and told["done"]:
                break
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        _, said = run.communicate(timeout=LATE)
    assert run.returncode == 130
    told = [line for line in said.splitlines() if not line.startswith("{")]
    assert told == ["retrograde: interrupted; finished work is kept, and the same command resumes the solve"]


@has_signals
def test_local_workers_are_not_told_of_ctrl_c_nor_are_those_that_are_begun_anew(executor):
    """Looked at, and not tried: most that were told would not say so, for they end with the process that solves."""

    def deaf():
        return os.getpid(), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())

    before = dict(executor.client.run(deaf).values())
    os.kill(min(before), signal.SIGKILL)
    while min(before) in (now := dict(executor.client.run(deaf, on_error="ignore").values())) or len(now) < 2:
        time.sleep(0.05)
    assert now.keys() - before and {*before.values(), *now.values()} == {True}


def test_that_no_worker_is_left_is_told_once(monkeypatch):
    """And when one comes, the work goes on."""
    monkeypatch.setattr(dask, "LONELY", 0.1)
    settings = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=1, **settings) as cluster, distributed.Client(cluster) as client:
        executor = dask.DaskExecutor(client)
        cluster.scale(0)
        while client.nthreads():
            time.sleep(0.05)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = executor.send("measured", (), len, b"four")
            while not told:
                time.sleep(0.05)
            time.sleep(0.5)
            cluster.scale(1)
            assert found.result(timeout=LATE) == 4
        said = [str(warning.message) for warning in told if "no workers left" in str(warning.message)]
        assert said == [f"the scheduler at {executor.address} has no workers left; one is waited for"]


def who_has_worked():
    """Return the number of this process if it has run a task. (Of one that has only begun Dask's nanny gives up.)"""
    return os.getpid() if site.refuse_unfit.cache_info().currsize else 0


@pytest.mark.slow
@has_signals
@pytest.mark.parametrize("seed", range(20))
@in_waves
def test_workers_killed_at_random_change_no_byte(seed, way, tmp_path, executor, by_threads):
    chance = random.Random(seed)
    steps = sorted(chance.sample(range(1, 25), 3))
    told, killed = [], []

    def kill_some(progress):
        told.append(progress)
        if len(killed) < len(steps) and len(told) >= steps[len(killed)]:
            there = [number for number in executor.client.run(who_has_worked, on_error="ignore").values() if number]
            if there:
                killed.append(chance.choice(sorted(there)))
                os.kill(killed[-1], signal.SIGKILL)

    path = solve(
        load_game("connect4:4,4"), tmp_path / "game.h5", method=way, sizes=small_enough(way),
        listener=kill_some, executor=executor,
    )  # fmt: skip
    assert path.read_bytes() == by_threads("connect4:4,4", way)
    assert len(killed) >= (2 if way == "streamed" else 1)  # words are soon done


# In small


def test_the_first_task_of_a_function_is_alone(monkeypatch):
    under_way, most = [], []

    class Slow(ThreadPoolExecutor):
        def submit(self, function, /, *args):
            under_way.append(args)
            most.append(len(under_way))
            future = super().submit(function, *args)
            future.add_done_callback(lambda _: under_way.pop())
            return future

    warm = set()
    with Slow(1) as executor:
        assert list(tasks.in_order(executor, abs, [-1, -2, -3], warm=warm)) == [1, 2, 3]
        assert most[:2] == [1, 1] and warm == {abs}
        assert sorted(tasks.as_completed(executor, str, [1, 2, 3], warm=warm)) == ["1", "2", "3"]
        assert most[3:5] == [1, 1] and warm == {abs, str}


def test_what_an_executor_has_cancelled_is_not_waited_for():
    held = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        results = tasks.as_completed(executor, lambda number: number or held.wait(), range(1, -4, -1), limit=4)
        assert next(results) == 1  # the second is under way, two wait
        executor.shutdown(wait=False, cancel_futures=True)
        held.set()
        closing = threading.Thread(target=results.close, daemon=True)
        closing.start()
        closing.join(60)
        assert not closing.is_alive()


def test_what_is_published_is_opened_anew(tmp_path):
    shared = SharedArray.zeros(3, np.int64, tmp_path / "array")
    first = pickle.loads(pickle.dumps(shared))
    shared.array[1] = 7
    publish()
    second = pickle.loads(pickle.dumps(shared))
    assert second is not first
    assert np.fromfile(shared.path, np.int64).tolist() == second.array.tolist() == [0, 7, 0]


def test_what_a_folder_does_not_list_yet_is_looked_for(tmp_path, monkeypatch):
    there = Scratch(tmp_path, 0)
    frame = there.write("positions1", b"much")
    monkeypatch.setattr(Scratch, "file_lengths", lambda self: {})
    assert there.missing([frame]) == []
    lost = frame._replace(offset=1)
    assert there.missing([lost, frame, frame._replace(name="positions2")]) == [lost, frame._replace(name="positions2")]
