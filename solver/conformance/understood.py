"""Says what a check has understood of a game: what its class declares, and which defaults apply."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from retrograde.games.catalog import option_text
from retrograde.games.contract.game import CHANCE, Game, Traits, declared_board, defines, metric_of
from retrograde.solver.conformance.survey import Survey

LOOKED_AT = 200
"""Positions whose images are counted, at most."""


def understood(survey: Survey) -> dict[str, str]:
    """Return what the rules are taken to mean, by headings.

    >>> from retrograde.games.catalog import load_game
    >>> understood(Survey(load_game("nim:heaps=1+2")))["players"]
    '2, alternating'
    """
    return dict(facts(survey))


def facts(survey: Survey) -> Iterator[tuple[str, str]]:
    """Yield pairs of a heading and its text."""
    game = survey.game
    traits = Traits.of(game)
    yield "players", players(survey)
    yield "end", "primitive" if traits.has_primitive else "a player who cannot move loses"
    yield "computed", metric_of(game)
    yield "symmetric images", images(survey)
    yield "tiers", "yes" if traits.has_tiers or traits.is_numbered else "no"
    yield "parents", "yes" if traits.has_parents else "no"
    yield "positions numbered", "yes" if traits.has_numbering else "no"
    yield "moves named by", names_of_moves(game)
    options: Any = fields(game)  # type: ignore[arg-type]  # subclasses are dataclasses
    yield "options", ", ".join(f"{one.name}={option_text(getattr(game, one.name))}" for one in options) or "none"


def players(survey: Survey) -> str:
    """Return how many players there are, and how they take turns."""
    game = survey.game
    if Traits.of(game).alternates:
        return "2, alternating"
    told = ", by turn" if Traits.of(game).has_turn else ""
    dice = any(game.turn(position) == CHANCE for position in [*survey.views][:LOOKED_AT])
    return f"{game.players}{told}{', with chance' if dice else ''}"


def images(survey: Survey) -> str:
    """Return the greatest number of positions that are equal by symmetry, in a sample."""
    game = survey.game
    if not Traits.of(game).has_images:
        return "no"
    some = [*survey.views][:LOOKED_AT]
    return str(max((len({position, *game.images(position)}) for position in some), default=1))


def names_of_moves(game: Game) -> str:
    """Return what moves are named by."""
    if defines(game, "move_name"):
        return "move_name"
    return "the places of the board" if declared_board(game) else "their numbers"
