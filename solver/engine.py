"""The engine: solves a game and writes its database.

    start --explore--> positions by tier --solve the tiers, last first--> outcomes --write--> database

The methods:

1. *interpreted*: small games, in plain Python (`interpreted.py`). The other methods compile the rules.
2. *numbered*: games that number their positions. Every position counts, so nothing is explored (`methods/numbered/`).
3. *listed*: explores in waves, and keeps the positions as sorted lists in memory (`methods/listed/`).
4. *streamed*: the same on disk, for many positions, if tiers follow one another (`methods/streamed/`).
5. *setwise*: 64 positions in a word, if the rules are provably plain enough (`methods/setwise/`); or chess endings, by
   sets of squares (`methods/chess/`).

`selection.py` chooses among them; `options.py` has the options. A journal beside the database records finished work, so
that a killed solve resumes.
"""

import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from retrograde.databases import DatabaseFile, database_of, database_path
from retrograde.databases.bounds.write import SolvedBounds
from retrograde.databases.legend import total_of
from retrograde.databases.location import against as against_model
from retrograde.databases.location import process_folder
from retrograde.databases.lock import Lock
from retrograde.databases.open import open_beside
from retrograde.databases.write import SolvedRecords, SolvedRows, SolvedSlots, SolvedSteps, write_database
from retrograde.games.catalog import rests_on, rules_digest, trust, typed, variant, variant_of_same_rules
from retrograde.games.contract.game import Contradiction, Game, RetrogradeError, RuleError, Traits, metric_of
from retrograde.games.contract.live import with_source
from retrograde.games.contract.unfolded import folded, unfolded
from retrograde.solver.conformance.check import check, precheck
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.tier_memory import memory_for_tiers
from retrograde.solver.metrics.models.model import Model, NoModel
from retrograde.solver.options import BY_NUMBER, COMPILED, EXPECTATION, CannotSolve, SolveOptions, refuse_combination
from retrograde.solver.replacing import is_of_same_solve, record_solve
from retrograde.solver.rules.no_exit import no_exit
from retrograde.solver.runtime.cluster.executor import ClusterExecutor
from retrograde.solver.runtime.journal import Journal, is_to_replace
from retrograde.solver.runtime.memory import DiskTooSmall, MemoryBudget, MemoryLimit
from retrograde.solver.runtime.progress import Listener, announce
from retrograde.solver.runtime.scratch import without_empty_folders
from retrograde.solver.runtime.sources import journal_digest
from retrograde.solver.runtime.tasks import Remote
from retrograde.solver.runtime.work import MetricNotApplicable, Work
from retrograde.solver.selection import expect_compiler, solve_compiled, try_interpreted
from retrograde.solver.verification.sample import verify_sample

WORTH_KEEPING = 60.0
"""Seconds of exploring after which its files stay, even if the disk is too small for the rest."""

DROPPED = "the rules, or retrograde itself, have changed since an earlier run; what that had done is dropped"

PATIENCE = 86_400.0
"""Seconds to wait for another process that solves a game on which this one rests. (Workers of a set do that.)"""

AnySolved = SolvedRecords | SolvedRows | SolvedSlots | SolvedSteps | SolvedBounds


def solve(
    game: Game,
    /,
    path: str | os.PathLike[str] | None = None,
    options: SolveOptions | None = None,
    *,
    lock: Lock | None = None,
    **keywords: Any,
) -> Path:
    """Solve a game and return the path of its database.

    That is *path*, or else the one that `open_database` looks for. *options* are those of `SolveOptions`. Keywords
    that are not None replace single ones, as in `solve(game, workers=1)`. *lock* is the path's lock, if the caller
    holds it already.

    A database by other rules or another metric is not replaced, unless `solve` of the command line would replace it.

    Raises RuleError, RemotenessOverflow, MemoryLimit, DiskTooSmall, DamagedScratch, CannotWrite, CannotReplace, InUse,
    CannotSolve or ClusterError; finished work is kept.
    """
    # Step 1: settle the options, and refuse combinations that do not exist.
    given = {name: value for name, value in keywords.items() if value is not None}
    options = replace(options or SolveOptions(), **given)
    options = replace(options, metric=options.metric or (EXPECTATION if options.against else metric_of(game)))
    game, no_source = with_source(game)
    if no_source:
        options = interpreted_only(options, no_source)
        path = path or database_path(variant(game), process_folder())
    refuse_combination(game, options)
    if options.against and not options.against.symmetric:
        game = unfolded(game)
    path = path_by_metric(game, options.metric, options.against) if path is None else Path(path)
    expect_replaceable(game, path, options)
    # Step 2: read the rules, and check them at some positions. Rules may call `exit`, which must not end us.
    announce(options.listener, "reading the rules")
    with no_exit():
        precheck(game).require_ok()
        # Step 3: solve the games that this one rests on, then the game itself.
        solve_needed(game, path, options)
        solve_at(path, game, options, lock)
    trust(folded(game))
    record_solve(folded(game), path)
    return path


def interpreted_only(options: SolveOptions, no_source: str) -> SolveOptions:
    """Return options for rules without source, which run interpreted, and warn; raise CannotSolve if the metric forbids
    that. *no_source* is the reason why there is no source."""
    if not options.by_remoteness:
        raise CannotSolve(f"{no_source}; {options.metric} needs compiled rules")
    warnings.warn(f"{no_source}; until then they run interpreted, for this process alone", stacklevel=4)
    return replace(options, method="interpreted")


def expect_replaceable(game: Game, path: Path, options: SolveOptions) -> bool:
    """Raise CannotReplace if the file at a path must not be replaced; return whether one by other rules will be."""
    if not path.exists():
        return False
    is_same = is_of_same_solve(game, path, options.metric, options.ties, options.against, options.fresh)
    return not is_same and not options.fresh


def solve_at(path: Path, game: Game, options: SolveOptions, lock: Lock | None) -> None:
    """Solve a game whose rules are checked and whose needed games are solved; *lock* as in `solve`."""
    with without_empty_folders(path), nullcontext(lock) if lock else Lock(path) as held:
        if expect_replaceable(game, path, options) and not lock:  # a caller with the lock has said so
            warnings.warn(f"{path} was made by earlier rules of {typed(folded(game))}, and is replaced", stacklevel=4)
        paths = SolvePaths(path, held)
        try:
            solve_into(paths, game, options)
        finally:
            with suppress(OSError):  # it is missing, or has work from which another run resumes
                paths.scratch.rmdir()
        paths.clear()


def solve_needed(game: Game, path: Path, options: SolveOptions) -> None:
    """Solve the variants on whose databases this game rests (`elsewhere` in the contract), if these do not exist.

    They are looked for beside the game's database and in the database folder. Raise CannotSolve if one cannot be used.
    """
    if options.metric not in BY_NUMBER or not Traits.of(game).is_numbered:
        return
    needed = rests_on(game)
    # Fail early if there is too little memory for the game itself, which comes last.
    if needed:
        budget, numbering = MemoryBudget(options.memory_bytes), SlotNumbering.own(game)
        if options.method != "interpreted":
            expect_compiler(budget)
        bits = options.sizes.plies_bits[0]
        least = memory_for_tiers(game, numbering, bits, by_sets=True, metric=options.metric).least
        budget.check(least, f"solving {numbering.slots:,} slots of positions")
    method = options.method if isinstance(options.method, str) else COMPILED
    below_options = replace(options, fresh=False, method=method)
    for number, other in enumerate(needed, 1):
        metric_in_name = "" if options.by_remoteness else options.metric
        beside = database_path(other, path.parent, metric_in_name)
        if not beside.exists() and not database_path(other, metric=metric_in_name).exists():
            announce(options.listener, f"solving {other}, on which it rests, {number} of {len(needed)}")
            below = listener_below(options.listener, f"{other}, {number} of {len(needed)}")
            with Lock(beside, PATIENCE) as lock:
                if not beside.exists():  # another process may have solved it before it released the lock
                    solve_at(beside, variant_of_same_rules(game, other), replace(below_options, listener=below), lock)
                    continue
        try:
            with open_beside(path.parent, game, other, options.metric) as database:
                if database.metric != options.metric:
                    raise CannotSolve(
                        f"{str(database.file.path)!r} is solved by {database.metric}, not by {options.metric}"
                    )
        except RetrogradeError as error:
            what = f"{variant(game)} rests on {other}, which cannot be used: {error}"
            option = f" --metric {metric_in_name}" if metric_in_name else ""
            named_variant = typed(variant_of_same_rules(game, other))
            raise CannotSolve(
                f"{what}; solve that again with: retrograde solve {named_variant}{option} --fresh"
            ) from error


def listener_below(listener: Listener | None, below: str) -> Listener | None:
    """Return a listener for the solve of *below*, a game on which the requested one rests."""
    return listener and (lambda progress: listener(replace(progress, below=below)))


def path_by_metric(game: Game, metric: str, model: Model | None = None) -> Path:
    """Return the path of a game's database for a metric, or for a best response to a model."""
    metric_in_name = "" if metric == metric_of(game) else metric
    return database_path(variant(game), metric=against_model(model.name) if model else metric_in_name)


@dataclass(frozen=True)
class SolvePaths:
    """The locked path of a database, and the files that a solve keeps beside it."""

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


def solve_into(paths: SolvePaths, game: Game, options: SolveOptions) -> None:
    """Solve a game and write its database; verify a sample before the file gets its name."""

    def inspect(path: Path) -> None:
        """Verify a sample of the finished file; raise RuleError if it contradicts the rules."""
        try:
            with DatabaseFile(path) as file:
                seconds = min((time.monotonic() - began) / 20, 0.1)
                with database_of(file, game) as database:
                    verify_sample(database, seconds)
        except RuleError as error:
            paths.clear()  # results of broken rules must not be resumed
            if isinstance(error, Contradiction):
                announce(options.listener, "checking the rules")
                raise check(game).blame(error) from error
            raise

    began = time.monotonic()
    budget = MemoryBudget(options.memory_bytes)
    write = partial(write_database, paths.path, game, lock=paths.lock, inspect=inspect)
    # Step 1: solve a small game without the compiler.
    if (solved := try_interpreted(game, budget, options)) is not None:
        write(solved)
        return
    # Step 2: open the journal and the executor, and try the compiled methods. A fresh solve takes up the journal of
    # one that was to replace the same database.
    expect_compiler(budget)
    fresh = options.fresh and not is_to_replace(paths.path)
    with (
        Journal(paths.journal, partial(identity, game, options), fresh) as journal,
        executor_of(options, paths) as (executor, workers),
    ):
        if journal.dropped:
            warnings.warn(DROPPED, stacklevel=2)
        resumes = bool(journal.found)
        scratch = paths.scratch.absolute() if isinstance(executor, Remote) else paths.scratch
        work = Work(executor, workers, budget, journal, scratch, options.listener, options.sizes)
        with work.open, clean_up_if_refused(paths, work, resumes):
            solved = solve_compiled(game, paths.path, options, work)
            from retrograde.solver.values.encode import encode_group  # here, because numba is imported by now

            # Step 3: write the database.
            phase = work.phase("writing", count_items(solved))
            work.course.positions_a_record = total_of(solved.legend, "positions") / max(phase.total or 0, 1)
            write(solved, work.map_here, lambda items: phase.advance(items - phase.done), encode_group)
            phase.end()


@contextmanager
def clean_up_if_refused(paths: SolvePaths, work: Work, resumes: bool) -> Iterator[None]:
    """Delete the files of a solve that is refused before it has done much: memory, disk or metric do not suit.

    The files stay if an earlier run had begun them (*resumes*), or if they took long to compute.
    """
    try:
        yield
    except (MetricNotApplicable, NoModel):
        paths.clear()
        raise
    except (MemoryLimit, DiskTooSmall) as error:
        course, phase = work.course, work.course.at_hand
        worthless = phase is None or (not phase.done and course.seconds < WORTH_KEEPING)
        if phase is not None and isinstance(error, DiskTooSmall):
            worthless = phase.name == "exploring" and phase.worked_seconds < WORTH_KEEPING
        if resumes or not worthless:
            raise type(error)(f"{error}; what is done is kept") from None
        paths.clear()
        raise


def count_items(solved: AnySolved) -> int:
    """Return the number of items that the writer counts: slots, records or steps."""
    if isinstance(solved, SolvedBounds):
        return int(solved.starts[-1])
    return len(solved.outcomes) if isinstance(solved, SolvedSlots) else int(solved.counts.sum())


@contextmanager
def executor_of(options: SolveOptions, paths: SolvePaths) -> Iterator[tuple[Executor, int]]:
    """Yield the executor and its number of workers. After Ctrl-C, threads that the solve has started are not waited
    for: rules may run forever."""
    cores = os.cpu_count() or 1
    if options.executor:
        given = executor_over(options.executor)
        # Case: a cluster. Its workers must see the folder of the solve.
        if isinstance(given, ClusterExecutor):
            announce(options.listener, "looking at the cluster")
            with given.attached(paths.lock, paths.scratch.absolute() / "parcels"):
                yield given, given.workers
            return
        yield given, options.workers or int(getattr(given, "_max_workers", cores))
        return
    # Case: threads of our own.
    executor = ThreadPoolExecutor(options.workers or cores)
    try:
        yield executor, options.workers or cores
    finally:
        interrupted = isinstance(sys.exc_info()[1], KeyboardInterrupt)
        executor.shutdown(wait=not interrupted, cancel_futures=True)


def identity(game: Game, options: SolveOptions) -> str:
    """Return the text with which a journal must begin to be resumed: game, rules, sources, metric and model."""
    metric = "" if options.by_remoteness else f" {options.metric}"
    against = f" against {options.against.name} {options.against.digest}" if options.against else ""
    return f"{variant(game)} {rules_digest(game, contract=True)} {journal_digest()}{metric}{against}"


def executor_over(given: Any) -> Executor:
    """Return an executor as it is; wrap a client or an executor of Dask."""
    distributed = sys.modules.get("distributed")
    client = getattr(given, "_client", given)
    if distributed is not None and isinstance(client, distributed.Client):
        from retrograde.solver.runtime.cluster.dask import DaskExecutor

        return DaskExecutor(client)
    if not isinstance(given, Executor):
        raise TypeError(f"{given!r} is no executor; give a concurrent.futures.Executor or a dask.distributed.Client")
    return given
