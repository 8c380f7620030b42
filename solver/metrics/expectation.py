"""Expected payoffs under best play, in games with chance, as proven bounds.

Everything is from player 0's side: two players play for payoff(0) - payoff(1), one player for payoff(0). Player 0 takes
the move to the greatest expectation, player 1 to the least, and chance the mean by its odds. Endless play pays 0.

Bounds are integers in grains of 2**-bits each. Two rows hold them, and both are lower bounds: row 0 of the game, row 1
of the *negated* game, in which all payoffs have the other sign. So row 1 holds the negated upper bounds, and the code
for lower bounds serves for both::

    bounds[0][i]  <=  expectation of i in grains  <=  -bounds[1][i]

A tier without cycles takes one sweep, with means rounded down. In a tier with cycles, lower bounds L are right if

    L[i] <= worth of i by the L of its children, and L[i] is less than that
                                                 if L[i] > 0 and players can stay in the tier forever from i.

Proof: player 0 takes the move to the greatest L. Then L rises along play on average, by at least a grain wherever it is
above 0 and play may be endless. It cannot rise forever. So play that never leaves the tier is above 0 for a limited
time only, and then stays at 0 or less, and 0 is what it pays. (H. Everett, Recursive Games, 1957, has this for games in
which both players move at once.) Two operations keep L right:

- *rise*: L[i] becomes its worth by the children, less a grain where required. From below this converges to the best for
  a player who must make play end.
- *sink*: start from max(L, 0) and lower L[i] to its worth by the children. This converges to the best for a player who
  prefers to play forever.

They alternate until neither changes anything. A fixed point without rounding is the expectation: see docs/chance.md.
With rounding, the two rows differ by the grains lost on the way, and that difference is the proven error.

If players cannot stay forever, there is only one solution, and bounds that begin anywhere and sink until they hold are
right. So they begin at the approximate worth of a game in which each position costs a few grains more than rounding can
take away (`expectation_kernels.approximate`): nearly always they hold at once. A. Hartmanns and B. L. Kaminski,
Optimistic Value Iteration, 2020, prove bounds of Markov chains and decisions in this manner. If moves pay, players must
not be able to stay, because the sum of payments in endless play need not converge.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from retrograde.databases.layout import NOT_FOUND
from retrograde.games.contract.game import LOSE, TIE, WIN, Game, Traits
from retrograde.solver.methods.listed.explore.cutting import TASK, TierBlock, cut_into_tasks
from retrograde.solver.methods.listed.explore.space import StateSpace, levels
from retrograde.solver.methods.listed.table import ListedTable
from retrograde.solver.metrics import expectation_kernels as kernels
from retrograde.solver.metrics.best_response import ModelAndResponder
from retrograde.solver.metrics.expectation_cycles import (
    ExpectationInputs,
    PayoffOverflow,
    read_block,
    solve_large,
    solve_small,
)
from retrograde.solver.metrics.explored_game import ExploredGame
from retrograde.solver.metrics.method import MetricOptions, MetricResult
from retrograde.solver.rules.expansion import expander_of
from retrograde.solver.rules.weights import movers
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.driver import Done, StoredCounts, drive
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.work import MetricNotApplicable, Work

BITS = (46, 30)
"""Bits after the binary point. The second number is for payoffs of 2**15 and more; ends' payoffs always fit with it."""


def measure(explored: ExploredGame, options: MetricOptions, phase: Phase) -> MetricResult:
    """Return the bounds of all positions, for the player to move; for player 0 if chance moves.

    If *options* name a model, they are those of a best response. Raise MetricNotApplicable for more than two players,
    or for two players without `turn` and without a model.
    """
    game = explored.game
    players = ModelAndResponder(options.against, options.playing) if options.against else None
    if game.players > 2 or (players and game.players == 1):
        least = "two players" if players else "one player or two"
        raise MetricNotApplicable(f"expectations are of {least}, and this game is for {game.players}")
    if game.players == 2 and not Traits.of(game).has_turn and not players:
        raise MetricNotApplicable(
            "expectations need turn(position), which says whose they are, or a model: --against random"
        )
    # Try with fewer bits after the point if payoffs overflow.
    for bits in BITS:
        store = ExpectationStore(game, explored.space, bits, explored.work, players)
        try:
            drive(store, explored.work.log(f"expectation{bits}"), phase)
        except PayoffOverflow:
            continue
        explored.sizes[:] = store.sizes
        return result_of(store, explored)
    raise MetricNotApplicable("what is paid adds up to 2**31 and more")


def result_of(store: "ExpectationStore", explored: ExploredGame) -> MetricResult:
    """Return the bounds from the side of the player to move.

    Against a model there are two pairs, of what the responder can expect. `low` and `high`: the responder is to move,
    or at chance's positions player 0 is the responder. `waiting_low` and `waiting_high`: the other player is to move.
    """
    inputs, player_1_moves = store.inputs, movers_in(explored) == 1
    # The second row holds negated upper bounds.
    lows, highs = inputs.arrays[0], -inputs.arrays[1]
    # Case: best play. The bounds are player 0's, so those of player 1 are negated and exchanged.
    if not inputs.players:
        low, high = np.where(player_1_moves, -highs, lows), np.where(player_1_moves, -lows, highs)
        return result_from_bounds({"low": low, "high": high}, inputs.bits, {})
    # Case: against a model. Each position has two bounds: player 0 is the responder, or player 1.
    lows, highs = lows.reshape(-1, 2), highs.reshape(-1, 2)
    rows, mover = np.arange(len(explored)), player_1_moves.astype(np.int64)
    columns = {"low": lows[rows, mover], "high": highs[rows, mover]}
    columns |= {"waiting_low": lows[rows, 1 - mover], "waiting_high": highs[rows, 1 - mover]}
    return result_from_bounds(columns, inputs.bits, inputs.players.details)


def movers_in(explored: ExploredGame) -> Array:
    """Return who is to move in each position, int8; 0 if two players alternate."""
    positions = explored.positions
    if explored.alternating:
        return np.zeros(len(positions), np.int8)
    tasks = ((explored.game, positions[begin : begin + TASK]) for begin in range(0, len(positions), TASK))
    return np.concatenate([*explored.work.map(ask_movers, tasks)])


def result_from_bounds(columns: dict[str, Array], bits: int, details: dict[str, Any]) -> MetricResult:
    """Return the result for pairs of bounds in grains: the value is their sign, and there is no remoteness. *details*
    get the scale (grains per point) and the greatest difference of two bounds in points."""
    low, high, *others = columns.values()
    values = np.select([low > 0, high < 0], [WIN, LOSE], TIE).astype(np.uint8)
    pairs = [(low, high), *zip(others[::2], others[1::2], strict=True)]
    error = max(float((above - below).max()) for below, above in pairs)
    scale = 1 << bits
    remotenesses = np.full(len(low), NOT_FOUND, np.int32)
    return MetricResult(values, remotenesses, columns, {"scale": scale, "error": error / scale, **details})


class ExpectationStore:
    """The bounds of a state space while it is solved. A group is a list of tier numbers."""

    def __init__(self, game: Game, space: StateSpace, bits: int, work: Work, players: ModelAndResponder | None):
        """Start with nothing solved; raise MemoryLimit. *players* is for a best response, else None.

        *bits*: see `BITS`.
        """
        self.width = 2 if players else 1
        """Bounds of a position in each row: against a model there is one for each player as the responder."""
        # For each position: its size, uint16, and both rows of bounds, int64.
        work.budget.check((2 + 16 * self.width) * len(space), f"solving {len(space):,} positions")
        bounds = [work.zeros(f"bounds{bits}.{row}", self.width * len(space), np.int64) for row in range(2)]
        self.inputs = ExpectationInputs(
            ListedTable(game, space, bounds[0], bits), (bounds[0], bounds[1]), bits, players
        )
        self.work, self.space = work, space
        self.sizes = np.zeros(len(space) if self.inputs.table.symmetric else 0, np.uint16)
        """How many positions are symmetric to each; empty without symmetry."""
        self.solved: set[TierBlock] = set()

    def groups(self) -> Iterator[list[int]]:
        """Yield lists of tier numbers that can be solved together, last first."""
        yield from levels(self.space.tiers.tolist(), self.space.edges)

    def solve(self, group: list[int], phase: Phase) -> Iterator[Done]:
        """Yield the bounds and sizes of blocks of the group's tiers, as `keep` takes them."""
        cyclic = {k for k in group if self.space.has_cycles(k)}
        # Step 1: tiers without cycles, cut into tasks.
        plain = [(k, *self.space.bounds_of(k)) for k in group if k not in cyclic]
        tasks = (task for task in cut_into_tasks(plain, TASK) if not self.solved.issuperset(task))
        yield from self.work.map(sweep_blocks, ((self.inputs, task) for task in tasks))
        # Step 2: small tiers with cycles; a task is some that lie next to each other.
        unsolved = [k for k in sorted(cyclic) if (k, *self.space.bounds_of(k)) not in self.solved]
        small = [k for k in unsolved if len(range(*self.space.bounds_of(k))) <= TASK]
        yield from self.work.map(solve_small, ((self.inputs, task) for task in self.join_adjacent(small)))
        # Step 3: large ones, one after another by all workers.
        for k in unsolved:
            if k not in small:
                yield solve_large(self.inputs, k, self.work)

    def join_adjacent(self, small: list[int]) -> Iterator[list[int]]:
        """Cut *small*, ascending tier numbers, into lists of adjacent ones, of up to about TASK positions."""
        task: list[int] = []
        for k in small:
            positions = self.space.starts[k + 1] - self.space.starts[task[0] if task else k]  # of the task with k
            if task and (task[-1] + 1 != k or positions > TASK):
                yield task
                task = []
            task.append(k)
        if task:
            yield task

    def keep(self, done: Done) -> StoredCounts:
        """Store the bounds and sizes of blocks of tiers; return how many positions they have."""
        tier_blocks, *bounds, sizes = done
        count = 0
        for k, begin, end in tier_blocks.reshape(-1, 3).tolist():
            for row, new_row in zip(self.inputs.arrays, bounds, strict=True):
                block_bounds = new_row[self.width * count : self.width * (count + end - begin)]
                row[self.width * begin : self.width * end] = block_bounds
            if len(self.sizes):
                self.sizes[begin:end] = sizes[count : count + end - begin]
            count += end - begin
            self.solved.add((k, begin, end))
        return StoredCounts(count, int(self.space.tiers[k]), int(sizes.sum()) if len(sizes) else count)


# Tasks


def ask_movers(task: tuple[Game, Array]) -> Array:
    """Return who is to move in some positions."""
    return movers(*task)


def sweep_blocks(task: tuple[ExpectationInputs, list[TierBlock]]) -> Done:
    """Solve blocks of tiers without cycles; raise PayoffOverflow.

    A block is (tier number, first index, end), with indices among all positions. Returns, as `keep` takes them, the
    blocks, both rows of bounds, and how many positions each record stands for (nothing without symmetries).
    """
    inputs, tier_blocks = task
    results, sizes = [], [np.empty(0, np.uint16)]
    for k, first, last in tier_blocks:
        for begin, end in expander_of(inputs.table.game).blocks(first, last):
            graph, pays, block_sizes = read_block((inputs, k, begin, end))
            result = np.empty((2, len(pays)), np.int64)
            kernels.sweep(graph, pays, inputs.arrays, result)
            if np.abs(result).max() >= kernels.LIMIT:
                raise PayoffOverflow
            results.append(result)
            sizes.append(block_sizes)
    return np.array(tier_blocks, np.int64).ravel(), *np.concatenate(results, axis=1), np.concatenate(sizes)
