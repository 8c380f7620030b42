"""Positions and moves in the strings that GamesmanUni's page draws ("AutoGUI").

    1_ttt-x-o-      whose turn it is, 1 or 2; then a sign for each centre, a dash for none:
                    first what lies under the men, then the men, then marks of places picked
    1_-.-~7         a dot is a text, which follows
    A_-_4_y         a move that is made by a click at centre 4
    M_4_5_x         a move from centre 4 to centre 5, an arrow

The last letter chooses a sound. A move that touches no place is its name, listed beside the board. The page receives
the looks of the signs and the places of the centres once (`theme`). It has a drawing of its own for tic-tac-toe on nine
cells.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import hypot
from string import ascii_letters, digits
from typing import Any, NamedTuple

from retrograde.cli.web import uni_images
from retrograde.cli.web.uni_images import Image, images_of, is_text
from retrograde.games.contract.choice import Choice
from retrograde.games.contract.drawing import Board
from retrograde.games.contract.game import Game

TEXT, NOTHING = ".", "-"
SLIDE, PLACE = "x", "y"
"""The sounds of moves: from a place to a place, and onto one."""
DOTS = 0.18
"""The distance between two dots of a line, in cells."""
DRAWN_BY_HEART = "tictactoe"
BY_HEART = re.compile("[12]_[xo-]{9}")
KNOWN_BY_NAME = (DRAWN_BY_HEART, "quarto", "sim")
"""Games that their page draws in its own way, by its ids."""
LOOKS_LIKE_A_BUTTON = re.compile("(A|M|L|T)_[A-Za-z0-9-]|L[QCA]_")


Places = tuple[int, ...]
"""Places of the board, by number."""


class AutoguiStyle(NamedTuple):
    """How their page draws a game."""

    names: tuple[str, ...]
    """Our names of the places."""
    under: str
    """The signs for what lies under the men."""
    signs: dict[str, str]
    """Their sign for each of our signs."""
    texts: dict[str, str]
    """The texts for those of our signs that are written as text."""
    other: str
    """The sign for men that the board does not describe."""
    mark: str
    """The sign for marks on picked places."""
    theme: dict[str, Any]
    by_heart: bool
    """Whether their page draws the game in its own way."""

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self.names)

    @property
    def data(self) -> dict[str, Any]:
        """What their API calls `imageAutoGUIData`."""
        return {"defaultTheme": "regular", "themes": {"regular": self.theme}}


@lru_cache(64)
def autogui_style(game: Game) -> AutoguiStyle | None:
    """Return how their page draws a game; None if it has no board, or more kinds of men than signs."""
    board = game.draw_board()
    if board is None or len(board.pieces) > 50:
        return None
    # Step 1: a sign of theirs for each kind of men, for each picture under them, for unknown men, and for marks.
    images = images_of(board.pieces)
    texts = {sign: look for sign, look in board.pieces.items() if sign not in images and is_text(look)}
    signs = signs_for(list(images))
    under, background = ground(board)
    free = iter(sign for sign in ascii_letters + digits if sign not in signs.values())
    ground_signs = {image: next(free) for image in dict.fromkeys(image for _, image in under)}
    other, mark = next(free), next(free)
    # Step 2: the picture of each sign.
    unused_disc = next((image for image in uni_images.DISCS.values() if image not in images.values()), uni_images.POINT)
    chars = {signs[sign]: image for sign, image in images.items()}
    chars |= {sign: image for image, sign in ground_signs.items()} | {other: unused_disc, mark: uni_images.PICKED}
    theme = theme_of(board, [place for place, _ in under], chars) | ({"background": background} if background else {})
    theme["animationType"] = "entityFade" if texts else "simpleSlides"  # simpleSlides cannot slide texts
    signs_under = "".join(ground_signs[image] for _, image in under)
    by_heart = game.name == DRAWN_BY_HEART and is_grid(board, 3)
    return AutoguiStyle(board.names, signs_under, signs, texts, other, mark, theme, by_heart)


def signs_for(signs: list[str]) -> dict[str, str]:
    """Return a letter or digit for each sign.

    Letters and digits stand for themselves; all become lower case if they still differ then. Other signs get free
    letters.

    >>> signs_for(["X", "O"]), signs_for(["K", "k"]), signs_for(["♞", "a"])
    ({'X': 'x', 'O': 'o'}, {'K': 'K', 'k': 'k'}, {'♞': 'b', 'a': 'a'})
    """
    small = [sign.lower() for sign in signs]
    own = dict(zip(signs, small if len(set(small)) == len(signs) else signs, strict=True))
    own = {sign: letter for sign, letter in own.items() if letter in ascii_letters + digits and len(letter) == 1}
    free = iter(letter for letter in ascii_letters + digits if letter not in own.values())
    return {sign: own.get(sign) or next(free) for sign in signs}


def ground(board: Board) -> tuple[list[tuple[tuple[float, float], Image]], str | None]:
    """Return (what lies under the men, as places with pictures; the background picture if there is one)."""
    if board.style == "chequered" and is_grid(board, 8):
        return [], uni_images.CHESS_BOARD
    if board.style == "plain" and is_grid(board, 3):
        return [], uni_images.GRID_OF_3
    under = []
    for a, b in board.lines:
        (x1, y1), (x2, y2) = board.places[a], board.places[b]
        count = max(1, round(hypot(x2 - x1, y2 - y1) / DOTS))
        under += [((x1 + (x2 - x1) * i / count, y1 + (y2 - y1) * i / count), uni_images.DOT) for i in range(1, count)]
    for i, (x, y) in enumerate(board.places):
        if i < board.cells:
            dark = board.style == "chequered" and int(x + y) & 1
            under.append(((x, y), uni_images.DARK_TILE if dark else uni_images.TILE))
            if board.style == "holes":
                under.append(((x, y), uni_images.HOLE))
        elif board.lines:
            under.append(((x, y), uni_images.POINT))
    return under, None


def is_grid(board: Board, size: int) -> bool:
    """Return whether a board is a square of *size* × *size* cells and nothing else."""
    cells = tuple((float(column), float(row)) for row in range(size) for column in range(size))
    return board.places == cells and board.cells == size**2 and not board.lines


def theme_of(board: Board, under: list[tuple[float, float]], chars: dict[str, Image]) -> dict[str, Any]:
    """Return the description of a board for their page."""
    xs, ys = zip(*board.places, strict=True)
    left, top = min(xs) - 0.5, min(ys) - 0.5
    return {
        "space": [round(max(xs) + 0.5 - left, 3), round(max(ys) + 0.5 - top, 3)],
        "centers": [
            [round(x - left, 3), round(y - top, 3)] for x, y in (*under, *board.places, *board.places)
        ],
        "charImages": {sign: {"image": image.file, "scale": image.scale} for sign, image in chars.items()},
        "circleButtonRadius": 0.17,
        "arrowWidth": 0.1,
        "textEntityFontSize": 0.6,
        "sounds": {SLIDE: "general/slide.mp3", PLACE: "general/place.mp3"},
    }  # fmt: skip


def position_string(game: Game, look: AutoguiStyle | None, position: int, turn: int, picked: Places = ()) -> str:
    """Return a position as their page draws it, with marks on the *picked* places; without a board, the turn and its
    text."""
    if look is None:
        return f"{turn}_{game.write(position)}"
    men, texts = [], []
    for sign in game.draw_pieces(position):
        if sign == ".":
            men.append(NOTHING)
        elif sign in look.signs:
            men.append(look.signs[sign])
        elif sign in look.texts:
            men.append(TEXT)
            texts.append(f"~{look.texts[sign]}")
        else:
            men.append(look.other)
    marks = "".join(look.mark if place in picked else NOTHING for place in range(look.places)) if picked else ""
    return f"{turn}_{look.under}{''.join(men)}{marks}{''.join(texts)}"


def move_string(look: AutoguiStyle | None, places: Places, name: str, turn: int) -> str:
    """Return a button as their page draws it. It is `A_-_12_x` at a place, `M_3_4_x` from place to place, or a name."""
    if look is None or not 1 <= len(places) <= 2:
        return name
    centers = [len(look.under) + place for place in places]
    if len(centers) == 2:
        return f"M_{centers[0]}_{centers[1]}_{SLIDE}"
    sign = "-xo"[turn] if look.by_heart else NOTHING
    return f"A_{sign}_{centers[0]}_{PLACE}"


def listed_name(name: str) -> str:
    """Return the name of a listed move, changed if their page would take it for a button."""
    return f"·{name}" if LOOKS_LIKE_A_BUTTON.match(name) else name


def text_by_heart(string: str) -> str:
    """Return the text of a tic-tac-toe position on nine cells, from their string.

    >>> text_by_heart("2_xo------x")
    'XO./.../..X'
    """
    signs = string[2:].upper().replace(NOTHING, ".")
    return "/".join((signs[:3], signs[3:6], signs[6:]))


# Turns in several steps: a move that touches several places is made by picking one place after another.
#
# A button is a move, or a step towards several moves. If no move touches more than two places, each button is a place
# or a pair of places. Otherwise each place that may come next is a button. A move whose places are all picked is
# offered by its name.


class Button(NamedTuple):
    """What people may click: one or two places, or none for a move listed by its name."""

    places: Places
    choices: Sequence[Choice]
    """Best first. If there is only one, the click makes it."""
    picked: Places
    """The picked places after the click, if several moves are left."""


def touched_places(game: Game, position: int, choices: Sequence[Choice], size: int) -> list[tuple[Choice, Places]]:
    """Return each move with the places it touches; with none if some are not on a board of *size* places."""
    pairs = []
    for choice in choices:
        places = tuple(dict.fromkeys(game.draw_move(position, choice.move))) if size else ()
        pairs.append((choice, places if all(0 <= place < size for place in places) else ()))
    return pairs


def buttons(pairs: Sequence[tuple[Choice, Places]], picked: Places) -> list[Button]:
    """Return the buttons of a position with some places picked; [] if no move touches them all."""
    if not picked and all(len(places) <= 2 for _, places in pairs):
        return list(direct_buttons(pairs))
    return list(step_buttons([pair for pair in pairs if set(picked) <= set(pair[1])], picked))


def direct_buttons(pairs: Sequence[tuple[Choice, Places]]) -> Iterator[Button]:
    """Yield a button for each place or pair of places, and one by name for each move without places."""
    groups: dict[Places, list[Choice]] = {}
    for choice, places in pairs:
        groups.setdefault(places, []).append(choice)
    for places, choices in groups.items():
        if places:
            yield Button(places, choices, places)
        else:
            yield from (Button((), [choice], ()) for choice in choices)


def step_buttons(pairs: Sequence[tuple[Choice, Places]], picked: Places) -> Iterator[Button]:
    """Yield a button for each place that may be picked next, and one by name for each complete move."""
    yield from (Button((), [choice], ()) for choice, places in pairs if len(places) == len(picked))
    for place in sorted({place for _, places in pairs for place in places} - set(picked)):
        rest = [(choice, places) for choice, places in pairs if place in places]
        # Places that all moves left touch need not be picked one by one.
        common = set(rest[0][1]).intersection(*(places for _, places in rest))
        yield Button((place,), [choice for choice, _ in rest], tuple(sorted(common)))
