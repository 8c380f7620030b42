"""Installed players: entry points of the group `retrograde.players`, such as `rules` for tic-tac-toe.

Each leads to a function `(solution, chance) -> player`, which raises ValueError if it cannot play that game. A player
is a function `(solution, position) -> move`.
"""

from importlib.metadata import EntryPoint, entry_points

GROUP = "retrograde.players"


def offered() -> list[str]:
    """Return the names of all installed players."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def entry_point(name: str) -> EntryPoint | None:
    """Return the entry point of a player; None if none of that name is installed."""
    return next(iter(entry_points(group=GROUP, name=name)), None)
