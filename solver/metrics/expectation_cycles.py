"""Blocks of positions as links to their children, with what expectations need of the rules; and tiers with cycles, of
which the lower bounds rise and sink until they stay; see `expectation.py`."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import RuleError, alternates
from retrograde.solver.methods.listed.table import Table, expand_placed
from retrograde.solver.methods.listed.weights import Weights, weigh
from retrograde.solver.metrics import expectation_kernels as kernels
from retrograde.solver.metrics.expectation_kernels import Links, Sides
from retrograde.solver.metrics.models.seats import Seats
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.runtime.arrays import Shared
from retrograde.solver.runtime.driver import Done
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

BYTES_A_LINK = 24
"""What a move in a tier with cycles takes: place and weight of the child, and as much while lists are joined."""
GUESSES = 1000
"""Sweeps of a tier that go into a guess, at most."""
BELOW = 16
"""Grains below a guess from which bounds are sought: rising takes fewer sweeps than sinking."""


class PayoffOverflow(Exception):
    """Payoffs leave no room for so many bits after the point."""


class Told(NamedTuple):
    """What tasks are told: where positions are, and the bounds that are known, so many *bits* after the point.

    With *seats*, each position has two places beside one another; see `metrics/models/seats.py`.
    """

    table: Table
    bounds: tuple[Shared, Shared]
    bits: int
    seats: Seats | None = None

    @property
    def width(self) -> int:
        """How many places each position has."""
        return 2 if self.seats else 1

    @property
    def arrays(self) -> tuple[Array, Array]:
        """The two rows of bounds."""
        return self.bounds[0].array, self.bounds[1].array


def look_at(task: tuple[Told, int, int, int, int]) -> tuple[Links, Array, Array]:
    """Return the links of a block of a tier, what its places pay where the game is over, and how many positions are
    symmetric to each.

    The places of its own positions are counted from *first* on, those of children among all.
    """
    told, k, begin, end, first = task
    game, space = told.table.game, told.table.space
    positions = space.positions[begin:end]
    block = expand_placed(told.table, expander_of(game), k, positions)
    weights = weigh(game, positions, block)
    check_room(weights, told.bits)
    columns, cells = told.width * block.columns, told.width * block.columns * len(block.children)
    links = Links(
        np.empty(columns, np.int64), np.empty(columns, np.int8), np.empty(columns, np.bool_),
        np.zeros(columns + 1, np.int64),
        np.empty(cells, np.int32 if told.width * len(space) < 1 << 31 else np.int64), np.empty(cells, np.int32),
        np.empty(told.width * weights.rewards.size, np.int64),
    )  # fmt: skip
    if told.seats:
        weighed = told.seats.weigh(game, positions.astype(np.int64), weights, block)
        sides = Sides(*weighed, alternates(game))
        count = kernels.link_both(block.columns, block.places, block.origins, weights, sides, first, told.bits, links)
    else:
        links.turns[:] = weights.turns
        count = kernels.link(columns, block.places, block.origins, weights, first, told.bits, links)
    links = Links(*links[:4], *(array[:count].copy() for array in links[4:]))
    pays = np.stack([weights.pays, -weights.pays], 1).ravel() if told.seats else weights.pays
    return links, pays, block.matrix.sizes.copy()


def check_room(weights: Weights, bits: int) -> None:
    """Raise PayoffOverflow where what is paid leaves no room for so many bits after the point."""
    for paid in (weights.pays, weights.rewards):
        if paid.size and max(int(paid.max()), -int(paid.min())) >= kernels.LIMIT >> bits:
            raise PayoffOverflow


class Cyclic(NamedTuple):
    """A tier, its places numbered from 0, and behind them the children outside; the bounds of both sides of all of
    these, of which those of undecided positions are sought; and how many positions are symmetric to each."""

    links: Links
    bounds: tuple[Array, Array]
    sizes: Array


def solve_large(told: Told, k: int, work: Work) -> Done:
    """Return the bounds and sizes of a tier in which moves stay, whose blocks are looked at by many workers."""
    low, high = told.table.space.stretch(k)

    def check(links: int) -> None:
        work.budget.check(BYTES_A_LINK * links, f"linking the {high - low:,} positions of a tier with cycles")

    return solve_cycles(told, k, work.map, check)


def solve_small(task: tuple[Told, int]) -> Done:
    """Return the same of a tier that one worker takes."""
    return solve_cycles(*task, map, lambda links: None)


def solve_cycles(told: Told, k: int, each: Map, check: Callable[[int], None]) -> Done:
    """Return the bounds and sizes of a tier; *check* is told how many links it will have."""
    low, high = told.table.space.stretch(k)
    count = told.width * (high - low)
    tier = gather(told, k, each, check)
    links = tier.links
    stays = kernels.find_endless(links, count)
    endless = bool(stays.any())
    if endless and len(links.rewards):
        refuse_endless(told, int(told.table.space.positions[low + int(stays.argmax()) // told.width]))
    begin = (0, 0) if endless else guessed(tier)
    links.endless[:] = stays[links.places]
    tasks = [(links, tier.bounds[side], begin[side], 1 - 2 * side, endless) for side in range(2)]
    sides = [values[:count] for values in each(settled, tasks)]
    return np.array([k, low, high], np.int64), *sides, tier.sizes


def refuse_endless(told: Told, position: int) -> NoReturn:
    """Raise RuleError: moves pay, and players may go on for ever, and what that pays need not come to anything."""
    raise RuleError(
        f"{variant(told.table.game)}, position {position}: moves pay a reward, and from here players may go on for "
        "ever; let tiers rise, or let ends alone pay"
    )


def gather(told: Told, k: int, each: Map, check: Callable[[int], None]) -> Cyclic:
    """Look at all children of a tier once."""
    low, high = told.table.space.stretch(k)
    parts: list[Links] = []
    paid, sizes = [], []
    tasks = [(told, k, *block, block[0] - low) for block in expander_of(told.table.game).blocks(low, high)]
    for number, (part, pays, own_sizes) in enumerate(each(look_at, tasks)):
        parts.append(part)
        paid.append(pays << told.bits)
        sizes.append(own_sizes)
        if number % 64 == 0:
            check(sum(len(part.children) for part in parts) * len(tasks) // (number + 1))
    ends = np.cumsum([0, *(len(part.children) for part in parts)])
    begins = [part.begins[:-1] + end for part, end in zip(parts, ends, strict=False)]
    places, turns, endless, _, children, odds, rewards = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    low, high = told.width * low, told.width * high
    outside = np.unique(children[(children < low) | (children >= high)])
    within = (children >= low) & (children < high)
    children = np.where(within, children - low, high - low + np.searchsorted(outside, children))
    links = Links(places, turns, endless, np.concatenate([*begins, ends[-1:]]), children, odds, rewards)
    own = np.concatenate(paid)
    bounds = tuple(np.concatenate([sign * own, row[outside]]) for row, sign in zip(told.arrays, (1, -1), strict=True))
    return Cyclic(links, (bounds[0], bounds[1]), np.concatenate(sizes))


def guessed(tier: Cyclic) -> tuple[Array, Array]:
    """Return for both sides what the undecided positions of a tier are worth, about, in which play always ends."""
    about = tier.bounds[0].astype(np.float64)
    about[tier.links.places] = 0
    kernels.guess(tier.links, about, GUESSES)
    found = np.clip(about[tier.links.places], -kernels.LIMIT / 2, kernels.LIMIT / 2).astype(np.int64)
    return found - BELOW, -found - BELOW


def settled(task: tuple[Links, Array, Array | int, int, bool]) -> Array:
    """Return the lower bounds of a tier, of the game as it is, or turned round for the *sign* -1.

    The nearer the bounds to *begin* with are to what comes out, the sooner it does. Where play cannot be *endless* any
    will do; where it can they must be 0.
    """
    links, values, begin, sign, endless = task
    values[links.places] = begin
    while True:
        exhaust(links, values, sign, rising=False)
        sunk = values[links.places]
        exhaust(links, values, sign, rising=True)
        before = values[links.places]
        if not endless or np.array_equal(before, sunk):
            return values
        values[links.places] = np.maximum(before, 0)


def exhaust(links: Links, values: Array, sign: int, rising: bool) -> None:
    """Rise or sink until nothing changes any more; raise PayoffOverflow where there is no room for what comes out."""
    while changed := kernels.pass_up(links, values, sign, rising):
        if changed < 0:
            raise PayoffOverflow
