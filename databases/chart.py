"""A chart of a database's positions by value and plies to the end, as notebooks show it."""

from collections.abc import Sequence
from math import log10

from retrograde.databases.layout import LegendRow
from retrograde.databases.legend import by_outcome
from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN
from retrograde.games.contract.marks import COLOURS

HIGH = 120.0
"""Pixels of the longest bar."""
WIDE = 560.0
"""Pixels of all bars together, at most."""
LABEL = 24.0
"""Pixels from number to number, at least."""
BAR_NUMBERS = {WIN: 0, TIE: 1, DRAW: 1, LOSE: 2}
"""The bar of each value, of three side by side for each remoteness."""


def counts_svg(legend: Sequence[LegendRow]) -> str:
    """Return the numbers of positions as SVG, on a logarithmic scale. Positions without an end are at the right."""
    rows = by_outcome(legend)
    last = max((row.plies for row in rows if row.plies is not None), default=-1)
    endless = last + 1 if any(row.plies is None for row in rows) else last
    column_width = min(LABEL, WIDE / (endless + 1))
    scale = HIGH / log10(max(row.positions for row in rows) + 1)
    bars = []
    for row in rows:
        column, height = endless if row.plies is None else row.plies, scale * log10(row.positions + 1)
        distance = "without an end" if row.plies is None else f"in {row.plies} plies"
        # Three bars of 0.29 columns, and gaps of 0.06 columns on either side.
        bars.append(
            f'<rect x="{column_width * (column + 0.06 + 0.29 * BAR_NUMBERS[row.value]):.1f}" y="{HIGH - height:.1f}" '
            f'width="{0.29 * column_width:.1f}" height="{height:.1f}" fill="{COLOURS[row.value]}" stroke="#8888">'
            f"<title>{row.value.name.lower()} {distance}: {row.positions:,}</title></rect>"
        )
    numbers = {column: str(column) for column in range(0, last + 1, round(LABEL / column_width))}
    numbers |= {endless: "∞"} if endless > last else {}
    texts = (
        f'<text x="{column_width * (column + 0.5):.1f}" y="{HIGH + 16:g}">{text}</text>'
        for column, text in numbers.items()
    )
    return (
        f'<svg width="{column_width * (endless + 1) + LABEL:.0f}" height="{HIGH + LABEL:g}" font-size="12" '
        f'font-family="sans-serif" fill="currentColor" text-anchor="middle">{"".join([*bars, *texts])}</svg>'
    )
