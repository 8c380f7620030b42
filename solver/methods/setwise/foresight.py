"""What is foreseen of a game before any set is made: whether its rules are plain in some tiers of each wave, and in how
many bits positions of these differ.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import Game
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.forward_kernels import OPEN, TIED
from retrograde.solver.methods.setwise.kept import Aside, planes_for
from retrograde.solver.methods.setwise.waves import ENDS_APART, NOT_PLAIN, TOO_LONG, first_wave, next_tiers
from retrograde.solver.rules.examine import start_of
from retrograde.solver.rules.plain.glance import may_be_plain
from retrograde.solver.rules.plain.rules import Rules, rules_of
from retrograde.solver.rules.plain.tier_kernels import BASE, BITS, MASK, MOST_CUBES, WORDS, ends_of
from retrograde.solver.runtime.work import Unfit

Array = np.ndarray[Any, Any]

GLANCES = 8
"""Tiers of a wave that are looked at to tell whether rules are plain."""


def looks_plain(game: Game) -> bool:
    """Tell whether rules are plain from the start to the end in a few tiers of each wave: a game of which that is so
    will be solved word by word, but for a surprise in the others."""
    try:
        most_bits(game, plain_rules(game))
    except Unfit:
        return False
    return True


def plain_rules(game: Game) -> Rules:
    """Return the rules of a game; raise Unfit where they are seen not to be plain."""
    if not may_be_plain(game):
        raise Unfit(NOT_PLAIN)
    return rules_of(game)


def most_bits(game: Game, rules: Rules) -> int:
    """Return in how many bits positions of a tier differ at most, of the widest tiers of each wave; raise Unfit where
    rules are not plain there."""
    tiers, plies, most = first_wave(game, start_of(game), Aside(None)).tiers, 0, 0
    while len(tiers):
        ahead, plies = next_tiers(rules, tiers), plies + 1
        if ahead is None or planes_for(plies) > MOST_PLANES:
            raise Unfit(TOO_LONG)
        widest = np.argsort(-ahead[0][:, BITS], kind="stable")[:GLANCES]
        tiers = ahead[0][np.sort(widest)]
        most = max(most, int(tiers[:, BITS].max()))
        values = np.array([value_of_rest(rules, tier) for tier in tiers])
        if not {*values.tolist()} <= {OPEN, TIED, rules.decided} or {OPEN, TIED} <= {*values.tolist()}:
            raise Unfit(ENDS_APART)
        tiers = tiers[values == OPEN]
        tiers[:, WORDS] = 1
    return most


def value_of_rest(rules: Rules, tier: Array) -> int:
    """Return the primitive value of the positions of a tier that are not decided, UNCLEAR where that is not plain."""
    cubes, values = np.empty((MOST_CUBES, 2), np.int64), np.empty(len(rules.ending.nodes), np.int64)
    return int(ends_of(rules.ending, rules.decided, tier[BASE], tier[MASK], values, cubes)[1])
