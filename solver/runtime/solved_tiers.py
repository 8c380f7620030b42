"""Which tiers are solved, as whoever solves one of them is told."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Unsolved(Exception):
    """A tier leads to tier number *k*, which is not solved yet."""

    def __init__(self, k: int):
        super().__init__(k)
        self.k = k


class Solved:
    """Which tiers are solved, `flags` bool[T]. Where they are solved one after another none is ever waited for."""

    def __init__(self, flags: Array):
        self.flags = flags

    def wait_for(self, k: int) -> None:
        """Wait until a tier is solved."""
        raise Unsolved(k)
