"""Top Spin, by Ferdinand Lammertink: a round track of numbered discs, and a turnstile that turns several of them round.

A position has the discs, from 0, in the order of the track, disc 0 first: it does not matter how far they are pushed
along. There are (n - 1)! orders. If n and k are even, all of them can be reached.
"""

from functools import cached_property
from math import cos, pi, sin

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.fields import Numbers
from retrograde.games.contract.game import UNDECIDED, WIN, Game

SIGNS = "123456789ABCDEF"


class TopSpin(Game):
    """Turn k neighbouring discs round, until all n discs are in order. To push the discs along the track costs
    nothing."""

    title = "Top Spin"
    players = 1
    discs = Numbers(lambda game: game.n, 0, lambda game: game.n - 1)
    n: int = 8
    k: int = 4

    def __post_init__(self):
        if not 2 <= self.k < self.n <= len(SIGNS):
            raise ValueError(f"n must be at most {len(SIGNS)}, and k from 2 to n - 1")

    @cached_property
    def start(self):
        """The discs with odd numbers come first, as people count them, then those with even ones."""
        signs = SIGNS[: self.n]
        return self.position_of(signs[::2] + signs[1::2], "")

    def generate_moves(self, position):
        """Yield the places on the track of the first disc that turns."""
        yield from range(self.n)

    def do_move(self, position, first):
        """Return the position after k discs have turned round.

        >>> game = TopSpin()
        >>> game.write(game.start), game.write(game.do_move(game.start, 0))  # a-b-c-d
        ('13572468', '12468753')
        """
        turned, home = position, 0
        for at in range(self.n):
            after = (at - first) % self.n  # the place within the turnstile, if below k
            source = (first + self.k - 1 - after) % self.n if after < self.k else at
            disc = self.discs.get(position, source)
            turned = self.discs.put(turned, at, disc)
            home = home if disc else at  # where disc 0 is now
        for at in range(self.n):
            position = self.discs.put(position, at, self.discs.get(turned, (home + at) % self.n))
        return position

    def primitive(self, position):
        """Return WIN if all discs are in order, else UNDECIDED."""
        for at in range(self.n):
            if self.discs.get(position, at) != at:
                return UNDECIDED
        return WIN

    def parents(self, position):
        for first in range(self.n):
            yield self.do_move(position, first)

    # For people

    def write(self, position):
        return self.signs(position)

    def read(self, text):
        return self.position_of(text, "")

    def show(self, position):
        return " ".join(self.signs(position))

    @cached_property
    def board(self):
        """The places of the track, on a circle."""
        turns = [2 * pi * at / self.n for at in range(self.n)]
        radius = self.n / 5
        places = tuple((round(radius * (1 + sin(turn)), 3), round(radius * (1 - cos(turn)), 3)) for turn in turns)
        lines = tuple((at, (at + 1) % self.n) for at in range(self.n))
        looks = {sign: f"gold disc {sign}" for sign in SIGNS[: self.n]}
        return Board(places, tuple("abcdefghijklmno"[: self.n]), looks, lines=lines)

    def signs(self, position):
        return "".join(SIGNS[self.discs.get(position, at)] for at in range(self.n))

    def position_of(self, signs, turn):
        if sorted(signs) != [*SIGNS[: self.n]] or signs[0] != "1":
            raise ValueError("each disc must be there once, and disc 1 come first")
        position = 0
        for at, sign in enumerate(signs):
            position = self.discs.put(position, at, SIGNS.index(sign))
        return position

    def draw_move(self, position, first):
        return tuple((first + at) % self.n for at in range(self.k))
