"""Lines that men fill, in a game of a few lines: held against sets of cells, as Python and compiled."""

from functools import cached_property

import numpy as np
import pytest

from retrograde.games import UNDECIDED, WIN
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.in_line import InLine
from retrograde.games.kinds.placed import as_bits
from retrograde.solver.rules import compiled
from retrograde.solver.runtime.kernel import kernel

ROWS = grid(3, 3).in_a_row(3)


class Notakto(InLine):
    """Put down crosses by turns; whoever makes three in a row loses."""

    bits = "X"
    start = 0

    @cached_property
    def lines(self):
        return tuple(map(as_bits, ROWS))

    def generate_moves(self, position):
        for cell in range(9):
            if not position >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        return position | 1 << cell

    def primitive(self, position):
        return WIN if self.fill_line(position) else UNDECIDED


def has_row(men):
    """Tell by sets whether a row is among some men."""
    cells = {cell for cell in range(9) if men >> cell & 1}
    return any(cells.issuperset(row) for row in ROWS)


def test_a_line_is_filled_where_men_stand_on_all_its_cells():
    assert [Notakto().fill_line(men) for men in range(512)] == [has_row(men) for men in range(512)]


@kernel
def ask_all(game, won):
    for position in range(len(won)):
        won[position] = game.primitive(position) == WIN


@pytest.mark.long
def test_compiled_rules_see_the_same_lines():
    game, won = Notakto(), np.zeros(512, np.bool_)
    compiled.prepare(game)
    ask_all(game, won)
    assert won.tolist() == [has_row(men) for men in range(512)]
