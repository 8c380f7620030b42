"""Questions to the compiled search, asked and asked again until a value and a distance are proved or time is out.

A win is first proved as such, then its distance is halved in: "within 8 plies?", and so on. Where play can go round in
circles, only questions with a distance are asked, one ply further each time: they always come to an end, and what they
prove holds whatever was played before. So a draw by endless play is never proved here; wins and losses are.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from retrograde.games.catalog import variant
from retrograde.games.contract.game import (
    DRAW,
    FLIPPED,
    LOSE,
    POSITION_BITS,
    TIE,
    UNDECIDED,
    WIN,
    Game,
    RuleError,
    Value,
)
from retrograde.games.contract.raised import given_start
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import differ, examine, or_a_bug, refuse_to_search
from retrograde.solver.rules.reason import compilable
from retrograde.solver.search import kernels
from retrograde.solver.search.table import Table, TableTooSmall, make_table
from retrograde.solver.search.ties import Question, Ties
from retrograde.solver.search.timer import limited
from retrograde.solver.search.worth import ANY_WIN, NO_LOSS, Leaves, no_loss_within, win_within, worth_of

DEEPEST, WIDEST = 512, 64
"""Plies and moves that there is room for, to begin with."""
MOST_ROOM = 1 << 22
"""Plies times moves that there is room for at most."""
SPARE_BITS = 4
"""Bits that positions may have more than those met so far, in a table too small for positions of any length."""
TIE_SECONDS = 10.0
"""Seconds in which it is found out how far a tie is, unless somebody says how long to search: it may take for ever."""
TABLE_SIZE = 1 << 28
"""Bytes of the transposition table, unless somebody says another number."""


class OutOfTime(Exception):
    """The search was stopped before it had an answer."""


class Spent(Exception):
    """The search has looked at as many positions as it was to, and has no answer."""


class Endless(Exception):
    """Play goes round in circles, or on for longer than there is room."""


@dataclass(frozen=True)
class Finding:
    """What a search has found out of a position, for the player to move.

    `value` and `remoteness` are None as long as they are not proved. `at_least` and `at_most` are the worst and the
    best value that are not ruled out; `no_end_within` says within how many plies neither side can force a win,
    where only that is known. `nodes` are positions looked at.
    """

    value: Value | None
    remoteness: int | None
    at_least: Value
    at_most: Value
    no_end_within: int
    nodes: int
    seconds: float
    leaves: int = 0
    """Positions among them that were found in tables."""

    @property
    def proved(self) -> bool:
        """Whether the value is proved."""
        return self.value is not None


class Bounds(NamedTuple):
    """The least and the most that a position is worth, and for how many plies neither side can force a win."""

    low: int
    high: int
    plies: int = 0


class Search:
    """A search of a game on so many threads, in a table of so many bytes, which is kept from question to question."""

    def __init__(self, game: Game, workers: int = 1, size: int = TABLE_SIZE, leaves: Leaves | None = None):
        """Search a game; *leaves* are tables that are asked of its positions."""
        self.refuse(game)
        self.leaves = leaves
        compiled.prepare(game)
        self.game, self.workers, self.size = game, workers, size
        self.pool = ThreadPoolExecutor(workers)
        self.halted = False
        self.nodes = 0
        """Positions looked at for all questions that are answered."""
        self.told = 0
        """Positions that were found in tables."""
        self.met = 0
        self.cyclic = False
        self.ties = Ties(game, self.alone)
        self.room = DEEPEST, WIDEST
        try:
            self.make_table(POSITION_BITS)
        except TableTooSmall:
            start = given_start(game)
            if not isinstance(start, int):
                raise
            self.make_table(min(start.bit_length() + SPARE_BITS, POSITION_BITS))
        self.compile()

    def compile(self, ties: bool = False) -> None:
        """Let the rules be compiled now, which takes seconds the first time and is no search; for *ties* as well.

        Raises NotCompilable where they cannot be.
        """
        self.stop(True)
        with compilable(self.game):
            self.at_least(0, NO_LOSS, self.stacks[0])
            if ties:
                self.ties.question(0, 1)(self.table, self.stacks[0])
        self.stop(self.halted)

    def make_table(self, bits: int) -> None:
        """Begin with an empty table for positions of so many bits."""
        self.table: Table = make_table(self.size, bits)._replace(leaves=self.leaves and self.leaves.words)
        self.make_stacks()

    def make_stacks(self) -> None:
        self.shared = kernels.make_shared()
        shared = self.shared if self.workers > 1 else None
        self.stacks = [kernels.make_stack(*self.room, shared, self.PARTS) for _ in range(self.workers)]

    # What is asked, and of which games: searches of other kinds ask other questions

    PARTS = kernels.PARTS
    """Words for each child in the room of a ply."""

    def refuse(self, game: Game) -> None:
        """Raise NotForSearch where such a search does not fit the game."""
        refuse_to_search(game)

    def at_least(self, position: int, bound: int, stack: kernels.Stack) -> bool:
        """Return the answer of one thread; any answer where it has met with trouble."""
        return kernels.at_least(self.game, position, bound, self.table, stack)

    def worth_of_end(self, position: int) -> int:
        """Return what a position is worth in which the game is over."""
        return worth_of(self.game.primitive(position), 0, self.table.shape.far)

    # One question

    def ask(self, position: int, bound: int, workers: int | None = None) -> bool:
        """Return whether a position is worth so much at least; raise OutOfTime, Endless or RuleError."""
        if self.game.primitive(position) != UNDECIDED:
            return self.worth_of_end(position) >= bound
        while True:
            stacks = self.stacks[:workers]
            answers = self.run(position, bound, stacks)
            if answers:
                return answers[0]
            self.mend(stacks)

    def ask_within(self, position: int, bound: int, nodes: int) -> bool | None:
        """Return the same, by one thread; None where it has looked at so many positions and does not know."""
        self.stacks[0].marks[kernels.MOST] = nodes
        try:
            return self.ask(position, bound, 1)
        except Spent:
            return None
        finally:
            self.stacks[0].marks[kernels.MOST] = kernels.ANY_NUMBER

    def run(self, position: int, bound: int, stacks: list[kernels.Stack]) -> list[bool]:
        """Return the answers of the threads that came to one."""
        if self.halted:
            raise OutOfTime
        ask = partial(self.run_one, position, bound)
        answers = [ask(stacks[0])] if len(stacks) == 1 else list(self.pool.map(ask, stacks))
        self.stop(self.halted)
        self.add_up(stacks)
        return [answer for answer in answers if answer is not None]

    def add_up(self, stacks: list[kernels.Stack]) -> None:
        """Note how many positions threads have looked at, and what ends they have met."""
        for stack in stacks:
            self.nodes += int(stack.marks[kernels.NODES])
            self.told += int(stack.marks[kernels.LEAVES])
            stack.marks[kernels.NODES] = stack.marks[kernels.LEAVES] = 0
            self.met |= int(stack.marks[kernels.ENDS])

    @property
    def looked_at(self) -> int:
        """Positions looked at up to now."""
        return self.nodes + sum(int(stack.marks[kernels.NODES]) for stack in self.stacks)

    def run_one(self, position: int, bound: int, stack: kernels.Stack) -> bool | None:
        """Return the answer of one thread, which stops the others; None where it was stopped or given up."""
        stack.marks[: kernels.STOP] = 0
        answer = self.at_least(position, bound, stack)
        if stack.marks[kernels.TROUBLE]:
            return None
        self.stop(True)
        return answer

    def stop(self, stopped: bool) -> None:
        """Let all threads stop, or go on."""
        for stack in self.stacks:
            stack.marks[kernels.STOP] = stopped

    def mend(self, stacks: list[kernels.Stack]) -> None:
        """Make room for what threads had none for; raise what cannot be mended."""
        troubles = {int(stack.marks[kernels.TROUBLE]): int(stack.marks[kernels.POSITION]) for stack in stacks}
        if kernels.BROKEN in troubles:
            examine(self.game, troubles[kernels.BROKEN])
            raise RuleError(differ(self.game, troubles[kernels.BROKEN]))
        if kernels.WIDE in troubles:
            self.make_table(min(troubles[kernels.WIDE].bit_length() + SPARE_BITS, POSITION_BITS))
        elif kernels.MANY_MOVES in troubles:
            plies, moves = self.room
            if plies * moves >= MOST_ROOM:
                raise RuleError(f"{variant(self.game)} has positions with more than {moves:,} moves")
            self.room = plies, 4 * moves
            self.make_stacks()
        elif kernels.SPENT in troubles:
            raise Spent
        elif kernels.ENDLESS in troubles:
            raise Endless
        else:
            raise OutOfTime

    # Value and distance

    def find(
        self, position: int, seconds: float | None = None, distance: bool = True, depth: int | None = None
    ) -> Finding:
        """Return what is found out of a position within some seconds; without *distance*, only its value.

        With *depth*, only what is decided within so many plies is sought.
        """
        began, nodes, leaves = time.monotonic(), self.nodes, self.told
        found = Bounds(-self.table.shape.far, self.table.shape.far)
        remoteness: int | None = None
        value = self.game.primitive(position)
        with self.limited(seconds):
            try:
                if value != UNDECIDED:
                    remoteness = 0
                else:
                    for known in self.narrowed(position, distance, depth):
                        found = known
            except OutOfTime:
                pass
            if value == UNDECIDED:
                value, remoteness = self.outcome(found)
            left = TIE_SECONDS if seconds is None else seconds - (time.monotonic() - began)
            stopped = self.halted
        if value == TIE and remoteness is None and distance and left > 0 and not stopped:
            self.compile(ties=True)  # for which the time stands still: it is needed once
            with self.limited(left):
                remoteness = self.plies_to_tie(position)
        return Finding(
            value if value != UNDECIDED else None,
            remoteness,
            value if value != UNDECIDED else (DRAW if found.low >= 0 else LOSE),
            value if value != UNDECIDED else (TIE if found.high <= 0 else WIN),
            found.plies,
            self.nodes - nodes,
            time.monotonic() - began,
            self.told - leaves,
        )

    def narrowed(self, position: int, distance: bool, depth: int | None) -> Iterator[Bounds]:
        """Yield what is known of a position, more each time, until all is."""
        far = self.table.shape.far
        if not self.cyclic and depth is None:
            try:
                low, high = -far, far
                if self.ask(position, ANY_WIN):
                    low = ANY_WIN
                elif self.ask(position, NO_LOSS):
                    low = high = NO_LOSS
                else:
                    high = NO_LOSS - 1
                yield Bounds(low, high)
                if low != high and distance:
                    yield self.halved(position, Bounds(low, high))
                return
            except Endless:
                self.cyclic = True
        for plies in range(1, min(depth or self.table.shape.far, self.table.shape.far - 2) + 1):
            far = self.table.shape.far
            if self.ask(position, win_within(plies, far)):
                yield Bounds(win_within(plies, far), win_within(plies, far))
                return
            if not self.ask(position, no_loss_within(plies, far)):
                yield Bounds(plies - far, plies - far)
                return
            yield Bounds(no_loss_within(plies, far), win_within(plies + 1, far), plies)

    def halved(self, position: int, found: Bounds) -> Bounds:
        """Return the distance of a win or a loss that is proved: doubled until it is enough, then halved in."""
        far = self.table.shape.far
        wins = found.low > 0

        def decided(plies: int) -> bool:
            if wins:
                return self.ask(position, win_within(plies, far))
            return not self.ask(position, no_loss_within(plies, far))

        few, many = 0, 8
        while many < far - 1 and not decided(many):
            few, many = many, 2 * many
        if many >= far - 1:
            return found
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if decided(middle) else (middle, many)
        worth = worth_of(WIN if wins else LOSE, many, far)
        return Bounds(worth, worth)

    def outcome(self, found: Bounds) -> tuple[Value, int | None]:
        """Return the value and the remoteness that bounds prove."""
        far = self.table.shape.far
        exact = found.low == found.high != NO_LOSS
        if found.low > 0:
            return WIN, far - found.low if exact else None
        if found.high < 0:
            return LOSE, found.high + far if exact else None
        if found.low == found.high and self.met == kernels.TIES:
            return TIE, None
        return UNDECIDED, None

    # Ties: how soon they come is no contest, since both sides rather have them soon

    def plies_to_tie(self, position: int) -> int | None:
        """Return the remoteness of a TIE, if there is time: the fewest plies to its end by moves that keep it."""
        try:
            return self.ties.plies(position, self.room[0])
        except (OutOfTime, Endless):
            return None

    def alone(self, question: Question) -> int:
        """Return the answer of one thread to a question; raise OutOfTime, Endless or RuleError."""
        while not self.halted:
            stack = self.stacks[0]
            stack.marks[: kernels.STOP] = 0
            answer = question(self.table, stack)
            self.add_up([stack])
            if not stack.marks[kernels.TROUBLE]:
                return answer
            self.mend([stack])
        raise OutOfTime

    # Best play

    def line(self, position: int, found: Finding, seconds: float | None = None) -> list[int]:
        """Return best play from a position of which value and remoteness are proved, as far as there is time."""
        line: list[int] = []
        value, plies = found.value, found.remoteness
        with self.limited(seconds), suppress(OutOfTime):
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
        """Return whether a move to a child keeps a value that is so many plies away."""
        far = self.table.shape.far
        if value == WIN:
            return not self.ask(child, no_loss_within(plies - 1, far))
        if value == LOSE:
            return not self.ask(child, win_within(plies - 2, far)) if plies > 1 else True
        end = self.game.primitive(child)
        if end != UNDECIDED or plies == 1:
            return bool(end == TIE and plies == 1)
        return not self.ask(child, ANY_WIN) and bool(self.ties.way(child, plies - 1))

    def children(self, position: int) -> list[int]:
        return [self.game.do_move(position, move) for move in self.game.generate_moves(position)]

    # Time

    def limited(self, seconds: float | None) -> AbstractContextManager[None]:
        """Stop what is searched within after some seconds; without a number, as long as it takes."""
        return limited(seconds, self.halt, self.resume)

    def halt(self) -> None:
        """Stop all threads; what is being asked ends with OutOfTime."""
        self.halted = True
        self.stop(True)

    def resume(self) -> None:
        """Let what is asked next be searched."""
        self.halted = False
        self.stop(False)
