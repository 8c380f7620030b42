"""Conformance: the test that every game must pass, ours or a user's, before its solution can be trusted.

Positions are tried from the start on or, if the game numbers them, at slots spread over the numbering. The rules that
all others depend on come first; if they break the contract, the other checks are skipped. Then each rule is compared
with its counterpart, as `read` with `write` and `unindex` with `index`, at positions (POSITION_CHECKS) and as a whole
(the stages of `Checker.check_interpreted`). At last the rules are compared with themselves compiled (`compiled.py`).

Each check reports the first breach, with the position and what to do. Rules that keep the contract and do not compile
are no breach: they work, slowly, and the report says why.
"""

import ctypes
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import isfunction
from random import Random
from sys import modules
from typing import Any, NamedTuple
from weakref import WeakSet

from retrograde.games import Game, RetrogradeError, RuleError, catalog
from retrograde.games.contract import raised
from retrograde.games.contract.fields import check_arguments
from retrograde.games.contract.game import InternalError, Traits, can_set_up, declares, defines
from retrograde.games.contract.live import with_source
from retrograde.games.identity.digest_cache import is_installed
from retrograde.solver.conformance import declarations, drawings, hints, names, numberings, pairs, turns
from retrograde.solver.conformance.survey import LEAST, Survey
from retrograde.solver.conformance.understanding import describe_rules
from retrograde.solver.methods.numbered.orientations import is_oriented
from retrograde.solver.methods.shapes.fit import is_shaped
from retrograde.solver.rules.examine import Fault, NotCompilable, raised_by_rules
from retrograde.solver.rules.no_exit import no_exit
from retrograde.solver.runtime.progress import Course, Listener, Phase, announce

LIMIT = 10_000
"""Positions tried unless the caller wants more."""
SECONDS = 2.0
"""Seconds for all interpreted checks."""
PRECHECK_POSITIONS, PRECHECK_SECONDS, SECONDS_AGAIN = 200, 0.05, 0.01
"""The most positions tried by the check before a solve, seconds for it, and seconds for further variants of a game:
sets such as `chess:all=4` have many."""
PRECHECKED: WeakSet[type[Game]] = WeakSet()
"""The games of which a variant was checked before a solve, in this process."""
PATIENCE, PRECHECK_PATIENCE = 5.0, 20.0
"""Additional seconds after which a rule is assumed to run forever. Before a solve they are longer than rules take to
build any of their tables."""
WAITS = 10
"""How many times as long rules may take that do not use the processor."""


class PositionCheck(NamedTuple):
    """A check of one position. `run` raises a Fault if something is wrong; `is_for` says which games it applies to.

    `for_people`: it concerns texts and pictures, which no solve needs. If a `first` check fails, the others are
    skipped.
    """

    run: Callable[[Survey, int], None]
    is_for: Callable[[Game], bool]
    for_people: bool = False
    first: bool = False


POSITION_CHECKS = (
    PositionCheck(declarations.check_declared, lambda game: True, for_people=True, first=True),
    PositionCheck(declarations.check_board, declares, for_people=True, first=True),
    PositionCheck(pairs.check_text, lambda game: True, for_people=True),
    PositionCheck(pairs.check_moves, lambda game: True, for_people=True),
    PositionCheck(declarations.check_names, declares, for_people=True),
    PositionCheck(drawings.check_drawing, lambda game: declares(game) or defines(game, "draw_board"), for_people=True),
    PositionCheck(drawings.check_pieces, can_set_up, for_people=True),
    PositionCheck(drawings.check_turns, lambda game: declares(game) or defines(game, "draw_turn"), for_people=True),
    PositionCheck(hints.check_hints, hints.has_hints, for_people=True),
    PositionCheck(hints.check_abstractions, lambda game: bool(game.abstractions), for_people=True),
    PositionCheck(hints.check_ties, lambda game: not game.has_ties, for_people=True),
    PositionCheck(hints.check_at_best, lambda game: Traits.of(game).has_at_best, for_people=True),
    PositionCheck(hints.check_heap_code, lambda game: bool(game.heap_code), for_people=True),
    PositionCheck(turns.check_turn, lambda game: any(defines(game, name) for name in ("turn", "payoff", "reward"))),
    PositionCheck(numberings.check_slots, lambda game: Traits.of(game).is_numbered),
    PositionCheck(numberings.check_slotless, numberings.leaves_out),
    PositionCheck(numberings.check_steps, is_shaped),
    PositionCheck(numberings.check_orientations, is_oriented),
    PositionCheck(pairs.check_images, lambda game: Traits.of(game).has_images),
    PositionCheck(pairs.check_parents, lambda game: Traits.of(game).has_parents),
)
"""All checks of positions, in the order in which they run."""


class ContractBreach(NamedTuple):
    """A breach of the contract: the rule, the text of the position (None: no position), and what to do."""

    rule: str
    position: str | None
    complaint: str

    def __str__(self) -> str:
        place = "" if self.position is None else f" at {self.position}"
        return f"{self.rule}{place}: {self.complaint}"


@dataclass(frozen=True)
class ConformanceReport:
    """The result of a check.

    `positions` is how many were visited; if `complete`, these are all. `checks` counts how often each rule was checked.
    `slow` says why the rules do not compile; it is "" if they do, or if that was not tried. `understood` says in words
    what the rules mean, such as {"players": "2, alternating"}; it is empty if they break the contract.
    """

    variant: str
    positions: int
    complete: bool
    checks: dict[str, int]
    findings: list[ContractBreach]
    slow: str = ""
    understood: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Return whether no breach of the contract was found."""
        return not self.findings

    def require_ok(self) -> None:
        """Raise RuleError, with the first finding, if the rules break the contract."""
        if self.findings:
            raise RuleError(f"{self.variant} breaks the contract: {self.findings[0]}")

    def blame(self, error: Exception) -> RetrogradeError:
        """Return the error to raise when a solve contradicts the rules: a RuleError if they break the contract.
        Otherwise it is an InternalError, so that no rules are blamed for a bug of retrograde."""
        if self.ok:
            return InternalError(f"{error}; `retrograde check` finds no fault of the rules")
        return RuleError(f"{error}; the rules break the contract: {self.findings[0]}")


def check(
    game: Game, limit: int = LIMIT, seconds: float = SECONDS, *, compiled: bool = True, listener: Listener | None = None
) -> ConformanceReport:
    """Check a game against the contract at up to *limit* positions, and return a report.

    Interpreted checks take about *seconds*. If they find nothing, the rules are compiled, unless *compiled* is False,
    and compared with the interpreted ones for half as long; compiling takes additional time. *listener* is called with
    Progress.
    """
    game, _ = with_source(game)
    checker = Checker(game)
    checker.survey.phase = Phase("checking", listener, course=Course({"checking": 0.7, "comparing": 0.3}))
    with no_exit():
        with checker.limit_time(seconds + PATIENCE), check_arguments(game):
            checker.check_interpreted(limit, time.monotonic() + seconds)
        if compiled and not checker.findings:
            checker.check_compiled(seconds / 2)
    return checker.report({} if checker.findings else describe_rules(checker.survey))


def precheck(game: Game, seconds: float | None = None) -> ConformanceReport:
    """Check for about *seconds* the rules that decide what is solved, at some positions, and return a report.

    By default it takes PRECHECK_SECONDS, or SECONDS_AGAIN if it has checked another variant of the game.

    It may miss faults: `check` visits more positions. The solver trusts what it does not check itself, so broken rules
    could otherwise end in a wrong database.
    """
    if seconds is None:
        seconds = SECONDS_AGAIN if type(game) in PRECHECKED else PRECHECK_SECONDS
    PRECHECKED.add(type(game))
    checker = Checker(game)
    with no_exit(), checker.limit_time(seconds + PRECHECK_PATIENCE):
        checker.check_interpreted(PRECHECK_POSITIONS, time.monotonic() + seconds, for_people=False)
    return checker.report({})


class Checker:
    """Runs checks of one game, and collects what they find."""

    def __init__(self, game: Game):
        self.game = game
        self.survey = Survey(game)
        self.findings: list[ContractBreach] = []
        self.slow = ""
        self.traits = Traits.of(game)
        self.members = members_of(game)

    def check_interpreted(self, limit: int, deadline: float, for_people: bool = True) -> None:
        """Run the checks that need no compiled rules, stage by stage, until a stage finds something.

        They visit up to *limit* positions until *deadline*. Without *for_people*, checks that no solve needs are left
        out, and names of members are checked only if the game is not one of ours.
        """
        checks = [
            check for check in POSITION_CHECKS if check.is_for(self.game) and (for_people or not check.for_people)
        ]
        first = [check for check in checks if check.first]
        others = [check for check in checks if not check.first]
        half_time = (time.monotonic() + deadline) / 2
        with_names = for_people or not is_installed(type(self.game))
        for stage in (
            partial(self.explore, limit, half_time, with_names),
            partial(self.check_declarations, first, deadline, len(others) + 1),
            self.read_chance_numbering,
            partial(self.check_all, others, deadline),
        ):
            if self.findings:
                return
            with self.collect_faults():
                stage()

    def explore(self, limit: int, deadline: float, with_names: bool) -> None:
        """Check players and starts, names of members too if *with_names*, and visit up to *limit* positions until
        *deadline*."""
        if with_names:
            names.check_names(self.survey)
        self.survey.begin_check("name", None)
        pairs.check_name(self.game)
        turns.check_players(self.survey)
        if self.traits.has_starts:
            turns.check_starts(self.survey)
        self.survey.explore(limit, deadline)

    def check_declarations(self, first: Sequence[PositionCheck], deadline: float, shares: int) -> None:
        """Check options, variants that share databases, and what texts and pictures depend on. Each check of *first*
        gets one of *shares* equal shares of the time left."""
        with self.collect_faults():
            self.survey.begin_check("options", None)
            pairs.check_options(self.game)
            if self.traits.is_numbered and self.traits.has_elsewhere:
                numberings.check_elsewhere(self.survey)
        for check in first:
            self.check_positions(check, time.monotonic() + (deadline - time.monotonic()) / shares)

    def read_chance_numbering(self) -> None:
        """Read the numbering of a game with chance; of others, `explore` has read it."""
        if numberings.leaves_out(self.game):
            self.survey.read_numbering()

    def check_all(self, checks: Sequence[PositionCheck], deadline: float) -> None:
        """Run checks of positions, each for an equal share of the time that is left, then those of whole numberings."""
        for i, check in enumerate(checks):
            now, shares = time.monotonic(), len(checks) - i + self.traits.is_numbered
            self.check_positions(check, now + (deadline - now) / shares)
        with self.collect_faults():
            if self.traits.is_numbered and not self.findings:
                numberings.check_numbering(self.survey, deadline)
            if numberings.leaves_out(self.game) and not self.findings:
                numberings.check_slots_left(self.survey, deadline)
        # The class must still have the rules it had at the beginning.
        members = members_of(self.game)
        for name in sorted({*self.members, *members}):
            if self.members.get(name) is not members.get(name):
                self.survey.begin_check(name.rpartition(".")[2], None)
                raise Fault("is another one than before the rules were asked; rules must stay what they are")

    def check_positions(self, check: PositionCheck, deadline: float) -> None:
        """Run one check at the start, then at other positions in random order until *deadline*."""
        first, *others = self.survey.answers
        Random(0).shuffle(others)
        with self.collect_faults():
            for position in [first, *others]:
                check.run(self.survey, position)
                if time.monotonic() > deadline:
                    break

    def check_compiled(self, seconds: float) -> None:
        """Compile the rules and compare them with the interpreted rules for *seconds*."""
        from retrograde.solver.conformance.compiled import check_compiled  # numba takes a while to import

        survey, listener = self.survey, self.survey.phase.listener
        announce(listener, "compiling the rules")
        with self.collect_faults():
            first = survey.canonical(next(iter(survey.answers)))
            try:
                check_compiled(survey, first)  # most of it is compiling
            except NotCompilable as error:
                self.slow = str(error)
                return
            comparing = Phase("comparing", listener, len(survey.canonical_positions), survey.phase.course)
            deadline = time.monotonic() + seconds
            for i, position in enumerate(survey.canonical_positions):
                if i > LEAST and time.monotonic() > deadline:
                    return
                check_compiled(survey, position)
                comparing.advance(1)

    @contextmanager
    def collect_faults(self) -> Iterator[None]:
        """Turn a Fault, and any exception that the rules raise inside this context, into a finding."""
        try:
            yield
        except (Fault, RuleError) as fault:
            self.add_finding(str(fault))
        except BaseException as error:  # rules may raise anything
            if not raised_by_rules(error):
                raise
            self.add_finding(raised.complaint(error, self.game))

    @contextmanager
    def limit_time(self, seconds: float) -> Iterator[None]:
        """Leave the context after *seconds*, with the finding that the rules may run forever."""
        try:
            with raise_after(seconds):
                yield
        except EndlessRules:
            self.add_finding("goes on and on; does it end?")

    def report(self, understood: dict[str, str]) -> ConformanceReport:
        name, survey = catalog.variant(self.game), self.survey
        tried, checks = len(survey.answers), dict(survey.checks)
        return ConformanceReport(name, tried, survey.complete, checks, self.findings, self.slow, understood)

    def add_finding(self, complaint: str) -> None:
        rule, position = self.survey.rule, self.survey.position
        place = None if position is None else pairs.text_of(self.game, position)
        self.findings.append(ContractBreach(rule, place, complaint))


def members_of(game: Game) -> dict[str, Any]:
    """Return the rules of a game, as {"module.Class.name": function or property}, bases and their modules included."""
    members: dict[str, Any] = {}
    for base in type(game).__mro__[:-1]:
        for holder in (base, modules.get(base.__module__)):  # the class, then its module
            for name, member in vars(holder).items() if holder else ():
                if isfunction(member) or isinstance(member, property):
                    members[f"{base.__module__}.{base.__qualname__}.{name}"] = member
    return members


class EndlessRules(BaseException):
    """Rules take too long. It derives from BaseException, so that rules do not catch it."""


@contextmanager
def raise_after(seconds: float) -> Iterator[None]:
    """Raise EndlessRules in this thread if the context takes more than *seconds*, even in a loop of the rules.

    Seconds of the processor count, so that rules are not refused on a busy machine. Rules that wait for something are
    given WAITS times as long.
    """
    thread, lock, ended = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    began = time.process_time()

    # Another thread raises the exception in the thread that runs the rules.
    def watch() -> None:
        """Wait until the context ends; if it takes too long, raise EndlessRules in the thread that runs it."""
        seconds_left, waits = seconds, WAITS
        while seconds_left > 0 and waits:
            if ended.wait(seconds_left):
                return
            seconds_left, waits = seconds - (time.process_time() - began), waits - 1
        with lock:
            if not ended.is_set():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(EndlessRules))

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            # Under the lock, so that the exception never arrives after the context has ended.
            ended.set()
