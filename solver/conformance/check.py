"""Conformance: the one test that every game must pass, ours or a user's, before its solution can be trusted.

Positions are tried from the start on, or, where the game numbers them, from slots here and there. First come the rules
on which all others rest; where these break the contract, the rest has to wait. Then the others, each held against its
counterpart::

    members                                             have no name that is one of the contract misspelt  (names.py)
    players, metric, starts                             are there, and fit one another     (turns.py)
    start, placements                                   are there; a numbering has a slot for it (survey.py)
    start, tier, primitive, generate_moves, do_move     at every position tried            (survey.py)
    turn, odds, payoff                                  name players, weights and pay      (turns.py)
    name, options                                       their text gives the same game     (pairs.py)
    write and read, move_name and move                  each undoes the other
    board, bits, signs, position_of, by_turns, …        say what can be drawn and written  (declarations.py)
    draw_board, draw_pieces, draw_move, draw_turn, …    speak of the same places and signs, and of turns (drawings.py)
    draw_pieces and draw_turn, read_pieces              undo each other
    tiers, size, parts, index and unindex, family       slots stand for positions, and undo each other; of a small
                                                        numbering all slots, and of placements all that is declared
    tiers, size, index, unindex, swapped                where there is chance: what has no slot needs none (left_out.py)
    images                                              symmetric positions are worth the same
    estimate, quiet, promise, tie_in                    are numbers in their bounds, the same for symmetric positions
    parents                                             undoes do_move, within a tier
    compiled                                            the rules do what they do interpreted

Of each pair the first breach is told, with the position and what to do. Rules that keep the contract and do not compile
are no breach: they work, slowly, and the report says why.
"""

import ctypes
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import isfunction
from random import Random
from sys import modules
from typing import Any, NamedTuple

from retrograde.games import catalog
from retrograde.games.contract import raised
from retrograde.games.contract.game import Game, RuleError, can_set_up, declares, defines, has_chance, is_numbered
from retrograde.games.contract.live import with_source
from retrograde.solver.conformance import declarations, drawings, hints, left_out, names, pairs, turns
from retrograde.solver.conformance.survey import Survey
from retrograde.solver.conformance.understood import understood
from retrograde.solver.rules.examine import Fault, raised_by_rules
from retrograde.solver.rules.exits import no_exit
from retrograde.solver.runtime.progress import Course, Listener, Phase, announce

LIMIT = 10_000
"""Positions tried unless more are asked for."""
SECONDS = 2.0
"""Time for all that is done interpreted."""
BATCH = 10
"""Positions that are held against the compiled rules before looking at the clock."""
PATIENCE = 5.0
"""More seconds after which a rule is taken to go on for ever."""


Checks = Sequence[Callable[[Survey, int], None]]


class Finding(NamedTuple):
    """A breach of the contract: by which rule, at which position (its text; None: at none), and what to do."""

    rule: str
    position: str | None
    complaint: str

    def __str__(self) -> str:
        place = "" if self.position is None else f" at {self.position}"
        return f"{self.rule}{place}: {self.complaint}"


@dataclass(frozen=True)
class Report:
    """What came out of a check.

    `positions` is how many were tried, all there are if `complete`; `checks` tells how often each rule was looked at.
    `slow` says why the rules do not compile, and so are run interpreted; it is empty where they do, or were not tried.
    `understood` says what the rules are taken to mean, by headings; it is empty where they break the contract.
    """

    variant: str
    positions: int
    complete: bool
    checks: dict[str, int]
    findings: list[Finding]
    slow: str = ""
    understood: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Tell whether the game keeps the contract, as far as was seen."""
        return not self.findings


def check(
    game: Game, limit: int = LIMIT, seconds: float = SECONDS, *, compiled: bool = True, listener: Listener | None = None
) -> Report:
    """Hold a game against the contract at up to *limit* positions, and report; *listener* is called with Progress.

    What is done interpreted takes about so many *seconds*. Then, if nothing is wrong yet and unless *compiled* is
    False, the rules are compiled, which takes some more, and are held against the interpreted ones for half as long.
    """
    game, _ = with_source(game)
    checker = Checker(game)
    checker.survey.phase = Phase("checking", listener, course=Course({"checking": 0.7, "comparing": 0.3}))
    with no_exit():
        try:
            with patience(seconds + PATIENCE):
                checker.check_interpreted(limit, time.monotonic() + seconds)
        except Endless:
            checker.find("goes on and on; does it end?")
        if compiled and not checker.findings:
            checker.check_compiled(seconds / 2)
    survey = checker.survey
    checks = dict(survey.checks)
    meant = {} if checker.findings else understood(survey)
    name, tried = catalog.variant(game), len(survey.views)
    return Report(name, tried, survey.complete, checks, checker.findings, checker.slow, meant)


class Checker:
    """A game, a survey of it, and what is wrong."""

    def __init__(self, game: Game):
        self.game = game
        self.survey = Survey(game)
        self.findings: list[Finding] = []
        self.slow = ""
        self.members = members_of(game)

    def check_interpreted(self, limit: int, deadline: float) -> None:
        """Do all checks for which the rules need not be compiled."""
        game = self.game
        for_people = [pairs.check_text, pairs.check_moves]
        for_people += [declarations.check_names] if declares(game) else []
        for_people += [drawings.check_drawing] if declares(game) or defines(game, "draw_board") else []
        for_people += [drawings.check_pieces] if can_set_up(game) else []
        for_people += [drawings.check_turns] if declares(game) or defines(game, "draw_turn") else []
        for_people += [hints.check_hints] if hints.has_hints(game) else []
        first = [declarations.check_declared, *([declarations.check_board] if declares(game) else [])]
        self.check_rules(limit, deadline, for_people, first)

    def check_rules(self, limit: int, deadline: float, others: Checks = (), first: Checks = ()) -> None:
        """Do the checks of the rules that decide what is solved, and others; only the *first* where these fail."""
        game = self.game
        half = (time.monotonic() + deadline) / 2
        with self.noting():
            names.check_names(self.survey)
            self.survey.at("name", None)
            pairs.check_name(game)
            turns.check_players(self.survey)
            if defines(game, "starts"):
                turns.check_starts(self.survey)
            self.survey.explore(limit, half)
        if self.findings:
            return
        with self.noting():
            self.survey.at("options", None)
            pairs.check_options(game)
            if is_numbered(game) and defines(game, "elsewhere"):
                pairs.check_elsewhere(self.survey)
        for check_at in first:
            self.check_positions(check_at, time.monotonic() + (deadline - time.monotonic()) / (len(others) + 1))
        if self.findings:
            return
        leaves_out = defines(game, "unindex") and has_chance(game)
        if leaves_out:
            with self.noting():
                self.survey.number()
        if self.findings:
            return
        checks = [*others]
        checks += [turns.check_turn] if turns.has_turns(game) else []
        checks += [pairs.check_slots] if is_numbered(game) else [left_out.check_left_out] if leaves_out else []
        checks += [pairs.check_images] if defines(game, "images") else []
        checks += [pairs.check_parents] if defines(game, "parents") else []
        for number, check_at in enumerate(checks):
            now = time.monotonic()
            self.check_positions(check_at, now + (deadline - now) / (len(checks) - number + is_numbered(game)))
        if is_numbered(game) and not self.findings:
            with self.noting():
                pairs.check_numbering(self.survey, deadline)
        if leaves_out and not self.findings:
            with self.noting():
                left_out.check_slots(self.survey, deadline)
        self.check_members()

    def check_members(self) -> None:
        """See whether the rules are still those that the class began with."""
        now = members_of(self.game)
        for name in sorted({*self.members, *now}):
            if self.members.get(name) is not now.get(name):
                self.survey.at(name.rpartition(".")[2], None)
                self.find("is another one than before the rules were asked; rules must stay what they are")
                break

    def check_positions(self, check_at: Callable[[Survey, int], None], deadline: float) -> None:
        """Do one check at the first position, and then at others here and there until all are done or time is up."""
        first, *others = self.survey.views
        Random(0).shuffle(others)
        with self.noting():
            for position in [first, *others]:
                check_at(self.survey, position)
                if time.monotonic() > deadline:
                    break

    def check_compiled(self, seconds: float) -> None:
        """Compile the rules and hold them against the interpreted."""
        from retrograde.solver.rules.examine import NotCompilable
        from retrograde.solver.rules.expansion import Expander  # numba takes a while to import

        by_tier: defaultdict[int, list[int]] = defaultdict(list)
        for position in self.survey.classes:
            by_tier[self.survey.tier(position)].append(position)
        self.survey.at("compiled", None)
        checked = self.survey.phase
        announce(checked.listener, "compiling the rules")
        with self.noting():
            expander = Expander(self.game.family)
            first = self.survey.canonical(next(iter(self.survey.views)))
            try:
                pairs.check_compiled(self.survey, expander, self.survey.tier(first), [first])  # most of it is compiling
                self.check_hints_compiled([first])
            except NotCompilable as error:
                self.slow = str(error)
                return
            comparing = Phase("comparing", checked.listener, len(self.survey.classes), checked.course)
            deadline = time.monotonic() + seconds
            for tier, positions in by_tier.items():
                for begin in range(0, len(positions), BATCH):
                    some = positions[begin : begin + BATCH]
                    pairs.check_compiled(self.survey, expander, tier, some)
                    self.check_hints_compiled(some)
                    comparing.advance(len(some))
                    if time.monotonic() > deadline:
                        return

    def check_hints_compiled(self, positions: list[int]) -> None:
        """Hold what the compiled rules say as hints against the interpreted, where there are any."""
        if hints.has_hints(self.game):
            hints.check_compiled(self.survey, positions)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note as a finding whatever goes wrong."""
        try:
            yield
        except (Fault, RuleError) as fault:
            self.find(str(fault))
        except BaseException as error:  # rules may raise anything
            if not raised_by_rules(error):
                raise
            self.find(raised.complaint(error, self.game))

    def find(self, complaint: str) -> None:
        """Add a finding about the rule and the position at hand."""
        rule, position = self.survey.rule, self.survey.position
        place = None if position is None else pairs.text_of(self.game, position)
        self.findings.append(Finding(rule, place, complaint))


def members_of(game: Game) -> dict[str, Any]:
    """Return what the class of a game, the classes that it is made of, and their modules hold: rules, by name."""
    members: dict[str, Any] = {}
    for base in type(game).__mro__[:-1]:
        for holder in (base, modules.get(base.__module__)):
            for name, member in vars(holder).items() if holder else ():
                if isfunction(member) or isinstance(member, property):
                    members[f"{base.__module__}.{base.__qualname__}.{name}"] = member
    return members


class Endless(BaseException):
    """Something that rules do takes too long. (No Exception, so that rules do not catch it.)"""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise Endless within, in this thread, when so much time has passed.

    Rules are other people's loops, and cannot be asked to look at the clock.
    """
    thread, lock, over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), False

    def interrupt() -> None:
        with lock:
            if not over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(Endless))

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over = True
        timer.cancel()
