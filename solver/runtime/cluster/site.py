"""Checks that workers have the same sources, libraries and folder as the solve.

Each task carries the *site*. A worker checks once that it is fit, also one that joins later. Only then does it unpack
the task, for it may not even understand what other sources have pickled.
"""

import pickle
import platform
import sys
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np
import zstandard

from retrograde.databases.lock import Lock, read_word
from retrograde.games.contract.game import RetrogradeError
from retrograde.solver.runtime.parcels import Parcel, pack, unpack
from retrograde.solver.runtime.sources import ROOT, digest

FOLDERS = ("games", "databases", "solver")
"""The folders of sources that decide what a task does."""
BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Where Linux has the identifier of the boot."""


@cache
def boot() -> str:
    """Return an identifier of the machine's current boot; "" if unknown."""
    try:
        return BOOT.read_text("ascii").strip()
    except OSError:
        return ""


def machine() -> str:
    """Return a unique name of this machine and its boot: only they see what is in memory of a file."""
    return f"{platform.node()} {boot()}".strip()


class ClusterError(RetrogradeError, RuntimeError):
    """A cluster cannot do its work."""


class Facts(NamedTuple):
    """The versions that decide the bytes that a task writes, and whether tasks can be unpickled."""

    retrograde: str
    python: str
    numpy: str
    numba: str
    zstd: str

    def differences(self, expected: "Facts") -> str:
        """Return in words what differs from *expected*, as in `numpy 2.1 and not 2.0`; "" if all is the same."""
        pairs = zip(self._fields, self, expected, strict=True)
        return ", ".join(f"{name} {actual} and not {wanted}" for name, actual, wanted in pairs if actual != wanted)


@cache
def facts() -> Facts:
    """Return the facts of this process."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    zstd = ".".join(map(str, zstandard.ZSTD_VERSION))
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return Facts(f"sources {digest(files)[:8]}", python, np.__version__, version("numba"), zstd)


class Site(NamedTuple):
    """What a worker must have: the same `facts`, and at the path `lock` a file that contains `word`.

    If files are not written out for other machines, it must be on `machine`. `parcels` is a folder for large data, or
    None.
    """

    facts: Facts
    lock: Path
    word: bytes
    machine: str | None = None
    parcels: Path | None = None


def site_of(lock: Lock, apart: bool, parcels: Path | None = None) -> Site:
    """Return the site of a solve that holds a lock; *apart* allows workers on other machines."""
    word = token_hex(16).encode()
    lock.write_word(word)
    return Site(facts(), lock.path.absolute(), word, None if apart else machine(), parcels)


@lru_cache(4)
def refuse_unfit(site: Site) -> None:
    """Raise ClusterError if this process cannot work for a site."""
    worker = f"the worker on {platform.node() or 'a machine without a name'}"
    if differences := facts().differences(site.facts):
        raise ClusterError(f"{worker} has {differences}; install the same everywhere, and start the workers anew")
    if site.machine is not None and site.machine != machine():
        raise ClusterError(
            f"{worker} is on another machine than the solve, which was begun on one alone; begin it again"
        )
    if read_word(site.lock) != site.word:
        raise ClusterError(
            f"{worker} does not see {str(site.lock.parent)!r}, the folder of the solve; choose one that all machines "
            "share, with --database or RETROGRADE_HOME"
        )


# Tasks


def run(site: bytes, task: bytes | Parcel) -> Any:
    """Unpack a task and run it for a pickled site; return its result, in a parcel if it is large."""
    unpickled = pickle.loads(site)
    refuse_unfit(unpickled)
    function, args, options = unpack(task)
    result = function(*args, **options)
    sent = pack(result, unpickled.parcels)
    return sent if isinstance(sent, Parcel) else result


def greet(site: bytes) -> str:
    """Check that this process is fit for a pickled site; return the name of its machine."""
    refuse_unfit(pickle.loads(site))
    return machine()
