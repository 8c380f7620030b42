"""A tier with cycles: who is whose child and parent there, and propagation from what is decided."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.game import alternates, defines
from retrograde.solver.listed import kernels
from retrograde.solver.listed.kernels import Seeds
from retrograde.solver.listed.table import Table, expand_located, locate
from retrograde.solver.outcomes import edges
from retrograde.solver.outcomes.propagation import Propagation, telling
from retrograde.solver.outcomes.score import score_type
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.rules.second_look import blame_parents
from retrograde.solver.work.arrays import Part
from retrograde.solver.work.driver import Done
from retrograde.solver.work.progress import Deciding, Phase
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 14
"""What a tier takes for each position beside its links: scores and sizes, the best score passed up, children left, sums
of parents."""


LOOKING = 0.6
"""What looking at all positions once takes of the time that a tier takes, about."""


class Cyclic(NamedTuple):
    """A tier to be solved: its number k, where it begins and ends, and the scores of its positions, numbered from 0.

    `sums` uint32[n] is about the parents (see outcomes/edges.py), or uint32[0] where the rules do not give them.
    """

    table: Table
    k: int
    low: int
    high: int
    scores: Part
    sums: Part


def solve_cycles(table: Table, k: int, work: Work, phase: Phase) -> Done:
    """Return the scores and sizes of a tier in which moves may stay."""
    low, high = table.space.stretch(k)
    count, has_parents = high - low, defines(table.game, "parents")
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.uint32).whole()
    tier = Cyclic(table, k, low, high, table.scores.part(low, high), sums)
    sizes = np.zeros(count if table.symmetric else 0, np.uint16)
    seeds = Seeds(tier.scores.array, np.zeros(count, score_type(table.bits)), *np.zeros((2, count), np.int32))
    links = gather(tier, seeds, sizes, work, phase)
    ask: Callable[[Array], Iterable[Array]] = (
        partial(ask_rules, tier, work) if has_parents else partial(look_up, *links)
    )
    tell = telling(phase, int(table.space.tiers[k]), LOOKING)
    again = not alternates(table.game)
    Propagation(table.bits, seeds.scores, seeds.best, seeds.left, ask, tell, again).run()
    return np.array([k, low, high], np.int64), seeds.scores, sizes


def gather(tier: Cyclic, seeds: Seeds, sizes: Array, work: Work, phase: Phase) -> tuple[Array, Array]:
    """Look at all children once: fill the *seeds* and *sizes*, and return who the parents are, as `reverse` does.

    Where the rules give the parents, nobody is returned, and what stands for the parents is summed up.
    """
    count, has_parents = tier.high - tier.low, len(tier.sums.array) > 0
    tasks = [(tier, begin, end) for begin, end in expander_of(tier.table.game).blocks(tier.low, tier.high)]
    lists = []
    size = 0
    for number, (begin, found, own_sizes, links) in enumerate(work.map(look_at, tasks)):
        for all_of_it, part in zip(seeds, found, strict=True):
            all_of_it[begin : begin + len(part)] = part
        if len(sizes):
            sizes[begin : begin + len(own_sizes)] = own_sizes
        looked_at = begin + len(found.scores)
        phase.working(LOOKING * looked_at, int(tier.table.space.tiers[tier.k]), Deciding(0, count, None))
        if has_parents:
            own = links if alternates(tier.table.game) else np.where(links < 0, ~links, links)
            edges.add_up(own, found.counts, begin, tier.sums.array)
            continue
        lists.append(links)
        size += links.nbytes
        if number % 64 == 0:
            more = size * len(tasks) // (number + 1) * 3 - size + BYTES_A_POSITION * count
            work.budget.check(more, f"linking the {count:,} positions of a tier with cycles (less with parents())")
    begins = np.zeros(0 if has_parents else count + 2, np.int64)
    children = np.concatenate([np.empty(0, np.int32), *lists])
    parents = np.empty(len(children), np.int32 if count < 1 << 31 else np.int64)
    if not has_parents:
        kernels.reverse(children, np.cumsum(seeds.counts, dtype=np.int64), parents, begins)
    return parents, begins


def look_up(parents: Array, begins: Array, frontier: Array) -> Iterator[Array]:
    """Yield the parents within the tier of some positions, each as often as it has distinct children there; the
    complement of a parent's number where the same player moves there and here."""
    if len(frontier):
        out = np.empty(int((begins[frontier + 1] - begins[frontier]).sum()), np.int64)
        kernels.parents_of(frontier, parents, begins, out)
        yield out


def ask_rules(tier: Cyclic, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the same as the rules give it."""
    blocks = expander_of(tier.table.game).blocks(0, len(frontier))
    yield from work.map(ask_parents, ((tier, frontier[begin:end]) for begin, end in blocks))


# Tasks


def look_at(task: tuple[Cyclic, int, int]) -> tuple[int, Seeds, Array, Array]:
    """Divide the children of a block; return where in the tier it begins, what is known of its positions, their sizes,
    and the children within the tier, position by position."""
    (table, k, low, high, *_), begin, end = task
    block = expand_located(table, expander_of(table.game), k, begin, end)
    count = end - begin
    seeds = Seeds(*(np.empty(count, score_type(table.bits)) for _ in range(2)), *np.empty((2, count), np.int32))
    links = kernels.divide(
        block.columns, block.places, block.matrix, low, high, table.bits, table.scores.array, seeds, block.out
    )
    narrow = np.int32 if high - low < 1 << 31 else np.int64
    return begin - low, seeds, block.matrix.sizes.copy(), block.out[:links].astype(narrow)


def ask_parents(task: tuple[Cyclic, Array]) -> Array:
    """Return the parents that the rules give; raise RuleError where they are not those met before."""
    tier, frontier = task
    table, k, low, *_ = tier
    positions = table.space.positions[low + frontier]
    expander = expander_of(table.game)
    block = expander.expand_parents(int(table.space.tiers[k]), positions)
    locate(table, block)  # parents that play cannot reach have no place
    places = block.places[:, : block.columns]
    wrong, mark = edges.compare(frontier, places, low, tier.scores.array, table.bits, tier.sums.array)
    if wrong >= 0:
        complain_of_parents(tier, int(positions[wrong]), edges.place_of(mark, tier.high - low))
    if alternates(table.game):
        return places[places >= 0] - low
    expander.mark_moves_again(positions, block, np.arange(block.columns))
    numbers: Array = np.where(places < 0, ~(-2 - places - low), places - low)
    numbers = numbers[places != -1]
    return numbers


def complain_of_parents(tier: Cyclic, position: int, missing: int) -> NoReturn:
    """Raise the RuleError due where parents are wrong; *missing* is a place to suspect, -1 for none."""
    own = tier.table.space.positions[tier.low : tier.high]
    places = [missing] * (missing >= 0) + edges.some_of(len(own)).tolist()

    def known(parent: int) -> bool:
        place = int(own.searchsorted(parent))
        return place < len(own) and int(own[place]) == parent

    blame_parents(tier.table.game, position, known, map(int, own[places]))
