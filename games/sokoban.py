"""Sokoban, by Hiroyuki Imabayashi: push boxes onto their goals.

A layout has rows, separated by dashes, in the letters that many programs read: # for a wall, _ for an empty cell, a dot
for a goal, b for a box, p for the man, B for a box on a goal, P for the man on a goal. Each step counts, also without a
push. The layout by default is the first one of David Skinner's collection Microban (2000). A .txt file has a layout as
collections of levels do (XSB).
"""

import re
from functools import cached_property

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.fields import Cells
from retrograde.games.contract.game import WIN, Game

WAYS = ((0, -1), (1, 0), (0, 1), (-1, 0))
XSB = str.maketrans({" ": "_", "-": "_", "$": "b", "*": "B", "@": "p", "+": "P"})
"""What the letters of level files are in a layout."""


def floor(game):
    """Return the board: the cells that are no walls."""
    rows = game.layout.split("-")
    places = tuple((float(x), float(y)) for y, row in enumerate(rows) for x, sign in enumerate(row) if sign != "#")
    return Board(places, tuple(f"{chr(97 + int(x))}{int(y) + 1}" for x, y in places), {}, len(places))


def walled(rows):
    """Return rows of cells with walls in all cells that the man cannot reach, even if there were no boxes."""
    cells = {(x, y): sign for y, row in enumerate(rows) for x, sign in enumerate(row)}
    found = [cell for cell, sign in cells.items() if sign in "pP"]
    for x, y in found:
        beside = [(x + dx, y + dy) for dx, dy in WAYS]
        found += [cell for cell in beside if cells.get(cell, "#") != "#" and cell not in found]
    return ["".join(sign if (x, y) in found else "#" for x, sign in enumerate(row)) for y, row in enumerate(rows)]


class Sokoban(Game):
    """Walk, and push boxes ahead of you, one at a time, until there is one on each goal."""

    players = 1
    cells = Cells(floor, B="sienna square", M="royalblue disc")
    layout: str = "####-#_.#-#__###-#Bp__#-#__b_#-#__###-####"

    def __post_init__(self):
        boxes, goals, men = (sum(map(self.layout.count, signs)) for signs in ("bB", ".BP", "pP"))
        if {*self.layout} - {*"#_.bpBP-"} or men != 1 or boxes != goals or max(map(len, self.layout.split("-"))) > 26:
            raise ValueError("layout must have rows of up to 26 of # _ . b p B P, a man, and a goal for each box")

    @classmethod
    def options_in(cls, text):
        """Return the first level in the text of a file: the first lines of cells, with walls outside of the walls."""
        level = re.search(r"^(?:[-_ .$*@+bBpP]*#[-_# .$*@+bBpP]*\n)+", f"{text}\n", re.MULTILINE)
        if level is None:
            raise ValueError("it has no line of cells with a wall, #")
        rows = [line.rstrip().translate(XSB) for line in level[0].splitlines()]
        return f"layout={'-'.join(walled(rows))}"

    @cached_property
    def inside(self):
        """The signs of the layout that are no walls."""
        return self.layout.replace("-", "").replace("#", "")

    @cached_property
    def start(self):
        signs = {"b": "B", "B": "B", "p": "M", "P": "M"}
        return self.position_of("".join(signs.get(sign, ".") for sign in self.inside), "")

    @cached_property
    def goals(self):
        """The goals, as bits."""
        return sum(1 << cell for cell, sign in enumerate(self.inside) if sign in ".BP")

    @cached_property
    def steps(self):
        return self.cells.steps(*WAYS)

    def man(self, position):
        """Return the cell of the man."""
        return self.cells.set(position, self.cells.M).bit_length() - 1

    def generate_moves(self, position):
        """Yield the ways in which the man can step: up, right, down, left."""
        man = self.man(position)
        for way in range(4):
            goal = self.steps[man][way]
            if goal >= 0 and self.cells.has(position, goal, self.cells.B):
                goal = self.steps[goal][way]
            if goal >= 0 and self.cells.is_empty(position, goal):
                yield way

    def do_move(self, position, way):
        """Return the position after a step, and a push if a box is ahead."""
        man = self.man(position)
        goal = self.steps[man][way]
        if self.cells.has(position, goal, self.cells.B):
            position = self.cells.go(position, goal, self.steps[goal][way])
        return self.cells.go(position, man, goal)

    def primitive(self, position):
        solved = self.cells.set(position, self.cells.B) == self.goals
        return WIN if solved else super().primitive(position)

    # For people

    def draw_board(self):
        """Return the board, with the looks of boxes, of the man and of empty goals."""
        looks = {
            "B": "sienna square",
            "b": "seagreen square",
            "M": "royalblue disc",
            "m": "royalblue disc",
            "g": "ring",
        }
        return Board(self.board.places, self.board.names, looks, self.board.cells)

    def draw_pieces(self, position):
        """Return the signs, those on goals small, and g for an empty goal."""
        goals = [self.goals >> cell & 1 for cell in range(self.cells.size)]
        return "".join(
            sign.replace(".", "G").lower() if goal else sign
            for sign, goal in zip(self.signs(position), goals, strict=True)
        )

    def read_pieces(self, pieces, turn):
        position = self.position_of(pieces.replace("g", ".").upper(), turn)
        if self.draw_pieces(position) != pieces:
            raise ValueError("on a goal write b for a box, m for the man, and g for none; elsewhere B, M and a dot")
        return position

    def draw_move(self, position, way):
        man = self.man(position)
        return man, self.steps[man][way]

    def move_name(self, position, way):
        """Return the usual letter: u, r, d or l, a capital one for a push."""
        pushes = self.cells.has(position, self.draw_move(position, way)[1], self.cells.B)
        return "URDL"[way] if pushes else "urdl"[way]
