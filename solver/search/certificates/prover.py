"""Proves the value of a position and builds a strategy that keeps it, for a certificate file.

The search finds the value. The certificate does not rest on the search but on the walk's replies alone. For a win,
every end of play must be a win, and play must be sure to end. `solver/verification/certificates.py` checks that.
"""

import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from retrograde.databases.certificates.read import goal_of
from retrograde.databases.certificates.write import SolvedCertificate
from retrograde.games.catalog import variant
from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, RetrogradeError, Value
from retrograde.solver.rules.examine import NotForSearch, advice, not_for_proofs
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.search.certificates.walk import (
    BoundedWalk,
    CertificateWalk,
    ClosedWalk,
    NoMove,
    PlayMayRepeat,
    tiers_rise,
)
from retrograde.solver.search.searcher import TABLE_SIZE, OutOfTime, Search, SearchResult

LEAVES = 7
"""Plies within which plain play decides positions that the certificate leaves out."""
MEMORY = 4 << 30
"""Default memory for the positions of a proof, in bytes."""
STEP = 8
"""If play can repeat: plies by which the search deepens before each attempt to prove a draw."""
DEEPEST = 64
"""The greatest depth of that search, in plies."""
TRIAL = 20_000
"""Positions allowed in the first attempt to prove a draw; each further attempt gets as many more."""
WORDS = {WIN: "a win", TIE: "a tie", DRAW: "a draw", LOSE: "a loss"}
PAUSE = 1.0
"""Seconds between writes of replies to the journal."""


class NotProved(RetrogradeError, RuntimeError):
    """There is no proof: time is out, or the claim is false."""


class ProofTimeout(NotProved):
    """Time is out."""


class NothingToProve(NotProved):
    """The claim needs no proof."""


@dataclass(frozen=True)
class ProofGoal:
    """What to prove: the *value* of the position (None: whatever it is), or that it is *at_least* that.

    *leaves*: see LEAVES. *memory* is in bytes.
    """

    value: Value | None = None
    at_least: bool = False
    leaves: int = LEAVES
    seconds: float | None = None
    memory: int = MEMORY


class CertificateProver:
    """Proves the *goal* for a position. `search` and `walk` show the progress.

    *size* is that of the transposition table, in bytes. A later prover of the same claim resumes from the *journal*.
    """

    def __init__(
        self,
        game: Game,
        position: int,
        goal: ProofGoal,
        workers: int = 1,
        size: int = TABLE_SIZE,
        journal: Journal | None = None,
    ):
        if why := not_for_proofs(game):
            raise NotForSearch(f"nothing can be proved here: {why}; {advice(game)}")
        self.journal = journal
        self.game, self.position, self.goal = game, position, goal
        self.search = Search(game, workers, size)
        self.walk: CertificateWalk | None = None
        self.deadline = None if goal.seconds is None else time.monotonic() + goal.seconds

    @property
    def positions(self) -> int:
        """Positions of the proof so far."""
        return len(self.walk.replies) if self.walk else 0

    @property
    def open(self) -> int:
        """Positions of the proof without a reply so far."""
        return len(self.walk.todo) if self.walk else 0

    def time_remaining(self) -> float | None:
        """Return the seconds left; None without a limit."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.001)

    def prove(self) -> SolvedCertificate:
        """Return a certificate of the position; raise NotProved, MemoryLimit or RuleError."""
        game = self.game
        if game.primitive(self.position) != UNDECIDED:
            raise NothingToProve(f"the game is over in {game.write(self.position)!r}: there is nothing to prove")
        try:
            if tiers_rise(game, self.position):
                # Random games suggest that tiers rise. The walk raises PlayMayRepeat if they do not.
                try:
                    return self.prove_acyclic()
                except PlayMayRepeat:
                    pass
            return self.prove_with_cycles()
        except OutOfTime:
            progress = f": {self.positions:,} positions in the proof, {self.open:,} of them open" if self.walk else ""
            raise ProofTimeout(f"not proved within {self.goal.seconds:g} s{progress}; give more --time") from None

    # Games in which every play ends

    def prove_acyclic(self) -> SolvedCertificate:
        """Return a certificate for a game in which every play ends; raise NotProved if the claim is false."""
        at_least, at_most = self.claim(self.goal.value or self.find_value())
        # If no walk keeps a TIE, try a DRAW, which claims less.
        for worst in (TIE, DRAW) if at_least == TIE else (at_least,):
            with suppress(NoMove):
                return self.build_certificate(worst, at_most, ends=True)
        raise self.refutation()

    def find_value(self) -> Value:
        """Return the value of the position, from the journal or by search."""
        log = self.journal.log("value", 0.0) if self.journal else None
        for (values,) in log.resumed if log else []:
            return Value(int(values[0]))
        value = self.search_value()
        if log:
            log.add((np.array([value], np.int64),))
            log.settle()
        return value

    def search_value(self) -> Value:
        """Return the value of the position by search; raise OutOfTime."""
        found: SearchResult = self.search.find(self.position, self.time_remaining(), distance=False)
        if found.value is not None:
            return found.value
        if found.at_least == DRAW and found.at_most in (DRAW, TIE):
            return DRAW
        raise OutOfTime

    # Games in which play can repeat

    def prove_with_cycles(self) -> SolvedCertificate:
        """Prove the value where play may repeat: a bounded win, or a draw by a closed set. Searches and attempts to
        prove a draw alternate, each time deeper and with more positions."""
        value = self.goal.value
        if value is not None:
            at_least, at_most = self.claim(value)
            try:
                return self.build_certificate(at_least, at_most, ends=False)
            except NoMove:
                raise self.refutation() from None
        for trial in range(1, DEEPEST // STEP + 1):
            found = self.search.find(self.position, self.time_remaining(), distance=True, depth=trial * STEP)
            if found.value in (WIN, LOSE):
                return self.build_certificate(*self.claim(found.value), ends=False)
            if found.no_end_within < trial * STEP:  # the search has not reached its depth
                raise OutOfTime
            if (proof := self.prove_draw(trial * TRIAL)) is not None:
                return proof
        raise NotProved(f"no side can force a win within {DEEPEST} plies, and no draw was found; say which --value")

    def prove_draw(self, most: int) -> SolvedCertificate | None:
        """Return a proof that neither side can be forced to lose; None if *most* positions do not suffice."""
        try:
            return self.build_certificate(*self.claim(DRAW), ends=False, most=most)
        except (NoMove, MemoryLimit):
            return None

    # The proof

    def claim(self, value: Value) -> tuple[Value, Value]:
        """Return the (worst, best) value that the position must have if *value* is proved."""
        if value == LOSE and self.goal.at_least:
            raise NothingToProve("every position is worth a loss at least: there is nothing to prove")
        if value in (TIE, DRAW):
            return value, WIN if self.goal.at_least else TIE
        return value, value

    def build_certificate(
        self, at_least: Value, at_most: Value, ends: bool, most: int | None = None
    ) -> SolvedCertificate:
        """Build a certificate that the value is between *at_least* and *at_most*, with at most *most* positions.

        *ends*: every play ends, because tiers rise. The search may take hours. It raises NoMove if a side cannot keep
        its claim, and also MemoryLimit, OutOfTime and NothingToProve.
        """
        goal = goal_of(at_least, at_most)
        # Where play may go on forever, a closed set of positions shows only that nobody loses: a DRAW at least.
        if goal == TIE and not ends:
            goal = at_least = DRAW
        walk_class: type[CertificateWalk] = CertificateWalk
        if not ends:
            walk_class = BoundedWalk if goal == WIN else ClosedWalk
        self.walk = walk = walk_class(self.search, goal, self.goal.leaves, self.goal.memory)
        walk.most = min(walk.most, most or walk.most)
        if self.journal:
            walk.resume_from(self.journal.log(f"replies {'on' if ends else 'round'} {goal.name}", PAUSE))
        # A lower bound needs replies from the position itself; an upper bound needs them, for the other side, after
        # each of its moves.
        roots = [self.position] if at_least > LOSE else []
        roots += self.undecided_children() if at_most < WIN else []
        with self.search.limit_time(self.time_remaining()):
            walk.run(roots)
            positions, replies, bounds = walk.columns(roots)
        if not len(positions):
            raise NothingToProve("every move ends the game: there is nothing to prove")
        return SolvedCertificate(self.position, at_least, at_most, self.goal.leaves, positions, replies, bounds)

    def undecided_children(self) -> list[int]:
        """Return the positions after each move that does not end the game."""
        game = self.game
        children = [game.do_move(self.position, move) for move in game.generate_moves(self.position)]
        return [child for child in children if game.primitive(child) == UNDECIDED]

    def refutation(self) -> NotProved:
        """Return the error that says that the claim is false."""
        value, text = self.goal.value, self.game.write(self.position)
        claim = f"{'at least ' if self.goal.at_least else ''}{WORDS[value]}" if value else "its value"
        return NotProved(
            f"position {text!r} of {variant(self.game)} is not {claim}; leave out --value to prove what it is"
        )
