"""Expectations of tiers with cycles: lower bounds rise and sink until they stay (see `expectation.py`).

Also `read_block`, which reads the rules for a block of positions.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import RuleError, Traits
from retrograde.solver.methods.listed.table import ListedTable, expand_unmarked
from retrograde.solver.metrics import expectation_kernels as kernels
from retrograde.solver.metrics.best_response import ModelAndResponder
from retrograde.solver.metrics.expectation_kernels import ChildLists
from retrograde.solver.metrics.explored_game import explored_block
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

BYTES_A_LINK = 24
"""Memory per move in a tier with cycles, in bytes.

It holds the place and weight of the child, and as much again while lists are joined.
"""
GUESSES = 1000
"""Greatest number of sweeps for a guess of a tier."""
BELOW = 16
"""Grains below the guess at which the bounds start, because rising takes fewer sweeps than sinking."""


class PayoffOverflow(Exception):
    """Payoffs do not fit with this number of bits after the point."""


class ExpectationInputs(NamedTuple):
    """What tasks receive: where positions are, the bounds so far, and the bits after the point.

    With *players*, each position has two places next to each other; see `best_response.py`.
    """

    table: ListedTable
    bounds: tuple[SharedArray, SharedArray]
    bits: int
    players: ModelAndResponder | None = None

    @property
    def width(self) -> int:
        """Number of places of each position."""
        return 2 if self.players else 1

    @property
    def arrays(self) -> tuple[Array, Array]:
        """The two rows of bounds."""
        return self.bounds[0].array, self.bounds[1].array


def read_block(task: tuple[ExpectationInputs, int, int, int]) -> tuple[ChildLists, Array, Array]:
    """Return the ChildLists of a block, what its ends pay in grains, and the number of positions symmetric to each.

    Children are places among all positions. Raise PayoffOverflow if payments do not fit with `bits` bits after the
    point.
    """
    inputs, k, begin, end = task
    table, players = inputs.table, inputs.players
    expanded = expand_unmarked(table, expander_of(table.game), k, table.space.positions[begin:end])
    block = explored_block(table, begin, expanded)
    pays, gains = for_player_0(block.pays), for_player_0(block.rewards)
    if max(np.abs(pays).max(initial=0), np.abs(gains).max(initial=0)) >= kernels.LIMIT >> inputs.bits:
        raise PayoffOverflow
    pays, gains = pays << inputs.bits, gains << inputs.bits
    place = np.int32 if inputs.width * len(table.space) < 1 << 31 else np.int64
    if not players:
        endless = np.zeros(len(pays), np.bool_)
        links = ChildLists(block.movers, endless, block.begins, block.children.astype(place), block.odds, gains)
        return links, pays, block.sizes
    count, moves = 2 * len(pays), 2 * len(block.children)
    links = ChildLists(
        np.empty(count, np.int8), np.zeros(count, np.bool_), np.zeros(count + 1, np.int64), np.empty(moves, place),
        np.empty(moves, np.int32), np.empty(2 * len(gains), np.int64),
    )  # fmt: skip
    weights = players.weigh(table, begin, block, expanded)
    moves = kernels.link_both(block, gains, *weights, Traits.of(table.game).alternates, links)
    links = ChildLists(*links[:3], *(array[:moves].copy() for array in links[3:]))
    return links, np.stack([pays, -pays], 1).ravel(), block.sizes


def for_player_0(amounts: Array) -> Array:
    """Return what player 0 is paid, less what player 1 is paid if there are two; *amounts* has a column for each."""
    return np.asarray(amounts[:, 0] - amounts[:, 1] if amounts.shape[1] == 2 else amounts[:, 0])


class ExpectationCycle(NamedTuple):
    """A tier with cycles: its links, both rows of bounds, and the number of positions symmetric to each.

    Places are numbered from 0: first the tier's own, then the children outside it. The bounds of all places are known,
    except those of the tier's undecided positions.
    """

    links: ChildLists
    bounds: tuple[Array, Array]
    sizes: Array


def solve_large(inputs: ExpectationInputs, k: int, work: Work) -> Done:
    """Return the bounds and sizes of a tier with cycles; many workers look at its blocks."""
    low, high = inputs.table.space.stretch(k)

    def check(links: int) -> None:
        work.budget.check(BYTES_A_LINK * links, f"linking the {high - low:,} positions of a tier with cycles")

    return solve_cycles(inputs, k, work.map, check)


def solve_small(task: tuple[ExpectationInputs, int]) -> Done:
    """Like `solve_large`, by one worker."""
    return solve_cycles(*task, map, lambda links: None)


def solve_cycles(inputs: ExpectationInputs, k: int, each: Map, check: Callable[[int], None]) -> Done:
    """Return the bounds and sizes of a tier with cycles; *check* is called with its expected number of links."""
    low, high = inputs.table.space.stretch(k)
    count = inputs.width * (high - low)
    tier = gather(inputs, k, each, check)
    links = tier.links
    # Step 1: find where players can stay forever. Endless play with rewards has no expectation.
    stays = kernels.find_endless(links)
    endless = bool(stays.any())
    if endless and len(links.rewards):
        refuse_endless(inputs, int(inputs.table.space.positions[low + int(stays.argmax()) // inputs.width]))
    # The kernel subtracts a grain where players can stay, so that no play stays above 0 forever.
    links.endless[:] = stays
    # Step 2: start from a guess if play always ends; else from 0, as the proof requires.
    begins: tuple[Array | int, Array | int] = (0, 0) if endless else starts_from_guess(tier)
    # Step 3: find both rows of bounds, in parallel if *each* does.
    tasks = [
        SideTask(links, values, begin, sign, endless)
        for values, begin, sign in zip(tier.bounds, begins, (1, -1), strict=True)
    ]
    sides = [values[:count] for values in each(solve_side, tasks)]  # the rest are children outside the tier
    return np.array([k, low, high], np.int64), *sides, tier.sizes


def refuse_endless(inputs: ExpectationInputs, position: int) -> NoReturn:
    """Raise RuleError: moves pay and players may go on forever, so payments need not converge."""
    raise RuleError(
        f"{variant(inputs.table.game)}, position {position}: moves pay a reward, and from here players may go on for "
        "ever; let tiers rise, or let ends alone pay"
    )


def gather(inputs: ExpectationInputs, k: int, each: Map, check: Callable[[int], None]) -> ExpectationCycle:
    """Look at all blocks of a tier once and join them into an ExpectationCycle."""
    low, high = inputs.table.space.stretch(k)
    parts: list[ChildLists] = []
    paid, sizes = [], []
    tasks = [(inputs, k, *block) for block in expander_of(inputs.table.game).blocks(low, high)]
    for number, (part, pays, part_sizes) in enumerate(each(read_block, tasks)):
        parts.append(part)
        paid.append(pays)
        sizes.append(part_sizes)
        if number % 64 == 0:
            check(sum(len(part.children) for part in parts) * len(tasks) // (number + 1))
    ends = np.cumsum([0, *(len(part.children) for part in parts)])
    begins = [part.begins[:-1] + end for part, end in zip(parts, ends, strict=False)]
    turns, endless, _, children, odds, rewards = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    low, high = inputs.width * low, inputs.width * high
    # Renumber children: the tier's own from 0, those outside after them.
    outside = np.unique(children[(children < low) | (children >= high)])
    within = (children >= low) & (children < high)
    children = np.where(within, children - low, high - low + np.searchsorted(outside, children))
    links = ChildLists(turns, endless, np.concatenate([*begins, ends[-1:]]), children, odds, rewards)
    payoffs = np.concatenate(paid)
    bounds = tuple(
        np.concatenate([sign * payoffs, row[outside]]) for row, sign in zip(inputs.arrays, (1, -1), strict=True)
    )
    return ExpectationCycle(links, (bounds[0], bounds[1]), np.concatenate(sizes))


def starts_from_guess(tier: ExpectationCycle) -> tuple[Array, Array]:
    """Return the start of both rows, from a guess in floating point; for tiers in which play always ends."""
    about = tier.bounds[0].astype(np.float64)
    undecided = undecided_in(tier.links)
    about[undecided] = 0
    kernels.guess(tier.links, about, GUESSES)
    guessed = np.clip(about[undecided], -kernels.LIMIT / 2, kernels.LIMIT / 2).astype(np.int64)
    return guessed - BELOW, -guessed - BELOW


def undecided_in(links: ChildLists) -> Array:
    """Return the places of a tier that are no ends."""
    return np.flatnonzero(np.diff(links.begins))


class SideTask(NamedTuple):
    """Lower bounds of a tier with cycles to solve: of the game, or with `sign` -1 of the negated game.

    `values` has the bounds of all places, which the task changes. `begin` is where the tier's bounds start: the nearer
    to the result, the fewer sweeps. It must be 0 if play can be `endless`.
    """

    links: ChildLists
    values: Array
    begin: Array | int
    sign: int
    endless: bool


def solve_side(task: SideTask) -> Array:
    """Return `values` with the final lower bounds of the tier; those of the children outside it stay.

    Bounds sink, then rise, until neither changes them. If play always ends, once is enough.
    """
    links, values, begin, sign, endless = task
    undecided = undecided_in(links)
    values[undecided] = begin
    while True:
        sweep_until_stable(links, values, sign, rising=False)
        sunk = values[undecided]
        sweep_until_stable(links, values, sign, rising=True)
        risen = values[undecided]
        if not endless or np.array_equal(risen, sunk):
            return values
        values[undecided] = np.maximum(risen, 0)


def sweep_until_stable(links: ChildLists, values: Array, sign: int, rising: bool) -> None:
    """Rise or sink until nothing changes; raise PayoffOverflow if a bound becomes too great."""
    while changed := kernels.sweep_cycle(links, values, sign, rising):
        if changed < 0:
            raise PayoffOverflow
