"""Warns when an exploration keeps finding new positions, because the rules may never end."""

import time
import warnings

FIRST, LATER = 8.0, 8
"""Seconds until the first warning, and the factor by which each later pause grows."""


class Growth:
    """Counts the waves of an exploration and warns when it takes long."""

    def __init__(self) -> None:
        self.began = 0.0
        self.due = FIRST
        self.waves = 0

    def wave(self, new: int, known: int) -> None:
        """Count a wave that found *new* positions, of *known* in all; warn if exploring has taken long."""
        self.waves += 1
        if self.waves == 1:  # start the clock after it: the first wave compiles the rules
            self.began = time.monotonic()
        if not new or time.monotonic() - self.began < self.due:
            return
        self.due *= LATER
        grown = f"{known:,} after {self.waves:,} waves, {new:,} of them new in the last one"
        advice = "if play goes on to ever new positions, stop the solve with Ctrl-C and give the rules a limit"
        warnings.warn(f"the number of positions is still growing: {grown}; {advice}", stacklevel=2)
