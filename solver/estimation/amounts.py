"""Amounts as ranges, and the measured ratios from which estimates are made."""

from dataclasses import dataclass
from typing import Any, NamedTuple

CODE_BITS = 14
"""Bits for plies that a solve begins with."""
SECOND_WORKER = 0.75
"""What each further worker adds to the speed of the first."""


class Range(NamedTuple):
    """An amount as its least, likely and greatest number; the greatest is None if unknown."""

    low: float
    likely: float
    high: float | None

    def __add__(self, other: Any) -> "Range":
        """Return the sum with a number or a range."""
        low, likely, high = other if isinstance(other, Range) else (other, other, other)
        return Range(
            self.low + low, self.likely + likely, None if self.high is None or high is None else self.high + high
        )

    def times(self, ratio: "Range | float", power: float = 0.0) -> "Range":
        """Return the product with a number or a range. With *power*, the ratio changes with the amount.

        The ratio holds for 35 million, and is multiplied by (amount / 35 million) ** power.
        """
        ratios = ratio if isinstance(ratio, Range) else Range(ratio, ratio, ratio)
        low, likely, high = (
            None if a is None or b is None else a * b * (max(a, 1) / 35e6) ** power
            for a, b in zip(self, ratios, strict=True)
        )
        return Range(low or 0.0, likely or 0.0, high)


@dataclass(frozen=True)
class Ratios:
    """What was measured of one method: seconds, and bytes for each record.

    `seconds` is for each second of calling the rules or, if the game numbers its positions, for each slot. `start` is
    seconds before the work begins. `memory`, `scratch` and `database` are bytes for each record, `fixed_memory` bytes
    for the process. `source` names the solves that were measured.
    """

    seconds: Range
    start: Range
    memory: Range
    fixed_memory: Range
    scratch: Range
    database: Range
    source: str
    power: float = 0.0
    """How disk bytes for each record change with the number of records (see `Range.times`)."""


NOTHING = Range(0.0, 0.0, 0.0)

MB = 1e6
LISTED = Ratios(
    Range(4.0, 8.0, 14.0), Range(0.8, 1.2, 3.0), Range(8, 22, 32), Range(150 * MB, 175 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.4, 0.52, 0.75), "solves of Connect Four 4×4 to 5×4",
)  # fmt: skip
CYCLIC = Ratios(
    Range(6.0, 12.0, 30.0), Range(0.8, 1.2, 3.0), Range(20, 26, 45), Range(150 * MB, 175 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.1, 0.7, 1.1), "solves of dodgem 3×3 and 4×4 and the L-game",
)  # fmt: skip
STREAMED = Ratios(
    Range(2.0, 2.9, 4.5), Range(1.0, 1.6, 12.0), Range(0.02, 0.035, 0.05), Range(240 * MB, 250 * MB, 330 * MB),
    Range(0.10, 0.14, 0.30), Range(0.085, 0.11, 0.24), "solves of Connect Four 5×5 to 6×6, and a plain file of 5×5",
    -0.095,
)  # fmt: skip
WORDS = Ratios(
    Range(0.3, 0.6, 1.4), Range(1.5, 2.5, 12.0), Range(1.6, 2.7, 3.4), Range(240 * MB, 260 * MB, 350 * MB),
    Range(0.04, 0.11, 0.24), Range(0.085, 0.11, 0.24), "solves of Connect Four 5×5 to 6×5, word by word", -0.095,
)  # fmt: skip
WORDS_ASIDE = Ratios(
    Range(0.4, 1.0, 2.0), Range(1.5, 2.5, 12.0), Range(0, 0.02, 0.04), Range(1500 * MB, 4500 * MB, 8000 * MB),
    Range(0.10, 0.17, 0.30), Range(0.085, 0.11, 0.24), "a solve of Connect Four 8×4, word by word in scratch files",
    -0.095,
)  # fmt: skip
NUMBERED = Ratios(
    Range(0.7e-6, 1.3e-6, 2.2e-6), Range(0.8, 1.2, 20.0), Range(11.0, 12.0, 23.0), Range(165 * MB, 185 * MB, 215 * MB),
    Range(2.0, 4.0, 4.0), Range(0.08, 0.16, 0.33), "solves of chess slot by slot (KRK to KRBKR)",
)  # fmt: skip
BY_SETS = Ratios(
    Range(0.06e-6, 0.12e-6, 0.35e-6), Range(0.8, 1.2, 20.0), Range(0, 0, 0), Range(165 * MB, 180 * MB, 215 * MB),
    Range(2.0, 4.0, 4.0), Range(0.08, 0.16, 0.33), "solves of chess set by set (KRK to KRBKR)",
)  # fmt: skip
BY_SLOT = Ratios(
    Range(10e-6, 40e-6, None), Range(10, 15, 30), Range(0, 0, 0), Range(165 * MB, 235 * MB, 300 * MB),
    Range(16, 16, 16), Range(0.01, 6.5, 9), "solves of the Royal Game of Ur with two and three pieces",
)  # fmt: skip
SCORED = Ratios(
    Range(3, 15, 80), Range(1.5, 4, 15), Range(40, 95, 150), Range(165 * MB, 190 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.1, 0.7, 2.0), "solves of Connect Four 5×4 and dodgem 4×4 by score and draw level",
)  # fmt: skip
IMPARTIAL = Ratios(
    Range(3, 15, 80), Range(1.5, 5, 15), Range(40, 95, 150), Range(165 * MB, 200 * MB, 230 * MB),
    Range(0.5, 1.0, 1.5), Range(0.1, 0.8, 2.0), "solves of cram 4×4 and 5×4 by nimber",
)  # fmt: skip
EXPECTED = Ratios(
    Range(10, 110, 600), Range(2, 6, 20), Range(30, 110, 260), Range(165 * MB, 200 * MB, 240 * MB),
    Range(0.5, 1.0, 3.0), Range(0.1, 4.0, 24.0),
    "solves of Can't Stop 3,2, Pig to 40 and the Royal Game of Ur with three pieces",
)  # fmt: skip
BY_METRIC = {"score": SCORED, "drawlevel": SCORED, "nimber": IMPARTIAL, "utilities": SCORED, "expectation": EXPECTED}
"""Measured ratios of solves with positions listed in memory, by metric."""
CACHE = 250 * MB
"""Bytes of scratch files that the streamed method caches in memory."""
TASK = 150 * MB
"""Bytes that a worker of the streamed method takes, in games of many positions."""
LINK = Range(0.0, 4.5, 6.5)
"""Bytes for each child in a tier with cycles, if the rules do not give parents: in memory if it fits, else in scratch
files."""
COMPILED = 295 * MB
"""Memory without which no rules are compiled: the process and the compiler (see engine.py)."""
COMPILED_ASIDE = 370 * MB
"""The same if all lists lie in scratch files, including tasks. (350 MB suffice for 3.5 million positions, 410 for 5.2
million.)"""
ASIDE = 3.0
"""Bytes for each position of a tier with cycles that stay in memory if all lists lie in scratch files."""
LINKED = Range(0.0, 12.0, 40.0)
"""Bytes for each child in a tier with cycles, for other metrics than remoteness."""


def speed_of(workers: int) -> float:
    """Return how many times as fast as one worker some workers are."""
    return 1 + SECOND_WORKER * (workers - 1)
