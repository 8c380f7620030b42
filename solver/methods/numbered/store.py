"""The scores of a game that numbers its positions. Every slot of every tier is solved, reachable or not.

The scores of all tiers are in one array, tier after tier. If memory does not suffice, the array is in a scratch file,
and only the tier that is being solved is in memory.

A tier is solved by sets if the game allows it (`by_sets.py`), otherwise by slots (`by_slots.py`), or in ranges of slots
if workers are other processes (`by_ranges.py`).
"""

import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from retrograde.games.catalog import rests_on, variant
from retrograde.games.contract.game import METRICS, Game
from retrograde.solver.methods.chess.elsewhere import Elsewhere
from retrograde.solver.methods.chess.fit import formation_of, is_chess
from retrograde.solver.methods.numbered.by_sets import solve_by_sets
from retrograde.solver.methods.numbered.legend import COLUMNS, POSITIONS, counts_of
from retrograde.solver.methods.numbered.numbering import Numbering
from retrograde.solver.methods.numbered.room import room_for, room_for_tiers, room_of
from retrograde.solver.methods.numbered.table import Table
from retrograde.solver.runtime.arrays import Compressed, Shared
from retrograde.solver.runtime.concurrent import ConcurrentTiers, RunningTier
from retrograde.solver.runtime.driver import Done, Kept
from retrograde.solver.runtime.memory import DiskTooSmall, format_size
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.solved_tiers import Solved
from retrograde.solver.runtime.work import MetricNotApplicable, Work
from retrograde.solver.values.score import score_type
from retrograde.solver.values.score_kernels import add_counts

Array = np.ndarray[Any, Any]


class NumberedStore:
    """The scores of all slots while a game is solved (a `Store`, see runtime/driver.py).

    `scores` uint16[slots] or uint32[slots] (see values/score.py), EMPTY for a slot without a position. `counts` has the
    outcome counts of each solved tier (see legend.py). A group is the number of a tier.

    Scores of tiers in other databases: if tiers are solved by sets, they are read when needed. Otherwise they are
    copied behind the scores of the game's *own* tiers.
    """

    def __init__(
        self, game: Game, bits: int, work: Work, by_sets: bool = True, elsewhere: Elsewhere | None = None,
        metric: str = METRICS[0],
    ):  # fmt: skip
        """Begin a store in which nothing is solved. Raises MemoryLimit if the least memory is missing.

        *elsewhere* reads tiers that other databases have. *metric* is remoteness or one of TO_PROGRESS.
        """
        self.own, dtype = Numbering.own(game), score_type(bits)
        self.in_sets = by_sets and is_chess(game)
        numbering = self.own if self.in_sets else Numbering.of(game)
        # Step 1: decide whether the scores fit in memory. A score file of an earlier solve is used in any case.
        every, file = np.dtype(dtype).itemsize * numbering.slots, work.scratch / f"scores{bits}.kept"
        room = room_for_tiers(game, self.own, bits, by_sets, metric, work.ranged_from)
        enough = every + room.most <= work.budget.left()
        self.in_file = work.sizes.scores_in_scratch or not enough or file.exists()
        if self.in_file:
            work.budget.check(room.least, f"solving {numbering.slots:,} slots of positions")
            expect_disk(work.scratch, every)
            scores = Shared.kept(numbering.slots, dtype, file)
        else:
            scores = work.zeros(f"scores{bits}", numbering.slots, dtype)
        # Step 2: tiers behind the game's own count as solved.
        self.solved = Solved(np.arange(len(numbering.tiers)) >= len(self.own.tiers))
        self.table = Table(game, numbering, scores, bits, self.solved)
        self.work, self.by_sets, self.metric = work, by_sets, metric
        self.elsewhere = elsewhere or Elsewhere(game, None, metric)
        self.scores = self.table.scores.array
        self.beside: ConcurrentTiers | None = None
        self.counts: dict[int, Array] = {}
        self.written: set[int] = set()
        """Tiers whose scores this process has written to the file."""
        for k in range(len(self.own.tiers), len(numbering.tiers)):  # these come after the game's own
            self.scores[numbering.stretch(k)] = self.elsewhere.scores(int(numbering.tiers[k]), bits)

    def groups(self) -> Iterator[int]:
        """Yield the numbers of tiers, last first."""
        yield from reversed(range(len(self.own.tiers)))

    def keep(self, done: Done) -> Kept:
        """Store the scores and counts of a tier. If scores are in a file, check their checksum instead."""
        (number,), scores, counts = done
        k, part = int(number), self.table.numbering.stretch(int(number))
        if len(scores) == part.stop - part.start and scores.dtype == self.scores.dtype:
            self.scores[part] = scores
        elif k not in self.written and checksum(self.scores[part]) != scores[0]:
            return Kept(0, None)  # the file is older than the journal: a kill came in between
        new = not self.solved.flags[k]
        self.counts[k] = counts.reshape(-1, COLUMNS)
        self.solved.flags[k] = True
        records, positions = (part.stop - part.start, int(self.counts[k][:, POSITIONS].sum())) if new else (0, 0)
        return Kept(records, int(self.table.numbering.tiers[k]), positions)

    def done(self, k: int, scores: Array, sizes: Array | Compressed) -> Done:
        """Return the journal entry of a solved tier, given its scores and numbers of symmetric positions."""
        return self.written_down(k, scores, self.counted(k, scores, sizes))

    def written_down(self, k: int, scores: Array, counts: Array) -> Done:
        """Return the journal entry of a solved tier. If there is a score file, write the scores there first."""
        if self.in_file:
            place = self.scores[self.table.numbering.stretch(k)]
            if not np.may_share_memory(place, scores):
                place[:] = scores
            self.table.scores.flush()
            self.table.scores.let_go()
            self.written.add(k)
            scores = np.array([checksum(scores)], np.int64)
        return np.array([k], np.int64), scores, counts

    def solve(self, k: int, phase: Phase) -> Iterator[Done]:
        """Yield the scores and counts of a tier. All later tiers must be solved."""
        if self.solved.flags[k]:
            return
        # Case: a small tier, solved concurrently with others.
        if self.room_beside(k):
            self.beside = self.beside or ConcurrentTiers(self.work, self.solved, self.room_beside, self.solve_beside)
            yield from self.beside.until(k, phase)
            return
        # Case: by sets.
        if self.by_sets and (done := self.solved_by_sets(k, phase)):
            yield done
            return
        if self.metric != METRICS[0] or (self.in_sets and rests_on(self.table.game)):
            self.refuse(k)
        # Imported here, because solving by sets needs neither
        ranged = self.work.ranged_from
        # Case: in ranges, or slot by slot.
        if ranged is not None and self.table.numbering.size(k) >= ranged:
            from retrograde.solver.methods.numbered.by_ranges import solve_by_ranges as solve
        else:
            from retrograde.solver.methods.numbered.by_slots import solve_by_slots as solve

        with ExitStack() as until_kept:
            yield self.done(k, *solve(self.table, k, self.work, phase, self.in_file, until_kept))

    def room_beside(self, k: int) -> int:
        """Return the memory for solving a tier concurrently with others, in bytes; 0 if it must be solved alone."""
        threads = self.work.shares_memory and self.work.workers > 1 and not self.in_file and not self.in_sets
        count = self.table.numbering.size(k)
        if not threads or count > self.work.sizes.beside_slots:
            return 0
        return room_for(self.table.game, count, self.table.bits).most

    def solve_beside(self, tier: RunningTier, until_kept: ExitStack) -> Done:
        """Solve a tier concurrently with others; return its journal entry. Raises Unsolved if it must wait."""
        from retrograde.solver.methods.numbered.by_slots import solve_by_slots
        from retrograde.solver.methods.numbered.seeds import expect_solved

        table = self.table._replace(solved=tier)
        expect_solved(table, tier.k)
        return self.done(tier.k, *solve_by_slots(table, tier.k, self.work, tier, False, until_kept))

    def refuse(self, k: int) -> None:
        """Raise the error that explains why a tier that needs sets was not solved by sets.

        A tier needs sets if it rests on tiers in other databases, or because of the metric.
        """
        game, table = self.table.game, self.table
        formation = formation_of(game, int(table.numbering.tiers[k]), table.bits)
        by_metric = self.metric != METRICS[0]
        if formation:
            self.work.budget.check(room_of(formation, self.metric), f"solving {variant(game)} set by set")
        what = f"{self.metric} is computed" if by_metric else "rests on other databases, and so is solved"
        why = f"its {'wins' if by_metric else 'mates'} take too many plies"
        raise MetricNotApplicable(f"{variant(game)}{':' * by_metric} {what} set by set alone; {why}")

    def solved_by_sets(self, k: int, phase: Phase) -> Done | None:
        """Solve a tier by sets and return its journal entry. None if that is impossible or memory is short."""
        found = solve_by_sets(self.table, k, self.work, phase, self.elsewhere, self.metric)
        return found and self.written_down(k, *found)

    def counted(self, k: int, scores: Array, sizes: Array | Compressed) -> Array:
        """Return the counts of a tier as a flat array for the journal."""
        return counts_of(self.table.game, self.table.numbering, k, scores, sizes, add_counts).ravel()


def checksum(scores: Array) -> int:
    """Return the CRC-32 of some scores."""
    return zlib.crc32(np.ascontiguousarray(scores).data)


def expect_disk(folder: Path, more: int) -> None:
    """Raise DiskTooSmall if a folder's disk lacks *more* bytes. The folder need not exist yet."""
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    # Score files of an earlier solve are reused, so their blocks count as free.
    mine = sum(file.stat().st_blocks * 512 for file in folder.glob("scores*.kept"))
    if (free := psutil.disk_usage(str(there)).free) + mine < more:
        raise DiskTooSmall(
            f"the scores of all slots take {format_size(more)} of disk in {str(folder)!r}, and {format_size(free)} are "
            "free; choose a smaller variant, or --database on another disk"
        )
