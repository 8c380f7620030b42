"""What compiled rules are being asked about just now, so that rules which never answer can be named.

A kernel writes each position to its array of troubles before it asks the rules about it (see kernels.py); as long as it
runs, that array is here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, width_of

Array = np.ndarray[Any, Any]

NOWHERE = -1
"""In the place of a position, before a kernel has looked at any: it may be compiling yet."""

ASKED: dict[int, tuple[Game, Array]] = {}
"""The games and the arrays of troubles of the kernels that run. (Each thread adds and takes away its own.)"""


def troubles(game: Game, count: int = 2) -> Array:
    """Return an array of troubles of so many entries: what is wrong, the position, and others. Behind them is room for
    a position that is a tuple, of which the second entry is a key."""
    return np.zeros(count + width_of(game), np.int64)


def asked_in(game: Game, trouble: Array) -> Any:
    """Return the position that an array of troubles speaks of."""
    width = width_of(game)
    return tuple(trouble[-width:].tolist()) if width else int(trouble[1])


@contextmanager
def asking(game: Game, trouble: Array) -> Iterator[None]:
    """Let it be known, within, that a kernel asks the rules, and writes to *trouble* (see `troubles`) about what."""
    trouble[1] = NOWHERE
    ASKED[id(trouble)] = game, trouble
    try:
        yield
    finally:
        ASKED.pop(id(trouble), None)


def positions_asked() -> dict[int, int]:
    """Return the position that each running kernel looks at, by a number for the kernel's call."""
    return {key: int(trouble[1]) for key, (_, trouble) in list(ASKED.items()) if trouble[1] != NOWHERE}


def stuck_since(before: dict[int, int]) -> str:
    """Return in words the first position that a kernel looked at *before* and looks at still; nothing if none does."""
    now = positions_asked()
    for key, (game, trouble) in list(ASKED.items()):
        position = before.get(key)
        if position is not None and now.get(key) == position:
            return f"the rules of {variant(game)} go on and on at position {asked_in(game, trouble)}"
    return ""
