"""Says in words what a class declares, and which defaults apply."""

from dataclasses import fields
from typing import Any

from retrograde.games.catalog import option_text
from retrograde.games.contract.fields import fields_of
from retrograde.games.contract.game import CHANCE, Game, Traits, declared_board, defines, metric_of
from retrograde.solver.conformance.survey import Survey
from retrograde.solver.runtime.work import MetricNotApplicable

SAMPLE = 200
"""The most positions that are looked at for images, chance and moves that pay."""


def describe_rules(survey: Survey) -> dict[str, str]:
    """Return what the rules mean, by headings. Images and chance are looked for at positions that the survey has
    visited.

    >>> from retrograde.games.catalog import load_game
    >>> describe_rules(Survey(load_game("nim:heaps=1+2")))["players"]
    '2, alternating'
    """
    game = survey.game
    options: Any = fields(game)  # type: ignore[arg-type]  # subclasses are dataclasses
    declared = {"fields": describe_fields(survey)} if fields_of(type(game)) else {}
    return {
        **declared,
        "players": describe_players(survey),
        "end": "primitive" if defines(game, "primitive") else "a player who cannot move loses",
        "computed": describe_metric(survey),
        "symmetric images": describe_images(survey),
        "tiers": "yes" if defines(game, "tier") or Traits.of(game).is_numbered else "no",
        "parents": "yes" if defines(game, "parents") else "no",
        "positions numbered": "yes" if Traits.of(game).has_numbering else "no",
        "moves named by": describe_move_names(game),
        "options": ", ".join(f"{option.name}={option_text(getattr(game, option.name))}" for option in options)
        or "none",
    }


def describe_fields(survey: Survey) -> str:
    """Return the bits and words of the fields, and their values at one visited position."""
    game: Any = survey.game
    placed = [getattr(game, name) for name in fields_of(type(game))]  # with the words and bits of each
    bits = ", ".join(f"{field.name} {field.width}" for field in placed)
    visited = [*survey.answers]
    example = visited[len(visited) // 2] if visited else game.start
    values = ", ".join(f"{name}={text}" for name, text in game.fields(example).items())
    words = f" in {placed[0].words} words" if placed[0].words > 1 else ""
    return f"{sum(field.width for field in placed)} bits{words} ({bits}), {example} is {values}"


def describe_metric(survey: Survey) -> str:
    """Return the metric, and why `solve` refuses it, as far as a few positions show that."""
    game, metric = survey.game, metric_of(survey.game)
    if metric == "score" and Traits.of(game).has_rewards:
        for position, answers in [*survey.answers.items()][:SAMPLE]:
            for move in answers.moves:
                stays = game.tier(game.do_move(position, move)) == game.tier(position)
                if stays and any(game.reward(position, move, player) for player in range(game.players)):
                    what = f"move {game.move_name(position, move)} at {game.write(position)} pays and stays in its tier"
                    return f"score, which solve refuses, because {what}; let tier() rise with each move that pays"
    if metric == "nimber":
        from retrograde.solver.metrics.method import refuse_nimbers  # here, because it imports numba

        try:
            refuse_nimbers(game)
        except MetricNotApplicable as error:
            return f"nimber, which solve refuses: {error}"
    return metric


def describe_players(survey: Survey) -> str:
    """Return how many players there are, and how they take turns, as in "2, by turn, with chance"."""
    game = survey.game
    if Traits.of(game).alternates:
        return "2, alternating"
    by_turn = ", by turn" if Traits.of(game).has_turn else ""
    has_chance = any(game.turn(position) == CHANCE for position in [*survey.answers][:SAMPLE])
    return f"{game.players}{by_turn}{', with chance' if has_chance else ''}"


def describe_images(survey: Survey) -> str:
    """Return the greatest number of symmetric positions at a visited position, 1 if none was visited; "no" without
    images."""
    game = survey.game
    if not Traits.of(game).has_images:
        return "no"
    sample = [*survey.answers][:SAMPLE]
    return str(max((len({position, *game.images(position)}) for position in sample), default=1))


def describe_move_names(game: Game) -> str:
    """Return what names moves: the rule `move_name`, the places of the board, or their numbers."""
    if defines(game, "move_name"):
        return "move_name"
    return "the places of the board" if declared_board(game) else "their numbers"
