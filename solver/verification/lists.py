"""All positions of a game, wave by wave. This is all that an audit of steps uses of the solver: its forward pass."""

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.streamed.forward import ForwardSweep
from retrograde.solver.methods.streamed.segments import Segment
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import NotApplicable, Work

__all__ = ["Lists", "NotApplicable", "Segment", "listed"]

Array = np.ndarray[Any, Any]
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Lists:
    """Lists of the undecided positions of a game.

    `waves` are dicts from tier number to segments; a tier's segments ascend. A segment has a `length`, and its `first`
    and `last` position. `over` int64[5, 4] has for each primitive value: how many positions have it, how many with all
    images, and the tier and number of the first.
    """

    waves: list[dict[int, list[Segment]]]
    over: Array
    load: Callable[[Segment], Array]
    """Returns the positions of a segment."""
    work: Work


@contextmanager
def listed(game: Game, executor: Executor, beside: Path, phase: Phase) -> Iterator[Lists]:
    """List the positions of a game in a temporary folder, which is removed afterwards.

    The folder is created in *beside*, if that is writable. Raises NotApplicable if the forward pass does not apply to
    the game.
    """
    workers = getattr(executor, "_max_workers", os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(".scratch", dir=beside if os.access(beside, os.W_OK) else None) as folder:
        # The same forward pass as the streamed solver's.
        forward = ForwardSweep(game, Work(executor, workers, MemoryBudget(), None, Path(folder)))
        try:
            forward.explore(phase)
            waves = [{number: tier.segments for number, tier in wave.items()} for wave in forward.waves]
            yield Lists(waves, forward.over, forward.load, forward.work)
        finally:
            forward.scratch.close()
