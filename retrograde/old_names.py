"""Old names of modules that have moved, so that programs can still import them."""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

MOVED = {
    "retrograde.games.apart": "retrograde.games.kinds.apart",
    "retrograde.games.captures": "retrograde.games.kinds.captures",
    "retrograde.games.drawing": "retrograde.games.contract.drawing",
    "retrograde.games.drops": "retrograde.games.kinds.drops",
    "retrograde.games.game": "retrograde.games.contract.game",
    "retrograde.games.heaps": "retrograde.games.kinds.heaps",
    "retrograde.games.hunt": "retrograde.games.kinds.hunt",
    "retrograde.games.in_hand": "retrograde.games.kinds.in_hand",
    "retrograde.games.in_line": "retrograde.games.kinds.in_line",
    "retrograde.games.mills": "retrograde.games.kinds.mills",
    "retrograde.games.placed": "retrograde.games.kinds.placed",
    "retrograde.games.placements": "retrograde.games.kinds.placements",
    "retrograde.games.points": "retrograde.games.kinds.points",
    "retrograde.games.sections": "retrograde.games.kinds.sections",
    "retrograde.games.sliding": "retrograde.games.kinds.sliding",
    "retrograde.games.two_hands": "retrograde.games.kinds.two_hands",
    "retrograde.solver.audit": "retrograde.solver.verification",
    "retrograde.solver.cluster": "retrograde.solver.runtime.cluster",
    "retrograde.solver.models": "retrograde.solver.metrics.models",
    "retrograde.solver.pairing": "retrograde.solver.play.pairing",
    "retrograde.solver.tablebase": "retrograde.solver.play.tablebase",
}
"""Old names of packages and modules, and their new names. Modules in these packages have moved along."""


def new_name(name: str) -> str | None:
    """Return the new name of a module, or None if it has not moved.

    >>> new_name("retrograde.solver.cluster.mpi")
    'retrograde.solver.runtime.cluster.mpi'
    """
    package, rest = name, ""
    while package not in MOVED:
        package, dot, last = package.rpartition(".")
        if not dot:
            return None
        rest = f".{last}{rest}"
    return MOVED[package] + rest


class OldNames:
    """An import hook for moved modules. Old and new name give one module object, so that its classes exist once.

    It follows the protocol of `importlib.abc` without importing that, which takes longer than all else here.
    """

    def find_spec(
        self, fullname: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> ModuleSpec | None:
        """Return how to import a moved module; None for all others."""
        return ModuleSpec(fullname, self) if new_name(fullname) else None  # type: ignore[arg-type]  # no Loader

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make an empty module, which `exec_module` replaces."""

    def exec_module(self, module: "ModuleType") -> None:
        """Put the module from its new place where Python looks up the old name."""
        sys.modules[module.__name__] = import_module(str(new_name(module.__name__)))


def install() -> None:
    """Let imports of old names find the new modules."""
    sys.meta_path.insert(0, OldNames())
