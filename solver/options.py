"""The options of `solve`, what a method of solving is, and which options exclude one another."""

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from retrograde.games.contract.game import METRICS, REMOTENESS, Game, RetrogradeError
from retrograde.games.contract.zeroing import DTC, DTZ, PROGRESS_METRICS
from retrograde.solver.methods.chess.fit import is_chess
from retrograde.solver.metrics.models.model import Model
from retrograde.solver.runtime.memory import parse_size
from retrograde.solver.runtime.progress import Listener
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import Work

EXPECTATION = "expectation"
SCORE = "score"
BY_NUMBER = REMOTENESS, *PROGRESS_METRICS
"""Metrics that are solved for every slot of a numbering, and that may rest on other databases."""

METHODS = ("interpreted", "listed", "setwise", "streamed", "numbered")
"""The names of the methods."""
COMPILED = "compiled"
"""The name for any method but the interpreted one."""


class CannotSolve(RetrogradeError, ValueError):
    """The method or the metric asked for does not suit the game."""


class Method(Protocol):
    """Solves games with compiled rules."""

    @property
    def name(self) -> str:
        """The name of the method, also in the journal."""

    def solve(self, game: Game, work: Work) -> Any:
        """Return the solved game for the writer; raise NotApplicable if this method does not suit the game."""


@dataclass(frozen=True)
class SolveOptions:
    """Options of `solve`.

    - *metric*: what to compute, one of METRICS; the game's own if "".
    - *ties*: how utilities choose among equally good moves: "first", "leader", "average" or "paranoid".
    - *against*: a model of the opponent; computes the expected payoffs of a best response to it. If the model
      distinguishes symmetric positions, the database stores all of them.
    - *workers*: the number of threads; one for each core if None.
    - *memory*: the most bytes to use, also as a text such as "1.5G"; what is free if None.
    - *fresh*: begin again. Otherwise an interrupted solve resumes, and a game that numbers its positions takes tiers
      from other databases that have them.
    - *listener*: gets Progress objects.
    - *method*: one of METHODS or an object, or "compiled" for any but the interpreted one; the best if None.
    - *executor*: runs the tasks, with its number of workers. It may also be a client of Dask; then the database must be
      in a folder that its workers see.
    - *sizes*: thresholds, such as the sizes of tasks.
    """

    metric: str = ""
    ties: str = ""
    against: Model | None = None
    workers: int | None = None
    memory: int | str | None = None
    fresh: bool = False
    listener: Listener | None = None
    method: str | Method | None = None
    executor: Executor | None = None
    sizes: Sizes = field(default_factory=Sizes)

    def __post_init__(self) -> None:
        """Raise CannotSolve for workers or memory that are no whole numbers. Memory may also be a text."""
        if isinstance(self.memory, str):
            try:
                object.__setattr__(self, "memory", parse_size(self.memory))
            except ValueError as error:
                raise CannotSolve(f"memory: {error}") from error
        numbers: list[tuple[str, Any, int]] = [("workers", self.workers, 1), ("memory", self.memory, 0)]
        for name, given, least in numbers:
            if given is not None and not is_whole(given, least):
                raise CannotSolve(f"{name} is {given!r}; give a whole number, at least {least}")

    @property
    def memory_bytes(self) -> int | None:
        """The most bytes of memory to use; None for what is free."""
        return None if self.memory is None else int(self.memory)

    @property
    def by_remoteness(self) -> bool:
        """Whether remoteness is computed."""
        return self.metric == REMOTENESS


def is_whole(number: Any, least: int) -> bool:
    """Return whether something is a whole number, and at least *least*."""
    try:
        return bool(least <= number == int(number))
    except (TypeError, ValueError, OverflowError):
        return False


def refuse_combination(game: Game, options: SolveOptions) -> None:
    """Raise CannotSolve if options exclude one another or do not suit the game. The metric must be set."""
    metric, method, against = options.metric, options.method, options.against
    if metric not in METRICS:
        raise CannotSolve(f"no metric {metric!r}; the metrics are {', '.join(METRICS)}")
    if isinstance(method, str) and method not in (*METHODS, COMPILED):
        raise CannotSolve(f"no method {method!r}; the methods are {', '.join(METHODS)}")
    if options.by_remoteness and game.players > 2:
        raise CannotSolve(f"remoteness is for one player or two, not for {game.players}; compute utilities")
    if against and metric != EXPECTATION:
        raise CannotSolve(
            f"a best response to a model is computed by expectation, not by {metric}; leave out the metric"
        )
    if against and options.executor and not isinstance(options.executor, ThreadPoolExecutor):
        raise CannotSolve("a best response is computed on threads only, because a model may have a database open")
    if metric in PROGRESS_METRICS and (not is_chess(game) or method not in (None, COMPILED, "setwise")):
        name = {DTZ: "zeroing", DTC: "conversion"}[metric]
        raise CannotSolve(
            f"{metric}, the distance to {name}, is computed for chess endgames only, by the set-wise method"
        )
