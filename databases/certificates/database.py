"""A certificate beside its rules: ask it for a position, and it gives the move that keeps the value, if it has it."""

from bisect import bisect_left
from functools import cached_property
from itertools import islice
from operator import index
from typing import NamedTuple, Self

from retrograde.databases.certificates.read import Block, CertificateFile
from retrograde.games import Game, Value
from retrograde.games.contract.game import POSITION_LIMIT


class Reply(NamedTuple):
    """What a certificate has for a position: the move to make, and within how many plies the end comes, if it says."""

    move: int
    at_least: Value
    """What whoever makes such moves reaches at least."""
    plies: int | None


class Certificate:
    """A strategy that proves a value, read from a file: for some positions, one move each. A context manager."""

    def __init__(self, file: CertificateFile, game: Game):
        self.file, self.game = file, game
        self.goal = file.goal

    @cached_property
    def content(self) -> Block:
        """All that is stored."""
        return self.file.contents.all()

    @cached_property
    def _positions(self) -> memoryview:
        return self.content.positions.data

    def reply(self, position: int) -> Reply | None:
        """Return what is stored for a position, or one equal to it by symmetry; None where nothing is."""
        position = index(position)
        if not 0 <= position < POSITION_LIMIT:
            return None
        canonical = self.game.canonical(position)
        place = bisect_left(self._positions, canonical)
        if place == len(self._positions) or self._positions[place] != canonical:
            return None
        move = self._move(position, canonical, int(self.content.replies[place]))
        bounds = self.content.bounds
        return None if move is None else Reply(move, self.goal, None if bounds is None else int(bounds[place]))

    def _move(self, position: int, canonical: int, number: int) -> int | None:
        """Return the move of a position that is the one of so high a number of the canonical position."""
        game = self.game
        move = next(islice(game.generate_moves(canonical), number, None), None)
        if move is None or position == canonical:
            return move
        target = game.canonical(game.do_move(canonical, move))
        moves = game.generate_moves(position)
        return next((move for move in moves if game.canonical(game.do_move(position, move)) == target), None)

    def __contains__(self, position: object) -> bool:
        return isinstance(position, int) and self.reply(position) is not None

    def __len__(self) -> int:
        """Return the number of positions stored."""
        return self.file.stored

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"open_certificate({str(self.file.path)!r})"
