"""The positions of a game, wave by wave: the solver's forward pass, as far as an audit of steps uses it."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from retrograde.games.game import Game
from retrograde.solver.streamed.forward import Forward, NotStreamed
from retrograde.solver.streamed.log import StreamLog
from retrograde.solver.streamed.segments import Segment, run
from retrograde.solver.work.memory import MemoryBudget
from retrograde.solver.work.progress import Phase
from retrograde.solver.work.scratch import Scratch

__all__ = ["Lists", "NotStreamed", "Segment", "listed"]

Array = np.ndarray[Any, Any]
Task = TypeVar("Task")
Result = TypeVar("Result")

CACHE_BYTES = 1 << 26
"""Memory for what is read of scratch files."""


@dataclass(frozen=True)
class Lists:
    """The lists of undecided positions: waves of tiers, by number; a tier is made of segments, which ascend.

    A segment says its `length`, and its `first` and `last` position. `over`, int64[5, 4], has for each primitive value
    how many positions have it, how many with all images, and the tier and the number of the first.
    """

    waves: list[dict[int, list[Segment]]]
    over: Array
    load: Callable[[Segment], Array]
    """Returns the positions of a segment."""
    executor: Executor
    workers: int

    def run(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield what a function returns for some tasks as it comes, with a bounded number of them under way."""
        return run(self.executor, 2 * self.workers + 2, function, tasks)


@contextmanager
def listed(game: Game, executor: Executor, beside: Path, phase: Phase) -> Iterator[Lists]:
    """List the positions of a game, in files in a folder, which are gone afterwards; raise NotStreamed where it cannot
    be done."""
    workers = getattr(executor, "_max_workers", os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(".scratch", dir=beside if os.access(beside, os.W_OK) else None) as folder:
        scratch = Scratch(Path(folder), CACHE_BYTES)
        try:
            forward = Forward(game, scratch, executor, workers, MemoryBudget(), StreamLog(None))
            forward.explore(phase)
            waves = [{number: tier.segments for number, tier in wave.items()} for wave in forward.waves]
            yield Lists(waves, forward.over, forward.load, executor, workers)
        finally:
            scratch.close()
