"""Proof-number search: repeats two questions until the value is proved or time is out. See `proof_kernels.py`.

The questions are "does the player to move win?" and "does the player to move not lose?". If all ends met so far have a
winner and no position repeats, a player who does not win loses, so the first question suffices. Otherwise the two
alternate, each time with twice the node limit, because it is unknown which one is easier.

If neither side can force a win, the value is TIE or DRAW. By the definition of GamesCrafters it is a TIE if both
players together can reach a tie by moves that lose nothing, else a DRAW. The prover enumerates all such positions, as
far as memory allows, unless the rules say that there are no ties (`has_ties`).
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from random import Random
from typing import Any

from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, RuleError, Traits, Value
from retrograde.solver.rules.examine import describe_difference, examine, random_line, refuse_to_search
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import position_in
from retrograde.solver.rules.reason import compilable
from retrograde.solver.search import proof_kernels as kernels
from retrograde.solver.search.bounds import ANY_WIN, NO_LOSS
from retrograde.solver.search.endgame_tables import EndgameTables, address_of
from retrograde.solver.search.memory import words_of
from retrograde.solver.search.proof_kernels import OPEN, YES
from retrograde.solver.search.proof_table import make_table, question_of
from retrograde.solver.search.searcher import TABLE_SIZE, OutOfTime, SearchResult, SearchTooDeep
from retrograde.solver.search.timer import StoppableSearch

LEVELS, CHILDREN = 1 << 9, 1 << 14
"""Initial size of the search path: positions on it, and children of all of them."""
MOST_LEVELS = 1 << 20
"""Greatest number of positions on the search path."""
FEWEST_NODES, MOST_NODES = 1 << 10, 1 << 22
"""Node limits after which the other question is asked: the first limit and the greatest."""
NEUTRAL_BYTES, FEWEST_NEUTRAL = 200, 1 << 14
"""Memory per enumerated position in which neither side wins; and how many fit with the smallest table."""
RANDOM_GAMES, RANDOM_PLIES = 8, 200
"""Number of random games, and plies of each, to see whether play can repeat."""


def can_repeat(game: Game, position: int) -> bool:
    """Guess whether play can repeat: return whether a position came twice in one of some random games."""
    chance = Random(0)
    lines = (list(islice(random_line(game, position, chance), RANDOM_PLIES)) for _ in range(RANDOM_GAMES))
    return any(len(set(line)) < len(line) for line in lines)


class ProofNumberSearch(StoppableSearch):
    """A proof-number search of one game, with a table of *size* bytes that is kept between questions."""

    def __init__(self, game: Game, size: int = TABLE_SIZE, tables: EndgameTables | None = None):
        """Prepare a search that probes the endgame *tables*. Raise NotForSearch if the game does not suit."""
        refuse_to_search(game)
        self.endgame_tables = tables
        self.game, self.size = game, size
        super().__init__()
        self.nodes = 0
        """Positions searched in all finished questions."""
        self.in_tables = 0
        """Positions found in endgame tables."""
        self.ends_met = 0
        """Kinds of ends and repetitions met so far: the bits DRAWS, TIES and REPETITIONS of `proof_kernels`."""
        self.table = make_table(size, words_of(game))
        self.path_size = LEVELS, CHILDREN
        self.path = kernels.make_path(game, *self.path_size, self.stop, address_of(self.endgame_tables))
        self.compile()

    def compile(self) -> None:
        """Compile the rules now, which takes seconds the first time; raise NotCompilable if that fails."""
        # With the stop flag set and a path without space, `prove` returns at once.
        self.stop[0] = True
        path = kernels.make_path(self.game, 0, 0, self.stop, address_of(self.endgame_tables))
        zero: Any = (0,) * width if (width := Traits.of(self.game).width) else 0
        with compilable(self.game):
            kernels.prove(rules_for(self.game), zero, 0, self.table, path)
        self.stop[0] = False

    @property
    def looked_at(self) -> int:
        """Positions searched so far, including those of the running question."""
        return self.nodes + int(self.path.counts[kernels.NODES])

    # One question

    def ask(self, position: int, bound: int) -> bool:
        """Return whether a position is worth ANY_WIN or NO_LOSS (*bound*). Raise OutOfTime or SearchTooDeep."""
        while (answer := self.ask_for(position, bound, MOST_NODES)) is None:
            pass
        return answer

    def ask_for(self, position: int, bound: int, nodes: int) -> bool | None:
        """Like `ask`, but return None if the search needs more than *nodes* positions."""
        if (value := self.game.primitive(position)) != UNDECIDED:
            return value == WIN or (bound == NO_LOSS and value != LOSE)
        question = question_of(self.game.canonical(position), bound)  # ANY_WIN is 1, NO_LOSS is 0
        # Search. If the search path is too small, enlarge it and search again: the table keeps what was found.
        while True:
            with compilable(self.game):
                answer = kernels.prove(rules_for(self.game), question, nodes, self.table, self.path)
            counts = self.path.counts
            self.nodes += int(counts[kernels.NODES])
            self.in_tables += int(counts[kernels.IN_TABLES])
            counts[kernels.NODES] = counts[kernels.IN_TABLES] = 0
            self.ends_met |= int(counts[kernels.MET])
            if answer != OPEN:
                return bool(answer == YES)
            if self.stop[0]:
                raise OutOfTime
            if counts[kernels.TROUBLE] == kernels.STOPPED:  # without the stop flag: the node limit is reached
                return None
            self.enlarge(int(counts[kernels.TROUBLE]), position_in(self.game, counts, kernels.POSITION))

    def enlarge(self, trouble: int, position: int) -> None:
        """Enlarge the search path. Raise SearchTooDeep at its full size, and RuleError if the *trouble* is BROKEN."""
        if trouble == kernels.BROKEN:
            examine(self.game, position)
            raise RuleError(describe_difference(self.game, position))
        levels, children = self.path_size
        if levels >= MOST_LEVELS:
            raise SearchTooDeep
        self.path_size = 4 * levels, 4 * children
        self.path = kernels.make_path(self.game, *self.path_size, self.stop, address_of(self.endgame_tables))

    # Values

    def find(self, position: int, seconds: float | None = None) -> SearchResult:
        """Search a position for at most *seconds* (None: no limit); return its value, or the bounds proved so far. The
        remoteness is 0 at an end, otherwise None. Raise SearchTooDeep or RuleError."""
        began, nodes, in_tables = time.monotonic(), self.nodes, self.in_tables
        worst, best = LOSE, WIN
        with self.limit_time(seconds), suppress(OutOfTime):
            for bounds in self.narrow(position):
                worst, best = bounds
        value = worst if worst == best else None
        is_end = self.game.primitive(position) != UNDECIDED
        return SearchResult(
            value,
            remoteness=0 if is_end and value != DRAW else None,  # a DRAW has no remoteness, even at an end
            at_least=worst,
            at_most=best,
            no_end_within=0,
            nodes=self.nodes - nodes,
            seconds=time.monotonic() - began,
            in_tables=self.in_tables - in_tables,
        )

    def narrow(self, position: int) -> Iterator[tuple[Value, Value]]:
        """Yield the (worst, best) value still possible, ever closer; they stay apart if memory cannot tell TIE from
        DRAW."""
        if (value := self.game.primitive(position)) != UNDECIDED:
            yield Value(value), Value(value)
            return
        # The answers to the two questions: does the player to move win, and not lose? None: not proved yet.
        wins = holds = None
        nodes = FEWEST_NODES
        while wins is None or holds is None:
            if wins is None:
                wins = self.ask_for(position, ANY_WIN, nodes)
            if wins:
                yield WIN, WIN
                return
            if holds is None and self.ends_met:
                holds = self.ask_for(position, NO_LOSS, nodes)
            # If all ends met have a winner, and nothing was repeated, a player who does not win loses.
            if holds is False or (wins is False and not self.ends_met):
                yield LOSE, LOSE
                return
            yield (DRAW if holds else LOSE), (WIN if wins is None else TIE)
            nodes = min(2 * nodes, MOST_NODES)
        if not self.game.has_ties:
            yield DRAW, DRAW
            return
        # Neither side wins. If all ends without a winner were ties, and nothing was repeated, it is a TIE.
        if self.ends_met == kernels.TIES:
            yield TIE, TIE
        elif (ties := self.reaches_tie(position)) is not None:
            yield (TIE, TIE) if ties else (DRAW, DRAW)

    def reaches_tie(self, position: int) -> bool | None:
        """Return whether both sides together can reach a tie by moves that lose nothing. No side can force a win here.
        None if there are too many positions to enumerate."""
        game = self.game
        neutral = {game.canonical(position)}  # the canonical positions met so far, all of them worth a tie or a draw
        todo = list(neutral)
        while todo:
            parent = todo.pop()
            for move in game.generate_moves(parent):
                child = game.do_move(parent, move)
                # A child that the opponent wins would lose something, so only the other children are followed.
                end = game.primitive(child)
                if end == UNDECIDED and self.endgame_tables and (outcome := self.endgame_tables.get(child)):
                    end = outcome.value
                if end == TIE:
                    return True
                if end != UNDECIDED:
                    continue
                canonical = game.canonical(child)
                if canonical not in neutral and not self.ask(child, ANY_WIN):
                    neutral.add(canonical)
                    todo.append(canonical)
            if len(neutral) > max(self.size // NEUTRAL_BYTES, FEWEST_NEUTRAL):
                return None
        return False
