"""Draws positions as SVG: the board, its pieces, and moves coloured by value.

The web page and notebooks use the same picture. It has layers, so that nothing covers what must be visible::

    ground, labels, lines (of moves), men, lasts (the last move), ends (what won), spots (values of moves), hits

The page fills the layer of the last move. Elements that it makes interactive carry data attributes: `data-place` for
places to click, `data-at` and `data-sign` for pieces, `data-move` for moves by name. A game that describes no board is
drawn as its text.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from retrograde.games.contract.choice import Choice
from retrograde.games.contract.drawing import SHAPES, Board
from retrograde.games.contract.game import UNDECIDED, Game
from retrograde.games.contract.marks import Worth, line, mark, mark_text, shapes
from retrograde.games.contract.naming import variant_title

CELL = 60
"""Pixels of a cell at the default size."""

MOST_LINES = 80
"""The most moves for which lines are drawn."""

MEN = {
    "pawn": '<path d="M50 20a13 13 0 0 1 8 23c10 5 16 15 17 29H25c1-14 7-24 17-29a13 13 0 0 1 8-23z"/>',
    "rook": '<path d="M25 18h11v9h8v-9h12v9h8v-9h11v19l-9 7v25l7 7H27l7-7V44l-9-7z"/>',
    "knight": '<path d="M29 78c0-16 15-23 15-36-7 4-10 11-17 12-6 0-10-5-8-10 5-8 10-18 16-24l3-12 9 8c21 3 33 18 33'
    ' 40v22z"/>'
    '<circle class="eye" cx="41" cy="33" r="2.5"/>',
    "bishop": '<circle cx="50" cy="15" r="5"/>'
    '<path d="M50 20c14 9 20 21 20 31 0 7-4 13-8 16H38c-4-3-8-9-8-16 0-10 6-22 20-31z"/>'
    '<path class="eye" d="M50 36v18m-8-10h16"/><path d="M36 68h28l4 8H32z"/>',
    "queen": '<path d="M15 30L28 74H72L85 30L67 54L66 19L56 50L50 14L44 50L34 19L33 54Z"/>'
    + "".join(f'<circle cx="{x}" cy="{y}" r="5"/>' for x, y in ((14, 27), (34, 17), (50, 12), (66, 17), (86, 27))),
    "king": '<path d="M46 7h8v7h7v8h-7v10h-8V22h-7v-8h7z"/>'
    '<path d="M50 41c6-13 34-14 34 6 0 12-9 18-12 27H28c-3-9-12-15-12-27 0-20 28-19 34-6z"/>',
}
"""SVG paths of the chess pieces, in a square of 100 units, without the base that all share."""
BASE = '<path d="M23 78h54v9H23z"/>'

STYLE = {
    ".cell": "fill:#f7f3e8;stroke:#7a6f5d;stroke-width:.02",
    ".dark": "fill:#b58863",
    ".light": "fill:#f0d9b5",
    ".wall": "fill:#2458a6;stroke:#2458a6",
    ".hole": "fill:#f7f3e8;stroke:#17407c;stroke-width:.03",
    ".point": "fill:#f7f3e8;stroke:#555;stroke-width:.03",
    ".line": "stroke:#777;stroke-width:.05",
    ".panel": "fill:#e9e2d0",
    ".last": "fill:none;stroke:#3b7ddd;stroke-width:.07",
    ".end": "fill:none;stroke:#ffd000;stroke-width:.1",
    ".end.edge": "stroke:#111;stroke-width:.15",
    ".eye": "fill:none;stroke:#888;stroke-width:4",
    ".hit": "fill:transparent",
    "text": "font-family:sans-serif;text-anchor:middle;dominant-baseline:central",
    "text.label": "fill:#666;font-size:.3px",
    "text.text": "font-family:monospace;text-anchor:start;dominant-baseline:auto;fill:#222",
}
"""CSS by selector. All rules are limited to our pictures, because styles apply to the whole page."""
STYLES = "".join(f".retrograde {part}{{{how}}}" for part, how in STYLE.items())


def board_svg(game: Game, position: int, choices: Iterable[Choice] = ()) -> str:
    """Return a position as SVG, with *choices* drawn as moves and the places that ended the game marked."""
    # Step 1: what the game says about the position.
    board = game.draw_board()
    if board is None:
        return text_svg(game.show(position))
    signs = game.draw_pieces(position)
    ended = game.draw_end(position) if game.primitive(position) != UNDECIDED else ()
    lines, spots = moves(board, game, position, signs, list(choices))
    # Step 2: the layers, from the bottom up.
    layers = {
        "ground": ground(board),
        "labels": labels(board),
        "lines": lines,
        "men": pieces(board, signs),
        "lasts": (),
        "ends": [*marks(board, ended, "end edge"), *marks(board, ended, "end")],
        "spots": spots,
        "hits": hits(board),
    }
    parts = [f'<g class="{name}">{"".join(layer)}</g>' for name, layer in layers.items()]
    # Step 3: a frame around all places and labels.
    xs, ys = zip(*board.places, *((x, y) for x, y, _ in board.labels), strict=True)
    left, top = min(xs) - 0.6, min(ys) - 0.6
    width, height = max(xs) + 0.6 - left, max(ys) + 0.6 - top
    box = f"{left:g} {top:g} {width:g} {height:g}"
    return frame(box, width * CELL, height * CELL, f"{game.name} {game.write(position)}", "".join(parts))


def titled_html(game: Game, position: int | None) -> str:
    """Return the title of a game as HTML, and a picture of a position if there is one."""
    picture = "" if position is None else board_svg(game, position)
    return f"<p><strong>{escape(variant_title(game))}</strong></p>{picture}"


def text_svg(text: str) -> str:
    """Return a picture of a text, for games that draw no board."""
    lines = text.splitlines() or [""]
    width, height = 0.62 * max(map(len, lines)) + 1, 1.25 * len(lines) + 0.6
    rows = [
        f'<text class="text" xml:space="preserve" font-size="1" x=".5" y="{1.25 * row + 0.9:g}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    ]
    return frame(f"0 0 {width:g} {height:g}", 16 * width, 16 * height, text, "".join(rows))


def frame(box: str, width: float, height: float, title: str, content: str) -> str:
    """Return a complete SVG element."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width:.0f}" height="{height:.0f}" '
        f'class="retrograde" role="img"><title>{escape(title)}</title><style>{STYLES}</style>{shapes()}{content}</svg>'
    )


def ground(board: Board) -> Iterator[str]:
    """Yield the board without pieces."""
    if board.lines:  # draws a ground, so that every piece is visible with any page colours
        xs, ys = zip(*board.places, strict=True)
        x, y = min(xs) - 0.55, min(ys) - 0.55
        width, height = max(xs) + 0.55 - x, max(ys) + 0.55 - y
        yield f'<rect class="panel" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx=".3"/>'
    for a, b in board.lines:
        (x1, y1), (x2, y2) = board.places[a], board.places[b]
        yield f'<line class="line" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'
    for i, (x, y) in enumerate(board.places):
        if i < board.cells:
            kind = {"plain": "cell", "chequered": ("light", "dark")[int(x + y) & 1], "holes": "wall"}[board.style]
            yield f'<rect class="cell {kind}" x="{x - 0.5}" y="{y - 0.5}" width="1" height="1"/>'
            if board.style == "holes":
                yield f'<circle class="hole" cx="{x}" cy="{y}" r=".4"/>'
        elif board.lines:
            yield f'<circle class="point" cx="{x}" cy="{y}" r=".16"/>'


def labels(board: Board) -> Iterator[str]:
    for x, y, text in board.labels:
        yield f'<text class="label" x="{x}" y="{y}">{escape(text)}</text>'


def pieces(board: Board, signs: str) -> Iterator[str]:
    """Yield the pieces on the places that are not empty."""
    for place, ((x, y), sign) in enumerate(zip(board.places, signs, strict=True)):
        if sign != ".":
            css_class = "sign" if is_ground(board, sign) else "man"  # the page moves only men
            data = f'data-at="{place}" data-sign="{escape(sign)}"'
            picture = piece(board.pieces.get(sign, sign), 0, 0)
            yield f'<g class="{css_class}" {data} transform="translate({x:g} {y:g})">{picture}</g>'


def hits(board: Board) -> Iterator[str]:
    """Yield the invisible squares by which places are clicked."""
    for place, (x, y) in enumerate(board.places):
        attributes = f'class="hit" data-place="{place}" x="{x - 0.5:g}" y="{y - 0.5:g}" width="1" height="1"'
        round_off = "" if place < board.cells else ' rx=".5"'
        yield f"<rect {attributes}{round_off}/>"


def piece(look: str, x: float, y: float) -> str:
    """Return the picture of a piece by its look, such as "crimson disc"."""
    # A look is like "white king", "red disc 3" or just a sign: a colour, a shape, a text.
    words = look.split()
    shape = next((word for word in words if word in SHAPES or word in MEN), None)
    if shape is None:
        return f'<text x="{x}" y="{y}" font-size=".7">{escape(look)}</text>'
    colour, text = words[0] if words[0] != shape else "", " ".join(words[words.index(shape) + 1 :])
    if shape in MEN:
        paint = 'fill="#fff" stroke="#111"' if colour == "white" else 'fill="#333" stroke="#000"'
        transform = f"translate({x - 0.47:g} {y - 0.47:g}) scale(.0094)"
        return f'<g transform="{transform}" {paint} stroke-width="3.5" stroke-linejoin="round">{MEN[shape]}{BASE}</g>'
    # All shapes but chess men.
    drawn = {
        "cross": f'<path d="M{x - 0.3} {y - 0.3}l.6 .6m0 -.6l-.6 .6" stroke="{colour or "#1b5faa"}" '
        'stroke-width=".13" stroke-linecap="round"/>',
        "ring": f'<circle cx="{x}" cy="{y}" r=".31" fill="none" stroke="{colour or "#c2410c"}" stroke-width=".13"/>',
        "disc": f'<circle cx="{x}" cy="{y}" r=".37" fill="{colour or "#333"}" stroke="#222" stroke-width=".03"/>',
        "square": f'<rect x="{x - 0.48}" y="{y - 0.48}" width=".96" height=".96" fill="{colour or "#333"}"/>',
        "arrow-right": f'<path d="M{x - 0.25} {y - 0.25}l.4 .25l-.4 .25z" fill="{colour}" opacity=".35"/>',
        "arrow-up": f'<path d="M{x - 0.25} {y + 0.2}l.25 -.4l.25 .4z" fill="{colour}" opacity=".35"/>',
    }[shape]
    dark = ' style="fill:#fff"' if shape in ("disc", "square") and colour in ("", "black") else ""
    return drawn + (f'<text x="{x}" y="{y}" font-size=".4"{dark}>{escape(text)}</text>' if text else "")


def marks(board: Board, places: Sequence[int], kind: str) -> Iterator[str]:
    """Yield marks of a kind, such as "end", around places."""
    for place in places:
        x, y = board.places[place]
        yield f'<rect class="{kind}" x="{x - 0.46:g}" y="{y - 0.46:g}" width=".92" height=".92" rx=".08"/>'


def moves(
    board: Board, game: Game, position: int, signs: str, choices: Sequence[Choice]
) -> tuple[list[str], list[str]]:
    """Return the lines of moves from one place to another, and a mark for each place that moves enter.

    Moves that touch more than two places are left out. So are lines if there are more than MOST_LINES moves.
    """
    lines: list[str] = []
    entered: defaultdict[int, list[Worth]] = defaultdict(list)
    for choice in reversed(choices):  # the best last, so that it is drawn on top
        places = game.draw_move(position, choice.move)
        if places and len(places) <= 2:
            plies = None if choice.remoteness is None else choice.remoteness + 1
            worth = Worth(choice.brings, plies, choice.name, mark_text(choice.worth) if plies is None else "")
            entered[places[-1]].append(worth)
            # Places that people point at in one step, as in Can't Stop, have no way from the first to the second.
            is_way = len(places) == 2 and len(game.draw_steps(position, choice.move)) != 1
            if is_way and len(choices) <= MOST_LINES:
                lines += line(board.places[places[0]], board.places[places[1]], worth)
    crowd = {place for place, sign in enumerate(signs) if sign != "." and not is_ground(board, sign)}
    return lines, [mark(worths, *board.places[place], place in crowd) for place, worths in entered.items()]


def is_ground(board: Board, sign: str) -> bool:
    """Return whether a sign is part of the ground, which is the board without pieces, such as an arrow at an exit."""
    return "arrow" in board.pieces.get(sign, "")
