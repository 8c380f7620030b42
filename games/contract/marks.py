"""Draws the value of a move on a board: each value has a shape, a sign and a colour.

    win   disc      +   green        GamesCrafters' colours, for the player who moves
    tie   square    =   yellow       a draw looks the same, and has no number
    lose  triangle  −   dark red

Any one of the three identifies the value. A mark shows the plies to the end, or the sign. If several moves of different
worth lead to one place, it has a small mark for each of them, or one for each shape if they are too many. Each shape
has a dark and a white outline, one of which is visible on any ground.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from retrograde.games.contract.game import DRAW, LOSE, TIE, UNDECIDED, WIN, Value

BEST_FIRST = (WIN, TIE, DRAW, UNDECIDED, LOSE)
"""What a move may bring the player who makes it, the best first."""

COLOURS = {WIN: "#008000", TIE: "#ffff00", DRAW: "#ffff00", LOSE: "#800000"}
"""GamesCrafters' colours, for the player who moves."""

INK = {WIN: "#fff", TIE: "#000", DRAW: "#000", LOSE: "#fff"}
"""A text colour that is readable on each of them."""

SIGNS = {WIN: "+", TIE: "=", DRAW: "=", LOSE: "−"}
KINDS = {WIN: "win", TIE: "tie", DRAW: "tie", LOSE: "lose"}
OUTLINES = {
    WIN: "M-.25 0a.25 .25 0 1 0 .5 0a.25 .25 0 1 0 -.5 0z",
    TIE: "M-.23 -.23h.46v.46h-.46z",
    LOSE: "M-.34 -.25h.68l-.34 .59z",
}
"""SVG paths of the shapes around 0, in units of a cell."""
DARK, LIGHT = "#111", "#fff"
"""The colours of a shape's outlines."""
DASHES = {
    WIN: "",
    TIE: ' stroke-dasharray=".2 .1"',
    DRAW: ' stroke-dasharray=".2 .1"',
    LOSE: ' stroke-dasharray=".06 .1"',
}
"""The dashes of the lines between places."""
CORNER = 0.3
"""The offset of a mark that leaves a piece visible, in cells."""
SMALL, APART = (1.0, 0.62, 0.5), (0.0, 0.36, 0.3)
"""The scale of one, two or three marks, and their distances, so that all fit their cell."""
MOST = 3
"""The most marks in one place."""


class Worth(NamedTuple):
    """What a move brings the player who makes it, and its name."""

    value: Value
    plies: int | None
    name: str
    text: str = ""
    """The mark's text, instead of the plies."""


def worth_key(brings: Value, plies: int | None) -> tuple[int, int]:
    """Return a sorting key, the best first: a win or a tie soon, a loss late."""
    far = plies or 0
    return BEST_FIRST.index(brings), -far if brings == LOSE else far


def value_html(value: Value, plies: int | None = None) -> str:
    """Return a value in its colours as HTML, with the plies to the end if there are any.

    >>> value_html(LOSE, 1)
    '<span style="padding:0 .4em;background:#800000;color:#fff">lose</span> in 1 ply'
    """
    colours = f"background:{COLOURS.get(value, LIGHT)};color:{INK.get(value, DARK)}"
    far = "" if plies is None else f" in {plies:,} {'ply' if plies == 1 else 'plies'}"
    return f'<span style="padding:0 .4em;{colours}">{value.name.lower()}</span>{far}'


def mark_text(worth: str) -> str:
    """Return a mark's text for an expectation; the shape says whether that is above or below 0.

    >>> [*map(mark_text, ("-0.308", "0.0464282", "13.24", "2.5", "-1", ""))]
    ['.31', '.05', '13', '2.5', '1', '']
    """
    if not worth:
        return ""
    number = abs(float(worth))
    if number >= 10:
        return f"{number:.0f}"
    return f"{number:.1f}".removesuffix(".0") if number >= 0.995 else f"{number:.2f}"[1:]


def shapes() -> str:
    """Return the SVG definitions of the shapes, used by id in all pictures of a page."""
    parts = "".join(
        f'<g id="retrograde-{KINDS[value]}" stroke-linejoin="round">'
        f'<path d="{outline}" fill="none" stroke="{LIGHT}" stroke-width=".12"/>'
        f'<path d="{outline}" fill="{COLOURS[value]}" stroke="{DARK}" stroke-width=".045"/></g>'
        for value, outline in OUTLINES.items()
    )
    return f"<defs>{parts}</defs>"


def mark(worths: Sequence[Worth], x: float, y: float, crowded: bool) -> str:
    """Return the mark at (x, y) for the moves that lead to a place; *crowded* if a piece stands there."""
    names = " ".join(one.name for one in worths)
    best_last = sorted(worths, key=lambda worth: worth_key(worth.value, worth.plies), reverse=True)
    shown = list({(KINDS[one.value], one.plies, one.text): one for one in best_last}.values())
    # Too many different moves: one mark for each shape.
    of_kinds = len(shown) > MOST
    if of_kinds:
        shown = list({KINDS[one.value]: one for one in shown}.values())
    if crowded:
        x, y = x + CORNER, y - CORNER
    # Place the marks side by side, centred, or from the corner to the left if a piece stands there.
    entry = max(len(shown), 1 + crowded) - 1  # an index of SMALL and APART; beside a piece no mark has the full size
    scale = SMALL[entry]
    drawn = []
    for number, one in enumerate(reversed(shown)):
        left = (number - (len(shown) - 1) / (1 if crowded else 2)) * APART[entry]
        plies = SIGNS[one.value] if one.plies is None else str(one.plies)
        text = SIGNS[one.value] if of_kinds and len(shown) > 1 else one.text or plies
        at = f"translate({x + left:g} {y:g}) scale({scale:g})"
        drawn.append(f'<g transform="{at}">{shape(one.value, text, scale)}</g>')
    title = ", ".join(f"{one.name}: {one.value.name.lower()}" for one in worths)
    return f'<g class="move" data-move="{escape(names)}"><title>{escape(title)}</title>{"".join(drawn)}</g>'


def shape(value: Value, text: str, scale: float = 1) -> str:
    """Return a shape with a text, which is larger in a small shape."""
    size = 0.36 if text in SIGNS.values() else (0.25 if len(text) < 3 else 0.19) * (1 if scale == 1 else 1.25)
    down = "-.06" if value == LOSE else "0"
    return (
        f'<use href="#retrograde-{KINDS[value]}"/>'
        f'<text y="{down}" font-size="{size:.2g}" font-weight="600" fill="{INK[value]}">{text}</text>'
    )


def line(start: tuple[float, float], end: tuple[float, float], worth: Worth) -> Iterator[str]:
    """Yield the line of a move from place to place, to be drawn under the pieces."""
    ends = f'x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
    yield f'<line class="way" {ends} stroke="{DARK}" stroke-width=".11" opacity=".55"/>'
    yield f'<line class="way" {ends} stroke="{COLOURS[worth.value]}" stroke-width=".07"{DASHES[worth.value]}/>'
