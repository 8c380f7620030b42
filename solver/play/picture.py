"""Pictures of positions as SVG: the board that a game describes, its pieces, and the moves coloured by value.

The same picture serves a page and a notebook. Parts that a page brings to life carry data: `data-place` the places,
`data-move` the moves, by their names. A game that describes no board is shown as its text.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from retrograde.games.drawing import SHAPES, Board
from retrograde.games.game import DRAW, FLIPPED, LOSE, TIE, WIN, Game, Value
from retrograde.solver.play.choice import Choice

COLOURS = {WIN: "#008000", TIE: "#ffff00", DRAW: "#ffff00", LOSE: "#800000"}
"""Those of GamesCrafters, for the player who moves."""

INK = {WIN: "#fff", TIE: "#000", DRAW: "#000", LOSE: "#fff"}
"""What can be read on them."""

CELL = 60
"""Pixels of a cell, where nobody says how wide the picture is to be."""

MOST_LINES = 80
"""More moves than this, between places, are not drawn."""

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
"""The men of chess, but for the base on which all of them stand, in a square of 100 units."""
BASE = '<path d="M23 78h54v9H23z"/>'

STYLE = {
    ".cell": "fill:#f7f3e8;stroke:#7a6f5d;stroke-width:.02",
    ".dark": "fill:#b58863",
    ".light": "fill:#f0d9b5",
    ".wall": "fill:#2458a6;stroke:#2458a6",
    ".hole": "fill:#f7f3e8;stroke:#17407c;stroke-width:.03",
    ".point": "fill:#f7f3e8;stroke:#555;stroke-width:.03",
    ".line": "stroke:#777;stroke-width:.05",
    ".last": "fill:none;stroke:#3b7ddd;stroke-width:.07",
    ".eye": "fill:none;stroke:#888;stroke-width:4",
    ".hit": "fill:transparent",
    "text": "font-family:sans-serif;text-anchor:middle;dominant-baseline:central",
    "text.label": "fill:#666;font-size:.3px",
    "text.text": "font-family:monospace;text-anchor:start;dominant-baseline:auto;fill:#222",
}
"""What is drawn how, by the names of parts; within our pictures alone, since styles hold for a whole page."""
STYLES = "".join(f".retrograde {part}{{{how}}}" for part, how in STYLE.items())


def board_svg(game: Game, position: int, choices: Iterable[Choice] = (), last: Sequence[int] = ()) -> str:
    """Return a position as SVG, with *choices* drawn as moves and the places of a *last* move marked."""
    board = game.draw_board()
    if board is None:
        return text_svg(game.show(position))
    parts = [*ground(board), *pieces(board, game.draw_pieces(position)), *marks(board, last)]
    parts += moves(board, game, position, list(choices)[::-1])
    for i, (x, y) in enumerate(board.places):
        parts.append(f'<circle class="hit" data-place="{i}" cx="{x}" cy="{y}" r=".49"/>')
    xs, ys = zip(*board.places, *((x, y) for x, y, _ in board.labels), strict=True)
    left, top = min(xs) - 0.6, min(ys) - 0.6
    width, height = max(xs) + 0.6 - left, max(ys) + 0.6 - top
    box = f"{left:g} {top:g} {width:g} {height:g}"
    return frame(box, width * CELL, height * CELL, f"{game.name} {game.write(position)}", "".join(parts))


def text_svg(text: str) -> str:
    """Return lines of text as SVG."""
    lines = text.splitlines() or [""]
    width, height = 0.62 * max(map(len, lines)) + 1, 1.25 * len(lines) + 0.6
    rows = [
        f'<text class="text" xml:space="preserve" font-size="1" x=".5" y="{1.25 * row + 0.9:g}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    ]
    return frame(f"0 0 {width:g} {height:g}", 16 * width, 16 * height, text, "".join(rows))


def frame(box: str, width: float, height: float, title: str, content: str) -> str:
    """Return a whole picture."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width:.0f}" height="{height:.0f}" '
        f'class="retrograde" role="img"><title>{escape(title)}</title><style>{STYLES}</style>{content}</svg>'
    )


def ground(board: Board) -> Iterator[str]:
    """Yield the board without pieces."""
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
    for x, y, text in board.labels:
        yield f'<text class="label" x="{x}" y="{y}">{escape(text)}</text>'


def pieces(board: Board, signs: str) -> Iterator[str]:
    """Yield what stands on the board."""
    for (x, y), sign in zip(board.places, signs, strict=True):
        if sign != ".":
            yield piece(board.pieces.get(sign, sign), x, y)


def piece(look: str, x: float, y: float) -> str:
    """Return a piece at a place."""
    words = look.split()
    shape = next((word for word in words if word in SHAPES or word in MEN), None)
    if shape is None:
        return f'<text x="{x}" y="{y}" font-size=".7">{escape(look)}</text>'
    colour, text = words[0] if words[0] != shape else "", " ".join(words[words.index(shape) + 1 :])
    if shape in MEN:
        paint = 'fill="#fff" stroke="#111"' if colour == "white" else 'fill="#333" stroke="#000"'
        place = f"translate({x - 0.47:g} {y - 0.47:g}) scale(.0094)"
        return f'<g transform="{place}" {paint} stroke-width="3.5" stroke-linejoin="round">{MEN[shape]}{BASE}</g>'
    drawn = {
        "cross": f'<path d="M{x - 0.3} {y - 0.3}l.6 .6m0 -.6l-.6 .6" stroke="{colour or "#1b5faa"}" '
        'stroke-width=".13" stroke-linecap="round"/>',
        "ring": f'<circle cx="{x}" cy="{y}" r=".31" fill="none" stroke="{colour or "#c2410c"}" stroke-width=".13"/>',
        "disc": f'<circle cx="{x}" cy="{y}" r=".37" fill="{colour or "#333"}" stroke="#222" stroke-width=".03"/>',
        "square": f'<rect x="{x - 0.48}" y="{y - 0.48}" width=".96" height=".96" fill="{colour or "#333"}"/>',
        "arrow-right": f'<path d="M{x - 0.25} {y - 0.25}l.4 .25l-.4 .25z" fill="{colour}" opacity=".35"/>',
        "arrow-up": f'<path d="M{x - 0.25} {y + 0.2}l.25 -.4l.25 .4z" fill="{colour}" opacity=".35"/>',
    }[shape]
    return drawn + (f'<text x="{x}" y="{y}" font-size=".4">{escape(text)}</text>' if text else "")


def marks(board: Board, places: Sequence[int]) -> Iterator[str]:
    """Yield marks around the places of the last move."""
    for place in places:
        x, y = board.places[place]
        yield f'<rect class="last" x="{x - 0.46}" y="{y - 0.46}" width=".92" height=".92" rx=".08"/>'


def moves(board: Board, game: Game, position: int, choices: Sequence[Choice]) -> Iterator[str]:
    """Yield the moves in the colours of their values: a spot in a cell, or a line from a place to a place."""
    lines, spots = [], []
    few = len(choices) <= MOST_LINES
    for choice in choices:
        places = [board.places[place] for place in game.draw_move(position, choice.move)]
        if not places or len(places) > 2 or (len(places) == 2 and not few):
            continue
        value: Value = FLIPPED[choice.value]
        group = f'<g class="move" data-move="{escape(choice.name)}">'
        x, y = places[-1]
        if len(places) == 2:
            ends = f'x1="{places[0][0]}" y1="{places[0][1]}" x2="{x}" y2="{y}"'
            shade = f'<line {ends} stroke="#222" stroke-width=".1" opacity=".55"/>'
            lines.append(f'{group}{shade}<line {ends} stroke="{COLOURS[value]}" stroke-width=".07"/></g>')
        plies = "" if choice.remoteness is None else f"{choice.remoteness + 1}"
        circle = f'<circle cx="{x}" cy="{y}" r=".23" fill="{COLOURS[value]}" stroke="#222" stroke-width=".02"/>'
        text = f'<text x="{x}" y="{y}" font-size=".24" fill="{INK[value]}">{plies}</text>'
        spots.append(f"{group}<title>{escape(choice.name)}: {value.name.lower()}</title>{circle}{text}</g>")
    yield from lines
    yield from spots
