"""The engine: from a game to its database.

    start --explore--> state space --solve the tiers, last first--> scores --tally, write--> database

Small games are solved interpreted (`interpreted.py`). Others are compiled, explored in waves (`explore.py`) and solved
tier by tier (`tiers.py`, `cyclic.py`), on threads: the kernels release the GIL. Large ones whose tiers follow one
another are solved in a stream, with sorted lists on disk (`streaming.py`). Games with a dense numbering are not
explored, because every position counts (`dense.py`). A journal beside the database keeps what is done.
"""

import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from retrograde.databases import DatabaseFile, database_of, database_path
from retrograde.databases.lock import Lock
from retrograde.databases.write import DenseSolved, Solved, SteppedSolved, write_database
from retrograde.games.catalog import rules_digest, trust, variant
from retrograde.games.game import Game, RuleError, defines, is_dense
from retrograde.solver.audit.sample import verify_sample
from retrograde.solver.conformance.precheck import refuse_broken
from retrograde.solver.interpreted import solve_interpreted
from retrograde.solver.numbered.numbering import Numbering
from retrograde.solver.outcomes.score import PLIES_BITS, RemotenessOverflow
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.exits import no_exit
from retrograde.solver.work.journal import Journal, Log
from retrograde.solver.work.memory import MemoryBudget
from retrograde.solver.work.progress import Listener, Phase
from retrograde.solver.work.sources import journal_digest
from retrograde.solver.work.tasks import in_order

if TYPE_CHECKING:
    from retrograde.solver.listed.tiers import Scores
    from retrograde.solver.work.scratch import Scratch

INTERPRETED_SECONDS = 0.2
"""Games that are explored in less time of a processor are not compiled, which takes two seconds or more."""

COMPILER_BYTES = 230_000_000
"""Memory that the compiler takes once it is imported, its own work included: with no machine code kept, chess comes to
272 MB in all."""

MOST_INTERPRETED = 10_000
"""Games with a dense numbering of more slots are compiled at once."""

JOURNAL_SECONDS = 0.5
"""The most work that is lost when a solve is killed, where what is done between two pauses takes no longer."""

NO_STREAM = "no stream"
"""The entry of a journal that says that the game cannot be solved in a stream, or is too small for one."""

LARGEST_IN_MEMORY = 4_000_000
"""Records, symmetric positions counted once, from which games are solved in a stream, if they can be, and stored as
steps. A smaller database stores the positions as well: it is small either way, and can tell what play never reaches."""

Array = np.ndarray[Any, Any]
Entries = dict[str, list[list[Array]]]
"""What a journal holds, by name."""


def solve(
    game: Game,
    path: str | os.PathLike[str] | None = None,
    *,
    workers: int | None = None,
    memory: int | None = None,
    fresh: bool = False,
    listener: Listener | None = None,
    interpreted: bool | None = None,
    pause: float = JOURNAL_SECONDS,
    lock: Lock | None = None,
) -> Path:
    """Solve a game and return the path of its database, *path* or the one that `open_database` looks for.

    Tiers of a game with a dense numbering that other databases hold are taken from there, unless *fresh*.
    *workers* is the number of threads (one a core if None), *memory* the most bytes to use (what is free if None).
    A solve that was interrupted goes on where it stopped, unless *fresh*. *listener* is called with Progress.
    *interpreted* forces the rules to be run so or, if False, to be compiled. What is done goes to disk every *pause*
    seconds. *lock* is that of the path, if it is held already.
    Raises RuleError, RemotenessOverflow, MemoryLimit, DiskTooSmall, DamagedScratch, CannotWrite or InUse; what was done
    by then is kept.
    """
    path = database_path(variant(game)) if path is None else Path(path)
    with no_exit():
        refuse_broken(game)
        with nullcontext(lock) if lock else Lock(path) as held:
            place = Place(path, held)
            solve_into(place, game, workers, memory, fresh, listener, interpreted, pause)
            place.clear()
    trust(game)
    return path


@dataclass(frozen=True)
class Place:
    """Where a database is to be, and what a solve keeps beside it; its lock is held."""

    path: Path
    lock: Lock

    @property
    def journal(self) -> Path:
        return self.path.with_name(self.path.name + ".journal")

    @property
    def scratch(self) -> Path:
        return self.path.with_name(self.path.name + ".scratch")

    def clear(self) -> None:
        """Delete what is of no more use once the database is there: the journal last, which says what the rest is."""
        with suppress(OSError):  # what stays is of no use, and no harm
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.journal.unlink(missing_ok=True)


def solve_into(
    place: Place, game: Game, workers: int | None, memory: int | None, fresh: bool, listener: Listener | None,
    interpreted: bool | None, pause: float,
) -> None:  # fmt: skip
    """Solve a game and write its database, which gets its name after a sample of it has been verified."""

    def inspect(path: Path) -> None:
        try:
            with DatabaseFile(path) as file:
                verify_sample(database_of(file, game), min(max((time.monotonic() - began) / 10, 0.02), 0.1))
        except RuleError:
            place.clear()  # what such rules have led to is not to be gone on from
            raise

    began = time.monotonic()
    budget = MemoryBudget(memory)
    solved: Solved | DenseSolved | SteppedSolved | None
    if interpreted or (interpreted is None and not (is_dense(game) and Numbering.of(game).slots > MOST_INTERPRETED)):
        solved = solve_interpreted(game, budget, float("inf") if interpreted else INTERPRETED_SECONDS)
        if solved is not None:
            write_database(place.path, game, solved, lock=place.lock, inspect=inspect)
            return
    if "numba" not in sys.modules:
        budget.check(COMPILER_BYTES, "compiling the rules")
    scratch: Scratch | None = None
    with Journal(place.journal, identity(game), fresh) as journal, threads(workers) as executor:
        try:
            if is_dense(game):
                found_at = None if fresh else place.path
                solved = solve_dense(game, executor, budget, journal, listener, pause, found_at)
                phase = Phase("writing", listener, len(solved.outcomes))
            else:
                solved, scratch = solve_explored(
                    game, place, executor, workers or os.cpu_count() or 1, budget, journal, listener, pause
                )
                phase = Phase("writing", listener, int(solved.counts.sum()))
            from retrograde.solver.outcomes.encode import encode_group  # numba is imported by now

            write_database(
                place.path, game, solved, partial(in_order, executor),
                lambda records: phase.advance(records - phase.done), encode_group, lock=place.lock, inspect=inspect,
            )  # fmt: skip
            phase.tell()
        finally:
            if scratch:
                scratch.close()


@contextmanager
def threads(workers: int | None) -> Iterator[Executor]:
    """Give an executor of so many threads. After Ctrl-C they are not waited for: rules may go on for ever."""
    executor = ThreadPoolExecutor(workers or os.cpu_count() or 1)
    try:
        yield executor
    finally:
        interrupted = isinstance(sys.exc_info()[1], KeyboardInterrupt)
        executor.shutdown(wait=not interrupted, cancel_futures=True)


def identity(game: Game) -> str:
    """Return what a journal must have been made with: this game, and sources that mean the same by its entries."""
    return f"{variant(game)} {rules_digest(game, contract=True)} {journal_digest()}"


def solve_explored(
    game: Game, place: Place, executor: Executor, workers: int, budget: MemoryBudget, journal: Journal,
    listener: Listener | None, pause: float,
) -> tuple[Solved | SteppedSolved, "Scratch | None"]:  # fmt: skip
    """Return the solved game, having gone through all phases but the writing, and scratch files that are still needed.

    Games of many positions are solved in a stream where it can be done; the rest in memory.
    """
    from retrograde.solver.estimate import QUICK, check_disk, estimate
    from retrograde.solver.listed.explore import TooLarge
    from retrograde.solver.streamed.forward import NotStreamed
    from retrograde.solver.streamed.log import StreamLog
    from retrograde.solver.streamed.streaming import solve_streamed
    from retrograde.solver.work.scratch import DamagedScratch

    entries = entries_by_name(journal)
    streamed = entries.pop("stream", [])
    if NO_STREAM in entries:
        return solve_compiled(game, executor, budget, journal, entries, listener, pause, waves="all waves"), None
    limit = LARGEST_IN_MEMORY if defines(game, "tier") else None
    if not streamed:
        try:
            return solve_compiled(game, executor, budget, journal, entries, listener, pause, limit), None
        except TooLarge:
            pass
    expected = executor.submit(estimate, game, workers, *QUICK)  # while the first waves keep one worker busy

    def waves() -> list[int]:
        written = sum(file.stat().st_size for file in place.scratch.iterdir())
        check_disk(game, place.path.parent, expected.result(), written)
        return expected.result().waves

    log = Log(journal, "stream", streamed, pause)
    arguments = game, place.scratch, executor, workers, budget, log, listener, waves, LARGEST_IN_MEMORY
    try:
        try:
            return solve_streamed(*arguments)
        except DamagedScratch:
            if not streamed:  # what this very solve has put aside: the disk is at fault
                raise
            StreamLog(log).forget_all()
            log.resumed.clear()
            return solve_streamed(*arguments)
    except NotStreamed:
        journal.append(NO_STREAM)
        journal.sync()  # before the lists are gone that it speaks of
        shutil.rmtree(place.scratch, ignore_errors=True)
        return solve_compiled(game, executor, budget, journal, entries, listener, pause, waves="all waves"), None


def entries_by_name(journal: Journal) -> Entries:
    """Return what is in a journal."""
    entries: Entries = {}
    for name, arrays in journal.entries():
        entries.setdefault(name, []).append(arrays)
    return entries


def solve_compiled(
    game: Game, executor: Executor, budget: MemoryBudget, journal: Journal, entries: "Entries",
    listener: Listener | None, pause: float, limit: int | None = None, waves: str = "wave",
) -> Solved:  # fmt: skip
    """Return the solved game, solved in memory; raise TooLarge where more positions than a limit could be streamed.

    *waves* is what explored positions are called in the journal.
    """
    # numba takes a while to import: not for small games
    from retrograde.solver.listed.explore import Explorer
    from retrograde.solver.listed.legend import solved_from
    from retrograde.solver.listed.tiers import Scores
    from retrograde.solver.rules.expansion import Expander, NotCompilable

    expander = Expander(game)
    log = Log(journal, waves, entries.pop(waves, []), pause)
    try:
        explorer = Explorer(expander, executor, budget, limit)
        space = explorer.explore(start_of(game), log, Phase("exploring", listener))
        for bits in PLIES_BITS:
            budget.check(Scores.bytes_needed(game, space, bits), f"solving {len(space.positions):,} positions")
            scores = Scores(expander, space, bits)
            log = Log(journal, f"scores{bits}", entries.pop(f"scores{bits}", []), pause)
            try:
                solve_tiers(scores, executor, budget, log, Phase("solving", listener, len(space.positions)))
                return solved_from(scores, executor)
            except RemotenessOverflow:
                if bits == PLIES_BITS[-1]:
                    raise
    except NotCompilable as error:  # also of parents(), which is compiled only when it is asked for
        warnings.warn(f"{error}; solving it interpreted, which is slow", stacklevel=2)
        return cast(Solved, solve_interpreted(game, budget))
    raise AssertionError("unreachable")


def solve_dense(
    game: Game, executor: Executor, budget: MemoryBudget, journal: Journal, listener: Listener | None, pause: float,
    path: Path | None,
) -> DenseSolved:  # fmt: skip
    """Return the solved game, every slot of it, having gone through all phases but the writing.

    Tiers are taken from other databases, those beside *path* among them, unless it is None.
    """
    from retrograde.solver.numbered.dense import DenseScores
    from retrograde.solver.numbered.legend import dense_solved_from
    from retrograde.solver.numbered.reuse import find_sources, take
    from retrograde.solver.rules.expansion import NotCompilable

    numbering = Numbering.of(game)
    entries = entries_by_name(journal)
    for bits in PLIES_BITS:
        budget.check(DenseScores.bytes_needed(numbering, bits), f"solving {numbering.slots:,} slots of positions")
        log = Log(journal, f"scores{bits}", entries.pop(f"scores{bits}", []), pause)
        try:
            scores = DenseScores(game, numbering, bits, executor)
            sources = find_sources(scores, path) if path else {}
            phase = Phase("solving", listener, numbering.slots)
            scores.solve(log, phase, take(scores, sources, sources))
            return dense_solved_from(scores)
        except NotCompilable as error:
            warnings.warn(f"{error}; solving it interpreted, which is slow", stacklevel=2)
            return cast(DenseSolved, solve_interpreted(game, budget))
        except RemotenessOverflow:
            if bits == PLIES_BITS[-1]:
                raise
    raise AssertionError("unreachable")


def solve_tiers(scores: "Scores", executor: Executor, budget: MemoryBudget, log: Log, phase: Phase) -> None:
    """Solve all tiers, last first, less those in the log."""
    from retrograde.solver.listed.cyclic import solve_cyclic
    from retrograde.solver.listed.explore import TASK, run, tasks
    from retrograde.solver.listed.tiers import levels

    space = scores.space
    done: set[int] = set()
    for solved, *arrays in log.resumed:
        done.update(solved.tolist())
        phase.skip(scores.restore(solved, *arrays))
    tiers = space.tiers.tolist()
    for group in levels(tiers, space.edges):
        rows = [row for row in group if row not in done]
        cyclic = [row for row in rows if (tiers[row], tiers[row]) in space.edges]
        plain = [(row, len(range(*scores.stretch(row)))) for row in rows if row not in cyclic]
        for positions in run(executor, scores.sweep, tasks(plain, least=TASK * min(scores.longer, 4)), log.write):
            phase.advance(positions, tiers[group[-1]])
        for row in cyclic:
            solve_cyclic(scores, row, executor, budget)
            phase.advance(len(range(*scores.stretch(row))), tiers[row])
        log.add(partial(scores.extract, rows))
    phase.tell()
