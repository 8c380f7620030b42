"""The walk that builds a certificate: one move for the side that keeps a value, every answer of the other side.

The walk keeps a set of positions in which the keeping side is to move, each with its reply. An open position has no
reply yet. Everything is said of "the player to move", so it does not matter which side that is. A proof that neither
side can win therefore walks from the root and from all its children into one set.

Among moves that keep the value, the walk prefers the one that leaves the fewest open positions outside the set, if that
is cheap to know. It asks the search about the moves in that order, so threats come first, since they have few answers.
It asks about all of them with little effort before it asks about any with more: to refute a wrong move may take as long
as the whole search, while the transposition table knows a right one.
"""

from collections.abc import Iterable
from random import Random
from typing import NamedTuple

import numpy as np

from retrograde.games.catalog import variant
from retrograde.games.contract.game import UNDECIDED, WIN, Game, RuleError, Traits, Value
from retrograde.solver.rules.examine import describe_difference, examine, random_line, tier_of, to_list
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import position_in
from retrograde.solver.rules.reason import compilable
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.search.bounds import ANY_WIN, NO_LOSS, no_loss_within, win_within
from retrograde.solver.search.certificates import kernels
from retrograde.solver.search.searcher import Search

BYTES = 320
"""Memory for each position of a set, in bytes, at its peak."""
MOST_MOVES = 1 << 10
"""Greatest number of moves that the workspace can hold."""
REPLY_BITS = 16
"""A reply is an int: the number of the move in its low bits, and a bound in plies above, `bound << 16 | number`."""
REPLY_MASK = (1 << REPLY_BITS) - 1
OPEN = -1
"""The reply of an open position."""
RANDOM_GAMES = 30
"""Random games to see whether tiers rise."""
FIRST_NODES, MORE_NODES = 1 << 14, 8
"""Node limit of the first search whether a move keeps the value, and the factor for each further one."""


class PlayMayRepeat(Exception):
    """Play may repeat: two plies do not always lead to a higher tier."""


class NoMove(Exception):
    """No move of a position keeps the value."""


class CandidateMove(NamedTuple):
    """A move by its number, its child, and the undecided canonical positions after the answers to it."""

    number: int
    child: int
    after_answers: list[int]


class CertificateWalk:
    """The growing set of positions with their replies, for games in which play always ends.

    *goal* is the value to keep: WIN, TIE or DRAW. Positions that plain play decides within *leaves* plies are left out.
    A reply is an int: the number of a move, and in a BoundedWalk a bound above its lowest REPLY_BITS bits.
    """

    bounded = False
    """Whether each reply carries a bound on plies."""

    def __init__(self, search: Search, goal: Value, leaves: int, memory: int):
        self.search, self.game, self.goal, self.leaves = search, search.game, goal, leaves
        self.most = max(memory // BYTES, 1)  # positions
        self.replies: dict[int, int] = {}
        """The set: the reply of each canonical position, or OPEN."""
        self.todo: list[int] = []
        """Open positions."""
        self.log: Log | None = None
        """Journal of the replies, from which a later walk resumes."""
        self.unwritten: list[tuple[int, int]] = []
        """Positions and replies not written to the journal yet."""
        self.journaled: dict[int, int] = {}
        """Replies of an interrupted walk, read from the journal and not used yet."""
        self.move_table = kernels.make_move_table(self.game, 64)

    def resume_from(self, log: Log) -> None:
        """Resume from the replies in a journal, and write further ones to it."""
        self.log = log
        for *words, replies in log.resumed:
            positions = np.stack(words, 1) if Traits.of(self.game).width else words[0]
            self.journaled.update(zip(to_list(positions), replies.tolist(), strict=True))

    def run(self, positions: Iterable[int]) -> None:
        """Choose replies, from *positions* on, until none is open; raise NoMove, PlayMayRepeat, OutOfTime or
        MemoryLimit."""
        self.add_open(self.game.canonical(position) for position in positions)
        try:
            while self.todo:
                self.add_reply(self.todo.pop())
        finally:
            self.write_journal()

    def add_open(self, positions: Iterable[int]) -> None:
        """Add canonical positions to the set, as open ones; raise MemoryLimit if there are too many."""
        for position in positions:
            if position not in self.replies:
                self.replies[position] = OPEN
                self.todo.append(position)
        if len(self.replies) > self.most:
            raise MemoryLimit(
                f"a certificate of {variant(self.game)} needs more than {self.most:,} positions; give more --memory, "
                "or have fewer of them stored by greater --leaves"
            )

    def add_reply(self, position: int) -> None:
        """Choose the reply of an open position, or read it from the journal. Add the positions after the answers."""
        candidates, reply = self.candidates(position), self.journaled.pop(position, None)
        if reply is None:
            reply = self.find_reply(position, candidates)
            self.unwritten.append((position, reply))
            if self.log and self.log.is_due():
                self.write_journal()
        self.replies[position] = reply
        number = reply & REPLY_MASK
        self.add_open(next(candidate.after_answers for candidate in candidates if candidate.number == number))

    def find_reply(self, position: int, candidates: list[CandidateMove]) -> int:
        """Return a reply that keeps the value; raise NoMove if there is none."""
        candidate = self.choose(candidates)
        if candidate is None:
            raise NoMove(position)
        return candidate.number

    def write_journal(self) -> None:
        """Write the replies that are not in the journal yet."""
        if self.log and self.unwritten:
            positions, replies = (np.array(column, np.int64) for column in zip(*self.unwritten, strict=True))
            self.log.add((*positions.reshape(len(replies), -1).T, replies))
            self.log.flush()
        self.unwritten.clear()

    def choose(self, candidates: list[CandidateMove]) -> CandidateMove | None:
        """Return the first move that a search confirms to keep the value; None if no move keeps it. A move keeps a win
        if the opponent loses after it, and a tie or draw if the opponent does not win."""
        # The move is wrong if the opponent is worth at least this after it.
        refuting_bound = NO_LOSS if self.goal == WIN else ANY_WIN
        # Search each move with few nodes. Then search the undecided ones with more nodes, the last one without a limit.
        nodes = FIRST_NODES
        while candidates:
            undecided = []
            for candidate in candidates:
                if not candidate.after_answers:  # every answer ends the game, none below the goal
                    return candidate
                if len(candidates) == 1:
                    is_refuted: bool | None = self.search.ask(candidate.child, refuting_bound)
                else:
                    is_refuted = self.search.ask_within(candidate.child, refuting_bound, nodes)
                if is_refuted is False:
                    return candidate
                if is_refuted is None:
                    undecided.append(candidate)
            candidates, nodes = undecided, MORE_NODES * nodes
        return None

    def candidates(self, position: int) -> list[CandidateMove]:
        """Return the moves that no answer refutes at once, those that open the fewest positions first."""
        count = self.list_moves(position)
        table, counts = self.move_table, self.move_table.counts[:count].tolist()
        candidates = [
            CandidateMove(i, position_in(self.game, table.children, i), to_list(table.open[i, : counts[i]]))
            for i in range(count)
            if counts[i] >= 0
        ]
        self.check_tiers(position, counts)
        return sorted(
            candidates,
            key=lambda candidate: sum(position not in self.replies for position in candidate.after_answers),
        )

    def list_moves(self, position: int) -> int:
        """Fill the move table for a position; return the number of moves."""
        while True:
            with compilable(self.game):
                trouble, count = kernels.list_moves(
                    rules_for(self.game), position, int(self.goal), self.leaves, self.move_table
                )
            if trouble == kernels.COMPLETE:
                return int(count)
            moves = 4 * len(self.move_table.counts)
            if trouble == kernels.BROKEN:
                examine(self.game, position)
                raise RuleError(describe_difference(self.game, position))
            if moves > MOST_MOVES:
                raise RuleError(f"{variant(self.game)} has positions with more than {moves // 4:,} moves")
            self.move_table = kernels.make_move_table(self.game, moves)

    def check_tiers(self, position: int, counts: list[int]) -> None:
        """Raise PlayMayRepeat if an answer leads to a tier that is not higher than the position's."""
        tier = tier_of(self.game, position)
        for i, count in enumerate(counts):
            if count > 0 and int(self.move_table.tiers[i, :count].min()) <= tier:
                raise PlayMayRepeat

    def columns(self, roots: Iterable[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return (positions, replies, bounds), int64[n] each, sorted by position. Without *bounded*, bounds are None. A
        reply is the number of a move. Positions of several words are int64[n, words]. Only a ClosedWalk needs the
        *roots*."""
        positions = np.array(sorted(self.replies), np.int64)
        packed = np.array([self.replies[position] for position in to_list(positions)], np.int64)
        bounds = packed >> REPLY_BITS if self.bounded else None
        return positions, packed & REPLY_MASK, bounds


class BoundedWalk(CertificateWalk):
    """A walk that keeps a win where play may repeat: each position has its distance as a bound."""

    bounded = True

    def find_reply(self, position: int, candidates: list[CandidateMove]) -> int:
        """Return the first move that wins as fast as possible, as a bounded reply: `plies << REPLY_BITS | number`, with
        the plies to the end. Raise NoMove if none wins."""
        # Step 1: find the distance, by asking for a win within 1 ply, 2 plies and so on. Two plies less than `far` are
        # the most that the bounds of a search can express.
        far, plies = self.search.table.layout.far, 1
        while not self.search.ask(position, win_within(plies, far)):
            plies += 1
            if plies > far - 2:
                raise NoMove(position)
        # Step 2: find the first move after which the opponent loses within one ply less.
        for candidate in candidates:
            if not self.search.ask(candidate.child, no_loss_within(plies - 1, far)):
                return (plies << REPLY_BITS) | candidate.number
        raise NoMove(position)

    def check_tiers(self, position: int, counts: list[int]) -> None:
        """Accept any tiers: the bounds fall, so play ends."""


class ClosedWalk(BoundedWalk):
    """A walk that avoids a loss forever: it finds a set that play cannot leave, without a lost end.

    If every move of a position in the set loses, it leaves the set, and replies that may lead there are replaced. This
    goes on until no such position remains.
    """

    bounded = False
    PLIES_AHEAD = 6
    """A move is not chosen if the opponent wins within so many plies after it. So few moves have to be replaced."""

    def __init__(self, search: Search, goal: Value, leaves: int, memory: int):
        super().__init__(search, goal, leaves, memory)
        self.lost: set[int] = set()
        """Canonical positions in which every move loses."""
        self.parents: dict[int, set[int]] = {}
        """For each position, the positions whose reply may lead there."""

    def resume_from(self, log: Log) -> None:
        """Start without the journal: a reply in it may have been replaced later."""

    def add_reply(self, position: int) -> None:
        """Choose the reply of a position. If every move loses, reopen the positions whose reply may lead there."""
        if position in self.lost:
            return
        self.replies[position] = OPEN
        candidate = self.choose(self.candidates(position))
        if candidate is None:
            self.lost.add(position)
            del self.replies[position]
            self.todo += [parent for parent in self.parents.pop(position, ()) if parent in self.replies]
            return
        self.replies[position] = candidate.number
        for child in candidate.after_answers:
            self.parents.setdefault(child, set()).add(position)
        self.add_open(candidate.after_answers)

    def choose(self, candidates: list[CandidateMove]) -> CandidateMove | None:
        """Return the first move that is not known to lose; None if all lose."""
        quick_win = win_within(self.PLIES_AHEAD, self.search.table.layout.far)
        for candidate in candidates:
            if not self.lost.isdisjoint(candidate.after_answers):
                continue
            if not candidate.after_answers or not self.search.ask(candidate.child, quick_win):
                return candidate
        return None

    def run(self, positions: Iterable[int]) -> None:
        """Like `CertificateWalk.run`; raise NoMove also if every move of one of *positions* loses."""
        roots = [self.game.canonical(position) for position in positions]
        super().run(roots)
        if lost := self.lost.intersection(roots):
            raise NoMove(lost.pop())

    def columns(self, roots: Iterable[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Like `CertificateWalk.columns`, but only for positions that the final replies reach from the *roots*."""
        reached: dict[int, int] = {}
        todo = [self.game.canonical(position) for position in roots]
        while todo:
            position = todo.pop()
            if position not in reached:
                reached[position] = reply = self.replies[position]
                self.list_moves(position)
                open_count = max(int(self.move_table.counts[reply]), 0)
                todo += to_list(self.move_table.open[reply, :open_count])
        self.replies = reached
        return super().columns(roots)


def tiers_rise(game: Game, root: int) -> bool:
    """Return whether tiers rise with every two plies in some random games. True proves nothing."""
    chance = Random(0)
    for _ in range(RANDOM_GAMES):
        tiers: list[int] = []
        for position in random_line(game, root, chance):
            tiers.append(tier_of(game, game.canonical(position)))
            if len(tiers) > 2 and tiers[-1] <= tiers[-3] and game.primitive(position) == UNDECIDED:
                return False
    return True
