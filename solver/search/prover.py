"""Values by proof-number search: questions asked until a value is proved or time is out; see `proof_kernels.py`.

Two questions decide a position: does the player to move win, and does she not lose? As long as nothing is met but ends
that somebody wins, who does not win has lost, and one will do. Else they are asked by turns, for more positions each
time, since nobody knows which is the easier one.

Where neither side can force a win it is a TIE, by the definition of GamesCrafters, if both together can play to one
by moves that lose nothing, and a DRAW if they cannot: so all such positions are looked through, as far as there is
room.
"""

import random
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress

import numpy as np

from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, RuleError, Value
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import differ, examine, refuse_to_search
from retrograde.solver.rules.reason import compilable
from retrograde.solver.search import proof_kernels as kernels
from retrograde.solver.search.proof_kernels import OPEN, YES
from retrograde.solver.search.proof_table import make_table
from retrograde.solver.search.searcher import TABLE_SIZE, Endless, Finding, OutOfTime
from retrograde.solver.search.timer import limited
from retrograde.solver.search.worth import ANY_WIN, NO_LOSS, Leaves

PLACES, CHILDREN = 1 << 9, 1 << 14
"""Places on the path, and their children, that there is room for to begin with."""
MOST_PLACES = 1 << 20
FEWEST_NODES, MOST_NODES = 1 << 10, 1 << 22
"""Positions after which the other question is asked: the first time, and at most."""
NEUTRAL_BYTES, FEWEST_NEUTRAL = 200, 1 << 14
"""Bytes that are taken for each position in which neither side wins, while they are looked through; and how many of
them there is room for with the smallest table."""
RANDOM_GAMES, RANDOM_PLIES = 8, 200
"""Games played at random, and plies of each, to see whether play goes round in circles."""


def goes_round(game: Game, position: int) -> bool:
    """Return whether a position has come again in one of some games played at random: a guess at what play can do."""
    chance = random.Random(0)
    for _ in range(RANDOM_GAMES):
        now, seen = position, {position}
        for _ in range(RANDOM_PLIES):
            if game.primitive(now) != UNDECIDED:
                break
            now = game.do_move(now, chance.choice(list(game.generate_moves(now))))
            if now in seen:
                return True
            seen.add(now)
    return False


class Prover:
    """A proof-number search of a game, in a table of so many bytes, which is kept from question to question."""

    def __init__(self, game: Game, size: int = TABLE_SIZE, leaves: Leaves | None = None):
        """Search a game; *leaves* are tables that are asked of its positions."""
        refuse_to_search(game)
        compiled.prepare(game)
        self.leaves, self.words = leaves, leaves and leaves.words
        self.game, self.size = game, size
        self.stop = np.zeros(1, np.uint8)
        self.nodes = 0
        """Positions looked at for all questions that were asked and left."""
        self.told = 0
        """Positions that were found in tables."""
        self.met = 0
        """What was met in all questions: bits of `kernels.MET`."""
        self.table = make_table(size)
        self.room = PLACES, CHILDREN
        self.path = kernels.make_path(*self.room, self.stop, self.words)
        self.compile()

    def compile(self) -> None:
        """Let the rules be compiled now, which takes seconds the first time and is no search; raise NotCompilable where
        they cannot be."""
        self.stop[0] = True
        path = kernels.make_path(0, 0, self.stop, self.words)
        with compilable(self.game):
            kernels.prove(self.game, 0, 0, self.table, path)
        self.stop[0] = False

    @property
    def looked_at(self) -> int:
        """Positions looked at up to now."""
        return self.nodes + int(self.path.counts[kernels.NODES])

    # One question

    def ask(self, position: int, bound: int) -> bool:
        """Return whether a position is worth ANY_WIN, or NO_LOSS, at least; raise OutOfTime, Endless or RuleError."""
        while (answer := self.ask_for(position, bound, MOST_NODES)) is None:
            pass
        return answer

    def ask_for(self, position: int, bound: int, nodes: int) -> bool | None:
        """Return what `ask` does; None where so many positions do not tell."""
        if (value := self.game.primitive(position)) != UNDECIDED:
            return value == WIN or (bound == NO_LOSS and value != LOSE)
        key = self.game.canonical(position) << 1 | bound
        while True:
            answer = kernels.prove(self.game, key, nodes, self.table, self.path)
            counts = self.path.counts
            self.nodes += int(counts[kernels.NODES])
            self.told += int(counts[kernels.LEAVES])
            counts[kernels.NODES] = counts[kernels.LEAVES] = 0
            self.met |= int(counts[kernels.MET])
            if answer != OPEN:
                return bool(answer == YES)
            if self.stop[0]:
                raise OutOfTime
            if counts[kernels.TROUBLE] == kernels.STOPPED:
                return None
            self.mend(int(counts[kernels.TROUBLE]), int(counts[kernels.POSITION]))

    def mend(self, trouble: int, position: int) -> None:
        """Make room for what there was none for; raise what cannot be mended."""
        if trouble == kernels.BROKEN:
            examine(self.game, position)
            raise RuleError(differ(self.game, position))
        places, children = self.room
        if places >= MOST_PLACES:
            raise Endless
        self.room = 4 * places, 4 * children
        self.path = kernels.make_path(*self.room, self.stop, self.words)

    # Values

    def find(self, position: int, seconds: float | None = None) -> Finding:
        """Return what is found out of a position within some seconds, but not how far the end is."""
        began, nodes, leaves = time.monotonic(), self.nodes, self.told
        bounds = LOSE, WIN
        with self.limited(seconds), suppress(OutOfTime):
            for known in self.narrowed(position):
                bounds = known
        least, most = bounds
        value = least if least == most else None
        over = self.game.primitive(position) != UNDECIDED and value != DRAW
        seconds = time.monotonic() - began
        return Finding(value, 0 if over else None, least, most, 0, self.nodes - nodes, seconds, self.told - leaves)

    def narrowed(self, position: int) -> Iterator[tuple[Value, Value]]:
        """Yield the worst and the best value that are not ruled out, closer each time, as far as there is room."""
        if (value := self.game.primitive(position)) != UNDECIDED:
            yield Value(value), Value(value)
            return
        wins = holds = None
        nodes = FEWEST_NODES
        while wins is None or holds is None:
            if wins is None:
                wins = self.ask_for(position, ANY_WIN, nodes)
            if wins:
                yield WIN, WIN
                return
            if holds is None and self.met:
                holds = self.ask_for(position, NO_LOSS, nodes)
            if holds is False or (wins is False and not self.met):
                yield LOSE, LOSE
                return
            yield DRAW if holds else LOSE, WIN if wins is None else TIE
            nodes = min(2 * nodes, MOST_NODES)
        if self.met == kernels.TIES:
            yield TIE, TIE
        elif (ties := self.ties(position)) is not None:
            yield (TIE, TIE) if ties else (DRAW, DRAW)

    def ties(self, position: int) -> bool | None:
        """Return whether both players together can come to a tie from a position where neither wins, by moves that
        lose nothing; None if there is no room to look through all such positions.
        """
        game = self.game
        known = {game.canonical(position)}
        left = list(known)
        while left:
            position = left.pop()
            for move in game.generate_moves(position):
                child = game.do_move(position, move)
                end = game.primitive(child)
                if end == UNDECIDED and self.leaves and (leaf := self.leaves.get(child)):
                    end = leaf.value
                if end == TIE:
                    return True
                if end == UNDECIDED and (least := game.canonical(child)) not in known and not self.ask(child, ANY_WIN):
                    known.add(least)
                    left.append(least)
            if len(known) > max(self.size // NEUTRAL_BYTES, FEWEST_NEUTRAL):
                return None
        return False

    # Time

    def limited(self, seconds: float | None) -> AbstractContextManager[None]:
        """Stop what is asked within after some seconds; without a number, as long as it takes."""
        return limited(seconds, self.halt, self.resume)

    def halt(self) -> None:
        """Stop the search; what is being asked ends with OutOfTime."""
        self.stop[0] = True

    def resume(self) -> None:
        """Let what is asked next be searched."""
        self.stop[0] = False
