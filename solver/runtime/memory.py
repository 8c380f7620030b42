"""Memory and address space: how much there is and how much we use; also sizes as text."""

import ctypes
import math
import re
import sys
from contextlib import suppress

import psutil

from retrograde.games.contract.game import RetrogradeError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


class MemoryLimit(RetrogradeError, MemoryError):
    """A solve needs more memory than it may use."""


class DiskTooSmall(RetrogradeError, OSError):
    """A solve would fill the disk."""


RESERVE, RESERVE_INTERPRETED = 64_000_000, 4_000_000
"""Bytes kept free beyond what a solve asks for.

They are for machine code still to be made or loaded, and for memory that allocators do not return at once. The second
figure is for solves that compile nothing.
"""


class MemoryBudget:
    """The most resident memory this process may use, in bytes, libraries included: *limit*, or what is free now."""

    def __init__(self, limit: int | None = None):
        self.limit = limit if limit is not None else used_memory() + psutil.virtual_memory().available

    def free_bytes(self) -> int:
        """Return how many more bytes may be used now."""
        return self.limit - used_memory() - reserve()

    def check(self, more: int, doing: str) -> None:
        """Raise MemoryLimit if *more* bytes would exceed the limit; *doing* says what needs them."""
        if more > self.free_bytes():
            trim_allocator()
        if more > self.free_bytes():
            raise MemoryLimit(
                f"{doing} needs about {format_size(self.limit - self.free_bytes() + more)} of memory, and the limit is "
                f"{format_size(self.limit)}; raise it with --memory, or choose a smaller variant"
            )

    def check_used(self, doing: str) -> None:
        """Raise MemoryLimit if more memory is in use than the limit, in spite of all estimates."""
        if used_memory() > self.limit:
            raise MemoryLimit(
                f"{doing} takes more than {format_size(self.limit)} of memory; what is done is kept: go on with more "
                "--memory"
            )


def address_space() -> tuple[int, int] | None:
    """Return (limit, bytes left) of this process's address space, as `ulimit -v` sets it; None if unlimited."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else (limit, limit - psutil.Process().memory_info().vms)


def reserve() -> int:
    """Return the bytes to keep free now."""
    return RESERVE if "numba" in sys.modules else RESERVE_INTERPRETED


def trim_allocator() -> None:
    """Make the allocator return free memory, if it can: sometimes hundreds of megabytes of arrays."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # only glibc has malloc_trim
            ctypes.CDLL(None).malloc_trim(0)


def used_memory() -> int:
    """Return the bytes of memory that this process uses now."""
    return int(psutil.Process().memory_info().rss)


def peak_memory() -> int:
    """Return the most bytes of memory that this process has used."""
    if sys.platform == "win32":
        return psutil.Process().memory_info().peak_wset
    with suppress(OSError, ValueError, StopIteration), open("/proc/self/status", encoding="ascii") as status:
        # Linux's getrusage is no use: its figure includes the process that this one was forked from.
        line = next(line for line in status if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def parse_size(text: str) -> int:
    """Return the bytes in a text such as `800M`, `1.5G` or `2GiB`.

    >>> parse_size("1.5G")
    1500000000
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?", text.strip().upper())
    if not match or match[2] == "I":
        raise ValueError(f"{text!r} is no size; write one as 800M, 1.5G or 2GiB")
    return int(float(match[1]) * UNITS[match[2]])


def format_size(size: float) -> str:
    """Return a number of bytes as text, rounded to three digits.

    >>> format_size(1_230_000_000)
    '1.23 GB'
    >>> format_size(999_700)
    '1 MB'
    """
    if size < 1000:
        return f"{size:.0f} bytes"
    size = float(f"{size:.3g}")
    power = min(4, int(math.log(size, 1000) + 1e-9))  # log(1000**3, 1000) is slightly below 3
    if size >= 1000**5:
        return f"{size / 1000**4:,.0f} TB"
    return f"{size / 1000**power:.3g} {('kB', 'MB', 'GB', 'TB')[power - 1]}"
