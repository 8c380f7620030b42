"""A tier with cycles: who is whose child and parent there, and propagation from what is decided."""

from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.game import alternates, defines
from retrograde.solver.links.links import Links, LinkWriter
from retrograde.solver.links.sorting import Shape, packed
from retrograde.solver.listed import kernels
from retrograde.solver.listed.kernels import Seeds
from retrograde.solver.listed.table import Table, expand_located, locate
from retrograde.solver.outcomes import edges
from retrograde.solver.outcomes.left import left_type, narrowed
from retrograde.solver.outcomes.propagation import Propagation, telling
from retrograde.solver.outcomes.score import score_type
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.rules.second_look import blame_parents
from retrograde.solver.work.arrays import Part
from retrograde.solver.work.driver import Done
from retrograde.solver.work.progress import Deciding, Phase
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

BYTES_A_POSITION = 8
"""What a tier takes for each position beside its links, about: children left, sizes, frontiers or sums of parents."""
STRETCH = 1 << 15
"""Positions in a task of looking at children."""
LOOKING = 0.6
"""What looking at all positions once takes of the time that a tier takes, about."""


class Cyclic(NamedTuple):
    """A tier to be solved: its number k, where it begins and ends, the scores of its positions, numbered from 0, and
    what is left of them (see outcomes/left.py).

    `sums` uint32[n] is about the parents (see outcomes/edges.py), or uint32[0] where the rules do not give them.
    """

    table: Table
    k: int
    low: int
    high: int
    scores: Part
    left: Part
    sums: Part


class Known(NamedTuple):
    """What is known at first of the positions of a tier: their scores, or the greatest passed up by children of later
    tiers, and how much is left until they have lost (see kernels.Seeds); and how many are symmetric to each."""

    scores: Array
    left: Array
    sizes: Array


def solve_cycles(table: Table, k: int, work: Work, phase: Phase) -> Done:
    """Return the scores and sizes of a tier in which moves may stay."""
    low, high = table.space.stretch(k)
    count, has_parents = high - low, defines(table.game, "parents")
    sums = work.zeros(f"sums{k}", count if has_parents else 0, np.uint32).whole()
    left = work.zeros(f"left{k}", count, left_type(table.bits)).whole()
    tier = Cyclic(table, k, low, high, table.scores.part(low, high), left, sums)
    work.budget.check(BYTES_A_POSITION * count, f"solving the {count:,} positions of a tier with cycles")
    known = Known(tier.scores.array, left.array, np.zeros(count if table.symmetric else 0, np.uint16))
    links = gather(tier, known, work, phase)
    tell = telling(phase, int(table.space.tiers[k]), LOOKING)
    again = not alternates(table.game)
    with closing(links) if links else nullcontext() as there:
        ask = there.parents_of if there else partial(ask_rules, tier, work)
        Propagation(table.bits, known.scores, known.left, ask, tell, again).run()
    return np.array([k, low, high], np.int64), known.scores, known.sizes


def gather(tier: Cyclic, known: Known, work: Work, phase: Phase) -> Links | None:
    """Look at all children once: fill what is *known*, and return who the parents are.

    Where the rules give the parents, nobody is returned, and what stands for the parents is summed up.
    """
    count, has_parents = tier.high - tier.low, len(tier.sums.array) > 0
    writer = None if has_parents else LinkWriter(work, f"links{tier.table.bits}-{tier.k}", count, known)
    shape = writer.shape if writer else None
    begins = range(tier.low + (writer.done if writer else 0), tier.high, STRETCH)
    tasks = ((tier, shape, begin, min(begin + STRETCH, tier.high)) for begin in begins)
    for begin, found, links in work.map(look_at, tasks):
        end = begin + len(found.scores)
        for all_of_it, part in zip(known, found, strict=True):
            if len(all_of_it):
                all_of_it[begin:end] = part
        phase.working(LOOKING * end, int(tier.table.space.tiers[tier.k]), Deciding(0, count, None))
        if writer:
            writer.take(links, end)
        else:
            edges.add_up(*links, begin, tier.sums.array)
    return writer.turned_round() if writer else None


def ask_rules(tier: Cyclic, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the parents within the tier of some positions, as `Links.parents_of` does, but as the rules give them."""
    blocks = expander_of(tier.table.game).blocks(0, len(frontier))
    yield from work.map(ask_parents, ((tier, frontier[begin:end]) for begin, end in blocks))


# Tasks


def look_at(task: tuple[Cyclic, Shape | None, int, int]) -> tuple[int, Known, Any]:
    """Divide the children of a stretch; return where in the tier it begins, what is known of its positions, and the
    children within the tier: packed if a *shape* is given, else one after another, and how many each has."""
    (table, k, low, high, *_), shape, begin, end = task
    expander = expander_of(table.game)
    count = end - begin
    known = Known(np.empty(count, score_type(table.bits)), *np.empty((2, count), np.uint16))
    counts = np.empty(count, np.int32)
    lists = []
    for first, last in expander.blocks(begin, end):
        block = expand_located(table, expander, k, first, last)
        here = slice(first - begin, last - begin)
        seeds = Seeds(known.scores[here], known.left[here], counts[here])
        links = kernels.divide(
            block.columns, block.places, block.matrix, low, high, table.bits, table.scores.array, seeds, block.out
        )
        if table.symmetric:
            known.sizes[here] = block.matrix.sizes
        lists.append(block.out[:links].astype(np.int32 if high - low < 1 << 31 else np.int64))
    links = np.concatenate(lists)
    known = known._replace(left=narrowed(known.left, table.bits))
    if shape:
        return begin - low, known, packed(shape, links, counts, begin - low)
    if not alternates(table.game):
        links = np.where(links < 0, ~links, links)
    return begin - low, known, (links, counts)


def ask_parents(task: tuple[Cyclic, Array]) -> Array:
    """Return the parents that the rules give; raise RuleError where they are not those met before."""
    tier, frontier = task
    table, k, low, *_ = tier
    positions = table.space.positions[low + frontier]
    expander = expander_of(table.game)
    block = expander.expand_parents(int(table.space.tiers[k]), positions)
    locate(table, block)  # parents that play cannot reach have no place
    places = block.places[:, : block.columns]
    wrong, mark = edges.compare(frontier, places, low, tier.left.array, tier.sums.array)
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
