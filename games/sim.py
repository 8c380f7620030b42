"""Sim, by Gustavus Simmons: two players colour the edges between six dots."""

from itertools import combinations, permutations

from retrograde.games import UNDECIDED, WIN, Cells, Turn
from retrograde.games.kinds.in_line import InLine

EDGES = tuple(map("".join, combinations("abcdef", 2)))


def renamings(game):
    """Return where each renaming of the dots takes the edges."""
    tables = [str.maketrans("abcdef", "".join(dots)) for dots in permutations("abcdef")]
    return [[EDGES.index("".join(sorted(edge.translate(table)))) for edge in EDGES] for table in tables]


class Sim(InLine):
    """Colour an edge in turn. The player who completes a triangle of the own colour loses."""

    words = {"R": "Red", "B": "Blue"}
    edges = Cells(EDGES, symmetries=renamings, R="crimson disc", B="royalblue disc")
    mover = Turn("RB", by="edges")
    lines = tuple(sum(1 << EDGES.index(a + b) for a, b in combinations(dots, 2)) for dots in combinations("abcdef", 3))

    def generate_moves(self, position):
        yield from self.edges.empty(position)

    def do_move(self, position, edge):
        return self.edges.add(position, edge, self.mover.sign(position))

    def primitive(self, position):
        return WIN if self.fill_line(self.edges.set(position, self.mover.other(position))) else UNDECIDED

    def tier(self, position):
        return self.edges.count(position)
