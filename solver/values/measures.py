"""Presents the measures of a position: as facts for JSON, as text, and as keys to compare moves."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN, Value
from retrograde.games.contract.zeroing import PROGRESS_METRICS
from retrograde.solver.values.sums import finite_options, text_of

Details = Mapping[str, Any]


def facts_of(metric: str, details: Details, measures: Sequence[int]) -> dict[str, Any]:
    """Return the measures of a position as facts for JSON, for the player to move. Utilities are those of all players.

    >>> facts_of("score", {}, [3]), facts_of("nimber", {}, [-6]), facts_of("utilities", {"scale": 2}, [1, 2])
    ({'score': 3}, {'nimber': None, 'infinite': [0, 2]}, {'utilities': [0.5, 1]})
    """
    if metric == "score":
        return {"score": measures[0]}
    if metric == "nimber":
        infinite = {"infinite": sorted(finite_options(measures[0]))} if measures[0] < 0 else {}
        return {"nimber": measures[0] if measures[0] >= 0 else None, **infinite}
    if metric == "drawlevel":
        kind, level, plies = (number if number >= 0 else None for number in measures)  # -1: none
        return {"draw": Value(kind).name.lower() if kind else None, "drawlevel": level, "drawremoteness": plies}
    if metric in PROGRESS_METRICS:
        return {metric: measures[0]}
    if metric == "utilities":
        return {"utilities": [plain(measure, details) for measure in measures]}
    # Expectations: low and high, and against a model the bounds while the other player is to move.
    own, *waiting = (between(*pair, details) for pair in zip(measures[::2], measures[1::2], strict=True))
    return own | ({"waiting": waiting[0]} if waiting else {})


def between(low: int, high: int, details: Details) -> dict[str, Any]:
    """Return an expectation and its bounds as facts for JSON.

    >>> between(1, 2, {"scale": 4})
    {'expectation': 0.375, 'low': 0.25, 'high': 0.5}
    """
    below, above = round_outward(low, high, details)
    return {"expectation": (below + above) / 2, "low": below, "high": above}


def round_outward(low: int, high: int, details: Details) -> tuple[float, float]:
    """Return two bounds, given in multiples of 1/scale, as floating-point numbers: the lower one rounded down, the
    upper one up. *details* may have the scale.

    >>> round_outward(1, 2, {"scale": 4}), round_outward(2**60 + 1, 2**60 + 1, {}) == (2.0**60, 2.0**60 + 256)
    ((0.25, 0.5), True)
    """
    scale = details.get("scale", 1)
    below, above = low / scale, high / scale
    if Fraction(below) > Fraction(low, scale):
        below = nextafter(below, -inf)
    if Fraction(above) < Fraction(high, scale):
        above = nextafter(above, inf)
    return below, above


def plain(measure: int, details: Details) -> float:
    """Return a measure divided by the scale in *details*: 3 with scale 2 is 1.5, 4 is the int 2."""
    number = Fraction(measure, details.get("scale", 1))
    return int(number) if number.denominator == 1 else float(number)


def in_words(metric: str, details: Details, measures: Sequence[int]) -> str:
    """Return measures as a short text.

    >>> in_words("score", {}, [3]), in_words("score", {}, [-3]), in_words("utilities", {}, [1, 0, 1])
    ('+3', '-3', '1 : 0 : 1')
    """
    if metric == "score":
        return f"{measures[0]:+}" if measures[0] else "0"
    if metric == "nimber":
        return text_of(measures[0])
    if metric == "drawlevel":
        return draw_text(*measures)
    if metric == "utilities":
        return " : ".join(f"{plain(measure, details):g}" for measure in measures)
    if metric in PROGRESS_METRICS:
        return str(measures[0])
    middle = sum(plain(measure, details) for measure in measures[:2]) / 2
    return f"{middle:.6g}"


def draw_text(kind: int, level: int, plies: int) -> str:
    """Return the draw level of a draw as a short text; "" if the position is no draw.

    >>> from retrograde.games.contract.game import UNDECIDED
    >>> draw_text(WIN, 2, 3), draw_text(LOSE, 0, 0), draw_text(DRAW, -1, -1), draw_text(UNDECIDED, -1, -1)
    ('draw-win in 3, level 2', 'draw-lose in 0, level 0', 'not pure', '')
    """
    if kind in (WIN, LOSE):
        return f"draw-{'win' if kind == WIN else 'lose'} in {plies}, level {level}"
    return "not pure" if kind == DRAW else ""


def rank(metric: str, details: Details, measures: Sequence[int], mover: int) -> tuple[int, ...]:
    """Return a sort key for moves by the measures after them (scores and expectations: *mover*'s), the best first."""
    if metric in ("score", "expectation"):
        return tuple(-measure for measure in measures[:2])
    if metric == "utilities":
        of_others = [measure for player, measure in enumerate(measures) if player != mover]
        leader = max(of_others, default=0) if details.get("ties") == "leader" else 0
        return -measures[mover], leader
    return ()


def gives(measures: Sequence[int], mover: int) -> Value:
    """Return WIN if *mover* gets more than every other player, TIE if as much as the best of them, else LOSE.

    >>> gives([1, 0, 1], 0), gives([1, 0, 1], 1)
    (<Value.TIE: 3>, <Value.LOSE: 1>)
    """
    best = max((measure for player, measure in enumerate(measures) if player != mover), default=0)
    if measures[mover] == best:
        return TIE
    return WIN if measures[mover] > best else LOSE
