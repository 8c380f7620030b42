"""A certificate with its rules: gives the proving move for each position that it has."""

from bisect import bisect_left
from functools import cached_property
from itertools import islice
from operator import index
from typing import NamedTuple, Self

from retrograde.databases.certificates.read import CertificateFile, ReplyBlock
from retrograde.games import Game, Value
from retrograde.games.contract.game import POSITION_LIMIT


class CertificateReply(NamedTuple):
    """A certificate's entry for a position: the move to play, and what it guarantees."""

    move: int
    at_least: Value
    """The value that a player who follows the certificate reaches at least."""
    plies: int | None


class Certificate:
    """A strategy that proves a value, read from a file: one move for some positions. A context manager."""

    def __init__(self, file: CertificateFile, game: Game):
        self.file, self.game = file, game
        self.goal = file.goal

    @cached_property
    def content(self) -> ReplyBlock:
        return self.file.contents.all()

    @cached_property
    def _positions(self) -> memoryview:
        return self.content.positions.data

    def reply(self, position: int) -> CertificateReply | None:
        """Return the reply for a position, translated if only a symmetric one is stored; None if there is none."""
        position = index(position)
        if not 0 <= position < POSITION_LIMIT:
            return None
        canonical = self.game.canonical(position)
        row = bisect_left(self._positions, canonical)
        if row == len(self._positions) or self._positions[row] != canonical:
            return None
        move = self._move(position, canonical, int(self.content.replies[row]))
        bounds = self.content.bounds
        plies = None if bounds is None else int(bounds[row])
        return None if move is None else CertificateReply(move, self.goal, plies)

    def _move(self, position: int, canonical: int, number: int) -> int | None:
        """Return a position's move that corresponds to move *number* of its canonical image."""
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
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"open_certificate({str(self.file.path)!r})"
