"""The scores of a game that numbers its positions. Every slot of every tier is solved, reachable or not.

The scores of all tiers are in one array, tier after tier. If memory does not suffice, the array is in a scratch file,
and only the tier that is being solved is in memory.
"""

import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
import psutil

from retrograde.games.catalog import rests_on, variant
from retrograde.games.contract.game import METRICS, Game
from retrograde.solver.methods.chess.fit import formation_of, is_chess
from retrograde.solver.methods.numbered.by_sets import solve_by_sets
from retrograde.solver.methods.numbered.elsewhere import Elsewhere
from retrograde.solver.methods.numbered.legend import COLUMNS, POSITIONS, counts_of
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.orientations import is_oriented
from retrograde.solver.methods.numbered.table import NumberedTable
from retrograde.solver.methods.numbered.tier_memory import memory_by_sets, memory_by_slots, memory_for_tiers
from retrograde.solver.methods.shapes.fit import is_shaped
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.arrays import CompressedArray, SharedArray
from retrograde.solver.runtime.concurrent import ConcurrentTiers, RunningTier, SolvedTiers
from retrograde.solver.runtime.driver import Done, StoredCounts
from retrograde.solver.runtime.memory import DiskTooSmall, format_size
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable, Work
from retrograde.solver.values.score import score_type
from retrograde.solver.values.score_kernels import count_by_score

CHECKSUM_SLOTS = 1 << 24
"""Slots of a file of scores whose checksum is computed before their pages are released."""


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
        """Begin with nothing solved; raise MemoryLimit.

        With *by_sets*, tiers are solved many slots at a time if the game suits it: chess in sets, games with `Steps` in
        shapes, oriented puzzles by orders. *elsewhere* reads tiers that other databases have. *metric* is remoteness or
        one of PROGRESS_METRICS.
        """
        self.own, dtype = SlotNumbering.own(game), score_type(bits)
        self.in_sets = by_sets and is_chess(game)
        self.in_shapes = by_sets and is_shaped(game) and dtype == np.uint16
        self.oriented = by_sets and is_oriented(game)
        numbering = self.own if self.in_sets else SlotNumbering.of(game)
        # Step 1: decide whether the scores fit in memory. A score file of an earlier solve is used in any case.
        score_bytes, file = np.dtype(dtype).itemsize * numbering.slots, work.scratch / f"scores{bits}.kept"
        memory = memory_for_tiers(game, self.own, bits, by_sets, metric, work.ranged_from)
        fits = score_bytes + memory.most <= work.budget.free_bytes()
        self.in_file = work.sizes.scores_in_scratch or not fits or file.exists()
        if self.in_file:
            work.budget.check(memory.least, f"solving {numbering.slots:,} slots of positions")
            check_disk(work.scratch, score_bytes)
            scores = SharedArray.reopen(numbering.slots, dtype, file)
        else:
            scores = work.zeros(f"scores{bits}", numbering.slots, dtype)
        # Step 2: the tiers of other databases, which follow the game's own in the numbering, count as solved.
        self.solved = SolvedTiers(np.arange(len(numbering.tiers)) >= len(self.own.tiers))
        self.table = NumberedTable(game, numbering, scores, bits, self.solved)
        self.work, self.by_sets, self.metric = work, by_sets, metric
        self.elsewhere = elsewhere or Elsewhere(game, None, metric)
        self.scores = self.table.scores.array
        self.concurrent: ConcurrentTiers | None = None
        self.counts: dict[int, Array] = {}
        self.written: set[int] = set()
        """Tiers whose scores this process has written to the file."""
        for k in range(len(self.own.tiers), len(numbering.tiers)):
            self.scores[numbering.slice_of(k)] = self.elsewhere.scores(int(numbering.tiers[k]), bits)

    def groups(self) -> Iterator[int]:
        """Yield the numbers of the game's own tiers, last first."""
        yield from reversed(range(len(self.own.tiers)))

    def keep(self, done: Done) -> StoredCounts:
        """Store the scores and counts of a tier. If the scores are in the file already, compare their checksum."""
        (number,), scores, counts = done
        k, slots = int(number), self.table.numbering.slice_of(int(number))
        # Either all scores or, as one int64, the checksum of those in the file (see `write`).
        if len(scores) == slots.stop - slots.start and scores.dtype == self.scores.dtype:
            self.scores[slots] = scores
        elif k not in self.written and self.checksum(self.scores[slots]) != scores[0]:
            return StoredCounts(0, None)  # the file is older than the journal: a kill came in between
        is_new = not self.solved.flags[k]
        self.counts[k] = counts.reshape(-1, COLUMNS)
        self.solved.flags[k] = True
        records, positions = (slots.stop - slots.start, int(self.counts[k][:, POSITIONS].sum())) if is_new else (0, 0)
        return StoredCounts(records, int(self.table.numbering.tiers[k]), positions)

    def count_and_write(self, k: int, scores: Array, sizes: Array | CompressedArray) -> Done:
        """Count the outcomes of a solved tier, given its numbers of symmetric positions; then `write` it."""
        count = partial(count_by_score, bits=self.table.bits)
        counts = counts_of(self.table.game, self.table.numbering, k, scores, sizes, count)
        return self.write(k, scores, counts.ravel())

    def write(self, k: int, scores: Array, counts: Array) -> Done:
        """Return the journal entry of tier number k, which is solved: (k, scores, counts).

        If there is a score file, write the scores there first; the entry then has their checksum instead.
        """
        if self.in_file:
            in_file = self.scores[self.table.numbering.slice_of(k)]
            if not np.may_share_memory(in_file, scores):
                in_file[:] = scores
            self.table.scores.flush()
            self.table.scores.release_pages()
            self.written.add(k)
            scores = np.array([self.checksum(scores)], np.int64)
        return np.array([k], np.int64), scores, counts

    def checksum(self, scores: Array) -> int:
        """Return the CRC-32 of some scores. If they are in the file, pages do not stay in memory."""
        crc = 0
        for begin in range(0, len(scores), CHECKSUM_SLOTS):
            crc = zlib.crc32(np.ascontiguousarray(scores[begin : begin + CHECKSUM_SLOTS]).data, crc)
            self.table.scores.release_pages()
        return crc

    def solve(self, k: int, phase: Phase) -> Iterator[Done]:
        """Yield the scores and counts of tier number k. All later tiers must be solved."""
        if self.solved.flags[k]:
            return
        # Case: a small tier, solved concurrently with others.
        if self.memory_if_concurrent(k):
            if self.concurrent is None:
                self.concurrent = ConcurrentTiers(
                    self.work, self.solved, self.memory_if_concurrent, self.solve_concurrently
                )
            yield from self.concurrent.until(k, phase)
            return
        # Case: by shapes, by orders, or by sets. Each of these returns None if it cannot solve this tier.
        if self.in_shapes:
            from retrograde.solver.methods.numbered.by_shapes import solve_by_shapes  # other games do not need it

            with ExitStack() as until_kept:
                task = self.table, k, self.work, phase, self.in_file, self.elsewhere, until_kept
                if solved := solve_by_shapes(*task):
                    yield self.write(k, *solved)
                    return
        if self.oriented:
            from retrograde.solver.methods.numbered.by_orders import solve_by_orders  # other games do not need it

            if by_orders := solve_by_orders(self.table, k, self.work, phase, self.in_file, self.elsewhere):
                yield self.count_and_write(k, *by_orders)
                return
        if self.by_sets and (solved := solve_by_sets(self.table, k, self.work, phase, self.elsewhere, self.metric)):
            yield self.write(k, *solved)
            return
        if self.metric != METRICS[0] or (self.in_sets and rests_on(self.table.game)):
            self.refuse(k)
        # Case: in ranges, or slot by slot.
        from retrograde.solver.methods.numbered import by_slots  # here, because solving by sets does not need it

        ranged = self.work.ranged_from
        in_ranges = ranged is not None and self.table.numbering.size(k) >= ranged
        solve = by_slots.solve_in_ranges if in_ranges else by_slots.solve_by_slots
        with ExitStack() as until_kept:
            yield self.count_and_write(k, *solve(self.table, k, self.work, phase, self.in_file, until_kept))

    def memory_if_concurrent(self, k: int) -> int:
        """Return the bytes for solving tier number k concurrently with others; 0 if it must be solved alone."""
        has_threads = self.work.shares_memory and self.work.workers > 1 and not self.in_file
        slot_by_slot = not self.in_sets and not self.in_shapes and not self.oriented
        slots = self.table.numbering.size(k)
        if not has_threads or not slot_by_slot or slots > self.work.sizes.beside_slots:
            return 0
        return memory_by_slots(self.table.game, slots, self.table.bits).most

    def solve_concurrently(self, tier: RunningTier, until_kept: ExitStack) -> Done:
        """Solve a tier concurrently with others; return its journal entry. Raises Unsolved if it must wait. Its
        checkpoint files stay until the stack *until_kept* is closed, when the results are in the journal."""
        from retrograde.solver.methods.numbered.by_slots import solve_by_slots
        from retrograde.solver.methods.numbered.seeds import expect_solved

        table = self.table._replace(solved=tier)
        expect_solved(table, tier.k)
        solved = solve_by_slots(table, tier.k, self.work, tier, in_file=False, until_kept=until_kept)
        return self.count_and_write(tier.k, *solved)

    def refuse(self, k: int) -> None:
        """Raise the error that explains why tier number k, which needs sets, was not solved by sets."""
        game, table = self.table.game, self.table
        formation = formation_of(game, int(table.numbering.tiers[k]), table.bits)
        if formation:
            self.work.budget.check(memory_by_sets(formation, self.metric), f"solving {variant(game)} set by set")
        if self.metric != METRICS[0]:
            what, why = f": {self.metric} is computed", "its wins take too many plies"
        else:
            what, why = " rests on other databases, and so is solved", "its mates take too many plies"
        raise MetricNotApplicable(f"{variant(game)}{what} set by set alone; {why}")


def check_disk(folder: Path, more: int) -> None:
    """Raise DiskTooSmall if a folder's disk lacks *more* bytes. The folder need not exist yet."""
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    # Score files of an earlier solve are reused, so their blocks, of 512 bytes, count as free.
    reused = sum(file.stat().st_blocks * 512 for file in folder.glob("scores*.kept"))
    if (free := psutil.disk_usage(str(existing)).free) + reused < more:
        raise DiskTooSmall(
            f"the scores of all slots take {format_size(more)} of disk in {str(folder)!r}, and {format_size(free)} are "
            "free; choose a smaller variant, or --database on another disk"
        )
