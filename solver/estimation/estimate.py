"""Estimates what a solve will take: positions by tier, time, memory, scratch files and database.

The number of positions is counted, sampled (`sampling.py`) or, if the game numbers them, known. What each record takes
was measured in the solves named in `amounts.py`. So each amount is a range, from the least to the most measured, with
the sources it rests on:

    amount    =  fixed + records · ratio · (records / 35 million) ** power          low  <=  likely  <=  high

The same estimate decides whether a solve is refused: it is, if the disk cannot hold even the least amount.
"""

from collections.abc import Callable

import numpy as np

from retrograde.games.contract.game import METRICS, Game, Traits, metric_of
from retrograde.games.contract.live import with_source
from retrograde.games.contract.zeroing import TO_PROGRESS
from retrograde.solver.estimation.amounts import (
    ASIDE,
    BY_METRIC,
    CACHE,
    COMPILED,
    COMPILED_ASIDE,
    CYCLIC,
    LINK,
    LINKED,
    LISTED,
    MB,
    STREAMED,
    TASK,
    WORDS,
    WORDS_ASIDE,
    Range,
    speed_of,
)
from retrograde.solver.estimation.expected import Estimate, put_disk
from retrograde.solver.estimation.links import where_links_lie
from retrograde.solver.estimation.numbered import of_numbered, of_slots
from retrograde.solver.estimation.sampling import Sampled, Sampler
from retrograde.solver.methods.listed.explore.tasks import position_type
from retrograde.solver.methods.numbered.numbering import is_by_slot
from retrograde.solver.rules.examine import is_for_a_stream, refuse_tuples, start_of
from retrograde.solver.runtime.memory import MemoryBudget, format_size
from retrograde.solver.runtime.progress import Listener, announce
from retrograde.solver.runtime.sizes import Sizes

COUNTED, SAMPLED = 1_000_000, 300_000
"""Waves of up to COUNTED positions are counted; later ones are estimated from two samples of SAMPLED positions."""
QUICK = 100_000, 30_000
"""The same pair of numbers for an estimate in less than a second."""
SECONDS = 10.0
"""Seconds for counting. Sampling Connect Four 7×6 takes as long again."""
INTERPRETED = 5_000
"""Games of up to about this many records are solved interpreted."""


def estimate(
    game: Game, workers: int = 1, counted: int = COUNTED, sampled: int = SAMPLED, in_memory: int = 4_000_000,
    listener: Listener | None = None, metric: str | None = None, against: bool = False,
    is_plain: Callable[[Game], bool] = lambda game: False,
) -> Estimate:  # fmt: skip
    """Return what a solve of a game will take with *workers* workers.

    *metric* is the game's own if None; *against* says that a best response to a model is computed. Waves of up to
    *counted* positions are counted; later ones are estimated from *sampled* positions each. Games of up to *in_memory*
    records are solved in memory. *is_plain* says whether a game for the streamed method will be solved set-wise
    instead. *listener* is called with Progress. Raises RuleError if the rules break the contract.
    """
    announce(listener, "reading the rules")
    game, _ = with_source(game)
    traits, metric = Traits.of(game), metric or metric_of(game)
    if metric not in (METRICS[0], "expectation") or against:
        refuse_tuples(game, "solved in lists")
    if metric == "expectation" and not against and is_by_slot(game, 0 if traits.width else Sizes().listed_slots):
        return of_slots(game, workers)
    if traits.is_numbered and metric in (METRICS[0], *TO_PROGRESS):
        return of_numbered(game, workers, metric)
    found = Sampler(game, counted, sampled, SECONDS, listener).run()
    records = Range(found.low, found.records, found.high)
    result = Estimate(0, 0, [round(wave) for wave in found.waves], {k: round(n) for k, n in found.tiers.items()})
    result.counted, result.complete, result.open = found.counted, found.complete, found.open
    listed = metric != METRICS[0]
    result.links = found.links if found.returns else 0.0
    result.streamed = not listed and found.records > in_memory and not found.returns and is_for_a_stream(game)
    result.put("records", records)
    result.put("positions", records.times(found.symmetric))
    if found.complete:
        result.positions = round(found.symmetric * result.records)
    ratios = STREAMED if result.streamed else CYCLIC if found.returns else LISTED
    words = result.streamed and is_plain(game)
    if words:
        ratios = WORDS if found.records * WORDS.memory.likely < MemoryBudget().left() else WORDS_ASIDE
    if listed:
        ratios = BY_METRIC[metric]
        records = records.times(2.0 if against else 1.0)  # either player may respond
    work = records.times(found.expansion).times(ratios.seconds).times(1 / speed_of(workers))
    memory = records.times(ratios.memory) + ratios.fixed_memory
    # Buffers of the streamed method: small for games far below 150 and 500 million records.
    if result.streamed and not words:
        memory += Range(0, 1, 1).times(workers * TASK * min(1, found.records / 150e6))
        memory += Range(0, 1, 1).times(CACHE * min(1, found.records / 500e6))
    # Predecessor lists: if play can return to a tier and the rules do not give parents, or for utilities.
    linked = (found.returns and (listed or not traits.has_parents)) or metric == "utilities"
    links = records.times(LINKED if listed else LINK).times(found.links if linked else 0.0)
    memory += links
    result.least_memory = round(COMPILED)
    if found.complete and found.records <= INTERPRETED and not listed:  # solved interpreted: no compiler
        result.least_memory = 0
        result.put("seconds", Range(0.1, 0.4, 1.5))
        memory = Range(50 * MB, 58 * MB, 70 * MB)
    else:
        result.put("seconds", work + ratios.start)
    result.put("memory", memory)
    # Bytes of a record in scratch files: a run-length item, or a position with its number of images and its score.
    item = 1 if result.streamed else np.dtype(position_type(start_of(game))).itemsize + 4
    put_disk(result, records, ratios, item, Range(0.0, 0.0, links.high))
    result.rests_on = [*how_counted(found, counted, sampled), f"ratios of {ratios.source}"]
    if found.returns and not listed:
        if result.least_memory:
            result.least_memory = round(records.low * ASIDE + COMPILED_ASIDE)
            result.rests_on.append(
                "solve takes the memory that is named where it is there; where there is less, but "
                f"{format_size(result.least_memory)} for so many positions, about, lists and links lie in scratch files"
            )
        share = max(found.tiers.values()) / sum(found.tiers.values())
        seconds = found.records * share * found.expansion
        result.rests_on += where_links_lie(links.times(share), seconds)
    return result


def how_counted(found: Sampled, counted: int, sampled: int) -> list[str]:
    """Return in sentences where the number of positions comes from."""
    last = found.counted - 1
    if found.complete:
        return ["all positions, counted"]
    if found.open:
        why = "play comes back to what it has left" if found.returns else "there was no time for more"
        growth = found.waves[-1] / found.waves[-2]
        how = "dwindle" if found.high is not None else "have not dwindled yet" if growth < 1 else "still grow"
        return [f"positions counted up to {last} plies from the start, no further, for {why}",
                f"the waves {how}, the last one being {growth:.2g} times the one before"]  # fmt: skip
    return [
        f"positions counted up to {last} plies from the start, where waves have more than {counted:,} records",
        f"from there two samples of {sampled:,} of each wave, raised by what such samples were too low by for Connect "
        "Four 5×5 to 6×6; of other games the range may be wrong",
    ]
