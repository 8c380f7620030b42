"""Which tiers are solved, for code that solves one of them."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Unsolved(Exception):
    """A tier leads to tier number *k*, which is not solved yet."""

    def __init__(self, k: int):
        super().__init__(k)
        self.k = k


class SolvedTiers:
    """Which tiers are solved: `flags` is bool[T]. If tiers are solved one after another, none ever waits."""

    def __init__(self, flags: Array):
        self.flags = flags

    def wait_for(self, k: int) -> None:
        """Wait until tier k is solved; here, raise Unsolved."""
        raise Unsolved(k)
