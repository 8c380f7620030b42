"""A walk: from some positions on, one move for the side that is to keep a value, and every answer of the other side.

Positions that are met and open are those in which the side that keeps the value is to move: for each of them a move is
chosen, and the answers to it lead to others. Which side that is does not matter, for all is said of who is to move; so
a proof that neither side can win walks from the root, and from all that one move makes of it, into one set.

Of moves that keep the value the one is chosen that leaves the fewest open positions which are not in the set already,
as far as that comes cheap. What a move is worth is asked in that order, so that threats come first, to which there are
few answers, and of all of them with a little effort before it is asked of any with more: to refute the wrong move may
take as long as the whole search, whose table knows a right one.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import DRAW, TIE, UNDECIDED, WIN, Game, RuleError, Value
from retrograde.solver.rules.examine import differ, examine, tier_of
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.search.certificates import kernels
from retrograde.solver.search.searcher import Search
from retrograde.solver.search.worth import ANY_WIN, NO_LOSS, no_loss_within, win_within

BYTES = 320
"""Bytes of memory for each position of a set, when it is largest."""
MOST_ROOM = 1 << 10
"""Moves that there is room for at most."""
REPLY_BITS = 16
REPLY_MASK = (1 << REPLY_BITS) - 1
NOT_YET = -1
EFFORT = 1 << 14
"""Positions looked at first to find out whether a move keeps the value; then eight times as many, and so on."""


class Turned(Exception):
    """Play may go round in circles: what was taken to lead on in tiers does not."""


class NoMove(Exception):
    """A position in which no move keeps the value."""


class Way(NamedTuple):
    """A move by its number: the child it leads to, and the canonical positions that the answers leave open."""

    number: int
    child: int
    open: list[int]


class Walk:
    """The set of positions with their replies, as it grows, where play cannot go on for ever.

    *goal* is what is kept: WIN, TIE or DRAW; what plain play decides within so many plies, *leaves*, is left out.
    """

    bounded = False
    """Whether each position has a bound on plies."""

    def __init__(self, search: Search, goal: Value, leaves: int, memory: int):
        self.search, self.game, self.goal, self.leaves = search, search.game, goal, leaves
        self.most = max(memory // BYTES, 1)
        self.replies: dict[int, int] = {}
        """For each canonical position the number of its move, and in the bits above its bound; or NOT_YET."""
        self.todo: list[int] = []
        self.log: Log | None = None
        """Where replies are noted, for a walk that goes on from there when this one is stopped."""
        self.noted: list[tuple[int, int]] = []
        """Positions and replies that are to be noted there."""
        self.known: dict[int, int] = {}
        """Replies that another walk has noted."""
        self.sheet = kernels.make_sheet(64)

    def take_up(self, log: Log) -> None:
        """Go on from the replies in a log, and note others there."""
        self.log = log
        for positions, replies in log.resumed:
            self.known.update(zip(positions.tolist(), replies.tolist(), strict=True))

    def run(self, positions: Iterable[int]) -> None:
        """Choose moves from some positions on until none is open; raise NoMove, Turned, OutOfTime or MemoryLimit."""
        self.meet(self.game.canonical(position) for position in positions)
        try:
            while self.todo:
                self.settle(self.todo.pop())
        finally:
            self.write_notes()

    def meet(self, positions: Iterable[int]) -> None:
        """Take canonical positions into the set, to be settled later."""
        for position in positions:
            if position not in self.replies:
                self.replies[position] = NOT_YET
                self.todo.append(position)
        if len(self.replies) > self.most:
            raise MemoryLimit(
                f"a certificate of {variant(self.game)} needs more than {self.most:,} positions; give more --memory, "
                "or have fewer of them stored by greater --leaves"
            )

    def settle(self, position: int) -> None:
        """Choose a move in a position, or take the one that is known, and meet what answers lead to."""
        ways, reply = self.ways(position), self.known.pop(position, None)
        if reply is None:
            reply = self.reply(position, ways)
            self.note(position, reply)
        self.replies[position] = reply
        self.meet(next(way.open for way in ways if way.number == reply & REPLY_MASK))

    def reply(self, position: int, ways: list[Way]) -> int:
        """Return the number of a move that keeps the value, and in the bits above its bound; raise NoMove."""
        way = self.choose(ways)
        if way is None:
            raise NoMove(position)
        return way.number

    def note(self, position: int, reply: int) -> None:
        """Note the reply in a position, when it is time."""
        self.noted.append((position, reply))
        if self.log and self.log.is_due():
            self.write_notes()

    def write_notes(self) -> None:
        """Write to the log what has been noted."""
        if self.log and self.noted:
            self.log.add(tuple(np.array(self.noted, np.int64).T))
            self.log.flush()
        self.noted.clear()

    def choose(self, ways: list[Way]) -> Way | None:
        """Return a move that keeps the value, the first where that takes no more effort; None where none does.

        The last one left is asked by all threads, as long as it takes.
        """
        bound, effort = NO_LOSS if self.goal == WIN else ANY_WIN, EFFORT
        while ways:
            unknown = []
            for way in ways:
                if not way.open:
                    return way
                last = len(ways) == 1
                answer = self.search.ask(way.child, bound) if last else self.search.ask_within(way.child, bound, effort)
                if answer is False:
                    return way
                if answer is None:
                    unknown.append(way)
            ways, effort = unknown, 8 * effort
        return None

    def ways(self, position: int) -> list[Way]:
        """Return the moves that are not refuted at once, those first that leave the fewest open positions."""
        count = self.look(position)
        counts, children = self.sheet.counts[:count].tolist(), self.sheet.children[:count].tolist()
        ways = [Way(i, children[i], self.sheet.open[i, : counts[i]].tolist()) for i in range(count) if counts[i] >= 0]
        self.check_tiers(position, counts)
        met = self.replies
        return sorted(ways, key=lambda way: sum(one not in met for one in way.open))

    def look(self, position: int) -> int:
        """Have the sheet filled for a position, and return how many moves there are."""
        while True:
            trouble, count = kernels.look(self.game, position, int(self.goal), self.leaves, self.sheet)
            if trouble == kernels.FINE:
                return int(count)
            room = 4 * len(self.sheet.counts)
            if trouble == kernels.BROKEN:
                examine(self.game, position)
                raise RuleError(differ(self.game, position))
            if room > MOST_ROOM:
                raise RuleError(f"{variant(self.game)} has positions with more than {room // 4:,} moves")
            self.sheet = kernels.make_sheet(room)

    def check_tiers(self, position: int, counts: list[int]) -> None:
        """Raise Turned where two plies may lead to no higher tier."""
        tier = tier_of(self.game, position)
        for i, count in enumerate(counts):
            if count > 0 and int(self.sheet.tiers[i, :count].min()) <= tier:
                raise Turned

    def columns(self, roots: Iterable[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the positions that play from some others comes to, ascending, their replies, and perhaps bounds."""
        positions = np.array(sorted(self.replies), np.int64)
        packed = np.array([self.replies[position] for position in positions.tolist()], np.int64)
        bounds = packed >> REPLY_BITS if self.bounded else None
        return positions, packed & REPLY_MASK, bounds


class BoundedWalk(Walk):
    """The same where play may go round in circles, and a win is kept: each position has its distance for a bound."""

    bounded = True

    def reply(self, position: int, ways: list[Way]) -> int:
        """Return the first move that wins as soon as can be, and in the bits above how soon that is; raise NoMove."""
        far, plies = self.search.table.shape.far, 1
        while not self.search.ask(position, win_within(plies, far)):
            plies += 1
            if plies > far - 2:
                raise NoMove(position)
        for way in ways:
            if not self.search.ask(way.child, no_loss_within(plies - 1, far)):
                return plies << REPLY_BITS | way.number
        raise NoMove(position)

    def check_tiers(self, position: int, counts: list[int]) -> None:
        """Let play go round in circles: bounds fall."""


class ClosedWalk(BoundedWalk):
    """The same where a loss is to be avoided for ever: a set that play cannot leave, in which no end is a loss.

    The set is found by trial: a move that leads where no move is left is given up for another one. What remains when
    nothing has to be given up any more is closed, and needs no other proof.
    """

    bounded = False
    AHEAD = 6
    """Plies within which it is asked whether a move loses, so that few have to be given up."""

    def __init__(self, search: Search, goal: Value, leaves: int, memory: int):
        super().__init__(search, goal, leaves, memory)
        self.lost: set[int] = set()
        """Canonical positions in which every move loses."""
        self.relying: dict[int, set[int]] = {}
        """For each position those whose reply may lead there."""

    def take_up(self, log: Log) -> None:
        """Begin anew: a reply may be given up for another."""

    def settle(self, position: int) -> None:
        if position not in self.lost:
            self.replies[position] = NOT_YET
            way = self.choose(self.ways(position))
            if way is None:
                self.give_up(position)
                return
            self.replies[position] = way.number
            for one in way.open:
                self.relying.setdefault(one, set()).add(position)
            self.meet(way.open)

    def choose(self, ways: list[Way]) -> Way | None:
        """Return the first of some moves that is not known to lose."""
        soon = win_within(self.AHEAD, self.search.table.shape.far)
        for way in ways:
            if not any(one in self.lost for one in way.open) and not (way.open and self.search.ask(way.child, soon)):
                return way
        return None

    def give_up(self, position: int) -> None:
        """Note that a position is lost; all whose replies lead there are to be settled anew."""
        self.lost.add(position)
        del self.replies[position]
        self.todo += [one for one in self.relying.pop(position, ()) if one in self.replies]

    def run(self, positions: Iterable[int]) -> None:
        roots = [self.game.canonical(position) for position in positions]
        super().run(roots)
        if lost := self.lost.intersection(roots):
            raise NoMove(lost.pop())

    def columns(self, roots: Iterable[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Leave out what was met on ways that are given up."""
        kept: dict[int, int] = {}
        todo = [self.game.canonical(position) for position in roots]
        while todo:
            position = todo.pop()
            if position not in kept:
                kept[position] = reply = self.replies[position]
                self.look(position)
                todo += self.sheet.open[reply, : max(int(self.sheet.counts[reply]), 0)].tolist()
        self.replies = kept
        return super().columns(roots)


def leads_on(game: Game, root: int, seed: int = 0) -> bool:
    """Tell whether tiers rise with every two plies, as far as some games played at random show."""
    chance = np.random.default_rng(seed)
    for _ in range(30):
        position, tiers = root, []
        while game.primitive(position) == UNDECIDED:
            tiers.append(tier_of(game, game.canonical(position)))
            if len(tiers) > 2 and tiers[-1] <= tiers[-3]:
                return False
            moves = list(game.generate_moves(position))
            position = game.do_move(position, moves[chance.integers(len(moves))])
    return True


def walk_for(search: Search, goal: Value, leads: bool, leaves: int, memory: int) -> Walk:
    """Return the walk that fits a goal, and whether play *leads* on and on to an end."""
    if leads:
        return Walk(search, goal, leaves, memory)
    return (BoundedWalk if goal == WIN else ClosedWalk)(search, DRAW if goal == TIE else goal, leaves, memory)
