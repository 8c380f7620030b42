"""The folders of a user's databases and settings, as the operating system wants them.

Early versions, which did not use platformdirs, chose other folders on macOS and Windows. If such a folder exists, it
stays in use.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from retrograde.games.contract.game import RetrogradeError

NAME = "retrograde"


class NoHome(RetrogradeError, RuntimeError):
    """There is no home folder."""


def data_folder() -> Path:
    """Return the folder of the user's databases, whether or not it exists; raise NoHome if there is no home folder."""
    import platformdirs  # late, because most commands do not need it

    below = "AppData/Local" if sys.platform == "win32" else "Library/Application Support"
    return earlier_or("LOCALAPPDATA", below, lambda: platformdirs.user_data_dir(NAME, False))


def config_folder() -> Path:
    """Return the folder of the user's settings; raise NoHome without a home folder.

    It is never the folder of the databases, which other people may write to.
    """
    import platformdirs

    if sys.platform == "darwin":
        return absolute(lambda: str(Path.home() / "Library" / "Preferences" / NAME))
    return earlier_or("APPDATA", "AppData/Roaming", lambda: platformdirs.user_config_dir(NAME, False, roaming=True))


def earlier_or(variable: str, below_home: str, usual: Callable[[], str]) -> Path:
    """Return the folder that early versions used on macOS and Windows if it exists, else the usual one."""
    if sys.platform in ("darwin", "win32"):
        earlier = absolute(lambda: str(Path(os.environ.get(variable) or Path.home() / below_home) / NAME))
        if earlier.is_dir():
            return earlier
    return absolute(usual)


def absolute(find: Callable[[], str]) -> Path:
    """Return the path that *find* returns; raise NoHome if it raises RuntimeError or returns a relative one."""
    try:
        if (path := Path(find())).is_absolute():
            return path
    except RuntimeError:  # of pathlib; platformdirs before 4.14 returns ~ as it is
        pass
    raise NoHome(
        "there is no home folder: neither HOME nor the user's entry in passwd names one; "
        "set RETROGRADE_HOME to a folder for databases"
    )
