"""Solve games strongly, and query the results: the functions that programs and notebooks need.

>>> import retrograde
>>> with retrograde.open("tictactoe") as solution:  # once it is solved: retrograde.solve("tictactoe")
...     solution.value(solution.start)
Outcome(value=<Value.TIE: 3>, remoteness=9)

| name | what it does |
|---|---|
| `solve("connect4:5,4")` | solves a game, and returns the path of its database |
| `open("connect4:5,4")` | opens it: a `Solution`, which gives values, moves, and positions by value |
| `open_tablebase("folder")` | opens databases of chess endings, to be probed by a board of python-chess or by FEN |
| `check("./mygame.py")` | checks rules against the contract |
| `verify("connect4:5,4")` | recomputes every stored value from the position's children |
| `games` | the package of the rules; `games.names()` lists the games, and so does `games()` |

Each name is imported when it is first used. All else is in the packages `games`, `databases`, `solver` and `cli`.
"""

import os.path
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrograde import games
    from retrograde.offered import check, open, open_tablebase, solve, verify

    __version__: str

__all__ = ["__version__", "check", "games", "open", "open_tablebase", "solve", "verify"]

# In a copy of the sources, Python finds this folder before the installed package. Then the packages beside it are used.
beside = os.path.dirname(os.path.dirname(__file__))
if os.path.exists(os.path.join(beside, "pyproject.toml")):
    __path__.append(beside)
del beside

import_module("retrograde.old_names").install()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__version__":
        return import_module("importlib.metadata").version("retrograde")
    if name == "games":
        return import_module("retrograde.games")
    if name in __all__:
        return getattr(import_module("retrograde.offered"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, and those that Python gives every module."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
