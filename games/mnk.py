"""The m,n,k-games: k in a row on a board of m columns and n rows."""

from functools import cached_property

from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import Cells, Turn
from retrograde.games.contract.game import POSITION_BITS, TIE, WIN
from retrograde.games.kinds.rows import LineRace


class MNK(LineRace):
    """Claim cells in turn. The first to own k cells in a row wins, or loses in the misère game."""

    title = "m,n,k-game"
    cells = Cells(lambda game: grid(game.m, game.n), symmetries="all", X="cross", O="ring")
    mover = Turn("XO", by="cells")
    m: int = 4
    n: int = 3
    k: int = 3
    misere: bool = False

    def __post_init__(self):
        if not 1 <= self.k <= POSITION_BITS:
            raise ValueError(f"k must be from 1 to {POSITION_BITS}")

    @cached_property
    def lines(self):
        return self.cells.bits_of(self.board.in_a_row(self.k))

    def at_best(self, position):
        """Return TIE if every line has a stone of the opponent's, so that the player to move cannot own one."""
        if self.misere or self.count_open(position, self.mover.sign(position)):
            return WIN
        return TIE

    def variant_title(self):
        return f"{self.m},{self.n},{self.k}-game" + ", misère" * self.misere
