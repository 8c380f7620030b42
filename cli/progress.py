"""Progress on standard error: on a terminal one line, rewritten in place; elsewhere a line now and then.

The line has as many parts as fit the terminal, the most important first. No part is cut::

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

from retrograde.cli.render.words import amount, duration, plies

if TYPE_CHECKING:
    from retrograde.solver.runtime.progress import Listener, Progress

    class LooksAt(Protocol):
        """A search, or an oracle that searches."""

        @property
        def looked_at(self) -> int: ...


QUIET_SECONDS = 30.0
"""Seconds between two lines if standard error is not a terminal."""
JSON_SECONDS = 1.0
TICK_SECONDS = 0.5
"""Seconds between two updates of the clock in the line, which goes on even while rules compile."""
GAP = "   "
UNLIMITED = 10_000
"""The width of a line that may be as long as it likes, as in a file."""
BAR = 8, 24
"""The least and the greatest width of the bar, in columns."""

COMPILING = "compiling the rules"
"""The first phase of searches."""


class ProgressLine:
    """A listener for long work, which shows a line that begins with *about*. The context's end removes the line."""

    def __init__(self, prefix: str = "") -> None:
        self.about = prefix and f"{prefix}  "
        self.stream = sys.stderr
        self.live = self.stream.isatty()
        self.last_shown = time.monotonic()
        self.last: Progress | None = None
        self.heard = 0.0
        """The time of the last progress."""
        self.writing = threading.RLock()
        self.over = threading.Event()

    def __call__(self, progress: "Progress") -> None:
        """Show progress: always in a terminal, otherwise a line every QUIET_SECONDS."""
        now = time.monotonic()
        if self.live:
            self.show(progress)
        elif now - self.last_shown >= QUIET_SECONDS:
            self.last_shown = now
            self.stream.write(f"{self.about}{describe(progress)}\n")
            self.stream.flush()

    def show(self, progress: "Progress") -> None:
        with self.writing:
            self.last, self.heard = progress, time.monotonic()
            self.rewrite(self.in_words(progress))

    def tick(self) -> None:
        """Keep the clock in the line going until the work is over."""
        while not self.over.wait(TICK_SECONDS):
            with self.writing, suppress(OSError, ValueError):  # other code reports a terminal that is gone
                passed = time.monotonic() - self.heard
                if self.last and passed >= TICK_SECONDS and not self.over.is_set():
                    self.rewrite(self.in_words(with_time_passed(self.last, passed)))

    def in_words(self, progress: "Progress") -> str:
        width = width_of(self.stream) - 1 - len(self.about)
        return self.about + describe(progress, max(width, 1), fancy(self.stream))

    def rewrite(self, text: str) -> None:
        """Replace the line on the terminal."""
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
    """A listener that writes lines of JSON to standard error, at most one a second, with the variant *about*."""

    def __init__(self, about: str = "") -> None:
        self.about = {"variant": about} if about else {}
        self.last_shown = 0.0
        self.phase = ""

    def __call__(self, progress: "Progress") -> None:
        """Print progress as a line of JSON: at the beginning of a phase, at its end, and every JSON_SECONDS."""
        now = time.monotonic()
        ended = progress.total is not None and progress.done >= progress.total
        if now - self.last_shown < JSON_SECONDS and progress.phase == self.phase and not ended:
            return
        self.last_shown, self.phase = now, progress.phase
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
        """Do nothing: this is for terminals."""

    def say(self, text: str) -> None:
        sys.stderr.write(json.dumps({"message": text}) + "\n")

    def __enter__(self) -> "JsonProgress":
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr.flush()


def progress_listener(as_json: bool = False, about: str = "") -> ProgressLine | JsonProgress:
    return JsonProgress(about) if as_json else ProgressLine(about)


@contextmanager
def poll_progress(listener: "Listener", how_far: Callable[[], "Progress"]) -> Iterator[None]:
    """Report progress to a listener every half a second, for work that does not report by itself."""
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
    """Return a function that returns how far a search has come since now."""
    from retrograde.solver.runtime.progress import Progress

    began, nodes = time.monotonic(), search.looked_at
    return lambda: Progress("searching", search.looked_at - nodes, None, time.monotonic() - began)


def with_time_passed(progress: "Progress", passed: float) -> "Progress":
    """Return progress as it looks *passed* seconds after its report: more seconds, less time left, the same rate."""
    left = progress.seconds_left
    return replace(
        progress,
        seconds=progress.seconds + passed,
        here=progress.rate,  # else the rate would fall with the clock
        seconds_left=None if left is None else max(left - passed, 0.0),
    )


def describe(progress: "Progress", width: int = UNLIMITED, fancy: bool = False) -> str:
    """Return a line that says how far the work has come, in at most *width* columns.

    Parts without space are shortened or left out, the least important first. A bar takes the space that is left, unless
    the width is UNLIMITED; *fancy* bars are of block characters.
    """
    of_phases = f" {progress.number} of {progress.phases}" if progress.phases > 1 else ""
    below = f"{progress.below}: " if progress.below else ""
    overall = progress.overall
    has_bar = overall is not None and width < UNLIMITED
    rate = f"{amount(progress.rate)}/s" if progress.done and progress.rate else ""
    parts = [  # the most important first, each with its texts from the longest to the shortest
        ("phase", [below + progress.phase + of_phases, progress.phase + of_phases]),
        ("share", [f"{int(100 * overall + 1e-6):3d} %"] if overall is not None else []),  # 0.29 is 29 %, and not 28
        ("left", [remaining_time(progress)]),
        ("bar", [bar(overall or 0, BAR[0], fancy)] if has_bar else []),
        ("deciding", deciding_of(progress)),
        ("counts", counts_of(progress)),
        ("rate", [rate]),
    ]
    line = dict.fromkeys(("phase", "bar", "share", "counts", "rate", "left", "deciding"), "")
    for name, texts in parts:
        line[name] = next((text for text in texts if len(join_parts({**line, name: text})) <= width), "")
    if line["bar"]:
        columns = min(BAR[0] + width - len(join_parts(line)), BAR[1])
        line["bar"] = bar(overall or 0, columns, fancy)
    return join_parts(line)


def join_parts(parts: dict[str, str]) -> str:
    return GAP.join(text for text in parts.values() if text)


def counts_of(progress: "Progress") -> list[str]:
    """Return how many positions are done, and of how many; nothing before the first is counted."""
    if progress.total is not None:
        count = f"{amount(progress.done)} of {amount(progress.total)}"
        return [f"{count} positions", count]
    if progress.open is not None:
        return [f"{amount(progress.done)} positions, {amount(progress.open)} open", amount(progress.done)]
    return [f"{amount(progress.done)} positions", amount(progress.done)] if progress.done else []


def remaining_time(progress: "Progress") -> str:
    """Return the time left; the time passed if the time left is not known."""
    if progress.seconds_left is not None:
        return f"{whole_seconds(max(math.ceil(progress.seconds_left), 1))} left"
    return f"for {whole_seconds(int(progress.seconds))}" if progress.seconds >= 1 and progress.overall is None else ""


def whole_seconds(seconds: int) -> str:
    """Return a time in whole seconds: `4 s`, `3 min 20 s`."""
    return f"{seconds} s" if seconds < 60 else duration(seconds)


def deciding_of(progress: "Progress") -> list[str]:
    """Return how far the solver has come in a tier with cycles."""
    if not progress.deciding:
        return []
    decided, total, remoteness, again = progress.deciding
    if remoteness is None:
        return ["looking at all moves"]
    far = plies(remoteness)
    count = f"{amount(decided)} of {amount(total)}"
    texts = [f"{count} decided, {far} from the end", f"{count} decided, {far}", f"{far} from the end", far]
    if again is None:
        return texts
    looked = f"looking again {int(100 * again)} %"
    return [*(f"{text}, {looked}" for text in texts[:2]), f"{far}, {looked}", far]


def bar(share: float, columns: int, fancy: bool) -> str:
    """Return a bar with a filled share.

    >>> bar(0.5, 10, fancy=False)
    '#####-----'
    """
    filled = int(share * columns)
    return "━" * filled + "─" * (columns - filled) if fancy else "#" * filled + "-" * (columns - filled)


def width_of(stream: object) -> int:
    """Return the width of the terminal that a stream writes to, or of any other terminal."""
    with suppress(OSError, ValueError, AttributeError):
        if not os.environ.get("COLUMNS"):
            return os.get_terminal_size(stream.fileno()).columns or 80  # type: ignore[attr-defined]  # suppressed
    return shutil.get_terminal_size().columns


def fancy(stream: object) -> bool:
    """Return whether a stream's encoding has the characters of the bar."""
    try:
        "━─".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
