"""Knows at which position each running kernel is, so that messages can name it.

Ctrl-C asks for rules that never return, and errors of compiled rules name their position.

Every call of a kernel that calls rules is made inside `watch_kernel`. The kernel writes each position to its trouble
array before it calls the rules for it (see kernels.py). While the kernel runs, `RUNNING` holds that array.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, Traits
from retrograde.solver.runtime.array_type import Array

NOWHERE = -1
"""Stands for a position before a kernel has passed one to the rules; it may still be compiling."""

RUNNING: dict[int, tuple[Game, Array]] = {}
"""The games and trouble arrays of running kernels, by the array's id. Each thread adds and removes its own."""


def trouble_array(game: Game, count: int = 2) -> Array:
    """Return a trouble array: *count* entries (code, key of the position, others) and one for each word of a tuple."""
    return np.zeros(count + Traits.of(game).width, np.int64)


def noted_position(game: Game, trouble: Array) -> Any:
    """Return the position that a trouble array holds."""
    width = Traits.of(game).width
    return tuple(trouble[-width:].tolist()) if width else int(trouble[1])


@contextmanager
def watch_kernel(game: Game, trouble: Array) -> Iterator[None]:
    """Register *trouble* (see `trouble_array`) as the array of a kernel that runs inside this context."""
    trouble[1] = NOWHERE
    RUNNING[id(trouble)] = game, trouble
    try:
        yield
    finally:
        RUNNING.pop(id(trouble), None)


def noted_positions() -> dict[int, int]:
    """Return the position at which each running kernel is, by its key in RUNNING."""
    return {key: int(trouble[1]) for key, (_, trouble) in list(RUNNING.items()) if trouble[1] != NOWHERE}


def stuck_since(before: dict[int, int]) -> str:
    """Return a message if a kernel is still at the position at which `noted_positions` found it *before*, else ""."""
    now = noted_positions()
    for key, (game, trouble) in list(RUNNING.items()):
        position = before.get(key)
        if position is not None and now.get(key) == position:
            return f"the rules of {variant(game)} go on and on at position {noted_position(game, trouble)}"
    return ""
