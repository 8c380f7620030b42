"""Chooses the methods to try for a game, and solves it by the first one that fits.

    remoteness    interpreted -> numbered, or set-wise -> listed -> set-wise -> streamed     the first that fits
    expectation   slot by slot if there are many slots, or else in lists
    score         slot by slot if positions are numbered, or else in lists
    others        in lists

Each method is imported only when its turn comes, because its kernels take a while to load.
"""

import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.databases.write import SolvedRecords, SolvedRows, SolvedSlots
from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, Traits
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.interpreted import Patience, solve_interpreted
from retrograde.solver.methods.chess.fit import is_chess
from retrograde.solver.methods.numbered.numbering import SlotNumbering, is_by_slot
from retrograde.solver.methods.numbered.orientations import is_oriented
from retrograde.solver.methods.shapes.fit import is_shaped
from retrograde.solver.options import COMPILED, EXPECTATION, SCORE, CannotSolve, Method, SolveOptions
from retrograde.solver.rules.examine import NotCompilable
from retrograde.solver.rules.plain.screening import may_be_plain
from retrograde.solver.runtime.memory import MemoryBudget, MemoryLimit, address_space, format_size
from retrograde.solver.runtime.progress import Course, Listener, Phase, announce
from retrograde.solver.runtime.work import NotApplicable, Work

COMPILER_BYTES = 230_000_000
"""Bytes of memory that the compiler takes, its own work included. Chess, with no machine code cached, comes to 272 MB
in all.
"""

COMPILER_SPACE = 280_000_000
"""Bytes of address space that the compiler and its machine code take. Connect4 fails with 225 MB left, and works with
287.
"""


def try_interpreted(
    game: Game, budget: MemoryBudget, options: SolveOptions
) -> SolvedRecords | SolvedRows | SolvedSlots | None:
    """Return the game solved by the interpreted method, or None if that is not the method to use."""
    if not options.by_remoteness:
        return None
    if options.method == "interpreted":
        return solve_interpreted(game, budget, interpreted_phase(options.listener))
    sizes = options.sizes
    traits = Traits.of(game)
    many_slots = traits.is_numbered and SlotNumbering.of(game).slots > sizes.interpreted_slots
    if many_slots or options.method is not None:
        return None
    phase = interpreted_phase(None)

    def compiler_seconds() -> float:
        """Return about how long compiling would take; `Patience` calls this after the first seconds."""
        expect_compiler(budget)
        phase.listener = options.listener  # from now on it takes long enough to be reported
        if is_compiled(game):
            return 0.0
        return sizes.rules_seconds if loops_are_compiled(game) else sizes.uncompiled_seconds

    patience = Patience(sizes.interpreted_seconds, sizes.uncompiled_seconds, compiler_seconds)
    return solve_interpreted(game, budget, phase, patience)


def interpreted_phase(listener: Listener | None) -> Phase:
    """Return the progress counter of an interpreted solve."""
    course = Course()
    course.plan(exploring=0.8, solving=0.2)
    return Phase("exploring", listener, course=course)


def expect_compiler(budget: MemoryBudget) -> None:
    """Raise MemoryLimit if numba is not loaded and too little memory is free for it: LLVM would kill the process."""
    if "numba" not in sys.modules:
        if (space := address_space()) and space[1] < COMPILER_SPACE:
            raise MemoryLimit(
                f"compiling the rules needs {format_size(COMPILER_SPACE)} of address space, and of the "
                f"{format_size(space[0])} that `ulimit -v` allows {format_size(space[1])} are left; raise that limit"
            )
        budget.check(COMPILER_BYTES, "compiling the rules")


def is_compiled(game: Game) -> bool:
    """Return whether machine code of these rules is cached."""
    from retrograde.solver.rules.compiled import is_cached  # imported here, because it imports numba
    from retrograde.solver.rules.entry_kernels import KERNELS

    return is_cached(game, KERNELS.values())


def loops_are_compiled(game: Game) -> bool:
    """Return whether machine code of the loops is cached. Only the rules of the game then remain to be compiled."""
    from retrograde.solver.rules import kernels
    from retrograde.solver.rules.port import port_type
    from retrograde.solver.runtime.kernel import is_cached_for

    return is_cached_for(kernels.expand, port_type(Traits.of(game).width))


def solve_compiled(game: Game, path: Path, options: SolveOptions, work: Work) -> Any:
    """Return the game solved by the first compiled method that fits; the journal records those that do not.

    Rules that do not compile run interpreted if the metric is remoteness. Raise CannotSolve if no method fits.
    """
    reason = ""
    for method in methods_for(game, path, options):
        misfit = work.log(f"not by {method!r}")
        if reasons := [text.tobytes().decode() for (text,) in misfit.resumed]:  # by an earlier run of this solve
            reason = reasons[-1]
            continue
        announce(work.listener, "compiling the rules")
        try:
            return method.solve(game, work)
        except NotApplicable as error:
            reason = str(error)
            misfit.add((np.frombuffer(reason.encode(), np.uint8),))
            misfit.settle()  # before the files are deleted that the journal refers to
            work.course.plan()
            shutil.rmtree(work.scratch, ignore_errors=True)
        except NotCompilable as error:  # also from parents(), which is compiled only when needed
            if not options.by_remoteness:
                raise
            warnings.warn(f"{error}; solving it interpreted, which is slow", stacklevel=2)
            return solve_interpreted(game, work.budget, interpreted_phase(work.listener))
    traits = Traits.of(game)
    kind = "it numbers its positions" if traits.is_numbered else "it does not number its positions"
    words = ", and they are tuples" if traits.width and not traits.is_numbered else ""
    raise CannotSolve(
        f"{variant(game)} cannot be solved by the method that was asked for: {reason or kind + words}; "
        "leave out the method, and one that fits is chosen"
    )


def methods_for(game: Game, path: Path, options: SolveOptions) -> Iterator[Method]:
    """Yield the compiled methods to try for a game, in order, or the one asked for."""
    if not isinstance(options.method, str | None):
        yield options.method
    elif options.metric in PROGRESS_METRICS:
        from retrograde.solver.methods.numbered.method import NumberedMethod

        yield NumberedMethod(path, by_sets=True, fresh=options.fresh, metric=options.metric)
    elif not options.by_remoteness:
        yield from methods_by_metric(game, options)
    elif Traits.of(game).is_numbered:
        has_choice = options.method in (None, COMPILED)
        allowed = ["setwise", "numbered"] if has_choice else [options.method]
        by_sets = "setwise" in allowed and (is_chess(game) or is_shaped(game) or is_oriented(game))
        if by_sets or "numbered" in allowed:
            from retrograde.solver.methods.numbered.method import NumberedMethod

            yield NumberedMethod(path, by_sets=by_sets, fresh=options.fresh)
    else:
        yield from methods_of_lists(game, options)


def methods_by_metric(game: Game, options: SolveOptions) -> Iterator[Method]:
    """Yield the methods for a metric other than remoteness."""
    from retrograde.solver.metrics.method import MetricMethod, MetricOptions

    if is_solved_by_slot(game, options):
        if options.metric == EXPECTATION:
            from retrograde.solver.metrics.slots.method import SlotBoundsMethod

            yield SlotBoundsMethod()
        else:
            from retrograde.solver.metrics.slots.scores import SlotScoresMethod

            yield SlotScoresMethod()
        if options.method == "numbered":
            return
    yield MetricMethod(MetricOptions(options.metric, options.ties, options.against))


def is_solved_by_slot(game: Game, options: SolveOptions) -> bool:
    """Return whether to compute payoffs or scores slot by slot: there are many slots, or an option says so."""
    if options.metric not in (EXPECTATION, SCORE) or options.against or options.method == "listed":
        return False
    any_size = options.method == "numbered" or options.metric == SCORE or Traits.of(game).width
    return is_by_slot(game, 0 if any_size else options.sizes.listed_slots)


def methods_of_lists(game: Game, options: SolveOptions) -> Iterator[Method]:
    """Yield the methods for a game that does not number its positions.

    The order: set-wise early if a glance suggests it, lists up to a limit, set-wise again, then streamed. The early try
    gives up if no tier seems large enough. Positions of several words are not solved set-wise.
    """
    fitting = ["listed", "streamed"] if Traits.of(game).width else ["listed", "setwise", "streamed"]
    allowed = [name for name in fitting if options.method in (name, None, COMPILED)]
    if not allowed:
        return
    has_choice = len(allowed) > 1
    tries_setwise = "setwise" in allowed and (not has_choice or may_be_plain(game))
    if tries_setwise:
        from retrograde.solver.estimation.estimate import RunningOutlook
        from retrograde.solver.methods.setwise.method import Setwise

        yield Setwise(RunningOutlook, early=has_choice)
    from retrograde.solver.methods.listed.method import ListedMethod

    if has_choice:
        yield ListedMethod(limited=True)
        if tries_setwise:
            yield Setwise(RunningOutlook)
    if "streamed" in allowed:
        from retrograde.solver.estimation.estimate import RunningOutlook
        from retrograde.solver.methods.streamed.method import StreamedMethod

        yield StreamedMethod(RunningOutlook)
    if "listed" in allowed:
        yield ListedMethod()
