"""Policies: models written by users, as a function from a game and a position to weights of moves.

A file can have such functions under any name. `FILE.py:function` selects one::

    def corners(game, position):
        return {move: 3 if move in (0, 2, 6, 8) else 1 for move in game.generate_moves(position)}

An installed player is a policy too if its entry point has such a function as its attribute `weights`. The result must
depend on the position alone.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from retrograde.games.catalog import import_file
from retrograde.games.contract.game import Game, RetrogradeError
from retrograde.games.contract.raised import line_in
from retrograde.games.contract.snapshot import source_of
from retrograde.solver.metrics.models.model import Model, NoModel, Weights, valid_answer

GROUP = "retrograde.players"
"""Group of the entry points of installed players."""
Policy = Callable[[Game, int], Any]


class PolicyModel(Model):
    """Moves by a user's function."""

    symmetric = False

    def __init__(self, name: str, policy: Policy, digest: str, file: Path | None = None):
        self.name, self.policy, self.digest, self.file = name, policy, digest, file

    def weights(self, game: Game, position: int) -> Weights:
        """Return what the user's function answers, as weights; raise NoModel if it fails or the answer is invalid."""
        try:
            answer = self.policy(game, position)
        except RetrogradeError:
            raise
        except Exception as error:
            where = f" ({self.file.name}, line {line_in(error, self.file) or '?'})" if self.file else ""
            what = f"position {game.write(position)}: {type(error).__name__}: {error}"
            raise NoModel(f"the player {self.name!r} fails, {what}{where}") from error
        return valid_answer(self.name, game, position, answer)


def policy_in_file(text: str) -> PolicyModel:
    """Return the policy that `FILE.py:function` names; raise NoModel if there is none."""
    file, _, name = text.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise NoModel(f"no file {file!r}; a player of your own is named as FILE.py:function")
    module = import_file(path)
    policy = getattr(module, name, None)
    if not callable(policy):
        raise NoModel(f"{file} has no function {name!r}; it takes a game and a position, and gives weights of moves")
    return PolicyModel(f"{path.name}:{name}", policy, sha256(source_of(module)).hexdigest(), path)


def installed_policy(name: str) -> PolicyModel | None:
    """Return the policy of the installed player of that name, or None; raise NoModel if it cannot be used."""
    from importlib.metadata import entry_points  # here because it takes 20 ms

    point = next(iter(entry_points(group=GROUP, name=name)), None)
    if point is None:
        return None
    try:
        policy = getattr(point.load(), "weights", None)
    except (ImportError, AttributeError) as error:
        raise NoModel(f"the player {name!r} cannot be loaded from {point.value}: {error}") from error
    if policy is None:
        raise NoModel(f"the player {name!r} does not say with what weights it moves: it has no function `weights`")
    version = point.dist.version if point.dist else ""
    return PolicyModel(name, policy, sha256(f"{point.value} {version}".encode()).hexdigest())
