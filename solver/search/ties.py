"""Remoteness of a TIE: the fewest plies to its end by moves that keep the tie.

First find any path to an end. Then do a binary search between the lengths that are refuted and the shortest path::

    plies   1 2 3 4 5 6 7 8 9 10 11 12 13 14
            `- no way -´  ?              ^ the shortest way so far
"""

from collections.abc import Callable

from retrograde.games.contract.game import Game
from retrograde.solver.search import tie_kernels
from retrograde.solver.search.kernels import Array, Stack
from retrograde.solver.search.table import Table

Question = Callable[[Table, Stack], int]
"""A question to the compiled search, answered by one thread in its workspace."""


class Ties:
    """Finds shortest paths to the ends of ties. Its memory of refuted positions is kept between questions.

    *ask* runs a question and returns its answer, or raises the reason why the search ended.
    """

    def __init__(self, game: Game, ask: Callable[[Question], int]):
        self.game, self.ask = game, ask
        self.memory: Array = tie_kernels.make_memory()
        self.bits: int | None = None
        """Bits of the positions whose keys the memory holds; None before the first question."""

    def plies(self, position: int, most: int) -> int | None:
        """Return the remoteness of an undecided TIE; None if it is no tie or takes more than *most* plies."""
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
        """Return the length of some path from a TIE to its end, at most *most* plies; or NO_WAY."""
        return self.ask(self.question(position, most)) if most > 0 else tie_kernels.NO_WAY

    def question(self, position: int, most: int) -> Question:
        """Return the question for the length of a path of at most *most* plies."""

        def ask(table: Table, stack: Stack) -> int:
            if self.bits not in (None, table.shape.position_bits):
                # Keys depend on the number of bits, so old entries are invalid.
                self.memory[:] = 0
            self.bits = table.shape.position_bits
            return tie_kernels.plies_of_way(self.game, position, most, table, stack, self.memory)

        return ask
