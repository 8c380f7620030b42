"""Expected payoffs under best play, in games with chance: between bounds that are proven.

All is told from player 0's side: what two players play for is payoff(0) - payoff(1), what one plays for payoff(0).
Player 0 takes the move to the greatest expectation, player 1 to the least, and chance the mean by its odds. Play that
never ends pays 0.

Bounds are whole numbers of grains, 2**-bits each. There are two rows of them, both lower bounds: in row 0 of the game,
in row 1 of the game *turned round*, in which all payoffs have the other sign; so it has the upper bounds with the other
sign, and whatever is said of lower bounds serves for both::

    bounds[0][i]  <=  expectation of i in grains  <=  -bounds[1][i]

A tier that no move stays in takes one sweep, each mean rounded down. Of a tier with cycles, lower bounds L are right if

    L[i] <= what i is worth by the L of its children, and L[i] is less than that
                                                      where L[i] > 0 and players can go on from i for ever in the tier,

for player 0, taking the move to the greatest L, makes L rise along play on average. It rises by at least a grain
wherever it is above 0 and play may be endless; since it cannot rise for ever, play that does not leave the tier is
above 0 there for some time only, and then ends up with 0, which is what it pays, or less. (H. Everett, Recursive Games,
1957, has this for games in which both players move at once.) Two operations keep L so:

- *rise*: L[i] becomes what it is worth by its children, less a grain where it must be less. From below this comes to
  the best for whoever must make play end;
- *sink*: beginning from L where it is above 0, and from 0 elsewhere, L[i] comes down to what it is worth by its
  children. This comes to the best for whoever would rather play on for ever.

They take turns until neither changes anything. Where all L stay, without rounding, L is the expectation: see
docs/chance.md. With it, the two rows end up as far apart as there are grains lost on the way, and that is how far
the result is proven.

Where players cannot go on for ever, whatever they do, any L to begin with leads to the only solution. Where moves pay
as well it must be so: what endless play pays need not come to anything.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from retrograde.databases.layout import NOT_FOUND
from retrograde.games.contract.game import LOSE, TIE, WIN, Game, defines
from retrograde.solver.methods.listed.explore.cutting import TASK, Stretch, cut
from retrograde.solver.methods.listed.explore.space import StateSpace, levels
from retrograde.solver.methods.listed.table import Table
from retrograde.solver.methods.listed.weights import movers
from retrograde.solver.metrics import expectation_kernels as kernels
from retrograde.solver.metrics.expectation_cycles import PayoffOverflow, Told, look_at, solve_large, solve_small
from retrograde.solver.metrics.explored import Explored
from retrograde.solver.metrics.measured import Demand, Measured, Unsuited
from retrograde.solver.metrics.models.seats import Seats
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.runtime.driver import Done, Kept, drive
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import Work

Array = np.ndarray[Any, Any]

BITS = (46, 30)
"""Bits after the point: the fewer where payoffs of 2**15 and more leave no room for the more. What two ends pay differs
by less than 2**31, so that the fewer always do."""


def measure(explored: Explored, demand: Demand, phase: Phase) -> Measured:
    """Return the bounds of all positions, each for who is to move there, and player 0's where that is chance.

    Where the demand names a model they are those of a best response. Raises Unsuited where the game has more than two
    players, or two of whom nobody says who is to move and none moves by a model.
    """
    game = explored.game
    seats = Seats(demand.against, demand.playing) if demand.against else None
    if game.players > 2 or (seats and game.players == 1):
        least = "two players" if seats else "one player or two"
        raise Unsuited(f"expectations are of {least}, and this game is for {game.players}")
    if game.players == 2 and not defines(game, "turn") and not seats:
        raise Unsuited("expectations need turn(position), which says whose they are, or a model: --against random")
    for bits in BITS:
        store = ExpectationStore(game, explored.space, bits, explored.work, seats)
        try:
            drive(store, explored.work.log(f"expectation{bits}"), phase)
        except PayoffOverflow:
            continue
        return responses(store, explored, seats) if seats else measured(store, explored)
    raise Unsuited("what is paid adds up to 2**31 and more")


def measured(store: "ExpectationStore", explored: Explored) -> Measured:
    """Return the bounds from the side of who is to move."""
    lows, highs = store.told.arrays[0], -store.told.arrays[1]
    second = movers_in(explored) == 1
    low, high = np.where(second, -highs, lows), np.where(second, -lows, highs)
    return told_by_bounds({"low": low, "high": high}, store.told.bits)


def responses(store: "ExpectationStore", explored: Explored, seats: Seats) -> Measured:
    """Return two pairs of bounds, both of what the responder can expect: `low` and `high` where who is to move is the
    responder, or at chance's positions player 0; `waiting_low` and `waiting_high` where the other one is."""
    lows, highs = (sign * row.reshape(-1, 2) for sign, row in zip((1, -1), store.told.arrays, strict=True))
    every = np.arange(len(explored))
    own = (movers_in(explored) == 1).astype(np.int64)
    columns = {"low": lows[every, own], "high": highs[every, own]}
    columns |= {"waiting_low": lows[every, 1 - own], "waiting_high": highs[every, 1 - own]}
    return told_by_bounds(columns, store.told.bits, seats.details)


def movers_in(explored: Explored) -> Array:
    """Return who is to move in all positions; 0 where two players alternate."""
    positions = explored.positions
    if explored.alternating:
        return np.zeros(len(positions), np.int8)
    tasks = ((explored.game, positions[begin : begin + TASK]) for begin in range(0, len(positions), TASK))
    return np.concatenate([*explored.work.map(ask_movers, tasks)])


def told_by_bounds(columns: dict[str, Array], bits: int, details: Mapping[str, Any] = MappingProxyType({})) -> Measured:
    """Return what bounds say: the value is told by the sign, for who is to move; there is no remoteness."""
    low, high, *others = columns.values()
    values = np.select([low > 0, high < 0], [WIN, LOSE], TIE).astype(np.uint8)
    pairs = [(low, high), *zip(others[::2], others[1::2], strict=True)]
    error = max(float((above - below).max()) for below, above in pairs)
    about = {"scale": 1 << bits, "error": error / (1 << bits), **details}
    return Measured(values, np.full(len(low), NOT_FOUND, np.int32), columns, about)


class ExpectationStore:
    """The bounds of a state space in the making; a group is a list of numbers of tiers."""

    def __init__(self, game: Game, space: StateSpace, bits: int, work: Work, seats: Seats | None = None):
        """Begin a store in which nothing is known; with *seats*, of a best response (see `metrics/models/seats.py`).

        Raises MemoryLimit where there is not enough for it.
        """
        self.width = 2 if seats else 1
        work.budget.check((2 + 16 * self.width) * len(space), f"solving {len(space):,} positions")
        bounds = [work.zeros(f"bounds{bits}.{side}", self.width * len(space), np.int64) for side in range(2)]
        self.told = Told(Table(game, space, bounds[0], bits), (bounds[0], bounds[1]), bits, seats)
        self.work, self.space = work, space
        self.sizes = np.zeros(len(space) if self.told.table.symmetric else 0, np.uint16)
        self.solved: set[Stretch] = set()

    def groups(self) -> Iterator[list[int]]:
        """Yield the numbers of tiers that can be solved at once, last first."""
        yield from levels(self.space.tiers.tolist(), self.space.edges)

    def solve(self, group: list[int], phase: Phase) -> Iterator[Done]:
        """Yield the stretches of tiers, their bounds, and their sizes."""
        cyclic = {k for k in group if self.space.has_cycles(k)}
        plain = [(k, *self.space.stretch(k)) for k in group if k not in cyclic]
        tasks = (task for task in cut(plain, TASK) if not self.solved.issuperset(task))
        yield from self.work.map(sweep, ((self.told, task) for task in tasks))
        left = [k for k in sorted(cyclic) if (k, *self.space.stretch(k)) not in self.solved]
        small = [k for k in left if len(range(*self.space.stretch(k))) <= TASK]
        yield from self.work.map(solve_small, ((self.told, k) for k in small))
        for k in left:
            if k not in small:
                yield solve_large(self.told, k, self.work)

    def keep(self, done: Done) -> Kept:
        """Take the bounds and sizes of stretches of tiers."""
        stretches, *bounds, sizes = done
        count = 0
        for k, begin, end in stretches.reshape(-1, 3).tolist():
            for row, found in zip(self.told.arrays, bounds, strict=True):
                of_places = found[self.width * count : self.width * (count + end - begin)]
                row[self.width * begin : self.width * end] = of_places
            if len(self.sizes):
                self.sizes[begin:end] = sizes[count : count + end - begin]
            count += end - begin
            self.solved.add((k, begin, end))
        return Kept(count, int(self.space.tiers[k]), int(sizes.sum()) if len(sizes) else count)


# Tasks


def ask_movers(task: tuple[Game, Array]) -> Array:
    """Return who is to move in some positions."""
    return movers(*task)


def sweep(task: tuple[Told, list[Stretch]]) -> Done:
    """Return the bounds and sizes of stretches of tiers that no move stays in."""
    told, stretches = task
    found, sizes = [], [np.empty(0, np.uint16)]
    for k, first, last in stretches:
        for begin, end in expander_of(told.table.game).blocks(first, last):
            links, pays, own_sizes = look_at((told, k, begin, end, 0))
            result = np.empty((2, told.width * (end - begin)), np.int64)
            kernels.sweep(links, pays, told.bits, told.arrays, result)
            if np.abs(result).max() >= kernels.LIMIT:
                raise PayoffOverflow
            found.append(result)
            sizes.append(own_sizes)
    return np.array(stretches, np.int64).ravel(), *np.concatenate(found, axis=1), np.concatenate(sizes)
