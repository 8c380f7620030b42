"""The pictures that GamesmanUni's page contains, by file name: it can load no others.

The page has had all of these for years. It fails on a name that it does not know.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from retrograde.games.contract.drawing import CHESS_MEN, SHAPES


class Image(NamedTuple):
    """A picture: its file, and its width in cells."""

    file: str
    scale: float


GRID_OF_3 = "ttt/3x3grid.svg"
CHESS_BOARD = "chess/lichess/grid.svg"
"""Backgrounds, which fill the whole space."""

TILE = Image("hashi/grayclick.svg", 1.36)
DARK_TILE = Image("klotski/sharp/tile_11.svg", 1.1)
HOLE = Image("dao/B.svg", 0.8)
POINT = Image("tactix/o.svg", 0.34)
DOT = Image("tactix/o.svg", 0.09)
PICKED = Image("general/yellow_circle.svg", 0.4)

CROSS = Image("ttt/x.svg", 0.95)
RING = Image("ttt/o.svg", 0.95)
ARROW = Image("tactix/o.svg", 0.12)
"""There is no picture of an exit from the board but this dot."""

DISCS = {
    "red": Image("general/red_circle.svg", 0.82),
    "blue": Image("general/blue_circle.svg", 0.82),
    "yellow": Image("general/yellow_circle.svg", 0.82),
    "green": Image("general/green_circle.svg", 0.82),
    "black": Image("general/blackpiece.svg", 0.8),
    "white": Image("general/whitepiece.svg", 0.8),
    "orange": Image("general/orange_circle.svg", 0.82),
    "purple": Image("general/purple_circle.svg", 0.82),
    "teal": Image("general/teal_circle.svg", 0.82),
    "brown": Image("general/brown_circle.svg", 0.82),
    "pink": Image("general/pink_circle.svg", 0.82),
    "grey": Image("tactix/o.svg", 0.84),
}
SQUARES = {
    "red": Image("klotski/sharp/tile_22TL.svg", 1.0),
    "blue": Image("klotski/sharp/tile_21T.svg", 1.0),
    "green": Image("klotski/sharp/tile_12R.svg", 1.0),
    "grey": Image("klotski/sharp/tile_11.svg", 1.05),
}
MEN = {
    look: Image(f"chess/lichess/{sign if sign.isupper() else sign * 2}.svg", 0.95) for sign, look in CHESS_MEN.items()
}

SHADES = {
    "red": "crimson tomato firebrick",
    "blue": "navy azure",
    "yellow": "gold khaki",
    "green": "lime olive",
    "black": "#222 #333 #444",
    "white": "ivory snow beige linen",
    "orange": "coral",
    "purple": "indigo violet magenta orchid plum lavender fuchsia",
    "teal": "cyan aqua turquoise",
    "brown": "sienna maroon chocolate peru tan",
    "pink": "salmon",
    "grey": "gray silver",
}
"""CSS colours for each colour of the pictures."""
RGB = {
    "red": (220, 20, 60), "blue": (30, 60, 230), "yellow": (255, 215, 0), "green": (0, 128, 0), "black": (0, 0, 0),
    "white": (255, 255, 255), "orange": (255, 165, 0), "purple": (128, 0, 128), "teal": (0, 128, 128),
    "brown": (139, 69, 19), "pink": (255, 105, 180), "grey": (128, 128, 128),
}  # fmt: skip


def images_of(pieces: Mapping[str, str]) -> dict[str, Image]:
    """Return a different picture for each sign of a board. *pieces* maps signs to looks, in words or as text.

    A look of up to three letters or digits gets none: the page writes it. If all pictures that may stand for a look are
    taken, it gets a grey disc.

    >>> images_of({"X": "cross", "r": "crimson disc", "s": "red disc", "1": "1"})["r"].file
    'general/red_circle.svg'
    """
    images: dict[str, Image] = {}
    for sign, look in pieces.items():
        if not is_text(look):
            # All arrows share one picture; `candidates` yields it without end.
            free = (image for image in candidates(look) if image == ARROW or image not in images.values())
            images[sign] = next(free, DISCS["grey"])
    return images


def is_text(look: str) -> bool:
    """Return whether a look is written as text, in characters that the page can write."""
    return re.fullmatch(r"[A-Za-z0-9]{1,3}", look) is not None


def candidates(look: str) -> Iterator[Image]:
    """Yield the pictures that may stand for a look, best first."""
    if look in MEN:
        yield MEN[look]
    words = look.split()
    shape = next((word for word in words if word in SHAPES), "disc")
    if shape == "cross":
        yield CROSS
    elif shape == "ring":
        yield RING
    elif shape.startswith("arrow"):
        while True:  # all arrows may look the same
            yield ARROW
    colour = shade(words[0] if words and words[0] != shape else "grey")
    if shape == "square":
        if colour in SQUARES:
            yield SQUARES[colour]
        yield from SQUARES.values()
    yield DISCS[colour]
    yield from DISCS.values()


def shade(colour: str) -> str:
    """Return the colour of the pictures that is nearest to a CSS colour.

    >>> shade("royalblue"), shade("sienna"), shade("#c2410c"), shade("rebecca")
    ('blue', 'brown', 'brown', 'grey')
    """
    colour = colour.lower()
    for name, others in SHADES.items():
        if name in colour or any(other in colour for other in others.split()):
            return name
    if re.fullmatch("#[0-9a-f]{3}|#[0-9a-f]{6}", colour):
        digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
        rgb = [int(digits[i : i + 2], 16) for i in (0, 2, 4)]
        return min(RGB, key=lambda name: sum((a - b) ** 2 for a, b in zip(RGB[name], rgb, strict=True)))
    return "grey"
