"""Dots and Boxes, by Lucas (1889): draw an edge between two dots. A player who closes a box owns it and draws again.

A position has a bit for each drawn edge, first the horizontal ones row by row, then the vertical ones row by row, and
above them a bit that is 1 if the second player is to move. It does not say who owns the boxes: a box is a point as soon
as it is closed, so the score of a position counts only the boxes that are still open::

    +0+1+
    6 7 8      a board of 2 × 2 boxes: lying edges 0 to 5, upright ones 6 to 11, and bit 12 for the turn
    +2+3+
"""

from functools import cached_property

from retrograde.games.contract.game import POSITION_BITS, TIE, UNDECIDED, Game


class DotsAndBoxes(Game):
    """Draw an edge in turn. A player who closes a box owns it and draws again. The player with more boxes wins."""

    title = "Dots and Boxes"
    metric = "score"

    width: int = 2
    height: int = 2

    start = 0

    def __post_init__(self):
        if min(self.width, self.height) < 1 or self.edges >= POSITION_BITS:
            raise ValueError(f"the board must have at least one box, and less than {POSITION_BITS} edges")

    @property
    def lying(self):
        return self.width * (self.height + 1)

    @property
    def edges(self):
        return self.lying + (self.width + 1) * self.height

    @cached_property
    def boxes(self):
        """The four edges of each box, as bits."""
        found = []
        for y in range(self.height):
            for x in range(self.width):
                above, left = self.width * y + x, self.lying + (self.width + 1) * y + x
                found.append(1 << above | 1 << above + self.width | 1 << left | 1 << left + 1)
        return tuple(found)

    @cached_property
    def symmetries(self):
        """For each symmetry of the board except the identity, where it takes each edge."""
        found = []
        for swap in (False, True) if self.width == self.height else (False,):
            for mirror in (False, True):
                for flip in (False, True):
                    found.append(tuple(self.taken_to(edge, swap, mirror, flip) for edge in range(self.edges)))
        return tuple(found[1:])

    def taken_to(self, edge, swap, mirror, flip):
        """Return where an edge goes when rows and columns are exchanged, then left and right, then top and bottom."""
        lies = edge < self.lying
        y, x = divmod(edge, self.width) if lies else divmod(edge - self.lying, self.width + 1)
        if swap:
            y, x, lies = x, y, not lies
        if mirror:
            x = (self.width - 1 if lies else self.width) - x
        if flip:
            y = (self.height if lies else self.height - 1) - y
        return self.width * y + x if lies else self.lying + (self.width + 1) * y + x

    # The rules

    def turn(self, position):
        return position >> self.edges

    def generate_moves(self, position):
        """Yield the numbers of the edges that are not drawn."""
        for edge in range(self.edges):
            if not position >> edge & 1:
                yield edge

    def closed(self, position, edge):
        """Return how many boxes an edge closes."""
        drawn = position | 1 << edge
        count = 0
        for box in self.boxes:
            if box >> edge & 1 and drawn & box == box:
                count += 1
        return count

    def do_move(self, position, edge):
        drawn = position | 1 << edge
        return drawn if self.closed(position, edge) else drawn ^ 1 << self.edges

    def reward(self, position, edge, player):
        return self.closed(position, edge) if player == self.turn(position) else 0

    def primitive(self, position):
        return TIE if (position & (1 << self.edges) - 1).bit_count() == self.edges else UNDECIDED

    def payoff(self, position, player):
        return 0

    def images(self, position):
        """Yield the positions with the edges permuted by each symmetry; the boxes of the score stay."""
        for places in self.symmetries:
            image = position >> self.edges << self.edges
            for edge in range(self.edges):
                image |= (position >> edge & 1) << places[edge]
            yield image

    def tier(self, position):
        return (position & (1 << self.edges) - 1).bit_count()

    # For people

    def write(self, position):
        signs = "".join(".#"[position >> edge & 1] for edge in range(self.edges))
        return f"{signs[: self.lying]}/{signs[self.lying :]},{self.turn(position) + 1}"

    def read(self, text):
        """Return the position of a text such as `.##.#./.#.#..,1`: lying edges, upright ones, and who is to move."""
        edges, _, turn = text.partition(",")
        lying, _, upright = edges.partition("/")
        signs = lying + upright
        if len(lying) != self.lying or len(signs) != self.edges or set(signs) - set(".#") or turn not in ("1", "2"):
            raise ValueError(
                f"a position is {self.lying} signs for lying edges, / and {self.edges - self.lying} for upright ones, "
                "each . or #, then a comma and who is to move, 1 or 2"
            )
        return sum(1 << edge for edge, sign in enumerate(signs) if sign == "#") | (turn == "2") << self.edges

    def show(self, position):
        """Return the dots as `+`, with the edges that are drawn between them."""
        lines = []
        for y in range(self.height + 1):
            row = [position >> self.width * y + x & 1 for x in range(self.width)]
            lines.append("+" + "+".join("-" if drawn else " " for drawn in row) + "+")
            if y < self.height:
                first = self.lying + (self.width + 1) * y
                lines.append(" ".join("|" if position >> first + x & 1 else " " for x in range(self.width + 1)))
        return "\n".join(lines)

    def move_name(self, position, edge):
        lies = edge < self.lying
        y, x = divmod(edge, self.width) if lies else divmod(edge - self.lying, self.width + 1)
        return f"{'abcdefghijklmnopqrstuvwxyz'[x]}{y + 1}{'-' if lies else '|'}"
