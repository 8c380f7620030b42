"""Steps: how men move in a section of placements, in words that the solver can use for many positions at once.

A game with two kinds of men, one for each player, who move in turn, may define::

    def section_steps(self, men, extra):
        return Steps(slides=self.beside, slid=1)        # cells in reach of each cell, and the extra after a slide

The program calls it once for each section, with its men and its *extra*, as `slides` in `sliding.py`. The extra is the
number above the bits of the men: all else that a position has, such as the player to move. docs/men-on-cells.md shows
the whole game. With `swap=(1, 0)` the player to move has the men of the first kind; without `swap` the steps say which
(`kind`). The rules stay as they are, and the solver compares steps with them. With steps it solves whole *shapes* at a
time, which is several times faster (see `solver/methods/shapes/`). A class whose rules differ from those of the class
that it derives from needs steps of its own: they are not inherited.
"""

from typing import NamedTuple

from retrograde.games.contract.game import LOSE, WIN, Value
from retrograde.games.kinds.placements import Order

Reach = tuple[int, ...]
"""For each cell, the cells that a man may reach from it, as bits."""


class Steps(NamedTuple):
    """The moves of the player to move in a section; no other moves are possible."""

    slides: Reach = ()
    """The cells to which a man may go from each cell, if they are empty."""
    drops: int = 0
    """The cells on which a new man may be put, if they are empty, as bits."""
    pushes: tuple[tuple[int, int, Order], ...] = ()
    """Entries (source, target, where the man of each cell goes). On the source is a man of the player to move, or none.
    Afterwards her man, this one or a new one, is on the target."""
    leaps: tuple[tuple[int, int, int], ...] = ()
    """Entries (source, over, target). A man leaps over a man of the opponent, which it takes, to an empty cell."""
    clears: bool = False
    """Whether a leap takes all men of the opponent, whose section is then `lost`."""
    slid: int = 0
    """The extra after a man that is on the board has moved."""
    leapt: int = 0
    """The extra after a leap."""
    put: int = 0
    """The extra after a new man is put down."""
    mills: tuple[int, ...] = ()
    """Lines, as bits. If a slide or drop fills one, a man of the opponent is taken: any that is in no mill, or any if
    every man is in one."""
    lines: tuple[int, ...] = ()
    """Lines, as bits. If men of one player fill one, the game is over."""
    ends: tuple[Value, Value, Value] = (WIN, LOSE, LOSE)
    """The value if the player to move fills a line, if the opponent does, and if both do."""
    kind: int = 0
    """Without `swap`, the kind of the men of the player to move."""
    lost: bool = False
    """Whether the player to move has lost anyway, as she has if she cannot move."""
