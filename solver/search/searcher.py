"""Runs the compiled search repeatedly until a value and a remoteness are proved or time is out.

Each question is "is this position worth at least *bound*?" (see `bounds.py`). The order of questions:

1. "A win within 8 plies?", "no loss within 8 plies?", then 16. These may visit only a few positions.
2. "A win?", then "no loss?". These two decide the value if the search comes to an end.
3. Then the distance of the win or loss: "within 8 plies?", 16, 32, …, then binary search between the last two.
4. If the search runs deeper than its workspace instead, play can repeat. Then "a win within n plies?" and "no loss
   within n plies?" for n = 1, 2, 3, …

One compiled call asks the first questions, without a time limit. It suffices for small searches.

Questions with a distance always end, and their answers do not depend on the moves played before. So the search proves
wins and losses in games with cycles, but never a draw by endless play.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from retrograde.games import DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game, RuleError, Value
from retrograde.games.catalog import variant
from retrograde.games.contract.game import POSITION_BITS, Traits
from retrograde.games.contract.raised import given_start
from retrograde.solver.rules.examine import describe_difference, examine, or_a_bug, refuse_to_search
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import position_in
from retrograde.solver.rules.reason import compilable
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.search import kernels
from retrograde.solver.search.bounds import (
    ANY_DISTANCE,
    ANY_WIN,
    DEEPENING,
    NO_LOSS,
    SOON_FIRST,
    no_loss_within,
    win_within,
    worth_of,
)
from retrograde.solver.search.endgame_tables import EndgameTables, address_of
from retrograde.solver.search.table import TableTooSmall, make_table
from retrograde.solver.search.ties import NO_PATH, make_refuted, path_length
from retrograde.solver.search.timer import StoppableSearch

INITIAL_PLIES, INITIAL_MOVES = 512, 64
"""Initial limits of the workspace: plies of depth and moves of a position."""
MOST_WORKSPACE = 1 << 22
"""Greatest size of the workspace, in plies times moves."""
SPARE_BITS = 4
"""Bits that the table allows beyond those of the initial position, or of the longest one met."""
TIE_SECONDS = 10.0
"""Default limit for finding the remoteness of a tie, in seconds. It may take forever otherwise."""
TABLE_SIZE = 1 << 28
"""Default size of the transposition table, in bytes."""
LARGEST_TABLE, TABLE_SHARE = 1 << 30, 4
"""The most bytes that the table of a long search takes unless the user says, and at most 1 / TABLE_SHARE of free
memory. A table that is larger still makes each access slower, and saves few positions."""
FIRST_SIZE, GROWTH = 1 << 17, 8
"""Size of the table at first, and the factor by which it grows. The first touch of memory takes 1 ms a MB."""
QUICK_NODES = 512
"""Number of positions up to which one compiled call asks all questions."""
SOON_NODES = 1 << 16
"""Number of positions that a question for a near win or loss may visit."""


def table_for_long_search() -> int:
    """Return the bytes to which the table of a long search may grow if the user gives no size."""
    return min(LARGEST_TABLE, MemoryBudget().free_bytes() // TABLE_SHARE)


class OutOfTime(Exception):
    """The search was stopped before it had an answer."""


class NodeLimitReached(Exception):
    """The search used up its node limit without an answer."""


class SearchTooDeep(Exception):
    """The search went deeper than its workspace allows, as it does when play repeats."""


@dataclass(frozen=True)
class SearchResult:
    """What a search proved of a position, for the player to move.

    `value` and `remoteness` (plies) are None until they are proved. `at_least` and `at_most` are the worst and the best
    value still possible. Neither side can force a win within `no_end_within` plies. `nodes` counts positions searched.
    """

    value: Value | None
    remoteness: int | None
    at_least: Value
    at_most: Value
    no_end_within: int
    nodes: int
    seconds: float
    in_tables: int = 0
    """Number of positions found in endgame tables."""

    @property
    def proved(self) -> bool:
        return self.value is not None


class Bounds(NamedTuple):
    """Lower and upper bound of a position's worth."""

    low: int
    high: int

    def no_end_within(self, far: int) -> int:
        """Return the number of plies within which neither side can force a win; 0 if the value is known."""
        is_open = self.low <= 0 <= self.high and self.low != self.high
        return min(far - self.high, self.low + far) - 1 if is_open else 0


class Search(StoppableSearch):
    """A search of one game by several threads, with a transposition table of *size* bytes. The table is kept between
    questions. If *most* is larger, the table may grow to *most* bytes in a long question.
    """

    def __init__(
        self, game: Game, workers: int = 1, size: int = TABLE_SIZE, tables: EndgameTables | None = None, most: int = 0
    ):
        """Prepare a search that probes the endgame *tables*. Raise NotForSearch if the game does not suit."""
        self.refuse(game)
        self.endgame_tables = tables
        # Entries of several words are not written at once, so that threads could not share the table.
        self.game, self.workers, self.size = game, 1 if Traits.of(game).width else workers, size
        # A table whose entries have several words cannot be copied into a larger one.
        self.most = 0 if Traits.of(game).width else most
        self.pool = ThreadPoolExecutor(self.workers)
        self.halted = False
        self.nodes = 0
        """Positions searched in all finished questions."""
        self.in_tables = 0
        """Positions found in endgame tables."""
        # Bits of `kernels.DRAWS` and `kernels.TIES`: kinds of drawn ends met so far.
        self.ends_met = 0
        self.cyclic = False  # whether a question went too deep, so that play can repeat
        self.workspace_size = INITIAL_PLIES, INITIAL_MOVES
        self.node_limit = kernels.NO_LIMIT
        """Positions that a question may visit."""
        # Positions may have up to POSITION_BITS bits. A small table cannot hold them, so start with the bits of the
        # initial position; `enlarge` makes a new table when a longer one appears.
        start = given_start(game)
        bits = start.bit_length() + SPARE_BITS if isinstance(start, int) else POSITION_BITS
        self.table_size = min(FIRST_SIZE, size)
        self.make_table(min(bits, POSITION_BITS))
        self.make_workspaces()
        self.compile()

    def compile(self, ties: bool = False) -> None:
        """Compile the rules now, and with *ties* the tie search; it takes seconds at first. Raise NotCompilable."""
        # With the stop flags set, the kernels return at once.
        self.set_stop_flags(True)
        with compilable(self.game):
            zero: Any = (0,) * width if (width := Traits.of(self.game).width) else 0
            self.at_least(zero, NO_LOSS, self.workspaces[0])
            if ties:
                path_length(self.game, zero, 1, self.table, self.workspaces[0], self.refuted)
        self.set_stop_flags(self.halted)

    def make_table(self, bits: int) -> None:
        """Replace the transposition table by an empty one for positions of *bits* bits."""
        try:
            table = make_table(self.table_size, bits, Traits.of(self.game).width, self.size, self.scores_in)
        except TableTooSmall:
            if self.table_size >= self.size:
                raise
            self.grow_table(bits)
        else:
            self.table = table._replace(endgame_tables=address_of(self.endgame_tables))
            # The keys of refuted positions depend on the number of bits, as those of the table do.
            self.refuted = make_refuted(self.game)

    def grow_table(self, bits: int) -> None:
        """Replace the table by a larger, empty one."""
        self.table_size = min(GROWTH * self.table_size, self.size if self.table_size < self.size else self.most)
        self.make_table(bits)

    def make_workspaces(self) -> None:
        """Allocate the workspace of each thread, and the memory that threads share."""
        self.shared = np.full(1 << kernels.SHARED_BITS, kernels.NO_KEY, np.int64)
        shared = self.shared if self.workers > 1 else None
        self.workspaces = [
            kernels.make_workspace(*self.workspace_size, self.words_per_child, shared) for _ in range(self.workers)
        ]

    # Hooks: `ScoreSearch` overrides them

    scores_in = 0
    """The size of the table in which scores must fit as bounds; 0 if bounds are distances."""

    @property
    def words_per_child(self) -> int:
        """Number of int64 words per child in the workspace."""
        return int(kernels.words_per_child(rules_for(self.game)))

    def refuse(self, game: Game) -> None:
        """Raise NotForSearch if this search does not apply to the game."""
        refuse_to_search(game)

    def at_least(self, position: int, bound: int, workspace: kernels.ThreadWorkspace) -> bool:
        """Return the answer of one thread; meaningless if its `TROUBLE` counter is set."""
        return kernels.at_least(self.game, position, bound, self.table, workspace)

    def worth_of_end(self, position: int) -> int:
        """Return the worth of a position in which the game is over."""
        return worth_of(self.game.primitive(position), 0, self.table.layout.far)

    # One question

    def ask(self, position: int, bound: int, workers: int | None = None) -> bool:
        """Return whether a position is worth at least *bound*, by so many *workers* (None: all). Raise OutOfTime,
        SearchTooDeep or RuleError."""
        if self.game.primitive(position) != UNDECIDED:
            return self.worth_of_end(position) >= bound
        # If every thread gave up, enlarge what was too small and repeat the question.
        while True:
            workspaces = self.workspaces[:workers]
            answers = self.ask_threads(position, bound, workspaces)
            if answers:
                return answers[0]
            self.enlarge(workspaces)

    def ask_within(self, position: int, bound: int, nodes: int) -> bool | None:
        """Like `ask`, with one thread; None if *nodes* positions do not suffice."""
        self.node_limit = nodes
        try:
            return self.ask(position, bound, 1)
        except NodeLimitReached:
            return None
        finally:
            self.node_limit = kernels.NO_LIMIT

    def ask_threads(self, position: int, bound: int, workspaces: list[kernels.ThreadWorkspace]) -> list[bool]:
        """Ask one thread for each workspace; return the answers of those that finished."""
        if self.halted:
            raise OutOfTime
        ask = partial(self.ask_thread, position, bound)
        answers = [ask(workspaces[0])] if len(workspaces) == 1 else list(self.pool.map(ask, workspaces))
        self.set_stop_flags(self.halted)  # the first thread with an answer has set them
        self.collect_counters(workspaces)
        return [answer for answer in answers if answer is not None]

    def collect_counters(self, workspaces: list[kernels.ThreadWorkspace]) -> None:
        """Add the threads' counters to the totals and reset them; collect the kinds of ends met."""
        for workspace in workspaces:
            self.nodes += int(workspace.counters[kernels.NODES])
            self.in_tables += int(workspace.counters[kernels.IN_TABLES])
            workspace.counters[kernels.NODES] = workspace.counters[kernels.IN_TABLES] = 0
            self.ends_met |= int(workspace.counters[kernels.ENDS])

    @property
    def looked_at(self) -> int:
        """Positions searched so far, including those of the running question."""
        return self.nodes + sum(int(workspace.counters[kernels.NODES]) for workspace in self.workspaces)

    def ask_thread(self, position: int, bound: int, workspace: kernels.ThreadWorkspace) -> bool | None:
        """Return one thread's answer and stop the other threads; None if this one was stopped or gave up."""
        self.reset_counters(workspace, self.node_limit)
        answer = self.at_least(position, bound, workspace)
        if workspace.counters[kernels.TROUBLE]:
            return None
        self.set_stop_flags(True)
        return answer

    def reset_counters(self, workspace: kernels.ThreadWorkspace, node_limit: int) -> None:
        """Prepare a thread for a question that may visit *node_limit* positions, or as many as suit the table."""
        workspace.counters[: kernels.STOP] = 0
        workspace.counters[kernels.MOST_NODES] = min(node_limit, self.nodes_for_table)

    @property
    def nodes_for_table(self) -> int:
        """Number of positions after which the table grows; NO_LIMIT if it has its full size."""
        if self.table_size < self.size:
            return self.table.words.size // 4
        # Beyond the usual size, memory is taken only in searches that gain by it: from some 100 million positions on.
        return 4 * self.table.words.size if self.table_size < self.most else kernels.NO_LIMIT

    @property
    def most_plies(self) -> int:
        """The greatest distance of an end that a search can prove."""
        return self.table.layout.far - 2

    def set_stop_flags(self, stopped: bool) -> None:
        """Set or clear the stop flag of all threads."""
        for workspace in self.workspaces:
            workspace.counters[kernels.STOP] = stopped

    def enlarge(self, workspaces: list[kernels.ThreadWorkspace]) -> None:
        """Enlarge the table or workspace that was too small for a thread; if nothing was, raise why all gave up."""
        # Why each thread gave up, and at which position.
        all_counters = [workspace.counters.tolist() for workspace in workspaces]
        troubles = {
            counters[kernels.TROUBLE]: position_in(self.game, counters, kernels.POSITION) for counters in all_counters
        }
        if kernels.BROKEN in troubles:
            examine(self.game, troubles[kernels.BROKEN])
            raise RuleError(describe_difference(self.game, troubles[kernels.BROKEN]))
        if kernels.TOO_WIDE in troubles:
            self.make_table(min(troubles[kernels.TOO_WIDE].bit_length() + SPARE_BITS, POSITION_BITS))
        elif kernels.MANY_MOVES in troubles:
            plies, moves = self.workspace_size
            if plies * moves >= MOST_WORKSPACE:
                raise RuleError(f"{variant(self.game)} has positions with more than {moves:,} moves")
            self.workspace_size = plies, 4 * moves
            self.make_workspaces()
        elif kernels.NODE_LIMIT in troubles:
            if self.node_limit <= self.nodes_for_table:  # the caller's limit ended the search, not the table's size
                raise NodeLimitReached
            old, workspace = self.table, self.workspaces[0]
            self.grow_table(old.layout.position_bits)
            if not Traits.of(self.game).width:
                kernels.copy_entries(kernels.memory_of(old, workspace), kernels.memory_of(self.table, workspace))
        elif kernels.TOO_DEEP in troubles:
            raise SearchTooDeep
        else:
            raise OutOfTime

    # Value and distance

    def find(
        self, position: int, seconds: float | None = None, distance: bool = True, depth: int | None = None
    ) -> SearchResult:
        """Search a position for at most *seconds* and return the result. Without *distance*, prove only the value. With
        *depth*, prove only outcomes within that many plies."""
        began, nodes, in_tables = time.monotonic(), self.nodes, self.in_tables
        far = self.table.layout.far  # more plies than the table can hold: a win in n is worth far - n (see `bounds.py`)
        bounds, remoteness, stopped = Bounds(1 - far, far - 1), None, False
        value = self.game.primitive(position)
        if value != UNDECIDED:
            remoteness = 0
        else:
            if depth is None and not self.cyclic:
                bounds = self.ask_quickly(position, distance)
            if kernels.next_bound(*bounds, ANY_DISTANCE, distance, far) < far:  # something is left to ask
                with self.limit_time(seconds):
                    with suppress(OutOfTime):
                        for closer in self.narrow(position, bounds, distance, depth):
                            bounds = closer
                    stopped = self.halted
            value, remoteness = self.outcome_proved_by(bounds)
        seconds_left = TIE_SECONDS if seconds is None else seconds - (time.monotonic() - began)
        if value == TIE and remoteness is None and distance and seconds_left > 0 and not stopped:
            # Compile outside the time limit: it happens once and is no search.
            self.compile(ties=True)
            with self.limit_time(seconds_left):
                remoteness = self.plies_to_tie(position)
        return SearchResult(
            value=value if value != UNDECIDED else None,
            remoteness=remoteness,
            at_least=value if value != UNDECIDED else (DRAW if bounds.low >= 0 else LOSE),
            at_most=value if value != UNDECIDED else (TIE if bounds.high <= 0 else WIN),
            no_end_within=bounds.no_end_within(far),
            nodes=self.nodes - nodes,
            seconds=time.monotonic() - began,
            in_tables=self.in_tables - in_tables,
        )

    def ask_quickly(self, position: int, distance: bool) -> Bounds:
        """Return the bounds of a position's worth that one compiled call proves with QUICK_NODES positions. Without
        *distance* it stops once the value is known."""
        workspace, far = self.workspaces[0], self.table.layout.far
        self.reset_counters(workspace, QUICK_NODES)
        first = kernels.next_bound(1 - far, far - 1, SOON_FIRST, distance, far)
        bounds = kernels.bounds_from(self.game, position, first, SOON_FIRST, distance, self.table, workspace)
        self.collect_counters([workspace])
        return Bounds(*bounds)

    def narrow(self, position: int, bounds: Bounds, distance: bool, depth: int | None) -> Iterator[Bounds]:
        """Yield ever closer bounds of a position's worth, from *bounds* on, until they meet or *depth* is reached.
        Without *distance*, stop once they prove the value."""
        far, order = self.table.layout.far, SOON_FIRST
        while True:
            if self.cyclic or depth is not None:
                order = DEEPENING
            bound = kernels.next_bound(*bounds, order, distance, far)
            if bound == far or (depth is not None and bounds.no_end_within(far) >= depth):
                return
            # The first questions ask for a win or loss within few plies, and get few positions.
            is_quick = order == SOON_FIRST and bound not in (ANY_WIN, NO_LOSS) and bounds.low <= 0 <= bounds.high
            try:
                answer = self.ask_within(position, bound, SOON_NODES) if is_quick else self.ask(position, bound)
            except SearchTooDeep:  # play can repeat: from now on, ask about 1, 2, 3 … plies
                self.cyclic = True
                continue
            if answer is None:  # not answered with so few positions: ask about any distance
                order = ANY_DISTANCE
                continue
            bounds = Bounds(bound, bounds.high) if answer else Bounds(bounds.low, bound - 1)
            yield bounds

    def outcome_proved_by(self, bounds: Bounds) -> tuple[Value, int | None]:
        """Return (value, remoteness): UNDECIDED if the bounds do not prove the value, None if not the remoteness."""
        # A win in n plies is worth far - n, a loss n - far (see `bounds.py`).
        far = self.table.layout.far
        is_exact = bounds.low == bounds.high
        if bounds.low > 0:
            return WIN, far - bounds.low if is_exact else None
        if bounds.high < 0:
            return LOSE, bounds.high + far if is_exact else None
        if is_exact and self.ends_met == kernels.TIES:  # worth 0, and no end was a DRAW
            return TIE, None
        return UNDECIDED, None

    # Remoteness of ties: a shortest path, because both sides prefer an early end

    def plies_to_tie(self, position: int) -> int | None:
        """Return the fewest plies from a TIE to the end by moves that keep it; None if time or memory run out."""
        try:
            # The remoteness is from *least* to *plies*.
            least, plies = 1, self.find_tie_path(position, self.workspace_size[0])
            while least < plies:
                middle = (least + plies) // 2
                if shorter := self.find_tie_path(position, middle):
                    plies = shorter
                else:
                    least = middle + 1
        except (OutOfTime, SearchTooDeep):
            return None
        return None if plies == NO_PATH else plies

    def find_tie_path(self, position: int, most: int) -> int:
        """Return the plies of a path from a TIE to its end through ties, perhaps not the shortest. Return NO_PATH if no
        path has at most *most* plies. Raise OutOfTime or SearchTooDeep."""
        if most < 1:
            return NO_PATH
        # One thread searches. If the table or the workspace is too small, enlarge it and search again.
        while not self.halted:
            workspace = self.workspaces[0]
            self.reset_counters(workspace, self.node_limit)
            length = path_length(self.game, position, most, self.table, workspace, self.refuted)
            self.collect_counters([workspace])
            if not workspace.counters[kernels.TROUBLE]:
                return length
            self.enlarge([workspace])
        raise OutOfTime

    # Best play

    def line(self, position: int, found: SearchResult, seconds: float | None = None) -> list[int]:
        """Return the moves of best play from a position with this proved result, as many as *seconds* allow."""
        line: list[int] = []
        value, plies = found.value, found.remoteness
        if value == TIE:
            self.compile(ties=True)  # outside the limit, as in `find`
        with self.limit_time(seconds), suppress(OutOfTime):
            while plies and value is not None:
                for move in self.game.generate_moves(position):
                    child = self.game.do_move(position, move)
                    if self.keeps(child, value, plies):
                        break
                else:
                    what = f"no move of {variant(self.game)} keeps what was proved of position {position}"
                    raise RuleError(f"{what}. {or_a_bug(self.game)}")
                line.append(move)
                position, value, plies = child, FLIPPED[value], plies - 1
        return line

    def keeps(self, child: int, value: Value, plies: int) -> bool:
        """Return whether a move to *child* keeps *value*, to be reached in *plies* plies from before the move."""
        far = self.table.layout.far  # more plies than the table can hold: a win in n is worth far - n (see `bounds.py`)
        if value == WIN:
            return not self.ask(child, no_loss_within(plies - 1, far))  # the opponent loses in plies - 1
        if value == LOSE:
            return plies == 1 or not self.ask(child, win_within(plies - 2, far))  # no sooner win of the opponent
        # A TIE: the last ply must end in a tie. Before it, the child must be a tie, with a path that is short enough.
        end = self.game.primitive(child)
        if end != UNDECIDED or plies == 1:
            return bool(end == TIE and plies == 1)
        return not self.ask(child, ANY_WIN) and self.find_tie_path(child, plies - 1) != NO_PATH

    # Time

    def halt(self) -> None:
        self.halted = True
        self.set_stop_flags(True)

    def resume(self) -> None:
        self.halted = False
        self.set_stop_flags(False)
