"""A certificate with its rules: gives the proving move for each position that it has."""

from bisect import bisect_left
from functools import cached_property
from itertools import islice
from operator import index
from typing import Any, NamedTuple, Self

from retrograde.databases.certificates.read import CertificateFile, ReplyBlock
from retrograde.games import Game, Value
from retrograde.games.contract.game import POSITION_LIMIT, Traits


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
        if file.contents.width != (width := Traits.of(game).width):
            raise file.damaged(f"its positions have {file.contents.width} words, and by the rules {width}")

    @cached_property
    def content(self) -> ReplyBlock:
        return self.file.contents.all()

    def _position(self, row: int) -> Any:
        """Return the position stored in a row."""
        position = self.content.positions[row].tolist()
        return tuple(position) if isinstance(position, list) else position

    def reply(self, position: Any) -> CertificateReply | None:
        """Return the reply for a position, translated if only a symmetric one is stored; None if there is none."""
        width = self.file.contents.width
        words = tuple(map(index, position if width else (position,)))
        if len(words) != max(width, 1) or not all(0 <= word < POSITION_LIMIT for word in words):
            return None
        position = words if width else words[0]
        canonical, count = self.game.canonical(position), len(self.content.positions)
        row = bisect_left(range(count), canonical, key=self._position)
        if row == count or self._position(row) != canonical:
            return None
        move = self._move(position, canonical, int(self.content.replies[row]))
        bounds = self.content.bounds
        plies = None if bounds is None else int(bounds[row])
        return None if move is None else CertificateReply(move, self.goal, plies)

    def _move(self, position: Any, canonical: Any, number: int) -> int | None:
        """Return the move of *position* that leads to the same canonical position as move *number* of *canonical*; None
        if there is none."""
        game = self.game
        reply = next(islice(game.generate_moves(canonical), number, None), None)
        if reply is None or position == canonical:
            return reply
        target = game.canonical(game.do_move(canonical, reply))
        moves = game.generate_moves(position)
        return next((move for move in moves if game.canonical(game.do_move(position, move)) == target), None)

    def __contains__(self, position: object) -> bool:
        kind = tuple if self.file.contents.width else int
        return isinstance(position, kind) and self.reply(position) is not None

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
