"""Chutes and Ladders for one player: how many spins it takes to reach the last square.

The board is that of Milton Bradley: a spinner from 1 to 6, ten chutes, nine ladders, and a hundred squares. The player
must hit the last square exactly, and never has a choice. Each spin pays -1, so the expectation is minus the expected
number of spins, 39.2 (S. C. Althoen, L. King and K. Schilling, *How long is a game of Snakes and Ladders?*, The
Mathematical Gazette 77, 1993, for this board).
"""

from functools import cached_property

from retrograde.games.contract.game import CHANCE, UNDECIDED, WIN, Game

LADDERS = ((1, 38), (4, 14), (9, 31), (21, 42), (28, 84), (36, 44), (51, 67), (71, 91), (80, 100))
CHUTES = ((16, 6), (47, 26), (49, 11), (56, 53), (62, 19), (64, 60), (87, 24), (93, 73), (95, 75), (98, 78))
SQUARES = 100


class Chutes(Game):
    """Spin until you reach the last square. Ladders lead up, chutes lead down."""

    title = "Chutes and Ladders"
    metric = "expectation"
    players = 1
    start = 0

    spinner: int = 6

    def __post_init__(self):
        if not 1 <= self.spinner <= 12:
            raise ValueError("spinner must be from 1 to 12")

    @cached_property
    def leads_to(self):
        """For each square, the square at the other end of its ladder or chute, or itself."""
        ends = dict(LADDERS + CHUTES)
        return tuple(ends.get(square, square) for square in range(SQUARES + 1))

    def turn(self, square):
        return 0 if square == SQUARES else CHANCE

    def generate_moves(self, square):
        yield from range(1, self.spinner + 1)

    def do_move(self, square, spun):
        return square if square + spun > SQUARES else self.leads_to[square + spun]

    def reward(self, square, spun, player):
        return -1

    def payoff(self, square, player):
        return 0

    def primitive(self, square):
        return WIN if square == SQUARES else UNDECIDED
