"""Weights of a game's features, fitted to solved positions and stored as JSON.

    draughts.weights.json
    {"format": "retrograde weights", "game": "draughts", "rules": …, "features": …, "weights": [412, 1000, …], …}

`rules` and `features` are digests: weights mean something only with the same rules and features. What else a file says
is for people: how the weights were fitted, and how often a search errs with them.
"""

import os
from pathlib import Path
from typing import Any

from retrograde.databases.durable import read_facts, write_facts
from retrograde.databases.location import weights_path
from retrograde.games.catalog import is_digest_of, rules_digest, typed, variant
from retrograde.games.contract.game import ESTIMATE_LIMIT, Game, RetrogradeError, defines, with_weights
from retrograde.games.identity.digest import numbering_digest

FORMAT = "retrograde weights"


class WrongWeights(RetrogradeError, ValueError):
    """A file that has no weights for a game, or was fitted to other rules or features."""


def load_weights(game: Game, path: str | os.PathLike[str] | None = None, home: Path | None = None) -> Game:
    """Return a game with the weights in a file, by default its file in the database folder. Without one, return the
    game itself. Raise WrongWeights if they do not fit the game."""
    if path is None:
        path = weights_path(variant(game), home)
        if not defines(game, "features") or not os.path.exists(path):  # False also for names that no file can have
            return game
    found: Game = with_weights(game, read_weights(Path(path), game))
    return found


def read_weights(path: Path, game: Game) -> tuple[int, ...]:
    """Return the weights in a file; raise WrongWeights if they are not for this game."""
    remedy = f"fit them again with: retrograde fit {typed(game)}"
    try:
        facts = read_facts(path)
        name, rules, features, weights = (facts[key] for key in ("game", "rules", "features", "weights"))
    except OSError as error:
        raise WrongWeights(f"cannot read weights from {str(path)!r}: {error.strerror}; {remedy}") from error
    except (ValueError, KeyError) as error:
        raise WrongWeights(f"{str(path)!r} has no weights, or is damaged; {remedy}") from error
    if facts.get("format") != FORMAT or not is_list_of_weights(weights):
        raise WrongWeights(f"{str(path)!r} has no weights, or is damaged; {remedy}")
    if str(name).partition(":")[0] != game.name or not defines(game, "features"):
        raise WrongWeights(f"the weights in {str(path)!r} are of {name!s:.60}, and not of {variant(game)}; {remedy}")
    if not (is_digest_of(rules, rules_digest(game)) and is_digest_of(features, numbering_digest(game))):
        raise WrongWeights(f"the weights in {str(path)!r} are of other rules or features of {variant(game)}; {remedy}")
    if len(weights) != len(game.feature_weights):
        raise WrongWeights(f"{str(path)!r} has {len(weights)} weights, not {len(game.feature_weights)}; {remedy}")
    return tuple(weights)


def is_list_of_weights(weights: Any) -> bool:
    """Return whether a value from a file is a list of ints that weights may be."""
    return isinstance(weights, list) and all(type(one) is int and abs(one) <= ESTIMATE_LIMIT for one in weights)


def write_weights(path: Path, game: Game, weights: tuple[int, ...], facts: dict[str, Any]) -> None:
    """Write weights and *facts* about them to a file; raise CannotWrite if that is impossible."""
    digests = {"rules": rules_digest(game), "features": numbering_digest(game)}
    whole = {"format": FORMAT, "game": variant(game), **digests, "weights": weights, **facts}
    write_facts(path, whole, "--weights")
