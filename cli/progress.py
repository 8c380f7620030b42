"""Progress on standard error: one line on a terminal, rewritten in place; elsewhere a line now and then.

The line is composed of parts, as many as fit the terminal, the most important first; none is cut::

    solving 2 of 3   ━━━━━━━━━━━━────────   62 %   43.2 M of 69.8 M positions   12.5 M/s   4 s left
    phase            overall                       the phase's own count                   of all phases
"""

import json
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from retrograde.cli.render.words import amount, duration

if TYPE_CHECKING:
    from retrograde.solver.runtime.progress import Listener, Progress

    class LooksAt(Protocol):
        """A search, or who answers by one."""

        @property
        def looked_at(self) -> int: ...


QUIET_SECONDS = 30.0
"""Where standard error is no terminal, a line is written so seldom."""
JSON_SECONDS = 1.0
TICK_SECONDS = 0.5
"""On a terminal the clock in the line goes on, whatever the work is at: compiling, say."""
GAP = "   "
BAR = 8, 24
"""The least and the most columns of the bar."""

COMPILING = "compiling the rules"
"""What searches do first."""


class ProgressLine:
    """A listener for what works long, and a context manager that leaves no trace on the terminal. What it is *about*
    stands before each line."""

    def __init__(self, about: str = "") -> None:
        self.about = about and f"{about}  "
        self.stream = sys.stderr
        self.live = self.stream.isatty()
        self.told = time.monotonic()
        self.last: Progress | None = None
        self.heard = 0.0
        """When the last progress was told."""
        self.writing = threading.RLock()
        self.over = threading.Event()

    def __call__(self, progress: "Progress") -> None:
        now = time.monotonic()
        if self.live:
            self.show(progress)
        elif now - self.told >= QUIET_SECONDS:
            self.told = now
            self.stream.write(f"{self.about}{describe(progress)}\n")
            self.stream.flush()

    def show(self, progress: "Progress") -> None:
        """Put what is told in the place of the line before."""
        with self.writing:
            self.last, self.heard = progress, time.monotonic()
            self.rewrite(self.in_words(progress))

    def tick(self) -> None:
        """Let the clock in the line go on until all is over."""
        while not self.over.wait(TICK_SECONDS):
            with self.writing, suppress(OSError, ValueError):  # a terminal that is gone is complained of elsewhere
                passed = time.monotonic() - self.heard
                if self.last and passed >= TICK_SECONDS and not self.over.is_set():
                    self.rewrite(self.in_words(later(self.last, passed)))

    def in_words(self, progress: "Progress") -> str:
        """Return the line, no wider than the terminal."""
        width = width_of(self.stream) - 1 - len(self.about)
        return self.about + describe(progress, max(width, 1), fancy(self.stream))

    def rewrite(self, text: str) -> None:
        """Put a text in the place of the line before."""
        if self.live:
            with self.writing:
                self.stream.write("\r\x1b[K" + text)
                self.stream.flush()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        with self.writing:
            self.rewrite("")
            self.stream.write(text + "\n")

    def __enter__(self) -> "ProgressLine":
        if self.live:
            threading.Thread(target=self.tick, name="progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        with self.writing:
            self.last = None
            self.rewrite("")


class JsonProgress:
    """A listener that writes lines of JSON, one a second at most, to standard error; with the variant, if they are
    *about* one of several."""

    def __init__(self, about: str = "") -> None:
        self.about = {"variant": about} if about else {}
        self.told = 0.0
        self.phase = ""

    def __call__(self, progress: "Progress") -> None:
        now = time.monotonic()
        ended = progress.total is not None and progress.done >= progress.total
        if now - self.told < JSON_SECONDS and progress.phase == self.phase and not ended:
            return
        self.told, self.phase = now, progress.phase
        deciding = progress.deciding
        facts = self.about | {
            "phase": progress.phase,
            "done": progress.done,
            "total": progress.total,
            "share": progress.share,
            "seconds": round(progress.seconds, 3),
            "rate": round(progress.rate),
            "seconds_left": None if progress.seconds_left is None else round(progress.seconds_left, 1),
            "tier": progress.tier,
            "resumed": progress.resumed,
            "phase_number": progress.number,
            "phases": progress.phases,
            "overall_share": None if progress.overall is None else round(progress.overall, 4),
            "decided": deciding and deciding.decided,
            "to_decide": deciding and deciding.total,
            "remoteness": deciding and deciding.remoteness,
            "looked_again": deciding and deciding.again,
            "open": progress.open,
            "below": progress.below or None,
        }
        sys.stderr.write(json.dumps(facts) + "\n")
        sys.stderr.flush()

    def rewrite(self, text: str) -> None:
        """Leave out what is for a terminal."""

    def say(self, text: str) -> None:
        """Write a warning as JSON."""
        sys.stderr.write(json.dumps({"message": text}) + "\n")

    def __enter__(self) -> "JsonProgress":
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr.flush()


def listening(as_json: bool = False, about: str = "") -> ProgressLine | JsonProgress:
    """Return a listener for people, or one for programs."""
    return JsonProgress(about) if as_json else ProgressLine(about)


@contextmanager
def polled(listener: "Listener", how_far: Callable[[], "Progress"]) -> Iterator[None]:
    """Tell a listener every half a second how far something has come that does not tell by itself."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(TICK_SECONDS):
            listener(how_far())

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def search_progress(search: "LooksAt") -> Callable[[], "Progress"]:
    """Return what tells how far a search has come, from now on."""
    from retrograde.solver.runtime.progress import Progress

    began, nodes = time.monotonic(), search.looked_at
    return lambda: Progress("searching", search.looked_at - nodes, None, time.monotonic() - began)


def later(progress: "Progress", passed: float) -> "Progress":
    """Return what was told some seconds ago as it stands now, as far as a clock can tell."""
    left = progress.seconds_left
    return replace(
        progress,
        seconds=progress.seconds + passed,
        here=progress.rate,
        seconds_left=None if left is None else max(left - passed, 0.0),
    )


def describe(progress: "Progress", width: int = 10_000, fancy: bool = False) -> str:
    """Return a line that says how far all has come, of as many parts as fit into so many columns.

    What there is no room for is left out, or said more shortly, the least important first; a bar takes what room is
    left. Where the line goes on and on, as in a file, there is none.
    """
    of = f" {progress.number} of {progress.phases}" if progress.phases > 1 else ""
    below = f"{progress.below}: " if progress.below else ""
    overall = progress.overall
    drawn = overall is not None and width < 10_000
    rate = f"{amount(progress.rate)}/s" if progress.done and progress.rate else ""
    parts = [  # the most important first, each in words of its own, and in fewer
        ("phase", [below + progress.phase + of, progress.phase + of]),
        ("share", [f"{int(100 * overall + 1e-6):3d} %"] if overall is not None else []),
        ("left", [left_of(progress)]),
        ("bar", [bar(overall or 0, BAR[0], fancy)] if drawn else []),
        ("deciding", deciding_of(progress)),
        ("counts", counts_of(progress)),
        ("rate", [rate]),
    ]
    line = dict.fromkeys(("phase", "bar", "share", "counts", "rate", "left", "deciding"), "")
    for name, texts in parts:
        line[name] = next((text for text in texts if len(joined({**line, name: text})) <= width), "")
    if line["bar"]:
        columns = min(BAR[0] + width - len(joined(line)), BAR[1])
        line["bar"] = bar(overall or 0, columns, fancy)
    return joined(line)


def joined(parts: dict[str, str]) -> str:
    """Return the parts that there are, in their order."""
    return GAP.join(text for text in parts.values() if text)


def counts_of(progress: "Progress") -> list[str]:
    """Return how many positions are done, and of how many; nothing before there are any to be counted."""
    if progress.total is not None:
        count = f"{amount(progress.done)} of {amount(progress.total)}"
        return [f"{count} positions", count]
    if progress.open is not None:
        return [f"{amount(progress.done)} positions, {amount(progress.open)} open", amount(progress.done)]
    return [f"{amount(progress.done)} positions", amount(progress.done)] if progress.done else []


def left_of(progress: "Progress") -> str:
    """Return how long all of it will take yet; where that cannot be told, how long it has taken."""
    if progress.seconds_left is not None:
        return f"{whole_seconds(max(math.ceil(progress.seconds_left), 1))} left"
    return f"for {whole_seconds(int(progress.seconds))}" if progress.seconds >= 1 and progress.overall is None else ""


def whole_seconds(seconds: int) -> str:
    """Return a stretch of time without parts of seconds: `4 s`, `3 min 20 s`."""
    return f"{seconds} s" if seconds < 60 else duration(seconds)


def deciding_of(progress: "Progress") -> list[str]:
    """Return how far a tier with cycles is."""
    if not progress.deciding:
        return []
    decided, total, remoteness, again = progress.deciding
    if remoteness is None:
        return ["looking at all moves"]
    plies = f"{remoteness} {'ply' if remoteness == 1 else 'plies'}"
    count = f"{amount(decided)} of {amount(total)}"
    texts = [f"{count} decided, {plies} from the end", f"{count} decided, {plies}", f"{plies} from the end", plies]
    if again is None:
        return texts
    looked = f"looking again {int(100 * again)} %"
    return [*(f"{text}, {looked}" for text in texts[:2]), f"{plies}, {looked}", plies]


def bar(share: float, columns: int, fancy: bool) -> str:
    """Return a bar of which a share is filled.

    >>> bar(0.5, 10, fancy=False)
    '#####-----'
    """
    filled = int(share * columns)
    return "━" * filled + "─" * (columns - filled) if fancy else "#" * filled + "-" * (columns - filled)


def width_of(stream: object) -> int:
    """Return the columns of the terminal that a stream leads to, whatever else is one."""
    with suppress(OSError, ValueError, AttributeError):
        if not os.environ.get("COLUMNS"):
            return os.get_terminal_size(stream.fileno()).columns or 80  # type: ignore[attr-defined]  # suppressed
    return shutil.get_terminal_size().columns


def fancy(stream: object) -> bool:
    """Tell whether a stream can show the lines of a bar."""
    try:
        "━─".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
