"""Players that look ahead, by their names: `depth:4` looks at four plies, `time:0.5` for half a second a move."""

import math
from collections.abc import Callable
from contextlib import suppress
from random import Random

from retrograde.games.game import Game
from retrograde.solver.lookahead.scores import DEEPEST


def read_name(text: str) -> tuple[int | None, float | None] | None:
    """Return the depth, or the seconds, that a name stands for; None where it is none of these.

    >>> [read_name(text) for text in ("depth:4", "time:0.5", "depth:0", "perfect")]
    [(4, None), (None, 0.5), None, None]
    """
    kind, _, amount = text.partition(":")
    with suppress(ValueError):
        if kind == "depth" and 1 <= int(amount) <= DEEPEST:
            return int(amount), None
        if kind == "time" and 0 < float(amount) < math.inf:
            return None, float(amount)
    return None


def searcher_named(name: str, game: Game, chance: Random) -> Callable[[int], int] | None:
    """Return what chooses a move by looking ahead, if that is what a name stands for."""
    if (limits := read_name(name)) is None:
        return None
    from retrograde.solver.lookahead.lookahead import Lookahead  # numba takes a while to import

    ahead = Lookahead(game)
    return lambda position: ahead.find(position, *limits, seed=chance.getrandbits(32)).move
