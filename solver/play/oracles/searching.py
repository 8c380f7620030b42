"""An oracle that searches, after asking sources such as an opening book.

Answers are proven, or say that they are not; the time only decides how much is known. Moving takes less time than
knowing everything: first the search finds the value, then one move that keeps it, and the distance only in the time
left::

    value of the position --> a move that keeps it --> distance --> a move that keeps that too
              |
              `-- unknown in time: leave out moves after which the opponent wins within 1, 2, 3 … plies, and choose
                  among the others by the book of estimates, else by the game's estimate, else by random games

The transposition table and earlier findings are kept from question to question.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from time import monotonic

from retrograde.databases import Database, Outcome
from retrograde.databases.book import Book
from retrograde.games.catalog import variant
from retrograde.games.contract.choice import Choice, ranked
from retrograde.games.contract.game import DRAW, LOSE, REMOTENESS, UNDECIDED, WIN, Game, RuleError, Traits, same_mover
from retrograde.solver.play.match import example_of
from retrograde.solver.play.oracle import (
    DATABASE,
    LONGEST_LINE,
    RULES,
    SEARCH,
    Evidence,
    Oracle,
    ValueBounds,
    bounds_for_mover,
    bounds_of_finding,
    exact_bounds,
    total_evidence,
)
from retrograde.solver.play.oracles.kernels import best_by_playouts, play_out
from retrograde.solver.rules.examine import refuse_to_search
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.reason import compilable
from retrograde.solver.search.bounds import ANY_WIN, NO_LOSS, no_loss_within, win_within
from retrograde.solver.search.depth.estimated_book import EstimatedBook
from retrograde.solver.search.depth.names import AdaptiveDepthSearch
from retrograde.solver.search.depth.scores import score_of_move
from retrograde.solver.search.probing.tables import LoadedTables, find_tables
from retrograde.solver.search.prover import ProofNumberSearch, can_repeat
from retrograde.solver.search.searcher import TABLE_SIZE, OutOfTime, Search, SearchResult, SearchTooDeep

Source = Callable[[int], ValueBounds | None]
"""A source asked before the search: returns what it knows of a position, or None."""

SECONDS = 3.0
"""The default seconds for a question."""
FOR_VALUE = 0.7
"""The share of the time for finding the value; the rest is for choosing a move without it."""
FOR_SAFETY = 0.6
"""The share of that rest for finding quick wins of the opponent; the remainder is for random games."""
LEAST_SECONDS = 0.02
"""No search begins with less time than this."""
DEEPEST = 400
"""The most plies for which the opponent's wins are searched."""


def from_database(database: Database, source: str = DATABASE) -> Source:
    """Return a function from a position to its outcome in a database, as exact bounds; None if it has none."""
    how = Evidence(source)

    def ask(position: int) -> ValueBounds | None:
        outcome = database.get(position)
        return None if outcome is None else exact_bounds(outcome, how)

    return ask


def bounds_key(known: ValueBounds) -> tuple[int, int, int]:
    """Return a sort key for what moves bring, the best last: at least, then at most, then the distance.

    >>> how = Evidence(SEARCH)
    >>> rows = [(LOSE, LOSE, 2), (LOSE, LOSE, 8), (DRAW, DRAW, None), (DRAW, WIN, None), (WIN, WIN, 3)]
    >>> rows == sorted(rows, key=lambda row: bounds_key(ValueBounds(*row, how)))
    True
    """
    far = 1 << 30  # stands for an unknown remoteness
    if known.at_least == LOSE:  # a possible loss: the later, the better
        plies = known.remoteness or (far if known.proved else known.no_end_within)
        return known.at_least, known.at_most, plies
    return known.at_least, known.at_most, -(far if known.remoteness is None else known.remoteness)


def merge_bounds(old: ValueBounds | None, new: ValueBounds) -> ValueBounds:
    """Return the bounds that two answers give together, and their work. The source is *old* unless *new* adds to it.

    Raise RuleError if they contradict each other.
    """
    if old is None:
        return new
    at_least, at_most = max(old.at_least, new.at_least), min(old.at_most, new.at_most)
    if (at_least == WIN) > (at_most == WIN) or (at_most == LOSE) > (at_least == LOSE):
        raise RuleError(
            "two searches contradict each other, so a hint of the rules is wrong; find it with: retrograde check"
        )
    remoteness = old.remoteness if new.remoteness is None else new.remoteness
    adds = (at_least, at_most, remoteness) != (old.at_least, old.at_most, old.remoteness)
    source = new.evidence.source if adds else old.evidence.source
    how = total_evidence(source, (old.evidence, new.evidence))
    return ValueBounds(at_least, at_most, remoteness, how, max(old.no_end_within, new.no_end_within))


class SearchingOracle(Oracle):
    """Answers by its sources, or else by a search of some seconds for each question. A *deadline* is a time of
    `monotonic()`."""

    metric = REMOTENESS
    passes: tuple[bool, ...] = (False, True)
    """The searches of all moves, one after another: for the value alone, then for the distance too."""

    def __init__(
        self,
        game: Game,
        seconds: float = SECONDS,
        workers: int = 1,
        size: int = TABLE_SIZE,
        sources: Sequence[Source] = (),
    ):
        self.game: Game = game
        self.refuse(game)
        self.seconds, self.workers, self.size, self.sources = seconds, workers, size, sources
        self.source = SEARCH
        self.tables: LoadedTables | None = None
        """The databases of smaller games of the family, once they were looked for."""
        self.book: Book | None = None
        """The book among the sources, which `close` closes."""
        self.estimates: EstimatedBook | None = None
        """The book of estimates, which orders moves of unknown value."""
        self.found: dict[int, ValueBounds] = {}
        """The results of searches, by canonical position."""
        self.stopped = False
        """Whether the present question must end now. The caller resets it before the next one."""

    def refuse(self, game: Game) -> None:
        refuse_to_search(game)

    @cached_property
    def search(self) -> Search:
        """The search; its rules are compiled when it is first needed."""
        return self.make_search()

    def make_search(self) -> Search:
        """Make the search, with the databases of smaller games of the family."""
        self.tables = find_tables(self.game, self.start_or_example)
        return Search(self.game, self.workers, self.size, self.tables)

    @cached_property
    def may_repeat(self) -> bool:
        """Whether play was seen to repeat, in random games."""
        return can_repeat(self.game, self.start_or_example)

    @cached_property
    def proof_search(self) -> ProofNumberSearch:
        """The search for positions from which play can repeat."""
        self.search  # noqa: B018  # finds the tables
        return ProofNumberSearch(self.game, self.size, self.tables)

    @cached_property
    def depth_search(self) -> AdaptiveDepthSearch:
        """The depth-limited search for positions in which no best move is proved."""
        self.search  # noqa: B018  # finds the tables
        return AdaptiveDepthSearch(self.game, tables=self.tables)

    def prepare(self) -> None:
        """Compile the rules now; raise NotCompilable, or another RuleError, if no search is possible."""
        self.search.compile(ties=True)
        with compilable(self.game):
            play_out(rules_for(self.game), self.start_or_example, 0, 1)

    @property
    def looked_at(self) -> int:
        """The positions that searches have examined so far."""
        return self.search.looked_at if "search" in self.__dict__ else 0

    @property
    def variant(self) -> str:
        return variant(self.game)

    @property
    def start_or_example(self) -> int:
        return example_of(self.game) if self.start is None else self.start

    def __contains__(self, position: object) -> bool:
        return True  # a search does not know whether play leads there, and need not

    # What is known

    def bounds_without_search(self, position: int) -> ValueBounds:
        """Return what is known of a position without a search."""
        end = self.game.primitive(position)
        if end != UNDECIDED:
            return exact_bounds(Outcome(end, None if end == DRAW else 0), Evidence(RULES))
        # A source that knows value and remoteness answers alone. Otherwise all that is known is merged.
        for source in self.sources:
            if (answer := source(position)) and answer.is_exact:
                return answer
        if self.tables and (outcome := self.tables.get(position)):
            return exact_bounds(outcome, Evidence(DATABASE))
        known = self.found.get(self.game.canonical(position), ValueBounds(LOSE, WIN, None, Evidence(SEARCH)))
        for source in self.sources:
            if answer := source(position):
                known = merge_bounds(known, answer)
        return known

    def estimate(self, position: int) -> int | None:
        return self.estimates.score(position) if self.estimates else None

    def learn(self, position: int, new: ValueBounds) -> ValueBounds:
        """Store a finding; return all that is known of the position."""
        key = self.game.canonical(position)
        self.found[key] = merge_bounds(self.found.get(key), new)
        return self.bounds_without_search(position)

    def probe(self, position: int, seconds: float | None = None, distance: bool = True) -> ValueBounds:
        return self.search_until(position, self.deadline(seconds), distance)

    def stop(self) -> None:
        """End a question that another thread has asked, with what is known by now."""
        self.stopped = True
        self.search.halt()
        if "proof_search" in self.__dict__:
            self.proof_search.halt()
        if "depth_search" in self.__dict__:
            self.depth_search.halt()

    def limit_time(self, deadline: float) -> AbstractContextManager[None]:
        """Stop searches at a deadline, or almost at once if the question was stopped."""
        return self.search.limit_time(LEAST_SECONDS if self.stopped else max(deadline - monotonic(), LEAST_SECONDS))

    def deadline(self, seconds: float | None) -> float:
        """Return the time by which a question that allows *seconds* must be answered."""
        return monotonic() + (self.seconds if seconds is None else seconds)

    def search_until(self, position: int, deadline: float, distance: bool) -> ValueBounds:
        """Return what is known after a search up to a deadline, if one is needed: for the value, or also for the
        *distance*."""
        known = self.bounds_without_search(position)
        left = 0.0 if self.stopped else deadline - monotonic()
        if known.is_exact or (known.proved and not distance) or left < LEAST_SECONDS:
            return known
        with suppress(SearchTooDeep):
            known = self.learn(position, bounds_of_finding(self.search.find(position, left, distance)))
        # This search gives up where play goes round for long. Proof numbers also prove draws by endless play.
        left = 0.0 if self.stopped else deadline - monotonic()
        if known.proved or left < LEAST_SECONDS or not self.may_repeat:
            return known
        with suppress(SearchTooDeep):
            known = self.learn(position, bounds_of_finding(self.proof_search.find(position, left)))
        return known

    # Moves

    def moves(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return all moves of a position, the best first. Each gets an equal share of the time."""
        moves, deadline = self.legal(position), self.deadline(seconds)
        for distance in self.passes:
            for i, move in enumerate(moves):
                now = monotonic()
                time_share = (deadline - now) / (len(moves) - i)
                self.search_until(self.game.do_move(position, move), now + time_share, distance)
        self.learn_from_moves(position, moves)
        return ranked(self.choice(position, move) for move in moves)

    def learn_from_moves(self, position: int, moves: list[int]) -> None:
        """Store what follows about a position from the bounds after its moves."""
        before = self.bounds_without_search(position)
        if not moves or before.is_exact:
            return
        brought = [bounds_for_mover(self.bounds_after(position, move)) for move in moves]
        best = max(brought, key=bounds_key)
        most = max(bounds.at_most for bounds in brought)
        is_exact = all(bounds.is_exact for bounds in brought)
        evidence = total_evidence(SEARCH, [bounds.evidence for bounds in brought])
        new = ValueBounds(best.at_least, most, best.remoteness if is_exact else None, evidence)
        if is_exact or new.at_least > before.at_least or new.at_most < before.at_most:
            self.learn(position, new)

    def legal(self, position: int) -> list[int]:
        """Return the moves of a position; none if the game is over."""
        return list(self.game.generate_moves(position)) if self.game.primitive(position) == UNDECIDED else []

    def choice(self, position: int, move: int) -> Choice:
        """Return a move with what is known of the position after it."""
        child = self.game.do_move(position, move)
        known, again = self.bounds_without_search(child), same_mover(self.game, position, child)
        # If the value is unknown, the move with the greater estimate comes first.
        estimate = 0 if known.proved else self.estimate(child) or 0
        at_least, at_most, plies = bounds_key(bounds_for_mover(known, again))
        rank = -at_least, -at_most, -score_of_move(estimate), -plies
        return Choice(move, self.game.move_name(position, move), child, *known.outcome, again, rank=rank)

    def best(self, position: int, seconds: float | None = None) -> list[Choice]:
        """Return one move, the best as far as found in time; none if the game is over."""
        moves, deadline = self.legal(position), self.deadline(seconds)
        if len(moves) > 1:
            moves = [self.choose_move(position, moves, deadline)]
        return [self.choice(position, move) for move in moves]

    def choose_move(self, position: int, moves: list[int], deadline: float) -> int:
        """Return the move to play, of several."""
        moves = [choice.move for choice in ranked(self.choice(position, move) for move in moves)]
        # Case: everything is known, or there is no time.
        if all(self.bounds_after(position, move).is_exact for move in moves):
            return moves[0]
        if deadline - monotonic() < LEAST_SECONDS:
            return moves[0]
        # Step 1: find the value, then a move that keeps it.
        value_deadline = monotonic() + FOR_VALUE * (deadline - monotonic())
        known = self.search_until(position, value_deadline, distance=False)
        move = self.move_keeping_value(position, moves, deadline) if known.at_least != LOSE else None
        # Case: no such move was found: choose by safety and random games.
        if move is None:
            return self.choose_unproved(position, moves, deadline)
        # Step 2: a win is worth hurrying: find a move that keeps the remoteness too.
        if known.value == WIN:
            known = self.search_until(position, deadline, distance=True)
            return self.move_keeping_distance(position, moves, known, deadline) or move
        return move

    def bounds_after(self, position: int, move: int) -> ValueBounds:
        return self.bounds_without_search(self.game.do_move(position, move))

    def move_keeping_value(self, position: int, moves: list[int], deadline: float) -> int | None:
        """Return a move that brings at least the proven value; None if time runs out."""
        needed = self.bounds_without_search(position).at_least
        refuting_bound = NO_LOSS if needed == WIN else ANY_WIN  # a worth of the child that refutes the move
        brings = {move: bounds_for_mover(self.bounds_after(position, move)) for move in moves}
        for move in moves:
            if brings[move].at_least >= needed:
                return move
        with self.limit_time(deadline), suppress(OutOfTime, SearchTooDeep):
            for move in moves:
                child = self.game.do_move(position, move)
                if brings[move].at_most >= needed and not self.search.ask(child, refuting_bound):
                    return move
        return None

    def move_keeping_distance(self, position: int, moves: list[int], known: ValueBounds, deadline: float) -> int | None:
        """Return a move that keeps value and remoteness, *known* of the position; None if unknown or out of time."""
        if not known.is_exact or not known.remoteness:
            return None
        with self.limit_time(deadline), suppress(OutOfTime, SearchTooDeep):
            for move in moves:
                if self.search.keeps(self.game.do_move(position, move), known.value, known.remoteness):
                    return move
        return None

    def choose_unproved(self, position: int, moves: list[int], deadline: float) -> int:
        """Return a move if the value is unknown: the best of the safest. Best is by the book of estimates, else by a
        depth-limited search, else by random games."""
        safety_deadline = monotonic() + FOR_SAFETY * (deadline - monotonic())
        safe = self.safest_moves(position, moves, safety_deadline)
        if self.estimates and (scores := self.estimates.moves(position)):
            return max(safe, key=scores.__getitem__)
        if len(safe) > 1 and Traits.of(self.game).has_estimate:
            return self.seemingly_best(position, safe, deadline)
        return best_by_playouts(self.game, position, safe, lambda: self.stopped or monotonic() >= deadline)

    def seemingly_best(self, position: int, moves: list[int], deadline: float) -> int:
        """Return the move that a depth-limited search chooses; the first of *moves* if it chooses none of them."""
        self.depth_search.resume()
        if self.stopped:  # asked after `resume`, so that no `stop` is lost
            return moves[0]
        seconds = max(deadline - monotonic(), LEAST_SECONDS)
        results = self.depth_search.ask(lambda search: [*search.deepen(position, seconds=seconds)])
        return results[-1].move if results and results[-1].move in moves else moves[0]

    def safest_moves(self, position: int, moves: list[int], deadline: float) -> list[int]:
        """Return a move that wins, or those after which the opponent's win is furthest away, as far as searched."""
        # Leave out moves that are known to lose, unless all are.
        moves = [move for move in moves if bounds_for_mover(self.bounds_after(position, move)).at_most != LOSE] or moves
        far = self.search.table.layout.far
        with self.limit_time(deadline), suppress(OutOfTime, SearchTooDeep):
            # Search one ply deeper each time, and drop the moves that lose within that.
            for plies in range(1, DEEPEST):
                safe = []
                for move in moves:
                    child = self.game.do_move(position, move)
                    # The opponent cannot avoid losing: this move wins.
                    if not self.search.ask(child, no_loss_within(plies, far)):
                        return [move]
                    if not self.search.ask(child, win_within(plies, far)):
                        safe.append(move)
                if not safe:
                    break
                moves = safe
                if len(moves) == 1:
                    break
        return moves

    # Best play

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position whose value and remoteness are known, as far as time allows."""
        deadline = monotonic() + self.seconds
        line: list[Choice] = []
        known = self.bounds_without_search(position)
        # Step 1: follow moves whose results are known without a search.
        while known.is_exact and known.remoteness and len(line) < limit:
            brings = {move: bounds_for_mover(self.bounds_after(position, move)) for move in self.legal(position)}
            keeping = (move for move in brings if brings[move].is_exact and brings[move].outcome == known.outcome)
            if (move := next(keeping, None)) is None:
                break
            line.append(self.choice(position, move))
            position = line[-1].position
            known = self.bounds_without_search(position)
        # Step 2: search for the rest.
        if known.is_exact and known.remoteness and (left := deadline - monotonic()) > LEAST_SECONDS:
            proved = known.value, known.remoteness, known.at_least, known.at_most
            found = SearchResult(*proved, no_end_within=0, nodes=0, seconds=0.0)
            for move in self.search.line(position, found, left)[: limit - len(line)]:
                line.append(self.choice(position, move))
                position = line[-1].position
        return line

    def close(self) -> None:
        if "search" in self.__dict__:
            self.search.halt()
        for opened in (self.book, self.tables):
            if opened:
                opened.close()
