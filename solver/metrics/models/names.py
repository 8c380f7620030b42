"""Finds models by name, as the command line uses them."""

from fractions import Fraction

from retrograde.databases import Database, open_database
from retrograde.databases.location import against, metric_named
from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game
from retrograde.games.contract.unfolded import folded
from retrograde.solver.metrics.models.by_database import ExploitModel, SkillModel, read_skill
from retrograde.solver.metrics.models.by_search import DepthModel, GreedyModel
from retrograde.solver.metrics.models.model import Model, NoModel, UniformModel
from retrograde.solver.metrics.models.policy import installed_policy, policy_in_file
from retrograde.solver.search.depth.names import read_name

KNOWN = "random, greedy, perfect, skill:0.8, depth:4, exploit:MODEL, FILE.py:function"
PERFECT = "perfect"
NOT_BY_WEIGHTS = ("first", "human", "time", "paranoid")
"""Players that do not choose by known weights."""


def model_named(text: str, game: Game, source: str = "") -> Model:
    """Return the model of that name for a game; *source* is the game's name as the user gave it. A metric in it, as in
    `kalah:3,2@score`, chooses the database of a perfect player, or of a player with skill.

    Raise NoModel if there is none, NoDatabase if its database is missing.
    """
    game = folded(game)
    source = source or variant(game)
    if game.players != 2:
        who = "one player" if game.players == 1 else f"{game.players} players"
        raise NoModel(f"a modelled opponent is one of two players, and {variant(game)} is for {who}")
    kind, _, rest = text.partition(":")
    if text == "random":
        return UniformModel()
    if text == "greedy":
        return GreedyModel()
    if kind == "skill":
        return SkillModel(read_skill(rest), open_database(source, game=game))
    if text == PERFECT:
        return SkillModel(Fraction(1), open_database(source, game=game), text)
    if kind == "depth" and (limits := read_name(text)) and limits.depth and not (any(limits.selection) or limits.book):
        return DepthModel(limits.depth)
    if kind == "exploit" and rest:
        return ExploitModel(open_database(f"{metric_named(source)[0]}@{against(rest)}", game=game))
    if ".py:" in text:
        return policy_in_file(text)
    if kind in NOT_BY_WEIGHTS:
        instead = f"; {PERFECT} makes each perfect move with equal weight" if kind == "first" else ""
        raise NoModel(f"with what weights the player {text!r} moves is not known{instead}; the models are {KNOWN}")
    if found := installed_policy(text):
        return found
    raise NoModel(f"no model {text!r} of a player; the models are {KNOWN}, or a player that is installed")


def model_of(database: Database) -> Model:
    """Return the model that a database of a best response was made against, by its name. Raise NoModel if the name
    leads to a file: a database may come from anybody, so its name must not run code."""
    name = str(database.file.details["against"])
    if ".py:" in name and not name.startswith("exploit:"):  # exploit: reads a database and runs no code
        raise NoModel(f"{str(database.file.path)!r} is against {name}; say where that is, as in --against ./{name}")
    return model_named(name, database.game)


def refuse_another(database: Database, model: Model) -> None:
    """Raise NoModel if *model* is not the one that a database was made against, or has changed since."""
    details = database.file.details
    if (model.name, model.digest) != (details["against"], details.get("model")):
        what = "has changed since" if model.name == details["against"] else f"is not {model.name}"
        claim = f"{str(database.file.path)!r} is against {details['against']}, which {what}"
        raise NoModel(f"{claim}; solve it again with --fresh")
