"""Estimates made before any set is filled: whether the rules look plain, and how many bits vary in a tier.

Only a few tiers of each wave are followed, so True proves nothing, but False does.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.forward_kernels import OPEN, TIED
from retrograde.solver.methods.setwise.kept import Aside, planes_for
from retrograde.solver.methods.setwise.waves import ENDS_APART, NOT_PLAIN, TOO_LONG, first_wave, next_tiers
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.plain.rules import Rules, rules_of
from retrograde.solver.rules.plain.screening import may_be_plain
from retrograde.solver.rules.plain.tier_kernels import BASE, BITS, MASK, MOST_CUBES, WORDS, ends_of
from retrograde.solver.runtime.work import NotApplicable

Array = np.ndarray[Any, Any]

GLANCES = 8
"""Tiers followed in each wave: those with the most varying bits."""


def looks_plain(game: Game) -> bool:
    """Return False if a sample of tiers shows that the set-wise method does not apply. True proves nothing."""
    try:
        most_bits(game, plain_rules(game))
    except NotApplicable:
        return False
    return True


def plain_rules(game: Game) -> Rules:
    """Return the rules of a game as programs; raise NotApplicable if a quick look shows that they are not plain."""
    if not may_be_plain(game):
        raise NotApplicable(NOT_PLAIN)
    return rules_of(game)


def most_bits(game: Game, rules: Rules) -> int:
    """Return the greatest number of varying bits of a tier, among the GLANCES widest of each wave.

    Raises NotApplicable if the rules are not plain there.
    """
    tiers, plies, most = first_wave(game, start_of(game), Aside(None)).tiers, 0, 0
    while len(tiers):
        ahead, plies = next_tiers(rules, tiers), plies + 1
        if ahead is None or planes_for(plies) > MOST_PLANES:
            raise NotApplicable(TOO_LONG)
        widest = np.argsort(-ahead[0][:, BITS], kind="stable")[:GLANCES]
        tiers = ahead[0][np.sort(widest)]
        most = max(most, int(tiers[:, BITS].max()))
        values = np.array([value_of_rest(rules, tier) for tier in tiers])
        if not {*values.tolist()} <= {OPEN, TIED, rules.decided} or {OPEN, TIED} <= {*values.tolist()}:
            raise NotApplicable(ENDS_APART)
        # Follow only tiers in which the game goes on, and pretend that they have words: nothing is filled here.
        tiers = tiers[values == OPEN]
        tiers[:, WORDS] = 1
    return most


def value_of_rest(rules: Rules, tier: Array) -> int:
    """Return the primitive value of a tier's undecided positions; UNCLEAR if the rules are not plain."""
    cubes, values = np.empty((MOST_CUBES, 2), np.int64), np.empty(len(rules.ending.nodes), np.int64)
    return int(ends_of(rules.ending, rules.decided, tier[BASE], tier[MASK], values, cubes)[1])
