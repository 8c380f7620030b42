"""What tests of solving share: what a database holds, solves that are stopped, and random games."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import strategies as st

from retrograde.databases import database_path, open_database
from retrograde.databases.file import DatabaseFile
from retrograde.games import DRAW, Game
from retrograde.games.chess import Chess
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import tangle


def counts(path) -> dict:
    """Return how many positions have each value and remoteness according to a database."""
    legend = DatabaseFile(path).legend
    return {(row.value, None if row.value == DRAW else row.remoteness): row.positions for row in legend}


def outcomes(path, game: Game) -> dict:
    """Return all that a database holds, as the reference solver gives it."""
    found = {}
    with open_database(path, game=game) as database:
        for _, *arrays in database.records():
            for position, value, remoteness in zip(*(array.tolist() for array in arrays), strict=True):
                found[position] = value, None if value == DRAW else remoteness
    return found


class Stop(Exception):
    """Thrown out of the middle of a solve."""


def stop_at(step):
    """Return a listener that stops a solve at some step."""
    steps = iter(range(step))

    def listener(progress):
        if next(steps, None) is None:
            raise Stop

    return listener


graphs = st.builds(
    tangle.position_of,
    seed=st.integers(0, 2**20 - 1),
    symmetric=st.booleans(),
    ends=st.integers(0, 3),
    layers=st.integers(0, 3),
    size=st.integers(0, 63),
)
"""Positions of random games of `tangle.py`."""


def copy_whole(path: Path, folder: Path) -> Path:
    """Copy a database into a folder, and those on which it rests; return where it is there."""
    with open_database(path) as database:
        others = getattr(database, "rests_on", [])
    for other in others:
        shutil.copy(database_path(other, path.parent, path.stem.partition("@")[2]), folder)
    return Path(shutil.copy(path, folder))


@contextmanager
def in_one_file() -> Iterator[None]:
    """Let a chess ending be solved with all that may follow in one database, as it was before each had its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chess, "elsewhere", lambda self, tier: "")
        yield


def small_enough(way: str) -> Sizes:
    """Return sizes by which a small game is solved in a way, in many tasks if in waves, on a cluster as well."""
    if way == "setwise":
        ranges = {"ranged_slots": 10_000, "range_bits": 13}
        return Sizes(in_memory=1, chunk_words=100, sent_words=200, journal_seconds=0, **ranges)
    if way == "numbered":
        return Sizes(ranged_slots=10_000, range_bits=13)
    if way != "streamed":
        return Sizes()
    return Sizes(in_memory=1, stream_children=250, stream_least_children=250, stream_positions=1000, journal_seconds=0)
