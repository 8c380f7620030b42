"""A short check of the rules before they are solved or searched: the cheap part of the conformance check.

It checks the rules that decide what is solved (players, turn, start, tier, primitive, generate_moves, do_move, the
options' text, slots, images, parents) at some positions, interpreted. Rules for people, such as names of moves, are
skipped. The solver trusts what it does not check itself, so broken rules could otherwise end in a wrong database.
"""

import time

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, InternalError, RetrogradeError, RuleError
from retrograde.solver.conformance.check import Checker, Endless, check, patience
from retrograde.solver.rules.no_exit import no_exit

POSITIONS = 200
"""The most positions tried."""
SECONDS = 0.05
"""Seconds for the whole check."""
PATIENCE = 20.0
"""Additional seconds after which a rule is assumed to run forever: longer than rules take to build any of their
tables."""


def refuse_broken(game: Game, seconds: float = SECONDS) -> None:
    """Raise RuleError if rules visibly break the contract; the message is the first finding of `check`.

    It takes about *seconds*, and longer only if a single rule does. It may miss faults: `check` tries more positions.
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
    """Return the error to raise when a solve contradicts the rules: a RuleError if `check` finds a fault of the rules.

    Otherwise it is an InternalError, so that no rules are blamed for a bug of retrograde.
    """
    report = check(game)
    if report.ok:
        return InternalError(f"{error}; `retrograde check` finds no fault of the rules")
    return RuleError(f"{error}; the rules break the contract: {report.findings[0]}")
