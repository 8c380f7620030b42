"""Order and Chaos, by Stephen Sniderman: one player wants a row of equal signs, the other none."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import LOSE, POSITION_BITS, UNDECIDED, WIN
from retrograde.games.kinds.rows import Rows


class OrderAndChaos(Rows):
    """Put a cross or a ring on an empty cell; both players may use either. Order, who begins, wins by k equal signs in
    a row, Chaos if the board fills up without such a row."""

    title = "Order and Chaos"
    words = {"A": "Order", "C": "Chaos"}
    cells = Cells(lambda game: grid(game.size, game.size), symmetries="all", X="cross", O="ring")
    mover = Turn("AC", by="cells")
    size: int = 3
    k: int = 3

    def __post_init__(self):
        if not 1 <= self.k <= POSITION_BITS:
            raise ValueError(f"k must be from 1 to {POSITION_BITS}")

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.board.in_a_row(self.k))

    def generate_moves(self, position):
        """Yield `2 * cell` for a cross, `2 * cell + 1` for a ring."""
        for cell in self.cells.empty(position):
            yield 2 * cell
            yield 2 * cell + 1

    def do_move(self, position, move):
        return self.cells.add(position, move // 2, 1 + move % 2)

    def primitive(self, position):
        """Return WIN or LOSE if a row or the full board ends the game, else UNDECIDED."""
        chaos = self.mover.get(position)
        if self.fill_line(self.cells.set(position, 1)) or self.fill_line(self.cells.set(position, 2)):
            return LOSE if chaos else WIN
        if self.cells.free(position):
            return UNDECIDED
        return WIN if chaos else LOSE

    def tier(self, position):
        return self.cells.count(position)

    # For people

    def draw_move(self, position, move):
        return (move // 2,)

    def move_name(self, position, move):
        return f"{self.board.names[move // 2]}{'XO'[move % 2]}"
