"""Estimates what a solve will take: positions by tier, time, memory, scratch files and database.

amount    =  fixed + records · ratio · (records / 35 million) ** power          low  <=  likely  <=  high
"""

import shutil
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from retrograde.games.contract.game import METRICS, Game, Traits, metric_of
from retrograde.games.contract.live import with_source
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.estimation import amounts
from retrograde.solver.estimation.amounts import MB, Estimate, Range, check_disk, put_disk, speed_of, streamed_estimate
from retrograde.solver.estimation.numbered import estimate_by_slot, estimate_numbered, explain_lists
from retrograde.solver.estimation.sampling import PositionCounts, Sampler
from retrograde.solver.methods.listed.explore.tasks import position_type
from retrograde.solver.methods.numbered.numbering import is_by_slot
from retrograde.solver.rules.examine import is_for_a_stream, start_of
from retrograde.solver.runtime.memory import MemoryBudget, format_size
from retrograde.solver.runtime.progress import Listener, announce
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import Work

SECONDS = 10.0
"""Seconds for counting. Sampling Connect Four 7×6 takes as long again."""
INTERPRETED = 5_000
"""The solver solves games of up to about this many records without compiling their rules."""


class SampleSizes(NamedTuple):
    """Waves of up to *counted* positions are counted; later ones are estimated from two samples of *sampled* each."""

    counted: int = 1_000_000
    sampled: int = 300_000


CAREFUL = SampleSizes()
QUICK = SampleSizes(100_000, 30_000)
"""Sample sizes for an estimate in less than a second."""


def estimate(
    game: Game, workers: int = 1, sizes: SampleSizes = CAREFUL, in_memory: int = 4_000_000,
    listener: Listener | None = None, metric: str | None = None, against: bool = False,
    is_plain: Callable[[Game], bool] = lambda game: False,
) -> Estimate:  # fmt: skip
    """Return the estimate for solving a game with *workers* workers; raise RuleError if the rules break the contract.

    *metric* is the game's own if None; *against* says that a best response to a model is computed. Games of up to
    *in_memory* records are solved in memory. *is_plain* says whether a game for the streamed method will be solved
    set-wise instead. *listener* is called with Progress.
    """
    announce(listener, "reading the rules")
    game, _ = with_source(game)
    metric = metric or metric_of(game)
    least_slots = 0 if Traits.of(game).width else Sizes().listed_slots
    if metric == "expectation" and not against and is_by_slot(game, least_slots):
        return estimate_by_slot(game, workers)
    if Traits.of(game).is_numbered and metric in (METRICS[0], *PROGRESS_METRICS):
        return estimate_numbered(game, workers, metric)
    counts = Sampler(game, *sizes, SECONDS, listener).run()
    result = estimate_from_counts(game, counts, workers, in_memory, metric, against, is_plain)
    result.rests_on[:0] = explain_counts(counts, sizes)
    return result


def estimate_from_counts(
    game: Game, counts: PositionCounts, workers: int, in_memory: int, metric: str, against: bool,
    is_plain: Callable[[Game], bool],
) -> Estimate:  # fmt: skip
    """Return the estimate for a game whose positions are listed, from their number. For parameters see `estimate`."""
    # Step 1: numbers of positions.
    other_metric, words = metric != METRICS[0], Traits.of(game).width or 1
    result = put_counts(counts)
    is_large = counts.records > in_memory and not counts.returns
    result.streamed = is_large and not other_metric and is_for_a_stream(game)
    # Step 2: choose the ratios of the method that will solve the game.
    is_setwise = result.streamed and words == 1 and is_plain(game)
    ratios = choose_ratios(counts, metric, result.streamed, is_setwise)
    if words > 1:
        ratios = amounts.STREAMED_IN_WORDS if result.streamed else ratios.in_words(words)
    records = counts.range.times(2.0 if other_metric and against else 1.0)  # either player may respond
    # Step 3: memory. Predecessor lists are needed if play can return to a tier, or for utilities.
    lists = predecessor_bytes(game, counts, records, metric)
    memory = records.times(ratios.memory) + ratios.fixed_memory + lists
    if result.streamed and not is_setwise:
        memory += stream_buffers(counts.records, workers)
    # Step 4: time.
    result.least_memory = round(amounts.COMPILED)
    if counts.complete and counts.records <= INTERPRETED and not other_metric:  # solved interpreted: no compiler
        result.least_memory = 0
        result.put("seconds", Range(0.1, 0.4, 1.5))
        memory = Range(50 * MB, 58 * MB, 70 * MB)
    else:
        work = records.times(counts.expansion).times(ratios.seconds).times(1 / speed_of(workers))
        result.put("seconds", work + ratios.start)
    result.put("memory", memory)
    # Step 5: disk. A scratch item is a run-length item, or a position with its number of images and its score.
    item_bytes = 1 if result.streamed else np.dtype(position_type(start_of(game))).itemsize * words + 4
    put_disk(result, records, ratios, item_bytes, Range(0.0, 0.0, lists.high))  # lists may lie in scratch files
    # Step 6: where the numbers come from.
    result.rests_on = [f"ratios of {ratios.source}"]
    if counts.returns and not other_metric:
        add_cycles(result, counts, records, lists)
    return result


def put_counts(counts: PositionCounts) -> Estimate:
    """Return an estimate that has only the numbers of positions; time, memory and disk are 0."""
    tiers = {tier: round(records) for tier, records in counts.tiers.items()}
    result = Estimate(0, 0, [round(wave) for wave in counts.waves], tiers, counts.counted, counts.complete, counts.open)
    result.links = counts.links if counts.returns else 0.0
    result.put("records", counts.range)
    result.put("positions", counts.range.times(counts.symmetric))
    if counts.complete:
        result.positions = round(counts.symmetric * result.records)
    return result


def choose_ratios(counts: PositionCounts, metric: str, streamed: bool, setwise: bool) -> amounts.Ratios:
    """Return the ratios of the method that will solve a game; *streamed* and *setwise* say whether these fit."""
    if metric != METRICS[0]:
        return amounts.BY_METRIC[metric]
    if setwise:
        free = MemoryBudget().free_bytes()
        if counts.records * amounts.SETWISE.memory.likely < free:
            return amounts.SETWISE
        least = amounts.SETWISE_ON_DISK.fixed_memory.low  # all that is free beyond it spares unpacking and reading
        memory = Range(least, max(least, amounts.SETWISE_SHARE * free), max(least, free))
        return replace(amounts.SETWISE_ON_DISK, fixed_memory=memory)
    if streamed:
        return amounts.STREAMED
    return amounts.CYCLIC if counts.returns else amounts.LISTED


def predecessor_bytes(game: Game, counts: PositionCounts, records: Range, metric: str) -> Range:
    """Return the bytes of predecessor lists; 0 if play cannot return to a tier, or the rules give parents."""
    if metric == METRICS[0]:
        needed, bytes_a_child = counts.returns and not Traits.of(game).has_parents, amounts.PREDECESSOR
    else:
        needed, bytes_a_child = counts.returns or metric == "utilities", amounts.PREDECESSOR_BY_METRIC
    return records.times(bytes_a_child).times(counts.links if needed else 0.0)


def stream_buffers(records: float, workers: int) -> Range:
    """Return the bytes of the streamed method's buffers, at least 0. Those of workers grow up to 150 million records,
    the cache of scratch files up to 500 million."""
    tasks = Range(0, 1, 1).times(workers * amounts.TASK * min(1, records / 150e6))
    return tasks + Range(0, 1, 1).times(amounts.CACHE * min(1, records / 500e6))


def add_cycles(result: Estimate, counts: PositionCounts, records: Range, lists: Range) -> None:
    """Add what a game with cycles takes if memory is short: its lists lie in scratch files then."""
    if result.least_memory:  # else the game is so small that it is solved interpreted
        result.least_memory = round(records.low * amounts.ON_DISK + amounts.COMPILED_ON_DISK)
        result.rests_on.append(
            "solve uses the memory named above if it is free; with less, but about "
            f"{format_size(result.least_memory)}, lists of positions and predecessors lie in scratch files"
        )
    largest_share = max(counts.tiers.values()) / sum(counts.tiers.values())  # of the largest tier
    result.rests_on += explain_lists(lists.times(largest_share), counts.records * largest_share * counts.expansion)


def explain_counts(counts: PositionCounts, sizes: SampleSizes) -> list[str]:
    """Return sentences that say where the number of positions comes from."""
    last = counts.counted - 1
    if counts.complete:
        return ["all positions, counted"]
    if counts.open:
        why = "play can return to a tier" if counts.returns else "the time for counting was over"
        growth = counts.waves[-1] / counts.waves[-2]
        if counts.high is not None:  # the last waves shrank so much that all further ones can be bounded
            trend = "dwindle"
        elif growth < 1:
            trend = "have not dwindled yet"
        else:
            trend = "still grow"
        return [f"positions counted up to {last} plies from the start and no further: {why}",
                f"the waves {trend}, the last one being {growth:.2g} times the one before"]  # fmt: skip
    return [
        f"positions counted up to {last} plies from the start, where waves have more than {sizes.counted:,} records",
        f"later waves estimated from two samples of {sizes.sampled:,} each; such estimates are too low, so they are "
        "raised by as much as they were for Connect Four 5×5 to 6×6; for other games the range may be wrong",
    ]


class RunningOutlook:
    """Estimates one solve while it runs (the `Outlook` of `runtime/work.py`). The first estimate is quick. If it says
    that the disk is too small, a careful one decides, the one that `solve --estimate` prints."""

    def __init__(self, game: Game, work: Work):
        self.game, self.work = game, work
        self.began = time.monotonic()
        self.running: Future[Estimate] | None = None
        self.is_careful = False
        """Whether the estimate being made is the careful one."""
        self.result: list[int] = []

    def waves(self) -> list[int]:
        """Return the positions of each wave once a worker has estimated them, an empty list before.

        The solver calls this now and then. The first call after `estimate_seconds` starts the estimate. Raises
        DiskTooSmall if the disk is too small by the careful estimate.
        """
        if self.result:
            return self.result
        if self.running is None:
            if time.monotonic() - self.began >= self.work.sizes.estimate_seconds:
                self.start_estimate(QUICK)
        elif self.running.done():
            expected = self.running.result()
            disk = shutil.disk_usage(self.work.scratch.parent).free + self.written()
            if expected.disk > disk and not self.is_careful:
                self.is_careful = True
                self.start_estimate(CAREFUL)
            else:
                self.check(expected)
                self.result = expected.waves
        return self.result

    def start_estimate(self, sizes: SampleSizes) -> None:
        """Start an estimate on a worker."""
        self.running = self.work.executor.submit(
            estimate, self.game, self.work.workers, sizes, self.work.sizes.in_memory
        )

    def check_records(self, records: int) -> None:
        """Raise DiskTooSmall if the disk cannot hold *records* records as runs."""
        self.check(streamed_estimate(records, Traits.of(self.game).width or 1))

    def plain_waves(self, written: int) -> list[int]:
        """Return the records of each wave of a game that is solved set-wise; raise DiskTooSmall if they do not fit."""
        expected = estimate(self.game, self.work.workers, QUICK, self.work.sizes.in_memory, is_plain=lambda game: True)
        check_disk(self.game, self.work.scratch.parent, expected, written)
        return expected.waves

    def written(self) -> int:
        """Return how many bytes this solve has written."""
        return sum(file.stat().st_size for file in self.work.scratch.iterdir())

    def check(self, expected: Estimate) -> None:
        """Raise DiskTooSmall if an estimate does not fit the disk."""
        check_disk(self.game, self.work.scratch.parent, expected, self.written())
