"""Games written as PGN, where the rules can do that."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from retrograde.games import Game


def pgn_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that says where to write what is played."""
    return click.option(
        "--pgn", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help=f"Where to write {what}."
    )


def check_writes_pgn(game: "Game", pgn: str | None) -> None:
    """Raise UsageError where games are to be written, and the rules cannot do that."""
    if pgn is not None and not hasattr(game, "pgn"):
        raise click.UsageError(f"games of {game.name} cannot be written as PGN")


def pgn_of(
    game: Any, start: int, moves: Sequence[int], players: Sequence[str], finished: bool = True, count: int = 0
) -> str:
    """Return a game as PGN, which begins after *count* plies without progress; *players* are the names of who moves
    first and second."""
    counted = {"count": count} if count else {}  # which other people's rules need not know
    text: str = game.pgn(start, moves, tuple(players), finished, **counted)
    return text
