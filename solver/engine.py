"""The engine: chooses a method for a game, runs it, and writes the database.

    start --explore--> positions by tier --solve the tiers, last first--> outcomes --write--> database

The methods, which the code calls *ways*:

1. *interpreted*: small games, in plain Python (`interpreted.py`). The other methods compile the rules.
2. *numbered*: games that number their positions. Every position counts, so nothing is explored (`methods/numbered/`).
3. *listed*: explores in waves, and keeps the positions as sorted lists in memory (`methods/listed/`).
4. *streamed*: the same on disk, for many positions, if tiers follow one another (`methods/streamed/`).
5. *setwise*: 64 positions in a word, if the rules are provably plain enough (`methods/setwise/`); or chess endings, by
   sets of squares (`methods/chess/`).

A journal beside the database records finished work, so that a killed solve resumes.
"""

import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np

from retrograde.databases import DatabaseFile, database_of, database_path
from retrograde.databases.bounds.write import SolvedBounds
from retrograde.databases.legend import count_positions
from retrograde.databases.location import against as against_model
from retrograde.databases.lock import Lock
from retrograde.databases.open import open_beside
from retrograde.databases.write import SolvedRecords, SolvedSlots, SolvedSteps, write_database
from retrograde.games.catalog import kin, rests_on, rules_digest, trust, typed, variant
from retrograde.games.contract.game import (
    METRICS,
    Contradiction,
    Game,
    RetrogradeError,
    RuleError,
    alternates,
    is_numbered,
    metric_of,
    width_of,
)
from retrograde.games.contract.live import with_source
from retrograde.games.contract.unfolded import unfolded
from retrograde.games.contract.zeroing import DTC, DTZ, TO_PROGRESS
from retrograde.solver.conformance.check import check, precheck
from retrograde.solver.interpreted import Patience, solve_interpreted
from retrograde.solver.methods.chess.fit import is_chess
from retrograde.solver.methods.numbered.numbering import Numbering, is_by_slot
from retrograde.solver.methods.numbered.room import room_for_tiers
from retrograde.solver.metrics.models.model import Model, NoModel
from retrograde.solver.rules.examine import NotCompilable, refuse_tuples
from retrograde.solver.rules.exits import no_exit
from retrograde.solver.rules.plain.glance import may_be_plain
from retrograde.solver.runtime.cluster.executor import ClusterExecutor
from retrograde.solver.runtime.cluster.over import executor_over
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.memory import DiskTooSmall, MemoryBudget, MemoryLimit, address_space, format_size
from retrograde.solver.runtime.progress import Course, Listener, Phase, announce
from retrograde.solver.runtime.scratch import without_empty_folders
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.sources import journal_digest
from retrograde.solver.runtime.tasks import Remote
from retrograde.solver.runtime.work import MetricNotApplicable, NotApplicable, Work
from retrograde.solver.verification.sample import verify_sample

COMPILER_BYTES = 230_000_000
"""Bytes of memory that the compiler takes, its own work included. Chess, with no machine code cached, comes to 272 MB
in all.
"""

COMPILER_SPACE = 280_000_000
"""Bytes of address space that the compiler and its machine code take. Connect4 fails with 225 MB left, and works with
287.
"""

WORTH_KEEPING = 60.0
"""Seconds of exploring after which its result is kept, even if the disk is too small for the rest."""

DROPPED = "the rules, or retrograde itself, have changed since an earlier run; what that had done is dropped"

PATIENCE = 86_400.0
"""Seconds to wait for another process that solves a game on which this one rests. (Workers of a set do that.)"""

WAYS = ("interpreted", "listed", "setwise", "streamed", "numbered")
"""The names of the methods."""

EXPECTATION = "expectation"
BY_NUMBER = METRICS[0], *TO_PROGRESS
"""Metrics that are solved for every slot of a numbering, and that may rest on other databases."""

AnySolved = SolvedRecords | SolvedSlots | SolvedSteps | SolvedBounds


class NoWay(RetrogradeError, ValueError):
    """The game cannot be solved by the method or the metric asked for."""


class Way(Protocol):
    """A method that solves games with compiled rules."""

    @property
    def name(self) -> str:
        """The name of the method, also in the journal."""

    def solve(self, game: Game, work: Work) -> Any:
        """Return the solved game for the writer; raise NotApplicable if this method does not apply."""


@dataclass(frozen=True)
class SolveOptions:
    """Options of `solve`."""

    workers: int | None = None
    memory: int | None = None
    fresh: bool = False
    listener: Listener | None = None
    way: str | Way | None = None
    executor: Executor | None = None
    sizes: Sizes = field(default_factory=Sizes)
    metric: str = METRICS[0]
    ties: str = ""
    against: Model | None = None


def solve(
    game: Game,
    path: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    memory: int | None = None,
    fresh: bool = False,
    listener: Listener | None = None,
    way: str | Way | None = None,
    executor: Executor | None = None,
    sizes: Sizes | None = None,
    lock: Lock | None = None,
    metric: str | None = None,
    ties: str = "",
    against: Model | None = None,
) -> Path:
    """Solve a game and return the path of its database.

    That is *path*, or else the one that `open_database` looks for.

    - *metric*: what to compute, one of METRICS; the game's own if None.
    - *ties*: how utilities choose among equally good moves: "first", "leader" or "average".
    - *against*: a model of the opponent; computes the expected payoffs of a best response to it. If the model
      distinguishes symmetric positions, the database stores all of them.
    - *workers*: the number of threads; one for each core if None.
    - *memory*: the most bytes to use; what is free if None.
    - *fresh*: begin anew. Otherwise an interrupted solve resumes, and a game that numbers its positions takes tiers
      from other databases that have them.
    - *listener*: gets Progress objects.
    - *way*: the method, one of WAYS or an object, or "compiled" for any but the interpreted one; the best if None.
    - *executor*: runs the tasks, with its number of workers. It may also be a client of Dask; then *path* must be in a
      folder that its workers see.
    - *sizes*: thresholds, such as the sizes of tasks.
    - *lock*: the path's lock, if the caller holds it already.

    Raises RuleError, RemotenessOverflow, MemoryLimit, DiskTooSmall, DamagedScratch, CannotWrite, InUse, NoWay or
    ClusterError; finished work is kept.
    """
    # Step 1: refuse combinations of options that do not exist.
    metric = metric or (EXPECTATION if against else metric_of(game))
    if metric not in METRICS:
        raise NoWay(f"no metric {metric!r}; the metrics are {', '.join(METRICS)}")
    game, complaint = with_source(game)
    if complaint:
        way, path = interpreted_only(complaint, metric), path or Path(folder_of_this_process().name) / f"{game.name}.h5"
    if against:
        if metric != EXPECTATION:
            raise NoWay(f"against a model it is expectations that are computed, and not {metric}")
        if executor and not isinstance(executor, ThreadPoolExecutor):
            raise NoWay("best responses are computed on threads alone: a model may have a database open")
        game = game if against.symmetric else unfolded(game)
    if metric in TO_PROGRESS and (not is_chess(game) or way not in (None, "compiled", "setwise")):
        what = {DTZ: "zeroing", DTC: "conversion"}[metric]
        raise NoWay(f"{metric}, the distance to {what}, is computed of chess endgames alone, and set by set")
    by_slot = metric == METRICS[0] or (metric == EXPECTATION and game.players < 3 and not alternates(game))
    if not by_slot or against or way == "listed":
        refuse_tuples(game, f"solved {'against a model' if against else f'by {metric}'} in lists")
    # Step 2: read the rules, and check them at some positions.
    path = path_by_metric(game, metric, against) if path is None else Path(path)
    order = SolveOptions(workers, memory, fresh, listener, way, executor, sizes or Sizes(), metric, ties, against)
    if isinstance(way, str) and way not in (*WAYS, "compiled"):
        raise NoWay(f"no way {way!r} to solve games; the ways are {', '.join(WAYS)}")
    announce(listener, "reading the rules")
    # Step 3: solve the games that this one rests on, then the game itself. Rules may call `exit`, which must not end
    # us.
    with no_exit():
        precheck(game).require_ok()
        solve_elsewhere(game, path, order)
        solve_at(path, game, order, lock)
    trust(game)
    return path


def interpreted_only(complaint: str, metric: str) -> str:
    """Return "interpreted", for rules without source, and warn; raise NoWay if the metric needs compiled rules."""
    if metric != METRICS[0]:
        raise NoWay(f"{complaint}; {metric} is computed by compiled rules alone")
    warnings.warn(f"{complaint}; until then they run interpreted, for this process alone", stacklevel=4)
    return "interpreted"


@cache
def folder_of_this_process() -> TemporaryDirectory[str]:
    """Return a folder for databases that no other process can open. It is deleted when this process ends."""
    return TemporaryDirectory(prefix="retrograde-")


def solve_at(path: Path, game: Game, order: SolveOptions, lock: Lock | None) -> None:
    """Solve a game after its rules were checked and the games that it rests on were solved.

    *lock* is the path's lock, if the caller holds it already.
    """
    with without_empty_folders(path), nullcontext(lock) if lock else Lock(path) as held:
        place = Place(path, held)
        solve_into(place, game, order)
        place.clear()


def solve_elsewhere(game: Game, path: Path, order: SolveOptions) -> None:
    """Solve the variants on whose databases this game rests, unless their databases exist.

    They are looked for beside the game's database and in the usual folder; see `elsewhere` in the contract. Their rules
    were checked with those of the game. Raises NoWay if an existing database cannot be used.
    """
    if order.metric not in BY_NUMBER or not is_numbered(game):
        return
    needed = rests_on(game)
    # Fail early if there is too little memory for the game itself, which comes last.
    if needed:
        budget, numbering = MemoryBudget(order.memory), Numbering.own(game)
        if order.way != "interpreted":
            expect_compiler(budget)
        least = room_for_tiers(game, numbering, order.sizes.plies_bits[0], True, order.metric).least
        budget.check(least, f"solving {numbering.slots:,} slots of positions")
    own = replace(order, fresh=False, way=order.way if isinstance(order.way, str) else "compiled")
    for number, other in enumerate(needed, 1):
        named = "" if order.metric == METRICS[0] else order.metric
        beside = database_path(other, path.parent, named)
        if not beside.exists() and not database_path(other, metric=named).exists():
            announce(order.listener, f"solving {other}, on which it rests, {number} of {len(needed)}")
            below = telling_below(order.listener, f"{other}, {number} of {len(needed)}")
            with Lock(beside, PATIENCE) as lock:
                if not beside.exists():  # another process may have solved it before it released the lock
                    solve_at(beside, kin(game, other), replace(own, listener=below), lock)
                    continue
        try:
            with open_beside(path.parent, game, other, order.metric) as database:
                if database.metric != order.metric:
                    raise NoWay(f"{str(database.file.path)!r} is by {database.metric}, not by {order.metric}")
        except RetrogradeError as error:
            what = f"{variant(game)} rests on {other}, which cannot be used: {error}"
            option = f" --metric {named}" if named else ""
            raise NoWay(
                f"{what}; make that anew with: retrograde solve {typed(kin(game, other))}{option} --fresh"
            ) from error


def telling_below(listener: Listener | None, below: str) -> Listener | None:
    """Return a listener for the solve of a game that the requested one rests on; *below* names that game."""
    return listener and (lambda progress: listener(replace(progress, below=below)))


def path_by_metric(game: Game, metric: str, model: Model | None = None) -> Path:
    """Return the path of a game's database for a metric, or for a best response to a model."""
    own = "" if metric == metric_of(game) else metric
    return database_path(variant(game), metric=against_model(model.name) if model else own)


@dataclass(frozen=True)
class Place:
    """The paths of a database and of the files that a solve keeps beside it. The path is locked."""

    path: Path
    lock: Lock

    @property
    def journal(self) -> Path:
        return self.path.with_name(self.path.name + ".journal")

    @property
    def scratch(self) -> Path:
        return self.path.with_name(self.path.name + ".scratch")

    def clear(self) -> None:
        """Delete the scratch folder, then the journal, which describes what is in that folder."""
        with suppress(OSError):  # remaining files are useless, but do no harm
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.journal.unlink(missing_ok=True)


def solve_into(place: Place, game: Game, order: SolveOptions) -> None:
    """Solve a game and write its database. A sample is verified before the file gets its name."""

    def inspect(path: Path) -> None:
        try:
            with DatabaseFile(path) as file:
                seconds = min(max((time.monotonic() - began) / 10, 0.02), 0.1)
                with database_of(file, game) as database:
                    verify_sample(database, seconds)
        except RuleError as error:
            place.clear()  # results of broken rules must not be resumed
            if isinstance(error, Contradiction):
                announce(order.listener, "checking the rules")
                raise check(game).blame(error) from error
            raise

    began = time.monotonic()
    budget = MemoryBudget(order.memory)
    write = partial(write_database, place.path, game, lock=place.lock, inspect=inspect)
    # Step 1: solve a small game without the compiler.
    if (solved := solved_interpreted(game, budget, order)) is not None:
        write(solved)
        return
    # Step 2: open the journal and the executor, and try the compiled methods.
    expect_compiler(budget)
    with (
        Journal(place.journal, identity(game, order), order.fresh) as journal,
        executor_of(order, place) as (executor, workers),
    ):
        if journal.dropped:
            warnings.warn(DROPPED, stacklevel=2)
        taken_up = bool(journal.found)
        scratch = place.scratch.absolute() if isinstance(executor, Remote) else place.scratch
        work = Work(executor, workers, budget, journal, scratch, order.listener, order.sizes)
        with work.open, nothing_left_of_what_is_refused(place, work, taken_up):
            solved = solved_compiled(game, ways_for(game, place, order), work, order.metric)
            from retrograde.solver.values.encode import encode_group  # here, because numba is imported by now

            # Step 3: write the database.
            phase = work.phase("writing", items_of(solved))
            work.course.positions_a_record = count_positions(solved.legend) / max(phase.total or 0, 1)
            write(solved, work.map_here, lambda items: phase.advance(items - phase.done), encode_group)
            phase.end()


@contextmanager
def nothing_left_of_what_is_refused(place: Place, work: Work, taken_up: bool) -> Iterator[None]:
    """Delete the files of a solve that is refused before it has done much.

    It may be refused for too little memory, too little disk, or a metric or model that does not suit the game. The
    files stay if an earlier run had begun them (*taken_up*), or if they took long to compute.
    """
    try:
        yield
    except (MetricNotApplicable, NoModel):
        place.clear()
        raise
    except (MemoryLimit, DiskTooSmall) as error:
        course, phase = work.course, work.course.at_hand
        little = phase is None or (not phase.done and course.seconds < WORTH_KEEPING)
        if phase is not None and isinstance(error, DiskTooSmall):
            little = phase.name == "exploring" and phase.worked_seconds < WORTH_KEEPING
        if taken_up or not little:
            raise type(error)(f"{error}; what is done is kept") from None
        place.clear()
        raise


def items_of(solved: AnySolved) -> int:
    """Return the number of items that the writer counts: slots, records or steps."""
    if isinstance(solved, SolvedBounds):
        return int(solved.starts[-1])
    return len(solved.outcomes) if isinstance(solved, SolvedSlots) else int(solved.counts.sum())


def solved_interpreted(game: Game, budget: MemoryBudget, order: SolveOptions) -> AnySolved | None:
    """Return the game solved by the interpreted method, or None if that is not the method to use."""
    if order.metric != METRICS[0]:
        return None
    if order.way == "interpreted":
        return solve_interpreted(game, budget, interpreting(order.listener))
    sizes = order.sizes
    if order.way is not None or (is_numbered(game) and Numbering.of(game).slots > sizes.interpreted_slots):
        return None
    phase = interpreting(None)

    def not_compiled() -> bool:
        expect_compiler(budget)
        phase.listener = order.listener  # from now on it takes long enough to be reported
        return not machine_code_is_kept(game)

    patience = Patience(sizes.interpreted_seconds, sizes.uncompiled_seconds, not_compiled)
    return solve_interpreted(game, budget, phase, patience)


def expect_compiler(budget: MemoryBudget) -> None:
    """Raise MemoryLimit if numba is not loaded yet and there is too little memory: LLVM would kill the process."""
    if "numba" not in sys.modules:
        if (space := address_space()) and space[1] < COMPILER_SPACE:
            raise MemoryLimit(
                f"not enough address space to compile the rules: {format_size(COMPILER_SPACE)} are needed, and of the "
                f"{format_size(space[0])} that `ulimit -v` allows {format_size(space[1])} are left; raise that limit"
            )
        budget.check(COMPILER_BYTES, "compiling the rules")


def machine_code_is_kept(game: Game) -> bool:
    """Return whether these rules have been compiled before and their machine code is cached."""
    from retrograde.solver.methods.numbered.kernels import seed  # imported here, because it imports numba
    from retrograde.solver.rules.compiled import is_kept
    from retrograde.solver.rules.kernels import expand

    return is_kept(game, (seed, expand))


def interpreting(listener: Listener | None) -> Phase:
    """Return the progress counter of an interpreted solve."""
    course = Course()
    course.plan(exploring=0.8, solving=0.2)
    return Phase("exploring", listener, course=course)


def ways_for(game: Game, place: Place, order: SolveOptions) -> Iterator[Way]:
    """Yield the methods to try for a game, in order, or the one asked for."""
    if not isinstance(order.way, str | None):
        yield order.way
        return
    # Case: distance to zeroing or conversion, of chess endings.
    if order.metric in TO_PROGRESS:
        from retrograde.solver.methods.numbered.way import Numbered

        yield Numbered(place.path, True, order.fresh, order.metric)
        return
    if order.metric != METRICS[0]:
        from retrograde.solver.metrics.measured import Demand
        from retrograde.solver.metrics.way import ByMetric

        # Case: another metric, slot by slot if there are many slots, or else in lists.
        if by_slot(game, order):
            from retrograde.solver.metrics.slots.way import Slotted

            yield Slotted()
            if order.way == "numbered":
                return
        yield ByMetric(Demand(order.metric, order.ties, order.against))
        return
    # Case: remoteness, the usual metric.
    fit = ["setwise", "numbered"] if is_numbered(game) else ["listed", "setwise", "streamed"]
    asked = [order.way] if order.way in WAYS else fit
    # Each method is imported only when its turn comes, because kernels take a while to load.
    by_sets = "setwise" in asked and is_chess(game)
    if is_numbered(game) and (by_sets or "numbered" in asked):
        from retrograde.solver.methods.numbered.way import Numbered

        yield Numbered(place.path, by_sets, order.fresh)
    elif not is_numbered(game) and "numbered" not in asked:
        # The order: set-wise early if a glance suggests it, then lists up to a limit, then set-wise again, then
        # streamed. The early try, before any positions are listed, gives up if no tier seems large enough.
        if by_words := "setwise" in asked and (len(asked) == 1 or may_be_plain(game)):
            from retrograde.solver.estimation.outlook import RunningOutlook
            from retrograde.solver.methods.setwise.way import Setwise

            yield Setwise(RunningOutlook, early=len(asked) > 1)
        from retrograde.solver.methods.listed.way import Listed

        if len(asked) > 1:
            yield Listed(limited=True)
            if by_words:
                yield Setwise(RunningOutlook)
        if "streamed" in asked:
            from retrograde.solver.estimation.outlook import RunningOutlook
            from retrograde.solver.methods.streamed.way import Streamed

            yield Streamed(RunningOutlook)
        if "listed" in asked:
            yield Listed()


def by_slot(game: Game, order: SolveOptions) -> bool:
    """Return whether to compute expected payoffs slot by slot: the game has many slots, or *way* says so."""
    if order.metric != EXPECTATION or order.against or order.way == "listed":
        return False
    any_size = order.way == "numbered" or width_of(game)
    return is_by_slot(game, 0 if any_size else order.sizes.listed_slots)


def solved_compiled(game: Game, ways: Iterable[Way], work: Work, metric: str = METRICS[0]) -> Any:
    """Return the game solved by the first method that fits; the journal records those that do not.

    Rules that do not compile run interpreted, if the metric is remoteness. Raises NoWay if no method fits.
    """
    reason = ""
    for way in ways:
        unfit = work.log(f"not by {way!r}")
        if known := [text.tobytes().decode() for (text,) in unfit.resumed]:
            reason = known[-1]
            continue
        announce(work.listener, "compiling the rules")
        try:
            return way.solve(game, work)
        except NotApplicable as error:
            reason = str(error)
            unfit.add((np.frombuffer(reason.encode(), np.uint8),))
            unfit.settle()  # before the files are deleted that the journal refers to
            work.course.plan()
            shutil.rmtree(work.scratch, ignore_errors=True)
        except NotCompilable as error:  # also from parents(), which is compiled only when needed
            if metric != METRICS[0]:
                raise
            warnings.warn(f"{error}; solving it interpreted, which is slow", stacklevel=2)
            return solve_interpreted(game, work.budget, interpreting(work.listener))
    numbers = "it numbers its positions" if is_numbered(game) else "it does not number its positions"
    raise NoWay(
        f"{variant(game)} cannot be solved in the way that was asked for, since {reason or numbers}; "
        "leave out the way, and the one that fits is chosen"
    )


@contextmanager
def executor_of(order: SolveOptions, place: Place) -> Iterator[tuple[Executor, int]]:
    """Give the executor for the tasks, and its number of workers.

    After Ctrl-C our own threads are not waited for: a user's rules may run forever.
    """
    cores = os.cpu_count() or 1
    if order.executor:
        given = executor_over(order.executor)
        # Case: a cluster. Its workers must see the folder of the solve.
        if isinstance(given, ClusterExecutor):
            announce(order.listener, "looking at the cluster")
            with given.begun(place.lock, place.scratch.absolute() / "parcels"):
                yield given, given.workers
            return
        yield given, order.workers or int(getattr(given, "_max_workers", cores))
        return
    # Case: threads of our own.
    executor = ThreadPoolExecutor(order.workers or cores)
    try:
        yield executor, order.workers or cores
    finally:
        interrupted = isinstance(sys.exc_info()[1], KeyboardInterrupt)
        executor.shutdown(wait=not interrupted, cancel_futures=True)


def identity(game: Game, order: SolveOptions) -> str:
    """Return the text that a journal must begin with to be resumed: the game, its rules, and the solver's sources."""
    metric = f" {order.metric}" if order.metric != METRICS[0] else ""
    against = f" against {order.against.name} {order.against.digest}" if order.against else ""
    return f"{variant(game)} {rules_digest(game, contract=True)} {journal_digest()}{metric}{against}"
