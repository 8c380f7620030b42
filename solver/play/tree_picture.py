"""Draws search trees as SVG, as textbooks do: boards with values, windows and cuts.

Each node is centred above its children::

    ┌───────┐
    │ board │     the position; its text if the game describes no board
    └───────┘
      value       as Max sees it
     [α   β]      if the search has a window
     ╱  │  ┊      a line for each move, thick for the best; dashed and crossed for moves that were cut
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from retrograde.games.contract.game import UNDECIDED, Game, Traits
from retrograde.games.contract.picture import STYLES, ground, marks, pieces
from retrograde.solver.search.depth.scores import DECIDED
from retrograde.solver.search.trees.textbook import Node
from retrograde.solver.search.trees.tree import SearchTree, Trees, depth_within

WIDE = 48.0
"""Pixels of a board's longer side."""
FLAT = 14.0
"""Pixels. A board whose shorter side would be less is drawn as text."""
APART, DOWN = 14.0, 62.0
"""Pixels between neighbouring boards, and between a board and its children."""
MOST_NODES = 300
"""The most nodes of a tree that are drawn; deeper ones are left out."""
MOST_WIDE = 1700.0
"""Pixels up to which trees stand side by side."""
MOST_CUT = 4
"""The most cut moves whose names are written."""
CUT_NAME, LABELS = 14.0, 30.0
"""Pixels for each name of a cut move, and for the value and the window below a board."""
HEAD, EDGE, SIDE = 46.0, 16.0, 36.0
"""Pixels above a tree for its name and counts, around all trees, and left of a tree for Max and Min."""
STYLE = (
    "text.head{font:600 16px sans-serif;text-anchor:start;fill:#111}"
    "text.count{font:13px sans-serif;text-anchor:start;fill:#333}"
    "text.value{font:600 12px sans-serif;fill:#111}text.window{font:10px sans-serif;fill:#555}"
    "text.name{font:11px sans-serif;fill:#111;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    "text.cut{font:10px sans-serif;fill:#a00}text.side{font:italic 11px sans-serif;fill:#555;text-anchor:start}"
    "line.move{stroke:#999;stroke-width:1.2}line.best{stroke:#222;stroke-width:2.6}"
    "line.cut{stroke:#c00;stroke-width:1.2;stroke-dasharray:3 3}path.cut{stroke:#c00;stroke-width:1.8}"
    "rect.written{fill:#f7f3e8;stroke:#7a6f5d}text.written{font:10px monospace;fill:#222}"
)
FILLS = {1: "#bfe5bf", 0: "#eeeeee", -1: "#f0c3c3"}
"""Backgrounds of values: a win, an estimate or tie, a loss. Each value has its sign as well."""


@dataclass
class Boards:
    """The boards to draw, each defined once, and their size."""

    game: Game
    longest: int
    """The length of the longest text of a position, roughly."""
    symbols: dict[int, str] = field(default_factory=dict)
    """The SVG symbol of each position that was drawn."""

    def __post_init__(self) -> None:
        self.board = self.game.draw_board()
        # The size of a position's text: a letter is about 6.5 pixels wide, with 6 pixels on either side.
        self.width, self.height = max(1.2 * WIDE, 6.5 * self.longest + 12), 22.0
        if self.board is not None:
            xs, ys = zip(*self.board.places, strict=True)
            # In units of a cell: half a cell around the outer places, and a small margin.
            self.box = min(xs) - 0.55, min(ys) - 0.55, max(xs) - min(xs) + 1.1, max(ys) - min(ys) + 1.1
            scale = WIDE / max(self.box[2:])
            if scale * min(self.box[2:]) < FLAT:
                self.board = None
            else:
                self.width, self.height = self.box[2] * scale, self.box[3] * scale

    def draw_board(self, position: int, x: float, y: float) -> str:
        """Return the SVG of a position's board, centred at *x* and with its top at *y*."""
        if position not in self.symbols:
            self.symbols[position] = self.draw_symbol(position)
        box = f'x="{x - self.width / 2:.1f}" y="{y:.1f}" width="{self.width:.1f}" height="{self.height:.1f}"'
        title = f"<title>{escape(self.game.write(position))}</title>"
        return f'<use href="#{self.symbol_name(position)}" {box}>{title}</use>'

    @staticmethod
    def symbol_name(position: int) -> str:
        words = position if isinstance(position, tuple) else (position,)
        return f"retrograde-node-{'-'.join(map(str, words))}"

    def draw_symbol(self, position: int) -> str:
        """Return the SVG symbol of a position: its board, or its text if the game describes no board."""
        if self.board is None:
            text = escape(self.game.write(position))
            size = f'width="{self.width - 1:g}" height="{self.height - 1:g}"'
            inside = (
                f'<rect class="written" x=".5" y=".5" {size} rx="4"/>'
                f'<text class="written" x="{self.width / 2:g}" y="{self.height / 2:g}">{text}</text>'
            )
            return self.symbol(self.symbol_name(position), f"0 0 {self.width:g} {self.height:g}", inside)
        is_over = self.game.primitive(position) != UNDECIDED
        end_places = self.game.draw_end(position) if is_over else ()
        men = [*pieces(self.board, self.game.draw_pieces(position)), *marks(self.board, end_places, "end edge")]
        men += marks(self.board, end_places, "end")
        board = '<use href="#retrograde-ground" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>'.format(*self.box)
        return self.symbol(self.symbol_name(position), self.view, board + "".join(men))

    @property
    def view(self) -> str:
        return " ".join(f"{number:g}" for number in self.box)

    @staticmethod
    def symbol(name: str, view: str, inside: str) -> str:
        """Return an SVG symbol. Styles must match within it: what uses it does not pass them on."""
        return f'<symbol id="{name}" viewBox="{view}"><g class="retrograde">{inside}</g></symbol>'

    def definitions(self) -> str:
        """Return the SVG symbols of all boards that were drawn."""
        if self.board is None:
            return "".join(self.symbols.values())
        board = self.symbol("retrograde-ground", self.view, "".join(ground(self.board)))
        return board + "".join(self.symbols.values())


@dataclass
class TreeDrawing:
    """One tree's drawing: its elements, lines first, and its size."""

    boards: Boards
    tree: SearchTree
    lines: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    right: float = 0.0
    bottom: float = 0.0

    @property
    def step(self) -> float:
        """Pixels from a ply to the next."""
        return self.boards.height + DOWN

    def draw_below(self, node: Node, depth: int, left: float, ply: int = 0) -> float:
        """Draw a node and its subtree to *depth* plies, right of *left*; return the x of the node's middle.

        *ply* is the node's distance from the root. `right` and `bottom` become the edges of what is drawn, in pixels.
        """
        top = HEAD + ply * self.step
        # Step 1: draw the children from left to right.
        children = node.children if depth else []
        middles = []  # the x of what stands below the node: children, and the line of cut moves
        for child in children:
            middles.append(self.draw_below(child, depth - 1, left, ply + 1))
            left = self.right
        # Step 2: leave space for one line that stands for all cut moves.
        if node.cut and depth:
            left += self.boards.width + APART
            self.right = max(self.right, left)
            self.bottom = max(self.bottom, top + self.step + CUT_NAME * MOST_CUT)
            middles.append(left - (self.boards.width + APART) / 2)
        if not middles:
            self.right = left + self.boards.width + APART
            middles = [left + (self.boards.width + APART) / 2]
        # Step 3: draw the node above the middle of its children, then the lines to them.
        x = (middles[0] + middles[-1]) / 2
        self.bottom = max(self.bottom, top + self.boards.height + LABELS)
        self.nodes += self.draw_node(node, x, top, hidden=bool(node.children) and not depth)
        for i, child_x in enumerate(middles[: len(children)]):
            kind = "best" if i == node.best else "move"
            self.lines += self.draw_move((x, top), child_x, self.tree.move_name(node, i), kind)
        if node.cut and depth:
            names = [self.boards.game.move_name(node.position, move) for move in node.cut]
            self.lines += self.draw_cut((x, top), middles[-1], names)
        return x

    def draw_node(self, node: Node, x: float, top: float, hidden: bool) -> Iterator[str]:
        """Yield a node's board, value and window; if its subtree is *hidden*, also how many nodes are below."""
        bottom = top + self.boards.height
        fill = FILLS[(node.value > DECIDED) - (node.value < -DECIDED)]  # 1 for a win, -1 for a loss
        text = self.tree.label(node)
        width = 8 + 7.5 * len(text)  # a bold letter of 12 pixels is about 7.5 wide; 4 pixels on either side
        yield self.boards.draw_board(node.position, x, top)
        # Below the board, line by line: the value in its box, the window, the number of hidden nodes.
        box = f'x="{x - width / 2:.1f}" y="{bottom + 3:.1f}" width="{width:.1f}" height="15"'
        yield f'<rect {box} rx="4" fill="{fill}"/>'
        yield f'<text class="value" x="{x:.1f}" y="{bottom + 11:.1f}">{escape(text)}</text>'
        if window := self.tree.window(node):
            yield f'<text class="window" x="{x:.1f}" y="{bottom + 25:.1f}">{window}</text>'
        if hidden:
            yield f'<text class="window" x="{x:.1f}" y="{bottom + 37:.1f}">… {node.positions - 1:,} below</text>'

    def draw_move(self, start: tuple[float, float], to: float, name: str, kind: str) -> Iterator[str]:
        """Yield a move's line from a node at *start* to the child whose middle is at x = *to*, and its name.

        *kind* is the line's CSS class. The name stands near the child, where lines are apart.
        """
        x, top = start
        # From below the value (and the window) to above the child.
        begin, end = top + self.boards.height + (31 if self.tree.windows else 20), top + self.step - 2
        yield f'<line class="{kind}" x1="{x:.1f}" y1="{begin:.1f}" x2="{to:.1f}" y2="{end:.1f}"/>'
        if 6 * len(name) > self.boards.width + APART:  # a letter is about 6 pixels wide
            return  # it would cover its neighbours; the board below shows the move
        name_x, name_y = x + 0.72 * (to - x), begin + 0.72 * (end - begin)
        yield f'<text class="name" x="{name_x:.1f}" y="{name_y:.1f}">{escape(name)}</text>'

    def draw_cut(self, start: tuple[float, float], to: float, names: list[str]) -> Iterator[str]:
        """Yield the crossed line of the cut moves, and their names below it."""
        x, top = start
        begin, end = top + self.boards.height + 31, top + self.step - 2
        yield f'<line class="cut" x1="{x:.1f}" y1="{begin:.1f}" x2="{to:.1f}" y2="{end:.1f}"/>'
        cross_x, cross_y = (x + to) / 2, (begin + end) / 2
        yield f'<path class="cut" d="M{cross_x - 5:.1f} {cross_y - 5:.1f}l10 4m-10 1l10 4"/>'
        shown = names if len(names) <= MOST_CUT else [*names[: MOST_CUT - 1], f"and {len(names) - MOST_CUT + 1}"]
        for i, name in enumerate(shown):
            yield f'<text class="cut" x="{to:.1f}" y="{end + 9 + 13 * i:.1f}">{escape(name)}</text>'


def trees_svg(trees: Trees) -> str:
    """Return the trees as a picture, side by side if that is not too wide."""
    boards = Boards(trees.game, len(trees.game.write(trees.position)) + 1)
    drawn = [draw_tree(boards, tree) for tree in trees.drawn]
    # Side by side, or one below the other if they are too wide.
    is_side_by_side = sum(width for _, width, _ in drawn) <= MOST_WIDE
    parts, x, y, right, bottom = [], EDGE, EDGE, 0.0, 0.0
    for content, width, height in drawn:
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{content}</g>')
        right, bottom = max(right, x + width), max(bottom, y + height)
        x, y = (x + width + 2 * APART, y) if is_side_by_side else (x, y + height + 2 * APART)
    # The notes below the trees.
    more = [f"{tree.name}: {tree.root.positions:,} positions" for tree in trees.counted[len(trees.drawn) :]]
    for line in [*trees.notes("the player to move at the top"), *more]:
        bottom += 18
        parts.append(f'<text class="count" x="{EDGE}" y="{bottom:.1f}">{escape(line)}</text>')
        right = max(right, 6.4 * len(line) + 2 * EDGE)  # a letter is about 6.4 pixels wide
    title = escape(f"{trees.game.name} {trees.game.write(trees.position)}, {trees.depth} plies")
    styles = STYLES + "".join(f".retrograde {rule}}}" for rule in STYLE.split("}") if rule)
    wide, high = f"{right + EDGE:.0f}", f"{bottom + EDGE:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
        f'class="retrograde" role="img"><title>{title}</title><style>{styles}</style>'
        f'<defs>{boards.definitions()}</defs><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def draw_tree(boards: Boards, tree: SearchTree) -> tuple[str, float, float]:
    """Return (a tree's SVG with its name and counts, width, height)."""
    picture = TreeDrawing(boards, tree)
    depth = depth_within(tree.root, MOST_NODES)
    picture.draw_below(tree.root, depth, SIDE)
    count = f"{tree.root.positions:,} positions, {tree.root.leaves:,} at the edge"
    parts = [f'<text class="head" x="0" y="8">{escape(tree.name)}</text>']
    parts += [f'<text class="count" x="0" y="27">{count}</text>']
    plies = range(depth + 1) if Traits.of(tree.game).alternates else ()
    for ply in plies:
        y = HEAD + ply * picture.step + boards.height / 2
        parts.append(f'<text class="side" x="0" y="{y:.1f}">{"Min" if ply % 2 else "Max"}</text>')
    return "".join([*parts, *picture.lines, *picture.nodes]), max(picture.right, 210.0), picture.bottom
