"""Declared fields: what a position is, in the words of the game.

A class declares fields, and its rules read and write them by name. The program decides which bits hold them::

    class TicTacToe(Game):
        cells = Cells(grid(3, 3), symmetries="all", X="cross", O="ring")
        mover = Turn("XO", by="cells")        # no bit: the number of filled cells says who is to move

        def generate_moves(self, position):
            yield from self.cells.empty(position)

        def do_move(self, position, cell):
            return self.cells.add(position, cell, self.mover.sign(position))

| field | what it holds |
|---|---|
| `Cells(board, X=…, O=…)` | a sign on each cell of a board, or none |
| `Turn("XO")` | the player to move |
| `Number(low, high)` | a number from a range |
| `Numbers(count, low, high)` | several numbers of one range, such as the stones in each player's hand |
| `Flag()` | yes or no |

Positions never change: a method that writes returns a new position. Texts of positions, the board's
picture, the editor and `images` follow from the fields (`members.py`).

The first field has the lowest bits, except that cells come before all others. Cells have a plane of bits for each sign,
side by side::

    bits of a tic-tac-toe position    8 … 0 the cells with an X      17 … 9 the cells with an O

`Cells(…, packed=True)` has fewer planes, for boards with many signs.

If the fields need more than 62 bits, a position is a tuple of ints, its words; methods then take and return tuples.
`layout.py` says which word holds a field, `cells.py` where the cells of a large board are.
"""

from retrograde.games.contract.fields.cells import Cells
from retrograde.games.contract.fields.field import Field
from retrograde.games.contract.fields.layout import check_arguments, fields_of, lay_out
from retrograde.games.contract.fields.members import add_members
from retrograde.games.contract.fields.numbers import Flag, Number, Numbers, Turn

__all__ = ["Cells", "Field", "Flag", "Number", "Numbers", "Turn", "check_arguments", "fields_of"]

Field.add_members, Field.lay_out = add_members, lay_out
