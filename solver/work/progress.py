"""Progress: what a solve tells while it works."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Progress:
    """How far a phase has come: positions done, of how many (None while unknown), and seconds since it began.

    *tier* is the last tier worked on. *resumed* positions were done before a restart.
    """

    phase: str
    done: int
    total: int | None
    seconds: float
    tier: int | None = None
    resumed: int = 0

    @property
    def rate(self) -> float:
        """Positions a second."""
        return (self.done - self.resumed) / self.seconds if self.seconds else 0.0

    @property
    def share(self) -> float | None:
        """What is done of the phase, from 0 to 1; None while that cannot be told."""
        return min(self.done / self.total, 1.0) if self.total else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the phase ends if the rate holds; None while that cannot be told."""
        if self.total is None or not self.rate:
            return None
        return (self.total - self.done) / self.rate


Listener = Callable[[Progress], None]


@dataclass
class Phase:
    """Counts the positions of one phase and tells a listener now and then."""

    name: str
    listener: Listener | None
    total: int | None = None
    done: int = 0
    resumed: int = 0
    began: float = field(default_factory=time.monotonic)
    told: float = 0.0
    often: ClassVar[float] = 0.1
    """Seconds between two times that the listener is told."""

    def advance(self, positions: int, tier: int | None = None) -> None:
        """Count positions done, and tell of it now and then."""
        self.done += positions
        self.working(0, tier)

    def working(self, positions: int, tier: int | None = None) -> None:
        """Tell now and then of positions that are under way, beside those done."""
        now = time.monotonic()
        if self.listener and now - self.told >= self.often:
            self.told = now
            self.tell(tier, positions)

    def skip(self, positions: int) -> None:
        """Count positions that were done before a restart."""
        self.done += positions
        self.resumed += positions

    def tell(self, tier: int | None = None, under_way: int = 0) -> None:
        """Tell the listener how far the phase has come."""
        if self.listener:
            seconds = time.monotonic() - self.began
            self.listener(Progress(self.name, self.done + under_way, self.total, seconds, tier, self.resumed))
