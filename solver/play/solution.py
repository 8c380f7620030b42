"""A solution is a database with the rules beside it: what a position is worth, which moves are best, how play goes on.

>>> with open_solution("tictactoe") as solution:
...     solution.moves(solution.game.start)[0]
Choice(move=0, name='a1', position=1, value=<Value.TIE: 3>, remoteness=8)
"""

import os
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.databases import Database, Outcome, open_database
from retrograde.games.game import UNDECIDED, Game
from retrograde.solver.play.choice import Choice, preference

CACHED_VALUES = 1 << 15
"""Positions whose worth is remembered: in play the same ones are asked for again and again."""
LONGEST_LINE = 1000
"""Plies of a line of best play that are shown unless more are asked for."""


class Picture(NamedTuple):
    """A picture, which notebooks show."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


class Solution:
    """Answers questions about the positions of a solved game. A context manager, which closes the database."""

    def __init__(self, database: Database):
        """Raise DamagedDatabase where the start is not worth what the file says of it elsewhere."""
        database.check_start()
        self.database = database
        self.game: Game = database.game
        self._value = lru_cache(CACHED_VALUES)(database.__getitem__)

    @property
    def start(self) -> int | None:
        """The first position of the game, if it has one."""
        return getattr(self.game, "start", None)

    @property
    def start_or_example(self) -> int:
        """The first position, or where there is none, some position."""
        return self.database.file.legend[-1].example if self.start is None else self.start

    def value(self, position: int) -> Outcome:
        """Return a position's value and remoteness; raise NotInDatabase where play never reaches it."""
        return self._value(position)

    def lookup(self, positions: ArrayLike) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return values (uint8, as in Value) and remotenesses (int32, -1 for a DRAW) of an array of positions.

        Millions a second, in any order. A position that cannot be reached is UNDECIDED, 0, with -1.
        """
        return self.database.lookup(positions)

    def moves(self, position: int) -> list[Choice]:
        """Return the moves of a position, the best first; none where the game is over.

        First the moves that win, the soonest first; then those that tie, the soonest first; then those that draw; then
        those that lose, the latest first. Equals keep the order in which the rules generate them.
        Raises NotInDatabase where play never reaches the position.
        """
        self.value(position)
        if self.game.primitive(position) != UNDECIDED:
            return []
        return sorted((self._choice(position, move) for move in self.game.generate_moves(position)), key=preference)

    def _choice(self, position: int, move: int) -> Choice:
        child = self.game.do_move(position, move)
        return Choice(move, self.game.move_name(position, move), child, *self.value(child))

    def line(self, position: int, limit: int = LONGEST_LINE) -> list[Choice]:
        """Return best play from a position, always by the first of the best moves, to the end of the game.

        It has as many plies as the position has remoteness. From a DRAW, which has no end, it stops after the ply that
        comes back to a position met before; any line stops after *limit* plies.
        """
        line: list[Choice] = []
        met = {position}
        while len(line) < limit and (choices := self.moves(position)):
            line.append(choices[0])
            position = choices[0].position
            if position in met:
                break
            met.add(position)
        return line

    def picture(self, position: int | None = None) -> "Picture":
        """Return a position, by default the start, as a picture with its moves coloured by value.

        A notebook shows it; `svg` is its text.
        """
        from retrograde.solver.play.picture import board_svg

        if position is None:
            position = self.start_or_example
        return Picture(board_svg(self.game, position, self.moves(position)))

    def _repr_svg_(self) -> str:
        """Return the start, or an example where there is none, for notebooks."""
        return self.picture().svg

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def __enter__(self) -> "Solution":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Solution({self.database!r})"


def open_solution(
    variant_or_path: str | os.PathLike[str], *, game: Game | None = None, home: str | os.PathLike[str] | None = None
) -> Solution:
    """Open the solution of a variant, or the one at a path, as `open_database` does."""
    return Solution(open_database(variant_or_path, game=game, home=home))
