"""Writes games as PGN, if the rules support it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from retrograde.games import Game


def pgn_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option for the file to write games to."""
    return click.option(
        "--pgn", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help=f"Where to write {what}."
    )


def check_writes_pgn(game: "Game", pgn: str | None) -> None:
    """Raise UsageError if games are to be written as PGN and the rules cannot do that."""
    if pgn is not None and not hasattr(game, "pgn"):
        raise click.UsageError(f"games of {game.name} cannot be written as PGN")


def pgn_of(
    game: Any, start: int, moves: Sequence[int], players: Sequence[str], finished: bool = True, count: int = 0
) -> str:
    """Return a game as PGN. It begins after *count* plies without progress; *players* are the first and the second."""
    counted = {"count": count} if count else {}  # rules of other authors need not know this parameter
    text: str = game.pgn(start, moves, tuple(players), finished, **counted)
    return text
