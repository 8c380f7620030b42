"""How far the end of a TIE is: the fewest plies to it by moves that keep the tie.

First any way to an end is found, and then a shorter one is sought, among so many plies as are half way between those
that are refuted and those of the shortest way so far::

    plies   1 2 3 4 5 6 7 8 9 10 11 12 13 14
            `- no way -´  ?              ^ the shortest way so far
"""

from collections.abc import Callable

from retrograde.games.contract.game import Game
from retrograde.solver.search import tie_kernels
from retrograde.solver.search.kernels import Array, Stack
from retrograde.solver.search.table import Table

Question = Callable[[Table, Stack], int]
"""A question to compiled search, of one thread with its memory."""


class Ties:
    """Ways to the ends of ties, with a memory of what is refuted, which is kept from question to question.

    *ask* has a question answered, or raises what ends the search.
    """

    def __init__(self, game: Game, ask: Callable[[Question], int]):
        self.game, self.ask = game, ask
        self.memory: Array = tie_kernels.make_memory()
        self.bits: int | None = None
        """Bits of the positions by whose keys the memory goes."""

    def plies(self, position: int, most: int) -> int | None:
        """Return how far the end of a TIE is, a position where the game goes on; None where it is no tie, or farther
        than *most* plies."""
        least, plies = 1, self.way(position, most)
        if plies == tie_kernels.NO_WAY:
            return None
        while least < plies:
            middle = (least + plies) // 2
            if shorter := self.way(position, middle):
                plies = shorter
            else:
                least = middle + 1
        return plies

    def way(self, position: int, most: int) -> int:
        """Return the plies of a way from a TIE to its end, of so many at most; NO_WAY where there is none."""
        return self.ask(self.question(position, most)) if most > 0 else tie_kernels.NO_WAY

    def question(self, position: int, most: int) -> Question:
        """Return the question for the plies of a way, of so many at most."""

        def ask(table: Table, stack: Stack) -> int:
            if self.bits not in (None, table.shape.position_bits):
                self.memory[:] = 0  # for keys are others now
            self.bits = table.shape.position_bits
            return tie_kernels.plies_of_way(self.game, position, most, table, stack, self.memory)

        return ask
