"""What is looked at of the rules before they are solved or searched: the cheap part of the conformance check.

It holds the rules that decide what is solved (players, turn, start, tier, primitive, generate_moves, do_move, the
options' text, slots, images, parents) against the contract at some positions, interpreted, and leaves alone what is for
people. Solving takes on trust what it does not look at, so that rules that break the contract could else end in a wrong
database.
"""

import time

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, InternalError, RetrogradeError, RuleError
from retrograde.solver.conformance.check import Checker, Endless, check, patience
from retrograde.solver.rules.exits import no_exit

POSITIONS = 200
"""Positions tried at most."""
SECONDS = 0.05
"""Time for all of it."""
PATIENCE = 20.0
"""More seconds after which a rule is taken to go on for ever: longer than any table takes that rules make for
themselves."""


def refuse_broken(game: Game, seconds: float = SECONDS) -> None:
    """Raise RuleError where rules are seen to break the contract, with the first finding in the words of `check`.

    It takes about so many *seconds*, and longer only where a single rule does. What it does not see may be broken yet:
    `check` looks at more.
    """
    checker = Checker(game)
    try:
        with no_exit(), patience(seconds + PATIENCE):
            checker.check_rules(POSITIONS, time.monotonic() + seconds)
    except Endless:
        checker.find("goes on and on; does it end?")
    if checker.findings:
        raise RuleError(f"{variant(game)} breaks the contract: {checker.findings[0]}")


def blamed(game: Game, error: Exception) -> RetrogradeError:
    """Return the error for a contradiction in what was solved: RuleError if `check` finds a fault of the rules.

    Otherwise it is an InternalError, so that no rules are blamed for a bug of retrograde.
    """
    report = check(game)
    if report.ok:
        return InternalError(f"{error}; `retrograde check` finds no fault of the rules")
    return RuleError(f"{error}; the rules break the contract: {report.findings[0]}")
