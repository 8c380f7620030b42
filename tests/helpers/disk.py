"""What solves of each kind do to the disk: small solves, and a shim that sees each operation before and behind it."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from retrograde.databases import frames
from retrograde.games.catalog import load_game
from retrograde.solver import engine
from retrograde.solver.conformance.check import ConformanceReport
from retrograde.solver.engine import solve
from retrograde.solver.play.oracles.book import BookOptions, make_book
from retrograde.solver.runtime import journal, scratch
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import tangle
from tests.helpers.elsewhere import Elsewhere
from tests.helpers.wide import WideTicTacToe

FSYNC = os.fsync
EAGER = Sizes(journal_seconds=0, predecessors_seconds=0)
STREAM = Sizes(
    in_memory=1, stream_children=250, stream_least_children=250, stream_positions=100, journal_seconds=0,
    chunk_words=100, sent_words=200,
)  # fmt: skip
SMALL = {
    "methods.listed.cycles.BLOCK": 16,
    "methods.numbered.seeds.BLOCK": 16,
    "methods.listed.predecessors.lists.EVERY": 1,
    "runtime.checkpoint.SHARE": 0,
    "methods.listed.ranges.steps.LEAST": 1,
    "methods.listed.ranges.tier.TOGETHER": 3,
    "methods.listed.ranges.steps.MOST_DELTAS": 2,
}
"""Sizes by which the smallest tier is cut as a large one is."""
IN_SCRATCH = {
    "methods.setwise.forward.ESTIMATED_AFTER": 0,
    "methods.setwise.forward.PLENTY": 1 << 50,
    "methods.setwise.forward.BYTES_A_POSITION": 1 << 50,
    "methods.setwise.backward.TASK_WORDS": 100,
    "methods.setwise.backward.LEAST_WORDS": 100,
}
"""The same, by which there seems to be no memory for waves of sets."""


def book(game: Any, path: Path, **_: Any) -> Path:
    """Make a book whose distances do not depend on the time that a search takes."""
    return make_book(game, BookOptions(plies=2, workers=2, tie_seconds=600), path)


@dataclass(frozen=True)
class Kind:
    """A small solve: of a variant, or of a random game with cycles, in some way."""

    game: Any
    sizes: Sizes = EAGER
    options: dict[str, Any] = field(default_factory=dict)
    small: dict[str, Any] = field(default_factory=dict)
    make: Callable[..., Path] = solve

    def solve(self, path: Path) -> Path:
        """Solve it; what is known of it is put aside whenever it can be. The rules are looked at elsewhere."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**SMALL, **self.small}.items():
                patch.setattr(f"retrograde.solver.{name}", value)
            patch.setattr(engine, "precheck", lambda _: ConformanceReport("", 0, False, {}, []))
            patch.setattr(engine, "verify_sample", lambda *_: None)
            if os.fsync is FSYNC:
                patch.setattr(os, "fsync", os.fstat)  # no power fails, and disks are slow
            patch.setattr(tangle.Tangle, "start", tangle.position_of(31, False, 0, 0, 40))
            game = load_game(self.game) if isinstance(self.game, str) else self.game()
            return self.make(game, path, sizes=self.sizes, **{"method": "compiled", "workers": 2, **self.options})


KINDS = {
    "interpreted": Kind("nim", options={"method": "interpreted"}),
    "listed": Kind("connect4:3,3", options={"method": "listed"}),
    "stream": Kind("connect4:3,3", STREAM, {"method": "streamed"}),
    "stream of several words": Kind(WideTicTacToe, STREAM, {"method": "streamed"}),
    "setwise": Kind("connect4:3,3", STREAM, {"method": "setwise"}),
    "setwise in scratch": Kind("connect4:3,3", STREAM, {"method": "setwise"}, IN_SCRATCH),
    "given up": Kind("connect4:3,3", replace(STREAM, in_memory=800)),  # by one way after another
    "sets": Kind("chess:KQK"),
    "shapes": Kind("teeko:3,2", small={"methods.shapes.tiers.BLOCK": 8}),
    "shapes in ranges": Kind(
        "teeko:3,2",
        replace(EAGER, ranged_slots=1, range_bits=6),
        {"executor": Elsewhere()},
        {"methods.shapes.ranges.LEAST_SLOTS": 64},
    ),
    "scores in scratch": Kind("mutorere", replace(EAGER, scores_in_scratch=True)),
    "slots, with parents": Kind(tangle.DenseTangle),
    "slots, with predecessor lists": Kind(tangle.DenseTangleWithoutParents),
    "slots, by forward passes": Kind(tangle.DenseTangleWithoutParents, replace(EAGER, predecessors_at_most=0)),
    "cycles, with predecessor lists": Kind(tangle.Tangle),
    "lists in scratch": Kind(tangle.Tangle, replace(EAGER, predecessors_at_most=0, lists_in_scratch=True)),
    "ranges": Kind(tangle.DenseTangle, replace(EAGER, ranged_slots=1, range_bits=2), {"executor": Elsewhere()}),
    "bounds": Kind("piglet:2", options={"method": "numbered"}),
    "scores by slot": Kind("kalahboards:2,3", small={"metrics.slots.scores.CHUNK": 5}),
    "book": Kind("connect4:4,3", make=book),
}


class Shim:
    """Sees the operations of this process that touch the disk."""

    def before(self, operation: str, halfway: Callable[[], object] = lambda: None) -> None:
        """See that an operation is about to be done, of which *halfway* does a part."""

    def after(self, operation: str) -> None:
        """See that an operation is done."""

    def synced(self, about: os.stat_result) -> None:
        """See that a file or a folder has been synced."""

    def wrap(self, patch: pytest.MonkeyPatch, owner: Any, name: str, what: str = "") -> None:
        """See the calls of a function."""
        function, operation = getattr(owner, name), what or name

        def seen(*args: Any, **options: Any) -> Any:
            self.before(operation)
            found = function(*args, **options)
            self.after(operation)
            return found

        patch.setattr(owner, name, seen)

    def wrap_syncs(self, patch: pytest.MonkeyPatch) -> None:
        """See what is to be synced, maps of files included; it is not, for no power fails, and disks are slow."""

        def seen(handle: int) -> None:
            self.before("fsync")
            self.after("fsync")
            self.synced(os.fstat(handle))

        def flushed(shared: SharedArray) -> None:
            self.before("flush")
            self.after("flush")
            if shared.path:
                self.synced(os.stat(shared.path))

        patch.setattr(os, "fsync", seen)
        patch.setattr(SharedArray, "flush", flushed)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """See all operations of this process meanwhile."""
        shim = self

        class File(io.FileIO):
            def write(self, data: Any) -> int:
                half = memoryview(data).cast("B")
                shim.before("write", lambda: io.FileIO.write(self, half[: len(half) // 2]))
                done = super().write(data)
                shim.after("write")
                return done

            def truncate(self, size: int | None = None) -> int:
                shim.before("truncate")
                done = super().truncate(size)
                shim.after("truncate")
                return done

        def open_file(path: Path, mode: str) -> Any:
            return io.BufferedWriter(File(path, mode)) if mode == "ab" else open(path, mode)

        with pytest.MonkeyPatch.context() as patch:
            for name in ("replace", "unlink", "rmdir", "mkdir", "ftruncate"):
                self.wrap(patch, os, name)
            self.wrap_syncs(patch)
            self.wrap(patch, frames.FrameWriter, "write", "write to HDF5")
            patch.setattr(scratch, "FileIO", File)
            patch.setattr(journal, "open", open_file, raising=False)
            yield
