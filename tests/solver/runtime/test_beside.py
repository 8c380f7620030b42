"""Tiers solved beside one another: the same bytes as one after another, the same errors, whatever stops the solve."""

import threading
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.games import RuleError
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered import seeds
from retrograde.solver.methods.numbered.store import NumberedStore
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.concurrent import ConcurrentTiers, RunningTier
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import reference
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.solving import Stop, outcomes
from tests.helpers.thicket import Thicket, ThicketWithoutParents

GAMES = {"with parents": Thicket, "without parents": ThicketWithoutParents}
EAGER = Sizes(journal_seconds=0, predecessors_seconds=0)


@pytest.fixture(scope="module")
def path(tmp_path_factory, any_file_replaced):
    return tmp_path_factory.mktemp("beside") / "game.h5"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Have several tasks to a tier."""
    monkeypatch.setattr(seeds, "BLOCK", 16)


@pytest.fixture
def turns(monkeypatch):
    """How many tiers had their turn at once, whenever one was given it."""
    found, give_turn = [], ConcurrentTiers.give_turn

    def noted(beside, k):
        give_turn(beside, k)
        found.append(len(beside.turns))

    monkeypatch.setattr(ConcurrentTiers, "give_turn", noted)
    return found


@pytest.fixture
def unforeseen(monkeypatch):
    """Have no tier know beforehand for which others it must wait; the tiers that have waited half done."""
    found, wait_for = [], RunningTier.wait_for

    def noted(tier, k):
        found.append(tier.k)
        wait_for(tier, k)

    monkeypatch.setattr(seeds, "PROBES", 0)
    monkeypatch.setattr(RunningTier, "wait_for", noted)
    return found


def planted(monkeypatch, seed, faulty=False):
    """Have the games be those of a number."""
    monkeypatch.setattr(Thicket, "start", (faulty << 20 | seed) << 12)


def solved(path, game, workers, sizes=None):
    """Solve a game anew; return the bytes of its database."""
    return solve(game, path, method="compiled", workers=workers, fresh=True, sizes=sizes).read_bytes()


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize("kind", GAMES)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**20 - 1), probes=st.sampled_from([0, 1, 16]))
def test_random_games(kind, path, seed, probes):
    game = GAMES[kind]()
    with pytest.MonkeyPatch.context() as patch:
        planted(patch, seed)
        patch.setattr(seeds, "PROBES", probes)
        every = [game.unindex(tier, slot) for tier in game.tiers for slot in range(game.size(tier))]
        plain = solve(game, path, method="interpreted", fresh=True).read_bytes()
        assert outcomes(path, game) == reference.solve(game, starts=[one for one in every if one >= 0])
        for workers in (1, 2, 4):
            assert solved(path, game, workers) == plain


@pytest.mark.thorough
def test_as_many_have_their_turn_as_there_are_workers_and_those_that_are_large_are_alone(path, monkeypatch, turns):
    planted(monkeypatch, 5)
    for workers in (2, 3):
        turns.clear()
        solved(path, Thicket(), workers)
        assert max(turns) == workers
        turns.clear()
        solved(path, Thicket(), workers, Sizes(beside_slots=0))
        assert not turns


@pytest.mark.thorough
def test_where_memory_suffices_for_one_it_is_one(path, monkeypatch, turns):
    planted(monkeypatch, 5)
    whole = solved(path, Thicket(), 1)
    monkeypatch.setattr(NumberedStore, "memory_if_concurrent", lambda *_: 1 << 60)
    assert solved(path, Thicket(), 4) == whole
    assert max(turns) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", thorough_but(GAMES, "with parents"))
def test_a_tier_that_is_half_done_waits_for_one_that_it_leads_to(kind, path, monkeypatch, unforeseen):
    game, waited = GAMES[kind](), 0
    for seed in range(3):
        planted(monkeypatch, seed)
        unforeseen.clear()
        whole = solved(path, game, 1)
        assert not unforeseen
        assert solved(path, game, 4) == whole
        waited += bool(unforeseen)
    assert waited


@pytest.mark.long
@pytest.mark.parametrize("kind", thorough_but(GAMES, "without parents"))
def test_a_solve_that_is_stopped_goes_on_whichever_tiers_were_done(kind, tmp_path, monkeypatch, unforeseen):
    """Stopped at some checkpoints, which threads write, and behind some tiers."""
    monkeypatch.setattr("retrograde.solver.methods.listed.predecessors.lists.EVERY", 1)
    monkeypatch.setattr("retrograde.solver.runtime.checkpoint.SHARE", 0)
    game, dice = GAMES[kind](), Random(3)
    save, log_write = Checkpoint.save, Log.write

    def save_and_stop(checkpoint, *args):
        save(checkpoint, *args)
        if dice.random() < 0.02:
            raise Stop

    def log_and_stop(log):
        log_write(log)
        if dice.random() < 0.1:
            raise Stop

    stops = 0
    planted(monkeypatch, 2)
    whole = solved(tmp_path / "whole.h5", game, 1)
    (tmp_path / "whole.h5").unlink()  # or its tiers would be taken
    monkeypatch.setattr(Checkpoint, "save", save_and_stop)
    monkeypatch.setattr(Log, "write", log_and_stop)
    while not (tmp_path / "game.h5").exists():
        try:
            solve(game, tmp_path / "game.h5", method="compiled", workers=3, sizes=EAGER)
        except Stop:
            stops += 1
    assert (tmp_path / "game.h5").read_bytes() == whole
    assert not (tmp_path / "game.h5.scratch").exists()
    assert stops


@pytest.mark.thorough
def test_of_several_errors_it_is_that_of_the_last_tier(path, monkeypatch, solver_alone):
    said = set()
    for seed in range(6):
        planted(monkeypatch, seed, faulty=True)
        first = None
        for workers in (1, 2, 4, 4):
            with pytest.raises(RuleError) as caught:
                solved(path, Thicket(), workers)
            first = first or str(caught.value)
            assert str(caught.value) == first
        said.add(first)
    assert len(said) == 6


@pytest.mark.parametrize("error", [thorough(Stop), KeyboardInterrupt])
def test_it_is_told_in_the_main_thread_and_what_is_under_way_ends_with_it(error, path, monkeypatch):
    planted(monkeypatch, 9)
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)
    told = []

    def listen(progress):
        assert threading.current_thread() is threading.main_thread()
        told.append(progress)
        if progress.phase == "solving" and progress.tier is not None and len(told) > stop:
            raise error

    stop = 1 << 30
    solve(Thicket(), path, method="compiled", workers=4, fresh=True, listener=listen)
    solving = [one for one in told if one.phase == "solving"]
    assert all(one.done <= one.total for one in solving)
    assert solving[-1].done == solving[-1].total
    stop, before = 8, threading.active_count()
    told.clear()
    with suppress(error):
        solve(Thicket(), path, method="compiled", workers=4, fresh=True, listener=listen)
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join()
    assert threading.active_count() <= before
