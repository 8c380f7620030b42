"""Players that are installed: entry points of the group `retrograde.players`, such as `rules` for tic-tac-toe.

Each name leads to a function `(solution, chance) -> player`, which raises ValueError where it cannot play that game; a
player is a function `(solution, position) -> move`.
"""

from importlib.metadata import EntryPoint, entry_points

GROUP = "retrograde.players"


def offered() -> list[str]:
    """Return the names of all players that are installed."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def entry_point(name: str) -> EntryPoint | None:
    """Return where a player comes from; None where none of that name is installed."""
    return next(iter(entry_points(group=GROUP, name=name)), None)
