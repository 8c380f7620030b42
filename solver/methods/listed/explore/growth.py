"""Exploration that may never end: says now and then that there are still more positions, and how many a wave finds."""

import time
import warnings

FIRST, LATER = 8.0, 8
"""Seconds until it is said for the first time, and how many times as long each later time takes."""


class Growth:
    """Counts the waves of an exploration."""

    def __init__(self) -> None:
        self.began = 0.0
        self.due = FIRST
        self.waves = 0

    def wave(self, new: int, known: int) -> None:
        """Count a wave that found so many new positions, of those known; warn if exploring has taken long."""
        self.waves += 1
        if self.waves == 1:  # the time of the first wave is that of the compiler
            self.began = time.monotonic()
        if not new or time.monotonic() - self.began < self.due:
            return
        self.due *= LATER
        grown = f"{known:,} after {self.waves:,} waves, {new:,} of them new in the last one"
        advice = "if play goes on to ever new positions, stop the solve with Ctrl-C and give the rules a limit"
        warnings.warn(f"the number of positions is still growing: {grown}; {advice}", stacklevel=2)
